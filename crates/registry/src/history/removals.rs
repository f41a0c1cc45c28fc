//! The commits that removed files and lines of a project.
//!
//! One walk of git answers for all paths; the lines of a file take one more each. Submodules, merges that remove
//! something by themselves and commits that are missing in a shallow clone are not seen.

use std::collections::{BTreeMap, BTreeSet};

use super::peek::object_names;
use super::{HistoryError, Repository};
use crate::git::CHATTER;
use crate::outputs::with_parents;

/// The settings with which a repository could run something, or change what is printed.
const QUIET: [&str; 6] =
    ["-c", "log.showSignature=false", "-c", "log.follow=false", "-c", "diff.renameLimit=1000"];

/// The form of a commit in the output: a byte that no path begins with, then its fields.
const FORM: &str = "--format=%x01%H%x02%cs%x02%s";

/// The limit for the output of one walk.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The limit for paths in one walk; arguments have a limit, too.
const MOST_PATHS: usize = 2_000;

/// The similarity from which git reports a removed and a new file as one.
const SAME_FILE: &str = "-M70%";

/// The similarity from which a file is the same under another name, in percent. Below it, a file that keeps its name has
/// moved, and one that does not is often a new file with parts of the old one.
const SAME_TEXT: u32 = 90;

/// A commit that removed something.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemovingCommit {
    /// The full commit; `None` for the working tree.
    pub id: Option<String>,
    pub date: String,
    /// The first line of its message.
    pub subject: String,
    /// The new path, if the file was renamed.
    pub renamed: Option<String>,
}

impl RemovingCommit {
    pub(super) fn parse_line(line: &[u8]) -> Option<RemovingCommit> {
        let line = String::from_utf8_lossy(line);
        let mut fields = line.splitn(3, '\u{2}');
        let id = fields.next().filter(|id| crate::extract::is_commit(id))?.to_owned();
        let (date, subject) = (fields.next()?.to_owned(), fields.next()?.trim().to_owned());
        Some(RemovingCommit { id: Some(id), date, subject, renamed: None })
    }
}

impl Repository {
    /// Returns for each of some paths below the top the newest commit that removed it, or its last file if it was a
    /// directory. `since` leaves out what older commits have removed.
    pub fn removed_paths(
        &self,
        paths: &[String],
        since: Option<&str>,
    ) -> Result<BTreeMap<String, RemovingCommit>, HistoryError> {
        let asked: BTreeSet<&str> = paths.iter().map(String::as_str).take(MOST_PATHS).collect();
        let mut found = self.find_uncommitted(&asked)?;
        let rest: Vec<&str> =
            asked.iter().copied().filter(|path| !found.contains_key(*path)).collect();
        if rest.is_empty() {
            return Ok(found);
        }
        let form = ["--no-renames", "--diff-filter=D", "--name-only", "-z"];
        let output = self.run_log(since, &form, &rest)?;
        let mut commit: Option<RemovingCommit> = None;
        for part in output.split(|&byte| byte == 0) {
            let part = part.strip_prefix(b"\n").unwrap_or(part);
            if let Some(line) = part.strip_prefix(b"\x01") {
                commit = RemovingCommit::parse_line(line);
                continue;
            }
            let (Some(commit), Ok(path)) = (&commit, std::str::from_utf8(part)) else { continue };
            // The path, and the directories above it that were asked about: the newest commit comes first.
            for path in with_parents(path).filter(|path| !path.is_empty() && asked.contains(path)) {
                found.entry(path.to_owned()).or_insert_with(|| commit.clone());
            }
        }
        self.follow_renames(&mut found);
        Ok(found)
    }

    /// Runs `git log` for some paths, with options for the form of its output.
    pub(super) fn run_log(
        &self,
        since: Option<&str>,
        options: &[&str],
        paths: &[&str],
    ) -> Result<Vec<u8>, HistoryError> {
        let range = since.map_or("HEAD".to_owned(), |since| format!("{since}..HEAD"));
        let command = ["--literal-pathspecs", "log", FORM, &range];
        let args = [&QUIET[..], &command, options, &["--"], paths].concat();
        self.git.read_output(&args, "", MOST_BYTES)
    }

