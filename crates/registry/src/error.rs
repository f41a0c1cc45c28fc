//! Errors of fetching a source.

use std::io;
use std::path::PathBuf;

use brief_syntax::limits;

use crate::oci::OciError;
use crate::source::SourceError;

/// A source that could not be fetched.
///
/// `repository` is always the redacted address of the source, without credentials.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The source itself is not valid.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The artifact could not be read.
    #[error(transparent)]
    Oci(#[from] OciError),
    /// No directory of `PATH` outside the project has a `git`.
    #[error(
        "cannot fetch `{repository}`: no `git` on `PATH` outside the project; install git, or clone the repository and use that directory"
    )]
    GitMissing {
        /// The redacted address of the source.
        repository: String,
    },
    /// `git` could not be started.
    #[error("cannot start `git` for `{repository}`")]
    NotStarted {
        /// The redacted address of the source.
        repository: String,
        /// The error of the system.
        #[source]
        error: io::Error,
    },
    /// `git` failed with a message.
    #[error(
        "git cannot read `{repository}`: {said}; check the address, and that `git ls-remote` works without a prompt"
    )]
    Git {
        /// The redacted address of the source.
        repository: String,
        /// The last lines of git's messages.
        said: String,
    },
    /// The server denies access, or has no such repository.
    #[error(
        "`{repository}` does not exist or is not public: {said}; check the address, and that `git ls-remote` works without a prompt"
    )]
    Denied {
        /// The redacted address of the source.
        repository: String,
        /// The last lines of git's messages.
        said: String,
    },
    /// `git` exceeded the time limit.
    #[error(
        "git took longer than {} seconds for `{repository}`; clone it yourself and use that directory",
        limits::REMOTE_SECONDS
    )]
    TimedOut {
        /// The redacted address of the source.
        repository: String,
    },
    /// The user interrupted the fetch.
    #[error("interrupted while fetching `{repository}`")]
    Interrupted {
        /// The redacted address of the source.
        repository: String,
    },
    /// The output of `git` is not in a known format.
    #[error(
        "unexpected git output for `{repository}` ({what}); upgrade git, or clone it yourself and use that directory"
    )]
    Puzzled {
        /// The redacted address of the source.
        repository: String,
        /// The command with that output, or its defect.
        what: &'static str,
    },
    /// The repository has no such branch, tag or commit.
    #[error("no branch, tag or commit `{reference}` in `{repository}`; {help}")]
    ReferenceMissing {
        /// The redacted address of the source.
        repository: String,
        /// The branch, tag or commit.
        reference: String,
        help: &'static str,
    },
    /// The server lists no commit.
    #[error("no commit found in `{repository}`; name a branch, tag or commit with `?ref=…`")]
    Empty {
        /// The redacted address of the source.
        repository: String,
    },
    /// The commit has no such directory.
    #[error(
        "no directory `{subpath}` in `{repository}` at commit {commit}; run `git ls-tree` to find it, or name another directory after `//`"
    )]
    SubpathMissing {
        /// The redacted address of the source.
        repository: String,
        /// The directory in the repository.
        subpath: String,
        commit: String,
    },
    /// The directory exceeds a limit.
    #[error(
        "`{repository}` has more than {limit} {unit}; name a smaller directory in it after `//`"
    )]
    TooLarge {
        /// The redacted address of the source.
        repository: String,
        limit: u64,
        /// The unit of the limit: files or bytes.
        unit: &'static str,
    },
    /// A file name in the repository would escape its directory.
    #[error(
        "unsafe file name `{name}` in `{repository}`: points outside its directory; do not trust this source"
    )]
    HostileName {
        /// The redacted address of the source.
        repository: String,
        /// The name, with hidden characters made visible.
        name: String,
    },
    /// The source is not in the cache, and the network may not be used.
    #[error(
        "`{repository}` is not in the cache and cannot be fetched offline; run once with network access"
    )]
    NotCached {
        /// The redacted address of the source.
        repository: String,
    },
    /// The cache could not be read or written.
    #[error("cannot use the cache at `{}`", path.display())]
    Io {
        /// The path in the cache.
        path: PathBuf,
        /// The error of the system.
        #[source]
        error: io::Error,
    },
}

impl FetchError {
    /// Returns whether the network or the installed git may be the cause. Then the result of an earlier run
    /// may be used instead.
    pub(crate) fn is_about_reach(&self) -> bool {
        if let FetchError::Oci(error) = self {
            return error.is_about_reach();
        }
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
