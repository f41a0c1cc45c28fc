//! Client files through the command line.

use crate::project;

#[test]
fn a_rule_of_one_client_is_shown_for_a_path() {
    let project = project()
        .with_file(".cursor/rules/ts.mdc", "---\nglobs: **/*.ts\n---\nNo `any`.\n")
        .with_file("CLAUDE.md", "@AGENTS.md\n")
        .with_file("AGENTS.md", "Prices are integers.\n");
    let output = project.run(&["context", "src/a.ts", "--only", "client-files"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("Prices are integers."), "{output}");
    assert!(output.stdout.contains("No `any`."), "{output}");
    let output = project.run(&["why", "src/a.py", "--only", "client-files"]);
    assert!(output.stdout.contains("globs `**/*.ts` does not cover src/a.py"), "{output}");
    assert!(output.stdout.contains("only imports AGENTS.md"), "{output}");
    let output = project.run(&["context", "src/a.ts", "--only", "agents-yaml"]);
    assert!(!output.stdout.contains("Prices"), "{output}");
}

#[test]
fn a_manual_rule_is_mentioned() {
    let project = project().with_file(".cursor/rules/style.mdc", "Tabs.\n");
    let without = project.run(&["context", "x", "--only", "client-files"]);
    assert!(!without.stdout.contains("Tabs."), "{without}");
    let with = project.run(&["context", "x", "--only", "client-files", "--mention", "style"]);
    assert!(with.stdout.contains("Tabs."), "{with}");
}

#[test]
fn every_dialect_can_be_chosen() {
    for dialect in ["client-files", "tasks", "agent-files", "items", "agents-yaml", "context-dir"] {
        let output = project().run(&["context", "x", "--only", dialect]);
        assert_ne!(output.code, Some(2), "{output}");
    }
}

#[test]
fn lint_reports_imports_and_patterns_once() {
    let project = project()
        .with_file("CLAUDE.md", "Text. @docs/none.md\n")
        .with_file(".github/instructions/a.instructions.md", "---\napplyTo: lib/**\n---\nT.\n");
    let output = project.run(&["lint", "--format", "json"]);
    let json = output.json();
    let found: Vec<_> = json["diagnostics"].as_array().unwrap().iter().collect();
    let codes: Vec<_> = found.iter().filter_map(|found| found["code"].as_str()).collect();
    assert_eq!(codes, ["client/unused-pattern", "client/import-missing"], "{output}");
    assert_eq!(json["files"], 2, "{output}");
    let part = project.run(&["lint", ".github/instructions", "--format", "json"]);
    assert_eq!(part.json()["diagnostics"].as_array().unwrap().len(), 1, "{part}");
}
