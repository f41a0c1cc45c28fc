//! The files of a project at a revision, without a checkout.
//!
//! git lists the names and hands over contents on demand. Nothing is written, and nothing of the repository
//! is executed: no hooks, no filters, no attributes, no fetching of missing objects. Submodules are other
//! repositories and are left out.

mod caller;
mod changes;
mod commits;
mod error;
mod objects;
mod origin;
mod peek;
mod removals;
mod working;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::limits;
use brief_system::{Listing, System, TreeFileKind, TreeSystem};

pub(crate) use caller::Caller;
pub use changes::{ChangeSelection, ChangedContent, CommitMessage, RevisedFile};
pub use commits::FileCommit;
pub use error::HistoryError;
use objects::{Committed, Objects};
pub use origin::FileOrigin;
pub(crate) use peek::{paths_exist, read_committed_files};
pub use removals::RemovingCommit;
use working::OnDisk;

use crate::address::one_line;
use crate::extract::{TreeLine, is_commit, path_from};
use crate::git::{CHATTER, GitOutcome};

/// Advice for a missing revision.
const TYPED: &str = "run `git log` or `git branch --all` to list revisions";

/// The same in a shallow clone, which has only the newest commits.
const SHALLOW: &str = "this clone is shallow: run `git fetch --unshallow` to get the full history";

/// A git repository of the user's.
pub struct Repository {
    git: Caller,
    /// The top of the working tree, if the program was started in one.
    top: Option<PathBuf>,
    /// The contents, shared by all revisions.
    objects: Arc<Objects>,
}

/// A commit of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub revision: String,
    pub id: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revisions {
    /// Compares a revision with the working tree.
    Working(String),
    Two(String, String),
    /// Compares the second revision with the merge base of both.
    SinceBase(String, String),
}

impl Revisions {
    /// Parses the forms of `git diff`: `A`, `A B`, `A..B` or `A...B`. A missing end of a range is `HEAD`.
    pub fn parse(first: &str, second: Option<&str>) -> Revisions {
        let or_head = |text: &str| if text.is_empty() { "HEAD" } else { text }.to_owned();
        if let Some(second) = second {
            return Revisions::Two(first.to_owned(), second.to_owned());
        }
        if let Some((left, right)) = first.split_once("...") {
            return Revisions::SinceBase(or_head(left), or_head(right));
        }
        match first.split_once("..") {
            Some((left, right)) => Revisions::Two(or_head(left), or_head(right)),
            None => Revisions::Working(first.to_owned()),
        }
    }
}

impl Repository {
    /// Finds the repository of a directory, which may itself be a bare repository. `directory` is an absolute
    /// path without links.
    pub fn find_enclosing(
        system: Arc<dyn System>,
        directory: &Path,
    ) -> Result<Repository, HistoryError> {
        let puzzled = || HistoryError::Puzzled("rev-parse");
        let looking =
            Caller { system, directory: directory.to_owned(), git_dir: None, objects: None };
        // A path may hold line breaks, so it comes last.
        let found = run_rev_parse(&looking, &["--is-inside-work-tree", "--absolute-git-dir"])?;
        let break_at = found.iter().position(|&byte| byte == b'\n').ok_or_else(puzzled)?;
        let git_dir = path_from(&found[break_at + 1..]).ok_or_else(puzzled)?;
        let mut top = None;
        if &found[..break_at] == b"true" {
            let found = path_from(&run_rev_parse(&looking, &["--show-toplevel"])?);
            let found = looking.system.resolve_dir(&found.ok_or_else(puzzled)?);
            let found = found.map_err(|error| HistoryError::Git(error.to_string()))?;
            if !directory.starts_with(&found) {
                return Err(HistoryError::Elsewhere(found));
            }
            top = Some(found);
        }
        let mount = top.clone().unwrap_or_else(|| git_dir.clone());
        let git = Caller { directory: mount, git_dir: Some(git_dir), ..looking };
        let objects = Arc::new(Objects::new(git.clone()));
        Ok(Repository { git, top, objects })
    }

    /// Takes a git directory, whose working tree does not count.
    pub fn from_git_dir(system: &Arc<dyn System>, git_dir: &Path) -> Repository {
        Repository::of_caller(Caller::from_git_dir(system, git_dir))
    }

    /// Takes a prepared git, whose working tree does not count.
    pub(crate) fn of_caller(git: Caller) -> Repository {
        let objects = Arc::new(Objects::new(git.clone()));
        Repository { git, top: None, objects }
    }

