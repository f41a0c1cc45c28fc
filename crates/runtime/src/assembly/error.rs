//! Errors of an assembly.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use brief_dialects::tasks::{TaskError, TaskNameError};
use brief_registry::{FetchError, SourceError};
use brief_safety::policy::{PolicyDecision, PolicyError};
use brief_syntax::Diagnostic;
use brief_system::render_io_error;

use crate::consent::ProjectRefusal;
use crate::prompt::ExecutionRequest;

/// A prompt that cannot be assembled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssemblyError {
    /// The name of the task is not valid.
    #[error(transparent)]
    Name(#[from] TaskNameError),
    /// A directory that the user named cannot be searched.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A policy cannot be read, so nothing is allowed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A project that is not trusted asks to run something. Nothing ran.
    #[error("{refusal}; nothing was run")]
    Project {
        /// The project, and the reason.
        refusal: ProjectRefusal,
        /// Everything that the texts asked for.
        asked: Vec<ExecutionRequest>,
    },
    /// There is no such task, or it cannot be used.
    #[error("{error}")]
    Task {
        error: Box<TaskError>,
        /// The diagnostics of the texts that were read.
        diagnostics: Vec<Diagnostic>,
        /// The directories that were searched.
        roots: Vec<PathBuf>,
    },
}

/// A directory or a manifest that cannot be searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A source is written wrongly.
    #[error("{}", with_causes(.0))]
    Source(SourceError),
    /// A policy cannot be read, so no directory is allowed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A policy forbids a source.
    #[error("cannot search `{source_name}`: {decision}")]
    Forbidden {
        source_name: String,
        /// The decision of the policy.
        decision: PolicyDecision,
    },
    /// The path leads to something else.
    #[error("`{0}` is not a directory")]
    NotADirectory(String),
    /// The directory does not exist, or cannot be read.
    #[error("cannot search the directory `{path}`: {}", render_io_error(error))]
    Directory {
        path: String,
        /// The error of the system.
        error: io::Error,
    },
    /// There is no place for fetched repositories.
    #[error("no directory for the cache: set `HOME` or `XDG_CACHE_HOME`")]
    NoCache,
    /// A repository cannot be fetched.
    #[error("{}", with_causes(.0))]
    Fetch(FetchError),
    /// A manifest cannot be read.
    #[error("failed to read the manifest `{}`: {problem}", path.display())]
    Manifest { path: PathBuf, problem: String },
}

impl SearchError {
    /// Returns whether the whole search has to end, even if the directory may be missing.
    pub(super) fn ends_search(&self) -> bool {
        matches!(self, SearchError::Policy(_)) || self.is_interruption()
    }

    /// Returns whether the user interrupted the search.
    pub fn is_interruption(&self) -> bool {
        matches!(self, SearchError::Fetch(FetchError::Interrupted { .. }))
    }
}

fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(&format!(": {error}"));
        cause = error.source();
    }
    message
}
