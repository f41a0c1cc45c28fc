//! Moments besides tool calls, and calls that are held back.

use serde_json::{Value, json};

use crate::hook_clients::{hook, marked, payload, texts, tool};
use crate::project;

/// K01 (b): "the first edit or creation that has undelivered guidance \"before\" is held back once with it, the same call
/// made again goes through; never twice, never without a text, never for reads, and off unless chosen".
#[test]
fn a_change_is_held_back_once() {
    let project = marked();
    let edit = tool(&project, "PreToolUse", "Edit", "src/api/a.py");
    let held = hook(&project, &["claude", "--hold"], &edit);
    let answer: Value = serde_json::from_str(&held.stdout).unwrap();
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["permissionDecision"], "deny", "{answer}");
    let reason = output["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("MARK-edit-before") && reason.contains("MARK-cursor-rule"), "{reason}");
    assert!(reason.ends_with("make the same call again.)"), "{reason}");
    // The same call passes, and so does every later one.
    assert_eq!(hook(&project, &["claude", "--hold"], &edit).to_string(), "[EOF]");
    // A creation has a text of its own.
    let create = tool(&project, "PreToolUse", "Write", "src/api/new.py");
    assert!(texts(&hook(&project, &["claude", "--hold"], &create)).contains("deny"));
    assert_eq!(hook(&project, &["claude", "--hold"], &create).to_string(), "[EOF]");
}

#[test]
fn a_call_is_not_held_back_without_need() {
    // A read.
    let project = marked();
    let read = tool(&project, "PreToolUse", "Read", "src/api/a.py");
    assert!(!texts(&hook(&project, &["claude", "--hold"], &read)).contains("deny"));
    // An edit after it: the read has brought everything.
    let edit = tool(&project, "PreToolUse", "Edit", "src/api/a.py");
    assert_eq!(hook(&project, &["claude", "--hold"], &edit).to_string(), "[EOF]");
    // Without the choice.
    let project = marked();
    let edit = tool(&project, "PreToolUse", "Edit", "src/api/a.py");
    assert!(!texts(&hook(&project, &["claude"], &edit)).contains("deny"));
    // Without a session there is no memory of it, so it might be held back for ever.
    let project = marked();
    let mut edit = tool(&project, "PreToolUse", "Edit", "src/api/a.py");
    edit.as_object_mut().unwrap().remove("session_id");
    assert!(!texts(&hook(&project, &["claude", "--hold"], &edit)).contains("deny"));
    // Where no memory can be written.
    let project = marked().with_env("XDG_STATE_HOME", "/dev/null/no");
    let edit = tool(&project, "PreToolUse", "Edit", "src/api/a.py");
    assert!(!texts(&hook(&project, &["claude", "--hold"], &edit)).contains("deny"));
    // In a client that would end its run.
    let project = marked();
    let edit = json!({"taskId": "one", "cwd": project.path(), "hookName": "tool_call",
        "tool_call": {"name": "editor", "input": {"path": project.path().join("src/api/a.py"), "old_text": "x"}}});
    let answer = texts(&hook(&project, &["cline", "--hold"], &edit));
    assert!(answer.contains("MARK-edit-before") && !answer.contains("held back"), "{answer}");
}

/// `hold: true` on an entry counts only where the user allowed it.
#[test]
fn an_entry_can_ask_to_hold() {
    let entries = "context:\n  - {content: WAIT, hold: true, match: ['*.sql']}\n  - {content: GO, match: ['*.py']}\n";
    for (args, path, is_held) in [
        (&["claude", "--hold=marked"][..], "a.sql", true),
        (&["claude", "--hold=marked"], "a.py", false),
        (&["claude", "--hold"], "a.py", true),
        (&["claude"], "a.sql", false),
    ] {
        let project = project().with_file("AGENTS.yaml", entries).with_file(path, "");
        let answer = texts(&hook(&project, args, &tool(&project, "PreToolUse", "Edit", path)));
        assert_eq!(answer.contains("deny"), is_held, "{args:?} {path}: {answer}");
        assert!(answer.contains(if path == "a.sql" { "WAIT" } else { "GO" }), "{answer}");
    }
}

