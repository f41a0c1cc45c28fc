//! Two versions of one client: `brief` delivers what the older one does not load, and steps back for the newer one.

use std::path::Path;

use brief_testkit::{Output, Sandbox};
use serde_json::json;

use crate::project;
use crate::sees::with_brief_on_path;

/// Claude Code loads `AGENTS.md` since 2.1.277.
const OLDER: &str = "2.1.197";
const NEWER: &str = "2.1.277";

/// A project with `AGENTS.md` alone, and Claude Code of a version on the search path, as npm installs it.
fn with_claude(version: &str) -> Sandbox {
    let project =
        project().with_dir(".git").with_file("AGENTS.md", "Use integers.\n").with_file("a.py", "");
    let package = project.outside_directory().join("node_modules/@anthropic-ai/claude-code");
    std::fs::create_dir_all(&package).unwrap();
    let manifest = json!({"name": "@anthropic-ai/claude-code", "version": version});
    std::fs::write(package.join("package.json"), manifest.to_string()).unwrap();
    brief_testkit::write_program(&package.join("claude"), "#!/bin/sh\nexit 1\n");
    let project = with_brief_on_path(project);
    let path = format!("{}:{}", package.display(), bin_of(project.program()));
    let project = project.with_env("PATH", &path);
    assert_eq!(project.run(&["hook", "install", "claude"]).code, Some(0));
    project
}

fn bin_of(program: &Path) -> String {
    format!("{}:/usr/bin:/bin", program.parent().unwrap().display())
}

fn call(project: &Sandbox) -> Output {
    let path = project.path();
    let payload = json!({
        "session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": path,
    });
    project.run_with_input(&["hook", "claude"], payload.to_string())
}

#[test]
fn the_hook_steps_back_for_a_client_that_does_it_itself() {
    let older = with_claude(OLDER);
    assert!(call(&older).stdout.contains("Use integers."), "{}", call(&older));
    let context = older.run(&["context", "a.py", "--client", "claude"]);
    assert!(context.stdout.contains("Use integers."), "{context}");
    let newer = with_claude(NEWER);
    assert!(!call(&newer).stdout.contains("Use integers."), "{}", call(&newer));
    let context = newer.run(&["context", "a.py", "--client", "claude"]);
    assert!(!context.stdout.contains("Use integers."), "{context}");
}

#[test]
fn show_says_which_version_it_is_about() {
    insta::assert_snapshot!(with_claude(OLDER).run(&["show", "a.py", "claude"]), @"
                         tokens  claude
    AGENTS.md:1  AGENTS      ~4  delivered

    tokens in all                claude
    loaded                       ~0
    delivered                    ~4
    missing                      ~0
    ------- stderr -------
    claude: Claude Code 2.1.197 does not load `AGENTS.md` (2.1.277 and later do)
    [EOF]
    ");
    insta::assert_snapshot!(with_claude(NEWER).run(&["show", "a.py", "claude"]), @"
                         tokens  claude
    AGENTS.md:1  AGENTS      ~4  loaded

    tokens in all                claude
    loaded                       ~4
    missing                      ~0
    ------- stderr -------
    claude: Claude Code 2.1.277 loads `AGENTS.md` itself (since 2.1.277), so brief does not deliver it
    [EOF]
    ");
    let json = with_claude(OLDER).run(&["show", "a.py", "claude", "--json"]).json();
    assert_eq!(
        json["versions"],
        json!([{"client": "claude", "version": OLDER, "path": "AGENTS.md", "since": NEWER, "loads": false}])
    );
}

/// A client whose version is not known is taken for the newest one, as our facts are of that.
#[test]
fn an_unknown_version_counts_as_the_newest() {
    let project = with_claude(OLDER);
    let project = project.with_env("PATH", "/usr/bin:/bin");
    let context = project.run(&["context", "a.py", "--client", "claude"]);
    assert!(!context.stdout.contains("Use integers."), "{context}");
}
