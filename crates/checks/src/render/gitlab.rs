//! Findings as a Code Quality report of GitLab.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use brief_syntax::{Diagnostic, Severity};
use brief_system::hash::to_hexadecimal;

/// Returns an entry for each finding. Paths below `root` are relative to it.
///
/// A fingerprint says what is wrong and not where, so that GitLab recognizes a finding whose line has moved. Equal findings
/// of one file are numbered.
pub fn render_gitlab(diagnostics: &[Diagnostic], root: &Path) -> Value {
    let mut seen: HashMap<(String, &str, String), usize> = HashMap::new();
    let entry = |diagnostic: &Diagnostic| {
        let path = diagnostic.shown_path(root).to_string();
        let count = seen
            .entry((path.clone(), diagnostic.code(), diagnostic.message.clone()))
            .and_modify(|count| *count += 1)
            .or_default();
        let number = count.to_string();
        let mut hasher = Sha256::new();
        for part in [path.as_str(), diagnostic.code(), &diagnostic.message, &number] {
            hasher.update(part);
            hasher.update([0]);
        }
        let fingerprint = to_hexadecimal(hasher.finalize());
        json!({
            "description": diagnostic.message_in_full(root),
            "check_name": diagnostic.code(),
            "fingerprint": fingerprint,
            "severity": match diagnostic.severity {
                Severity::Error => "major",
                Severity::Warning => "minor",
                Severity::Note => "info",
            },
            "location": {"path": path, "lines": {"begin": diagnostic.position().line}},
        })
    };
    diagnostics.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use super::*;
    use brief_syntax::{Source, Span, rules};

    fn report(text: &str) -> Vec<Value> {
        let source = Arc::new(Source::new("/p/a.md", text));
        let finding = |at: usize| {
            Diagnostic::new(
                rules::client::UNUSED_PATTERN,
                &source,
                Span::new(at, at + 1),
                "nothing",
            )
        };
        let places = text.match_indices('x').map(|(at, _)| finding(at));
        let found: Vec<Diagnostic> = places.collect();
        render_gitlab(&found, Path::new("/p")).as_array().expect("a list").clone()
    }

    /// The keys that GitLab requires, in its documentation of Code Quality reports.
    #[test]
    fn an_entry_has_the_required_keys() {
        let found = report("one\nx\n");
        assert_eq!(found[0]["description"], "nothing");
        assert_eq!(found[0]["check_name"], "client/unused-pattern");
        assert_eq!(found[0]["severity"], "minor");
        assert_eq!(found[0]["location"], json!({"path": "a.md", "lines": {"begin": 2}}));
    }

    #[test]
    fn a_fingerprint_is_unique_and_follows_a_finding_that_moves() {
        let prints = |text: &str| -> Vec<String> {
            let of = |entry: &Value| entry["fingerprint"].as_str().expect("a text").to_owned();
            report(text).iter().map(of).collect()
        };
        assert_eq!(prints("x\nx\n"), prints("\n\nx\n\nx\n"));
        assert_eq!(prints("x\nx\nx\n").into_iter().collect::<HashSet<_>>().len(), 3);
    }
}
