//! The hooks of all clients: payloads as they sent them, the files that set hooks up, holding back, and the moments
//! besides tool calls.
//!
//! `payloads/CLIENT.jsonl` has what a real client sent in one session: read, edit, create, `cat`. `.documents.jsonl`
//! is written from the client's documentation, because the client could not be run.

use std::fs;

use brief_clients::hook::guard::find_command;
use brief_profiles::BUILTIN;
use brief_testkit::{Output, Sandbox};
use serde_json::{Value, json};

use crate::project;

/// Guidance of several formats, each text once.
pub(crate) fn marked() -> Sandbox {
    let mut entries = String::from("context:\n");
    for action in ["read", "edit", "create"] {
        for time in ["before", "after"] {
            entries.push_str(&format!(
                "  - {{content: MARK-{action}-{time}, match: ['**/*.py'], on: {action}, when: {time}}}\n"
            ));
        }
    }
    project()
        .with_file(".git/HEAD", "")
        .with_file("AGENTS.yaml", entries)
        .with_file(".context/always.md", "---\ntrigger: always\n---\n\nMARK-context-always\n")
        .with_file(".agents/rules/task.md", "MARK-agents-rule\n")
        .with_file(".cursor/rules/py.mdc", "---\nglobs: '**/*.py'\n---\n\nMARK-cursor-rule\n")
        .with_file(
            ".github/instructions/py.instructions.md",
            "---\napplyTo: '**/*.py'\n---\n\nMARK-copilot-rule\n",
        )
        .with_file("src/api/a.py", "x = 1\n")
}

const MARKS: [&str; 10] = [
    "MARK-read-before",
    "MARK-read-after",
    "MARK-edit-before",
    "MARK-edit-after",
    "MARK-create-before",
    "MARK-create-after",
    "MARK-context-always",
    "MARK-agents-rule",
    "MARK-cursor-rule",
    "MARK-copilot-rule",
];

pub(crate) fn hook(project: &Sandbox, args: &[&str], payload: &Value) -> Output {
    let args = [&["hook"], args].concat();
    let output = project.run_with_input(&args, payload.to_string().as_bytes());
    assert_eq!(output.code, Some(0), "{output}");
    output
}

/// Every text in the answer.
pub(crate) fn texts(output: &Output) -> String {
    fn add(value: &Value, texts: &mut String) {
        match value {
            Value::String(text) => texts.push_str(text),
            Value::Array(list) => list.iter().for_each(|value| add(value, texts)),
            Value::Object(fields) => fields.values().for_each(|value| add(value, texts)),
            _ => {}
        }
    }
    let mut found = String::new();
    if !output.stdout.is_empty() {
        add(&serde_json::from_str(&output.stdout).unwrap(), &mut found);
    }
    found
}

/// K01, K08: in every client each text arrives once, and what is for before an edit or a creation with the read.
#[test]
fn every_client_gets_everything_once() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/payloads");
    let mut clients = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap();
        // Copilot also runs the hooks of Claude's settings.
        let command =
            name.strip_prefix("copilot-").filter(|name| *name == "claude").unwrap_or(name);
        replay(name, command, &fs::read_to_string(&path).unwrap());
        clients += 1;
    }
    assert_eq!(clients, 12);
}

