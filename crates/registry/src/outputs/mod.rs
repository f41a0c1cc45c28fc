//! Writing of outputs: tells our files from those of others, and brings all of them from the old state to the
//! new one in one step.

pub(crate) mod backup;
pub(crate) mod disk;
pub(crate) mod item;
pub(crate) mod mark;
pub(crate) mod plan;
pub(crate) mod record;
pub(crate) mod stage;
pub(crate) mod transaction;

use std::io;

use brief_syntax::{Diagnostic, Severity};
use brief_system::ReadError;
use serde::Serialize;

/// The time for which written files are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// They are safe on disk when the run ends, and a killed run is finished by the next one.
    #[default]
    Lasting,
    /// They lie in a temporary directory, which is gone after the run, so nothing waits for the disk.
    Passing,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The path below the output directory, with `/`.
    pub path: String,
    /// The kind of the change.
    pub kind: ChangeKind,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    Created,
    Updated,
    Removed,
}

/// The contents of a changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub path: String,
    /// The content before; `None` for a missing file.
    pub before: Option<Vec<u8>>,
    /// The content after; `None` for a removed file.
    pub after: Option<Vec<u8>>,
}

/// Splits a path with `/` into the directory and the name.
pub(crate) fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Returns a path with `/`, and then the directories above it, the nearest first.
pub(crate) fn with_parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| Some(path.rsplit_once('/')?.0))
}

/// Returns the diagnostics that are errors.
pub(crate) fn filter_errors<'d>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
) -> impl Iterator<Item = &'d Diagnostic> {
    diagnostics.into_iter().filter(|found| found.severity == Severity::Error)
}

/// Turns the error of reading a missing file into `None`.
pub(crate) fn if_there<T>(outcome: Result<T, ReadError>) -> Result<Option<T>, ReadError> {
    match outcome {
        Err(ReadError::Missing) => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// Turns the error for a missing file or directory into `None`.
fn if_found<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        outcome => outcome.map(Some),
    }
}
