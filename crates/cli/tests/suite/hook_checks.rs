//! Checks of rules at the events of clients: refused, asked about, warned about, held; and that nothing is ever approved.
//!
//! The answers are those that were seen to hold in each client (2026-11-18); everything else lets the call run.

use std::fs;

use brief_profiles::{BUILTIN, Client};
use brief_testkit::{Output, Sandbox};
use serde_json::{Value, json};

use crate::project_on_disk;

const RULES: &str = r#"context:
  - content: Use pnpm here.
    id: no-npm
    check: {forbid: {command: [npm, yarn]}, instead: pnpm}
    enforce: deny
    examples: {broken: ["npm install left-pad"], kept: ["pnpm add left-pad"]}
  - content: Generated files are made, not edited.
    id: generated
    check: {forbid: {change: "src/gen/**", create: "src/gen/**", delete: "src/gen/**"}}
    enforce: deny
    examples: {broken: [src/gen/a.ts], kept: [src/a.ts]}
  - content: Import from our own components.
    id: no-antd
    match: ["src/**"]
    check: {forbid: {text: "from 'antd'"}}
    enforce: deny
    examples: {broken: ["import x from 'antd'"], kept: ["import x from './x'"]}
  - content: Ask before you push.
    id: push
    check: {forbid: {command: git push}}
    enforce: ask
    examples: {broken: [git push], kept: [git pull]}
  - content: Leave no TODO behind.
    id: todo
    check: {forbid: {text: TODO}}
    enforce: warn
  - content: Run the tests.
    id: tests
    check: {require: {run: make test, after: edit, before: stop}}
    enforce: deny
    examples:
      broken: [{change: src/a.ts}]
      kept: [{command: make test}]
  - content: Say hello.
    id: watched
    check: {forbid: {text: goodbye}}
"#;

fn ruled() -> Sandbox {
    project_on_disk()
        .with_file("AGENTS.yaml", RULES)
        .with_file("src/a.ts", "let a = 1\n")
        .with_file("src/gen/a.ts", "let g = 1\n")
}

fn trusted() -> Sandbox {
    let project = ruled();
    let answer = project.run_at_terminal(&["trust", "--rules"], "y\n");
    assert_eq!(answer.code, Some(0), "{answer}");
    project
}

/// A tool call in the words of a client.
#[derive(Clone)]
struct Call {
    tool: &'static str,
    input: Value,
}

/// Returns a shell command in the words of a client.
fn shell(client: &str, line: &str) -> Call {
    let tool = match client {
        "gemini" | "qwen" => "run_shell_command",
        "droid" => "Execute",
        "copilot" | "opencode" | "kilo" | "pi" => "bash",
        "cline" => "run_commands",
        _ => "Bash",
    };
    let input =
        if client == "cline" { json!({"commands": [line]}) } else { json!({"command": line}) };
    Call { tool, input }
}

/// Returns a call that writes a file, in the words of a client.
fn write(client: &str, path: &str, text: &str) -> Call {
    let (tool, input) = match client {
        "codex" => {
            let whole = format!("*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch");
            ("apply_patch", json!({"command": whole}))
        }
        "gemini" | "qwen" => ("write_file", json!({"file_path": path, "content": text})),
        "droid" => ("Create", json!({"file_path": path, "content": text})),
        "copilot" => ("create", json!({"path": path, "file_text": text})),
        "opencode" | "kilo" => ("write", json!({"filePath": path, "content": text})),
        "pi" => ("write", json!({"path": path, "content": text})),
        "cline" => ("editor", json!({"path": path, "new_text": text})),
        _ => ("Write", json!({"file_path": path, "content": text})),
    };
    Call { tool, input }
}

fn client(name: &str) -> &'static Client {
    BUILTIN.find_client(name).unwrap()
}

fn event(client: &Client, time: &str) -> String {
    let events = &client.hook.as_ref().unwrap().events;
    let names = match time {
        "before" => &events.before,
        "after" => &events.after,
        "prompt" => &events.prompt,
        _ => &events.stop,
    };
    names.first().map(ToString::to_string).unwrap_or_default()
}

