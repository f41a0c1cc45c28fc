//! `brief setup`: a teammate's first command.

use brief_testkit::Sandbox;
use brief_testkit::snapshot::{render_item, write_files};
use serde_json::json;

use crate::project;

/// Puts `brief` on the search path, and no editor.
fn with_brief_alone(project: Sandbox) -> Sandbox {
    let bin = project.program().parent().unwrap().display().to_string();
    project.with_env("PATH", &bin)
}

/// A clone of a project with sources and a hook for one client, and two clients in use.
fn clone() -> Sandbox {
    let project = with_brief_alone(project().with_dir(".git"))
        .with_file("AGENTS.yaml", "context:\n  - {content: Use integers.}\n")
        .with_file("CLAUDE.md", "Be brief.\n")
        .with_file(".cursor/rules/a.mdc", "---\nalwaysApply: true\n---\nTest first.\n")
        .with_file(
            "brief.toml",
            "[install]\nclients = [\"claude\"]\n\n[sources.guidance]\ndirectory = \"../outside/source\"\nall = true\n",
        );
    let source = project.outside_directory().join("source");
    write_files(&source, &[("rules/api/RULE.md", &render_item("api", "## One"))]);
    assert_eq!(project.run(&["hook", "install", "claude", "--shared"]).code, Some(0));
    project
}

#[test]
fn one_command_sets_a_teammate_up() {
    let project = clone();
    insta::assert_snapshot!(project.run(&["setup", "--dry-run"]), @"
    ------- stderr -------
    hook: Claude Code runs it from .claude/settings.json
    hook: would install it for Cursor in .cursor/hooks.json
    hint: restart Cursor to use it
    items: 1 to create
    [EOF]
    ");
    assert!(!project.path().join(".cursor/hooks.json").exists());
    assert!(!project.path().join(".claude/rules").exists());
    insta::assert_snapshot!(project.run(&["setup"]), @"
    ------- stderr -------
    hook: Claude Code runs it from .claude/settings.json
    hook: installed it for Cursor in .cursor/hooks.json
    hint: restart Cursor to use it
    items: 1 created
    [EOF]
    ");
    assert!(project.path().join(".cursor/hooks.json").exists());
    assert!(project.path().join(".claude/rules/api.md").exists());
    insta::assert_snapshot!(project.run(&["setup"]), @"
    ------- stderr -------
    hook: Claude Code runs it from .claude/settings.json
    hook: Cursor runs it from .cursor/hooks.json
    items: up to date
    already set up
    [EOF]
    ");
}

/// The steps as data, for scripts that set machines up.
#[test]
fn the_steps_are_data() {
    let project = clone();
    let steps = |args: &[&str]| {
        let steps = project.run(args).json()["steps"].clone();
        let steps = steps.as_array().unwrap().iter();
        steps.map(|step| json!([step["part"], step["client"], step["state"]])).collect::<Vec<_>>()
    };
    let hook = |client: &str, state: &str| json!(["hook", client, state]);
    let items = |state: &str| json!(["items", null, state]);
    let is_hook_or_items = |steps: Vec<serde_json::Value>| -> Vec<serde_json::Value> {
        steps.into_iter().filter(|step| step[0] != "editor").collect()
    };
    let planned = is_hook_or_items(steps(&["setup", "--dry-run", "--json"]));
    assert_eq!(planned, [hook("claude", "ready"), hook("cursor", "planned"), items("planned")]);
    let done = is_hook_or_items(steps(&["setup", "--json"]));
    assert_eq!(done, [hook("claude", "ready"), hook("cursor", "done"), items("done")]);
    let again = is_hook_or_items(steps(&["setup", "--json"]));
    assert_eq!(again, [hook("claude", "ready"), hook("cursor", "ready"), items("ready")]);
}

/// A part that fails does not keep the others from being set up.
#[test]
fn a_part_that_fails_is_named() {
    let project = clone();
    std::fs::remove_dir_all(project.outside_directory().join("source")).unwrap();
    let setup = project.run(&["setup"]);
    assert_eq!(setup.code, Some(1), "{setup}");
    assert!(setup.stderr.contains("warning: items: not installed"), "{setup}");
    assert!(project.path().join(".cursor/hooks.json").exists());
    let project = clone();
    project.write(".cursor/hooks.json", "[]");
    let setup = project.run(&["setup"]);
    assert!(setup.stderr.contains("warning: hook: not installed for Cursor: "), "{setup}");
    assert_eq!(project.read(".cursor/hooks.json"), "[]");
    assert!(project.path().join(".claude/rules/api.md").exists());
}

/// A policy counts, and so does a directory that is no project.
#[test]
fn a_policy_keeps_hooks_away() {
    let project = clone();
    let directory = project.home().join(".config/brief");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("policy.toml"), "[capabilities]\nnever = [\"hooks\"]\n").unwrap();
    let setup = project.run(&["setup"]);
    assert!(setup.stderr.contains("hook: not installed for Cursor: the policy"), "{setup}");
    assert!(!project.path().join(".cursor/hooks.json").exists());
    let setup = crate::project().run(&["setup"]);
    assert_eq!(setup.code, Some(0), "{setup}");
    assert!(setup.stderr.contains("nothing to set up"), "{setup}");
}