fn replay(name: &str, command: &str, lines: &str) {
    let project = marked();
    let here = project.path();
    let here = here.to_str().unwrap();
    let hook_profile = BUILTIN.find_client(command).unwrap().hook.as_ref().unwrap();
    let (mut told, mut at_read) = (String::new(), None);
    for line in lines.lines() {
        let line = line.replace("{project}", here).replace("{home}", "/home/u");
        let line: Value = serde_json::from_str(&line).unwrap();
        let payload = &line["payload"];
        let named = ["hook_event_name", "hookEventName", "event"];
        let event = line["event"].as_str();
        let event = event.or_else(|| named.iter().find_map(|key| payload[key].as_str())).unwrap();
        let is_before = hook_profile.events.before.contains_text(event);
        let tells_new = hook_profile.tools.write.is_empty() || hook_profile.created.is_some();
        let tool = payload["tool_name"].as_str().or(payload["toolName"].as_str());
        let is_checked = tool
            .is_some_and(|tool| hook_profile.tools.changing_names().any(|name| **name == *tool));
        if is_before && !hook_profile.events.before_carries && tells_new && !is_checked {
            continue; // It is not installed.
        }
        let is_change =
            payload.to_string().contains("x = 3") || payload.to_string().contains("edit");
        if is_change && at_read.is_none() && told.contains("MARK-read") {
            at_read = Some(told.clone());
        }
        if !is_before && payload.to_string().contains("new.py") {
            project.write("src/api/new.py", "z = 1");
        }
        let mut args = vec![command];
        if line["event"].is_string() {
            args.extend(["--event", event]);
        }
        told.push_str(&texts(&hook(&project, &args, payload)));
    }
    let at_read = at_read.unwrap_or_else(|| panic!("{name}: {told}"));
    for mark in MARKS {
        // A client's own rules are loaded by the client.
        let is_own = matches!(
            (name, mark),
            ("copilot" | "copilot-claude" | "copilot-vscode", "MARK-copilot-rule")
                | ("cursor" | "crush", "MARK-cursor-rule")
        );
        assert_eq!(told.matches(mark).count(), usize::from(!is_own), "{name}: {mark} in {told}");
    }
    for mark in ["MARK-edit-before", "MARK-create-before"] {
        assert!(at_read.contains(mark), "{name}: {mark} is late: {at_read}");
    }
}

/// Each client's own answer, key by key.
#[test]
fn each_client_gets_its_own_answer() {
    let project = marked();
    let read = |event_key: &str, event: &str, tool: (&str, &str), input: Value| json!({"cwd": project.path(), event_key: event, tool.0: tool.1, "tool_input": input});
    let file = "src/api/a.py";
    let with = ("tool_name", "Read");
    for (client, payload, pointer) in [
        (
            "claude",
            read("hook_event_name", "PostToolUse", with, json!({"file_path": file})),
            "/hookSpecificOutput/additionalContext",
        ),
        (
            "droid",
            read("hook_event_name", "PostToolUse", with, json!({"file_path": file})),
            "/hookSpecificOutput/additionalContext",
        ),
        (
            "copilot",
            read("hook_event_name", "postToolUse", ("tool_name", "view"), json!({"path": file})),
            "/additionalContext",
        ),
        (
            "cline",
            read(
                "hookName",
                "PostToolUse",
                ("tool_name", "read_files"),
                json!({"files": [{"path": file}]}),
            ),
            "/contextModification",
        ),
        (
            "opencode",
            read("event", "after", ("tool_name", "read"), json!({"filePath": file})),
            "/text",
        ),
        (
            "cursor",
            read("hook_event_name", "postToolUse", with, json!({"file_path": file})),
            "/additional_context",
        ),
    ] {
        let output = hook(&project, &[client], &payload);
        let answer: Value = serde_json::from_str(&output.stdout).unwrap();
        let text = answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        assert!(text.contains("MARK-read-after"), "{client}: {answer}");
        let events = answer["hookSpecificOutput"]["hookEventName"].as_str();
        assert!(events.is_none_or(|event| event == "PostToolUse"), "{answer}");
    }
}

