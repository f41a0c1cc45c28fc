//! Installed texts have another author: they do not run because they lie in the project (G7).

use std::fs;

use brief_testkit::{Sandbox, write_program};

use crate::trusted_project;

const RULE: &str =
    "---\nschema: 1\nname: style\ndescription: Use when writing\n---\n\n## Style\n\nBe brief.\n";

/// A trusted project with a rule from a registry that brings a script of the name that tasks look for.
fn installed() -> Sandbox {
    let project = trusted_project();
    let registry = project.outside_directory().join("registry/rules/style");
    fs::create_dir_all(&registry).unwrap();
    fs::write(registry.join("RULE.md"), RULE).unwrap();
    let script = registry.join("RULE-bootstrap");
    write_program(&script, "#!/bin/sh\necho ran > ran.txt\n");
    let registry = project.outside_directory().join("registry");
    let output = project.run(&["add", registry.to_str().unwrap()]);
    assert_eq!(output.code, Some(0), "{output}");
    project.write(".agents/tasks/go.md", "Go.\n");
    project
}

#[test]
fn a_script_that_was_installed_does_not_run() {
    let project = installed();
    assert!(project.path().join(".agents/rules/style/RULE-bootstrap").exists());
    let output = project.run(&["task", "go"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("Be brief."), "{output}");
    assert!(output.stderr.contains("RULE-bootstrap"), "{output}");
    assert!(!project.path().join("ran.txt").exists(), "{output}");
}

#[test]
fn nothing_runs_when_nobody_knows_what_was_installed() {
    let project = installed();
    project.write("brief.lock", "<<<<<<< ours\n");
    let output = project.run(&["task", "go"]);
    assert!(output.stderr.contains("brief.lock`: line 1"), "{output}");
    assert!(!project.path().join("ran.txt").exists(), "{output}");
}

#[test]
fn a_script_of_the_project_still_runs_beside_it() {
    let project = installed();
    project.write(".agents/rules/own.md", "Own.\n");
    let script = project.path().join(".agents/rules/own-bootstrap");
    write_program(&script, "#!/bin/sh\necho ran > own.txt\n");
    assert_eq!(project.run(&["task", "go"]).code, Some(0));
    assert!(project.path().join("own.txt").exists());
    assert!(!project.path().join("ran.txt").exists());
}