    /// Returns the paths that the newest commit has; the working tree has removed them.
    fn find_uncommitted(
        &self,
        paths: &BTreeSet<&str>,
    ) -> Result<BTreeMap<String, RemovingCommit>, HistoryError> {
        let paths: Vec<&str> = paths.iter().copied().filter(|path| !path.contains('\n')).collect();
        let limit = CHATTER.max(paths.len() * 4_096);
        let args = ["cat-file", "--batch-check"];
        let output = self.git.read_output(&args, object_names("HEAD", &paths), limit)?;
        let output = String::from_utf8_lossy(&output);
        let there = paths.iter().zip(output.lines()).filter(|(_, line)| {
            line.split(' ').nth(1).is_some_and(|kind| ["blob", "tree"].contains(&kind))
        });
        Ok(there.map(|(path, _)| ((*path).to_owned(), RemovingCommit::default())).collect())
    }

    /// Finds the new names of files that were renamed when they were removed.
    fn follow_renames(&self, found: &mut BTreeMap<String, RemovingCommit>) {
        let commits: BTreeSet<String> =
            found.values().filter_map(|commit| commit.id.clone()).collect();
        for id in commits {
            let form = ["--root", "-r", SAME_FILE, "--diff-filter=R", "--name-status", "-z"];
            let args = [&QUIET[..], &["diff-tree"], &form, &["--no-commit-id", &id]].concat();
            let Ok(output) = self.git.read_output(&args, "", MOST_BYTES) else { continue };
            let parts: Vec<&[u8]> = output.split(|&byte| byte == 0).collect();
            for renamed in parts.chunks_exact(3) {
                let (Ok(old), Ok(new)) =
                    (std::str::from_utf8(renamed[1]), std::str::from_utf8(renamed[2]))
                else {
                    continue;
                };
                // Half a file that gets another name is another file more often than the same.
                let is_whole = parse_similarity(renamed[0]) >= SAME_TEXT;
                if !is_whole && file_name(old) != file_name(new) {
                    continue;
                }
                if let Some(commit) =
                    found.get_mut(old).filter(|commit| commit.id.as_ref() == Some(&id))
                {
                    commit.renamed = Some(new.to_owned());
                }
            }
        }
    }

    /// Returns the text that a file below the top had before a commit; `None` if it was not there, or is no text.
    pub fn file_before(&self, commit: &str, file: &str) -> Result<Option<String>, HistoryError> {
        self.file_at(&format!("{commit}^"), file)
    }

    /// Returns the text that a file below the top has in a commit; `None` if it is not there, or is no text.
    pub fn file_at(&self, commit: &str, file: &str) -> Result<Option<String>, HistoryError> {
        let args = ["cat-file", "--batch"];
        let output = self.git.read_output(&args, object_names(commit, &[file]), MOST_BYTES)?;
        let Some(end) = output.iter().position(|&byte| byte == b'\n') else { return Ok(None) };
        let (head, rest) = output.split_at(end);
        let is_blob = head.windows(6).any(|kind| kind == b" blob ");
        let text = rest.get(1..).map(<[u8]>::to_vec).and_then(|rest| String::from_utf8(rest).ok());
        Ok(text.filter(|_| is_blob && !file.contains('\n')))
    }

    /// Returns the lines that were removed from a file below the top, each with its commit, newest first.
    pub fn removed_lines(
        &self,
        file: &str,
        since: Option<&str>,
    ) -> Result<Vec<(RemovingCommit, String)>, HistoryError> {
        let form = ["-p", "-U0", "--no-color", "--no-ext-diff", "--no-textconv"];
        let output = self.run_log(since, &form, &[file])?;
        let mut commit: Option<RemovingCommit> = None;
        let mut found = Vec::new();
        for line in output.split(|&byte| byte == b'\n') {
            if let Some(line) = line.strip_prefix(b"\x01") {
                commit = RemovingCommit::parse_line(line);
            } else if let (Some(commit), Some(line)) = (&commit, line.strip_prefix(b"-"))
                && !line.starts_with(b"--")
            {
                found.push((commit.clone(), String::from_utf8_lossy(line).into_owned()));
            }
        }
        Ok(found)
    }
}

/// Returns the percentage in a status of git, such as `R086`.
fn parse_similarity(status: &[u8]) -> u32 {
    let digits = std::str::from_utf8(status).ok().and_then(|status| status.strip_prefix('R'));
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
