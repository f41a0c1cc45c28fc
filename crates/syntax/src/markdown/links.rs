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
pub fn collect_links(text: &str) -> Vec<Link> {
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
            written
                .find("]:")
                .and_then(|at| parse_destination(text, span.start + at + 2, span.end)),
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
            found.extend(at.and_then(|at| parse_destination(text, at, range.end)));
        }
    }
    found.sort_by_key(|link| link.span);
    found
}

/// The elements of HTML whose addresses a reader follows, and the attributes that have these.
const HTML_LINKS: [(&str, &str); 5] =
    [("a", "href"), ("img", "src"), ("source", "src"), ("video", "src"), ("audio", "src")];

/// Returns the links and pictures that a text has as HTML, in order.
pub fn html_links(text: &str) -> Vec<Link> {
    if !text.contains("src")
        && !text.contains("href")
        && !text.contains("SRC")
        && !text.contains("HREF")
    {
        return Vec::new();
    }
    let mut html: Vec<Span> = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        if matches!(event, Event::Html(_) | Event::InlineHtml(_)) {
            // A block comes line by line, and a tag may have several lines.
            match html.last_mut().filter(|last| last.end == range.start) {
                Some(last) => last.end = range.end,
                None => html.push(Span::new(range.start, range.end)),
            }
        }
    }
    html.into_iter().flat_map(|span| links_of_tags(text, span)).collect()
}

/// Returns the links of the tags in a piece of HTML.
fn links_of_tags(text: &str, html: Span) -> Vec<Link> {
    let mut found = Vec::new();
    let mut at = html.start;
    while let Some(start) =
        text.get(at..html.end).and_then(|rest| rest.find('<')).map(|next| at + next)
    {
        let rest = &text[start + 1..html.end];
        if rest.starts_with("!--") {
            at = rest.find("-->").map_or(html.end, |end| start + 1 + end);
            continue;
        }
        let name_length =
            rest.find(|sign: char| !sign.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let name = rest[..name_length].to_ascii_lowercase();
        at = start + 1 + name_length;
        while let Some(attribute) = next_attribute(text, at, html.end) {
            at = attribute.end;
            let is_link = |(element, key): &(&str, &str)| {
                *element == name && attribute.name.eq_ignore_ascii_case(key)
            };
            let destination = text[attribute.value.range()].to_owned();
            if HTML_LINKS.iter().any(is_link) && !destination.is_empty() {
                found.push(Link { destination, span: attribute.value });
            }
        }
    }
    found
}

/// An attribute of a tag.
struct Attribute<'t> {
    name: &'t str,
    value: Span,
    /// The end of the attribute.
    end: usize,
}

/// Reads the attribute at `at`, unless the tag ends there.
fn next_attribute(text: &str, at: usize, end: usize) -> Option<Attribute<'_>> {
    let skip = |at: usize| {
        let rest = text.get(at..end).unwrap_or_default();
        at + rest.len()
            - rest.trim_start_matches(|sign: char| sign.is_whitespace() || sign == '/').len()
    };
    let start = skip(at);
    let rest = text.get(start..end)?;
    let is_end = |sign: char| sign.is_whitespace() || matches!(sign, '=' | '>' | '/' | '<');
    let length = rest.find(is_end).unwrap_or(rest.len());
    let name = rest.get(..length).filter(|name| !name.is_empty())?;
    let after = start + length;
    let rest = text.get(after..end)?;
    let spaces = rest.len() - rest.trim_start().len();
    let Some(value) = rest[spaces..].strip_prefix('=') else {
        return Some(Attribute { name, value: Span::empty_at(after), end: after });
    };
    let value_at = after + spaces + 1 + (value.len() - value.trim_start().len());
    let value = text.get(value_at..end)?;
    let (from, length) = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => (value_at + 1, value[1..].find(quote)?),
        _ => {
            let is_end = |sign: char| sign.is_whitespace() || sign == '>';
            (value_at, value.find(is_end).unwrap_or(value.len()))
        }
    };
    let is_quoted = usize::from(from > value_at);
    let value = Span::new(from, from + length);
    Some(Attribute { name, value, end: value.end + is_quoted })
}

/// Reads the destination that begins at `start`: between angle brackets, or up to white space.
fn parse_destination(text: &str, start: usize, end: usize) -> Option<Link> {
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
    let mut is_escaped = false;
    for (offset, character) in text.char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return offset,
            ')' => depth -= 1,
            '\\' if text[offset + 1..].starts_with(|next: char| next.is_ascii_punctuation()) => {
                is_escaped = true;
            }
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
        let found = collect_links(text);
        let destinations: Vec<&str> = found.iter().map(|link| link.destination.as_str()).collect();
        assert_eq!(destinations, ["x.md", "y z.png", "p(1).md", "def.md"]);
        for link in &found {
            assert_eq!(&text[link.span.range()], link.destination);
        }
    }

    #[test]
    fn an_escaped_parenthesis_is_part_of_a_destination() {
        let found = collect_links("[a](x\\).md) [b](y\\(.md \"t\")");
        let destinations: Vec<&str> = found.iter().map(|link| link.destination.as_str()).collect();
        assert_eq!(destinations, ["x\\).md", "y\\(.md"]);
    }

    #[test]
    fn links_of_html_have_their_places() {
        let text = "<img src=\"a b.png\" alt='x>y'>\n\nIn <A title=t HREF = 'b.md' >text</A> and <b href=\"no\">.\n\n\
                    <picture>\n  <source\n    srcset=no src=c.png\n  />\n</picture>\n\n<!-- <img src=\"no\"> -->\n\n\
                    `<img src=\"no\">`\n\n<img src=\"\">\n";
        let found = html_links(text);
        let destinations: Vec<&str> = found.iter().map(|link| link.destination.as_str()).collect();
        assert_eq!(destinations, ["a b.png", "b.md", "c.png"]);
        for link in &found {
            assert_eq!(&text[link.span.range()], link.destination);
        }
    }

    #[test]
    fn any_text_has_links_in_it() {
        arbtest::arbtest(|bytes| {
            const WORDS: [&str; 16] = [
                "[", "](", ")", "]: ", "<", ">", "a", "\n", "`", "é", "<img ", "src", "=", "\"",
                "<!--", "/",
            ];
            let mut text = String::new();
            for _ in 0..bytes.int_in_range(0..=40)? {
                text.push_str(bytes.choose(&WORDS)?);
            }
            for link in collect_links(&text).into_iter().chain(html_links(&text)) {
                assert_eq!(text.get(link.span.range()), Some(link.destination.as_str()));
            }
            Ok(())
        });
    }
}
