//! `brief hook install` and `brief hook uninstall`

use brief_clients::hook::guard::find_command;
use brief_testkit::Sandbox;
use serde_json::{Value, json};
use std::fs;

use crate::build::make_executable;
use crate::project;

const FILE: &str = ".claude/settings.local.json";

/// Settings as a user keeps them: comments, an odd order, a number beyond 64 bits, and handlers of
/// other tools, one of them in a group like ours.
const MINE: &str = r#"{
  // Ask before anything that costs money.
  "zebra": 12345678901234567890,
  "permissions": { "allow": ["Bash(git:*)"], "deny": [] },
  "hooks": {
    "SessionEnd": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
    "PreToolUse": [
      {
        "matcher": "Read|Write|Edit|MultiEdit|NotebookEdit|Grep|Glob|LS|Bash", /* same as ours */
        "hooks": [
          { "type": "command", "command": "other-tool", "timeout": 1.50 }
        ]
      }
    ]
  },
  "apple": 1e3, // the last
}
"#;

fn install(project: &Sandbox) -> brief_testkit::Output {
    project.run(&["hook", "install", "claude"])
}

fn uninstall(project: &Sandbox) -> brief_testkit::Output {
    project.run(&["hook", "uninstall", "claude"])
}

/// The commands that the settings run for an event.
fn commands(settings: &Value, event: &str) -> Vec<String> {
    let groups = settings["hooks"][event].as_array().into_iter().flatten();
    let handlers = groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten());
    let lines = handlers.map(|handler| handler["command"].as_str().expect("a command"));
    lines.map(|line| find_command(line).command.to_owned()).collect()
}

/// A new file: the events, readable, in a directory that is made if needed.
#[test]
#[expect(clippy::too_many_lines, reason = "the file is shown whole")]
fn a_new_file_is_written() {
    let project = project();
    insta::assert_snapshot!(install(&project), @r#"
    ------- stderr -------
    installed the hook in .claude/settings.local.json
    hint: restart Claude Code to use it
    warning: Claude Code cannot run the hook: `brief` is not on PATH
    hint: copy `brief` to a directory on PATH, or pass --command "/path/to/brief hook claude"
    [EOF]
    "#);
    insta::assert_snapshot!(project.read(FILE), @r#"
    {
      "hooks": {
        "PreToolUse": [
          {
            "matcher": "Read|NotebookRead|Edit|MultiEdit|NotebookEdit|Write|Grep|Glob|LS|Bash",
            "hooks": [
              {
                "type": "command",
                "command": "command -v brief >/dev/null 2>&1 || exit 0; brief hook claude || exit 0",
                "timeout": 5
              }
            ]
          }
        ],
        "PostToolUse": [
          {
            "matcher": "Read|NotebookRead|Edit|MultiEdit|NotebookEdit|Write|Grep|Glob|LS|Bash",
            "hooks": [
              {
                "type": "command",
                "command": "command -v brief >/dev/null 2>&1 || exit 0; brief hook claude || exit 0",
                "timeout": 5
              }
            ]
          }
        ],
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "command -v brief >/dev/null 2>&1 || exit 0; brief hook claude || exit 0",
                "timeout": 5
              }
            ]
          }
        ],
        "UserPromptSubmit": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "command -v brief >/dev/null 2>&1 || exit 0; brief hook claude || exit 0",
                "timeout": 5
              }
            ]
          }
        ],
        "SubagentStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "command -v brief >/dev/null 2>&1 || exit 0; brief hook claude || exit 0",
                "timeout": 5
              }
            ]
          }
        ],
        "PreCompact": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "command -v brief >/dev/null 2>&1 || exit 0; brief hook claude || exit 0",
                "timeout": 5
              }
            ]
          }
        ],
        "InstructionsLoaded": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "command -v brief >/dev/null 2>&1 || exit 0; brief hook claude || exit 0",
                "timeout": 5
              }
            ]
          }
        ],
        "Stop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "command -v brief >/dev/null 2>&1 || exit 0; brief hook claude || exit 0",
                "timeout": 5
              }
            ]
          }
        ]
      }
    }
    "#);
}

