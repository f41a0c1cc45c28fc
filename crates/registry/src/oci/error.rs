//! Errors of artifacts: their registry, their content, their signatures.

/// An artifact that could not be read or published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OciError {
    /// The registry does not answer, or answers with an error of its own.
    #[error("the registry request for `{repository}` failed: {said}")]
    Unreachable {
        /// The address of the repository.
        repository: String,
        /// The last answer, and how often it was asked.
        said: String,
    },
    /// The registry wants an account, or another one.
    #[error(
        "the registry denied access to `{repository}`: {said}; run `docker login` for this registry"
    )]
    Denied {
        /// The address of the repository.
        repository: String,
        said: String,
    },
    /// The repository has no such tag or digest.
    #[error("no `{reference}` in `{repository}`")]
    Missing {
        /// The address of the repository.
        repository: String,
        reference: String,
    },
    /// The registry refuses to keep something.
    #[error("the registry rejected {what} for `{repository}`: {said}")]
    NotTaken {
        /// The address of the repository.
        repository: String,
        /// The part of the artifact.
        what: &'static str,
        said: String,
    },
    #[error(
        "the registry redirects `{repository}` to `{target}`, and brief does not follow it; use that address if you trust it"
    )]
    Redirected {
        /// The address of the repository.
        repository: String,
        target: String,
    },
    /// The content has another digest than was asked for.
    #[error(
        "digest mismatch in `{repository}`: expected `{digest}`, found `{found}`; do not trust it"
    )]
    Digest {
        /// The address of the repository.
        repository: String,
        /// The digest that was asked for.
        digest: String,
        /// The digest of the content.
        found: String,
    },
    /// The artifact is not one that carries guidance, or is not valid.
    #[error("`{repository}`: {problem}")]
    Shape {
        /// The address of the repository.
        repository: String,
        problem: String,
    },
    #[error("`{repository}`: {what} has more than {limit} {unit}")]
    TooLarge {
        /// The address of the repository.
        repository: String,
        /// The part of the artifact.
        what: &'static str,
        limit: u64,
        /// The unit of the limit.
        unit: &'static str,
    },
    /// A file in the artifact would escape its directory.
    #[error(
        "unsafe file name `{name}` in `{repository}`: points outside its directory; do not trust this source"
    )]
    HostileName {
        /// The address of the repository.
        repository: String,
        /// The name, with hidden characters made visible.
        name: String,
    },
    /// Accounts of the user cannot be read.
    #[error("cannot read the credentials for `{host}`: {problem}")]
    Account {
        /// The host of the registry.
        host: String,
        problem: String,
    },
    /// A directory cannot be read or written.
    #[error("cannot use `{path}`: {problem}")]
    Disk {
        path: String,
        /// The error of the system.
        problem: String,
    },
}

impl OciError {
    pub(super) fn wrong_shape(repository: &str, problem: impl Into<String>) -> OciError {
        OciError::Shape { repository: repository.to_owned(), problem: problem.into() }
    }

    /// Creates the error for a part of the artifact with more than `limit` bytes.
    pub(super) fn too_large(repository: &str, what: &'static str, limit: u64) -> OciError {
        OciError::TooLarge { repository: repository.to_owned(), what, limit, unit: "bytes" }
    }

    /// Turns the error for a missing tag or digest into `None`.
    pub(super) fn if_present<T>(outcome: Result<T, OciError>) -> Result<Option<T>, OciError> {
        match outcome {
            Err(OciError::Missing { .. }) => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Returns whether the network may be the cause, so that the result of an earlier run may be used instead.
    pub(crate) fn is_about_reach(&self) -> bool {
        matches!(self, OciError::Unreachable { .. } | OciError::Denied { .. })
    }
}
