//! Parts of a body that are for some clients only (§6 of the document).
//!
//! A directive is an HTML comment on a line of its own, outside code. Bodies are cut by lines
//! before any other step, so that the text for all clients keeps its bytes.

use brief_syntax::Span;
use brief_syntax::markdown::Outline;

/// The clients that a part is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    Only(Vec<String>),
    /// All clients except the listed ones.
    Except(Vec<String>),
}

impl Audience {
    /// Returns whether the audience includes a client.
    pub fn includes_client(&self, client: &str) -> bool {
        match self {
            Audience::Only(clients) => clients.iter().any(|name| name == client),
            Audience::Except(clients) => clients.iter().all(|name| name != client),
        }
    }
}

/// A part of a body between two directives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectiveBlock {
    /// The opening line, line break included.
    pub open: Span,
    /// The closing line, line break included.
    pub close: Span,
    pub audience: Audience,
}

/// A problem in the directives of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectiveProblem {
    pub span: Span,
    pub kind: DirectiveProblemKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectiveProblemKind {
    /// A block is not closed.
    NotClosed,
    /// A closing line has no opening one.
    NotOpened,
    /// A block begins within another block.
    Nested {
        /// The offset of the outer block's opening line.
        outer: usize,
    },
    UnknownClient(String),
    /// The list of clients is invalid, for the given reason.
    List(&'static str),
    /// A comment resembles a directive, but is malformed and would reach every client.
    Malformed,
}

/// The directives of a body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Directives {
    pub blocks: Vec<DirectiveBlock>,
    pub problems: Vec<DirectiveProblem>,
}

/// Reads the directives of a body; `clients` are the existing clients.
pub fn parse_directives(body: &str, clients: &[&str]) -> Directives {
    let mut found = Directives::default();
    if !body.contains("<!--") {
        return found;
    }
    let outline = Outline::parse(body);
    let mut open: Option<(Span, Option<Audience>)> = None;
    let mut in_comment = false;
    for (span, line) in line_spans(body) {
        let is_code = |offset: usize| is_code(body, &outline, span.start + offset);
        let directive = match parse_directive(line, is_code) {
            // A comment of several lines holds no directive.
            None if in_comment && is_near_miss(line.trim()) => Some(Directive::Malformed),
            directive => directive,
        };
        in_comment = match (line.rfind("<!--"), line.rfind("-->")) {
            (Some(start), end) => end.is_none_or(|end| end < start) && !is_code(start),
            (None, Some(_)) => false,
            (None, None) => in_comment,
        };
        let Some(directive) = directive else { continue };
        let text_span = Span::new(span.start, span.start + line.trim_end().len());
        let mut report = |kind| found.problems.push(DirectiveProblem { span: text_span, kind });
        match directive {
            Directive::Malformed => report(DirectiveProblemKind::Malformed),
            Directive::Open(list) => {
                if let Some((outer, _)) = &open {
                    report(DirectiveProblemKind::Nested { outer: outer.start });
                    continue;
                }
                let audience = match parse_audience(list) {
                    Ok(audience) => {
                        let (Audience::Only(names) | Audience::Except(names)) = &audience;
                        for name in names.iter().filter(|name| !clients.contains(&name.as_str())) {
                            report(DirectiveProblemKind::UnknownClient(name.clone()));
                        }
                        Some(audience)
                    }
                    Err(problem) => {
                        report(DirectiveProblemKind::List(problem));
                        None
                    }
                };
                open = Some((span, audience));
            }
            Directive::Close => match open.take() {
                None => report(DirectiveProblemKind::NotOpened),
                Some((start, Some(audience))) => {
                    found.blocks.push(DirectiveBlock { open: start, close: span, audience });
                }
                Some((_, None)) => {}
            },
        }
    }
    if let Some((span, _)) = open {
        let span = Span::new(span.start, span.start + body[span.range()].trim_end().len());
        found.problems.push(DirectiveProblem { span, kind: DirectiveProblemKind::NotClosed });
    }
    found
}

/// Returns the body for one client.
pub fn render_client_body(body: &str, client: &str, clients: &[&str]) -> String {
    let mut output = String::with_capacity(body.len());
    let mut at = 0;
    for block in parse_directives(body, clients).blocks {
        append_after_gap(&mut output, &body[at..block.open.start]);
        if block.audience.includes_client(client) {
            append_after_gap(&mut output, &body[block.open.end..block.close.start]);
        }
        at = block.close.end;
    }
    if at == 0 {
        return body.to_owned();
    }
    append_after_gap(&mut output, &body[at..]);
    // A part that was removed at the end leaves the blank lines before it.
    let end = output.trim_end_matches(['\n', '\r', ' ', '\t']).len();
    let line_end = if output[end..].starts_with("\r\n") { "\r\n" } else { "\n" };
    if end < output.len() {
        output.truncate(end);
        output.push_str(line_end);
    }
    output
}

