//! The parts of a project that a walk leaves out.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::project::WideDirectory;

/// A part of the project that was not walked, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The absolute path of the directory.
    pub path: PathBuf,
    /// The reason.
    pub reason: GapReason,
}

/// The reason why a directory was not visited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GapReason {
    /// The system refused, with this message.
    Unreadable(String),
    /// It is deeper than the limit.
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The walk reached the limit of entries.
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// It is no project, and only itself was visited.
    NoProject(WideDirectory),
}

impl fmt::Display for GapReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GapReason::Unreadable(error) => formatter.write_str(error),
            GapReason::TooDeep { limit } => {
                write!(formatter, "is nested deeper than {limit} directories")
            }
            GapReason::TooMany { limit } => write!(formatter, "contains more than {limit} files"),
            GapReason::NoProject(wide) => {
                write!(formatter, "is {}, not a project", wide.as_str())
            }
        }
    }
}

/// Returns the gap of a directory that the system refused to open.
pub fn unreadable_gap(path: &Path, error: &io::Error) -> Gap {
    Gap { path: path.to_owned(), reason: GapReason::Unreadable(error.to_string()) }
}
