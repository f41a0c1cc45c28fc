//! The lines that a difference adds, in the forms in which clients record one.

use std::path::PathBuf;

use super::model::{AddedLines, ChangeAction, ChangedText, RecordedChange};
use super::node::Node;

/// Collects added lines into runs.
#[derive(Default)]
struct Runs {
    runs: Vec<AddedLines>,
    is_open: bool,
}

impl Runs {
    fn add_line(&mut self, number: Option<usize>, line: &str) {
        match self.runs.last_mut().filter(|_| self.is_open) {
            Some(run) => {
                run.text.push('\n');
                run.text.push_str(line);
            }
            None => self.runs.push(AddedLines { first: number, text: line.to_owned() }),
        }
        self.is_open = true;
    }
}

/// Returns the added lines of a unified difference of one file; `None` if it has no hunk or is cut off.
pub(super) fn parse_unified(text: &str) -> Option<Vec<AddedLines>> {
    let mut runs = Runs::default();
    let mut has_hunk = false;
    // The next line of the new file, and the lines of both files that the hunk still has.
    let (mut next, mut old_left, mut new_left) = (0, 0, 0);
    for line in text.lines() {
        if old_left == 0 && new_left == 0 {
            if let Some((old, (start, new))) = parse_hunk_header(line) {
                (next, old_left, new_left, has_hunk) = (start, old, new, true);
                runs.is_open = false;
            }
            continue;
        }
        match line.as_bytes().first() {
            Some(b'+') => {
                runs.add_line(Some(next), &line[1..]);
                next += 1;
                new_left = new_left.checked_sub(1)?;
            }
            Some(b'-') => old_left = old_left.checked_sub(1)?,
            Some(b'\\') => {}
            // Some programs write an empty line of both files without its space.
            Some(b' ') | None => {
                runs.is_open = false;
                next += 1;
                old_left = old_left.checked_sub(1)?;
                new_left = new_left.checked_sub(1)?;
            }
            Some(_) => return None,
        }
    }
    (has_hunk && old_left == 0 && new_left == 0).then_some(runs.runs)
}

/// Returns the old count, the new start and the new count of `@@ -1,2 +1,3 @@`.
fn parse_hunk_header(line: &str) -> Option<(usize, (usize, usize))> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    let (_, old): (usize, usize) = range(old)?;
    Some((old, range(new)?))
}

/// Returns the added lines of hunks in JSON: `newStart`, and `lines` with the signs of a unified difference.
pub(super) fn read_hunks(hunks: &[Node<'_>]) -> Option<Vec<AddedLines>> {
    let mut runs = Runs::default();
    for hunk in hunks {
        runs.is_open = false;
        let mut next = usize::try_from(hunk.get("newStart").number()?).ok()?;
        for line in hunk.get("lines").list() {
            let line = line.text()?;
            match line.as_bytes().first() {
                Some(b'+') => {
                    runs.add_line(Some(next), &line[1..]);
                    next += 1;
                }
                Some(b'-' | b'\\') => {}
                _ => {
                    runs.is_open = false;
                    next += 1;
                }
            }
        }
    }
    Some(runs.runs)
}

/// Returns the changes of a patch in the format of Codex.
pub(super) fn parse_patch(text: &str) -> Vec<RecordedChange> {
    let mut changes: Vec<(RecordedChange, Runs)> = Vec::new();
    for line in text.lines() {
        let header =
            |prefix: &str| line.strip_prefix(prefix).map(|path| PathBuf::from(path.trim()));
        let new = |path, action| {
            (RecordedChange { path, action, text: ChangedText::Unknown }, Runs::default())
        };
        if let Some(path) = header("*** Add File: ") {
            changes.push(new(path, ChangeAction::Create));
        } else if let Some(path) = header("*** Update File: ") {
            changes.push(new(path, ChangeAction::Edit));
        } else if let Some(path) = header("*** Delete File: ") {
            changes.push(new(path, ChangeAction::Delete));
        } else if let Some(path) = header("*** Move to: ") {
            // The lines below belong to the file under its new name.
            if let Some((change, _)) = changes.last_mut() {
                change.action = ChangeAction::Delete;
            }
            changes.push(new(path, ChangeAction::Create));
        } else if let Some((change, runs)) = changes.last_mut() {
            match line.strip_prefix('+') {
                Some(line) => {
                    let number = runs.runs.last().map_or(1, |run| 1 + run.text.lines().count());
                    runs.add_line((change.action == ChangeAction::Create).then_some(number), line);
                }
                None => runs.is_open = false,
            }
        }
    }
    let finished = changes.into_iter().map(|(mut change, runs)| {
        let added = runs.runs;
        change.text = match change.action {
            ChangeAction::Delete => ChangedText::Added(Vec::new()),
            _ => ChangedText::Added(added),
        };
        change
    });
    finished.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(runs: &[AddedLines]) -> Vec<(Option<usize>, &str)> {
        runs.iter().map(|run| (run.first, run.text.as_str())).collect()
    }

    /// The forms that were seen in records of opencode, Codex and Copilot.
    #[test]
    fn added_lines_have_their_numbers() {
        let text = "Index: a.py\n=====\n--- a.py\n+++ a.py\n@@ -1,3 +1,4 @@\n-x = 1\n+x = 2\n+y\n keep\n--- z\n+++ z\n";
        let runs = parse_unified(text).unwrap();
        assert_eq!(shown(&runs), [(Some(1), "x = 2\ny"), (Some(4), "++ z")]);
        let two = "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n@@ -5,0 +6,1 @@\n+c\n";
        assert_eq!(shown(&parse_unified(two).unwrap()), [(Some(1), "b"), (Some(6), "c")]);
        assert_eq!(parse_unified("@@ -1,9 +1,9 @@\n+cut"), None);
        assert_eq!(parse_unified("no difference"), None);
    }

    #[test]
    fn a_patch_names_its_files() {
        let patch = "*** Begin Patch\n*** Add File: n.py\n+a\n+b\n*** Update File: u.py\n@@\n-x\n+y\n z\n+w\n*** Delete File: d\n*** End Patch";
        let changes = parse_patch(patch);
        let actions: Vec<_> = changes.iter().map(|change| change.action).collect();
        assert_eq!(actions, [ChangeAction::Create, ChangeAction::Edit, ChangeAction::Delete]);
        let ChangedText::Added(runs) = &changes[0].text else { panic!("not added") };
        assert_eq!(shown(runs), [(Some(1), "a\nb")]);
        let ChangedText::Added(runs) = &changes[1].text else { panic!("not added") };
        assert_eq!(shown(runs), [(None, "y"), (None, "w")]);
    }
}