/// Returns whether an offset is in code, where a directive is only shown.
fn is_code(body: &str, outline: &Outline, offset: usize) -> bool {
    let blocks = &outline.code_blocks;
    let after = blocks.partition_point(|block| block.span.start <= offset);
    if after.checked_sub(1).is_some_and(|index| offset < blocks[index].span.end) {
        return true;
    }
    let after = outline.opaque.partition_point(|span| span.start <= offset);
    after.checked_sub(1).is_some_and(|index| {
        let span = outline.opaque[index];
        offset < span.end && body[span.range()].starts_with('`')
    })
}

/// Appends text after a gap: blank lines on both sides of the gap become one.
fn append_after_gap(output: &mut String, text: &str) {
    let last = output.strip_suffix('\n').and_then(|above| above.rsplit('\n').next());
    let ends_blank = output.is_empty() || last.is_some_and(|line| line.trim().is_empty());
    let mut text = text;
    if ends_blank {
        while let Some(end) = text.find('\n').filter(|&end| text[..end].trim().is_empty()) {
            text = &text[end + 1..];
        }
    }
    output.push_str(text);
}

enum Directive<'l> {
    Open(&'l str),
    Close,
    Malformed,
}

/// Parses a line that is, or nearly is, a directive.
fn parse_directive(line: &str, is_code: impl Fn(usize) -> bool) -> Option<Directive<'_>> {
    let mut from = 0;
    while let Some(start) = line[from..].find("<!--").map(|start| from + start) {
        let rest = &line[start + 4..];
        let end = rest.find("-->").unwrap_or(rest.len());
        let inner = rest[..end].trim();
        from = start + 4 + end;
        if is_code(start) {
            // Code may end before the comment does.
            from = start + 4;
            continue;
        }
        let is_alone = line[..start].trim().is_empty()
            && rest[end..].strip_prefix("-->").is_some_and(|after| after.trim().is_empty());
        match inner.strip_prefix("@client:") {
            Some(list) if is_alone => return Some(Directive::Open(list)),
            _ if is_alone && inner == "@endclient" => return Some(Directive::Close),
            _ if is_near_miss(inner) => return Some(Directive::Malformed),
            _ => {}
        }
    }
    None
}

/// Returns whether a comment was meant as a directive: `@Client:x`, `@end-client`, `@client x`,
/// `client:x`.
fn is_near_miss(inner: &str) -> bool {
    let word: String = inner
        .chars()
        .take_while(|character| character.is_alphanumeric() || "@-_ ".contains(*character))
        .filter(|character| character.is_alphanumeric() || *character == '@')
        .collect::<String>()
        .to_lowercase();
    let first = inner.split([':', ' ']).next().unwrap_or_default();
    word.starts_with("@client")
        || word.starts_with("@endclient")
        || matches!(first, "client" | "endclient") && inner.starts_with("client:")
}

fn parse_audience(list: &str) -> Result<Audience, &'static str> {
    let names: Vec<&str> = list.split(',').map(str::trim).collect();
    let negated = names.iter().filter(|name| name.starts_with('!')).count();
    let is_negated = names.first().is_some_and(|name| name.starts_with('!'));
    if negated > 0 && !is_negated || negated > 1 && negated < names.len() {
        return Err("it mixes included and excluded clients");
    }
    let names: Vec<String> =
        names.iter().map(|name| name.trim_start_matches('!').trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return Err("a name is empty");
    }
    if (1..names.len()).any(|index| names[..index].contains(&names[index])) {
        return Err("a client is named twice");
    }
    Ok(if is_negated { Audience::Except(names) } else { Audience::Only(names) })
}

