//! Installed texts have another author: they do not run because they lie in the project (G7).

use std::fs;
use std::os::unix::fs::PermissionsExt;

use brief_testkit::Sandbox;

use crate::trusted_project;

const RULE: &str =
    "---\nschema: 1\nname: style\ndescription: Use when writing\n---\n\n## Style\n\nBe brief.\n";

/// A trusted project with a rule from a registry that brings a script of the name that tasks look for.
fn installed() -> Sandbox {
    let project = trusted_project();
    let registry = project.outside().join("registry/rules/style");
    fs::create_dir_all(&registry).unwrap();
    fs::write(registry.join("RULE.md"), RULE).unwrap();
    let script = registry.join("RULE-bootstrap");
    fs::write(&script, "#!/bin/sh\necho ran > ran.txt\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let registry = project.outside().join("registry");
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
    assert!(output.stderr.contains("brief.lock` cannot be read: line 1"), "{output}");
    assert!(!project.path().join("ran.txt").exists(), "{output}");
}

#[test]
fn a_script_of_the_project_still_runs_beside_it() {
    let project = installed();
    project.write(".agents/rules/own.md", "Own.\n");
    project.write(".agents/rules/own-bootstrap", "#!/bin/sh\necho ran > own.txt\n");
    let script = project.path().join(".agents/rules/own-bootstrap");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(project.run(&["task", "go"]).code, Some(0));
    assert!(project.path().join("own.txt").exists());
    assert!(!project.path().join("ran.txt").exists());
}