/// The files of each client, and that nothing is left of them.
#[test]
fn every_hook_is_set_up_and_removed() {
    let mut files = Vec::new();
    for client in &BUILTIN.clients {
        let Some(install) = client.hook.as_ref().and_then(|hook| hook.install.as_ref()) else {
            continue;
        };
        for place in ["--project", "--global"] {
            if place == "--global" && install.home.is_none() {
                continue;
            }
            let project = project().with_file(".git/HEAD", "");
            let run = |action: &str| project.run(&["hook", action, &client.id, place]);
            let base = if place == "--global" { project.home() } else { project.path() };
            let before = listed(&base);
            let output = run("install");
            assert_eq!(output.code, Some(0), "{} {place}: {output}", client.id);
            let made: Vec<String> =
                listed(&base).into_iter().filter(|path| !before.contains(path)).collect();
            let command = format!("brief hook {}", install.named.as_ref().unwrap_or(&client.id));
            for path in &made {
                let text = fs::read_to_string(base.join(path)).unwrap();
                assert!(text.contains(&command), "{path}: {text}");
                if std::path::Path::new(path).extension().is_some_and(|ending| ending == "json") {
                    serde_json::from_str::<Value>(&text).unwrap();
                }
            }
            assert!(run("install").stderr.contains("already installed"), "{}", client.id);
            files.push(format!(
                "{}: {}{}",
                client.id,
                if place == "--global" { "~/" } else { "" },
                made.join(" ")
            ));
            assert_eq!(run("uninstall").code, Some(0));
            assert_eq!(listed(&base), before, "{} {place}", client.id);
        }
    }
    insta::assert_snapshot!(files.join("\n"), @"
    amp: .amp/plugins/brief.ts
    amp: ~/.config/amp/plugins/brief.ts
    augment: .augment/settings.local.json
    augment: ~/.augment/settings.json
    claude: .claude/settings.local.json
    claude: ~/.claude/settings.json
    cline: .clinerules/hooks/PostToolUse .clinerules/hooks/PreToolUse
    cline: ~/.cline/hooks/PostToolUse .cline/hooks/PreToolUse
    codex: .codex/hooks.json
    codex: ~/.codex/hooks.json
    copilot: .github/hooks/brief.json
    copilot: ~/.copilot/hooks/brief.json
    copilot-vscode: .github/hooks/brief.json
    copilot-vscode: ~/.copilot/hooks/brief.json
    crush: crush.json
    crush: ~/.config/crush/crush.json
    cursor: .cursor/hooks.json
    cursor: ~/.cursor/hooks.json
    droid: .factory/hooks.json
    droid: ~/.factory/hooks.json
    gemini: .gemini/settings.json
    gemini: ~/.gemini/settings.json
    kilo: .kilo/plugin/brief.js
    opencode: .opencode/plugin/brief.js
    opencode: ~/.config/opencode/plugin/brief.js
    pi: .pi/extensions/brief.ts
    pi: ~/.pi/agent/extensions/brief.ts
    qwen: .qwen/settings.json
    qwen: ~/.qwen/settings.json
    ");
}

/// Returns the files below a directory.
fn listed(base: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![base.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(base).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// A program of the client's hook is one that the client can start.
#[cfg(unix)]
#[test]
fn a_program_can_be_started() {
    use std::os::unix::fs::PermissionsExt;
    let project = project();
    assert_eq!(project.run(&["hook", "install", "cline"]).code, Some(0));
    let program = project.path().join(".clinerules/hooks/PostToolUse");
    assert_ne!(fs::metadata(program).unwrap().permissions().mode() & 0o100, 0);
}

/// A file that another tool wrote stays.
#[test]
fn a_foreign_file_is_not_replaced() {
    for (client, path) in
        [("cline", ".clinerules/hooks/PreToolUse"), ("opencode", ".opencode/plugin/brief.js")]
    {
        let project = project().with_file(path, "mine\n");
        let output = project.run(&["hook", "install", client, "--project"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("exists and was not written by brief"), "{output}");
        assert_eq!(project.run(&["hook", "uninstall", client, "--project"]).code, Some(0));
        assert_eq!(project.read(path), "mine\n");
    }
}

/// Droid ignores the hooks of `settings.json` beside a `hooks.json`.
#[test]
fn hooks_that_would_be_hidden_get_ours_beside_them() {
    let mine = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}"#;
    let project = project().with_file(".factory/settings.json", mine);
    assert_eq!(project.run(&["hook", "install", "droid"]).code, Some(0));
    assert!(!project.path().join(".factory/hooks.json").exists());
    let settings = project.read(".factory/settings.json");
    assert!(settings.contains("mine") && settings.contains("brief hook droid"), "{settings}");
    assert_eq!(project.run(&["hook", "uninstall", "droid"]).code, Some(0));
    assert!(!project.read(".factory/settings.json").contains("brief"));
}

/// A byte order mark stays at the beginning.
#[test]
fn a_byte_order_mark_stays() {
    let path = ".claude/settings.local.json";
    let project = project().with_file(path, "\u{feff}{\n  \"a\": 1\n}\n");
    assert_eq!(project.run(&["hook", "install", "claude"]).code, Some(0));
    assert!(project.read(path).starts_with("\u{feff}{"));
    assert_eq!(project.run(&["hook", "uninstall", "claude"]).code, Some(0));
    assert_eq!(project.read(path), "\u{feff}{\n  \"a\": 1\n}\n");
}

/// `--block-once` replaces the hook without it, and the other way round.
#[test]
fn another_choice_replaces_the_first() {
    let project = project();
    let path = ".claude/settings.local.json";
    let commands = || {
        let settings: Value = serde_json::from_str(&project.read(path)).unwrap();
        let groups = settings["hooks"]["PreToolUse"].as_array().unwrap().clone();
        let lines = groups.iter().map(|group| group["hooks"][0]["command"].as_str().unwrap());
        lines.map(|line| find_command(line).command.to_owned()).collect::<Vec<_>>()
    };
    for (args, command) in [
        (&["hook", "install", "claude"][..], "brief hook claude"),
        (&["hook", "install", "claude", "--block-once"], "brief hook claude --block-once"),
        (
            &["hook", "install", "claude", "--block-once=marked"],
            "brief hook claude --block-once=marked",
        ),
    ] {
        assert_eq!(project.run(args).code, Some(0));
        assert_eq!(commands(), [command]);
    }
    assert_eq!(project.run(&["hook", "uninstall", "claude"]).code, Some(0));
    assert!(!project.path().join(path).exists());
}

/// Without a name, the clients that the project shows.
#[test]
fn the_project_shows_its_clients() {
    let project = project().with_file("CLAUDE.md", "x\n").with_file(".opencode/agent/a.md", "x\n");
    let output = project.run(&["hook", "install", "--dry-run"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains(".claude/settings.local.json"), "{output}");
    assert!(output.stderr.contains(".opencode/plugin/brief.js"), "{output}");
    assert!(!project.path().join(".claude").exists());
}

/// A client whose hooks carry no text is told apart from one that does not exist.
#[test]
fn a_client_without_a_hook_is_refused() {
    insta::assert_snapshot!(project().run(&["hook", "install", "zed"]), @"
    ------- stderr -------
    error: Zed has no hooks that can add context
    hint: run `brief registry build` to write files that it loads; clients with hooks: `amp`, `augment`, `claude`, `cline`, `codex`, `copilot`, `copilot-vscode`, `crush`, `cursor`, `droid`, `gemini`, `kilo`, `opencode`, `pi`, `qwen`
    [exit status: 1]
    [EOF]
    ");
    insta::assert_snapshot!(project().run(&["hook", "install", "claud"]), @"
    ------- stderr -------
    error: unknown client `claud`
    hint: did you mean `claude`?
    [exit status: 2]
    [EOF]
    ");
}

pub(crate) fn payload(project: &Sandbox, event: &str, more: &Value) -> Value {
    let mut payload = json!({
        "session_id": "one", "transcript_path": "/t", "cwd": project.path(), "hook_event_name": event,
    });
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    payload
}

pub(crate) fn tool(project: &Sandbox, event: &str, tool: &str, path: &str) -> Value {
    let input = json!({"file_path": project.path().join(path)});
    payload(project, event, &json!({"tool_name": tool, "tool_input": input}))
}

/// Some clients load nested files with a read alone: an edit brings them if no read came before it.
#[test]
fn what_the_client_loaded_with_a_read_does_not_come_with_the_edit() {
    let call = |project: &Sandbox, tool: &str| json!({"sessionId": "one", "cwd": project.path(), "toolName": tool, "toolArgs": {"path": project.path().join("src/api/a.py")}});
    let project = marked();
    // A start is no read.
    let start = json!({"sessionId": "one", "cwd": project.path(), "source": "new"});
    hook(&project, &["copilot", "--event", "sessionStart"], &start);
    let edit =
        texts(&hook(&project, &["copilot", "--event", "preToolUse"], &call(&project, "edit")));
    assert!(edit.contains("MARK-copilot-rule"), "{edit}");
    let project = marked();
    hook(&project, &["copilot", "--event", "preToolUse"], &call(&project, "view"));
    let edit =
        texts(&hook(&project, &["copilot", "--event", "preToolUse"], &call(&project, "edit")));
    assert!(!edit.contains("MARK-copilot-rule"), "{edit}");
}

/// A project's own client has a hook, too, and its file has no word that approves a call.
#[test]
fn a_client_of_the_projects_own_has_a_hook() {
    let client = r#"
id = "homemade"
name = "Homemade"
seen = { how = "run", date = "2026-11-17" }

[hook]
answer = [{ key = "say", value = "the-text" }]
paths = ["where"]
events = { after = ["done"] }
tools = { read = ["look"] }

[hook.install]
file = ".homemade.json"
form = "list"
handler = [{ key = "run", value = "{command}" }]
"#;
    let project = marked().with_file(".brief/clients/homemade.toml", client);
    assert_eq!(project.run(&["hook", "install", "homemade"]).code, Some(0));
    let line = "\"run\": \"command -v brief >/dev/null 2>&1 || exit 0; exec 3<&0; brief hook homemade <&3 & ";
    assert_eq!(cfg!(unix), project.read(".homemade.json").contains(line));
    let call = json!({"cwd": project.path(), "event": "done", "tool_name": "look", "tool_input": {"path": "src/api/a.py"}});
    assert!(texts(&hook(&project, &["homemade"], &call)).is_empty(), "`path` is not its key");
    let project =
        project.with_file(".brief/clients/homemade.toml", client.replace("where", "path"));
    assert!(texts(&hook(&project, &["homemade"], &call)).contains("MARK-read-after"));
    let approving = client.replace("the-text", "allow");
    let project = project.with_file(".brief/clients/homemade.toml", approving);
    let output = project.run(&["lint"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("allow"), "{output}");
}

/// N35: the help names the clients, a wrong name is met with those that may be meant, and who asked for it means yes.
#[cfg(unix)]
#[test]
fn n35_an_installation_meets_its_user() {
    let project = project().with_file("CLAUDE.md", "x\n");
    let help = project.run(&["hook", "install", "--help"]).stdout;
    for client in &BUILTIN.clients {
        let has_hook = client.hook.as_ref().is_some_and(|hook| hook.install.is_some());
        let words: Vec<&str> = help.split([' ', ',', '\n']).collect();
        assert_eq!(words.contains(&&*client.id), has_hook, "{}: {help}", client.id);
    }
    insta::assert_snapshot!(project.run(&["hook", "install", "clod"]), @"
    ------- stderr -------
    error: unknown client `clod`
    hint: did you mean `claude` or `cline`?
    [exit status: 2]
    [EOF]
    ");
    let no = project.run_at_terminal(&["hook", "install"], "n\n");
    assert!(no.stderr.contains("Install the hook for Claude Code? [Y/n]"), "{no}");
    assert!(!project.path().join(".claude/settings.local.json").exists());
    let yes = project.run_at_terminal(&["hook", "install"], "\n");
    assert_eq!(yes.code, Some(0), "{yes}");
    assert!(project.path().join(".claude/settings.local.json").exists());
}

/// A home directory may be reached through a link.
#[cfg(unix)]
#[test]
fn a_home_behind_a_link_is_no_other_place() {
    let project = project();
    let link = project.outside_directory().join("home");
    std::os::unix::fs::symlink(project.home(), &link).unwrap();
    let project = project.with_env("HOME", link.to_str().unwrap());
    let output = project.run(&["hook", "install", "claude", "--global"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(project.home().join(".claude/settings.json").exists());
}

/// L21: Claude Code and Codex run the hooks of the main checkout in a worktree (2.1.325, run on 2026-11-18; 0.169.0 on 2026-11-19).
#[test]
fn l21_the_status_in_a_worktree_knows_the_hook_of_the_main_checkout() {
    let project = project()
        .with_file("main/.git/HEAD", "ref: refs/heads/main\n")
        .with_file("main/.git/worktrees/w/commondir", "../..\n")
        .with_file("main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
    let main = project.path().join("main");
    let linked = format!("gitdir: {}\n", main.join(".git/worktrees/w").display());
    let project = project.with_file("w/.git", linked);
    let status = |client: &str| {
        let output = project.run(&["-C", "w", "hook", "status", client, "--json"]);
        output.json()["hooks"][0]["installed"].clone()
    };
    assert_eq!(status("claude"), json!([]));
    // Codex ignores the hooks of the worktree itself (0.169.0, run on 2026-11-19).
    let refused = project.run(&["-C", "w", "hook", "install", "codex", "--project"]);
    assert_ne!(refused.code, Some(0), "{refused}");
    assert!(refused.stderr.contains("main checkout"), "{refused}");
    let done = project.run(&["-C", "main", "hook", "install", "claude", "codex", "droid"]);
    assert_eq!(done.code, Some(0), "{done}");
    let installed = status("claude");
    assert_eq!(installed[0]["file"], "$PROJECT/main/.claude/settings.local.json");
    assert_eq!(installed[0]["place"], "the main checkout, and this worktree of it");
    // Codex runs it only if the worktree has the directory, too (0.169.0, run on 2026-11-20).
    assert_eq!(status("codex"), json!([]));
    project.write("w/.codex/config.toml", "");
    assert_eq!(status("codex")[0]["file"], "$PROJECT/main/.codex/hooks.json");
    // Droid was not seen to run it.
    assert_eq!(status("droid"), json!([]));
}
