//! Watching directories for changes.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Tells of changes in directories. Directories below a watched one are watched only if they are named, too. A system
/// without such a service has none, and callers then look again after a while.
pub trait Watcher: Send {
    /// Watches these directories from now on, and no others. Returns those that cannot be watched, because
    /// they are not there or the system has no room for more.
    fn follow_directories(&mut self, directories: &[PathBuf]) -> Vec<PathBuf>;

    /// Waits for a change, at most so long.
    fn wait(&mut self, patience: Duration) -> io::Result<WatchReport>;
}

/// The changes since the last report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchReport {
    /// None.
    Quiet,
    /// Files that were written, and files and directories that appeared or went. A path may stand twice.
    Changed(Vec<WatchedChange>),
    /// More than the system could keep: anything may have changed.
    Overflowed,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedChange {
    /// The path, below the directory as it was named.
    pub path: PathBuf,
    /// True for a directory.
    pub is_directory: bool,
}
