//! Things of the user alone: owners of files, locks, temporary directories.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

#[cfg(unix)]
use super::{NodeStamp, Stamp};

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
    pub(super) fn holding(file: File) -> FileLock {
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
    pub(super) fn staged((path, lock): (PathBuf, FileLock)) -> TemporaryDir {
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

#[cfg(unix)]
pub(super) fn ownership(path: &Path) -> io::Result<Ownership> {
    use std::os::unix::fs::MetadataExt;

    const ADMINISTRATOR: u32 = 0;
    let metadata = fs::metadata(path)?;
    let mode = metadata.mode();
    let owner = match metadata.uid() {
        user if user == rustix::process::geteuid().as_raw() => FileOwner::User,
        ADMINISTRATOR => FileOwner::Administrator,
        _ => FileOwner::Other,
    };
    let keeps_names_apart = metadata.is_dir() && mode & 0o1000 != 0;
    let writers = match mode & 0o022 {
        _ if keeps_names_apart => Writers::Owner,
        0 => Writers::Owner,
        0o020 => Writers::Group,
        _ => Writers::Everybody,
    };
    Ok(Ownership { owner, writers, sets_identity: metadata.is_file() && mode & 0o6000 != 0 })
}

#[cfg(not(unix))]
pub(super) fn ownership(path: &Path) -> io::Result<Ownership> {
    fs::metadata(path).map(|_| Ownership::PRIVATE)
}

pub(super) fn identity(path: &Path) -> io::Result<Identity> {
    let metadata = fs::metadata(path)?;
    let born = metadata.created()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    if born.is_zero() {
        // Some file systems know the field and leave it empty.
        let problem = "its file system does not say when it was created";
        return Err(io::Error::new(io::ErrorKind::Unsupported, problem));
    }
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let number = 0;
    Ok(Identity { number, born })
}

#[cfg(unix)]
pub(super) fn stamp(path: &Path) -> io::Result<Stamp> {
    use std::os::unix::fs::MetadataExt;
    let node = |found: &fs::Metadata| NodeStamp {
        mode: found.mode(),
        owner: (found.uid(), found.gid()),
        number: (found.dev(), found.ino()),
        size: found.size(),
        changed: Duration::new(
            found.ctime().try_into().unwrap_or_default(),
            found.ctime_nsec().try_into().unwrap_or_default(),
        ),
    };
    let own = fs::symlink_metadata(path)?;
    let target = if own.is_symlink() { Some(fs::metadata(path)) } else { None };
    Ok(Stamp { own: node(&own), target: target.and_then(Result::ok).as_ref().map(node) })
}

pub(super) fn lock(path: &Path) -> io::Result<FileLock> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // A link could make a file anywhere.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    // A FIFO would be waited for, and a project may come with one.
    let opened = options.open(path);
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let name = path.file_name().unwrap_or_default().display();
        return Err(io::Error::other(format!("`{name}` is in the way; remove it")));
    }
    let file = opened?;
    file.lock()?;
    Ok(FileLock::holding(file))
}

pub(super) fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(bytes)
}

pub(super) fn create_program(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o700);
    options.open(path)?.write_all(bytes)
}

pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn with_mode(path: &Path, mode: u32) -> Ownership {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        ownership(path).unwrap()
    }

    #[test]
    fn a_mode_says_who_may_write() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        for (mode, writers) in [
            (0o600, Writers::Owner),
            (0o644, Writers::Owner),
            (0o664, Writers::Group),
            (0o646, Writers::Everybody),
            (0o1646, Writers::Everybody),
        ] {
            let expected = Ownership { writers, ..Ownership::PRIVATE };
            assert_eq!(with_mode(&file, mode), expected, "{mode:o}");
        }
        assert!(with_mode(&file, 0o4700).sets_identity);
        assert_eq!(with_mode(directory.path(), 0o777).writers, Writers::Everybody);
        assert_eq!(with_mode(directory.path(), 0o1777).writers, Writers::Owner);
        assert!(ownership(&directory.path().join("missing")).is_err());
    }

    /// ext4 gives the number of a removed directory to the next one that is made.
    #[test]
    fn what_is_made_again_is_something_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("project");
        fs::create_dir(&path).unwrap();
        let first = identity(&path).unwrap();
        fs::write(path.join("file"), "").unwrap();
        assert_eq!(identity(&path).unwrap(), first);
        let moved = directory.path().join("moved");
        fs::rename(&path, &moved).unwrap();
        assert_eq!(identity(&moved).unwrap(), first);
        fs::remove_dir_all(&moved).unwrap();
        fs::create_dir(&path).unwrap();
        assert_ne!(identity(&path).unwrap(), first);
    }

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = lock(&path).unwrap();
        let other = File::open(&path).unwrap();
        assert!(other.try_lock().is_err());
        drop(held);
        assert!(other.try_lock().is_ok());
    }
}
