//! Lines with messages of content blocks in envelopes; what a hook answered is a message, too.

use std::path::PathBuf;

use super::super::model::{
    AddedLines, CallKind, ChangeAction, ChangedText, DeniedBy, EventBody, Outcome, ToolCall,
};
use super::super::node::{Keys, Node};
use super::super::recorder::{Recorder, find_exit, time_of};
use super::joined_text;

pub(super) const KEYS: Keys = Keys::new(&[
    "type",
    "id",
    "timestamp",
    "cwd",
    "message",
    "role",
    "content",
    "text",
    "name",
    "input",
    "tool_use_id",
    "is_error",
    "visibility",
    "hookEventName",
    "hookToolCallId",
    "hookResults",
    "stdout",
    "exitCode",
    "file_path",
    "path",
    "old_str",
    "new_str",
    "command",
    "skill",
    "changes",
    "patch",
    "parent",
    "parentSessionId",
]);

/// The keys of an edit's result, which is a text of JSON.
const RESULT_KEYS: Keys =
    Keys::new(&["success", "diffLines", "type", "content", "lineNumber", "new"]);

/// The keys of a hook's answer.
const ANSWER_KEYS: Keys = Keys::new(&["hookSpecificOutput", "permissionDecision", "decision"]);

/// Kinds of records that say nothing about calls, as they were seen.
const OTHER_KINDS: [&str; 4] = ["agent_turn_outcome", "session_end", "todo_state", "usage"];

pub(super) fn read_record(recorder: &mut Recorder<'_>, record: &Node<'_>) {
    let kind = record.find_text("type").unwrap_or_default();
    recorder.set_time(time_of(record.get("timestamp")));
    match kind {
        "session_start" => {
            let session = &mut recorder.session;
            session.id = record.owned("id").unwrap_or_default();
            session.directory = record.find_text("cwd").map(PathBuf::from);
            session.parent = record.first_text(&["parent", "parentSessionId"]).map(str::to_owned);
        }
        "message" => {
            if recorder.is_new(record.find_text("id")) {
                read_message(recorder, record);
            }
        }
        "compaction_state" => recorder.add_event(EventBody::Compaction),
        kind if OTHER_KINDS.contains(&kind) => {}
        kind => recorder.session.gaps.add_unknown_kind(kind),
    }
}

fn read_message(recorder: &mut Recorder<'_>, record: &Node<'_>) {
    let message = record.get("message");
    match message.find_text("hookEventName") {
        Some("PreToolUse") => return read_hook(recorder, message),
        Some(_) => return,
        None => {}
    }
    match message.find_text("role").unwrap_or_default() {
        "assistant" => {
            recorder.add_answer(record.find_text("id"));
            read_tool_uses(recorder, message);
        }
        "user" => {
            let blocks = message.get("content").list();
            let is_result = |block: &&Node<'_>| block.find_text("type") == Some("tool_result");
            if !blocks.iter().any(|block| is_result(&block)) {
                if record.find_text("visibility") != Some("llm_only")
                    && message.find_text("visibility") != Some("llm_only")
                {
                    recorder.add_event(EventBody::Prompt);
                }
                return;
            }
            for block in blocks.iter().filter(is_result) {
                read_result(recorder, block);
            }
        }
        _ => {}
    }
}

/// Adds the calls of an answer.
pub(super) fn read_tool_uses(recorder: &mut Recorder<'_>, message: &Node<'_>) {
    for block in message.get("content").list() {
        if block.find_text("type") == Some("tool_use")
            && let Some(id) = block.find_text("id")
        {
            recorder.add_call(id, block.find_text("name").unwrap_or_default(), block.get("input"));
        }
    }
}

fn read_hook(recorder: &mut Recorder<'_>, message: &Node<'_>) {
    let Some(id) = message.find_text("hookToolCallId") else { return };
    let is_denied = message.get("hookResults").list().iter().any(|result| {
        let answer = result.find_text("stdout").map(|text| ANSWER_KEYS.parse(text.as_bytes()));
        let says_so = answer.and_then(Result::ok).is_some_and(|answer| {
            let decision = answer.at(&["hookSpecificOutput", "permissionDecision"]).text();
            decision
                .or_else(|| answer.find_text("decision"))
                .is_some_and(|word| matches!(word, "deny" | "block"))
        });
        says_so || result.get("exitCode").number() == Some(2)
    });
    if is_denied && recorder.has_call(id) {
        recorder.finish_call(id, Outcome::Denied(DeniedBy::Hook), None);
    }
}

fn read_result(recorder: &mut Recorder<'_>, block: &Node<'_>) {
    let Some(id) = block.find_text("tool_use_id") else { return };
    let Some(call) = recorder.call(id) else { return };
    if matches!(call.outcome, Outcome::Denied(_)) {
        return;
    }
    let text = joined_text(block.get("content"));
    let exit = find_exit(&text, &["[Process exited with code "]);
    let outcome = match block.get("is_error").flag() {
        Some(true) if call.kind == CallKind::Shell && exit.is_none() => {
            Outcome::Denied(DeniedBy::Settings)
        }
        Some(true) => super::failed_with(exit.filter(|exit| *exit != 0)),
        Some(false) => Outcome::Ok,
        None => Outcome::Unknown,
    };
    if outcome == Outcome::Ok && call.kind == CallKind::Edit {
        describe_edit(call, &text);
    }
    recorder.finish_call(id, outcome, None);
}

fn describe_edit(call: &mut ToolCall, text: &str) {
    let Ok(result) = RESULT_KEYS.parse(text.as_bytes()) else { return };
    let lines = result.get("diffLines").list();
    if lines.is_empty() {
        return;
    }
    let mut runs: Vec<AddedLines> = Vec::new();
    let mut is_open = false;
    for line in lines {
        let content = line.get("content").text().unwrap_or_default();
        if line.find_text("type") != Some("added") {
            is_open = false;
            continue;
        }
        match runs.last_mut().filter(|_| is_open) {
            Some(run) => run.text.extend(["\n", content]),
            None => {
                let number = line.at(&["lineNumber", "new"]).number();
                let first = number.and_then(|number| usize::try_from(number).ok());
                runs.push(AddedLines { first, text: content.to_owned() });
            }
        }
        is_open = true;
    }
    call.describe_change(None, Some(ChangeAction::Edit), Some(ChangedText::Added(runs)));
}
