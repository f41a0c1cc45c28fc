//! Lines with messages of content blocks; `toolUseResult` beside a result says what the tool did.

use std::path::PathBuf;

use super::super::diff::read_hunks;
use super::super::model::{
    CallKind, ChangeAction, ChangedText, Changes, DeniedBy, EventBody, Outcome, RecordedChange,
};
use super::super::node::{Keys, Node};
use super::super::recorder::{Recorder, find_exit, time_of};
use super::joined_text;

pub(super) const KEYS: Keys = Keys::new(&[
    "type",
    "subtype",
    "uuid",
    "timestamp",
    "cwd",
    "sessionId",
    "version",
    "agentId",
    "isSidechain",
    "gitBranch",
    "message",
    "id",
    "role",
    "content",
    "text",
    "tool_use_id",
    "is_error",
    "toolUseResult",
    "filePath",
    "structuredPatch",
    "newStart",
    "lines",
    "originalFile",
    "oldString",
    "newString",
    "replaceAll",
    "userModified",
    "bashEditDiff",
    "files",
    "hunks",
    "created",
    "deleted",
    "moreFiles",
    "changedFiles",
    "backgroundTaskId",
    "permissionDecision",
    "decision",
    "source",
    "toolDenialKind",
    "attachment",
    "path",
    "promptId",
    "isMeta",
    "isCompactSummary",
    "file_path",
    "notebook_path",
    "old_string",
    "new_string",
    "new_source",
    "edits",
    "command",
    "run_in_background",
    "skill",
    "name",
    "input",
]);

/// Kinds of records that say nothing about calls, as they were seen.
const OTHER_KINDS: [&str; 15] = [
    "agent-name",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "cost-state",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "pr-link",
    "queue-operation",
    "summary",
    "tools-used",
];

/// Requests repeat whole conversations.
pub(super) fn skips_line(line: &[u8]) -> bool {
    line.starts_with(b"{\"type\":\"api-request")
}

pub(super) fn read_record(recorder: &mut Recorder<'_>, record: &Node<'_>) {
    let kind = record.find_text("type").unwrap_or_default();
    if OTHER_KINDS.contains(&kind) {
        return;
    }
    let session = &mut recorder.session;
    if session.id.is_empty() {
        session.id = record.owned("sessionId").unwrap_or_default();
    }
    let is_sub = record.is_true("isSidechain") || record.find_text("agentId").is_some();
    if session.agent.is_none() && is_sub {
        session.agent = record.owned("agentId");
    }
    session.directory =
        session.directory.take().or_else(|| record.find_text("cwd").map(PathBuf::from));
    session.version = record.owned("version").or(session.version.take());
    if !recorder.is_new(record.find_text("uuid")) {
        return;
    }
    recorder.set_time(time_of(record.get("timestamp")));
    let message = record.get("message");
    match kind {
        "assistant" => {
            recorder.add_answer(message.find_text("id"));
            for block in message.get("content").list() {
                if block.find_text("type") == Some("tool_use")
                    && let Some(id) = block.find_text("id")
                {
                    let tool = block.find_text("name").unwrap_or_default();
                    recorder.add_call(id, tool, block.get("input"));
                    if let (Some(cwd), Some(call)) = (record.find_text("cwd"), recorder.call(id)) {
                        call.directory = Some(PathBuf::from(cwd));
                    }
                }
            }
        }
        "user" => read_user(recorder, record, message),
        "attachment" => {
            let attachment = record.get("attachment");
            if attachment.find_text("type") == Some("instructions") {
                let files = attachment.get("files").list().iter();
                let files = files.filter_map(|file| file.find_text("path")).map(PathBuf::from);
                recorder.add_event(EventBody::Loaded(files.collect()));
            }
        }
        "system" => {
            if record.find_text("subtype") == Some("compact_boundary") {
                recorder.add_event(EventBody::Compaction);
            }
        }
        "progress" => {}
        kind => recorder.session.gaps.add_unknown_kind(kind),
    }
}

