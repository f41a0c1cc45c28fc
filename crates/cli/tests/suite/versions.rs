//! Projects of the next and of the previous version: `brief.lock`, and `required-version` of `brief.toml`.

use std::fs;

use brief_testkit::Sandbox;
use brief_testkit::snapshot::{render_item, write_files};
use serde_json::json;

use crate::project;

const MANIFEST: &str = "[install]\nclients = [\"claude\"]\n\n[sources.guidance]\ndirectory = \"../outside/source\"\nall = true\n";

fn installed() -> Sandbox {
    let project = project()
        .with_dir(".git")
        .with_file("AGENTS.yaml", "context:\n  - {content: Use integers.}\n")
        .with_file("a.py", "")
        .with_file("brief.toml", MANIFEST);
    let source = project.outside_directory().join("source");
    write_files(&source, &[("rules/api/RULE.md", &render_item("api", "## One"))]);
    assert_eq!(project.run(&["sync"]).code, Some(0));
    project
}

fn hook(project: &Sandbox) -> brief_testkit::Output {
    let path = project.path();
    let payload = json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Read", "cwd": path,
        "tool_input": {"file_path": path.join("a.py")}, "tool_response": {},
    });
    project.run_with_input(&["hook", "claude"], payload.to_string())
}

/// A lock of the next version: whatever writes stops with one line and changes nothing, and delivery goes on.
#[test]
fn a_lock_of_the_next_version_is_left_alone() {
    let project = installed();
    let newer =
        project.read("brief.lock").replace("version = 2\n", "version = 3\nnew = \"field\"\n");
    assert!(newer.contains("version = 3"));
    project.write("brief.lock", &newer);
    let rule = project.read(".claude/rules/api.md");
    let source = project.outside_directory().join("source");
    write_files(&source, &[("rules/api/RULE.md", &render_item("api", "## Two"))]);
    for args in [
        &["sync"][..],
        &["sync", "--frozen"],
        &["update"],
        &["remove", "api"],
        &["remove", "--all"],
        &["list"],
        &["eject"],
        &["setup"],
    ] {
        let output = project.run(args);
        // Setting up goes on with the other parts.
        let code = if args[0] == "setup" { 1 } else { 2 };
        assert_eq!(output.code, Some(code), "{args:?}: {output}");
        let lines = output.stderr.lines().filter(|line| line.contains("has version 3"));
        assert_eq!(lines.count(), 1, "{args:?}: {output}");
        assert!(output.stderr.contains("upgrade `brief`"), "{args:?}: {output}");
        assert_eq!(project.read("brief.lock"), newer, "{args:?}");
        assert_eq!(project.read(".claude/rules/api.md"), rule, "{args:?}");
    }
    assert!(hook(&project).stdout.contains("Use integers."));
    assert!(project.run(&["context", "a.py"]).stdout.contains("Use integers."));
}

/// A lock of the previous version is read, and the next run that writes brings it to this one.
#[test]
fn a_lock_of_the_previous_version_is_updated() {
    let project = installed();
    let older = project.read("brief.lock").replace("version = 2\n", "version = 1\n");
    project.write("brief.lock", &older);
    assert!(project.run(&["list"]).stdout.contains("api"));
    assert_eq!(project.read("brief.lock"), older);
    let output = project.run(&["sync"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("`brief.lock` had an older version"), "{output}");
    assert!(project.read("brief.lock").contains("version = 2\n"));
}

/// An older program says one line about a project that requires a newer one, and nothing of what it does not know.
#[test]
fn a_project_can_require_a_newer_program() {
    let project = installed();
    let manifest = format!("required-version = \">=999.1\"\n[brand-new]\nkey = 1\n\n{MANIFEST}");
    project.write("brief.toml", &manifest);
    let lock = project.read("brief.lock");
    for args in [
        &["sync"][..],
        &["update"],
        &["remove", "api"],
        &["list"],
        &["lint"],
        &["registry", "build"],
    ] {
        let output = project.run(args);
        let all = format!("{}{}", output.stdout, output.stderr);
        assert_ne!(output.code, Some(0), "{args:?}: {output}");
        let message = "this project requires brief 999.1.0 or later; this is ";
        assert_eq!(all.matches(message).count(), 1, "{args:?}: {output}");
        assert!(!all.contains("brand-new` "), "{args:?}: {output}");
        assert_eq!(project.read("brief.lock"), lock, "{args:?}");
    }
    assert!(hook(&project).stdout.contains("Use integers."));
    project.write("brief.toml", format!("required-version = \">=0.1\"\n{MANIFEST}"));
    let output = project.run(&["sync"]);
    assert_eq!(output.code, Some(0), "{output}");
    // Commands that edit the file keep the key.
    let source = project.outside_directory().join("source");
    write_files(&source, &[("rules/more/RULE.md", &render_item("more", "## One"))]);
    assert_eq!(project.run(&["remove", "more"]).code, Some(1));
    assert_eq!(project.run(&["sync"]).code, Some(0));
    assert_eq!(project.run(&["remove", "more"]).code, Some(0));
    assert!(project.read("brief.toml").starts_with("required-version = \">=0.1\"\n"));
    fs::remove_file(project.path().join("brief.toml")).unwrap();
}
