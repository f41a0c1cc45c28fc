//! Hooks switched off: for a user by the settings, and by a policy.

use brief_testkit::{Output, Sandbox};
use serde_json::json;

use crate::project;
use crate::sees::with_brief_on_path;

/// A project with a working hook of Claude Code, and an item that only the hook brings.
fn delivering() -> Sandbox {
    let project = with_brief_on_path(project().with_dir(".git"))
        .with_file("AGENTS.yaml", "context:\n  - {content: Use integers.}\n")
        .with_file("CLAUDE.md", "Be brief.\n")
        .with_file("a.py", "");
    assert_eq!(project.run(&["hook", "install", "claude"]).code, Some(0));
    project
}

fn call(project: &Sandbox) -> Output {
    let path = project.path();
    let payload = json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Read", "cwd": path,
        "tool_input": {"file_path": path.join("a.py")}, "tool_response": {},
    });
    project.run_with_input(&["hook", "claude"], payload.to_string())
}

fn write_config(project: &Sandbox, name: &str, text: &str) {
    let directory = project.home().join(".config/brief");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join(name), text).unwrap();
}

/// The switch is one line in a file of the user; everything that speaks of delivery names it.
#[test]
fn settings_and_policies_switch_delivery_off() {
    for (file, text, reason) in [
        ("settings.toml", "[hook]\nenabled = false\n", "`hook.enabled` is false in `"),
        ("policy.toml", "[hook]\ndelivery = \"never\"\n", "turns delivery by hooks off"),
        ("settings.toml", "[hook\n", "cannot apply the settings `"),
        ("policy.toml", "[hook]\ndelivery = true\n", "cannot apply the policy `"),
    ] {
        let project = delivering();
        assert!(call(&project).stdout.contains("Use integers."));
        write_config(&project, file, text);
        let answer = call(&project);
        assert_eq!((answer.stdout.as_str(), answer.code), ("", Some(0)), "{text}: {answer}");
        let shown = project.run(&["show", "a.py", "claude"]);
        assert!(shown.stdout.contains("missing (switched off)"), "{text}: {shown}");
        let says = |output: &Output| {
            let all = format!("{}{}", output.stdout, output.stderr);
            all.contains("hooks deliver nothing: ") && all.contains(reason)
        };
        assert!(says(&shown), "{text}: {shown}");
        let status = project.run(&["hook", "status", "claude"]);
        assert!(says(&status), "{text}: {status}");
        let status = project.run(&["hook", "status", "--json"]).json();
        let switch = status["switched_off"]["delivery"].as_str().unwrap();
        assert!(switch.contains(reason), "{switch}");
        if !text.contains("true") {
            let lint = project.run(&["lint", "--only", "setup"]);
            assert!(says(&lint) && lint.code == Some(0), "{text}: {lint}");
        }
    }
}

/// One project does not silence the user's hooks, and a typing error silences nothing.
#[test]
fn a_project_and_an_unknown_key_switch_nothing_off() {
    let project = delivering();
    project.write("settings.toml", "[hook]\nenabled = false\n");
    project.write(".brief/settings.toml", "[hook]\nenabled = false\n");
    write_config(&project, "settings.toml", "[hook]\nenabld = false\n");
    assert!(call(&project).stdout.contains("Use integers."));
    let status = project.run(&["hook", "status", "claude"]);
    assert!(status.stderr.contains("unknown key `hook.enabld`"), "{status}");
}

/// `trust --policy` lists the rules with their lines.
#[test]
fn a_policy_lists_its_switches() {
    let project = project();
    write_config(
        &project,
        "policy.toml",
        "[hook]\ndelivery = \"never\"\nenforcement = \"never\"\n",
    );
    let rules = project.run(&["trust", "--policy"]);
    assert!(rules.stdout.contains("policy.toml:2  turns delivery by hooks off"), "{rules}");
    assert!(rules.stdout.contains("policy.toml:3  turns enforcement of rules off"), "{rules}");
}
