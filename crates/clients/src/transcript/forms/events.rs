//! Lines with events: a tool starts, and is complete. A subagent's events are among those of its parent.

use std::path::PathBuf;

use super::super::diff::parse_unified;
use super::super::model::{CallKind, ChangeAction, ChangedText, DeniedBy, EventBody, Outcome};
use super::super::node::{Keys, Node};
use super::super::recorder::{Recorder, find_exit, outcome_of_exit, time_of};

pub(super) const KEYS: Keys = Keys::new(&[
    "type",
    "data",
    "id",
    "timestamp",
    "agentId",
    "sessionId",
    "copilotVersion",
    "context",
    "cwd",
    "headCommit",
    "messageId",
    "toolCallId",
    "toolName",
    "arguments",
    "turnId",
    "success",
    "result",
    "content",
    "detailedContent",
    "error",
    "code",
    "message",
    "shellExecution",
    "exitCode",
    "fileEdits",
    "path",
    "kind",
    "old_str",
    "new_str",
    "file_text",
    "command",
    "skill",
    "name",
    "paths",
    "patch",
    "input",
]);

/// The system's message is long, and says nothing about calls.
pub(super) fn skips_line(line: &[u8]) -> bool {
    line.starts_with(b"{\"type\":\"system.message\"")
}

pub(super) fn read_record(recorder: &mut Recorder<'_>, record: &Node<'_>) {
    if !recorder.is_new(record.find_text("id")) {
        return;
    }
    recorder.set_time(time_of(record.get("timestamp")));
    let data = record.get("data");
    let kind = record.find_text("type").unwrap_or_default();
    match kind {
        "session.start" => {
            let session = &mut recorder.session;
            session.id = data.owned("sessionId").unwrap_or_default();
            session.version = data.owned("copilotVersion");
            let context = data.get("context");
            session.directory = context.find_text("cwd").map(PathBuf::from);
            session.head = context.owned("headCommit");
        }
        "user.message" => recorder.add_event(EventBody::Prompt),
        "assistant.message" => recorder.add_answer(data.find_text("messageId")),
        "tool.execution_start" => {
            let Some(id) = data.find_text("toolCallId") else { return };
            if recorder.has_call(id) {
                return;
            }
            let tool = data.find_text("toolName").unwrap_or_default();
            recorder.add_call(id, tool, data.get("arguments"));
        }
        "tool.execution_complete" => complete_call(recorder, data),
        "session.compaction_complete" => recorder.add_event(EventBody::Compaction),
        _ if kind.contains('.') => {}
        kind => recorder.session.gaps.add_unknown_kind(kind),
    }
}

fn complete_call(recorder: &mut Recorder<'_>, data: &Node<'_>) {
    let Some(id) = data.find_text("toolCallId") else { return };
    let Some(call) = recorder.call(id) else { return };
    let exit = data.at(&["shellExecution", "exitCode"]).number();
    let exit = exit.and_then(|exit| i32::try_from(exit).ok());
    let error = data.get("error");
    let outcome = match data.get("success").flag() {
        Some(true) => exit.map_or(Outcome::Ok, outcome_of_exit),
        Some(false) if error.find_text("code") == Some("denied") => {
            let is_hook = error.find_text("message").is_some_and(|text| text.contains("hook"));
            Outcome::Denied(if is_hook { DeniedBy::Hook } else { DeniedBy::Settings })
        }
        Some(false) if error.find_text("code") == Some("rejected") => {
            Outcome::Denied(DeniedBy::User)
        }
        Some(false) => {
            let text = error.find_text("message").unwrap_or_default();
            super::failed_with(exit.or_else(|| find_exit(text, &["exit code "])))
        }
        None => Outcome::Unknown,
    };
    if outcome == Outcome::Ok && call.kind == CallKind::Edit {
        let action = match data.get("fileEdits").list() {
            [only] => match only.find_text("kind") {
                Some("create") => Some(ChangeAction::Create),
                Some("edit") => Some(ChangeAction::Edit),
                Some("delete") => Some(ChangeAction::Delete),
                _ => None,
            },
            _ => None,
        };
        let diff = data.at(&["result", "detailedContent"]).text().and_then(parse_unified);
        call.describe_change(None, action, diff.map(ChangedText::Added));
        if action == Some(ChangeAction::Edit) && call.tool == "create" {
            call.describe_change(None, Some(ChangeAction::Write), None);
        }
    }
    recorder.finish_call(id, outcome, None);
}
