//! Writing files of clients: what is ours, what is somebody else's, and one step from the old state to
//! the new one.

pub(crate) mod backup;
pub(crate) mod disk;
pub(crate) mod item;
pub(crate) mod mark;
pub(crate) mod plan;
pub(crate) mod record;
pub(crate) mod stage;

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The path below the output directory, with `/`.
    pub path: String,
    /// How it changed.
    pub kind: ChangeKind,
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// It has another content.
    Updated,
    /// It is gone.
    Removed,
}

/// Splits a path with `/` into the directory and the name.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
