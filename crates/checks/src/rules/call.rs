//! A call of a tool as [`Work`].

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use brief_dialects::rule_check::MessageKind;

use super::commands::read_command_line;
use super::lines::added_runs;
use super::work::{
    AddedRun, AddedText, FileChange, FileChangeKind, PastEvent, Work, WorkKind, WorkMessage,
};
use super::{messages, shell_files};

/// One thing that a call does, in our words. Paths are as the client gives them.
#[derive(Debug, Clone)]
pub enum Operation<'c> {
    /// Writes a whole file.
    Write {
        path: &'c Path,
        text: Option<Cow<'c, str>>,
    },
    /// Replaces texts in a file, one after the other; without any, its new text is not known.
    Edit {
        path: &'c Path,
        replacements: Vec<Replacement<'c>>,
    },
    Delete {
        path: &'c Path,
    },
    Move {
        from: &'c Path,
        to: &'c Path,
    },
    /// Runs a command line in a directory, which is absolute.
    Shell {
        line: &'c str,
        directory: Option<&'c Path>,
    },
    /// Sends a message.
    Message {
        kind: MessageKind,
        text: Cow<'c, str>,
    },
}

/// One replacement of an edit.
#[derive(Debug, Clone)]
pub struct Replacement<'c> {
    pub old: Cow<'c, str>,
    pub new: Cow<'c, str>,
    /// True if every occurrence is replaced.
    pub replaces_all: bool,
}

/// The files of a project, as far as a verdict needs them.
pub trait ProjectTree {
    /// Finds a path in the project, with links followed: a relative one starts at `directory`, which is absolute, or
    /// at the root. `None` if it is outside.
    fn locate(&self, directory: Option<&Path>, path: &Path) -> Option<TreePath>;

    /// Returns the text of a file; `None` if it is missing, too large, or not text.
    fn read_text(&self, path: &str) -> Option<String>;
}

/// A path in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreePath {
    /// The path below the root, with `/` between names.
    pub path: Arc<str>,
    /// True if something is there.
    pub exists: bool,
    pub is_directory: bool,
}

impl<'c> Work<'c> {
    /// Describes a call of a tool by what it does.
    pub fn from_operations(
        operations: &[Operation<'c>],
        tree: &dyn ProjectTree,
        past: &'c [PastEvent],
    ) -> Work<'c> {
        let mut work = Work { kind: WorkKind::Call, past: Cow::Borrowed(past), ..Work::default() };
        for operation in operations {
            work.add_operation(operation, tree);
        }
        work
    }

    fn add_operation(&mut self, operation: &Operation<'c>, tree: &dyn ProjectTree) {
        match operation {
            Operation::Write { path, text } => {
                let Some(place) = tree.locate(None, path) else { return };
                let change = match text {
                    Some(text) => describe_new_text(&place, text.clone(), tree),
                    None => FileChange::of_path(Arc::clone(&place.path), kind_of_write(&place)),
                };
                self.files.push(change);
            }
            Operation::Edit { path, replacements } => {
                let Some(place) = tree.locate(None, path) else { return };
                self.files.push(describe_edit(&place, replacements, tree));
            }
            Operation::Delete { path } => self.add_path(path, FileChangeKind::Delete, tree),
            Operation::Move { from, to } => {
                self.add_path(from, FileChangeKind::Delete, tree);
                let text = tree.locate(None, from).and_then(|place| tree.read_text(&place.path));
                let Some(place) = tree.locate(None, to) else { return };
                let kind = kind_of_write(&place);
                // The lines were there before, under another name.
                self.files.push(FileChange {
                    added: AddedText::Runs(Vec::new()),
                    final_text: text.map(Cow::Owned),
                    ..FileChange::of_path(place.path, kind)
                });
            }
            Operation::Shell { line, directory } => {
                self.messages.extend(messages::find_messages(line));
                self.commands.extend(read_command_line(line, *directory, tree));
                shell_files::add_written_files(self, line, *directory, tree);
            }
            Operation::Message { kind, text } => {
                self.messages.push(WorkMessage { kind: *kind, text: Some(text.clone()) });
            }
        }
    }

    fn add_path(&mut self, path: &Path, kind: FileChangeKind, tree: &dyn ProjectTree) {
        if let Some(place) = tree.locate(None, path) {
            let is_directory = place.is_directory;
            self.files.push(FileChange { is_directory, ..FileChange::of_path(place.path, kind) });
        }
    }
}

pub(super) fn kind_of_write(place: &TreePath) -> FileChangeKind {
    if place.exists { FileChangeKind::Change } else { FileChangeKind::Create }
}

pub(super) fn describe_new_text<'c>(
    place: &TreePath,
    text: Cow<'c, str>,
    tree: &dyn ProjectTree,
) -> FileChange<'c> {
    let path = Arc::clone(&place.path);
    if !place.exists {
        return FileChange::of_new_text(path, text);
    }
    let added = match tree.read_text(&place.path) {
        Some(old) => {
            let runs = added_runs(&old, &text).into_iter();
            AddedText::Runs(runs.map(into_owned_run).collect())
        }
        None => AddedText::Unknown("the text of the file before the change cannot be read"),
    };
    let unchanged = FileChange::of_path(path, FileChangeKind::Change);
    FileChange { added, final_text: Some(text), ..unchanged }
}

fn into_owned_run<'a>(run: AddedRun<'_>) -> AddedRun<'a> {
    AddedRun { first_line: run.first_line, text: Cow::Owned(run.text.into_owned()) }
}

fn describe_edit<'c>(
    place: &TreePath,
    replacements: &[Replacement<'c>],
    tree: &dyn ProjectTree,
) -> FileChange<'c> {
    let unknown = FileChange::of_path(Arc::clone(&place.path), kind_of_write(place));
    if replacements.is_empty() {
        return unknown;
    }
    let old = if place.exists { tree.read_text(&place.path) } else { Some(String::new()) };
    if let Some(old) = old
        && let Some(new) = apply_replacements(&old, replacements)
    {
        let runs = added_runs(&old, &new).into_iter().map(into_owned_run).collect();
        let (added, final_text) = (AddedText::Runs(runs), Some(Cow::Owned(new)));
        return FileChange { added, final_text, ..unknown };
    }
    // It does not apply to what is there, so the client refuses it or knows more: its own lines are what it adds.
    let runs = replacements.iter().flat_map(|one| {
        let runs = added_runs(&one.old, &one.new).into_iter();
        runs.map(|run| AddedRun { first_line: None, ..into_owned_run(run) }).collect::<Vec<_>>()
    });
    FileChange { added: AddedText::Runs(runs.collect()), ..unknown }
}

/// Returns the text after an edit; `None` if it does not apply.
fn apply_replacements(old: &str, replacements: &[Replacement<'_>]) -> Option<String> {
    let mut text = old.to_owned();
    for Replacement { old, new, replaces_all } in replacements {
        if old.is_empty() {
            if !text.is_empty() {
                return None;
            }
            text = new.to_string();
        } else if *replaces_all {
            text = text.contains(&**old).then(|| text.replace(&**old, new))?;
        } else {
            let at = text.find(&**old)?;
            text.replace_range(at..at + old.len(), new);
        }
    }
    Some(text)
}
