//! Lines with the items of a conversation. The items say "completed" even of a call that was blocked, so that only the
//! events `FileChange` and `CommandExecution` prove that something happened.

use std::path::PathBuf;

use super::super::diff::parse_unified;
use super::super::model::{
    CallKind, ChangeAction, ChangedText, Changes, DeniedBy, EventBody, Outcome, RecordedChange,
};
use super::super::node::{Keys, Node};
use super::super::recorder::{Recorder, find_exit, outcome_of_exit, time_of};
use super::joined_text;

pub(super) const KEYS: Keys = Keys {
    names: &[
        "timestamp",
        "type",
        "payload",
        "id",
        "session_id",
        "cwd",
        "cli_version",
        "git",
        "commit_hash",
        "parent_thread_id",
        "forked_from_id",
        "source",
        "role",
        "content",
        "text",
        "name",
        "arguments",
        "input",
        "call_id",
        "output",
        "item",
        "status",
        "changes",
        "unified_diff",
        "move_path",
        "exit_code",
        "command",
        "action",
        "workdir",
        "internal_chat_message_metadata_passthrough",
        "content_item_kinds",
        "subagent",
        "thread_spawn",
        "metadata",
        "sampled_through_sequence",
    ],
    map: Some("changes"),
};

/// The keys of arguments, which are a text of JSON.
const ARGUMENT_KEYS: Keys = Keys::new(&["cmd", "command", "workdir", "input", "patch", "cwd"]);

/// Usage and settings come after each answer.
pub(super) fn skips_line(line: &[u8]) -> bool {
    let start = &line[..line.len().min(200)];
    memchr::memmem::find(start, b"\"token_usage_record\"").is_some()
        || memchr::memmem::find(start, b"\"token_count\"").is_some()
        || memchr::memmem::find(start, b"\"world_state\"").is_some()
}

pub(super) fn read_record(recorder: &mut Recorder<'_>, record: &Node<'_>) {
    recorder.set_time(time_of(record.get("timestamp")));
    let payload = record.get("payload");
    match record.find_text("type").unwrap_or_default() {
        "session_meta" => read_meta(recorder, payload),
        "turn_context" => {
            let directory = payload.find_text("cwd").map(PathBuf::from);
            recorder.session.directory = recorder.session.directory.take().or(directory);
        }
        "response_item" => {
            // The items of one answer have seen the same part of the history.
            let seen = record.at(&["metadata", "sampled_through_sequence"]).number();
            read_item(recorder, payload, seen.map(|seen| seen.to_string()).as_deref());
        }
        "event_msg" => read_event(recorder, payload),
        "compacted" => recorder.add_event(EventBody::Compaction),
        "world_state" | "token_usage_record" | "inter_agent_communication" => {}
        kind => recorder.session.gaps.add_unknown_kind(kind),
    }
}

fn read_meta(recorder: &mut Recorder<'_>, payload: &Node<'_>) {
    let session = &mut recorder.session;
    // A fork begins with its own, and the records of its origin follow with theirs.
    if !session.id.is_empty() {
        return;
    }
    session.id = payload.owned("id").unwrap_or_default();
    session.directory = payload.find_text("cwd").map(PathBuf::from);
    session.version = payload.owned("cli_version");
    session.head = payload.at(&["git", "commit_hash"]).text().map(str::to_owned);
    let spawn = payload.at(&["source", "subagent", "thread_spawn", "parent_thread_id"]).text();
    let parent = spawn.or_else(|| payload.find_text("parent_thread_id")).map(str::to_owned);
    if let Some(parent) = parent {
        // Receipts name the parent's session, and the child's as the agent.
        session.agent = Some(std::mem::replace(&mut session.id, parent.clone()));
        session.parent = Some(parent);
    } else {
        session.parent = payload.owned("forked_from_id");
    }
}

fn read_item(recorder: &mut Recorder<'_>, payload: &Node<'_>, answer: Option<&str>) {
    let call_id = payload.find_text("call_id");
    match payload.find_text("type").unwrap_or_default() {
        "message" => {
            let kinds = payload
                .at(&["internal_chat_message_metadata_passthrough", "content_item_kinds"])
                .list();
            let is_said = kinds.iter().any(|kind| kind.text() == Some("user.text"));
            match payload.find_text("role") {
                Some("user") if is_said => recorder.add_event(EventBody::Prompt),
                Some("assistant") => recorder.add_answer(answer),
                _ => {}
            }
        }
        "function_call" | "custom_tool_call" => {
            let Some(id) = call_id else { return };
            recorder.add_answer(answer);
            let tool = payload.find_text("name").unwrap_or_default();
            let arguments = payload.find_text("arguments");
            let parsed = arguments.map(|text| ARGUMENT_KEYS.parse(text.as_bytes()));
            match parsed {
                Some(Ok(input)) => recorder.add_call(id, tool, &input),
                _ => recorder.add_call(id, tool, payload.get("input")),
            }
        }
        "local_shell_call" => {
            let Some(id) = call_id else { return };
            recorder.add_answer(answer);
            recorder.add_call(id, "local_shell_call", payload.get("action"));
        }
        "function_call_output" | "custom_tool_call_output" => {
            let Some(id) = call_id else { return };
            if !recorder.has_call(id) {
                recorder.call(id);
                return;
            }
            read_output(recorder, id, &joined_text(payload.get("output")));
        }
        "compaction" | "context_compaction" => recorder.add_event(EventBody::Compaction),
        _ => {}
    }
}

