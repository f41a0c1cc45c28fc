//! Files that a shell command changed without showing it.

use std::borrow::Cow;
use std::sync::Arc;

use brief_checks::rules::{
    AddedRun, AddedText, FileChange, FileChangeKind, ProjectTree, RuleSet, TreePath,
};
use brief_clients::hook::proposal::{Proposal, ReportedChange};

use super::{CheckedEvent, PathTree};

/// The changes of a command that its text did not show.
#[derive(Default)]
pub(super) struct HiddenChanges {
    pub(super) files: Vec<FileChange<'static>>,
    /// Why nobody knows whether there are others.
    pub(super) not_checked: Option<&'static str>,
}

/// Returns what a command changed without showing it, as far as the client tells.
pub(super) fn find_hidden_changes(
    event: &CheckedEvent<'_>,
    rules: &RuleSet,
    proposal: &Proposal,
    shown: &[Arc<str>],
) -> HiddenChanges {
    let mut found = HiddenChanges::default();
    if !rules.rules().iter().any(|rule| rule.check.needs_paths()) {
        return found;
    }
    let tree = PathTree { project: &event.opened.project, directory: &event.opened.directory };
    for change in &proposal.changed {
        let Some(place) = tree.locate(None, &change.path) else { continue };
        if !shown.contains(&place.path) {
            found.files.push(describe_change(change, place, &tree));
        }
    }
    found
}

fn describe_change(
    change: &ReportedChange,
    place: TreePath,
    tree: &PathTree<'_>,
) -> FileChange<'static> {
    if !place.exists {
        return FileChange::of_path(place.path, FileChangeKind::Delete);
    }
    let final_text = tree.read_text(&place.path).map(Cow::Owned);
    let file = FileChange::of_path(place.path, FileChangeKind::Write);
    let added = match &change.added {
        Some(runs) => AddedText::Runs(
            runs.iter()
                .map(|(line, text)| AddedRun {
                    first_line: Some(*line),
                    text: Cow::Owned(text.clone()),
                })
                .collect(),
        ),
        None => file.added.clone(),
    };
    FileChange { added, final_text, ..file }
}
