//! A recorded conversation in our terms, whichever client wrote it.
//!
//! What a record does not show is *unknown* here, never empty: [`Changes::AtLeast`] says that there may be more, and a
//! change without `added` lines says nothing about its text.

use std::path::PathBuf;

/// A conversation, or the part of one that a subagent had.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordedSession {
    /// The client's id.
    pub id: String,
    /// The subagent that it belongs to; `None` for the main agent.
    pub agent: Option<String>,
    /// The session that it was started from.
    pub parent: Option<String>,
    /// The version of the client.
    pub version: Option<String>,
    /// The directory that the client was started in, by the record and not by the name of its file.
    pub directory: Option<PathBuf>,
    /// The commit that the project was at, if the client records it.
    pub head: Option<String>,
    /// The time of the first and of the last record, in milliseconds since 1970.
    pub started: Option<u64>,
    pub ended: Option<u64>,
    pub events: Vec<RecordedEvent>,
    pub gaps: Gaps,
}

impl RecordedSession {
    /// Returns the calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = (&RecordedEvent, &ToolCall)> {
        self.events.iter().filter_map(|event| match &event.body {
            EventBody::Call(call) => Some((event, call)),
            _ => None,
        })
    }

    /// Returns whether the last call has no result: the session was killed, or it is still being written.
    pub fn is_open(&self) -> bool {
        let last = self.calls().last();
        self.gaps.has_unfinished_line
            || last.is_some_and(|(_, call)| call.outcome == Outcome::Unfinished)
    }
}

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEvent {
    /// The time, in milliseconds since 1970.
    pub at: Option<u64>,
    /// The number of the model's answer that it belongs to, from 1; 0 before the first one.
    pub step: u32,
    /// The line of the record, or its number in a database, from 1.
    pub record: u32,
    pub body: EventBody,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventBody {
    /// The user has said something.
    Prompt,
    /// The client reports that it loaded these guidance files.
    Loaded(Vec<PathBuf>),
    Call(ToolCall),
    /// Earlier messages were replaced by a summary.
    Compaction,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The client's id; a fork has the same ids as the session that it came from.
    pub id: String,
    pub tool: String,
    pub kind: CallKind,
    /// The directory that it ran in; `None` for that of the session.
    pub directory: Option<PathBuf>,
    /// The command lines of a shell call.
    pub commands: Vec<String>,
    /// The files that it reads.
    pub reads: Vec<PathBuf>,
    /// The skill that it loads.
    pub skill: Option<String>,
    pub outcome: Outcome,
    pub changes: Changes,
}

/// What a tool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallKind {
    Read,
    /// It changes, creates or deletes files.
    Edit,
    Shell,
    Search,
    Skill,
    /// It starts a subagent, which has a record of its own.
    Agent,
    Other,
}

impl CallKind {
    /// Returns the word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            CallKind::Read => "read",
            CallKind::Edit => "edit",
            CallKind::Shell => "shell",
            CallKind::Search => "search",
            CallKind::Skill => "skill",
            CallKind::Agent => "agent",
            CallKind::Other => "other",
        }
    }
}

/// How a call ended. An edit that failed or was denied has changed nothing; a command that failed may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    Failed {
        exit: Option<i32>,
    },
    Denied(DeniedBy),
    /// The record ends before the result.
    Unfinished,
    /// The record has a result that does not say.
    Unknown,
}

impl Outcome {
    /// Returns the words in reports.
    pub fn describe(self) -> String {
        match self {
            Outcome::Ok => "ok".to_owned(),
            Outcome::Failed { exit: Some(exit) } => format!("failed, exit status {exit}"),
            Outcome::Failed { exit: None } => "failed".to_owned(),
            Outcome::Denied(by) => format!("denied by {}", by.as_str()),
            Outcome::Unfinished => "no result recorded".to_owned(),
            Outcome::Unknown => "result unknown".to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeniedBy {
    Hook,
    User,
    /// The mode of work, a permission or a sandbox.
    Settings,
}

impl DeniedBy {
    fn as_str(self) -> &'static str {
        match self {
            DeniedBy::Hook => "a hook",
            DeniedBy::User => "the user",
            DeniedBy::Settings => "the client's settings",
        }
    }
}

/// The files that a call changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// These, and no others in the project.
    Exact(Vec<RecordedChange>),
    /// These, and maybe others.
    AtLeast(Vec<RecordedChange>),
}

impl Changes {
    /// A call that changes nothing.
    pub const NONE: Changes = Changes::Exact(Vec::new());