/// The matcher names every tool that the hook knows.
#[test]
fn the_matcher_names_every_tool() {
    let project = project();
    assert_eq!(install(&project).code, Some(0));
    let settings: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    let matcher = settings["hooks"]["PreToolUse"][0]["matcher"].as_str().unwrap();
    let tools: Vec<_> = matcher.split('|').collect();
    for tool in ["Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "Grep", "Glob", "LS", "Bash"]
    {
        assert!(tools.contains(&tool), "{tool} is missing in {matcher}");
    }
}

/// Issue: "without touching anything else in it: key order, numbers, comments, foreign handlers".
#[test]
fn everything_else_stays_as_it_is() {
    let project = project().with_file(FILE, MINE);
    assert_eq!(install(&project).code, Some(0));
    let installed = project.read(FILE);
    // Every line that was there is still there, in the same order.
    let mut rest = installed.as_str();
    for line in MINE.lines().map(|line| line.trim_end_matches([',', ' '])) {
        let at = rest.find(line).unwrap_or_else(|| panic!("{line:?} is gone from\n{installed}"));
        rest = &rest[at + line.len()..];
    }
    assert_eq!(uninstall(&project).code, Some(0));
    assert_eq!(project.read(FILE), MINE);
}

/// Twice is once.
#[test]
fn installing_again_changes_nothing() {
    for text in [None, Some(MINE), Some("{}"), Some("{\"hooks\": {}}")] {
        let project = project();
        if let Some(text) = text {
            project.write(FILE, text);
        }
        assert_eq!(install(&project).code, Some(0));
        let once = project.read(FILE);
        let again = install(&project);
        assert_eq!(again.code, Some(0), "{again}");
        assert!(again.stderr.contains("already installed"), "{again}");
        assert_eq!(project.read(FILE), once);
    }
}

/// A half installation is completed.
#[test]
fn a_missing_event_is_added() {
    let whole = project();
    assert_eq!(install(&whole).code, Some(0));
    let whole: Value = serde_json::from_str(&whole.read(FILE)).unwrap();
    let ours = &whole["hooks"]["PreToolUse"][0]["hooks"][0];
    let half = json!({"hooks": {"PreToolUse": [{"matcher": "Read", "hooks": [ours]}]}});
    let project = project().with_file(FILE, half.to_string());
    assert_eq!(install(&project).code, Some(0));
    let settings: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    for event in ["PreToolUse", "PostToolUse", "SessionStart", "PreCompact"] {
        assert_eq!(commands(&settings, event), ["brief hook claude"], "{event}");
    }
    assert_eq!(settings["hooks"]["PreToolUse"][0]["matcher"], "Read");
}

/// Only our handler goes; others in the same group stay, and so do groups that were empty before.
#[test]
fn uninstalling_removes_our_handler_alone() {
    let ours = json!({"type": "command", "command": "brief hook claude"});
    let other = json!({"type": "command", "command": "other-tool"});
    let before = json!({"a": 1, "hooks": {
        "PreToolUse": [{"matcher": "Read", "hooks": [other, ours, other]}, {"hooks": [ours]}],
        "PostToolUse": [{"hooks": [ours]}],
        "Stop": [],
        "SessionEnd": [{"hooks": [ours]}],
    }});
    let after = json!({"a": 1, "hooks": {
        "PreToolUse": [{"matcher": "Read", "hooks": [other, other]}],
        "Stop": [],
        // We never put it there.
        "SessionEnd": [{"hooks": [ours]}],
    }});
    let project = project().with_file(FILE, serde_json::to_string_pretty(&before).unwrap());
    let output = uninstall(&project);
    assert_eq!(output.code, Some(0), "{output}");
    let settings: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    assert_eq!(settings, after);
    assert!(uninstall(&project).stderr.contains("is not installed"));
}

/// Our own files go away again.
#[test]
fn uninstalling_leaves_no_trace() {
    let project = project().with_file(FILE, "{\n  \"a\": 1\n}\n");
    assert_eq!(install(&project).code, Some(0));
    assert_eq!(uninstall(&project).code, Some(0));
    assert_eq!(project.read(FILE), "{\n  \"a\": 1\n}\n");
    let empty = crate::project();
    insta::assert_snapshot!(uninstall(&empty), @"
    ------- stderr -------
    the hook for Claude Code is not installed here
    [EOF]
    ");
    assert!(!empty.path().join(".claude").exists());
    // Nor does a directory stay that was made for the file; one with something else in it does.
    assert_eq!(install(&empty).code, Some(0));
    assert_eq!(uninstall(&empty).code, Some(0));
    assert!(!empty.path().join(".claude").exists());
    empty.write(".pi/kept", "");
    for action in ["install", "uninstall"] {
        let output = empty.run(&["hook", action, "pi", "--project"]);
        assert_eq!(output.code, Some(0), "{output}");
    }
    assert!(!empty.path().join(".pi/extensions").exists() && empty.path().join(".pi").exists());
}

/// Issue: "refuse a wrong shape". The file stays as it is.
#[test]
fn a_wrong_shape_is_refused() {
    for text in [
        "",
        "null",
        "[]",
        "{\"hooks\": ",
        "{'single': 1}",
        "{\"hooks\": []}",
        "{\"hooks\": null}",
        "{\"hooks\": {\"PreToolUse\": \"oops\"}}",
        "{\"hooks\": {\"PreToolUse\": {}}}",
        "{\"hooks\": {\"PreToolUse\": [\"oops\"]}}",
        "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Read\"}]}}",
        "{\"hooks\": {\"PreToolUse\": [{\"hooks\": {}}]}}",
        "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [5]}]}}",
    ] {
        for action in ["install", "uninstall"] {
            let project = project().with_file(FILE, text);
            let output = project.run(&["hook", action, "claude"]);
            assert_eq!((output.stdout.as_str(), output.code), ("", Some(1)), "{action} {text}");
            assert!(
                output.stderr.contains("correct the file; brief did not change it"),
                "{output}"
            );
            assert_eq!(project.read(FILE), text);
            assert_eq!(fs::read_dir(project.path().join(".claude")).unwrap().count(), 1);
        }
    }
    let project = project().with_file(FILE, "{\"hooks\": {\"PreToolUse\": \"oops\"}}");
    insta::assert_snapshot!(install(&project), @"
    ------- stderr -------
    error: `.claude/settings.local.json` `hooks.PreToolUse` is not a list
    hint: correct the file; brief did not change it
    [exit status: 1]
    [EOF]
    ");
}

/// Text that is not UTF-8 is refused too.
#[test]
fn a_file_that_is_not_text_is_refused() {
    let project = project().with_file(FILE, b"{\"a\": \"\xff\"}");
    assert_eq!(install(&project).code, Some(1));
    assert_eq!(fs::read(project.path().join(FILE)).unwrap(), b"{\"a\": \"\xff\"}");
}

/// A link that leads out of the project is another project's file.
#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_refused() {
    for (link, target) in [(FILE, "settings.json"), (".claude", "")] {
        let project = project();
        let outside = project.outside_directory().join("claude");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("settings.json"), "{}").unwrap();
        fs::write(outside.join("settings.local.json"), "{}").unwrap();
        let project = project.with_link(link, outside.join(target));
        for action in ["install", "uninstall"] {
            let output = project.run(&["hook", action, "claude"]);
            assert_eq!(output.code, Some(1), "{output}");
            assert!(output.stderr.contains("points outside its directory"), "{output}");
        }
        for name in ["settings.json", "settings.local.json"] {
            assert_eq!(fs::read_to_string(outside.join(name)).unwrap(), "{}");
        }
    }
}

/// A link that leads nowhere would put the file wherever it points.
#[cfg(unix)]
#[test]
fn a_dangling_link_out_of_the_project_is_not_followed() {
    let project = project();
    let outside = project.outside_directory();
    let project = project.with_link(FILE, outside.join("new.json"));
    let output = install(&project);
    assert!(!outside.join("new.json").exists(), "{output}");
    let project = crate::project();
    let outside = project.outside_directory();
    let project = project.with_link(".claude", outside.join("new"));
    let output = install(&project);
    assert!(!outside.join("new").exists(), "{output}");
}

/// A link that stays in the project is kept; what it leads to is edited.
#[cfg(unix)]
#[test]
fn a_link_inside_the_project_is_followed() {
    let project =
        project().with_file("shared/claude.json", "{}").with_link(FILE, "../shared/claude.json");
    assert_eq!(install(&project).code, Some(0));
    assert!(project.read("shared/claude.json").contains("brief hook claude"));
    assert!(fs::symlink_metadata(project.path().join(FILE)).unwrap().is_symlink());
}

/// The user's permissions stay.
#[cfg(unix)]
#[test]
fn permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let project = project().with_file(FILE, "{}");
    let file = project.path().join(FILE);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(install(&project).code, Some(0));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

/// Another command can be named, for a program that is not on PATH.
#[test]
fn another_command_can_be_installed() {
    let project = project();
    let args = ["--command", "/opt/wrapper hook claude"];
    let output = project.run(&[&["hook", "install", "claude"], &args[..]].concat());
    assert_eq!(output.code, Some(0));
    assert!(!output.stderr.contains("not on PATH"), "{output}");
    let settings: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    assert_eq!(commands(&settings, "PreToolUse"), ["/opt/wrapper hook claude"]);
    // It is not ours unless it is named again.
    assert!(uninstall(&project).stderr.contains("is not installed"));
    let output = project.run(&[&["hook", "uninstall", "claude"], &args[..]].concat());
    assert!(output.stderr.contains("removed the hook"), "{output}");
    // A path of `brief` is ours.
    let args = ["hook", "install", "claude", "--command", "/opt/brief hook claude"];
    assert_eq!(project.run(&args).code, Some(0));
    assert_eq!(install(&project).code, Some(0));
    let settings: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    assert_eq!(commands(&settings, "PreToolUse"), ["brief hook claude"]);
}

/// A program that the client will not find is worth a word.
#[test]
fn a_program_that_is_not_on_path_is_mentioned() {
    let project = project();
    assert!(install(&project).stderr.contains("`brief` is not on PATH"));
    let bin = project.outside_directory();
    let on_path = || crate::project().with_env("PATH", bin.to_str().unwrap());
    // A shell runs no file without permission.
    fs::write(bin.join("brief"), "").unwrap();
    assert_eq!(cfg!(unix), install(&on_path()).stderr.contains("not on PATH"));
    make_executable(&bin.join("brief"));
    assert!(!install(&on_path()).stderr.contains("not on PATH"));
}

/// A wrong call is exit 2.
#[test]
fn a_wrong_call_is_refused() {
    for args in [
        &["hook", "install"][..],
        &["hook", "install", "emacs"],
        &["hook", "uninstall"],
        &["hook", "install", "claude", "--global", "--project"],
    ] {
        let project = project();
        let output = project.run(args);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)), "{args:?}");
        assert!(!project.path().join(".claude").exists());
    }
}

