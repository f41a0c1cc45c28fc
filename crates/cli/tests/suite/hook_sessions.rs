//! Sessions of other shapes: failed calls, subagents, compactions, files that a shell makes, and clients that name little.
//!
//! Payloads have the fields that the clients sent (run on 2026-11-19; versions in their files).

use brief_testkit::Sandbox;
use serde_json::{Value, json};

use crate::hook_clients::{hook, marked, texts};

/// A payload of a session `s` that was started at the root.
fn call(project: &Sandbox, event: &str, more: &Value) -> Value {
    let mut payload = json!({"session_id": "s", "cwd": project.path(), "hook_event_name": event});
    let fields = payload.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    payload
}

fn told(project: &Sandbox, client: &str, payload: &Value) -> String {
    texts(&hook(project, &[client], payload))
}

/// Gemini drops the text of the event after a call that failed: it comes with the next one.
#[test]
fn a_failed_call_of_gemini_takes_nothing() {
    let project = marked();
    let input = json!({"file_path": project.path().join("src/api/a.py")});
    let read = |response: Value| {
        let more =
            json!({"tool_name": "read_file", "tool_input": input, "tool_response": response});
        told(&project, "gemini", &call(&project, "AfterTool", &more))
    };
    let error = json!({"llmContent": "no", "error": {"message": "no", "type": "file_not_found"}});
    assert_eq!(read(error), "");
    for response in [json!({"llmContent": "x = 1", "error": null}), json!({"llmContent": "x = 1"})]
    {
        let project_is_new = response["error"] == json!(null) && response.get("error").is_some();
        let text = read(response);
        assert_eq!(text.contains("MARK-edit-before"), project_is_new, "{text}");
    }
}

/// L04: Gemini names no agent. What is between the two events of `invoke_agent` is the subagent's.
#[test]
fn l04_a_subagent_of_gemini_has_a_conversation_of_its_own() {
    let project = marked().with_file("src/api/GEMINI.md", "NESTED-GEMINI\n");
    let read = || {
        let input = json!({"file_path": project.path().join("src/api/a.py")});
        let more = json!({"tool_name": "read_file", "tool_input": input, "tool_response": {"llmContent": "x"}});
        told(&project, "gemini", &call(&project, "AfterTool", &more))
    };
    let agent = |event: &str| {
        let more = json!({"tool_name": "invoke_agent", "tool_input": {"agent_name": "generalist"}});
        assert_eq!(told(&project, "gemini", &call(&project, event, &more)), "");
    };
    let prompt =
        || told(&project, "gemini", &call(&project, "BeforeAgent", &json!({"prompt": "go"})));
    assert!(prompt().contains("MARK-agents-rule"));
    let text = read();
    assert!(text.contains("MARK-cursor-rule") && !text.contains("MARK-agents-rule"), "{text}");
    assert!(!text.contains("NESTED-GEMINI"), "the client attaches it: {text}");
    agent("BeforeTool");
    let text = read();
    for mark in ["MARK-cursor-rule", "MARK-agents-rule", "MARK-context-always", "NESTED-GEMINI"] {
        assert_eq!(text.matches(mark).count(), 1, "{mark} in {text}");
    }
    assert_eq!(read(), "");
    agent("AfterTool");
    assert_eq!(read(), "");
    // Another one; it never ends, and the next prompt is the main agent's.
    agent("BeforeTool");
    assert!(read().contains("MARK-agents-rule"));
    prompt();
    assert_eq!(read(), "");
}

/// The hook of Gemini asks before a subagent and before a change, and before no other tool.
#[test]
fn the_hook_of_gemini_is_asked_before_subagents_and_changes() {
    let project = marked();
    let out = project.run(&["hook", "install", "gemini", "--project"]);
    assert_eq!(out.code, Some(0), "{out}");
    let settings: Value = serde_json::from_str(&project.read(".gemini/settings.json")).unwrap();
    assert_eq!(
        settings["hooks"]["BeforeTool"][0]["matcher"],
        "replace|write_file|run_shell_command|invoke_agent"
    );
    let after = settings["hooks"]["AfterTool"][0]["matcher"].as_str().unwrap();
    assert!(after.contains("read_file|") && after.ends_with("invoke_agent"), "{after}");
}

