//! Moments besides tool calls, and calls that are held back.

use brief_testkit::Sandbox;
use serde_json::{Value, json};

use crate::hook_clients::{hook, marked, payload, texts, tool};
use crate::project;

/// K01 (b): "the first edit or creation that has undelivered guidance \"before\" is held back once with it, the same call
/// made again goes through; never twice, never without a text, never for reads, and off unless chosen".
#[test]
fn a_change_is_held_back_once() {
    let project = marked();
    let edit = tool(&project, "PreToolUse", "Edit", "src/api/a.py");
    let held = hook(&project, &["claude", "--block-once"], &edit);
    let answer: Value = serde_json::from_str(&held.stdout).unwrap();
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["permissionDecision"], "deny", "{answer}");
    let reason = output["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("MARK-edit-before") && reason.contains("MARK-cursor-rule"), "{reason}");
    assert!(reason.ends_with("Repeat the same call to continue.)"), "{reason}");
    // The same call passes, and so does every later one.
    assert_eq!(hook(&project, &["claude", "--block-once"], &edit).to_string(), "[EOF]");
    // A creation has a text of its own.
    let create = tool(&project, "PreToolUse", "Write", "src/api/new.py");
    assert!(texts(&hook(&project, &["claude", "--block-once"], &create)).contains("deny"));
    assert_eq!(hook(&project, &["claude", "--block-once"], &create).to_string(), "[EOF]");
}

#[test]
fn a_call_is_not_held_back_without_need() {
    // A read.
    let project = marked();
    let read = tool(&project, "PreToolUse", "Read", "src/api/a.py");
    assert!(!texts(&hook(&project, &["claude", "--block-once"], &read)).contains("deny"));
    // An edit after it: the read has brought everything.
    let edit = tool(&project, "PreToolUse", "Edit", "src/api/a.py");
    assert_eq!(hook(&project, &["claude", "--block-once"], &edit).to_string(), "[EOF]");
    // Without the choice.
    let project = marked();
    let edit = tool(&project, "PreToolUse", "Edit", "src/api/a.py");
    assert!(!texts(&hook(&project, &["claude"], &edit)).contains("deny"));
    // Without a session there is no memory of it, so it might be held back for ever.
    let project = marked();
    let mut edit = tool(&project, "PreToolUse", "Edit", "src/api/a.py");
    edit.as_object_mut().unwrap().remove("session_id");
    assert!(!texts(&hook(&project, &["claude", "--block-once"], &edit)).contains("deny"));
    // Where no memory can be written.
    let project = marked().with_env("XDG_STATE_HOME", "/dev/null/no");
    let edit = tool(&project, "PreToolUse", "Edit", "src/api/a.py");
    assert!(!texts(&hook(&project, &["claude", "--block-once"], &edit)).contains("deny"));
    // In a client that would end its run.
    let project = marked();
    let edit = json!({"taskId": "one", "cwd": project.path(), "hookName": "tool_call",
        "tool_call": {"name": "editor", "input": {"path": project.path().join("src/api/a.py"), "old_text": "x"}}});
    let answer = texts(&hook(&project, &["cline", "--block-once"], &edit));
    assert!(answer.contains("MARK-edit-before") && !answer.contains("Blocked once"), "{answer}");
}

