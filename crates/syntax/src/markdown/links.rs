//! The links of a Markdown text, with the spans of their destinations.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use crate::source::Span;

/// A link or an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The destination, as written.
    pub destination: String,
    /// The span of the destination.
    pub span: Span,
}

/// Decodes the escaped and percent-encoded characters of a destination, for a path on disk.
pub fn decoded_destination(destination: &str) -> String {
    let mut bytes = Vec::with_capacity(destination.len());
    let mut rest = destination.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|&digit| char::from(digit).to_digit(16));
        match (byte, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.extend(u8::try_from(high * 16 + low));
                rest = &after[2..];
            }
            _ => {
                // A backslash before punctuation is an escape (CommonMark).
                let is_escape =
                    byte == b'\\' && after.first().is_some_and(u8::is_ascii_punctuation);
                if !is_escape {
                    bytes.push(byte);
                    rest = after;
                    continue;
                }
                bytes.extend(after.first());
                rest = after.get(1..).unwrap_or_default();
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the links and images of a text and its link definitions, in order.
pub fn links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    if !text.contains("](") && !text.contains("]:") {
        return found;
    }
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES);
    let definitions: Vec<Span> = parser
        .reference_definitions()
        .iter()
        .map(|(_, definition)| Span::new(definition.span.start, definition.span.end))
        .collect();
    for span in definitions {
        let written = &text[span.range()];
        found.extend(
            written.find("]:").and_then(|at| destination(text, span.start + at + 2, span.end)),
        );
    }
    for (event, range) in parser.into_offset_iter() {
        if let Event::Start(
            Tag::Link { link_type: LinkType::Inline, .. }
            | Tag::Image { link_type: LinkType::Inline, .. },
        ) = event
        {
            // The text of a link may contain brackets; the part after it may not.
            let written = &text[range.clone()];
            let at = written.rfind("](").map(|at| range.start + at + 2);
            found.extend(at.and_then(|at| destination(text, at, range.end)));
        }
    }
    found.sort_by_key(|link| link.span);
    found
}

/// Reads the destination that begins at `start`: between angle brackets, or up to white space.
fn destination(text: &str, start: usize, end: usize) -> Option<Link> {
    let rest = text.get(start..end)?;
    let start = start + (rest.len() - rest.trim_start().len());
    let rest = text.get(start..end)?;
    let (start, length) = match rest.strip_prefix('<') {
        Some(inner) => (start + 1, inner.find('>')?),
        None => (start, plain_length(rest)),
    };
    let span = Span::new(start, start + length);
    let destination = text.get(span.range())?.to_owned();
    (!destination.is_empty()).then_some(Link { destination, span })
}

/// Returns the length of a destination without angle brackets; parentheses in it are balanced.
fn plain_length(text: &str) -> usize {
    let mut depth = 0_usize;
    for (offset, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return offset,
            ')' => depth -= 1,
            _ if character.is_whitespace() => return offset,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_have_their_places() {
        let text = "[a](x.md \"t\") ![b](<y z.png>) [c [d]](p(1).md) `[e](no.md)` <https://x.example>\n\n\
                    [f]: def.md\n\n```md\n[g](no.md)\n```\n\n[f]\n";
        let found = links(text);
        let destinations: Vec<&str> = found.iter().map(|link| link.destination.as_str()).collect();
        assert_eq!(destinations, ["x.md", "y z.png", "p(1).md", "def.md"]);
        for link in &found {
            assert_eq!(&text[link.span.range()], link.destination);
        }
    }

    #[test]
    fn any_text_has_links_in_it() {
        arbtest::arbtest(|bytes| {
            const WORDS: [&str; 10] = ["[", "](", ")", "]: ", "<", ">", "a", "\n", "`", "é"];
            let mut text = String::new();
            for _ in 0..bytes.int_in_range(0..=40)? {
                text.push_str(bytes.choose(&WORDS)?);
            }
            for link in links(&text) {
                assert_eq!(text.get(link.span.range()), Some(link.destination.as_str()));
            }
            Ok(())
        });
    }
}
