//! The hook answers from all dialects, as `brief context --client claude` does: U01, K01 to K07.

use std::fs;

use brief_testkit::{Output, Sandbox};
use serde_json::{Value, json};

use crate::hook::{context, delivered, hook, payload, session};
use crate::project;

/// A project whose guidance stands in five formats, none of which Claude Code reads by itself, and
/// one file that it does read.
fn everything() -> Sandbox {
    project()
        .with_file(".git/HEAD", "")
        .with_file("CLAUDE.md", "LOADED-BY-CLAUDE\n")
        .with_file("AGENTS.yaml", "context:\n  - {content: ENTRY, match: ['**/*.py']}\n")
        .with_file(".context/always.md", "---\ntrigger: always\n---\n\nCONTEXT-FILE\n")
        .with_file(".agents/rules/task.md", "AGENTS-RULE\n")
        .with_file(
            ".cursor/rules/py.mdc",
            "---\nglobs: '**/*.py'\nalwaysApply: false\n---\n\nCURSOR-RULE\n",
        )
        .with_file(
            ".github/instructions/py.instructions.md",
            "---\napplyTo: '**/*.py'\n---\n\nCOPILOT-RULE\n",
        )
        .with_file(
            ".agents/skills/deploy/SKILL.md",
            "---\nname: deploy\ndescription: How to deploy.\n---\n\nSKILL-BODY\n",
        )
        .with_file("src/api/a.py", "x = 1\n")
}

fn call(project: &Sandbox, event: &str, tool: &str, path: &str, more: &Value) -> Output {
    let input = json!({"file_path": project.path().join(path)});
    hook(project, &payload(project, event, tool, &input, more))
}

fn text(output: &Output) -> String {
    assert_eq!(output.code, Some(0), "{output}");
    context(output)
}

