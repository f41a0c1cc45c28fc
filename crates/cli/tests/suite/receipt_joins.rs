//! Receipts that can be joined with the client's own records, and input that is not as expected.

use brief_testkit::Sandbox;
use serde_json::{Value, json};

use crate::hook_clients::{hook, marked, payload, texts};

fn receipts(project: &Sandbox) -> Vec<Value> {
    let output = project.run(&["log", "--json"]);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    report["receipts"].as_array().unwrap().clone()
}

/// The payload of a read, with the client's own words for what joins it.
fn read_by(project: &Sandbox, client: &str) -> (&'static str, Value) {
    let path = project.path().join("src/api/a.py");
    let call = |event: &'static str, tool: &str, key: &str, more: &Value| {
        let mut call =
            payload(project, event, &json!({"tool_name": tool, "tool_input": {key: path}}));
        let fields = call.as_object_mut().unwrap();
        fields.remove("transcript_path");
        fields.extend(more.as_object().unwrap().clone());
        (event, call)
    };
    let transcript = "/home/me/sessions/one.jsonl";
    match client {
        "claude" => call(
            "PostToolUse",
            "Read",
            "file_path",
            &json!({"tool_use_id": "call_1", "transcript_path": transcript}),
        ),
        "codex" => (
            "PostToolUse",
            json!({"session_id": "one", "turn_id": "t", "cwd": project.path(), "hook_event_name": "PostToolUse", "tool_name": "Bash",
                "tool_input": {"command": "cat src/api/a.py"}, "tool_use_id": "call_1", "transcript_path": transcript}),
        ),
        "gemini" => {
            call("AfterTool", "read_file", "file_path", &json!({"transcript_path": transcript}))
        }
        "qwen" => call(
            "PostToolUse",
            "read_file",
            "file_path",
            &json!({"tool_call_id": "call_1", "transcript_path": transcript}),
        ),
        "droid" => {
            call("PostToolUse", "Read", "file_path", &json!({"transcript_path": transcript}))
        }
        "copilot" => call("postToolUse", "view", "path", &json!({})),
        "opencode" | "kilo" => call("after", "read", "filePath", &json!({"call_id": "call_1"})),
        "pi" => call("tool_result", "read", "path", &json!({"source": "pi", "call_id": "call_1"})),
        _ => (
            "tool_result",
            json!({"taskId": "conv_1", "cwd": project.path(), "hookName": "tool_result", "sessionContext": {"rootSessionId": "root_1"},
                "tool_result": {"id": "call_1", "name": "read_files", "input": {"files": [{"path": path}]}}}),
        ),
    }
}

/// `reference/transcripts.md`, section 1: what each client's payload has.
#[test]
fn a_receipt_has_what_the_payload_has_and_a_reason_for_the_rest() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    for (client, has_call, has_transcript) in [
        ("claude", true, true),
        ("codex", true, true),
        ("gemini", false, true),
        ("qwen", true, true),
        ("droid", false, true),
        ("copilot", false, false),
        ("opencode", true, false),
        ("kilo", true, false),
        ("pi", true, false),
        ("cline", true, false),
    ] {
        let project = marked()
            .with_file(".git/HEAD", "ref: refs/heads/main\n")
            .with_file(".git/refs/heads/main", format!("{commit}\n"));
        let (event, call) = read_by(&project, client);
        texts(&hook(&project, &[client, "--event", event], &call));
        let found = receipts(&project);
        let [receipt] = &found[..] else { panic!("{client}: {found:?}") };
        for (key, value, is_there) in [
            ("call", "call_1", has_call),
            ("transcript", "/home/me/sessions/one.jsonl", has_transcript),
            ("root_session", "root_1", client == "cline"),
            ("head", commit, true),
            ("step", "after-call", true),
        ] {
            let expected = if is_there { json!(value) } else { Value::Null };
            assert_eq!(receipt[key], expected, "{client}: {key} of {receipt}");
            assert_eq!(
                receipt["missing"][key].is_string(),
                !is_there,
                "{client}: {key} of {receipt}"
            );
        }
        assert_eq!(receipt["changes"], json!([]), "{client}");
    }
}

