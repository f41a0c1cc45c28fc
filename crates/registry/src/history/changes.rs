//! The files of a change set, before and after: staged files, the working tree, or two revisions.
//!
//! git says which files differ, and hands over what is in the repository; files of the working tree are read from disk.
//! Nothing of the repository runs: comparing texts is ours, because `git diff` would run its filters.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use brief_syntax::limits;
use brief_system::ReadError;

use super::working::read_on_disk;
use super::{Caller, Commit, HistoryError, Repository};
use crate::git::CHATTER;

/// The limit for the bytes of all contents that are read from the repository.
const MOST_BYTES: usize = 512 * 1024 * 1024;

/// A change set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeSelection {
    /// The working tree, with untracked files that are not ignored, compared with a commit, or with nothing.
    Working(Option<Commit>),
    /// What is staged, compared with a commit, or with nothing.
    Staged(Option<Commit>),
    /// The second commit, compared with the first.
    Commits(Commit, Commit),
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisedFile {
    /// The path below the top, with `/` between names.
    pub path: String,
    /// The content before; `None` for a new file.
    pub old: Option<ChangedContent>,
    /// The content after; `None` for a deleted file.
    pub new: Option<ChangedContent>,
}

/// The content of a file on one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedContent {
    Bytes(Arc<[u8]>),
    /// It was not asked for, it is too large, or it is a link.
    Unread,
}

/// The message of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitMessage {
    pub id: String,
    pub text: String,
}

/// One entry of `git diff-index --raw`.
struct RawChange {
    path: String,
    old: Option<Side>,
    new: Option<Side>,
}

#[derive(Clone)]
struct Side {
    is_file: bool,
    /// The object; `None` for a file on disk.
    object: Option<String>,
}