/// U01: "`brief hook claude` answers from `AGENTS.yaml` alone".
#[test]
fn the_hook_says_what_context_says() {
    let project = everything();
    let told = text(&call(&project, "PreToolUse", "Read", "src/api/a.py", &session("one")));
    insta::assert_snapshot!(told, @"
    ## Guidance for src/api/a.py, marked MARK

    ### MARK .agents/rules/task.md

    AGENTS-RULE

    ### MARK .context/always.md

    CONTEXT-FILE

    ### MARK .cursor/rules/py.mdc

    CURSOR-RULE

    ### MARK .github/instructions/py.instructions.md

    COPILOT-RULE

    ### MARK AGENTS.yaml

    - ENTRY

    ## MARK Available: read a file below when its description matches your task

    - deploy: How to deploy. (read .agents/skills/deploy/SKILL.md)
    ");
    // Each item once, whatever the next call does.
    for (event, tool) in [("PostToolUse", "Read"), ("PreToolUse", "Edit"), ("PostToolUse", "Edit")]
    {
        let again = call(&project, event, tool, "src/api/a.py", &session("one"));
        assert_eq!(again.to_string(), "[EOF]", "{event} {tool}");
    }
    // The order is that of `context`.
    let answer = project.run(&["context", "src/api/a.py", "--client", "claude", "--json"]).json();
    let active =
        answer["items"].as_array().unwrap().iter().filter(|item| item["state"] == "active");
    let mut places = told.match_indices("\n### ").map(|(at, _)| at);
    for item in active {
        let at = told.find(item["content"].as_str().unwrap().trim()).expect("it is delivered");
        assert!(places.next().unwrap() < at);
    }
    assert_eq!(places.next(), None);
}

/// K03: "Claude started in a subdirectory … answers nothing though the repository's matches"; ruling
/// G16: never below the repository that holds it.
#[test]
fn a_client_started_in_a_subdirectory_gets_the_guidance_of_the_repository() {
    let project = everything();
    let src = project.path().join("src");
    let project = project.with_env("CLAUDE_PROJECT_DIR", src.to_str().unwrap());
    let more = json!({"cwd": src, "session_id": "one"});
    let told = text(&call(&project, "PreToolUse", "Read", "src/api/a.py", &more));
    for word in ["ENTRY", "CONTEXT-FILE", "AGENTS-RULE", "CURSOR-RULE", "COPILOT-RULE"] {
        assert_eq!(told.matches(word).count(), 1, "{word}: {told}");
    }
    assert!(told.contains("- deploy: How to deploy."), "{told}");
    assert!(!told.contains("LOADED-BY-CLAUDE"), "{told}");
}

/// K01a: "`on: edit, when: before` entries go out on the first **read** of the file, too".
#[test]
fn what_is_for_before_an_edit_comes_with_the_read() {
    let yaml = "context:
  - {content: NEVER-CHANGE, match: ['migrations/*.sql'], on: edit}
  - {content: NAMED-SO, match: ['migrations/*.sql'], on: create}
  - {content: CHECK-IT, match: ['migrations/*.sql'], on: edit, when: after}
  - {content: ELSEWHERE, match: ['src/**'], on: edit}
";
    let project = project().with_file("AGENTS.yaml", yaml).with_file("migrations/1.sql", "");
    let read = call(&project, "PreToolUse", "Read", "migrations/1.sql", &session("one"));
    assert_eq!(delivered(&read), ["Before an edit: NEVER-CHANGE", "Before a creation: NAMED-SO"]);
    let edit = call(&project, "PreToolUse", "Edit", "migrations/1.sql", &session("one"));
    assert_eq!(edit.to_string(), "[EOF]");
    let edited = call(&project, "PostToolUse", "Edit", "migrations/1.sql", &session("one"));
    assert_eq!(delivered(&edited), ["CHECK-IT"]);
    // `context` says the same for the same moment, and why.
    let why = project.run(&["why", "migrations/1.sql", "--on", "read", "--client", "claude"]);
    let reason = "delivered on read, before edit";
    assert!(why.stdout.contains(reason), "{why}");
    // Without a client it is a question about the read alone.
    let plain = project.run(&["context", "migrations/1.sql", "--on", "read"]);
    assert!(!plain.stdout.contains("NEVER-CHANGE"), "{plain}");
}

/// K04: "`--resume` delivers everything twice".
#[test]
fn a_resumed_session_knows_what_it_was_told() {
    let project = everything();
    let start = |source: &str| {
        let more = json!({"session_id": "one", "source": source});
        text(&call(&project, "SessionStart", "", "x", &more))
    };
    let read = || text(&call(&project, "PreToolUse", "Read", "src/api/a.py", &session("one")));
    assert!(start("startup").contains("AGENTS-RULE"));
    assert!(read().contains("ENTRY"));
    call(&project, "SessionEnd", "", "x", &session("one"));
    assert_eq!(start("resume"), "");
    assert_eq!(read(), "");
    for source in ["clear", "startup"] {
        assert!(start(source).contains("AGENTS-RULE"), "{source}");
        assert!(read().contains("ENTRY"), "{source}");
    }
}

/// K05: "Failures are silent"; they are told to the user, once per session, and never to the model.
#[test]
fn a_broken_file_is_told_to_the_user_once() {
    let project = everything().with_file("src/AGENTS.yaml", "context: [\n");
    let told = |more: &Value| {
        let output = call(&project, "PreToolUse", "Read", "src/api/a.py", more);
        assert_eq!(output.code, Some(0), "{output}");
        if output.stdout.is_empty() { Value::Null } else { output.json() }
    };
    let first = told(&session("one"));
    let notice = first["systemMessage"].as_str().expect("the user is told");
    assert!(notice.starts_with("brief: some guidance is missing: src/AGENTS.yaml:"), "{notice}");
    assert!(notice.contains("brief lint"), "{notice}");
    let model = first["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(model.contains("ENTRY") && !model.contains("src/AGENTS.yaml"), "{model}");
    assert_eq!(told(&session("one")), Value::Null);
    // A subagent gets the guidance; the user has been told.
    let agent = told(&json!({"session_id": "one", "agent_id": "a"}));
    assert_eq!(agent.get("systemMessage"), None);
    assert!(agent["hookSpecificOutput"].is_object());
    // Another problem is told, and so is a problem that is all there is to say.
    project.write("src/api/AGENTS.yaml", "context: [{content: X, on: bogus}]\n");
    let second = told(&session("one"));
    assert!(second["systemMessage"].as_str().unwrap().contains("src/api/AGENTS.yaml"), "{second}");
    assert_eq!(second.get("hookSpecificOutput"), None, "{second}");
}

/// K07: "An entry over 9.4 KB is never delivered, and each later call carries an empty notice".
#[test]
fn what_is_too_long_is_named_once() {
    let project = project()
        .with_file(
            ".cursor/rules/long.mdc",
            format!("---\nalwaysApply: true\n---\n{}", "word ".repeat(4_000)),
        )
        .with_file("a.py", "");
    let told = text(&call(&project, "PreToolUse", "Read", "a.py", &session("one")));
    let line = told.lines().last().unwrap();
    assert!(line.starts_with("Too long to show here ("), "{told}");
    assert!(line.contains("read .cursor/rules/long.mdc"), "{told}");
    let again = call(&project, "PostToolUse", "Read", "a.py", &session("one"));
    assert_eq!(again.to_string(), "[EOF]");
}

/// K07: "3,000 small entries give 9.4 KB of new text on every call: a budget per session, most
/// specific first".
#[test]
fn a_conversation_has_a_budget() {
    let entry = |number| format!("- content: Entry number {number} of very many.\n");
    let entries = (0..3_000).map(entry).collect::<Vec<_>>().concat();
    let project = project()
        .with_file("AGENTS.yaml", format!("context:\n{entries}"))
        .with_file("src/AGENTS.yaml", "context:\n- content: MOST-SPECIFIC\n")
        .with_file("src/a.py", "");
    let call = |budget: &str| {
        let input = json!({"file_path": "src/a.py"});
        let payload = payload(&project, "PreToolUse", "Read", &input, &session("one"));
        text(&project.run_with_input(&["hook", "claude", "--budget", budget], &payload))
    };
    let first = call("3000");
    assert!(first.contains("- MOST-SPECIFIC\n") && first.contains("number 2999 "), "{first}");
    assert!(first.contains("more items will follow with your next calls"), "{first}");
    let second = call("3000");
    assert!(!second.contains("MOST-SPECIFIC") && second.contains("- Entry number"), "{second}");
    let notice = "(You have used the 3,000 tokens of guidance for one conversation";
    let told: Vec<String> = std::iter::once(second).chain((0..3).map(|_| call("3000"))).collect();
    assert_eq!(told.concat().matches(notice).count(), 1, "it is said once");
    assert_eq!(call("3000"), "");
    // The default lets more through.
    assert!(call("20000").contains("- Entry number"));
}

/// K06: what a shell command makes is a creation, before it and after it.
#[test]
fn a_file_that_the_shell_makes_is_created() {
    let yaml = "context:
  - {content: NEW, on: create}
  - {content: MADE, on: create, when: after}
  - {content: CHANGED, on: edit, when: after}
";
    let project = project().with_file("AGENTS.yaml", yaml);
    let shell = |event: &str| {
        let input = json!({"command": "cat > src/b.py <<'E'\nx = 1\nE"});
        delivered(&hook(&project, &payload(&project, event, "Bash", &input, &session("one"))))
    };
    assert_eq!(shell("PreToolUse"), ["NEW"]);
    project.write("src/b.py", "x = 1\n");
    assert_eq!(shell("PostToolUse"), ["MADE"]);
}

/// Issue: "a payload of an unknown client, a session id of 1 MB: an answer without that part".
#[test]
fn strange_payloads_are_answered() {
    let project = everything();
    let id = "s".repeat(1024 * 1024);
    let told = text(&call(&project, "PreToolUse", "Read", "src/api/a.py", &session(&id)));
    assert!(told.contains("ENTRY"), "{told}");
    assert_eq!(text(&call(&project, "PreToolUse", "Read", "src/api/a.py", &session(&id))), "");
    for payload in [
        json!({"client": "unheard-of", "event": "before", "file": "src/api/a.py"}),
        json!({"hookName": "preToolUse", "sessionId": 7, "toolArgs": "{}"}),
        json!([1, 2]),
        json!("text"),
    ] {
        let output = hook(&project, &payload.to_string());
        assert_eq!(output.stdout, "", "{payload}");
        assert!(matches!(output.code, Some(0 | 1)), "{payload}: {output}");
    }
}

/// Issue: "a home directory that cannot be read: an answer without that part, told once".
#[test]
fn a_home_that_cannot_be_read_is_told_once() {
    let project = everything();
    // A file where a directory should be cannot be opened as one by anyone, root included.
    let home = project.outside_directory().join("home");
    fs::write(&home, "").unwrap();
    let state = project.outside_directory().join("state");
    let project = project
        .with_env("HOME", home.to_str().unwrap())
        .with_env("XDG_STATE_HOME", state.to_str().unwrap());
    let answer = call(&project, "PreToolUse", "Read", "src/api/a.py", &session("one")).json();
    let notice = answer["systemMessage"].as_str().expect("the user is told");
    assert!(notice.contains("cannot read the home directory"), "{notice}");
    assert!(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("ENTRY"));
    let again = call(&project, "PreToolUse", "Read", "src/api/a.py", &session("one"));
    assert_eq!(again.stdout, "", "{again}");
}

/// R11: more rules than an event has room for come in the order of their files, the project's own page first.
#[test]
fn r11_rules_over_the_budget_come_in_order() {
    let text = |name: &str| format!("{name}\n{}\n", "word ".repeat(400));
    let mut project = project()
        .with_file(".git/HEAD", "")
        .with_file("AGENTS.md", text("MARK-page"))
        .with_file("src/a.py", "x = 1\n");
    for number in 10..30 {
        let name = format!(".agents/rules/rule-{number}.md");
        project = project.with_file(&name, text(&format!("MARK-{number}")));
    }
    let mut order = Vec::new();
    for number in 0..20 {
        let event = if number == 0 { "BeforeAgent" } else { "AfterTool" };
        let input = json!({"file_path": project.path().join("src/a.py")});
        let call = json!({
            "session_id": "one", "cwd": project.path(), "hook_event_name": event, "source": "startup",
            "tool_name": "read_file", "tool_input": input,
        });
        let said = project.run_with_input(&["hook", "gemini"], call.to_string()).stdout;
        let marks = said.split("MARK-").skip(1);
        order.extend(marks.map(|rest| rest.split(['\\', '\n']).next().unwrap().to_owned()));
        if number == 0 {
            assert!(order.contains(&"page".to_owned()), "{order:?}");
            assert!(order.len() < 10, "there was room for all: {order:?}");
        }
    }
    let rules: Vec<&String> = order.iter().filter(|name| *name != "page").collect();
    assert!(rules.is_sorted() && rules.len() == 20, "{order:?}");
}
