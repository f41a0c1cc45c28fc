//! Why a source could not be fetched.

use std::io;
use std::path::PathBuf;

use brief_syntax::limits;

use crate::source::SourceError;

/// Why a git source is not there as a directory.
///
/// `repository` is always the source as it may be shown: without credentials.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The source itself is wrong.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// There is no `git`.
    #[error(
        "`git` was not found in a directory of `PATH` outside the project, and is needed for `{repository}`; install it, or clone it yourself and name the directory"
    )]
    GitMissing {
        /// What was to be fetched.
        repository: String,
    },
    /// `git` could not be started.
    #[error("`git` could not be started for `{repository}`")]
    NotStarted {
        /// What was to be fetched.
        repository: String,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// `git` failed.
    #[error(
        "git could not read `{repository}`: {said}; check the address, and that `git ls-remote` can read it without asking"
    )]
    Git {
        /// What was to be fetched.
        repository: String,
        /// The last words of git.
        said: String,
    },
    /// The server wants to know who asks, or says that nothing is there.
    #[error(
        "`{repository}` is not there, or not for everybody: {said}; check the address, and that `git ls-remote` can read it without asking"
    )]
    Denied {
        /// What was to be fetched.
        repository: String,
        /// The last words of git.
        said: String,
    },
    /// `git` took too long.
    #[error(
        "git took longer than {} seconds for `{repository}`; clone it yourself and name the directory",
        limits::REMOTE_SECONDS
    )]
    TimedOut {
        /// What was to be fetched.
        repository: String,
    },
    /// The user interrupted us.
    #[error("interrupted while fetching `{repository}`")]
    Interrupted {
        /// What was to be fetched.
        repository: String,
    },
    /// `git` said something that we do not understand.
    #[error(
        "git answered in an unknown way for `{repository}` ({what}); a newer git may help, or clone it yourself and name the directory"
    )]
    Puzzled {
        /// What was to be fetched.
        repository: String,
        /// Which answer.
        what: &'static str,
    },
    /// The repository has no such branch, tag or commit.
    #[error("`{repository}` has no branch, tag or commit `{reference}`; {help}")]
    ReferenceMissing {
        /// What was to be fetched.
        repository: String,
        /// The reference.
        reference: String,
        /// The way out.
        help: &'static str,
    },
    /// The repository has no commits.
    #[error("`{repository}` shows no commit; name a branch, tag or commit with `?ref=…`")]
    Empty {
        /// What was to be fetched.
        repository: String,
    },
    /// There is no such directory in the repository.
    #[error(
        "commit {commit} of `{repository}` has no directory `{subpath}`; look for it with `git ls-tree`, or name another after `//`"
    )]
    SubpathMissing {
        /// What was to be fetched.
        repository: String,
        /// The directory.
        subpath: String,
        /// Where it was looked for.
        commit: String,
    },
    /// The directory is larger than we take.
    #[error(
        "`{repository}` has more than {limit} {unit}; name a smaller directory in it after `//`"
    )]
    TooLarge {
        /// What was to be fetched.
        repository: String,
        /// How much we take.
        limit: u64,
        /// Of what.
        unit: &'static str,
    },
    /// A name in the repository is made to land somewhere else.
    #[error(
        "`{repository}` has the name `{name}`, which would lead out of its directory; do not trust it"
    )]
    HostileName {
        /// What was to be fetched.
        repository: String,
        /// The name, made visible.
        name: String,
    },
    /// Nothing may be fetched, and nothing was fetched before.
    #[error(
        "`{repository}` was not fetched before, and nothing is fetched offline; run once with the network"
    )]
    NotCached {
        /// What was to be fetched.
        repository: String,
    },
    /// The cache could not be read or written.
    #[error("the cache could not be used at `{}`", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
}

impl FetchError {
    /// Returns whether it may be different with another network: then what an earlier run has
    /// fetched will do.
    pub(crate) fn is_about_reach(&self) -> bool {
        matches!(
            self,
            FetchError::GitMissing { .. }
                | FetchError::NotStarted { .. }
                | FetchError::Git { .. }
                | FetchError::Denied { .. }
                | FetchError::TimedOut { .. }
        )
    }
}
