//! Through a link named `coding-context`: that tool's command line, by the published cases.

use std::path::Path;

use brief_testkit::conformance::Case;

/// Ruling T11: through the name `coding-context` the same, with its flags, texts and exit codes.
#[test]
fn every_conformance_case_passes() {
    let cases = Case::read_all(include_str!("../../../../conformance/tasks/cases.json"));
    assert_eq!(cases.len(), 84, "cases were lost");
    let program = Path::new(env!("CARGO_BIN_EXE_brief"));
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let differences = case.run(program, "coding-context");
            (!differences.is_empty()).then(|| format!("{}: {}", case.id(), differences.join("; ")))
        })
        .collect();
    assert!(failed.is_empty(), "{} cases fail:\n{}", failed.len(), failed.join("\n"));
}

/// The runner notices when something is not as expected, also at home and beside the project.
#[test]
fn the_runner_notices_differences() {
    let differences = |expect: &str| {
        let case = format!(
            r##"[{{"id": "x", "files": {{".agents/tasks/t.md": "# T {{ROOT}}", "~/.agents/rules/r.md": "R",
                "../d/f": {{"content": "", "mode": "0600"}}}}, "env": {{"X": "y"}}, "args": ["t"],
                "stdin": "", "expect": {{{expect}}}}}]"##
        );
        Case::read_all(&case)[0].run(Path::new(env!("CARGO_BIN_EXE_brief")), "coding-context").len()
    };
    let holds = r##""exit": 0, "stdout_equals": "R\n# T {ROOT}\n", "stdout_order": ["R", "T"],
        "files_contain": {"~/.agents/rules/r.md": ["R"], "../d/f": [""]}, "files_absent": ["~/no", "../no"]"##;
    assert_eq!(differences(holds), 0);
    for fails in [
        r#""exit": "nonzero""#,
        r#""stdout_equals": "R\n""#,
        r#""stdout_order": ["T", "R"]"#,
        r#""stderr_contains": ["R"]"#,
        r#""files_contain": {"~/.agents/rules/r.md": ["T"]}"#,
        r#""files_contain": {"~/no": ["T"]}"#,
        r#""files_absent": ["~/.agents/rules/r.md"]"#,
        r#""files_absent": ["../d/f"]"#,
    ] {
        assert_eq!(differences(fails), 1, "{fails}");
    }
}
