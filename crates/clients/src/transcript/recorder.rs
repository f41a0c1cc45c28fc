//! Puts the records of one file together: calls with their results, answers with their numbers.
//!
//! Each form calls the same few methods. A record that comes again, because a history was forked, resumed or rewritten,
//! counts once, by its id.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use brief_profiles::{Client, HookTools, TranscriptProfile};

use super::diff::parse_patch;
use super::model::{
    CallKind, ChangeAction, ChangedText, Changes, EventBody, Outcome, RecordedChange,
    RecordedEvent, RecordedSession, ToolCall,
};
use super::node::Node;
use crate::hook::{ToolEffect, find_shell_effects};

/// Records may be out of order by this much before it is reported, in milliseconds: parallel writers are.
const LARGEST_DISORDER: u64 = 60_000;

const PATH_KEYS: [&str; 6] =
    ["file_path", "filePath", "absolute_path", "notebook_path", "target_file", "path"];
const OLD_KEYS: [&str; 5] = ["old_string", "oldString", "old_str", "old_text", "oldText"];
const NEW_KEYS: [&str; 6] =
    ["new_string", "newString", "new_str", "new_text", "newText", "new_source"];
const CONTENT_KEYS: [&str; 3] = ["content", "file_text", "new_text"];
const PATCH_KEYS: [&str; 6] = ["patch", "patchText", "patch_text", "input", "command", "cmd"];

/// The tool for patches of Codex, which several clients offer for its models.
const PATCH_TOOL: &str = "apply_patch";

pub(super) struct Recorder<'c> {
    tools: Option<&'c HookTools>,
    pub(super) profile: &'c TranscriptProfile,
    pub(super) session: RecordedSession,
    /// The calls by their ids, as places in the events.
    calls: HashMap<String, usize>,
    /// The ids of records.
    known: HashSet<String>,
    step: u32,
    /// The id of the answer that is being recorded.
    answer: Option<String>,
    /// True after a result or a prompt: the next call is in another answer.
    is_answered: bool,
    pub(super) record: u32,
    last_time: Option<u64>,
}