fn read_user(recorder: &mut Recorder<'_>, record: &Node<'_>, message: &Node<'_>) {
    let content = message.get("content");
    let results: Vec<_> = content
        .list()
        .iter()
        .filter(|block| block.find_text("type") == Some("tool_result"))
        .collect();
    if results.is_empty() {
        let is_said = !record.is_true("isMeta") && !record.is_true("isCompactSummary");
        if is_said && record.find_text("promptId").is_some() {
            recorder.add_event(EventBody::Prompt);
        }
        return;
    }
    for block in results {
        let Some(id) = block.find_text("tool_use_id") else { continue };
        let outcome = find_outcome(record, block);
        let version = recorder.session.version.clone();
        let shows_shell =
            is_since(version.as_deref(), recorder.profile.shell_changes_since.as_deref())
                && record.find_text("gitBranch").is_some();
        let result = record.get("toolUseResult");
        let Some(call) = recorder.call(id) else { continue };
        let changes = match call.kind {
            CallKind::Shell if outcome == Outcome::Ok => shell_changes(result, shows_shell),
            _ => None,
        };
        if outcome == Outcome::Ok && call.kind == CallKind::Edit && result.is_object() {
            let action = match (result.find_text("type"), result.get("originalFile")) {
                (Some("create"), _) => Some(ChangeAction::Create),
                (Some("update"), _) | (_, Node::Text(_)) => Some(ChangeAction::Edit),
                _ => None,
            };
            let text = match action {
                // A new file has no hunks: all of its lines are new.
                Some(ChangeAction::Create) => None,
                _ => whole_texts(result).or_else(|| match result.get("structuredPatch") {
                    Node::List(hunks) => read_hunks(hunks).map(ChangedText::Added),
                    _ => None,
                }),
            };
            call.describe_change(result.find_text("filePath"), action, text);
            call.complete_creation();
        }
        recorder.finish_call(id, outcome, changes);
    }
}

/// Returns the texts before and after an edit, where the result has the one and shows how to make the other.
fn whole_texts(result: &Node<'_>) -> Option<ChangedText> {
    let before = result.get("originalFile").text()?;
    if result.is_true("userModified") {
        return None;
    }
    let after = match (result.get("oldString").text(), result.get("newString").text()) {
        (Some(old), Some(new)) if !old.is_empty() && before.contains(old) => {
            if result.is_true("replaceAll") {
                before.replace(old, new)
            } else {
                before.replacen(old, new, 1)
            }
        }
        (None, None) => result.get("content").text()?.to_owned(),
        _ => return None,
    };
    Some(ChangedText::Whole { before: Some(before.to_owned()), after })
}

fn find_outcome(record: &Node<'_>, block: &Node<'_>) -> Outcome {
    let decision = record.get("permissionDecision");
    if decision.find_text("decision") == Some("reject")
        || record.find_text("toolDenialKind").is_some()
    {
        return Outcome::Denied(match decision.find_text("source") {
            Some("hook") => DeniedBy::Hook,
            Some("user") => DeniedBy::User,
            None if record.find_text("toolDenialKind") == Some("user-rejected") => DeniedBy::User,
            _ => DeniedBy::Settings,
        });
    }
    if block.is_true("is_error") {
        let text = joined_text(block.get("content"));
        return super::failed_with(find_exit(&text, &["Exit code "]));
    }
    Outcome::Ok
}

/// Returns what the client saw a command change. It looks at the files that git knows or would take.
fn shell_changes(result: &Node<'_>, is_shown: bool) -> Option<Changes> {
    let diff = result.get("bashEditDiff");
    if !diff.is_object() {
        let is_background = result.find_text("backgroundTaskId").is_some();
        return (is_shown && result.is_object() && !is_background).then_some(Changes::NONE);
    }
    let mut changes: Vec<RecordedChange> = Vec::new();
    for file in diff.get("files").list() {
        let Some(path) = file.find_text("filePath") else { continue };
        let action = match (file.is_true("created"), file.is_true("deleted")) {
            (true, _) => ChangeAction::Create,
            (_, true) => ChangeAction::Delete,
            _ => ChangeAction::Edit,
        };
        let added = read_hunks(file.get("hunks").list());
        let is_shown = !file.get("hunks").list().is_empty() || action == ChangeAction::Delete;
        let text = added.filter(|_| is_shown).map_or(ChangedText::Unknown, ChangedText::Added);
        changes.push(RecordedChange { path: path.into(), action, text });
    }
    for path in diff.get("changedFiles").list().iter().filter_map(Node::text) {
        if !changes.iter().any(|change| change.path.as_os_str() == path) {
            let (action, text) = (ChangeAction::Write, ChangedText::Unknown);
            changes.push(RecordedChange { path: path.into(), action, text });
        }
    }
    let is_whole = diff.get("moreFiles").number().is_none_or(|more| more == 0)
        || !diff.get("changedFiles").list().is_empty();
    Some(if is_whole { Changes::Exact(changes) } else { Changes::AtLeast(changes) })
}

/// Returns whether a version is at least another one.
fn is_since(version: Option<&str>, since: Option<&str>) -> bool {
    let parts = |text: &str| -> Vec<u32> {
        text.split(['.', '-']).map_while(|part| part.parse().ok()).collect()
    };
    version.zip(since).is_some_and(|(version, since)| parts(version) >= parts(since))
}

impl super::super::model::ToolCall {
    /// Says that the whole text of a new file is new.
    pub(super) fn complete_creation(&mut self) {
        let Changes::Exact(changes) = &mut self.changes else { return };
        for change in changes {
            if change.action == ChangeAction::Create
                && let ChangedText::Whole { before, .. } = &mut change.text
            {
                *before = Some(String::new());
            }
        }
    }
}