/// Sends an event of a client.
#[expect(clippy::needless_pass_by_value, reason = "calls read better with `json!` in place")]
fn send(project: &Sandbox, name: &str, time: &str, call: &Call, more: Value) -> Output {
    let client = client(name);
    let event = event(client, time);
    let mut payload = json!({
        "session_id": "s", "cwd": project.path(), "hook_event_name": event, "tool_name": call.tool, "tool_input": call.input,
        "tool_use_id": "t",
    });
    // The marks by which a payload is a client's own.
    if name == "codex" {
        payload["turn_id"] = json!("1");
    }
    if name == "pi" {
        payload["source"] = json!("pi");
    }
    for (key, value) in more.as_object().into_iter().flatten() {
        payload[key] = value.clone();
    }
    let args = ["hook", name, "--event", &event];
    project.run_with_input(&args, payload.to_string().as_bytes())
}

fn before(project: &Sandbox, client: &str, call: &Call) -> Output {
    send(project, client, "before", call, json!({}))
}

fn after(project: &Sandbox, client: &str, call: &Call) -> Output {
    send(project, client, "after", call, json!({}))
}

fn no_call() -> Call {
    Call { tool: "", input: json!({}) }
}

fn answer(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or(Value::Null)
}

/// The ten clients that were run.
const CLIENTS: [&str; 10] =
    ["claude", "codex", "gemini", "qwen", "droid", "copilot", "opencode", "kilo", "pi", "cline"];

/// Returns the reason of a refusal in exactly the form that a client obeys; `None` for any other answer.
fn refusal(name: &str, output: &Output) -> Option<String> {
    let found = answer(output);
    let text = |pointer: &str| found.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let keys = |value: &Value| {
        value
            .as_object()
            .map(|map| map.keys().cloned().collect::<Vec<String>>())
            .unwrap_or_default()
    };
    // A notice for the user may stand beside it; any other key makes a refusal void in some clients.
    let only = |allowed: &[&str]| {
        keys(&found).iter().all(|key| allowed.contains(&key.as_str()) || key == "systemMessage")
    };
    match name {
        "claude" | "codex" | "qwen" => (only(&["hookSpecificOutput"])
            && keys(&found["hookSpecificOutput"])
                == ["hookEventName", "permissionDecision", "permissionDecisionReason"]
            && text("/hookSpecificOutput/permissionDecision")? == "deny"
            && output.code == Some(0))
        .then(|| text("/hookSpecificOutput/permissionDecisionReason"))?,
        "gemini" => (only(&["decision", "reason"])
            && text("/decision")? == "deny"
            && output.code == Some(0))
        .then(|| text("/reason"))?,
        "copilot" => (keys(&found) == ["permissionDecision", "permissionDecisionReason"]
            && text("/permissionDecision")? == "deny"
            && output.code == Some(0))
        .then(|| text("/permissionDecisionReason"))?,
        "droid" => {
            (output.code == Some(42) && output.stdout.is_empty()).then(|| output.stderr.clone())
        }
        "opencode" | "kilo" | "pi" => (keys(&found) == ["hold"]).then(|| text("/hold"))?,
        _ => None,
    }
}

