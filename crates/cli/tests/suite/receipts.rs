//! `brief log`: what agents were told.

use std::fs;
use std::io::Write;

use brief_testkit::Sandbox;
use serde_json::{Value, json};

use crate::hook_clients::{hook, marked, payload, texts, tool};
use crate::project;

fn receipts(project: &Sandbox, args: &[&str]) -> Value {
    let output = project.run(&[&["log", "--json"], args].concat());
    assert!(matches!(output.code, Some(0 | 1)), "{output}");
    serde_json::from_str(&output.stdout).unwrap()
}

/// The lines on disk.
fn lines(project: &Sandbox) -> Vec<String> {
    let directory = project.home().join(".local/state/brief/receipts");
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    let text: String = files.map(|file| fs::read_to_string(file.path()).unwrap()).collect();
    text.lines().map(str::to_owned).collect()
}

/// Every delivery has a receipt with all its facts, and none of its text.
#[test]
fn every_delivery_is_recorded() {
    let project = marked();
    hook(&project, &["claude"], &payload(&project, "SessionStart", &json!({"source": "startup"})));
    hook(&project, &["claude"], &tool(&project, "PreToolUse", "Read", "src/api/a.py"));
    // Nothing new, so no receipt.
    hook(&project, &["claude"], &tool(&project, "PreToolUse", "Read", "src/api/a.py"));
    let report = receipts(&project, &[]);
    let told = report["receipts"].as_array().unwrap();
    let events: Vec<&str> = told.iter().map(|receipt| receipt["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["SessionStart", "PreToolUse"]);
    let item = &told[1]["items"][0];
    assert_eq!(item["how"], "delivered");
    assert_eq!(item["file"], "src/api/a.py");
    assert_eq!(item["action"], "read");
    assert_eq!(item["place"], ".cursor/rules/py.mdc");
    assert_eq!(item["reason"], "globs `**/*.py` covers src/api/a.py");
    assert!(item["tokens"].as_u64().unwrap() > 0 && item["hash"].as_str().unwrap().len() == 16);
    assert_eq!((&told[1]["session"], &told[1]["client"]), (&json!("one"), &json!("claude")));
    assert!(lines(&project).iter().all(|line| !line.contains("MARK-")), "a receipt holds a text");
    // The text names the same.
    let shown = project.run(&["log"]);
    assert!(shown.stdout.starts_with("claude one  20"), "{shown}");
    assert!(shown.stdout.contains("delivered .cursor/rules/py.mdc:4"), "{shown}");
}

/// A call that was held back says so.
#[test]
fn a_call_that_was_held_back_says_so() {
    let project = marked();
    hook(
        &project,
        &["claude", "--block-once"],
        &tool(&project, "PreToolUse", "Edit", "src/api/a.py"),
    );
    assert_eq!(receipts(&project, &[])["receipts"][0]["held"], true);
    assert!(project.run(&["log"]).stdout.contains("PreToolUse, blocked"));
}

/// `[SESSION|FILE|ITEM]`.
#[test]
fn a_word_chooses() {
    let project = marked().with_file("src/b.py", "");
    hook(&project, &["claude"], &tool(&project, "PreToolUse", "Read", "src/api/a.py"));
    let mut other = tool(&project, "PreToolUse", "Read", "src/b.py");
    other["session_id"] = json!("two");
    hook(&project, &["claude"], &other);
    let places = |word: &str| -> Vec<String> {
        let report = receipts(&project, &[word]);
        let told = report["receipts"].as_array().unwrap().clone();
        told.iter()
            .map(|receipt| {
                format!("{} {}", receipt["session"], receipt["items"].as_array().unwrap().len())
            })
            .collect()
    };
    let all = receipts(&project, &[])["receipts"][0]["items"].as_array().unwrap().len();
    assert_eq!(places("tw"), [format!("\"two\" {all}")]);
    assert_eq!(places("src/b.py"), [format!("\"two\" {all}")]);
    assert_eq!(places(".cursor/rules/py.mdc"), ["\"one\" 1", "\"two\" 1"]);
    assert_eq!(places("nothing"), Vec::<String>::new());
}

/// "Never delivered in 30 days".
#[test]
fn what_no_agent_got_is_shown() {
    let project = marked().with_file(".cursor/rules/ts.mdc", "---\nglobs: '**/*.ts'\n---\n\nTS\n");
    let nothing = project.run(&["log", "--unused"]);
    assert!(nothing.stderr.contains("no deliveries recorded in the last 30 days"), "{nothing}");
    for event in ["PreToolUse", "PostToolUse"] {
        for name in ["Read", "Edit", "Write"] {
            hook(&project, &["claude"], &tool(&project, event, name, "src/api/a.py"));
        }
    }
    let report = receipts(&project, &["--unused"]);
    let never: Vec<&str> = report["never"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["place"].as_str().unwrap())
        .collect();
    // The entry for after a creation, too: no file was created.
    assert_eq!(never, [".cursor/rules/ts.mdc", "AGENTS.yaml"]);
}

/// Also what is for other files or for another agent.
#[test]
fn what_waits_for_another_file_or_agent_was_never_delivered() {
    let project = crate::project()
        .with_file(".git/HEAD", "")
        .with_file("a.py", "")
        .with_file(
            "AGENTS.yaml",
            "context:\n- {content: RS, match: ['**/*.rs']}\n- {content: PY, match: ['**/*.py']}\n",
        )
        .with_file(".context/css.md", "---\ntrigger: auto\nglobs: '*.css'\n---\nCSS\n")
        .with_file(".context/mine.md", "---\ntrigger: manual\n---\nMANUAL\n")
        .with_file(".agents/rules/g.md", "---\nagent: gemini\n---\nG\n")
        .with_file(".agents/rules/c.md", "---\nagent: claude\n---\nC\n");
    hook(&project, &["claude"], &tool(&project, "PreToolUse", "Read", "a.py"));
    let report = receipts(&project, &["--unused"]);
    let never: Vec<&str> = report["never"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["place"].as_str().unwrap())
        .collect();
    assert_eq!(never, [".agents/rules/g.md", ".context/css.md", "AGENTS.yaml"]);
}

/// **Drift**: "what we believed that the client loads against what it loaded".
#[test]
fn what_a_client_loads_is_compared_with_what_we_believe() {
    let project = marked()
        .with_file("CLAUDE.md", "@docs/more.md\n")
        .with_file("docs/more.md", "x\n")
        .with_file("src/CLAUDE.md", "y\n");
    let none = project.run(&["log", "--mismatch"]);
    assert!(none.stderr.contains("no client reported"), "{none}");
    let loaded = |path: &str, reason: &str| {
        let more = json!({"file_path": project.path().join(path), "load_reason": reason});
        let output = hook(&project, &["claude"], &payload(&project, "InstructionsLoaded", &more));
        assert_eq!(output.to_string(), "[EOF]");
    };
    loaded("CLAUDE.md", "session_start");
    loaded("docs/more.md", "include");
    hook(&project, &["claude"], &tool(&project, "PreToolUse", "Read", "src/api/a.py"));
    loaded("src/CLAUDE.md", "nested_traversal");
    let agreed = project.run(&["log", "--mismatch"]);
    assert_eq!((agreed.code, agreed.stderr.trim_end()), (Some(0), "0 differences"), "{agreed}");
    // A file that we did not know of.
    loaded("docs/other.md", "session_start");
    // And a session in which a file did not come that we believed in.
    let more = json!({"session_id": "two", "file_path": project.path().join("src/CLAUDE.md")});
    hook(&project, &["claude"], &payload(&project, "InstructionsLoaded", &more));
    let drifted = project.run(&["log", "--mismatch"]);
    assert_eq!(drifted.code, Some(1), "{drifted}");
    assert!(drifted.stdout.contains("docs/other.md  claude one: loaded unexpectedly"), "{drifted}");
    assert!(drifted.stdout.contains("CLAUDE.md  claude two: expected"), "{drifted}");
}

/// "Off with one setting."
#[test]
fn receipts_can_be_turned_off() {
    let project = marked();
    assert_eq!(project.run(&["log", "disable"]).code, Some(0));
    let read = tool(&project, "PreToolUse", "Read", "src/api/a.py");
    assert!(texts(&hook(&project, &["claude"], &read)).contains("MARK-cursor-rule"));
    assert_eq!(lines(&project), Vec::<String>::new());
    assert!(project.run(&["log"]).stderr.contains("recording is disabled"));
    assert_eq!(project.run(&["log", "enable"]).code, Some(0));
    hook(&project, &["claude"], &tool(&project, "PostToolUse", "Read", "src/api/a.py"));
    assert_eq!(lines(&project).len(), 1);
    assert_eq!(project.run(&["log", "clear"]).code, Some(0));
    assert_eq!(lines(&project), Vec::<String>::new());
    let project = marked().with_env("BRIEF_RECEIPTS", "off");
    hook(&project, &["claude"], &tool(&project, "PreToolUse", "Read", "src/api/a.py"));
    assert_eq!(lines(&project), Vec::<String>::new());
}

/// "A receipts file of another version or on a full disk": the hook answers all the same.
#[cfg(unix)]
#[test]
fn a_receipt_that_cannot_be_written_changes_nothing() {
    let project = marked();
    let directory = project.home().join(".local/state/brief");
    fs::create_dir_all(&directory).unwrap();
    std::os::unix::fs::symlink("/dev/full", directory.join("receipts")).unwrap();
    let read = tool(&project, "PreToolUse", "Read", "src/api/a.py");
    let output = hook(&project, &["claude"], &read);
    assert!(texts(&output).contains("MARK-cursor-rule") && output.stderr.is_empty(), "{output}");
    assert_eq!(project.run(&["log"]).code, Some(0));
}

/// "Safe under 200 parallel hooks."
#[test]
fn many_hooks_write_whole_lines() {
    let project = project()
        .with_file("AGENTS.yaml", "context: [{content: SAY}]\n")
        .with_file("a.py", "")
        .with_env("BRIEF_HOOK_DEADLINE", "60000");
    let children: Vec<_> = (0..200)
        .map(|number| {
            let mut call = tool(&project, "PreToolUse", "Read", "a.py");
            call["session_id"] = json!(format!("session-{number}"));
            let mut child = project.prepare_command("", &["hook", "claude"]).spawn().unwrap();
            child.stdin.take().unwrap().write_all(call.to_string().as_bytes()).unwrap();
            child
        })
        .collect();
    for child in children {
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    }
    let report = receipts(&project, &[]);
    assert_eq!(report["unreadable"], 0);
    assert_eq!(report["receipts"].as_array().unwrap().len(), 200);
}