/// L04: Qwen drops the text of `SubagentStart`, so that the subagent's first tool brings all of it, and its rules are attached once
/// for each session.
#[test]
fn l04_a_subagent_of_qwen_gets_everything_with_its_first_tool() {
    let project =
        marked().with_file(".qwen/rules/py.md", "---\npaths: ['**/*.py']\n---\nQWEN-RULE\n");
    let read = |agent: Value| {
        let input = json!({"file_path": project.path().join("src/api/a.py")});
        let mut more = json!({"tool_name": "read_file", "tool_input": input, "tool_response": {"llmContent": "x"}});
        more.as_object_mut().unwrap().extend(agent.as_object().unwrap().clone());
        told(&project, "qwen", &call(&project, "PostToolUse", &more))
    };
    told(&project, "qwen", &call(&project, "SessionStart", &json!({"source": "startup"})));
    let text = read(json!({}));
    assert!(text.contains("MARK-cursor-rule") && !text.contains("QWEN-RULE"), "{text}");
    let agent = json!({"agent_id": "general-1", "agent_type": "general-purpose"});
    assert_eq!(told(&project, "qwen", &call(&project, "SubagentStart", &agent)), "");
    let text = read(agent.clone());
    for mark in ["MARK-cursor-rule", "MARK-agents-rule", "MARK-context-always", "QWEN-RULE"] {
        assert_eq!(text.matches(mark).count(), 1, "{mark} in {text}");
    }
    assert_eq!(read(agent), "");
}

/// L03: after a compaction Copilot does not attach again what it attached before.
#[test]
fn l03_copilot_attaches_nothing_again_after_a_compaction() {
    let project = marked()
        .with_file("src/api/AGENTS.md", "NESTED-API\n")
        .with_file("lib/AGENTS.md", "NESTED-LIB\n")
        .with_file("AGENTS.md", "ROOT\n")
        .with_file("lib/b.py", "");
    let read = |path: &str| {
        let more = json!({"tool_name": "view", "tool_input": {"path": project.path().join(path)}, "timestamp": "2026-11-19T10:00:00.000Z"});
        told(&project, "copilot", &call(&project, "preToolUse", &more))
    };
    assert!(!read("src/api/a.py").contains("NESTED"));
    told(
        &project,
        "copilot",
        &call(&project, "preCompact", &json!({"timestamp": "2026-11-19T10:01:00.000Z"})),
    );
    let text = read("src/api/a.py");
    assert_eq!(text.matches("NESTED-API").count(), 1, "{text}");
    assert!(!text.contains("ROOT") && text.contains("MARK-cursor-rule"), "{text}");
    let text = read("lib/b.py");
    assert!(!text.contains("NESTED"), "it was not attached before: {text}");
    assert_eq!(read("src/api/a.py"), "");
}

/// The same for the rules of Qwen Code (0.24.4).
#[test]
fn l03_qwen_attaches_no_rule_again_after_a_compaction() {
    let project =
        marked().with_file(".qwen/rules/py.md", "---\npaths: ['**/*.py']\n---\n\nQWEN-RULE\n");
    let read = || {
        let input = json!({"file_path": project.path().join("src/api/a.py")});
        let more = json!({"tool_name": "read_file", "tool_input": input});
        told(&project, "qwen", &call(&project, "PostToolUse", &more))
    };
    assert!(!read().contains("QWEN-RULE"), "the client attaches it");
    told(&project, "qwen", &call(&project, "PreCompact", &json!({})));
    assert_eq!(read().matches("QWEN-RULE").count(), 1);
    assert_eq!(read(), "");
}

/// L14: a client that reports a command only after it has run: a file that the command made is new.
#[test]
fn l14_a_file_that_a_shell_makes_is_new_in_every_client() {
    let clients = [
        ("gemini", "run_shell_command", "AfterTool"),
        ("qwen", "run_shell_command", "PostToolUse"),
        ("droid", "Execute", "PostToolUse"),
    ];
    for (client, tool, event) in clients {
        let project = marked();
        let shell = |command: &str| {
            let more = json!({"tool_name": tool, "tool_input": {"command": command}, "tool_response": {"llmContent": "x"}});
            told(&project, client, &call(&project, event, &more))
        };
        project.write("src/api/new.py", "x = 1\n");
        let text = shell("cat > src/api/new.py <<'EOF'\nx = 1\nEOF");
        let text = format!("{text}{}", shell("echo x"));
        assert!(
            text.contains("MARK-create-before") && text.contains("MARK-create-after"),
            "{client}: {text}"
        );
        assert!(!text.contains("MARK-edit-after"), "{client}: {text}");
    }
}