/// Reads what the model saw. An event about the same call knows better, and comes before it.
fn read_output(recorder: &mut Recorder<'_>, id: &str, text: &str) {
    let Some(call) = recorder.call(id) else { return };
    if call.outcome != Outcome::Unfinished {
        let (outcome, changes) = (call.outcome, call.changes.clone());
        return recorder.finish_call(id, outcome, Some(changes));
    }
    let kind = call.kind;
    // What a program wrote comes after a line about its time.
    let has_run = text.contains("Wall time");
    let is_denied = |words: &[&str]| !has_run && words.iter().any(|word| text.contains(word));
    let exit = find_exit(text, &["Process exited with code ", "Exit code: ", "exited with code "]);
    let outcome = if is_denied(&["blocked by", "PreToolUse"]) {
        Outcome::Denied(DeniedBy::Hook)
    } else if is_denied(&["rejected", "sandbox"]) {
        Outcome::Denied(DeniedBy::Settings)
    } else if let Some(exit) = exit {
        outcome_of_exit(exit)
    } else if kind == CallKind::Edit {
        // Without an event nothing was written.
        super::failed_with(None)
    } else {
        Outcome::Unknown
    };
    recorder.finish_call(id, outcome, None);
}

fn read_event(recorder: &mut Recorder<'_>, payload: &Node<'_>) {
    match payload.find_text("type").unwrap_or_default() {
        "item_completed" => {}
        "context_compacted" => return recorder.add_event(EventBody::Compaction),
        _ => return,
    }
    let item = payload.get("item");
    let Some(id) = item.find_text("id") else { return };
    let status = item.find_text("status").unwrap_or_default();
    match item.find_text("type").unwrap_or_default() {
        "FileChange" if recorder.has_call(id) => {
            let changes = item.get("changes").fields().iter();
            let changes: Vec<_> =
                changes.flat_map(|(path, change)| read_change(path, change)).collect();
            let (outcome, changes) = match status {
                "completed" => (Outcome::Ok, Some(Changes::Exact(changes))),
                "declined" => (Outcome::Denied(DeniedBy::User), None),
                _ => (super::failed_with(None), None),
            };
            // A shell that applies a patch may do more.
            let is_shell = recorder.call(id).is_some_and(|call| call.kind == CallKind::Shell);
            let changes = match changes {
                Some(Changes::Exact(changes)) if is_shell => Some(Changes::AtLeast(changes)),
                changes => changes,
            };
            recorder.finish_call(id, outcome, changes);
        }
        "CommandExecution" if recorder.has_call(id) => {
            let directory = item.find_text("cwd").map(|cwd| cwd.trim_start_matches("file://"));
            if let (Some(directory), Some(call)) = (directory, recorder.call(id)) {
                call.directory = Some(PathBuf::from(directory));
            }
            let exit = item.get("exit_code").number().and_then(|exit| i32::try_from(exit).ok());
            let outcome = match (status, exit) {
                ("declined", _) => Outcome::Denied(DeniedBy::User),
                (_, Some(exit)) => outcome_of_exit(exit),
                ("completed", None) => Outcome::Ok,
                ("failed", None) => super::failed_with(None),
                _ => Outcome::Unknown,
            };
            recorder.finish_call(id, outcome, None);
        }
        _ => {}
    }
}

fn read_change(path: &str, change: &Node<'_>) -> Vec<RecordedChange> {
    let of = |path: &str, action, text| RecordedChange { path: path.into(), action, text };
    match change.find_text("type").unwrap_or_default() {
        "add" => {
            let after = change.get("content").text().unwrap_or_default();
            let text = ChangedText::Whole { before: Some(String::new()), after: after.to_owned() };
            vec![of(path, ChangeAction::Create, text)]
        }
        "delete" => vec![of(path, ChangeAction::Delete, ChangedText::Added(Vec::new()))],
        _ => {
            let text = change.get("unified_diff").text().and_then(parse_unified);
            let text = text.map_or(ChangedText::Unknown, ChangedText::Added);
            match change.find_text("move_path") {
                Some(to) => vec![
                    of(path, ChangeAction::Delete, ChangedText::Added(Vec::new())),
                    of(to, ChangeAction::Create, text),
                ],
                None => vec![of(path, ChangeAction::Edit, text)],
            }
        }
    }
}