/// "After a change, record the paths with SHA-256 before and after (never text)."
#[test]
fn a_change_has_the_hashes_of_its_files() {
    let project = marked().with_file("src/api/a.py", "abc");
    let path = project.path().join("src/api/a.py");
    let call = |event: &str, tool: &str, input: &Value| {
        let mut call = payload(&project, event, &json!({"tool_name": tool, "tool_input": input}));
        call["tool_use_id"] = json!("call_1");
        call
    };
    let change = |tool: &str, input: &Value, made: &dyn Fn()| {
        hook(&project, &["claude"], &call("PreToolUse", tool, input));
        made();
        hook(&project, &["claude"], &call("PostToolUse", tool, input));
        receipts(&project)
            .iter()
            .flat_map(|receipt| receipt["changes"].as_array().unwrap().clone())
            .collect::<Vec<_>>()
    };
    let edit = json!({"file_path": path, "old_string": "abc", "new_string": ""});
    let found = change("Edit", &edit, &|| std::fs::write(&path, "").unwrap());
    // The published values for `abc` and for nothing.
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(found, [json!({"path": "src/api/a.py", "before": abc, "after": empty})]);
    // A call that was refused has changed nothing.
    assert_eq!(change("Edit", &edit, &|| {}).len(), 1);
    // A new file, made by a shell.
    let new = project.path().join("src/api/new.txt");
    let found = change("Bash", &json!({"command": "printf abc > src/api/new.txt"}), &|| {
        std::fs::write(&new, "abc").unwrap();
    });
    assert_eq!(found[1]["after"], abc, "{found:?}");
    assert_eq!(found[1]["missing"]["before"], "the file did not exist");
    let stored = project.home().join(".local/state/brief/receipts");
    for file in std::fs::read_dir(stored).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains("old_string") && !text.contains("printf abc"), "{text}");
    }
    // Outside of the project, and what may hold secrets.
    for secret in [".env", "../outside.txt"] {
        let input = json!({"file_path": project.path().join(secret), "content": "x"});
        let path = project.path().join(secret);
        let found = change("Write", &input, &|| std::fs::write(&path, "x").unwrap());
        assert_eq!(found.len(), 2, "{secret}: {found:?}");
        let _ = std::fs::remove_file(&path);
    }
}

/// A line of an earlier version is read, and its parts that it never had are `null`.
#[test]
fn an_earlier_receipt_is_still_read() {
    let project = marked();
    let (_, call) = read_by(&project, "claude");
    hook(&project, &["claude"], &call);
    let directory = project.home().join(".local/state/brief/receipts");
    let file = std::fs::read_dir(directory).unwrap().next().unwrap().unwrap().path();
    let root = project.path().display().to_string();
    let old = json!({"version": 1, "at": 1, "session": "old", "client": "claude", "event": "PreToolUse", "root": root,
        "items": [{"how": "delivered", "place": "AGENTS.yaml"}]});
    std::fs::write(&file, format!("{old}\n")).unwrap();
    let found = receipts(&project);
    assert_eq!((found.len(), &found[0]["session"]), (1, &json!("old")));
    assert_eq!((&found[0]["call"], &found[0]["changes"]), (&Value::Null, &json!([])));
}

/// Bad input: a transcript that does not exist, is not ours, or lies elsewhere changes nothing, and is not opened.
#[test]
fn a_transcript_is_never_opened() {
    for transcript in [
        json!("/no/where.jsonl"),
        json!("/root/secret"),
        json!("../../x"),
        json!(""),
        json!(7),
        json!("x".repeat(10_000)),
    ] {
        let project = marked();
        let (_, mut call) = read_by(&project, "claude");
        call["transcript_path"] = transcript;
        let told = texts(&hook(&project, &["claude"], &call));
        assert!(told.contains("MARK-read-after"), "{told}");
        assert_eq!(receipts(&project).len(), 1);
    }
}