    /// Returns the top of the working tree, if the program was started in one.
    pub fn top(&self) -> Option<&Path> {
        self.top.as_deref()
    }

    /// Returns the directory of its files; in a bare repository, the directory where they would be.
    pub fn mount(&self) -> &Path {
        &self.git.directory
    }

    /// Resolves a revision to a commit.
    pub fn resolve_commit(&self, revision: &str) -> Result<Commit, HistoryError> {
        if revision.is_empty() || revision.starts_with('-') || revision.contains(['\n', '\0']) {
            return Err(HistoryError::NotARevision(one_line(revision)));
        }
        // Standard input cannot be mistaken for an option.
        let input = format!("{revision}^{{commit}}\n");
        let output = self.git.read_output(&["cat-file", "--batch-check"], input, CHATTER)?;
        let output = String::from_utf8_lossy(&output);
        match output.trim_end().rsplit_once(" commit ") {
            Some((id, _)) if is_commit(id) => {
                Ok(Commit { revision: revision.to_owned(), id: id.to_owned() })
            }
            _ if self.is_empty()? => Err(HistoryError::NoCommits),
            _ => Err(HistoryError::Unknown {
                revision: one_line(revision),
                help: self.missing_history_help()?,
            }),
        }
    }

    /// Returns `HEAD` and the names of branches and tags, shortened by git.
    pub fn list_reference_names(&self) -> Result<Vec<String>, HistoryError> {
        let format = "--format=%(refname:short)";
        let args = ["for-each-ref", format, "refs/heads", "refs/tags", "refs/remotes"];
        let output = self.git.read_output(&args, "", CHATTER)?;
        let output = String::from_utf8_lossy(&output);
        Ok(std::iter::once("HEAD").chain(output.lines()).map(str::to_owned).collect())
    }

    fn is_empty(&self) -> Result<bool, HistoryError> {
        let references = self.git.read_output(&["for-each-ref", "--count=1"], "", CHATTER)?;
        let head =
            self.git.read_output(&["cat-file", "--batch-check"], "HEAD^{commit}\n", CHATTER)?;
        Ok(references.is_empty() && head.trim_ascii_end().ends_with(b" missing"))
    }

    /// Returns the advice for a missing part of the history.
    fn missing_history_help(&self) -> Result<&'static str, HistoryError> {
        let shallow =
            self.git.read_output(&["rev-parse", "--is-shallow-repository"], "", CHATTER)?;
        Ok(if shallow.starts_with(b"true") { SHALLOW } else { TYPED })
    }

    /// Finds the merge base of two commits.
    pub fn merge_base(&self, left: &Commit, right: &Commit) -> Result<Commit, HistoryError> {
        let call = self.git.build_call(&["merge-base", &left.id, &right.id], CHATTER);
        let output = match self.git.run_call(&call)? {
            GitOutcome::Done(output) => output,
            GitOutcome::Failed(_) => {
                let (left, right) = (one_line(&left.revision), one_line(&right.revision));
                return Err(HistoryError::NoMergeBase {
                    left,
                    right,
                    help: self.missing_history_help()?,
                });
            }
            GitOutcome::TooMuch => return Err(HistoryError::Puzzled("merge-base")),
        };
        let output = String::from_utf8_lossy(&output);
        let id = output.lines().next().unwrap_or_default().to_owned();
        if !is_commit(&id) {
            return Err(HistoryError::Puzzled("merge-base"));
        }
        let revision = format!("{}...{}", left.revision, right.revision);
        Ok(Commit { revision, id })
    }

    /// Returns the files of a commit as a system with these environment variables.
    pub fn open_tree(
        &self,
        commit: &Commit,
        env: &BTreeMap<String, OsString>,
    ) -> Result<TreeSystem, HistoryError> {
        let listing = self.read_listing(&commit.id)?;
        let contents = Box::new(Committed(Arc::clone(&self.objects)));
        Ok(TreeSystem::new(self.mount(), listing, contents, env.clone()))
    }

    fn read_listing(&self, commit: &str) -> Result<Listing, HistoryError> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", commit];
        let text = self.git.read_output(&args, "", limits::TREE_LISTING_BYTES)?;
        let mut listing = Listing::new(text);
        for (path, object, kind) in parse_tree_listing(listing.text())? {
            listing.add_file(path, object, kind);
        }
        Ok(listing)
    }

    /// Returns the files of the working tree as they are on disk: tracked files, and untracked files that are
    /// not ignored.
    pub fn working_tree(
        &self,
        env: &BTreeMap<String, OsString>,
    ) -> Result<TreeSystem, HistoryError> {
        let top = self.top.clone().ok_or(HistoryError::NoWorkingTree)?;
        // git finds the working tree of a repository only from inside.
        let git = Caller { git_dir: None, ..self.git.clone() };
        let names = git.read_output(&working::ARGS, "", limits::TREE_LISTING_BYTES)?;
        let listing = working::list_working_files(git.system.as_ref(), &top, names);
        let listing = listing.map_err(|error| HistoryError::Git(error.to_string()))?;
        let committed = Committed(Arc::clone(&self.objects));
        let contents = Box::new(OnDisk { system: git.system, top: top.clone(), committed });
        Ok(TreeSystem::new(top, listing, contents, env.clone()))
    }
}

