//! Findings as annotations of GitHub Actions: a workflow command for each.

use std::fmt::Write;
use std::path::Path;

use brief_syntax::{Diagnostic, Severity};

/// Returns a line for each finding. Paths below `root` are relative to it.
pub fn render_github(diagnostics: &[Diagnostic], root: &Path) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let start = diagnostic.position();
        let end = diagnostic.source.position(diagnostic.span.end);
        let path = escape_property(&diagnostic.shown_path(root));
        let code = escape_property(diagnostic.code());
        let _ = write!(text, "::{severity} file={path},line={}", start.line);
        // Columns count on one line only.
        let _ = if end.line == start.line && end.column > start.column {
            write!(text, ",col={},endColumn={}", start.column, end.column)
        } else {
            write!(text, ",endLine={}", end.line)
        };
        let _ = writeln!(text, ",title={code}::{}", escape_data(&diagnostic.message_in_full(root)));
    }
    text
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use brief_syntax::{Source, Span, rules};

    /// Nothing in a file's name or in a message ends the command or begins another.
    #[test]
    fn names_and_messages_are_escaped() {
        let source = Arc::new(Source::new("/p/a,b:c%.md", "one\ntwo\n"));
        let rule = rules::client::UNUSED_PATTERN;
        let finding =
            Diagnostic::new(rule, &source, Span::new(4, 7), "50 %\n::error::x").with_help("h");
        let text = render_github(&[finding], Path::new("/p"));
        assert_eq!(
            text,
            "::warning file=a%2Cb%3Ac%25.md,line=2,col=1,endColumn=4,title=client/unused-pattern::50 %25%0A::error::x%0Ah\n"
        );
    }
}