/// Bad input: two clients, and two projects, with sessions of one id.
#[test]
fn sessions_with_one_id_are_told_apart() {
    let project = marked();
    let ask = |client: &str, event: &str, call: &Value| {
        texts(&hook(&project, &[client, "--event", event], call))
    };
    let (event, claude) = read_by(&project, "claude");
    let (other, qwen) = read_by(&project, "qwen");
    assert!(ask("claude", event, &claude).contains("MARK-read-after"));
    assert!(ask("qwen", other, &qwen).contains("MARK-read-after"), "another client's session");
    assert_eq!(ask("claude", event, &claude), "", "the same session");
    // A second session of the same client begins: a text may come again, and none is lost.
    let start = payload(&project, "SessionStart", &json!({"source": "startup"}));
    ask("claude", "SessionStart", &start);
    assert!(ask("claude", event, &claude).contains("MARK-read-after"));
}

/// Bad input: a client's new event or tool gets what is certain, and is reported once.
#[test]
fn a_new_tool_is_answered_and_reported_once() {
    let project = marked();
    let path = project.path().join("src/api/a.py");
    let call = payload(
        &project,
        "PostToolUse",
        &json!({"tool_name": "ReadMany", "tool_input": {"file_path": path}}),
    );
    assert!(texts(&hook(&project, &["claude"], &call)).contains("MARK-read-after"));
    for _ in 0..2 {
        hook(&project, &["claude"], &call);
        hook(&project, &["claude"], &payload(&project, "TurnEnd", &json!({})));
        let of_server = json!({"tool_name": "mcp__files__read", "tool_input": {"file_path": path}});
        hook(&project, &["claude"], &payload(&project, "PostToolUse", &of_server));
    }
    let status = project.run(&["hook", "status", "claude", "--json"]);
    let report: Value = serde_json::from_str(&status.stdout).unwrap();
    let expected =
        json!([{"kind": "tool", "name": "ReadMany"}, {"kind": "event", "name": "TurnEnd"}]);
    assert_eq!(report["hooks"][0]["unknown"], expected);
    let shown = project.run(&["hook", "status", "claude"]).stdout;
    assert_eq!(shown.matches("`ReadMany`").count(), 1, "{shown}");
}

/// Modes and kinds of subagents, where a payload says them, select rules; `context -s` gives the same answer.
#[test]
fn rules_can_be_for_a_mode_or_a_subagent() {
    let rules = || {
        marked()
            .with_file(".agents/rules/plan.md", "---\nmode: plan\n---\nFOR-PLAN\n")
            .with_file(".agents/rules/code.md", "---\nmode: code\n---\nFOR-CODE\n")
            .with_file(".agents/rules/review.md", "---\nsubagent: reviewer\n---\nFOR-REVIEW\n")
    };
    for (more, expected) in [
        (json!({}), [true, true, true]),
        (json!({"permission_mode": "plan"}), [true, false, true]),
        (json!({"permission_mode": "acceptEdits"}), [false, true, true]),
        (
            json!({"permission_mode": "default", "agent_id": "a", "agent_type": "tester"}),
            [false, true, false],
        ),
        (
            json!({"permission_mode": "default", "agent_id": "a", "agent_type": "reviewer"}),
            [false, true, true],
        ),
    ] {
        let project = rules();
        let (_, mut call) = read_by(&project, "claude");
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let told = texts(&hook(&project, &["claude"], &call));
        let found = ["FOR-PLAN", "FOR-CODE", "FOR-REVIEW"].map(|mark| told.contains(mark));
        assert_eq!(found, expected, "{more}");
        let mut asked = vec!["context", "src/api/a.py", "--client", "claude"];
        match more["permission_mode"].as_str() {
            Some("plan") => asked.extend(["-s", "mode=plan"]),
            Some(_) => asked.extend(["-s", "mode=code"]),
            None => {}
        }
        let kind = more["agent_type"].as_str().map(|kind| format!("subagent={kind}"));
        asked.extend(kind.iter().flat_map(|kind| ["-s", kind]));
        let shown = project.run(&asked).stdout;
        let found = ["FOR-PLAN", "FOR-CODE", "FOR-REVIEW"].map(|mark| shown.contains(mark));
        assert_eq!(found, expected, "{asked:?}");
    }
}