/// L14: Claude Code says which files a command has changed, whatever its text shows.
#[test]
fn l14_files_that_claude_says_were_changed_count() {
    let project = marked();
    let file = project.path().join("src/api/a.py");
    let more = json!({
        "tool_name": "Bash", "tool_input": {"command": "f=src/api; sed -i s/1/2/ $f/a.py"},
        "tool_response": {"stdout": "", "bashEditDiff": {"files": [], "moreFiles": 0, "changedFiles": [file]}},
    });
    let text = told(&project, "claude", &call(&project, "PostToolUse", &more));
    assert!(text.contains("MARK-edit-after") && !text.contains("MARK-create"), "{text}");
}

/// L15: a prompt of opencode that names a file brings its guidance, also for before an edit.
#[test]
fn l15_a_prompt_of_opencode_and_kilo_brings_what_it_names() {
    for client in ["opencode", "kilo"] {
        let project = marked();
        let prompt = json!({"event": "prompt", "session_id": "s", "cwd": project.path(), "prompt": "change src/api/a.py"});
        let text = told(&project, client, &prompt);
        assert!(text.contains("MARK-edit-before"), "{client}: {text}");
        let out = project.run(&["hook", "install", client, "--project"]);
        assert_eq!(out.code, Some(0), "{out}");
        let place =
            if client == "kilo" { ".kilo/plugin/brief.js" } else { ".opencode/plugin/brief.js" };
        assert!(project.read(place).contains("\"chat.message\""));
    }
}

/// Cline names the workspace alone, and runs the hook where it was started: it loads what is there by itself.
#[test]
fn cline_was_started_where_its_hook_runs() {
    let project = marked().with_file("AGENTS.md", "ROOT\n").with_file("src/AGENTS.md", "SOURCE\n");
    let payload = json!({
        "taskId": "s", "workspaceRoots": [project.path()], "hookName": "tool_call",
        "tool_call": {"id": "c", "name": "read_files", "input": {"files": [{"path": project.path().join("src/api/a.py")}]}},
    });
    let below = |directory: &str| {
        let args = ["hook", "cline", "--event", "PreToolUse", "--repeat"];
        let output = project.run_in(directory, &args, payload.to_string().as_bytes());
        texts(&output)
    };
    let text = below(".");
    assert!(!text.contains("ROOT") && text.contains("SOURCE"), "{text}");
    let text = below("src");
    assert!(text.contains("ROOT") && !text.contains("SOURCE"), "{text}");
}

/// A rule that Claude Code has attached to a file below its start directory does not come again with one elsewhere.
#[test]
fn a_rule_that_claude_has_attached_does_not_come_again() {
    let project = marked()
        .with_file(".claude/rules/py.md", "---\npaths: ['**/*.py']\n---\nSCOPED-RULE\n")
        .with_file("lib/b.py", "");
    let read = |session: &str, path: &str| {
        let input = json!({"file_path": project.path().join(path)});
        let cwd = project.path().join("src");
        let more =
            json!({"session_id": session, "cwd": cwd, "tool_name": "Read", "tool_input": input});
        told(&project, "claude", &call(&project, "PreToolUse", &more))
    };
    assert!(!read("one", "src/api/a.py").contains("SCOPED-RULE"));
    assert!(!read("one", "lib/b.py").contains("SCOPED-RULE"));
    assert!(read("two", "lib/b.py").contains("SCOPED-RULE"));
}

/// L08: Gemini has an agent of a project only after its user has approved the text.
#[test]
fn l08_an_agent_of_gemini_waits_for_its_approval() {
    let agent = "---\nname: pilot\ndescription: PILOT flies\n---\n\nFly.\n";
    let project = marked().with_file(".gemini/agents/pilot.md", agent);
    let why = project.run(&["why", "src/api/a.py", "--client", "gemini", "--json"]).json();
    let left_out = why["skipped"].as_array().unwrap();
    let pilot = left_out.iter().find(|item| item["kind"] == "agent").unwrap();
    let reason = pilot["reason"].as_str().unwrap();
    assert!(reason.contains("once you approve its text in gemini"), "{reason}");
    let status = project.run(&["hook", "status", "gemini", "--json"]).json();
    let note = status["hooks"][0]["note"].as_str().unwrap();
    assert!(note.contains("approve it"), "{note}");
    let claude = project.run(&["hook", "status", "claude", "--json"]).json();
    assert_eq!(claude["hooks"][0].get("note"), None);
}