    /// Returns those that are known.
    pub fn known(&self) -> &[RecordedChange] {
        match self {
            Changes::Exact(changes) | Changes::AtLeast(changes) => changes,
        }
    }

    /// Returns whether there can be no others.
    pub fn is_exact(&self) -> bool {
        matches!(self, Changes::Exact(_))
    }
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    /// The path as the record has it: absolute, or relative to the directory of the call.
    pub path: PathBuf,
    pub action: ChangeAction,
    pub text: ChangedText,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeAction {
    Create,
    Edit,
    Delete,
    /// It is created or changed: the record does not say.
    Write,
}

/// What is known of the text that a change brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedText {
    /// The lines that were added, from a difference.
    Added(Vec<AddedLines>),
    /// The texts before and after it; `before` is `None` if only the new text is known.
    Whole {
        before: Option<String>,
        after: String,
    },
    /// Parts of the file that were replaced. They may begin and end within a line.
    Parts(Vec<(String, String)>),
    Unknown,
}

/// Lines that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedLines {
    /// The number of the first one in the new text, from 1.
    pub first: Option<usize>,
    /// The lines, with line breaks between them.
    pub text: String,
}

/// What was not understood in a record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gaps {
    /// Lines that are no JSON, by number; the first ones.
    pub broken_lines: Vec<u32>,
    pub broken_count: usize,
    /// Lines that are too long to be held.
    pub long_lines: usize,
    /// Records of a kind that is not known, by kind.
    pub unknown_kinds: Vec<(String, usize)>,
    /// Results without a call.
    pub lone_results: usize,
    /// Records that are older than the one before them by more than a minute.
    pub time_jumps: usize,
    /// True if the record ends within a line.
    pub has_unfinished_line: bool,
}

/// The most numbers of lines and kinds of records that are kept.
const MOST_GAPS: usize = 20;

impl Gaps {
    pub(super) fn add_broken_line(&mut self, number: u32) {
        self.broken_count += 1;
        if self.broken_lines.len() < MOST_GAPS {
            self.broken_lines.push(number);
        }
    }

    pub(super) fn add_unknown_kind(&mut self, kind: &str) {
        if let Some((_, count)) = self.unknown_kinds.iter_mut().find(|(known, _)| known == kind) {
            *count += 1;
        } else if self.unknown_kinds.len() < MOST_GAPS {
            self.unknown_kinds.push((kind.chars().take(80).collect(), 1));
        }
    }

    /// Returns whether calls or results may be missing.
    pub fn may_hide_calls(&self) -> bool {
        self.broken_count > 0 || self.long_lines > 0 || self.lone_results > 0
    }

    /// Returns a sentence for each.
    pub fn describe(&self) -> Vec<String> {
        let count = |count: usize, noun: &str| {
            format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
        };
        let mut all = Vec::new();
        if let Some(first) = self.broken_lines.first() {
            let lines = count(self.broken_count, "damaged line");
            all.push(format!("{lines} skipped, first line {first}"));
        }
        if self.long_lines > 0 {
            all.push(format!("{} skipped: too long", count(self.long_lines, "line")));
        }
        if self.lone_results > 0 {
            all.push(count(self.lone_results, "result") + " without a call");
        }
        if self.time_jumps > 0 {
            all.push(count(self.time_jumps, "record") + " older than the one before");
        }
        for (kind, number) in &self.unknown_kinds {
            all.push(format!("{} of unknown kind `{kind}`", count(*number, "record")));
        }
        if self.has_unfinished_line {
            all.push("the last line is not complete".to_owned());
        }
        all
    }
}