impl Repository {
    /// Returns the commit that `HEAD` names; `None` in a repository without commits.
    pub fn find_head(&self) -> Result<Option<Commit>, HistoryError> {
        match self.resolve_commit("HEAD") {
            Ok(commit) => Ok(Some(commit)),
            Err(HistoryError::NoCommits) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the files of a change set, by path. Contents are read where `is_wanted` says so.
    pub fn changed_files(
        &self,
        selection: &ChangeSelection,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<RevisedFile>, HistoryError> {
        let changes = self.list_changes(selection)?;
        let mut objects: Vec<&str> = Vec::new();
        for change in changes.iter().filter(|change| is_wanted(&change.path)) {
            let sides = [&change.old, &change.new].into_iter().flatten();
            objects.extend(
                sides.filter(|side| side.is_file).filter_map(|side| side.object.as_deref()),
            );
        }
        objects.sort_unstable();
        objects.dedup();
        let contents = self.read_blobs(&objects)?;
        let mut files = Vec::with_capacity(changes.len());
        for change in &changes {
            let is_wanted = is_wanted(&change.path);
            let read = |side: &Side| match &side.object {
                _ if !is_wanted || !side.is_file => Ok(Some(ChangedContent::Unread)),
                Some(object) => Ok(Some(
                    contents.get(object.as_str()).cloned().unwrap_or(ChangedContent::Unread),
                )),
                None => self.read_working_file(&change.path),
            };
            let old = change.old.as_ref().map(read).transpose()?.flatten();
            let new = change.new.as_ref().map(read).transpose()?.flatten();
            // A file that was touched and has the same content has not changed.
            let is_same = matches!((&old, &new), (Some(ChangedContent::Bytes(old)), Some(ChangedContent::Bytes(new))) if old == new);
            if !is_same && (old.is_some() || new.is_some()) {
                files.push(RevisedFile { path: change.path.clone(), old, new });
            }
        }
        Ok(files)
    }

    /// Returns the messages of the commits that only the second one has, oldest first.
    pub fn messages_between(
        &self,
        first: &Commit,
        second: &Commit,
    ) -> Result<Vec<CommitMessage>, HistoryError> {
        let range = format!("{}..{}", first.id, second.id);
        let args = ["log", "-z", "--reverse", "--no-merges", "--format=%H%n%B", &range, "--"];
        let output = self.git.read_output(
            &[&["-c", "log.showSignature=false"][..], &args].concat(),
            "",
            limits::TREE_LISTING_BYTES,
        )?;
        let output = String::from_utf8_lossy(&output);
        let commits = output.split('\0').filter_map(|commit| {
            let (id, text) = commit.trim_start().split_once('\n')?;
            Some(CommitMessage { id: id.to_owned(), text: text.trim_end().to_owned() })
        });
        Ok(commits.collect())
    }

    fn list_changes(&self, selection: &ChangeSelection) -> Result<Vec<RawChange>, HistoryError> {
        const FORM: [&str; 4] = ["--raw", "-z", "--no-renames", "--no-abbrev"];
        let limit = limits::TREE_LISTING_BYTES;
        let compare = |git: &Caller, command: &[&str], commits: &[&str]| {
            git.read_output(&[command, &FORM, commits, &["--"]].concat(), "", limit)
        };
        let mut changes = match selection {
            ChangeSelection::Commits(first, second) => {
                let output = compare(&self.git, &["diff-tree", "-r"], &[&first.id, &second.id])?;
                parse_raw_changes(&output, false)?
            }
            ChangeSelection::Staged(base) => {
                let base = self.base_tree(base.as_ref())?;
                let git = self.in_working_tree()?;
                parse_raw_changes(&compare(&git, &["diff-index", "--cached"], &[&base])?, false)?
            }
            ChangeSelection::Working(base) => {
                let base = self.base_tree(base.as_ref())?;
                let git = self.in_working_tree()?;
                let output = compare(&git, &["diff-index"], &[&base])?;
                let mut changes = parse_raw_changes(&output, true)?;
                let args =
                    ["ls-files", "-z", "--others", "--exclude-standard", "--full-name", "--"];
                let untracked = git.read_output(&args, "", limit)?;
                let paths = untracked.split(|&byte| byte == 0).filter(|path| !path.is_empty());
                changes.extend(paths.filter(|path| !path.ends_with(b"/")).map(|path| RawChange {
                    path: String::from_utf8_lossy(path).into_owned(),
                    old: None,
                    new: Some(Side { is_file: true, object: None }),
                }));
                changes
            }
        };
        changes.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(changes)
    }

    /// Returns the name of the tree to compare with: the empty one for a repository without commits.
    fn base_tree(&self, base: Option<&Commit>) -> Result<String, HistoryError> {
        match base {
            Some(commit) => Ok(commit.id.clone()),
            None => {
                let output =
                    self.git.read_output(&["hash-object", "-t", "tree", "--stdin"], "", CHATTER)?;
                Ok(String::from_utf8_lossy(&output).trim().to_owned())
            }
        }
    }

    /// Returns git for a call that needs the working tree, which it finds only from inside.
    fn in_working_tree(&self) -> Result<Caller, HistoryError> {
        match self.top {
            Some(_) => Ok(Caller { git_dir: None, ..self.git.clone() }),
            None => Err(HistoryError::NoWorkingTree),
        }
    }

    fn read_working_file(&self, path: &str) -> Result<Option<ChangedContent>, HistoryError> {
        let top = self.top.as_deref().ok_or(HistoryError::NoWorkingTree)?;
        match read_on_disk(self.git.system.as_ref(), top, Path::new(path), limits::FILE_BYTES) {
            Ok(bytes) => Ok(Some(ChangedContent::Bytes(bytes.into()))),
            Err(ReadError::Missing) => Ok(None),
            // A link, a file that is too large or that may not be read: it has changed all the same.
            Err(_) => Ok(Some(ChangedContent::Unread)),
        }
    }

    /// Reads objects with one process, which answers in the order of the questions.
    fn read_blobs<'o>(
        &self,
        objects: &[&'o str],
    ) -> Result<HashMap<&'o str, ChangedContent>, HistoryError> {
        let mut contents = HashMap::with_capacity(objects.len());
        if objects.is_empty() {
            return Ok(contents);
        }
        let mut input = objects.join("\n");
        input.push('\n');
        let output = self.git.read_output(&["cat-file", "--batch"], input, MOST_BYTES)?;
        let puzzled = || HistoryError::Puzzled("cat-file");
        let mut rest = output.as_slice();
        for object in objects {
            let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(puzzled)?;
            let header = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 1..];
            let Some((_, size)) = header.rsplit_once(" blob ") else {
                // It is missing from this clone.
                contents.insert(*object, ChangedContent::Unread);
                continue;
            };
            let size: usize = size.trim().parse().map_err(|_| puzzled())?;
            let bytes = rest.get(..size).ok_or_else(puzzled)?;
            rest = rest.get(size + 1..).ok_or_else(puzzled)?;
            let is_small = size as u64 <= limits::FILE_BYTES;
            let content =
                if is_small { ChangedContent::Bytes(bytes.into()) } else { ChangedContent::Unread };
            contents.insert(*object, content);
        }
        Ok(contents)
    }
}

/// Parses `:100644 100644 1a2b… 3c4d… M\0path\0…`. On disk, an object of zeros is the file there.
fn parse_raw_changes(output: &[u8], is_on_disk: bool) -> Result<Vec<RawChange>, HistoryError> {
    let puzzled = || HistoryError::Puzzled("diff");
    let mut parts = output.split(|&byte| byte == 0);
    let mut changes = Vec::new();
    while let Some(header) = parts.next().filter(|header| !header.is_empty()) {
        let header = std::str::from_utf8(header).map_err(|_| puzzled())?;
        let path = parts.next().ok_or_else(puzzled)?;
        let words: Vec<&str> = header.trim_start_matches(':').split(' ').collect();
        let [old_mode, new_mode, old, new, status] = words.as_slice() else {
            return Err(puzzled());
        };
        // A submodule is another repository.
        if [old_mode, new_mode].contains(&&"160000") {
            continue;
        }
        let side = |mode: &str, object: &str| {
            let is_zero = object.bytes().all(|byte| byte == b'0');
            (mode != "000000").then(|| Side {
                is_file: mode.starts_with("100"),
                object: (!is_zero).then(|| object.to_owned()),
            })
        };
        let path = String::from_utf8_lossy(path).into_owned();
        // An unmerged file has no side in the index; it is on disk.
        let new = match *status {
            "U" => is_on_disk.then_some(Side { is_file: true, object: None }),
            _ => side(new_mode, new),
        };
        changes.push(RawChange { path, old: side(old_mode, old), new });
    }
    changes.dedup_by(|next, first| next.path == first.path);
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_changes_are_taken_apart_or_refused() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let zero = "0".repeat(40);
        let text = format!(
            ":100644 100644 {one} {zero} M\0a b\tc\0:000000 100644 {zero} {two} A\0n\0:100644 000000 {one} {zero} D\0d\0:160000 160000 {one} {two} M\0s\0"
        );
        let changes = parse_raw_changes(text.as_bytes(), true).unwrap();
        let shown: Vec<_> = changes
            .iter()
            .map(|change| (change.path.as_str(), change.old.is_some(), change.new.is_some()))
            .collect();
        assert_eq!(shown, [("a b\tc", true, true), ("n", false, true), ("d", true, false)]);
        assert_eq!(changes[0].new.as_ref().unwrap().object, None);
        for strange in [":100644 M\0x\0", "x", ":100644 100644 1 2 M"] {
            assert!(parse_raw_changes(strange.as_bytes(), true).is_err(), "{strange}");
        }
    }
}
