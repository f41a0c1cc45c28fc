//! Lines with whole messages, each with its calls and their results. A message comes again when it grows, and a resumed
//! history is written anew with other times and without results: the record is a union by id.

use super::super::model::{CallKind, ChangeAction, ChangedText, DeniedBy, EventBody, Outcome};
use super::super::node::{Keys, Node};
use super::super::recorder::{Recorder, find_exit, time_of};

pub(super) const KEYS: Keys = Keys::new(&[
    "sessionId",
    "startTime",
    "kind",
    "$set",
    "messages",
    "id",
    "timestamp",
    "type",
    "content",
    "text",
    "toolCalls",
    "name",
    "args",
    "status",
    "result",
    "functionResponse",
    "response",
    "output",
    "error",
    "resultDisplay",
    "filePath",
    "originalContent",
    "newContent",
    "isNewFile",
    "file_path",
    "absolute_path",
    "path",
    "old_string",
    "new_string",
    "command",
    "dir_path",
    "directory",
    "is_background",
    "paths",
    "functionCall",
]);

pub(super) fn read_record(recorder: &mut Recorder<'_>, record: &Node<'_>) {
    let session = &mut recorder.session;
    if let Some(id) = record.find_text("sessionId") {
        id.clone_into(&mut session.id);
        let time = time_of(record.get("startTime"));
        recorder.set_time(time);
        return;
    }
    let set = record.get("$set");
    if set.is_object() {
        for message in set.get("messages").list() {
            read_message(recorder, message, true);
        }
    } else if record.find_text("id").is_some() {
        read_message(recorder, record, false);
    } else if let Some(kind) = record.find_text("type") {
        recorder.session.gaps.add_unknown_kind(kind);
    }
}

fn read_message(recorder: &mut Recorder<'_>, message: &Node<'_>, is_rewritten: bool) {
    let id = message.find_text("id");
    // A rewritten history has new times.
    if !is_rewritten {
        recorder.set_time(time_of(message.get("timestamp")));
    }
    match message.find_text("type").unwrap_or_default() {
        "gemini" => {
            recorder.add_answer(id);
            for call in message.get("toolCalls").list() {
                read_call(recorder, call);
            }
        }
        "user" => {
            let parts = message.get("content");
            let is_result =
                parts.list().iter().any(|part| part.get("functionResponse").is_object());
            let is_context = super::has_words(parts, &["<session_context>"]);
            if !is_result && !is_context && recorder.is_new(id) {
                recorder.add_event(EventBody::Prompt);
            }
        }
        "info" | "warning" | "error" | "" => {}
        kind => recorder.session.gaps.add_unknown_kind(kind),
    }
}

fn read_call(recorder: &mut Recorder<'_>, node: &Node<'_>) {
    let Some(id) = node.find_text("id") else { return };
    recorder.add_call(id, node.find_text("name").unwrap_or_default(), node.get("args"));
    let Some(call) = recorder.call(id) else { return };
    // The first result is the one with everything.
    if call.outcome != Outcome::Unfinished {
        return;
    }
    let kind = call.kind;
    let response =
        node.get("result").list().first().map(|part| part.at(&["functionResponse", "response"]));
    let text = response.and_then(|response| response.first_text(&["output", "error"]));
    let text = text.unwrap_or_default();
    let outcome = match node.find_text("status") {
        // A command that fails is a success here.
        Some("success") => match find_exit(text, &["\nExit Code: "]) {
            Some(exit) if kind == CallKind::Shell => super::failed_with(Some(exit)),
            _ => Outcome::Ok,
        },
        Some("error") if text.contains("Tool execution blocked") => Outcome::Denied(DeniedBy::Hook),
        Some("error") => super::failed_with(find_exit(text, &["Exit Code: "])),
        Some("cancelled") => Outcome::Denied(DeniedBy::User),
        _ if response.is_some() => Outcome::Unknown,
        _ => return,
    };
    let display = node.get("resultDisplay");
    if outcome == Outcome::Ok && kind == CallKind::Edit && display.is_object() {
        describe_display(call, display);
    }
    recorder.finish_call(id, outcome, None);
}

/// Takes the texts before and after an edit.
pub(super) fn describe_display(call: &mut super::super::model::ToolCall, display: &Node<'_>) {
    let action = match display.get("isNewFile").flag() {
        Some(true) => Some(ChangeAction::Create),
        Some(false) => Some(ChangeAction::Edit),
        // An empty file looks like none.
        None if display.find_text("originalContent").is_some() => Some(ChangeAction::Edit),
        None => None,
    };
    let before = display.get("originalContent").text().map(str::to_owned);
    let text = display.get("newContent").text().map(|after| ChangedText::Whole {
        before: before.or_else(|| (action == Some(ChangeAction::Create)).then(String::new)),
        after: after.to_owned(),
    });
    call.describe_change(display.find_text("filePath"), action, text);
}
