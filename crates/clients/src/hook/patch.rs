//! Patches in the format of Codex: one call may touch several files.

use brief_dialects::Action;

use super::proposal::{ProposalKind, ProposedChange, TextEdit};
use super::{ToolEffect, Touch};

/// The beginnings of the lines that name files, and the changes of these files.
const HEADERS: [(&str, ProposalKind); 4] = [
    ("*** Add File: ", ProposalKind::Create),
    ("*** Update File: ", ProposalKind::Edit),
    ("*** Delete File: ", ProposalKind::Delete),
    ("*** Move to: ", ProposalKind::Create),
];

/// Returns the file that a line names, and its change.
fn parse_header(line: &str) -> Option<(&str, ProposalKind)> {
    let found =
        HEADERS.iter().find_map(|(header, kind)| Some((line.strip_prefix(header)?.trim(), *kind)));
    found.filter(|(path, _)| !path.is_empty())
}

/// Returns the changes of a patch, in order: an edit for each hunk. A file that is moved is deleted, and its new place has the
/// edits.
pub(super) fn parse_patch(text: &str) -> Vec<ProposedChange> {
    let mut changes: Vec<ProposedChange> = Vec::new();
    let mut begins_hunk = true;
    for line in text.lines() {
        if let Some((path, kind)) = parse_header(line) {
            let is_move = line.starts_with(HEADERS[3].0);
            if let (true, Some(moved)) = (is_move, changes.last_mut()) {
                moved.kind = ProposalKind::Delete;
            }
            changes.push(ProposedChange { path: path.into(), kind, edits: Vec::new() });
            begins_hunk = true;
            continue;
        }
        let Some(change) = changes.last_mut() else { continue };
        if line.starts_with("@@") || line.starts_with("***") {
            begins_hunk = true;
            continue;
        }
        let Some(mark) = line.chars().next() else { continue };
        if begins_hunk {
            change.edits.push(TextEdit::default());
            begins_hunk = false;
        }
        let Some(edit) = change.edits.last_mut() else { continue };
        let add = |text: &mut String| {
            text.push_str(&line[1..]);
            text.push('\n');
        };
        match mark {
            '+' => add(&mut edit.new),
            '-' => add(&mut edit.old),
            ' ' => {
                add(&mut edit.old);
                add(&mut edit.new);
            }
            _ => {}
        }
    }
    changes
}

/// Returns the files that a patch names, in order.
pub(super) fn collect_patch_touches(text: &str) -> Vec<Touch> {
    let named = text.lines().filter_map(parse_header);
    named
        .map(|(path, kind)| {
            let is_new = kind == ProposalKind::Create;
            let action = if is_new { Action::Create } else { Action::Edit };
            Touch::new(path, ToolEffect::Does(action))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_patch_counts() {
        let patch = "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: a b.py\n\
                     *** Move to: c.py\n@@\n-*** Add File: no\n*** End Patch";
        let found: Vec<_> = collect_patch_touches(patch)
            .into_iter()
            .map(|touch| (touch.path.display().to_string(), touch.how))
            .collect();
        assert_eq!(
            found,
            [
                ("new.py".to_owned(), ToolEffect::Does(Action::Create)),
                ("a b.py".to_owned(), ToolEffect::Does(Action::Edit)),
                ("c.py".to_owned(), ToolEffect::Does(Action::Create)),
            ]
        );
    }
}