/// L01: a resumed session of Cline keeps everything, and has a new task and a new agent. A subagent has a parent.
#[test]
fn l01_a_resumed_session_of_cline_has_a_new_task() {
    let project = marked();
    let path = project.path().join("src/api/a.py");
    let call = |task: &str, agent: &str, parent: &Value| {
        json!({"taskId": task, "agent_id": agent, "parent_agent_id": parent, "sessionContext": {"rootSessionId": "root"},
            "workspaceRoots": [project.path()], "hookName": "tool_result",
            "tool_result": {"id": "call_1", "name": "read_files", "input": {"files": [{"path": path}]}}})
    };
    assert!(
        told(&project, "cline", &call("conv_1", "agent_1", &Value::Null))
            .contains("MARK-read-after")
    );
    assert_eq!(told(&project, "cline", &call("conv_2", "agent_2", &Value::Null)), "");
    let of_subagent = call("conv_3", "agent_3", &json!("agent_2"));
    assert!(told(&project, "cline", &of_subagent).contains("MARK-read-after"));
    assert_eq!(told(&project, "cline", &of_subagent), "");
}

/// L01: a fork of Droid has a new id and none of the texts of hooks (0.215.0, run on 2026-11-20). `SessionStart` names the session that
/// it was copied from, so what that one was told comes again, once, also for the files that it worked on.
#[test]
fn l01_a_fork_of_droid_gets_what_its_copy_lacks() {
    let project = marked().with_file(
        "src/api/AGENTS.yaml",
        "context: [{content: MARK-nested, match: ['**/*.py']}]\n",
    );
    let send = |session: &str, event: &str, more: Value| {
        let mut payload = call(&project, event, &more);
        payload["session_id"] = json!(session);
        told(&project, "droid", &payload)
    };
    let start = |session: &str, source: &str, previous: Option<&str>| {
        let more = previous.map_or(
            json!({"source": source}),
            |previous| json!({"source": source, "previous_session_id": previous}),
        );
        send(session, "SessionStart", more)
    };
    let read = |session: &str| {
        let input = json!({"file_path": project.path().join("src/api/a.py")});
        let more = json!({"tool_name": "Read", "tool_input": input, "tool_response": "x = 1"});
        send(session, "PostToolUse", more)
    };
    let of_start = ["MARK-agents-rule", "MARK-context-always"];
    let of_file = ["MARK-nested", "MARK-cursor-rule", "MARK-read-before", "MARK-edit-before"];
    let count_all = |text: &str, marks: &[&str], count: usize| {
        for mark in marks {
            assert_eq!(text.matches(mark).count(), count, "{mark} in {text}");
        }
    };
    let begun = start("s", "startup", None);
    count_all(&begun, &of_start, 1);
    count_all(&begun, &of_file, 0);
    count_all(&read("s"), &of_file, 1);
    // A fork, and a fork of it that has worked on nothing in between.
    for (session, previous) in [("f", "s"), ("g", "f")] {
        let forked = start(session, "resume", Some(previous));
        count_all(&forked, &of_start, 1);
        count_all(&forked, &of_file, 1);
        // Another hook of the same event, and the next reads: what is for after one comes then.
        assert_eq!(start(session, "resume", Some(previous)), "");
        let again = read(session);
        count_all(&again, &["MARK-read-after"], 1);
        count_all(&again, &[&of_start[..], &of_file[..]].concat(), 0);
        assert_eq!(read(session), "");
    }
    // The session itself is as it was.
    assert_eq!(read("s"), "");
    // Nothing is known of the earlier session: the start comes, and the rest with the work.
    let unknown = start("h", "resume", Some("none"));
    count_all(&unknown, &of_start, 1);
    count_all(&unknown, &of_file, 0);
    count_all(&read("h"), &of_file, 1);
    // Nobody has observed what a session keeps that goes on under its own id.
    assert_eq!(start("s", "resume", None), "");
    assert_eq!(start("s", "resume", Some("s")), "");
    assert_eq!(read("s"), "");
}
