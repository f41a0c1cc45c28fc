//! Errors of reading a revision.

use std::io;
use std::path::PathBuf;

use brief_syntax::limits;

/// A revision whose files cannot be read. Every message includes advice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// No directory of `PATH` outside the project has a `git`.
    #[error(
        "`git` was not found in a directory of `PATH` outside the project, and reads the revisions; install it"
    )]
    GitMissing,
    /// `git` could not be started.
    #[error("`git` could not be started: {0}")]
    NotStarted(#[source] io::Error),
    /// The directory is not in a git repository.
    #[error("`{}` is in no git repository; `-C DIR` names another directory", .0.display())]
    NoRepository(PathBuf),
    /// The repository has no working tree where the program was started.
    #[error(
        "there is no working tree here to compare with; name two revisions, or start in the working tree"
    )]
    NoWorkingTree,
    /// The working tree lies elsewhere.
    #[error("the working tree of the repository is `{}`; start there", .0.display())]
    Elsewhere(PathBuf),
    /// The repository has no commits yet.
    #[error("the repository has no commits yet, so there is nothing to compare with; commit first")]
    NoCommits,
    /// The text is not a revision.
    #[error("`{0}` is not a revision; name a branch, tag or commit")]
    NotARevision(String),
    /// The repository has no such revision.
    #[error("the repository has no commit `{revision}`; {help}")]
    Unknown {
        /// The revision as typed.
        revision: String,
        /// Advice for the user.
        help: &'static str,
    },
    /// The revisions have no commit in common.
    #[error("`{left}` and `{right}` have no commit in common; {help}")]
    NoMergeBase {
        /// The first revision.
        left: String,
        /// The second revision.
        right: String,
        /// Advice for the user.
        help: &'static str,
    },
    /// The list of files exceeds the limit.
    #[error(
        "the list of files has more than {} bytes; start in a smaller repository",
        limits::TREE_LISTING_BYTES
    )]
    TooLarge,
    /// `git` failed with a message.
    #[error("git could not read the repository: {0}; see what `git status` says")]
    Git(String),
    /// `git` exceeded the time limit.
    #[error(
        "git took longer than {} seconds; see whether `git status` does",
        limits::REMOTE_SECONDS
    )]
    TimedOut,
    /// The user interrupted the call.
    #[error("interrupted")]
    Interrupted,
    /// The output of `git` is not in a known format.
    #[error("git answered in an unknown way ({0}); a newer git may help")]
    Puzzled(&'static str),
}
