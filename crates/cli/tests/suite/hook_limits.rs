//! The longest text of a hook, in the unit in which each client counts it.

use serde_json::{Value, json};

use crate::hook_clients::{hook, payload};
use crate::project;

/// Measured in the clients on 2026-11-19: Claude Code 2.1.325 passes on 10,000 units of UTF-16 and 1.0.102 of Copilot 10,240;
/// Codex 0.166.0 passes on 10,000 bytes of UTF-8, which it calls 2,500 tokens.
#[test]
fn a_text_is_as_long_as_its_client_counts() {
    type Count = fn(&str) -> usize;
    let utf16: Count = |text| text.encode_utf16().count();
    let bytes: Count = str::len;
    let kinds = [("ascii", "a"), ("cjk", "語"), ("emoji", "😀")];
    for (client, event, tool, key, most, count) in [
        ("claude", "PostToolUse", "Read", "file_path", 10_000, utf16),
        ("copilot", "postToolUse", "view", "path", 10_240, utf16),
        ("codex", "PostToolUse", "Bash", "command", 10_000, bytes),
    ] {
        for (kind, character) in kinds {
            let entries: Vec<Value> = (0..40)
                .map(|number| {
                    let content = format!("Entry {number} {} end {number}.", character.repeat(300));
                    json!({"content": content, "match": ["**/*.py"]})
                })
                .collect();
            let project = project()
                .with_file("AGENTS.yaml", json!({"context": entries}).to_string())
                .with_file("a.py", "");
            let value = if key == "command" {
                json!("cat a.py")
            } else {
                json!(project.path().join("a.py"))
            };
            let mut call =
                payload(&project, event, &json!({"tool_name": tool, "tool_input": {key: value}}));
            if client == "codex" {
                call["turn_id"] = json!("t");
            }
            let mut told = String::new();
            for _ in 0..40 {
                let answer = hook(&project, &[client, "--event", event], &call).stdout;
                if answer.trim().is_empty() {
                    break;
                }
                let answer: Value = serde_json::from_str(&answer).unwrap();
                let output = answer.get("hookSpecificOutput").unwrap_or(&answer);
                let text = output["additionalContext"].as_str().unwrap();
                let length = count(text);
                assert!(length <= most, "{client}, {kind}: {length} of {most}");
                // Room is used: what is left takes no more than two entries and the notice.
                let is_last = !text.contains("more item");
                let entry = count(&character.repeat(300)) + 40;
                assert!(
                    is_last || length + 2 * entry + 1_200 > most,
                    "{client}, {kind}: {length} of {most}"
                );
                told.push_str(text);
            }
            for number in 0..40 {
                let end = format!(" end {number}.");
                assert_eq!(told.matches(&end).count(), 1, "{client}, {kind}: {number}");
            }
        }
    }
}

/// R11: "marked before unmarked". An entry that asks to hold a change back has room before its neighbors, wherever it stands.
#[test]
fn r11_a_marked_entry_has_room_first() {
    for place in [0, 19, 39] {
        let entries: Vec<Value> = (0..40)
            .map(|number| {
                let content = format!("Entry {number}. {}", "word ".repeat(150));
                json!({"content": content, "match": ["**/*.py"], "hold": number == place})
            })
            .collect();
        let project = project()
            .with_file("AGENTS.yaml", json!({"context": entries}).to_string())
            .with_file("a.py", "");
        let input =
            json!({"tool_name": "Read", "tool_input": {"file_path": project.path().join("a.py")}});
        let said = hook(&project, &["claude"], &payload(&project, "PreToolUse", &input)).stdout;
        assert!(said.contains(&format!("Entry {place}. ")), "{place}: {said}");
        assert!(said.matches("Entry ").count() < 20, "there was room for all");
    }
}
