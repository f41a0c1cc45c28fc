//! `brief hook install --shared`: the file that a team commits, and what its members see.

use std::process::Command;

use brief_clients::hook::install::{HookContent, InstallChoice, build_hook_files};
use brief_profiles::BUILTIN;
use brief_testkit::Sandbox;
use serde_json::json;

use crate::project;
use crate::sees::with_brief_on_path;

fn repository() -> Sandbox {
    project()
        .with_dir(".git")
        .with_file("AGENTS.yaml", "context:\n  - {content: Use integers.}\n")
        .with_file("a.py", "")
}

/// For every client the shared file is below the project, not ignored as private, and installs and uninstalls without a trace.
#[test]
fn every_client_has_a_file_for_its_team() {
    let mut count = 0;
    for client in &BUILTIN.clients {
        let Some(install) = client.hook.as_ref().and_then(|hook| hook.install.as_ref()) else {
            continue;
        };
        count += 1;
        assert_eq!(install.private, install.shared.is_some(), "{}", client.id);
        let project = repository();
        let installed = project.run(&["hook", "install", &client.id, "--shared"]);
        assert_eq!(installed.code, Some(0), "{installed}");
        assert!(installed.stderr.contains("to share the hook"), "{installed}");
        let choice = InstallChoice {
            program: "brief",
            options: "",
            is_global: false,
            holds: false,
            is_elsewhere: false,
            is_shared: true,
            fails_closed: false,
        };
        for file in build_hook_files(client, choice).unwrap() {
            let text = project.read(&file.path);
            assert!(text.contains("brief hook"), "{}: {text}", file.path);
            assert!(!file.path.contains("local"), "{}", file.path);
            // The command ends with success where `brief` is missing.
            if let HookContent::Own { is_program: true, .. } = file.content {
                let run = Command::new("/bin/sh")
                    .arg(project.path().join(&file.path))
                    .env("PATH", "/nonexistent")
                    .output()
                    .unwrap();
                assert!(run.status.success() && run.stdout.is_empty(), "{run:?}");
            }
        }
        let again = project.run(&["hook", "install", &client.id, "--shared"]);
        assert!(again.stderr.contains("already installed"), "{again}");
        let removed = project.run(&["hook", "uninstall", &client.id, "--shared"]);
        assert_eq!(removed.code, Some(0), "{removed}");
        let left =
            std::fs::read_dir(project.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut left: Vec<_> = left.map(|name| name.into_string().unwrap()).collect();
        left.retain(|name| ![".git", "AGENTS.yaml", "a.py"].contains(&name.as_str()));
        for directory in &left {
            let files = walk_files(&project.path().join(directory));
            assert_eq!(files, Vec::<String>::new(), "{}", client.id);
        }
    }
    assert_eq!(count, 15);
}

/// The files below a directory, which may be empty directories only.
fn walk_files(directory: &std::path::Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(walk_files(&entry.path()));
        } else {
            files.push(entry.path().display().to_string());
        }
    }
    files
}

/// The private hook and the shared one are two; a teammate's `uninstall` keeps the team's.
#[test]
fn the_shared_hook_of_claude_is_not_removed_by_accident() {
    let project = repository();
    let args = ["hook", "install", "claude", "--shared", "--command", "brief hook claude"];
    insta::assert_snapshot!(project.run(&args), @"
    ------- stderr -------
    installed the hook in .claude/settings.json
    hint: commit .claude/settings.json to share the hook; it does nothing for teammates without `brief`
    hint: restart Claude Code to use it
    [EOF]
    ");
    assert!(!project.path().join(".claude/settings.local.json").exists());
    let text = project.read(".claude/settings.json");
    insta::assert_snapshot!(project.run(&["hook", "uninstall", "claude"]), @"
    ------- stderr -------
    kept the hook in .claude/settings.json: your team shares this file
    hint: pass `--shared` to remove it
    [EOF]
    ");
    assert_eq!(project.read(".claude/settings.json"), text);
    insta::assert_snapshot!(project.run(&["hook", "uninstall", "claude", "--shared"]), @"
    ------- stderr -------
    removed the hook from .claude/settings.json
    [EOF]
    ");
    assert!(!project.path().join(".claude/settings.json").exists());
}

/// Both hooks in one project deliver each text once.
#[test]
fn two_hooks_deliver_once() {
    let project = with_brief_on_path(repository());
    for place in [&["--shared"][..], &[]] {
        let args = [&["hook", "install", "claude"], place].concat();
        assert_eq!(project.run(&args).code, Some(0));
    }
    let path = project.path();
    let payload = json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Read", "cwd": path,
        "tool_input": {"file_path": path.join("a.py")}, "tool_response": {}, "tool_use_id": "t",
    })
    .to_string();
    let texts: Vec<String> =
        (0..2).map(|_| project.run_with_input(&["hook", "claude"], &payload).stdout).collect();
    assert_eq!(texts.iter().filter(|text| text.contains("Use integers.")).count(), 1, "{texts:?}");
}

/// What version control ignores, or what is only on one machine, does not reach a team.
#[test]
fn a_file_that_nobody_gets_is_reported() {
    let project = repository().with_file(".gitignore", ".claude/\n");
    let installed = project.run(&[
        "hook",
        "install",
        "claude",
        "--shared",
        "--command",
        "/opt/brief hook claude",
    ]);
    let ignored =
        "warning: teammates will not get the hook: version control ignores `.claude/settings.json`";
    assert!(installed.stderr.contains(ignored), "{installed}");
    assert!(installed.stderr.contains("use one without a path of your machine"), "{installed}");
    let global = project.run(&["hook", "install", "claude", "--shared", "--global"]);
    assert_eq!(global.code, Some(2), "{global}");
}

/// A teammate with the client and without approval, or without the program, gets one line; one without the client, none.
#[test]
fn lint_says_to_a_teammate_what_is_missing() {
    let team = || {
        let project = with_brief_on_path(repository());
        assert_eq!(project.run(&["hook", "install", "codex", "--shared"]).code, Some(0));
        project
    };
    let without = team().run(&["lint", "--only", "setup"]);
    assert!(!without.stdout.contains("Codex"), "{without}");
    let project = team();
    std::fs::create_dir_all(project.home().join(".codex")).unwrap();
    let lint = project.run(&["lint", "--only", "setup"]);
    let lines: Vec<&str> =
        lint.stdout.lines().filter(|line| line.contains("Codex skips the hook")).collect();
    assert_eq!(lines.len(), 1, "{lint}");
    let project = team().with_env("PATH", "/usr/bin:/bin");
    let lint = project.run(&["lint", "--only", "setup"]);
    assert!(lint.stdout.contains("gets nothing from the hook: `brief` is not on PATH"), "{lint}");
}
