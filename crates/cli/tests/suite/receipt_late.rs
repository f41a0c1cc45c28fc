//! Receipts say which texts came after what they are for, and why.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use brief_testkit::Sandbox;
use serde_json::{Value, json};

use crate::hook_clients::{hook, marked, payload, texts, tool};
use crate::project;

/// Each delivered item as `EVENT FILE LATE`, without those of the whole project.
fn told(project: &Sandbox) -> Vec<String> {
    let output = project.run(&["log", "--json"]);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let mut found = Vec::new();
    for receipt in report["receipts"].as_array().unwrap() {
        for item in receipt["items"].as_array().unwrap() {
            let file = item["file"].as_str().unwrap_or_default();
            let late = item["late"].as_str().unwrap_or("in time");
            found.push(format!("{} {file} {late}", receipt["event"].as_str().unwrap()));
        }
    }
    found.dedup();
    found
}

/// Runs a shell command between its two events, as far as the client has both.
fn run_command(project: &Sandbox, client: &str, command: &str, change: &dyn Fn()) {
    let (events, tool): (&[&str], _) = match client {
        "claude" => (&["PreToolUse", "PostToolUse"], "Bash"),
        _ => (&["AfterTool"], "run_shell_command"),
    };
    let call = |event: &str| {
        let more = json!({"tool_name": tool, "tool_input": {"command": command}});
        hook(project, &[client], &payload(project, event, &more));
    };
    if let [before, _] = events {
        call(before);
    } else {
        // An event before the command: the time in which it ran is not longer.
        hook(project, &[client], &payload(project, "BeforeAgent", &json!({"prompt": "go"})));
    }
    change();
    call(events[events.len() - 1]);
}

fn read(project: &Sandbox, client: &str, path: &str) -> String {
    let call = match client {
        "claude" => tool(project, "PostToolUse", "Read", path),
        _ => tool(project, "AfterTool", "read_file", path),
    };
    texts(&hook(project, &[client], &call))
}

const HIDDEN: &str = "f=src/api; f=$f/a.py; sed -i s/1/2/ $f";

/// "Deliver what it does not show at the next event that does, and mark it late in the receipt."
#[test]
fn what_a_command_did_not_show_is_late() {
    for client in ["claude", "gemini"] {
        let project = marked();
        let file = project.path().join("src/api/a.py");
        run_command(&project, client, HIDDEN, &|| fs::write(&file, "x = 2\n").unwrap());
        assert!(read(&project, client, "src/api/a.py").contains("MARK-read-after"), "{client}");
        let found = told(&project);
        let event = if client == "claude" { "PostToolUse" } else { "AfterTool" };
        assert!(
            found.contains(&format!("{event} src/api/a.py unseen-change")),
            "{client}: {found:?}"
        );
        let shown = project.run(&["log", "src/api/a.py"]).stdout;
        let sentence = "late: a command had changed the file before without an event";
        assert!(shown.contains(sentence), "{shown}");
    }
}

/// A file that the command showed, one that no command changed, and one that the user changed while nothing ran.
#[test]
fn other_changes_are_not_unseen() {
    let an_hour = Duration::from_hours(1);
    for (command, moved) in [
        ("sed -i s/1/2/ src/api/a.py", None),
        ("make", Some(SystemTime::now() - an_hour)),
        ("make", Some(SystemTime::now() + an_hour)),
    ] {
        let project = marked();
        let file = project.path().join("src/api/a.py");
        run_command(&project, "claude", command, &|| {
            fs::write(&file, "x = 2\n").unwrap();
            if let Some(time) = moved {
                File::options().append(true).open(&file).unwrap().set_modified(time).unwrap();
            }
        });
        read(&project, "claude", "src/api/a.py");
        let found = told(&project);
        assert!(!found.iter().any(|line| line.contains("unseen")), "{command}: {found:?}");
        assert!(!found.is_empty());
    }
}

/// A new session knows nothing of the commands of the one before.
#[test]
fn a_new_session_begins_without_commands() {
    let project = marked();
    let file = project.path().join("src/api/a.py");
    run_command(&project, "claude", HIDDEN, &|| fs::write(&file, "x = 2\n").unwrap());
    hook(&project, &["claude"], &payload(&project, "SessionStart", &json!({"source": "startup"})));
    read(&project, "claude", "src/api/a.py");
    let found = told(&project);
    assert!(!found.iter().any(|line| line.contains("unseen")), "{found:?}");
}

/// Clients show the text of an event before a call with its result, so that an edit without a read has run. What is for after
/// an edit is in time, and so is what a call was held back for.
#[test]
fn what_comes_with_the_result_of_a_change_is_late() {
    let edit = |event| {
        let project = marked();
        hook(&project, &["claude"], &tool(&project, event, "Edit", "src/api/a.py"));
        told(&project)
    };
    assert_eq!(edit("PreToolUse"), ["PreToolUse src/api/a.py after-change"]);
    // Rules that came with no earlier event, and then the entry for after an edit.
    let after = ["PostToolUse src/api/a.py after-change", "PostToolUse src/api/a.py in time"];
    assert_eq!(edit("PostToolUse"), after);
    let project = marked();
    let call = tool(&project, "PreToolUse", "Edit", "src/api/a.py");
    hook(&project, &["claude", "--block-once"], &call);
    assert_eq!(told(&project), ["PreToolUse src/api/a.py in time"]);
    // One event has both: the entry for after an edit is in time, all others are late.
    let project = marked();
    hook(&project, &["gemini"], &tool(&project, "AfterTool", "replace", "src/api/a.py"));
    let output = project.run(&["log", "--json", "AGENTS.yaml"]);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let items = report["receipts"][0]["items"].as_array().unwrap();
    let late: Vec<(&str, Option<&str>)> =
        items.iter().map(|item| (item["name"].as_str().unwrap(), item["late"].as_str())).collect();
    // Entries 2 and 3 are `on: edit`, `when: before` and `when: after`.
    assert_eq!(late, [("context[2]", Some("after-change")), ("context[3]", None)]);
}

/// What an answer had no room for comes with the next one, and is late.
#[test]
fn what_had_no_room_is_late() {
    let entries: Vec<String> = (0..20)
        .map(|number| format!("- {{content: 'N{number} {}', match: ['*.py']}}\n", "x".repeat(900)))
        .collect();
    let entries = entries.concat();
    let project = project()
        .with_file(".git/HEAD", "")
        .with_file("AGENTS.yaml", format!("context:\n{entries}"))
        .with_file("a.py", "");
    for _ in 0..3 {
        hook(&project, &["claude"], &tool(&project, "PreToolUse", "Read", "a.py"));
    }
    let expected = ["PreToolUse a.py in time", "PreToolUse a.py no-room"];
    assert_eq!(told(&project), expected);
    let output = project.run(&["log", "--json"]);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let receipts = report["receipts"].as_array().unwrap();
    let items = receipts.iter().map(|receipt| receipt["items"].as_array().unwrap().len());
    assert_eq!(items.sum::<usize>(), 20);
}
