//! What is judged: files that change, commands that run, messages, and what has happened before.

use std::borrow::Cow;
use std::sync::Arc;

use brief_dialects::rule_check::MessageKind;

use super::commands::CommandCall;

/// Something that is about to happen, or has happened. All parts belong together.
#[derive(Debug, Clone, Default)]
pub struct Work<'w> {
    pub kind: WorkKind,
    pub files: Vec<FileChange<'w>>,
    pub commands: Vec<CommandCall>,
    pub messages: Vec<WorkMessage<'w>>,
    /// True if files may change that the work does not name.
    pub hides_files: bool,
    /// What has happened before, oldest first.
    pub past: Cow<'w, [PastEvent]>,
}

/// The moment of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkKind {
    /// One call of a tool, before or after it runs.
    #[default]
    Call,
    /// The end of an agent's turn. [`Work::files`] are all files that changed in it.
    TurnEnd,
    /// A change set: staged files, or the difference between two revisions. It shows no commands.
    ChangeSet,
}

/// A file that changes.
#[derive(Debug, Clone)]
pub struct FileChange<'w> {
    /// The path below the root with links followed, with `/` between names.
    pub path: Arc<str>,
    pub kind: FileChangeKind,
    /// The lines that are new.
    pub added: AddedText<'w>,
    /// The text after the change, if it is known.
    pub final_text: Option<Cow<'w, str>>,
    /// True for a directory, with everything in it.
    pub is_directory: bool,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileChangeKind {
    Create,
    Change,
    Delete,
    /// It is created or changed: nobody has looked whether it is there.
    Write,
}

/// The lines that a change adds.
#[derive(Debug, Clone)]
pub enum AddedText<'w> {
    /// The lines, in runs.
    Runs(Vec<AddedRun<'w>>),
    /// They are not known, for this reason.
    Unknown(&'static str),
}

/// Lines that follow each other.
#[derive(Debug, Clone)]
pub struct AddedRun<'w> {
    /// The number of the first line in the new text, from 1.
    pub first_line: Option<usize>,
    /// The lines, with line breaks between them.
    pub text: Cow<'w, str>,
}

/// The message of a commit or of a pull request: its title, and its text below.
#[derive(Debug, Clone)]
pub struct WorkMessage<'w> {
    pub kind: MessageKind,
    /// The message; `None` if it is not known.
    pub text: Option<Cow<'w, str>>,
}

/// Something that happened before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastEvent {
    /// A file was created, changed or deleted.
    Edited { path: Arc<str> },
    /// A command line has run.
    Ran {
        line: Arc<str>,
        /// The directory that it ran in, below the root; `None` if it is not known.
        directory: Option<Arc<str>>,
        /// False if it is known to have failed.
        has_succeeded: bool,
    },
    /// A skill was loaded.
    Loaded { skill: Arc<str> },
}

impl<'w> FileChange<'w> {
    /// A change of which nothing but the path is known.
    pub fn of_path(path: impl Into<Arc<str>>, kind: FileChangeKind) -> FileChange<'w> {
        let added = match kind {
            FileChangeKind::Delete => AddedText::Runs(Vec::new()),
            _ => AddedText::Unknown("the call does not show the new text"),
        };
        FileChange { path: path.into(), kind, added, final_text: None, is_directory: false }
    }

    /// A new file with its whole text.
    pub fn of_new_text(path: impl Into<Arc<str>>, text: impl Into<Cow<'w, str>>) -> FileChange<'w> {
        let text = text.into();
        let run = AddedRun { first_line: Some(1), text: text.clone() };
        FileChange {
            path: path.into(),
            kind: FileChangeKind::Create,
            added: AddedText::Runs(vec![run]),
            final_text: Some(text),
            is_directory: false,
        }
    }
}
