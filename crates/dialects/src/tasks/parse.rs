//! Text to [`Document`].

use std::sync::Arc;

use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::Value;
use brief_syntax::{Diagnostic, Source, Span};

/// Takes a file apart, with what is wrong with its front matter.
///
/// Front matter begins on the first line (ruling T3: what is not front matter is text, and no text
/// is ever lost). Without any, the body is the whole file, byte order mark included.
pub(super) fn front_matter(source: &Arc<Source>) -> FrontMatter {
    let text = source.text().trim_start_matches('\u{feff}');
    let begins = text.starts_with("---")
        && text[3..].trim_start_matches([' ', '\t']).starts_with(['\r', '\n']);
    if !begins {
        return FrontMatter { header: None, body_start: 0, diagnostics: Vec::new() };
    }
    let mut front = FrontMatter::read(source);
    // Bytes that are not UTF-8 are handed on as they are, so there is nothing to say about them.
    front.diagnostics.retain(|diagnostic| diagnostic.code != "text/not-utf8");
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
            let message = "this is no front matter: it has no fields, so it is read as text";
            let diagnostic = Diagnostic::warning("tasks/no-fields", source, span, message)
                .with_help(
                    "write `name: value` lines, or put an empty line before the first `---`",
                );
            FrontMatter { header: None, body_start: 0, diagnostics: vec![diagnostic] }
        }
    }
}

/// Returns whether the text between the dashes has something in it, and nothing like a field. A
/// field that cannot be read is still one.
fn is_prose(header: &str) -> bool {
    let lines = header.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    lines.peek().is_some() && !lines.any(|line| line.ends_with(':') || line.contains(": "))
}
