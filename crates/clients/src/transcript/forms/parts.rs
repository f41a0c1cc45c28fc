//! Lines with messages in parts; `toolCallResult` beside a result says what the tool did.

use std::path::PathBuf;

use super::super::model::{CallKind, ChangeAction, DeniedBy, EventBody, Outcome};
use super::super::node::{Keys, Node};
use super::super::recorder::{Recorder, outcome_of_exit, time_of};
use super::tool_calls::describe_display;

pub(super) const KEYS: Keys = Keys::new(&[
    "uuid",
    "sessionId",
    "timestamp",
    "type",
    "subtype",
    "provenance",
    "cwd",
    "version",
    "message",
    "parts",
    "functionCall",
    "id",
    "name",
    "args",
    "toolCallResult",
    "callId",
    "status",
    "errorType",
    "executionStatus",
    "resultDisplay",
    "filePath",
    "originalContent",
    "newContent",
    "isNewFile",
    "exitCode",
    "directory",
    "file_path",
    "absolute_path",
    "path",
    "old_string",
    "new_string",
    "content",
    "command",
    "is_background",
    "paths",
    "skill",
    "agentId",
    "edits",
    "functionResponse",
    "response",
    "output",
]);

pub(super) fn read_record(recorder: &mut Recorder<'_>, record: &Node<'_>) {
    let session = &mut recorder.session;
    if session.id.is_empty() {
        session.id = record.owned("sessionId").unwrap_or_default();
        session.agent = record.owned("agentId");
    }
    session.directory =
        session.directory.take().or_else(|| record.find_text("cwd").map(PathBuf::from));
    session.version = record.owned("version").or(session.version.take());
    if !recorder.is_new(record.find_text("uuid")) {
        return;
    }
    recorder.set_time(time_of(record.get("timestamp")));
    match record.find_text("type").unwrap_or_default() {
        "user" => {
            if record.find_text("provenance").is_none_or(|from| from == "real_user") {
                recorder.add_event(EventBody::Prompt);
            }
        }
        "assistant" => {
            recorder.add_answer(record.find_text("uuid"));
            for part in record.at(&["message", "parts"]).list() {
                let call = part.get("functionCall");
                if let Some(id) = call.find_text("id") {
                    let tool = call.find_text("name").unwrap_or_default();
                    recorder.add_call(id, tool, call.get("args"));
                }
            }
        }
        "tool_result" => {
            let part = record.at(&["message", "parts"]).list().first();
            let told = part.map(|part| part.at(&["functionResponse", "response"]));
            let told = told.and_then(|told| told.find_text("output")).unwrap_or_default();
            read_result(recorder, record.get("toolCallResult"), told);
        }
        "system" => {
            if record.find_text("subtype").is_some_and(|kind| kind.contains("compress")) {
                recorder.add_event(EventBody::Compaction);
            }
        }
        kind => recorder.session.gaps.add_unknown_kind(kind),
    }
}

/// Reads what a tool did; `told` is what the model saw.
fn read_result(recorder: &mut Recorder<'_>, result: &Node<'_>, told: &str) {
    let Some(id) = result.find_text("callId") else { return };
    let Some(call) = recorder.call(id) else { return };
    let display = result.get("resultDisplay");
    let exit = display.get("exitCode").number().and_then(|exit| i32::try_from(exit).ok());
    let error = result.find_text("errorType");
    let has_not_run = result.find_text("executionStatus") == Some("not_started");
    let outcome = match result.find_text("status") {
        _ if error == Some("execution_denied") => Outcome::Denied(DeniedBy::Hook),
        Some("cancelled") => Outcome::Denied(DeniedBy::User),
        Some("error") if has_not_run => Outcome::Denied(DeniedBy::Settings),
        // A shell that asks for a read before an edit has not run, either.
        Some("error")
            if call.kind == CallKind::Shell
                && exit.is_none()
                && error == Some("edit_requires_prior_read") =>
        {
            Outcome::Denied(DeniedBy::Settings)
        }
        Some("error") => super::failed_with(exit),
        Some("success") => exit.map_or(Outcome::Ok, outcome_of_exit),
        _ => Outcome::Unknown,
    };
    if let Some(directory) = display.find_text("directory") {
        call.directory = Some(PathBuf::from(directory));
    }
    if outcome == Outcome::Ok && call.kind == CallKind::Edit && display.is_object() {
        describe_display(call, display);
        if told.starts_with("Successfully created") {
            call.describe_change(None, Some(ChangeAction::Create), None);
        }
    }
    recorder.finish_call(id, outcome, None);
}
