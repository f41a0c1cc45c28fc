//! Through a link named `sctx`: that tool's command line, by the published cases.

use brief_testkit::conformance::Case;

use crate::project;

/// Ruling S8: through the name `sctx`, its commands, JSON names, texts and exit codes.
#[test]
fn every_conformance_case_passes() {
    let cases = Case::read_all(include_str!("../../../../conformance/structured/cases.json"));
    assert_eq!(cases.len(), 141, "cases were lost");
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let differences = case.run(project().linked_as("sctx"));
            (!differences.is_empty()).then(|| format!("{}: {}", case.id(), differences.join("; ")))
        })
        .collect();
    assert!(failed.is_empty(), "{} cases fail:\n{}", failed.len(), failed.join("\n"));
}

/// Ruling G16: through the name `sctx` the root is "the current working directory", not a place with a
/// marker in it.
#[test]
fn the_root_is_where_sctx_is_started() {
    let case = r#"[{"id": "x", "files": {".git/HEAD": "", "AGENTS.yaml": "context: [{content: ABOVE}]",
        "src/AGENTS.yaml": "context: [{content: HERE}]"}, "cwd": "src", "args": ["context", "a"],
        "stdin": null, "expect": {"exit": 0, "stdout_contains": ["HERE"],
        "stdout_not_contains": ["ABOVE"]}}]"#;
    let differences = Case::read_all(case)[0].run(project().linked_as("sctx"));
    assert!(differences.is_empty(), "{differences:?}");
}

/// The runner notices when something is not as expected, for each key that it knows.
#[test]
fn the_runner_notices_differences() {
    let differences = |expect: &str| {
        let case = format!(
            r#"[{{"id": "x", "files": {{"AGENTS.yaml": "context: [{{content: HELLO}}]"}}, "cwd": ".",
                "args": ["context", "a", "--json"], "stdin": null, "expect": {{{expect}}}}}]"#
        );
        Case::read_all(&case)[0].run(project().linked_as("sctx")).len()
    };
    let holds = r#""exit": 0, "stdout_contains": ["HELLO"], "stderr_not_contains": ["x"],
        "json_path_equals": {"0.SourceDir": "{{ROOT}}"}, "files_absent": ["no"]"#;
    assert_eq!(differences(holds), 0);
    for fails in [
        r#""exit": 1"#,
        r#""stdout_contains": ["BYE"]"#,
        r#""stdout_not_contains": ["HELLO"]"#,
        r#""stdout_order": ["SourceDir", "HELLO"]"#,
        r#""stdout_equals": "HELLO""#,
        r#""stdout_lines": 1"#,
        r#""stdout_max_bytes": 5"#,
        r#""stderr_contains": ["x"]"#,
        r#""stderr_not_contains": [""]"#,
        r#""json_equals": []"#,
        r#""json_path_equals": {"0.Content": "BYE"}"#,
        r#""files_contain": {"AGENTS.yaml": ["BYE"]}"#,
        r#""files_equal": {"AGENTS.yaml": "BYE"}"#,
        r#""files_json_equal": {"AGENTS.yaml": {}}"#,
        r#""files_absent": ["AGENTS.yaml"]"#,
        r#""unheard_of": true"#,
    ] {
        assert_eq!(differences(fails), 1, "{fails}");
    }
}

fn differences(case: &str) -> Vec<String> {
    Case::read_all(&format!("[{case}]"))[0].run(project().linked_as("sctx"))
}

/// U47. "If no context files exist in the project, tools should emit a warning and return gracefully."
#[test]
fn validate_without_files_warns() {
    let case = r#"{"id": "x", "files": {}, "cwd": ".", "args": ["validate"], "stdin": null,
        "expect": {"exit": 0, "stderr_contains": ["no AGENTS.yaml files found"]}}"#;
    assert!(differences(case).is_empty(), "{:?}", differences(case));
}

/// U47: after two dashes everything is a path.
#[test]
fn two_dashes_end_the_flags() {
    for args in [r#"["context", "--json", "--", "--all"]"#, r#"["context", "--", "a"]"#] {
        let case = format!(
            r#"{{"id": "x", "files": {{"AGENTS.yaml": "context: [{{content: HERE}}]"}}, "cwd": ".",
                "args": {args}, "stdin": null, "expect": {{"exit": 0, "stdout_contains": ["HERE"]}}}}"#
        );
        assert!(differences(&case).is_empty(), "{:?}", differences(&case));
    }
    let case = r#"{"id": "x", "files": {"d/AGENTS.yaml": "context: [{content: 1}]"}, "cwd": ".",
        "args": ["validate", "--", "d"], "stdin": null, "expect": {"exit": 0}}"#;
    assert!(differences(case).is_empty(), "{:?}", differences(case));
}

/// U47: a file of the user is in the way, and stays.
#[test]
fn a_foreign_extension_is_in_the_way() {
    let case = r#"{"id": "x", "files": {".pi/extensions/sctx.ts": "// mine\n"}, "cwd": ".",
        "args": ["pi", "enable"], "stdin": null, "expect": {"exit": 1,
        "stderr_contains": ["is in the way"], "files_equal": {".pi/extensions/sctx.ts": "// mine\n"}}}"#;
    assert!(differences(case).is_empty(), "{:?}", differences(case));
}

/// U47: settings that are no object are named as what they are.
#[test]
fn settings_that_are_no_object_are_named() {
    for (settings, word) in [("null", "`null`"), ("[]", "a list"), ("\\\"x\\\"", "a string")] {
        let case = format!(
            r#"{{"id": "x", "files": {{".claude/settings.local.json": "{settings}"}}, "cwd": ".",
                "args": ["claude", "enable"], "stdin": null, "expect": {{"exit": 1,
                "stderr_contains": [".claude/settings.local.json contains {word}, not an object"]}}}}"#
        );
        assert!(differences(&case).is_empty(), "{:?}", differences(&case));
    }
}

/// U49: an alternative without a reason says no more than it knows.
#[test]
fn an_alternative_without_a_reason_ends_there() {
    let case = r#"{"id": "x", "files": {"AGENTS.yaml":
        "decisions: [{decision: D, rationale: R, alternatives: [plain]}]"}, "cwd": ".",
        "args": ["decisions", "a"], "stdin": null, "expect": {"exit": 0,
        "stdout_contains": ["Considered plain, rejected\n"]}}"#;
    assert!(differences(case).is_empty(), "{:?}", differences(case));
}