/// Runs `git rev-parse` with these arguments.
fn run_rev_parse(git: &Caller, args: &[&str]) -> Result<Vec<u8>, HistoryError> {
    let args: Vec<&str> = std::iter::once("rev-parse").chain(args.iter().copied()).collect();
    match git.run_call(&git.build_call(&args, CHATTER))? {
        GitOutcome::Done(mut output) => {
            output.pop_if(|last| *last == b'\n');
            Ok(output)
        }
        GitOutcome::Failed(said) if said.contains("not a git repository") => {
            Err(HistoryError::NoRepository(git.directory.clone()))
        }
        GitOutcome::Failed(said) => Err(HistoryError::Git(said)),
        GitOutcome::TooMuch => Err(HistoryError::Puzzled("rev-parse")),
    }
}

type ListedRange = (std::ops::Range<usize>, std::ops::Range<usize>, TreeFileKind);

/// Finds the files in the output of `ls-tree -z`: `100644 blob 1a2b…\tpath`.
fn parse_tree_listing(text: &[u8]) -> Result<Vec<ListedRange>, HistoryError> {
    let mut places = Vec::new();
    let mut start = 0;
    for line in text.split(|&byte| byte == 0) {
        let begin = start;
        start += line.len() + 1;
        if line.is_empty() {
            continue;
        }
        let file = TreeLine::parse(line).ok_or(HistoryError::Puzzled("ls-tree"))?;
        // A submodule is another repository.
        let Some(kind) = file.kind() else { continue };
        let end = begin + line.len();
        let path = end - file.name.len()..end;
        places.push((path.clone(), path.start - 1 - file.object.len()..path.start - 1, kind));
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_takes_is_taken() {
        let parse = |first, second| Revisions::parse(first, second);
        let two = |left: &str, right: &str| Revisions::Two(left.to_owned(), right.to_owned());
        let since =
            |left: &str, right: &str| Revisions::SinceBase(left.to_owned(), right.to_owned());
        assert_eq!(parse("a", None), Revisions::Working("a".to_owned()));
        assert_eq!(parse("a", Some("b")), two("a", "b"));
        assert_eq!(parse("a..b", None), two("a", "b"));
        assert_eq!(parse("..b", None), two("HEAD", "b"));
        assert_eq!(parse("a..", None), two("a", "HEAD"));
        assert_eq!(parse("a...b", None), since("a", "b"));
        assert_eq!(parse("a...", None), since("a", "HEAD"));
        assert_eq!(parse("v1.2", None), Revisions::Working("v1.2".to_owned()));
    }

    #[test]
    fn a_listing_is_taken_apart_or_refused() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let text = format!(
            "100644 blob {id}\ta b\tc\x00100755 blob {id}\tx\x00120000 blob {id}\tl\x00160000 commit {id}\ts\0"
        );
        let found = parse_tree_listing(text.as_bytes()).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|(path, object, kind)| (&text[path.clone()], &text[object.clone()], *kind))
            .collect();
        assert_eq!(
            shown,
            [
                ("a b\tc", id, TreeFileKind::File),
                ("x", id, TreeFileKind::Program),
                ("l", id, TreeFileKind::Link)
            ]
        );
        for strange in ["no tab", "100644 blob\tx", "100644 blob xyz\tx", "\tx"] {
            assert!(parse_tree_listing(strange.as_bytes()).is_err(), "{strange}");
        }
    }
}
