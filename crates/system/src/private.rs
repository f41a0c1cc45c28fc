//! Things of the user alone: owners of files, locks, temporary directories.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The owner of a file or directory, and the accounts that may change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ownership {
    /// The owner.
    pub owner: FileOwner,
    /// The accounts that may write to it.
    pub writers: Writers,
    /// True if a program in it would run as its owner or group instead of as the user.
    pub sets_identity: bool,
}

impl Ownership {
    /// Returns the answer of a system that cannot tell: everything is the user's own.
    pub const PRIVATE: Ownership =
        Ownership { owner: FileOwner::User, writers: Writers::Owner, sets_identity: false };
}

/// The owner of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOwner {
    /// The user that we run as.
    User,
    /// The system's administrator, who could do anything anyway.
    Administrator,
    /// Another account.
    Other,
}

/// The accounts that may write to a file or directory.
///
/// A directory where others may add names but touch only their own, as `/tmp` is, counts as
/// [`Writers::Owner`]: no other account can replace the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writers {
    /// Its owner.
    Owner,
    /// Its group, too.
    Group,
    /// Everybody.
    Everybody,
}

/// Which file or directory it is. A file that is removed and made again is another one, although a file
/// system may give it the same number: it has another time of birth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The number that its file system knows it by; 0 where files have none.
    pub number: u64,
    /// The time of its creation, since 1970.
    pub born: Duration,
}

/// A lock on a file, until it is dropped.
#[derive(Debug)]
#[must_use = "the lock ends when it is dropped"]
pub struct FileLock {
    file: Option<File>,
}

impl FileLock {
    /// A lock that an open file has.
    pub(super) fn from_file(file: File) -> FileLock {
        FileLock { file: Some(file) }
    }

    /// A lock of a system without other processes.
    pub(super) fn unlocked() -> FileLock {
        FileLock { file: None }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a process that is just being started still has a copy of it.
        if let Some(file) = &self.file {
            let _ = file.unlock();
        }
    }
}

/// A directory for the user alone, removed with all in it when it is dropped. The one of a killed run is
/// removed when the next is created.
#[derive(Debug)]
pub struct TemporaryDir {
    path: PathBuf,
    _lock: FileLock,
}

impl TemporaryDir {
    /// Takes over a staging directory, which the lock belongs to.
    pub(super) fn from_staging((path, lock): (PathBuf, FileLock)) -> TemporaryDir {
        TemporaryDir { path, _lock: lock }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryDir {
    fn drop(&mut self) {
        // What cannot be removed now is removed with the next one.
        let _ = fs::remove_dir_all(&self.path);
    }
}