fn line_spans(text: &str) -> impl Iterator<Item = (Span, &str)> {
    let mut offset = 0;
    text.split_inclusive('\n').map(move |line| {
        let span = Span::new(offset, offset + line.len());
        offset = span.end;
        (span, line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENTS: [&str; 3] = ["claude", "copilot", "opencode"];

    fn problems(body: &str) -> Vec<DirectiveProblemKind> {
        parse_directives(body, &CLIENTS).problems.into_iter().map(|problem| problem.kind).collect()
    }

    /// §6.2: positive and negative forms.
    #[test]
    fn blocks_reach_those_they_are_for() {
        let body = "a\n\n<!-- @client:claude,copilot -->\n\nb\n\n<!-- @endclient -->\n\nc\n";
        assert_eq!(render_client_body(body, "claude", &CLIENTS), "a\n\nb\n\nc\n");
        assert_eq!(render_client_body(body, "opencode", &CLIENTS), "a\n\nc\n");
        let body = "a\n<!-- @client:!opencode -->\nb\n<!-- @endclient -->\nc\n";
        assert_eq!(render_client_body(body, "copilot", &CLIENTS), "a\nb\nc\n");
        assert_eq!(render_client_body(body, "opencode", &CLIENTS), "a\nc\n");
    }

    /// §6.3: a gap leaves no two blank lines, nor one at the start or end.
    #[test]
    fn gaps_close() {
        let body = "<!-- @client:claude -->\nx\n<!-- @endclient -->\n\na\n\n<!-- @client:claude -->\nb\n<!-- @endclient -->\n";
        assert_eq!(render_client_body(body, "copilot", &CLIENTS), "a\n");
        assert_eq!(render_client_body(body, "claude", &CLIENTS), "x\n\na\n\nb\n");
    }

    /// Blank lines in code stay (N64).
    #[test]
    fn code_keeps_its_blank_lines() {
        let body = "```py\na\n\n\nb\n```\n\n<!-- @client:claude -->\nx\n<!-- @endclient -->\n\n```py\nc\n\n\nd\n```\n";
        let rendered = render_client_body(body, "copilot", &CLIENTS);
        assert_eq!(rendered, "```py\na\n\n\nb\n```\n\n```py\nc\n\n\nd\n```\n");
    }

    /// R25: in a code block a directive is text.
    #[test]
    fn a_directive_in_code_is_text() {
        let body = "```md\n<!-- @client:claude -->\nx\n<!-- @endclient -->\n```\n";
        assert_eq!(render_client_body(body, "copilot", &CLIENTS), body);
        assert_eq!(problems(body), []);
        assert_eq!(problems("Write `<!-- @client:claude -->` before it.\n"), []);
    }

    #[test]
    fn what_is_wrong_is_found() {
        use DirectiveProblemKind::*;
        assert_eq!(problems("<!-- @client:claude -->\nx\n"), [NotClosed]);
        assert_eq!(problems("x\n<!-- @endclient -->\n"), [NotOpened]);
        assert_eq!(
            problems("<!-- @client:claude -->\n<!-- @client:copilot -->\n<!-- @endclient -->\n"),
            [Nested { outer: 0 }]
        );
        assert_eq!(
            problems("<!-- @client:cursor -->\n<!-- @endclient -->\n"),
            [UnknownClient("cursor".into())]
        );
        for list in ["claude,!copilot", "", "claude,", "claude,claude", "!claude,copilot,!opencode"]
        {
            let body = format!("<!-- @client:{list} -->\n<!-- @endclient -->\n");
            assert!(matches!(problems(&body)[..], [List(_)]), "{list}");
        }
        for line in [
            "<!-- @Client:claude -->",
            "<!-- @end-client -->",
            "<!-- @client:claude --> Include only in Claude Code output",
            "text <!-- @client:claude -->",
            "<!-- @client claude -->",
            "<!-- client:claude -->",
            "<!-- x --> <!-- @client:claude -->",
            "`code` <!-- @client:claude -->",
            "<!--\n@client:claude\n-->",
        ] {
            assert_eq!(problems(&format!("{line}\n")), [Malformed], "{line}");
        }
        assert_eq!(problems("<!-- a comment about clients -->\n"), []);
    }

    /// R26: `!a,b` and `!a,!b` both negate the whole list.
    #[test]
    fn a_list_is_negated_as_a_whole() {
        for list in ["!claude,copilot", "!claude,!copilot"] {
            let body = format!("<!-- @client:{list} -->\nx\n<!-- @endclient -->\n");
            assert_eq!(render_client_body(&body, "opencode", &CLIENTS), "x\n", "{list}");
            assert_eq!(render_client_body(&body, "copilot", &CLIENTS), "", "{list}");
        }
    }

    /// Text outside blocks keeps its bytes.
    #[test]
    fn a_body_without_directives_is_left_alone() {
        arbtest::arbtest(|bytes| {
            let body: String = bytes.arbitrary()?;
            if parse_directives(&body, &CLIENTS).blocks.is_empty() {
                assert_eq!(render_client_body(&body, "claude", &CLIENTS), body);
            }
            Ok(())
        });
    }
}