/// The hook answers to the command that `install` writes.
#[test]
fn the_installed_command_answers() {
    let project = project().with_file("AGENTS.yaml", "context: [{content: HELLO}]\n");
    assert_eq!(install(&project).code, Some(0));
    let settings: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    let command = commands(&settings, "PreToolUse").remove(0);
    assert_eq!(command, "brief hook claude");
    let args: Vec<_> = command.split(' ').skip(1).collect();
    let payload = json!({
        "cwd": project.path(), "hook_event_name": "PreToolUse", "tool_name": "Read",
        "tool_input": {"file_path": "a"},
    });
    let output = project.run_with_input(&args, payload.to_string());
    assert!(output.stdout.contains("HELLO"), "{output}");
}

/// U74: a file that we made goes with the hook; an empty one of the user stays.
#[test]
fn only_a_file_of_ours_goes() {
    let empty = project();
    assert_eq!(install(&empty).code, Some(0));
    assert_eq!(uninstall(&empty).code, Some(0));
    assert!(!empty.path().join(FILE).exists());
    for mine in ["{}", "{}\n", "{\n}\n", "{ }\n"] {
        let project = project().with_file(FILE, mine);
        assert_eq!(install(&project).code, Some(0));
        assert_eq!(uninstall(&project).code, Some(0));
        assert_eq!(project.read(FILE), mine);
    }
    // With something of the user's in it, it is the user's.
    let project = project();
    assert_eq!(install(&project).code, Some(0));
    let text = project.read(FILE).replacen('{', "{\n  \"model\": \"opus\",", 1);
    project.write(FILE, text);
    assert_eq!(uninstall(&project).code, Some(0));
    assert!(project.read(FILE).contains("opus"));
}

