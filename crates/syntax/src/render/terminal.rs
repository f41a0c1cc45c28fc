//! Diagnostics for people: the line, a caret under the place, and the advice.

use std::borrow::Cow;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, Severity};
use crate::hidden::hidden_characters;
use crate::source::Span;
use crate::text::{visible_line, wrap_lines};

/// The use of color in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// ANSI styles.
    Always,
    /// Plain text.
    Never,
}

/// The longest line that is shown as an excerpt; a longer one is data, not text.
const EXCERPT_BYTES: usize = 2_000;

/// The columns before a note: the line number and `= note: `.
const MARGIN: usize = 16;

/// The renderer of diagnostics for a terminal.
#[derive(Debug)]
pub struct Terminal<'r> {
    renderer: Renderer,
    root: &'r Path,
    /// The width to which messages are wrapped; `None` where nobody looks.
    wrapped: Option<usize>,
}

impl<'r> Terminal<'r> {
    /// Shows paths relative to `root`, and fits lines into `width` columns.
    pub fn new(root: &'r Path, color: Color, width: usize) -> Self {
        let renderer = match color {
            Color::Always => Renderer::styled(),
            Color::Never => Renderer::plain(),
        };
        Terminal { renderer: renderer.term_width(width), root, wrapped: None }
    }

    /// Breaks long messages between words, for the screen of a person.
    #[must_use]
    pub fn with_wrap_width(mut self, width: Option<usize>) -> Self {
        self.wrapped = width;
        self
    }

    /// Wraps a message behind a label of this length.
    fn wrap_message<'m>(&self, message: Cow<'m, str>, label: usize) -> Cow<'m, str> {
        let Some(width) = self.wrapped.map(|width| width.saturating_sub(label)) else {
            return message;
        };
        match wrap_lines(&message, width, 0) {
            Cow::Borrowed(_) => message,
            Cow::Owned(wrapped) => Cow::Owned(wrapped),
        }
    }

    /// Returns the diagnostic as a few lines without a final line break.
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let path = diagnostic.shown_path(self.root);
        let path = visible_line(&path);
        let message = visible_line(&diagnostic.message);
        let code = diagnostic.code();
        // The message follows `warning[code]: `.
        let message = self.wrap_message(message, "warning[]: ".len() + code.len());
        let title = level.primary_title(message).id(code);
        let excerpt = Excerpt::from_diagnostic(diagnostic);
        let others = diagnostic.other_places(self.root);
        let mut group = if excerpt.text.is_empty() && diagnostic.source.text().is_empty() {
            title.element(annotate_snippets::Origin::path(path))
        } else {
            let annotation = AnnotationKind::Primary.span(excerpt.span.range());
            let snippet = Snippet::source(excerpt.text)
                .line_start(excerpt.line)
                .path(path)
                .annotation(annotation);
            title.element(snippet)
        };
        if let Some(others) = &others {
            group =
                group.element(Level::NOTE.message(self.wrap_message(visible_line(others), MARGIN)));
        }
        if let Some(help) = &diagnostic.help {
            group =
                group.element(Level::HELP.message(self.wrap_message(visible_line(help), MARGIN)));
        }
        self.renderer.render(&[group])
    }
}

/// The line of a diagnostic, safe to print.
struct Excerpt {
    text: String,
    line: usize,
    span: Span,
}

impl Excerpt {
    fn from_diagnostic(diagnostic: &Diagnostic) -> Excerpt {
        let source = &diagnostic.source;
        let line = source.line_number(diagnostic.span.start);
        let line_span = source.line_span(line);
        let text = source.slice(line_span);
        let start = diagnostic.span.start.clamp(line_span.start, line_span.end) - line_span.start;
        let end = diagnostic.span.end.clamp(line_span.start, line_span.end) - line_span.start;
        let text = if text.len() > EXCERPT_BYTES { "" } else { text };
        // Escapes make the line longer, so the caret moves along.
        let mut shown = String::with_capacity(text.len());
        let mut span = Span::new(0, 0);
        let mut hidden = hidden_characters(text).peekable();
        for (offset, character) in text.char_indices() {
            if offset == start {
                span.start = shown.len();
            }
            if offset == end {
                span.end = shown.len();
            }
            if hidden.next_if(|found| found.offset == offset).is_some() {
                shown.extend(character.escape_unicode());
            } else {
                shown.push(character);
            }
        }
        if start >= text.len() {
            span.start = shown.len();
        }
        if end >= text.len() {
            span.end = shown.len();
        }
        Excerpt { text: shown, line, span: Span::new(span.start, span.end) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::rules;
    use crate::source::Source;

    fn render(text: &str, span: Span) -> String {
        let source = Arc::new(Source::new("/p/sub/AGENTS.yaml", text));
        let diagnostic = Diagnostic::new(
            rules::agents_yaml::UNKNOWN_FIELD,
            &source,
            span,
            "unknown field `mach`",
        )
        .with_help("did you mean `match`?");
        Terminal::new(Path::new("/p"), Color::Never, 100).render(&diagnostic)
    }

    #[test]
    fn the_caret_stands_under_the_place() {
        insta::assert_snapshot!(render("context:\n  - mach: x\n", Span::new(13, 17)), @r"
        warning[agents-yaml/unknown-field]: unknown field `mach`
         --> sub/AGENTS.yaml:2:5
          |
        2 |   - mach: x
          |     ^^^^
          |
          = help: did you mean `match`?
        ");
    }

    #[test]
    fn hidden_characters_are_shown_and_the_caret_follows() {
        insta::assert_snapshot!(render("a\u{1b}[2J mach: x\n", Span::new(6, 10)), @r"
        warning[agents-yaml/unknown-field]: unknown field `mach`
         --> sub/AGENTS.yaml:1:12
          |
        1 | a\u{1b}[2J mach: x
          |            ^^^^
          |
          = help: did you mean `match`?
        ");
    }

    #[test]
    fn a_file_without_text_has_a_place_too() {
        insta::assert_snapshot!(render("", Span::empty_at(0)), @r"
        warning[agents-yaml/unknown-field]: unknown field `mach`
        --> sub/AGENTS.yaml
         = help: did you mean `match`?
        ");
    }
}