/// `hold: true` on an entry counts only where the user allowed it.
#[test]
fn an_entry_can_ask_to_hold() {
    let entries = "context:\n  - {content: WAIT, hold: true, match: ['*.sql']}\n  - {content: GO, match: ['*.py']}\n";
    for (args, path, is_held) in [
        (&["claude", "--block-once=marked"][..], "a.sql", true),
        (&["claude", "--block-once=marked"], "a.py", false),
        (&["claude", "--block-once"], "a.py", true),
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

/// Starts a conversation. Gemini CLI gets the text of the start with its first prompt.
fn start_with(project: &Sandbox, client: &str, more: &Value) -> String {
    let start = texts(&hook(project, &[client], &payload(project, "SessionStart", more)));
    if client != "gemini" {
        return start;
    }
    assert_eq!(start, "");
    let prompt = payload(project, "BeforeAgent", &json!({"prompt": "go on"}));
    texts(&hook(project, &[client], &prompt))
}

/// Gemini CLI 0.61.0 expands `@path` in the text of `SessionStart` and in no other: nothing is delivered there.
#[test]
fn l05_no_text_is_delivered_where_a_client_follows_paths_in_it() {
    let project = marked().with_file("AGENTS.yaml", "context: [{content: 'see @docs/big.md'}]\n");
    let start = payload(&project, "SessionStart", &json!({"source": "startup"}));
    assert_eq!(hook(&project, &["gemini"], &start).to_string(), "[EOF]");
    let prompt = payload(&project, "BeforeAgent", &json!({"prompt": "go on"}));
    let told = texts(&hook(&project, &["gemini"], &prompt));
    assert!(told.contains("see @docs/big.md") && told.contains("MARK-agents-rule"), "{told}");
    assert_eq!(texts(&hook(&project, &["gemini"], &prompt)), "");
    // The rehearsal shows the same event.
    let report = project.run(&["hook", "test", "gemini", "src/api/a.py", "--json"]).stdout;
    assert!(report.contains("BeforeAgent") && !report.contains("SessionStart"), "{report}");
}

/// A resumed conversation gets again what its client does not keep, once: by the client's page.
#[test]
fn a_resumed_conversation_gets_what_its_client_does_not_keep() {
    // What comes again at the start, for each client that resumes with an event: Claude Code keeps everything.
    let cases: [(&str, &[&str]); 5] = [
        ("claude", &[]),
        ("codex", &[]),
        ("qwen", &["MARK-agents-rule"]),
        ("gemini", &["MARK-agents-rule"]),
        ("copilot", &["MARK-agents-rule", "MARK-edit-before", "MARK-cursor-rule"]),
    ];
    for (client, again) in cases {
        let project = marked();
        let start_at = |source: &str, second: usize| {
            let time = format!("2026-11-18T21:31:0{second}.466Z");
            let more = json!({"source": source, "timestamp": time});
            start_with(&project, client, &more)
        };
        let call = |event: &str| {
            let name = match client {
                "copilot" => "view",
                "qwen" | "gemini" => "read_file",
                _ => "Read",
            };
            let event = match (client, event) {
                ("gemini", "PreToolUse") => "BeforeTool",
                ("gemini", _) => "AfterTool",
                _ => event,
            };
            texts(&hook(&project, &[client], &tool(&project, event, name, "src/api/a.py")))
        };
        assert!(start_at("startup", 9).contains("MARK-agents-rule"), "{client}");
        let read = call("PreToolUse") + &call("PostToolUse");
        if client != "codex" {
            assert!(read.contains("MARK-edit-before"), "{client}: {read}");
        }
        for round in 0..2 {
            let told = start_at("resume", round);
            for mark in
                ["MARK-agents-rule", "MARK-edit-before", "MARK-cursor-rule", "MARK-read-after"]
            {
                let count = usize::from(again.contains(&mark));
                assert_eq!(told.matches(mark).count(), count, "{client} {round}: {mark} in {told}");
            }
            // The same event of another hook, and the next read, bring nothing.
            assert_eq!(start_at("resume", round), "", "{client} {round}");
            assert_eq!(call("PreToolUse") + &call("PostToolUse"), "", "{client} {round}");
        }
    }
}

/// A prompt is lost with its text in Gemini CLI, and kept in Qwen Code.
#[test]
fn a_lost_prompt_is_told_again() {
    for (client, event, is_lost) in
        [("gemini", "BeforeAgent", true), ("qwen", "UserPromptSubmit", false)]
    {
        let project = marked();
        let start = |source: &str| start_with(&project, client, &json!({"source": source}));
        start("startup");
        let prompt = json!({"prompt": "please fix src/api/a.py"});
        let told = texts(&hook(&project, &[client], &payload(&project, event, &prompt)));
        assert!(told.contains("MARK-cursor-rule"), "{client}: {told}");
        let told = start("resume");
        assert_eq!(told.contains("MARK-cursor-rule"), is_lost, "{client}: {told}");
    }
}

/// opencode asks again in each process: the system prompt is not part of a conversation that goes on.
#[test]
fn a_new_process_of_a_plugin_is_told_the_start_again() {
    let project = marked();
    let start = || {
        let more = json!({"source": "request", "event": "start"});
        texts(&hook(&project, &["opencode"], &payload(&project, "start", &more)))
    };
    assert!(start().contains("MARK-agents-rule"));
    // A second copy of the plugin in the same process.
    assert_eq!(start(), "");
    let mut call = tool(&project, "after", "read", "src/api/a.py");
    call["tool_input"] = json!({"filePath": project.path().join("src/api/a.py")});
    assert!(texts(&hook(&project, &["opencode"], &call)).contains("MARK-cursor-rule"));
    let told = start();
    assert!(told.contains("MARK-agents-rule") && !told.contains("MARK-cursor-rule"), "{told}");
    assert_eq!(texts(&hook(&project, &["opencode"], &call)), "");
}

/// Claude Code's hook beside Copilot's: Copilot runs both, and the start comes once.
#[test]
fn two_hooks_of_one_start_deliver_it_once() {
    let project = marked();
    let cwd = project.path();
    let own =
        json!({"sessionId": "s", "timestamp": 1_795_037_499_466_u64, "cwd": cwd, "source": "new"});
    let claudes = json!({"session_id": "s", "timestamp": "2026-11-18T21:31:39.466Z", "cwd": cwd, "source": "new", "hook_event_name": "SessionStart"});
    let first = texts(&hook(&project, &["copilot", "--event", "sessionStart"], &own));
    assert_eq!(first.matches("MARK-agents-rule").count(), 1, "{first}");
    assert_eq!(texts(&hook(&project, &["claude"], &claudes)), "");
    assert_eq!(texts(&hook(&project, &["copilot", "--event", "sessionStart"], &own)), "");
}

/// A directory can leave out what stands above it, and a session that is started in it does not get that.
#[test]
fn the_start_respects_the_configuration_of_its_directory() {
    let config = r#"{"clientContext": {"ignoreAncestorContext": true}}"#;
    let offer = "---\ntrigger: agent\ndescription: LISTED\n---\nbody\n";
    let project = marked()
        .with_file(".context/offer.md", offer)
        .with_file("web/.context/context-config.json", config)
        .with_file("web/a.css", "")
        .with_file("lib/a.css", "");
    let start = |directory: &str| {
        let more = json!({"source": "startup", "cwd": project.path().join(directory), "session_id": directory});
        texts(&hook(&project, &["claude"], &payload(&project, "SessionStart", &more)))
    };
    let told = start("web");
    assert!(told.contains("MARK-agents-rule"), "{told}");
    assert!(!told.contains("MARK-context-always") && !told.contains("LISTED"), "{told}");
    for directory in ["lib", "."] {
        let told = start(directory);
        assert!(told.contains("MARK-context-always") && told.contains("LISTED"), "{told}");
    }
    // It comes with a file elsewhere.
    let mut read = tool(&project, "PreToolUse", "Read", "lib/a.css");
    read["session_id"] = json!("web");
    let told = texts(&hook(&project, &["claude"], &read));
    assert!(told.contains("MARK-context-always"), "{told}");
}

/// Clients attach nested files and scoped rules to their own tools: what a shell command reads gets them from the hook.
#[test]
fn a_file_that_a_shell_reads_gets_what_the_client_attaches() {
    let nested = || {
        marked()
            .with_file("src/api/CLAUDE.md", "NESTED-CLAUDE\n")
            .with_file("src/api/AGENTS.md", "NESTED-AGENTS\n")
            .with_file(".claude/rules/py.md", "---\npaths: ['**/*.py']\n---\nSCOPED-RULE\n")
            .with_file("CLAUDE.md", "ROOT\n")
    };
    let shell = |project: &Sandbox, name: &str, event: &str, line: &str| {
        let more = json!({"tool_name": name, "tool_input": {"command": line}});
        payload(project, event, &more)
    };
    // Client, shell, read, event, and the key of its path; what only its own tool brings.
    let clients = [
        (
            "claude",
            "Bash",
            "Read",
            "PreToolUse",
            "file_path",
            &["NESTED-CLAUDE", "SCOPED-RULE"][..],
        ),
        (
            "copilot",
            "bash",
            "view",
            "preToolUse",
            "path",
            &["NESTED-AGENTS", "NESTED-CLAUDE", "SCOPED-RULE"],
        ),
        ("opencode", "bash", "read", "after", "filePath", &["NESTED-AGENTS"]),
        ("droid", "Execute", "Read", "PostToolUse", "file_path", &["NESTED-AGENTS"]),
    ];
    for (client, sh, read_tool, event, key, marks) in clients {
        let ask = |project: &Sandbox, call: &Value| {
            texts(&hook(project, &[client, "--event", event], call))
        };
        let read = |project: &Sandbox| {
            let input = json!({key: project.path().join("src/api/a.py")});
            payload(project, event, &json!({"tool_name": read_tool, "tool_input": input}))
        };
        for line in ["cat src/api/a.py", "sed -i s/x/y/ src/api/a.py"] {
            let project = nested();
            if client == "claude" && line.starts_with("cat") {
                // It attaches them to a shell command that reads, too (2.1.325, run on 2026-11-18).
                let told = ask(&project, &shell(&project, sh, event, line));
                assert!(!marks.iter().any(|mark| told.contains(mark)), "{told}");
                continue;
            }
            let told = ask(&project, &shell(&project, sh, event, line));
            for mark in marks {
                assert_eq!(told.matches(mark).count(), 1, "{client}, {line}: {mark} in {told}");
            }
            assert!(!told.contains("ROOT"), "{client}: {told}");
            assert_eq!(ask(&project, &shell(&project, sh, event, line)), "", "{client}");
            // After the client's own tool the shell brings nothing new.
            let project = nested();
            ask(&project, &read(&project));
            let told = ask(&project, &shell(&project, sh, event, line));
            for mark in marks {
                assert!(!told.contains(mark), "{client}, {line}: {mark} in {told}");
            }
        }
    }
}
