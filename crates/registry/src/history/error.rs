//! Errors of reading a revision.

use std::io;
use std::path::PathBuf;

use brief_syntax::limits;

/// A revision whose files cannot be read. Every message includes advice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// No directory of `PATH` outside the project has a `git`.
    #[error("cannot read revisions: no `git` on `PATH` outside the project; install git")]
    GitMissing,
    /// `git` could not be started.
    #[error("cannot start `git`: {0}")]
    NotStarted(#[source] io::Error),
    /// The directory is not in a git repository.
    #[error("not a git repository: `{}`; use `-C DIR` to choose another directory", .0.display())]
    NoRepository(PathBuf),
    /// The repository has no working tree where the program was started.
    #[error("no working tree to compare with; name two revisions, or run brief in a working tree")]
    NoWorkingTree,
    /// The working tree lies elsewhere.
    #[error("the working tree of the repository is `{}`; run brief there", .0.display())]
    Elsewhere(PathBuf),
    /// The repository has no commits yet.
    #[error("the repository has no commits to compare with; commit first")]
    NoCommits,
    /// The text is not a revision.
    #[error("`{0}` is not a revision; name a branch, tag or commit")]
    NotARevision(String),
    /// The repository has no such revision.
    #[error("unknown revision `{revision}`; {help}")]
    Unknown { revision: String, help: &'static str },
    /// The revisions have no commit in common.
    #[error("`{left}` and `{right}` have no commit in common; {help}")]
    NoMergeBase {
        left: String,
        /// The second revision.
        right: String,
        help: &'static str,
    },
    /// The list of files exceeds the limit.
    #[error(
        "the file list is larger than {} bytes; run brief in a smaller repository",
        limits::TREE_LISTING_BYTES
    )]
    TooLarge,
    /// `git` failed with a message.
    #[error("git cannot read the repository: {0}; run `git status` for details")]
    Git(String),
    /// `git` exceeded the time limit.
    #[error(
        "git took longer than {} seconds; run `git status` to check whether git responds",
        limits::REMOTE_SECONDS
    )]
    TimedOut,
    /// The user interrupted the call.
    #[error("interrupted")]
    Interrupted,
    /// The output of `git` is not in a known format.
    #[error("unexpected git output ({0}); upgrade git")]
    Puzzled(&'static str),
}
