//! Through a link named `coding-context`: that tool's command line, by the published cases.

use brief_testkit::conformance::Case;

use crate::project_on_disk as project;

/// Ruling T11: through the name `coding-context` the same, with its flags, texts and exit codes.
#[test]
fn every_conformance_case_passes() {
    let cases = Case::read_all(include_str!("../../../../conformance/tasks/cases.json"));
    assert_eq!(cases.len(), 84, "cases were lost");
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let differences = case.run(project().linked_as("coding-context"));
            (!differences.is_empty()).then(|| format!("{}: {}", case.id(), differences.join("; ")))
        })
        .collect();
    assert!(failed.is_empty(), "{} cases fail:\n{}", failed.len(), failed.join("\n"));
}

/// A case that the conformance map names exists.
#[test]
fn every_case_in_the_conformance_map_exists() {
    let cases = Case::read_all(include_str!("../../../../conformance/tasks/cases.json"));
    let map = include_str!("../../../../docs/dev/conformance.md");
    let named: Vec<&str> =
        map.split("(case `").skip(1).filter_map(|rest| rest.split('`').next()).collect();
    assert!(named.len() > 15, "the map names only {named:?}");
    for name in named {
        assert!(cases.iter().any(|case| case.id() == name), "there is no case `{name}`");
    }
}

/// The runner notices when something is not as expected, also at home and beside the project.
#[test]
fn the_runner_notices_differences() {
    let differences = |expect: &str| {
        let case = format!(
            r#"[{{"id": "x", "files": {{".agents/tasks/t.md": "TASK {{ROOT}}", "~/.agents/rules/r.md": "RULE",
                "../d/f": {{"content": "", "mode": "0600"}}}}, "env": {{"X": "y"}}, "args": ["t"],
                "stdin": "", "expect": {{{expect}}}}}]"#
        );
        Case::read_all(&case)[0].run(project().linked_as("coding-context")).len()
    };
    let holds = r#""exit": 0, "stdout_equals": "RULE\nTASK {ROOT}\n", "stdout_order": ["RULE", "TASK"],
        "files_contain": {"~/.agents/rules/r.md": ["RULE"], "../d/f": [""]}, "files_absent": ["~/no", "../no"]"#;
    assert_eq!(differences(holds), 0);
    for fails in [
        r#""exit": "nonzero""#,
        r#""stdout_equals": "RULE\n""#,
        r#""stdout_order": ["TASK", "RULE"]"#,
        r#""stderr_contains": ["RULE"]"#,
        r#""files_contain": {"~/.agents/rules/r.md": ["TASK"]}"#,
        r#""files_contain": {"~/no": ["TASK"]}"#,
        r#""files_absent": ["~/.agents/rules/r.md"]"#,
        r#""files_absent": ["../d/f"]"#,
    ] {
        assert_eq!(differences(fails), 1, "{fails}");
    }
}
