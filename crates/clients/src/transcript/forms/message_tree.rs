//! Lines with messages that name the message before them: a call is a block of an answer, and its result a message.

use std::path::PathBuf;

use super::super::diff::parse_unified;
use super::super::model::{CallKind, ChangedText, EventBody, Outcome};
use super::super::node::{Keys, Node};
use super::super::recorder::{Recorder, find_exit, time_of};
use super::joined_text;

pub(super) const KEYS: Keys = Keys::new(&[
    "type",
    "version",
    "id",
    "timestamp",
    "cwd",
    "parentSession",
    "message",
    "role",
    "content",
    "text",
    "name",
    "arguments",
    "toolCallId",
    "toolName",
    "isError",
    "details",
    "patch",
    "path",
    "edits",
    "oldText",
    "newText",
    "command",
]);

/// Kinds of records that say nothing about calls, as they were seen or are documented.
const OTHER_KINDS: [&str; 9] = [
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "leaf",
    "model_change",
    "session_info",
    "thinking_level_change",
    "usage",
];

pub(super) fn read_record(recorder: &mut Recorder<'_>, record: &Node<'_>) {
    let kind = record.find_text("type").unwrap_or_default();
    if kind != "session" && !recorder.is_new(record.find_text("id")) {
        return;
    }
    recorder.set_time(time_of(record.get("timestamp")));
    match kind {
        "session" => {
            let session = &mut recorder.session;
            session.id = record.owned("id").unwrap_or_default();
            session.directory = record.find_text("cwd").map(PathBuf::from);
            session.parent = record.owned("parentSession");
        }
        "message" => read_message(recorder, record),
        "compaction" => recorder.add_event(EventBody::Compaction),
        kind if OTHER_KINDS.contains(&kind) => {}
        kind => recorder.session.gaps.add_unknown_kind(kind),
    }
}

fn read_message(recorder: &mut Recorder<'_>, record: &Node<'_>) {
    let message = record.get("message");
    match message.find_text("role").unwrap_or_default() {
        "user" => recorder.add_event(EventBody::Prompt),
        "assistant" => {
            recorder.add_answer(record.find_text("id"));
            for block in message.get("content").list() {
                if block.find_text("type") == Some("toolCall")
                    && let Some(id) = block.find_text("id")
                {
                    let tool = block.find_text("name").unwrap_or_default();
                    recorder.add_call(id, tool, block.get("arguments"));
                }
            }
        }
        "toolResult" => {
            let Some(id) = message.find_text("toolCallId") else { return };
            let Some(call) = recorder.call(id) else { return };
            let text = joined_text(message.get("content"));
            let outcome = match message.get("isError").flag() {
                Some(true) => super::failed_with(find_exit(&text, &["Command exited with code "])),
                Some(false) => Outcome::Ok,
                None => Outcome::Unknown,
            };
            if outcome == Outcome::Ok
                && call.kind == CallKind::Edit
                && let Some(runs) = message.at(&["details", "patch"]).text().and_then(parse_unified)
            {
                call.describe_change(None, None, Some(ChangedText::Added(runs)));
            }
            recorder.finish_call(id, outcome, None);
        }
        _ => {}
    }
}
