//! The part on validation: what is wrong is reported with its place, and its siblings are delivered.

use std::path::Path;

use brief_engine::Resolution;

use super::ask::{NONE, ask, project, yaml};

/// "content is required on every context entry". Ruling S3: the entry is out, its siblings are in.
#[test]
fn content_is_required() {
    for entry in [
        "{match: [a]}",
        "{content: }",
        "{content: ''}",
        "{content: '  '}",
        "{content: []}",
        "text",
        "~",
        "[]",
    ] {
        let system = yaml(&format!("context:\n- {{content: A}}\n- {entry}\n- {{content: B}}\n"));
        assert_eq!(ask(&system, "a").contents(), ["A", "B"], "{entry}");
        let problems = ask(&system, "a").problems();
        assert_eq!(problems.len(), 1, "{entry}: {problems:?}");
        assert_eq!((problems[0].1, problems[0].2), (3, true), "{entry}");
    }
}

/// "decision and rationale are required on every decision entry".
#[test]
fn decision_and_rationale_are_required() {
    for entry in [
        "{decision: D}",
        "{rationale: R}",
        "{decision: '', rationale: R}",
        "{decision: D, rationale: ' '}",
    ] {
        let system = yaml(&format!("decisions:\n- {entry}\n- {{decision: B, rationale: R}}\n"));
        assert_eq!(ask(&system, "a").decisions(), ["B"], "{entry}");
        let problems = ask(&system, "a").problems();
        assert_eq!(problems, [("agents-yaml/missing-field", 2, true)], "{entry}");
    }
}

/// "on values must be: read, edit, create, all, or a list of these". Ruling S3.
#[test]
fn on_values_are_checked() {
    for value in ["write", "Read", "READ", "''", "[read, write]", "{read: 1}", "[[read]]", "true"] {
        let system = yaml(&format!("context:\n- {{content: A, on: {value}}}\n- {{content: B}}\n"));
        assert_eq!(ask(&system, "a").contents(), ["B"], "{value}");
        let problems = ask(&system, "a").problems();
        assert_eq!(problems, [("agents-yaml/invalid-on", 2, true)], "{value}");
    }
}

/// "when values must be: before, after, or all". Ruling S3.
#[test]
fn when_values_are_checked() {
    for value in ["during", "Before", "''", "[before, after]", "{before: 1}"] {
        let text = format!("context:\n- {{content: A, when: {value}}}\n- {{content: B}}\n");
        let system = yaml(&text);
        assert_eq!(ask(&system, "a").contents(), ["B"], "{value}");
        let problems = ask(&system, "a").problems();
        assert_eq!(problems, [("agents-yaml/invalid-when", 2, true)], "{value}");
    }
}

/// "match and exclude must be valid glob patterns". Ruling S3.
#[test]
fn globs_are_checked() {
    for pattern in ["[", "a[b", "{a,b", "a}", "[]a]", "x/[z"] {
        for field in ["match", "exclude"] {
            let bad = format!("{{content: A, {field}: ['ok', '{pattern}']}}");
            let system = yaml(&format!("context:\n- {bad}\n- {{content: B}}\n"));
            assert_eq!(ask(&system, "a").contents(), ["B"], "{bad}");
            let problems = ask(&system, "a").problems();
            assert_eq!(problems, [("agents-yaml/invalid-glob", 2, true)], "{bad}");
        }
        let bad = format!("{{decision: A, rationale: R, match: ['{pattern}']}}");
        let system = yaml(&format!("decisions:\n- {bad}\n"));
        assert_eq!(ask(&system, "a").decisions(), NONE, "{bad}");
    }
}

/// "date must be YYYY-MM-DD if present". Ruling G2: the field is left out, the decision stands.
#[test]
fn dates_are_checked() {
    for (date, is_valid) in [
        ("2024-02-29", true),
        ("'2024-12-31'", true),
        ("0001-01-01", true),
        ("2000-02-29", true),
        ("2023-02-29", false),
        ("1900-02-29", false),
        ("2024-13-01", false),
        ("2024-00-10", false),
        ("2024-04-31", false),
        ("2024-1-1", false),
        ("24-01-01", false),
        ("2024/01/01", false),
        ("2024-01-01T00:00:00Z", false),
        ("'2024-01-01 '", false),
        ("yesterday", false),
        ("[2024-01-01]", false),
        ("+024-01-01", false),
    ] {
        let system = yaml(&format!("decisions:\n- {{decision: D, rationale: R, date: {date}}}\n"));
        assert_eq!(ask(&system, "a").decisions(), ["D"], "{date}");
        let problems = ask(&system, "a").problems();
        let expected: &[_] = if is_valid { &[] } else { &[("agents-yaml/invalid-date", 2, true)] };
        assert_eq!(problems, expected, "{date}");
        let kept = |answer: &Resolution<'_>| answer.decisions[0].decision.date.is_some();
        assert_eq!(ask(&system, "a").answer(|_, answer| kept(answer)), is_valid, "{date}");
    }
}

/// "Unknown fields produce warnings, not errors (forward compatibility)".
#[test]
fn unknown_fields_are_warnings() {
    let system = yaml(
        "priority: 1
context:
- {content: A, color: red}
decisions:
- decision: D
  rationale: R
  exclude: [a]
  alternatives: [{option: O, reason_rejected: X, score: 5}]
",
    );
    assert_eq!(ask(&system, "a").contents(), ["A"]);
    assert_eq!(ask(&system, "a").decisions(), ["D"]);
    let unknown = "agents-yaml/unknown-field";
    assert_eq!(
        ask(&system, "a").problems(),
        [(unknown, 1, false), (unknown, 3, false), (unknown, 7, false), (unknown, 8, false)]
    );
}

/// Ruling S3: "with a diagnostic (file, line, entry)".
#[test]
fn a_diagnostic_names_file_line_and_entry() {
    let text = "context:\n- {content: A}\n- content: B\n  on: x\n";
    let system = project().with_file("a/AGENTS.yml", text);
    ask(&system, "a/x").answer(|catalog, _| {
        let diagnostics = catalog.diagnostics();
        let [found] = diagnostics.as_slice() else { panic!("{diagnostics:?}") };
        assert_eq!(found.path(), Path::new("/p/a/AGENTS.yml"));
        assert_eq!((found.position().line, found.position().column), (4, 7));
        assert!(found.message.starts_with("context[1]: "), "{}", found.message);
    });
}