/// U02: in a directory of a repository the hook is set up at its top, where the client reads it.
#[test]
fn a_hook_is_set_up_at_the_top_of_the_repository() {
    let project = project().with_dir(".git").with_dir("src");
    let output = project.run(&["hook", "install", "claude", "-C", "src"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("installed the hook in $PROJECT/.claude/settings"), "{output}");
    assert!(project.path().join(FILE).is_file());
    assert!(!project.path().join("src/.claude").exists());
    // One that was set up in the directory before is found there, too.
    let hook = project.read(FILE);
    project.write("src/.claude/settings.local.json", hook);
    let output = project.run(&["hook", "uninstall", "claude", "-C", "src"]);
    assert_eq!(output.stderr.matches("removed the hook from").count(), 2, "{output}");
    assert!(!project.path().join(FILE).exists());
}

/// U74: a user who starts a hook by hand is told what it waits for.
#[cfg(unix)]
#[test]
fn a_hook_at_a_terminal_says_what_it_waits_for() {
    let output = project().run_at_terminal(&["hook", "claude"], "{}\n\u{4}");
    assert!(output.stderr.starts_with("waiting for JSON from Claude Code"), "{output}");
}

/// K10: Codex skips hooks that its user has not approved, without a word. The status says so, and which version is there.
#[test]
fn the_status_tells_what_is_left_to_do() {
    let project = project().with_file(".git/HEAD", "").with_file(".agents/rules/r.md", "Always.\n");
    let bin = project.outside_directory().join("codex");
    fs::create_dir_all(bin.join("bin")).unwrap();
    fs::write(bin.join("package.json"), r#"{"name": "codex", "version": "0.166.0"}"#).unwrap();
    fs::write(bin.join("bin/codex"), "").unwrap();
    let project = project.with_env("PATH", bin.join("bin").to_str().unwrap());
    let status = || project.run(&["hook", "status", "codex", "--json"]).json()["hooks"][0].clone();
    let before = status();
    assert_eq!((&before["installed"], &before["answers"]), (&json!([]), &json!(true)));
    assert_eq!(before["program"]["version"], "0.166.0");
    let output = project.run(&["hook", "install", "codex"]);
    assert!(output.stderr.contains("approve the hook with `/hooks`"), "{output}");
    let hook = status()["installed"][0].clone();
    assert_eq!((&hook["file"], &hook["approved"]), (&json!(".codex/hooks.json"), &json!(false)));
    assert_eq!(hook["commands"], json!(["brief hook codex"]));
    // As Codex 0.166.0 writes it.
    let file = project.path().join(".codex/hooks.json");
    let state = format!(
        "[hooks.state.\"{}:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:x\"\n",
        file.display()
    );
    fs::create_dir_all(project.home().join(".codex")).unwrap();
    fs::write(project.home().join(".codex/config.toml"), state).unwrap();
    assert_eq!(status()["installed"][0]["approved"], true);
}

/// pi 0.87.1 keeps its user's decisions in one file; the nearest directory with one counts.
#[test]
fn the_status_knows_the_trust_of_pi() {
    let project = project().with_file(".git/HEAD", "").with_file(".agents/rules/r.md", "Always.\n");
    let output = project.run(&["hook", "install", "pi", "--project"]);
    assert_eq!(output.code, Some(0), "{output}");
    let approved = |trust: &[(&std::path::Path, bool)]| {
        let entries = trust
            .iter()
            .map(|(path, is_trusted)| (path.to_string_lossy().into_owned(), json!(is_trusted)));
        let entries = serde_json::Value::Object(entries.collect());
        let directory = project.home().join(".pi/agent");
        fs::create_dir_all(&directory).unwrap();
        let text = serde_json::to_string_pretty(&entries).unwrap() + "\n";
        fs::write(directory.join("trust.json"), text).unwrap();
        let status = project.run(&["hook", "status", "pi", "--json"]).json();
        status["hooks"][0]["installed"][0]["approved"].clone()
    };
    let path = project.path();
    let above = path.parent().unwrap();
    assert_eq!(approved(&[]), false);
    assert_eq!(approved(&[(&path, true)]), true);
    assert_eq!(approved(&[(above, true)]), true);
    assert_eq!(approved(&[(above, true), (&path, false)]), false);
    assert_eq!(approved(&[(std::path::Path::new("/elsewhere"), true)]), false);
}

/// A rehearsal and the hook say the same.
#[test]
fn a_rehearsal_says_what_the_hook_says() {
    let project = project()
        .with_file("AGENTS.yaml", "context:\n  - {content: EVERYWHERE}\n  - {content: BEFORE, on: edit, match: ['*.py']}\n  - {content: AFTER, on: edit, when: after}\n")
        .with_file("a.py", "");
    let told = project.run(&["hook", "test", "claude", "a.py", "--on", "edit"]).to_string();
    let mark = told.lines().find_map(crate::hook::frame_mark).unwrap();
    insta::assert_snapshot!(told.replace(mark, "MARK"), @"
    SessionStart:

    ## Guidance for this project, marked MARK

    ### MARK AGENTS.yaml

    - EVERYWHERE

    PreToolUse:

    ## Guidance for a.py, marked MARK

    ### MARK AGENTS.yaml

    - BEFORE

    PostToolUse:

    ## Guidance for a.py, marked MARK

    ### MARK AGENTS.yaml

    - AFTER
    [EOF]
    ");
    let held = project.run(&["hook", "test", "gemini", "a.py", "--on", "edit", "--block-once"]);
    assert!(held.stdout.contains("BeforeTool (blocks the call):"), "{held}");
    assert!(!project.home().join(".local/state/brief").exists(), "nothing is recorded");
    let nothing = project.run(&["hook", "test", "claude", "../x.py"]);
    assert!(
        nothing.stdout.contains("EVERYWHERE") && !nothing.stdout.contains("BEFORE"),
        "{nothing}"
    );
    assert_eq!(project.run(&["hook", "test", "claude", "a.py", "--on", "all"]).code, Some(2));
}
