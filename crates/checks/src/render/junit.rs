//! Findings as JUnit XML, which most servers for continuous integration show.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use brief_syntax::text::visible_text;
use brief_syntax::{Diagnostic, Severity};

/// Returns a test suite for each file with findings, each a failed test; without findings, one test that passed. Notes are
/// left out, because a test has failed or it has not.
pub fn render_junit(diagnostics: &[Diagnostic], root: &Path) -> String {
    let mut files: BTreeMap<String, Vec<&Diagnostic>> = BTreeMap::new();
    let mut count = 0;
    for diagnostic in diagnostics.iter().filter(|one| one.severity != Severity::Note) {
        files.entry(diagnostic.shown_path(root).to_string()).or_default().push(diagnostic);
        count += 1;
    }
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let tests = count.max(1);
    let _ = writeln!(
        text,
        "<testsuites name=\"brief\" tests=\"{tests}\" failures=\"{count}\" errors=\"0\">"
    );
    if count == 0 {
        text.push_str(
            "  <testsuite name=\"brief\" tests=\"1\" failures=\"0\" errors=\"0\">\n    \
             <testcase name=\"no problems\" classname=\"brief\"/>\n  </testsuite>\n",
        );
    }
    for (path, found) in files {
        let (path, tests) = (escape_xml(&path), found.len());
        let _ = writeln!(
            text,
            "  <testsuite name=\"{path}\" tests=\"{tests}\" failures=\"{tests}\" errors=\"0\">"
        );
        for diagnostic in found {
            let place = diagnostic.position();
            let (line, column, severity) = (place.line, place.column, diagnostic.severity);
            let message = escape_xml(&diagnostic.message);
            let full = escape_xml(&diagnostic.message_in_full(root));
            let code = diagnostic.code();
            let _ = writeln!(
                text,
                "    <testcase name=\"{code}\" classname=\"{path}\" line=\"{line}\" column=\"{column}\">\n      \
                 <failure type=\"{severity}\" message=\"{message}\">{path}:{line}:{column}: {full}</failure>\n    \
                 </testcase>"
            );
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

/// Escapes text for an element or an attribute. XML has no way to write most control characters, so they are shown.
fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in visible_text(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\r' | '\t' => {
                let _ = write!(escaped, "&#{};", u32::from(character));
            }
            '\u{fffe}' | '\u{ffff}' => escaped.extend(character.escape_unicode()),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use brief_syntax::{Source, Span, rules};

    /// Nothing in a name or a message ends an attribute or an element, and no character is one that XML forbids.
    #[test]
    fn names_and_messages_are_escaped() {
        let source = Arc::new(Source::new("/p/a\"<b>&.md", "one\ntwo\n"));
        let message = "]]></failure>\u{1}\n\"x\"";
        let finding =
            Diagnostic::new(rules::client::UNUSED_PATTERN, &source, Span::new(4, 7), message);
        assert_eq!(
            render_junit(&[finding], Path::new("/p")),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites name=\"brief\" tests=\"1\" failures=\"1\" errors=\"0\">\n  \
             <testsuite name=\"a&quot;&lt;b&gt;&amp;.md\" tests=\"1\" failures=\"1\" errors=\"0\">\n    \
             <testcase name=\"client/unused-pattern\" classname=\"a&quot;&lt;b&gt;&amp;.md\" line=\"2\" column=\"1\">\n      \
             <failure type=\"warning\" message=\"]]&gt;&lt;/failure&gt;\\u{1}&#10;&quot;x&quot;\">\
             a&quot;&lt;b&gt;&amp;.md:2:1: ]]&gt;&lt;/failure&gt;\\u{1}&#10;&quot;x&quot;</failure>\n    \
             </testcase>\n  </testsuite>\n</testsuites>\n"
        );
    }

    #[test]
    fn no_finding_is_a_test_that_passed() {
        let text = render_junit(&[], Path::new("/p"));
        assert!(
            text.contains("tests=\"1\" failures=\"0\"") && !text.contains("<failure"),
            "{text}"
        );
    }
}