impl<'c> Recorder<'c> {
    pub(super) fn new(client: &'c Client, profile: &'c TranscriptProfile) -> Recorder<'c> {
        Recorder {
            tools: client.hook.as_ref().map(|hook| &hook.tools),
            profile,
            session: RecordedSession::default(),
            calls: HashMap::new(),
            known: HashSet::new(),
            step: 0,
            answer: None,
            is_answered: true,
            record: 0,
            last_time: None,
        }
    }

    /// Returns false for the id of a record that was there before.
    pub(super) fn is_new(&mut self, id: Option<&str>) -> bool {
        id.is_none_or(|id| self.known.insert(id.to_owned()))
    }

    /// Takes the time of a record.
    pub(super) fn set_time(&mut self, at: Option<u64>) {
        let Some(at) = at else { return };
        let session = &mut self.session;
        if self.last_time.is_some_and(|last| at + LARGEST_DISORDER < last) {
            session.gaps.time_jumps += 1;
        }
        self.last_time = Some(at);
        session.started = Some(session.started.map_or(at, |started| started.min(at)));
        session.ended = Some(session.ended.map_or(at, |ended| ended.max(at)));
    }

    /// Begins an answer of the model, or goes on with it: one answer may have several records.
    pub(super) fn add_answer(&mut self, id: Option<&str>) {
        let is_same = match (id, &self.answer) {
            (Some(id), Some(last)) => id == last,
            (None, None) => !self.is_answered,
            _ => false,
        };
        if !is_same || self.step == 0 {
            self.step += 1;
            self.answer = id.map(str::to_owned);
        }
        self.is_answered = false;
    }

    pub(super) fn add_event(&mut self, body: EventBody) {
        if matches!(body, EventBody::Prompt | EventBody::Compaction) {
            self.is_answered = true;
            self.answer = None;
        }
        let event =
            RecordedEvent { at: self.last_time, step: self.step, record: self.record, body };
        self.session.events.push(event);
    }

    /// Adds a call, with what its input says that it is going to do.
    pub(super) fn add_call(&mut self, id: &str, tool: &str, input: &Node<'_>) {
        if self.calls.contains_key(id) {
            return;
        }
        if self.step == 0 {
            self.add_answer(None);
        }
        let call = self.describe_call(id, tool, input);
        self.calls.insert(id.to_owned(), self.session.events.len());
        self.add_event(EventBody::Call(call));
    }

    pub(super) fn has_call(&self, id: &str) -> bool {
        self.calls.contains_key(id)
    }

    /// Returns a call by its id. A result without a call is a gap.
    pub(super) fn call(&mut self, id: &str) -> Option<&mut ToolCall> {
        let Some(&place) = self.calls.get(id) else {
            self.session.gaps.lone_results += 1;
            return None;
        };
        match self.session.events.get_mut(place).map(|event| &mut event.body) {
            Some(EventBody::Call(call)) => Some(call),
            _ => None,
        }
    }

    /// Sets how a call ended. `changes` are those that the result shows; without them, those of the input count if the call
    /// has succeeded.
    pub(super) fn finish_call(&mut self, id: &str, outcome: Outcome, changes: Option<Changes>) {
        self.is_answered = true;
        if let Some(call) = self.call(id) {
            call.finish(outcome, changes);
        }
    }

    /// Returns the whole, when the file has ended.
    pub(super) fn finish(mut self) -> RecordedSession {
        for event in &mut self.session.events {
            if let EventBody::Call(call) = &mut event.body
                && call.outcome == Outcome::Unfinished
            {
                // Nobody knows whether it has run.
                let known = std::mem::replace(&mut call.changes, Changes::NONE);
                call.changes = match call.kind {
                    CallKind::Edit | CallKind::Shell | CallKind::Other => {
                        Changes::AtLeast(Vec::new())
                    }
                    _ => known,
                };
            }
        }
        self.session
    }

    fn describe_call(&self, id: &str, tool: &str, input: &Node<'_>) -> ToolCall {
        let mut call = ToolCall {
            id: id.to_owned(),
            tool: tool.to_owned(),
            kind: CallKind::Other,
            directory: input.first_text(&["workdir", "cwd"]).map(PathBuf::from),
            commands: Vec::new(),
            reads: Vec::new(),
            skill: None,
            outcome: Outcome::Unfinished,
            changes: Changes::NONE,
        };
        let is = |list: &dyn Fn(&HookTools) -> bool| self.tools.is_some_and(list);
        let paths = || list_paths(input);
        if self.profile.skill.contains_text(tool) {
            call.kind = CallKind::Skill;
            call.skill = input.first_text(&["skill", "skill_name", "name"]).map(str::to_owned);
        } else if self.profile.shell.contains_text(tool)
            || is(&|tools| tools.shell.contains_text(tool))
        {
            call.kind = CallKind::Shell;
            call.commands = list_commands(input);
            let directory = input.first_text(&["directory"]).map(PathBuf::from);
            call.directory = call.directory.take().or(directory);
            call.describe_shell(input);
        } else if tool == PATCH_TOOL || is(&|tools| tools.patch.contains_text(tool)) {
            call.kind = CallKind::Edit;
            let patch = input.text().or_else(|| input.first_text(&PATCH_KEYS));
            call.changes = Changes::Exact(parse_patch(patch.unwrap_or_default()));
        } else if is(&|tools| tools.read.contains_text(tool)) {
            call.kind = CallKind::Read;
            call.reads = paths();
            call.skill = call.reads.iter().find_map(|path| skill_of(path));
        } else if is(&|tools| tools.search.contains_text(tool)) {
            call.kind = CallKind::Search;
        } else if is(&|tools| tools.agent.contains_text(tool)) {
            call.kind = CallKind::Agent;
        } else if is(&|tools| {
            [&tools.edit, &tools.write, &tools.create].iter().any(|list| list.contains_text(tool))
        }) {
            call.kind = CallKind::Edit;
            let is_create = is(&|tools| tools.create.contains_text(tool));
            let is_edit = is(&|tools| tools.edit.contains_text(tool));
            let action = match (is_create, is_edit) {
                (true, _) => ChangeAction::Create,
                (_, true) => ChangeAction::Edit,
                _ if has_any(input, &OLD_KEYS) => ChangeAction::Edit,
                _ => ChangeAction::Write,
            };
            let text = describe_text(input, action);
            let change = |path| RecordedChange { path, action, text: text.clone() };
            call.changes = Changes::Exact(paths().into_iter().map(change).collect());
        } else if tool.contains("__") || tool.starts_with("mcp") {
            // A tool of a server may do anything.
            call.changes = Changes::AtLeast(Vec::new());
        }
        call
    }
}

impl ToolCall {
    fn describe_shell(&mut self, input: &Node<'_>) {
        let is_background = input.is_true("run_in_background") || input.is_true("is_background");
        let mut changes = Vec::new();
        let mut is_exact = !is_background;
        for line in &self.commands {
            let effects = find_shell_effects(line);
            is_exact &= effects.only_reads;
            for touch in effects.touches {
                let action = match touch.how {
                    ToolEffect::Does(brief_dialects::Action::Create) => ChangeAction::Create,
                    ToolEffect::Does(brief_dialects::Action::Edit) => ChangeAction::Edit,
                    ToolEffect::Writes => ChangeAction::Write,
                    _ => {
                        self.skill = self.skill.take().or_else(|| skill_of(&touch.path));
                        self.reads.push(touch.path);
                        continue;
                    }
                };
                let text = ChangedText::Unknown;
                changes.push(RecordedChange { path: touch.path, action, text });
            }
        }
        self.changes = if is_exact { Changes::Exact(changes) } else { Changes::AtLeast(changes) };
    }

