//! One document with all messages, which the client writes anew each time.

use super::super::model::{CallKind, EventBody, Outcome};
use super::super::node::{Keys, Node};
use super::super::recorder::{Recorder, find_exit, time_of};
use super::messages::read_tool_uses;

pub(in super::super) const KEYS: Keys = Keys::new(&[
    "sessionId",
    "agent",
    "origin",
    "version",
    "messages",
    "id",
    "role",
    "content",
    "ts",
    "type",
    "text",
    "name",
    "input",
    "tool_use_id",
    "success",
    "error",
    "path",
    "files",
    "old_text",
    "new_text",
    "command",
    "commands",
    "patch",
    "query",
    "result",
    "cwd",
    "workspace_root",
    "session_id",
    "parent_session_id",
]);

/// The keys of a result that is a text of JSON.
const RESULT_KEYS: Keys = Keys::new(&["success", "error", "result"]);

pub(in super::super) fn read_document(recorder: &mut Recorder<'_>, document: &Node<'_>) {
    let session = &mut recorder.session;
    session.id = document.owned("sessionId").unwrap_or_default();
    session.version = document.at(&["origin", "version"]).text().map(str::to_owned);
    let agent = document.find_text("agent").filter(|agent| *agent != "lead");
    session.agent = agent.map(str::to_owned);
    for (index, message) in document.get("messages").list().iter().enumerate() {
        recorder.record = u32::try_from(index + 1).unwrap_or(u32::MAX);
        if !recorder.is_new(message.find_text("id")) {
            continue;
        }
        recorder.set_time(time_of(message.get("ts")));
        match message.find_text("role").unwrap_or_default() {
            "assistant" => {
                recorder.add_answer(message.find_text("id"));
                read_tool_uses(recorder, message);
            }
            "user" => read_user(recorder, message),
            kind => recorder.session.gaps.add_unknown_kind(kind),
        }
    }
}

fn read_user(recorder: &mut Recorder<'_>, message: &Node<'_>) {
    if super::has_words(message.get("content"), &["<user_input"]) {
        recorder.add_event(EventBody::Prompt);
    }
    for block in message.get("content").list() {
        let id = block.find_text("tool_use_id");
        if block.find_text("type") != Some("tool_result") {
            continue;
        }
        let Some(id) = id else { continue };
        let Some(call) = recorder.call(id) else { continue };
        let outcome = match block.get("content") {
            Node::Text(text) => match RESULT_KEYS.parse(text.as_bytes()) {
                Ok(result) => outcome_of(&result),
                Err(_) => Outcome::Unknown,
            },
            // One result for each command or file.
            Node::List(results) => {
                let mut outcomes = results.iter().map(outcome_of);
                let first = outcomes.next().unwrap_or(Outcome::Unknown);
                outcomes.fold(first, |all, one| if all == Outcome::Ok { one } else { all })
            }
            _ => Outcome::Unknown,
        };
        if call.kind == CallKind::Edit && outcome == Outcome::Ok {
            describe_creation(call, block);
        }
        recorder.finish_call(id, outcome, None);
    }
}

fn outcome_of(result: &Node<'_>) -> Outcome {
    match result.get("success").flag() {
        Some(true) => Outcome::Ok,
        Some(false) => {
            let error = result.find_text("error").unwrap_or_default();
            super::failed_with(find_exit(error, &["Command exited with code "]))
        }
        None if result.find_text("error").is_some() => super::failed_with(None),
        None => Outcome::Unknown,
    }
}

/// The result says whether a file was new.
fn describe_creation(call: &mut super::super::model::ToolCall, block: &Node<'_>) {
    let Some(text) = block.get("content").text() else { return };
    let Ok(result) = RESULT_KEYS.parse(text.as_bytes()) else { return };
    if result.find_text("result").is_some_and(|words| words.starts_with("File created")) {
        call.describe_change(None, Some(super::super::model::ChangeAction::Create), None);
        call.complete_creation();
    }
}
