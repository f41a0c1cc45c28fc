//! The parser from text to [`TaskDocument`].

use std::sync::Arc;

use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::Value;
use brief_syntax::{Diagnostic, Source, Span, rules};

/// Splits a file into front matter and body, with the diagnostics of the front matter.
///
/// Front matter begins on the first line. Other text belongs to the body, so that no text is ever
/// lost (ruling T3). Without front matter, the body is the whole file, byte order mark included.
pub(super) fn front_matter(source: &Arc<Source>) -> FrontMatter {
    let text = source.text().trim_start_matches('\u{feff}');
    let begins = text.starts_with("---")
        && text[3..].trim_start_matches([' ', '\t']).starts_with(['\r', '\n']);
    if !begins {
        return FrontMatter { header: None, body_start: 0, diagnostics: Vec::new() };
    }
    let mut front = FrontMatter::from_source(source);
    // Bytes that are not UTF-8 are passed on unchanged, so they are not reported here.
    front.diagnostics.retain(|diagnostic| diagnostic.rule != rules::text::NOT_UTF8);
    let Some(header) = &front.header else {
        front.body_start = 0;
        return front;
    };
    match header.yaml.root().map(brief_syntax::yaml::Node::value) {
        Some(Value::Mapping(_)) => front,
        None | Some(Value::Null) if !is_prose(source.slice(header.span)) => front,
        _ => {
            // Two lines of dashes with prose between them.
            let span = Span::new(header.span.start, header.span.end);
            let message = "this is not frontmatter: it has no fields, so it is read as text";
            let diagnostic = Diagnostic::new(rules::tasks::NO_FIELDS, source, span, message)
                .with_help(
                    "write `name: value` lines, or put an empty line before the first `---`",
                );
            FrontMatter { header: None, body_start: 0, diagnostics: vec![diagnostic] }
        }
    }
}

/// Returns whether the text between the dashes is not empty and has nothing like a field. An
/// invalid field is still a field.
fn is_prose(header: &str) -> bool {
    let lines = header.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    lines.peek().is_some() && !lines.any(|line| line.ends_with(':') || line.contains(": "))
}