#[test]
fn each_client_refuses_in_the_form_that_it_obeys() {
    let project = trusted();
    for name in CLIENTS.into_iter().filter(|name| *name != "cline") {
        for (call, id, place) in [
            (shell(name, "npm install left-pad"), "no-npm", "AGENTS.yaml:4"),
            (shell(name, "cd . && env X=1 npm ci"), "no-npm", "AGENTS.yaml:4"),
            (write(name, "src/gen/b.ts", "x"), "generated", "AGENTS.yaml:9"),
            (write(name, "src/b.ts", "import x from 'antd'"), "no-antd", "AGENTS.yaml:15"),
        ] {
            let output = before(&project, name, &call);
            let reason =
                refusal(name, &output).unwrap_or_else(|| panic!("{name} {}: {output}", call.input));
            assert!(reason.contains(place), "{name}: {reason}");
            assert!(reason.contains(&format!("`brief allow {id}`")), "{name}: {reason}");
        }
        for call in [
            shell(name, "pnpm add left-pad"),
            shell(name, "git commit -m 'npm install'"),
            write(name, "src/b.ts", "import x from './antd'"),
            write(name, "docs/antd.md", "import x from 'antd'"),
        ] {
            let output = before(&project, name, &call);
            assert_eq!(refusal(name, &output), None, "{name} {}: {output}", call.input);
            assert_eq!(output.code, Some(0), "{output}");
        }
    }
    let reason = refusal("claude", &before(&project, "claude", &shell("claude", "npm i"))).unwrap();
    insta::assert_snapshot!(reason, @r"
    Blocked by a rule:
    - Use pnpm here. (AGENTS.yaml:4)
      `npm i`: runs `npm`
      Instead: pnpm
    Do not work around the rule. If it does not fit here, ask the user: they can allow one call by running `brief allow no-npm` in a terminal.
    ");
}

/// Where a client cannot refuse, the rule is advice after the call.
#[test]
fn a_client_that_obeys_no_refusal_gets_advice() {
    let project = trusted();
    let call = shell("cline", "npm install");
    let output = before(&project, "cline", &call);
    assert!(!output.stdout.contains("Blocked"), "{output}");
    let told = answer(&after(&project, "cline", &call));
    let text = told["contextModification"].as_str().unwrap();
    assert!(text.starts_with("This call broke a rule:\n- Use pnpm here."), "{text}");
}

#[test]
fn a_client_asks_where_it_can_and_refuses_elsewhere() {
    let project = trusted();
    for name in CLIENTS {
        let output = before(&project, name, &shell(name, "git push origin main"));
        let found = answer(&output);
        let asks = match name {
            "claude" | "qwen" => {
                found.pointer("/hookSpecificOutput/permissionDecision") == Some(&json!("ask"))
            }
            "copilot" => found["permissionDecision"] == "ask",
            "pi" => found["ask"].is_string(),
            _ => false,
        };
        let can_ask = ["claude", "qwen", "copilot", "pi"].contains(&name);
        assert_eq!(asks, can_ask, "{name}: {output}");
        let reason = refusal(name, &output);
        assert_eq!(reason.is_some(), !can_ask && name != "cline", "{name}: {output}");
        assert!(
            reason.is_none_or(|text| text.contains("Ask the user before you do this")),
            "{name}"
        );
    }
}

/// A project's rules refuse nothing until the user has seen them, and a changed rule has not been seen.
#[test]
fn rules_of_a_project_warn_until_they_are_trusted() {
    let project = ruled();
    let call = shell("claude", "npm install");
    let told = |project: &Sandbox| {
        assert_eq!(refusal("claude", &before(project, "claude", &call)), None);
        let found = answer(&after(project, "claude", &call));
        found["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
    };
    assert!(told(&project).contains("This call broke a rule:"));
    let refused = project.run(&["trust", "--rules"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    let no = project.run_at_terminal(&["trust", "--rules"], "n\n");
    assert_eq!(no.code, Some(1), "{no}");
    assert!(told(&project).contains("This call broke a rule:"));
    let yes = project.run_at_terminal(&["trust", "--rules"], "y\n");
    assert_eq!(yes.code, Some(0), "{yes}");
    assert!(refusal("claude", &before(&project, "claude", &call)).is_some());
    // It trusts no commands.
    assert!(!project.run(&["trust", "--list"]).stdout.contains("project "));
    project.write("AGENTS.yaml", RULES.replace("[npm, yarn]", "[npm]"));
    assert!(told(&project).contains("This call broke a rule:"));
    let other = write("claude", "src/gen/b.ts", "x");
    assert!(
        refusal("claude", &before(&project, "claude", &other)).is_some(),
        "the others stay trusted"
    );
    let gone = project.run(&["trust", "--rules", "--remove"]);
    assert_eq!(gone.code, Some(0), "{gone}");
    assert_eq!(refusal("claude", &before(&project, "claude", &other)), None);
}

#[test]
fn a_check_whose_examples_fail_refuses_nothing() {
    let project = ruled();
    let wrong = RULES.replace("kept: [\"pnpm add left-pad\"]", "kept: [\"npm install\"]");
    project.write("AGENTS.yaml", wrong);
    let answer = project.run_at_terminal(&["trust", "--rules"], "y\n");
    assert_eq!(answer.code, Some(0), "{answer}");
    let call = shell("claude", "npm install");
    assert_eq!(refusal("claude", &before(&project, "claude", &call)), None);
}

/// The way past a rule: by a person at a terminal, once or until a day, and recorded.
#[test]
fn one_call_can_be_allowed() {
    let project = trusted();
    let call = shell("claude", "npm install");
    let is_refused = || refusal("claude", &before(&project, "claude", &call)).is_some();
    assert_eq!(project.run(&["allow", "no-npm"]).code, Some(1));
    let unknown = project.run_at_terminal(&["allow", "no-nmp"], "y\n");
    assert!(unknown.stderr.contains("did you mean `no-npm`?"), "{unknown}");
    assert!(is_refused());
    let allowed = project.run_at_terminal(&["allow", "no-npm", "--once"], "y\n");
    assert_eq!(allowed.code, Some(0), "{allowed}");
    assert!(!is_refused());
    assert!(is_refused(), "it was for one call");
    let day = project.run_at_terminal(&["allow", "no-npm", "--until", "2199-01-01"], "y\n");
    assert_eq!(day.code, Some(2), "{day}");
    let past = project.run_at_terminal(&["allow", "no-npm", "--until", "2020-01-01"], "y\n");
    assert_eq!(past.code, Some(2), "{past}");
    let log = project.run(&["log", "--json"]).json();
    let outcomes: Vec<&str> = log["receipts"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|receipt| receipt["checks"].as_array().unwrap())
        .filter_map(|check| check["outcome"].as_str())
        .collect();
    assert!(outcomes.iter().filter(|outcome| **outcome == "allowed").count() >= 2, "{outcomes:?}");
    assert!(outcomes.contains(&"refused"), "{outcomes:?}");
}

#[test]
fn a_warning_comes_with_the_result() {
    let project = trusted();
    for name in CLIENTS {
        let call = write(name, "src/todo.ts", "// TODO later");
        assert_eq!(refusal(name, &before(&project, name, &call)), None);
        project.write("src/todo.ts", "// TODO later\n");
        let output = after(&project, name, &call);
        assert!(output.stdout.contains("This call broke a rule:"), "{name}: {output}");
        assert!(output.stdout.contains("Leave no TODO behind."), "{name}: {output}");
        assert_eq!(output.code, Some(0), "{name}: {output}");
        fs::remove_file(project.path().join("src/todo.ts")).unwrap();
    }
}

/// Observed rules are recorded, and nobody is told.
#[test]
fn an_observed_rule_is_recorded_alone() {
    let project = trusted();
    let call = write("claude", "src/b.ts", "goodbye");
    let (first, second) = (before(&project, "claude", &call), after(&project, "claude", &call));
    assert!(!first.stdout.contains("Blocked") && !second.stdout.contains("broke"), "{second}");
    let log = project.run(&["log"]);
    assert!(log.stdout.contains("observed watched"), "{log}");
}

/// A turn goes on at most twice, by our own count, until the user says something.
#[test]
fn the_end_of_a_turn_is_held_twice() {
    for name in ["claude", "codex", "gemini", "qwen", "droid", "copilot", "kilo", "pi"] {
        let project = trusted();
        let stop = || {
            let output =
                send(&project, name, "stop", &no_call(), json!({"stop_hook_active": false}));
            assert_eq!(output.code, Some(0), "{name}: {output}");
            let found = answer(&output);
            let reason = match name {
                "kilo" | "pi" => found["stop"].as_str(),
                _ => found["reason"].as_str().filter(|_| found["decision"] == "block"),
            };
            reason.map(str::to_owned)
        };
        let say = |text: &str| {
            send(&project, name, "prompt", &no_call(), json!({"prompt": text}));
        };
        say("please change it");
        assert_eq!(stop(), None, "{name}: nothing was changed");
        after(&project, name, &write(name, "src/b.ts", "x"));
        let first = stop().unwrap_or_else(|| panic!("{name}"));
        assert!(
            first.starts_with("Before you end your turn:\n- Run the tests."),
            "{name}: {first}"
        );
        // The client reports our own text as a prompt, or a prompt without a text.
        say(&first);
        say("");
        assert!(stop().is_some(), "{name}");
        assert_eq!(stop(), None, "{name}: a third time");
        say("and now the next thing");
        assert!(stop().is_some(), "{name}: a new turn");
        after(&project, name, &shell(name, "make test"));
        assert_eq!(stop(), None, "{name}: the tests ran");
    }
}

/// Claude Code names the files that a command has changed; the payload is one that it sent.
#[test]
fn a_write_that_a_command_hides_is_reported_with_its_result() {
    let project = trusted();
    let call = shell("claude", "python3 x.py");
    assert_eq!(refusal("claude", &before(&project, "claude", &call)), None);
    project.write("src/gen/a.ts", "let g = 1\nlet z = 9\n");
    let file = project.path().join("src/gen/a.ts");
    let response = json!({"tool_response": {"stdout": "", "bashEditDiff": {
        "files": [{"filePath": file, "hunks": [
            {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": [" let g = 1", "+let z = 9"]}]}],
        "moreFiles": 0, "changedFiles": [file]}}});
    let output = send(&project, "claude", "after", &call, response);
    assert!(output.stdout.contains("Generated files are made, not edited."), "{output}");
}

/// An agent that empties the hook's file would switch the rules off, in clients that read it again.
#[test]
fn the_file_of_the_hook_is_guarded() {
    let project = trusted();
    let installed = project.run(&["hook", "install", "claude", "--project"]);
    assert_eq!(installed.code, Some(0), "{installed}");
    let file = ".claude/settings.local.json";
    for call in [
        write("claude", file, "{}"),
        shell("claude", "rm .claude/settings.local.json"),
        shell("claude", "rm -rf .claude"),
        shell("claude", "echo '{}' > .claude/settings.local.json"),
    ] {
        let reason = refusal("claude", &before(&project, "claude", &call));
        assert!(
            reason.is_some_and(|text| text.contains("brief hook uninstall claude")),
            "{}",
            call.input
        );
    }
    let kept = project.read(file);
    for call in [
        write("claude", file, &kept),
        write("claude", ".claude/settings.json", "{}"),
        Call {
            tool: "Edit",
            input: json!({"file_path": file, "old_string": "{\n", "new_string": "{\n\n"}),
        },
    ] {
        assert_eq!(refusal("claude", &before(&project, "claude", &call)), None, "{}", call.input);
    }
}

/// Nothing approves: no answer to any event, in any client and mode, has a word that a client takes for a yes.
#[test]
fn nothing_is_ever_approved() {
    let project = trusted();
    let modes = ["default", "plan", "acceptEdits", "bypassPermissions", "yolo", "auto"];
    for client in BUILTIN.clients.iter().filter(|client| client.hook.is_some()) {
        let name = &*client.id;
        let calls = [
            shell(name, "npm install"),
            shell(name, "git push"),
            shell(name, "ls"),
            write(name, "src/gen/b.ts", "x"),
            write(name, "src/b.ts", "// TODO"),
            write(name, "src/b.ts", "x"),
            no_call(),
        ];
        for call in &calls {
            for time in ["before", "after", "stop", "prompt"] {
                for mode in modes {
                    let output = send(&project, name, time, call, json!({"permission_mode": mode}));
                    assert_yes_nowhere(name, &answer(&output));
                    assert!(output.code == Some(0) || name == "droid", "{name}: {output}");
                    assert!(
                        output.stdout.lines().count() <= 1,
                        "{name}: noise voids a refusal: {output}"
                    );
                }
            }
        }
    }
}

/// Panics if a key that decides has any value besides those that say no, ask or go on.
fn assert_yes_nowhere(name: &str, value: &Value) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let is_decision = [
            "decision",
            "permissionDecision",
            "permission",
            "behavior",
            "continue",
            "approve",
            "suppressOutput",
        ]
        .contains(&key.as_str());
        if is_decision {
            assert!(
                ["deny", "ask", "block"].iter().any(|word| value == word),
                "{name}: {key}: {value}"
            );
        }
        assert_yes_nowhere(name, value);
    }
}

/// Enforced, warned or advice: per rule and client, with the reason.
#[test]
fn people_see_what_becomes_of_a_rule() {
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_brief")).parent().unwrap();
    let project = ruled().with_env("PATH", programs.to_str().unwrap());
    for name in ["claude", "cline"] {
        assert_eq!(project.run(&["hook", "install", name, "--project"]).code, Some(0));
    }
    let effects = |project: &Sandbox| {
        let shown = project.run(&["show", "src/a.ts", "claude", "codex", "cline", "--json"]).json();
        let rule = shown["checks"]
            .as_array()
            .unwrap()
            .iter()
            .find(|rule| rule["id"] == "no-npm")
            .unwrap()
            .clone();
        let of = |client: &str| {
            let clients = rule["clients"].as_array().unwrap();
            let one = clients.iter().find(|one| one["client"] == client).unwrap();
            (
                one["effect"].as_str().unwrap().to_owned(),
                one["reason"].as_str().unwrap_or_default().to_owned(),
            )
        };
        (of("claude"), of("codex"), of("cline"))
    };
    let (claude, codex, _) = effects(&project);
    assert_eq!(claude.0, "warned");
    assert!(claude.1.contains("brief trust --rules"), "{claude:?}");
    assert_eq!(codex.0, "advice");
    let answer = project.run_at_terminal(&["trust", "--rules"], "y\n");
    assert_eq!(answer.code, Some(0), "{answer}");
    let (claude, _, cline) = effects(&project);
    assert_eq!((claude.0.as_str(), claude.1.as_str()), ("enforced", ""));
    assert_eq!(cline.0, "warned", "{cline:?}");
    let why = project.run(&["why", "src/a.ts", "--client", "claude"]);
    assert!(why.stdout.contains("check no-npm: claude: enforced"), "{why}");
    let status = project.run(&["hook", "status", "claude"]);
    assert!(status.stdout.contains("no-npm (AGENTS.yaml:4)\n    claude: enforced"), "{status}");
    assert!(status.stdout.contains("does not stop"), "{status}");
}

/// The same, in the clients' own policies: only what they say exactly, and taken out again.
#[test]
fn policies_of_clients_are_written_and_taken_out_again() {
    let project = ruled();
    project.write("AGENTS.yaml", RULES.replace("    match: [\"src/**\"]\n", ""));
    project.write(".claude/settings.json", "{\n  \"a\": 1\n}\n");
    let before = project.read(".claude/settings.json");
    project.write(
        "brief.toml",
        "[install]\nclients = [\"claude\"]\n\n[permissions]\nfrom-checks = true\n",
    );
    let synced = project.run(&["sync"]);
    assert_eq!(synced.code, Some(0), "{synced}");
    let settings: Value = serde_json::from_str(&project.read(".claude/settings.json")).unwrap();
    let list = |key: &str| -> Vec<String> {
        let list = settings["permissions"][key].as_array().cloned().unwrap_or_default();
        list.iter().filter_map(|rule| rule.as_str().map(str::to_owned)).collect()
    };
    assert_eq!(list("deny"), ["Bash(npm:*)", "Bash(yarn:*)", "Edit(/src/gen/**)"]);
    assert_eq!(list("ask"), ["Bash(git push:*)"]);
    project.write("brief.toml", "[install]\nclients = [\"claude\"]\n");
    let synced = project.run(&["sync"]);
    assert_eq!(synced.code, Some(0), "{synced}");
    assert_eq!(project.read(".claude/settings.json"), before);
}