/// "Session start carries what applies to the whole project and is not loaded by the client."
#[test]
fn the_start_carries_what_is_for_every_file() {
    let project = marked()
        .with_file("CLAUDE.md", "LOADED-BY-CLAUDE\n")
        .with_file("AGENTS.md", "OTHERS\n")
        .with_file("src/AGENTS.yaml", "context: [{content: BELOW}]\n");
    let everywhere = "context:\n  - {content: EVERYWHERE}\n  - {content: EDITED, on: edit}\n  - {content: AFTER, when: after}\n  - {content: SOME, match: ['*.md']}\n";
    project.write("AGENTS.yaml", everywhere);
    let start = |source: &str| {
        texts(&hook(
            &project,
            &["claude"],
            &payload(&project, "SessionStart", &json!({"source": source})),
        ))
    };
    let told = start("startup");
    for mark in ["EVERYWHERE", "Before an edit: EDITED", "MARK-context-always", "MARK-agents-rule"]
    {
        assert!(told.contains(mark), "{mark} in {told}");
    }
    for mark in ["LOADED-BY-CLAUDE", "BELOW", "AFTER", "SOME", "MARK-cursor-rule"] {
        assert!(!told.contains(mark), "{mark} in {told}");
    }
    // Nothing of it comes again with a read, and nothing on resume.
    let read =
        texts(&hook(&project, &["claude"], &tool(&project, "PreToolUse", "Read", "src/api/a.py")));
    assert!(read.contains("BELOW") && read.contains("MARK-cursor-rule"), "{read}");
    assert!(!read.contains("EVERYWHERE") && !read.contains("MARK-agents-rule"), "{read}");
    assert_eq!(start("resume"), "");
}

/// "Subagents get their own."
#[test]
fn a_subagent_starts_with_its_own_copy() {
    let project = marked();
    hook(&project, &["claude"], &payload(&project, "SessionStart", &json!({"source": "startup"})));
    let begin =
        payload(&project, "SubagentStart", &json!({"agent_id": "a", "agent_type": "Explore"}));
    assert!(texts(&hook(&project, &["claude"], &begin)).contains("MARK-agents-rule"));
    assert_eq!(texts(&hook(&project, &["claude"], &begin)), "");
}

/// A prompt that names a file is a moment before its edit.
#[test]
fn a_prompt_brings_what_is_for_the_files_it_names() {
    let project = marked();
    let ask = |prompt: &str| {
        texts(&hook(
            &project,
            &["claude"],
            &payload(&project, "UserPromptSubmit", &json!({"prompt": prompt})),
        ))
    };
    assert_eq!(ask("please change it"), "");
    assert_eq!(ask("look at src/api/gone.py and ../../etc/passwd"), "");
    let told = ask("please fix src/api/a.py.");
    assert!(
        told.contains("Before an edit: MARK-edit-before") && told.contains("MARK-cursor-rule"),
        "{told}"
    );
    assert_eq!(ask("and once more src/api/a.py"), "");
}

/// "All of it again after a compaction": also for the files that the conversation worked on.
#[test]
fn a_compacted_conversation_gets_everything_again() {
    let project = marked();
    let start = |source: &str| {
        texts(&hook(
            &project,
            &["claude"],
            &payload(&project, "SessionStart", &json!({"source": source})),
        ))
    };
    start("startup");
    let read = tool(&project, "PreToolUse", "Read", "src/api/a.py");
    assert!(texts(&hook(&project, &["claude"], &read)).contains("MARK-cursor-rule"));
    assert_eq!(
        texts(&hook(&project, &["claude"], &payload(&project, "PreCompact", &json!({})))),
        ""
    );
    let told = start("compact");
    for mark in ["MARK-agents-rule", "MARK-cursor-rule", "MARK-edit-before"] {
        assert_eq!(told.matches(mark).count(), 1, "{mark} in {told}");
    }
    assert_eq!(texts(&hook(&project, &["claude"], &read)), "");
}
