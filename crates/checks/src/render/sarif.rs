//! Diagnostics as a SARIF 2.1.0 log, for code scanning services.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use brief_syntax::diagnostic::Diagnostic;
use brief_syntax::rules::RulePage;
use brief_syntax::source::{Source, Span};
use brief_syntax::text::percent_encoded;

/// Returns a SARIF log with one run. Paths below `root` are relative to it, as scanning services
/// expect; others are absolute.
pub fn render_sarif(diagnostics: &[Diagnostic], root: &Path, version: &str) -> Value {
    let codes: BTreeSet<&str> = diagnostics.iter().map(Diagnostic::code).collect();
    let rules: Vec<Value> = codes
        .into_iter()
        .filter_map(RulePage::find_by_code)
        .map(|page| render_rule(&page))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "brief", "version": version, "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": diagnostics.iter().map(|diagnostic| render_result(diagnostic, root)).collect::<Vec<_>>(),
        }],
    })
}

fn render_rule(page: &RulePage) -> Value {
    json!({
        "id": page.code,
        "shortDescription": {"text": page.summary()},
        "help": {"text": page.help(), "markdown": page.to_string()},
    })
}

fn render_result(diagnostic: &Diagnostic, root: &Path) -> Value {
    let text = diagnostic.message_in_full(root);
    let location = json!({
        "physicalLocation": {
            "artifactLocation": {"uri": render_uri(diagnostic.path(), root)},
            "region": render_region(&diagnostic.source, diagnostic.span),
        },
    });
    let mut result = json!({
        "ruleId": diagnostic.code(),
        "level": diagnostic.severity.to_string(),
        "message": {"text": text},
        "locations": [location],
    });
    if !diagnostic.also.is_empty() {
        let related = diagnostic.also.iter().map(|place| {
            json!({
                "physicalLocation": {
                    "artifactLocation": {"uri": render_uri(place.source.path(), root)},
                    "region": render_region(&place.source, place.span),
                },
                "message": {"text": place.message},
            })
        });
        result["occurrenceCount"] = json!(1 + diagnostic.also.len());
        result["relatedLocations"] = related.collect();
    }
    if let Some(fix) = &diagnostic.fix {
        let replacements: Vec<Value> = fix
            .edits
            .iter()
            .map(|edit| {
                json!({
                    "deletedRegion": render_region(&diagnostic.source, edit.span),
                    "insertedContent": {"text": edit.replacement},
                })
            })
            .collect();
        result["fixes"] = json!([{
            "description": {"text": fix.title},
            "artifactChanges": [{
                "artifactLocation": {"uri": render_uri(diagnostic.path(), root)},
                "replacements": replacements,
            }],
        }]);
    }
    result
}

fn render_region(source: &Source, span: Span) -> Value {
    let start = source.position(span.start);
    let end = source.position(span.end);
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

/// Returns a URI reference: percent-encoded by RFC 3986, with `/` between names.
fn render_uri(path: &Path, root: &Path) -> String {
    let (relative, prefix) = match path.strip_prefix(root) {
        Ok(relative) => (relative, ""),
        Err(_) => (path, "file://"),
    };
    format!("{prefix}{}", percent_encoded(&relative.to_string_lossy().replace('\\', "/")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use brief_syntax::diagnostic::{Edit, Fix};
    use brief_syntax::rules;

    #[test]
    fn a_result_has_rule_place_and_fix() {
        let source = Arc::new(Source::new("/p/a b/AGENTS.yaml", "on: edti\n"));
        let span = Span::new(4, 8);
        let diagnostic =
            Diagnostic::new(rules::agents_yaml::INVALID_ON, &source, span, "unknown action")
                .with_help("did you mean `edit`?")
                .with_fix(Fix::safe("write `edit`", vec![Edit::replace(span, "edit")]));
        let log = render_sarif(&[diagnostic], Path::new("/p"), "1.2.3");
        let run = &log["runs"][0];
        let rule = &run["tool"]["driver"]["rules"][0];
        assert_eq!(rule["id"], "agents-yaml/invalid-on");
        assert!(
            rule["shortDescription"]["text"].as_str().unwrap().starts_with("brief skips an entry")
        );
        assert!(
            rule["help"]["markdown"].as_str().unwrap().starts_with("# agents-yaml/invalid-on\n")
        );
        let result = &run["results"][0];
        assert_eq!(result["level"], "error");
        assert_eq!(result["message"]["text"], "unknown action\ndid you mean `edit`?");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b/AGENTS.yaml");
        assert_eq!(
            place["region"],
            json!({"startLine": 1, "startColumn": 5, "endLine": 1, "endColumn": 9})
        );
        assert_eq!(
            result["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"],
            "edit"
        );
    }
}