    pub(super) fn finish(&mut self, outcome: Outcome, changes: Option<Changes>) {
        self.outcome = outcome;
        if let Some(changes) = changes {
            self.changes = changes;
            return;
        }
        let has_run = match (self.kind, outcome) {
            (_, Outcome::Denied(_)) | (CallKind::Edit, Outcome::Failed { .. }) => false,
            // A command that fails may have written before, as a result that does not say.
            (CallKind::Shell, Outcome::Failed { .. }) => {
                let known = std::mem::replace(&mut self.changes, Changes::NONE);
                if !known.is_exact() {
                    self.changes = Changes::AtLeast(Vec::new());
                }
                return;
            }
            (CallKind::Edit, Outcome::Unknown) => {
                self.changes = Changes::AtLeast(Vec::new());
                return;
            }
            _ => true,
        };
        if !has_run {
            self.changes = Changes::NONE;
        }
    }

    /// Replaces what is known of the only file that the input names by what the result shows.
    pub(super) fn describe_change(
        &mut self,
        path: Option<&str>,
        action: Option<ChangeAction>,
        text: Option<ChangedText>,
    ) {
        let Changes::Exact(changes) = &mut self.changes else { return };
        if changes.is_empty()
            && let Some(path) = path
        {
            let action = ChangeAction::Write;
            changes.push(RecordedChange { path: path.into(), action, text: ChangedText::Unknown });
        }
        let [change] = changes.as_mut_slice() else { return };
        if let Some(path) = path {
            change.path = path.into();
        }
        change.action = action.unwrap_or(change.action);
        if let Some(text) = text {
            change.text = text;
        }
    }
}

/// Returns the skill whose file it is.
fn skill_of(path: &Path) -> Option<String> {
    let is_skill = path.file_name().is_some_and(|name| name == "SKILL.md");
    let name = path.parent().filter(|_| is_skill)?.file_name()?;
    name.to_str().map(str::to_owned)
}

fn has_any(input: &Node<'_>, keys: &[&str]) -> bool {
    keys.iter().any(|key| input.get(key).text().is_some())
}

fn list_paths(input: &Node<'_>) -> Vec<PathBuf> {
    let one = input.first_text(&PATH_KEYS);
    let lists = ["files", "paths"].into_iter().flat_map(|key| input.get(key).list());
    let listed = lists.filter_map(|node| node.text().or_else(|| node.first_text(&PATH_KEYS)));
    one.into_iter().chain(listed).map(PathBuf::from).collect()
}

fn list_commands(input: &Node<'_>) -> Vec<String> {
    let command = ["command", "cmd"].into_iter().map(|key| input.get(key));
    let command = command.into_iter().find(|node| **node != Node::Nothing);
    let mut lines = Vec::new();
    match command {
        Some(Node::Text(line)) => lines.push(line.to_string()),
        // `["bash", "-lc", "npm test"]`
        Some(Node::List(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Node::text).collect();
            lines.push(match words.as_slice() {
                [shell, option, line]
                    if shell.ends_with("sh")
                        && option.starts_with('-')
                        && option.ends_with('c') =>
                {
                    (*line).to_owned()
                }
                words => {
                    let quoted: Vec<_> = words
                        .iter()
                        .map(|word| brief_syntax::shell::quote_shell_word(word))
                        .collect();
                    quoted.join(" ")
                }
            });
        }
        _ => {}
    }
    let listed = input.get("commands").list().iter();
    lines.extend(
        listed.filter_map(|node| {
            node.text().or_else(|| node.find_text("command")).map(str::to_owned)
        }),
    );
    lines
}

/// Returns the texts that an input says it is going to write.
fn describe_text(input: &Node<'_>, action: ChangeAction) -> ChangedText {
    let parts: Vec<(String, String)> = std::iter::once(input)
        .chain(input.get("edits").list())
        .filter_map(|edit| {
            let new = NEW_KEYS.iter().find_map(|key| edit.get(key).text())?;
            let old = OLD_KEYS.iter().find_map(|key| edit.get(key).text())?;
            Some((old.to_owned(), new.to_owned()))
        })
        .collect();
    if !parts.is_empty() {
        return ChangedText::Parts(parts);
    }
    match CONTENT_KEYS.iter().find_map(|key| input.get(key).text()) {
        Some(after) => {
            let before = (action == ChangeAction::Create).then(String::new);
            ChangedText::Whole { before, after: after.to_owned() }
        }
        None => ChangedText::Unknown,
    }
}

/// Returns a time in RFC 3339 as milliseconds since 1970.
pub(super) fn parse_time(text: &str) -> Option<u64> {
    let time = humantime::parse_rfc3339_weak(text).ok()?;
    let since = time.duration_since(std::time::SystemTime::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

/// Returns a time that is a text, or a number of milliseconds.
pub(super) fn time_of(node: &Node<'_>) -> Option<u64> {
    match node {
        Node::Text(text) => parse_time(text),
        Node::Number(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

/// Returns the exit status that a result names after one of these words.
pub(super) fn find_exit(text: &str, before: &[&str]) -> Option<i32> {
    before.iter().find_map(|words| {
        let (_, rest) = text.rsplit_once(words)?;
        let rest = rest.trim_start_matches([' ', ':']);
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '-');
        rest[..end.unwrap_or(rest.len())].parse().ok()
    })
}

/// Returns the outcome of a command with this exit status.
pub(super) fn outcome_of_exit(exit: i32) -> Outcome {
    if exit == 0 { Outcome::Ok } else { Outcome::Failed { exit: Some(exit) } }
}
