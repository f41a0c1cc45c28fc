//! Files and directories by path.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{
    Below, Dir, FileKind, FileLock, Identity, Ownership, ReadError, Resolved, Stamp, TemporaryDir,
    Watcher, read_only, unsupported_error,
};

/// Files and directories. Code that only reads takes this instead of [`System`](super::System).
///
/// A method that an implementation leaves out asks the files [behind](Files::files_behind) it. Without those,
/// nothing can be written.
pub trait Files: Send + Sync {
    /// Returns the files behind these, and the same path there.
    fn files_behind<'p>(&self, _path: &'p Path) -> Option<(&dyn Files, Cow<'p, Path>)> {
        None
    }

    /// Follows every link in `path` and says what is there. A relative path starts at
    /// [`Machine::current_dir`](super::Machine::current_dir).
    fn resolve(&self, path: &Path) -> io::Result<Resolved>;

    /// Follows every link in the path of a directory; anything else is an error. Cheaper than
    /// [`Files::resolve`] where the system can tell.
    fn resolve_dir(&self, path: &Path) -> io::Result<PathBuf> {
        match self.resolve(path)? {
            Resolved { path, kind: FileKind::Directory } => Ok(path),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Says what is at an absolute path, as far as one call can tell. Anything but
    /// [`Below::Unsure`] also means that no link is on the way.
    fn probe_path(&self, path: &Path) -> Below {
        self.files_behind(path).map_or(Below::Unsure, |(files, path)| files.probe_path(&path))
    }

    /// Opens a directory by path, following links. For roots that the user named; everything
    /// below them goes through [`Dir`].
    fn open_dir(&self, path: &Path) -> io::Result<Box<dyn Dir>>;

    /// Opens a directory by path, following links, and says which one it is: its absolute path
    /// without links.
    fn open_root(&self, path: &Path) -> io::Result<(Box<dyn Dir>, PathBuf)> {
        let path = self.resolve_dir(path)?;
        Ok((self.open_dir(&path)?, path))
    }

    /// Opens the directory `below` of `base`, following links in `base` only.
    fn open_dir_below(&self, base: &Path, below: &Path) -> io::Result<Box<dyn Dir>> {
        self.open_dir(base)?.open_dir_below(below)
    }

    /// Reads a regular file by path, following links: for the user's own files.
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError>;

    /// Returns whether the user may execute a file, links followed.
    fn is_executable(&self, path: &Path) -> io::Result<bool> {
        self.files_behind(path).map_or(Ok(false), |(files, path)| files.is_executable(&path))
    }

    /// Says whose a file or directory is and who may change it, links followed.
    fn ownership(&self, path: &Path) -> io::Result<Ownership> {
        match self.files_behind(path) {
            Some((files, path)) => files.ownership(&path),
            None => Ok(Ownership::PRIVATE),
        }
    }

    /// Returns whether other accounts may read a file, links followed.
    fn may_others_read(&self, path: &Path) -> io::Result<bool> {
        self.files_behind(path).map_or(Ok(false), |(files, path)| files.may_others_read(&path))
    }

    /// Says which file or directory is at a path, links followed, so that another one in its place is told
    /// from it. An error where the system cannot tell.
    fn identity(&self, path: &Path) -> io::Result<Identity> {
        match self.files_behind(path) {
            Some((files, path)) => files.identity(&path),
            None => unsupported_error("this system has no file identities"),
        }
    }

    /// Returns the state of a path, which any change of it changes.
    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        match self.files_behind(path) {
            Some((files, path)) => files.stamp(&path),
            None => unsupported_error("this system cannot detect file changes"),
        }
    }

    /// Waits for a lock on the file at `path`, which is created for the user alone. It keeps other
    /// threads and processes out that ask for it too.
    fn lock(&self, path: &Path) -> io::Result<FileLock> {
        match self.files_behind(path) {
            Some((files, path)) => files.lock(&path),
            None => Ok(FileLock::unlocked()),
        }
    }

    /// Starts to watch directories. An error where the system cannot: the caller looks from time to time
    /// instead.
    fn start_watcher(&self) -> io::Result<Box<dyn Watcher>> {
        unsupported_error("this system cannot watch directories")
    }

    /// Creates a new directory for the user alone, outside any project.
    fn temporary_dir(&self) -> io::Result<TemporaryDir> {
        unsupported_error("this system has no temporary directories")
    }

    /// Returns when a file or directory was last changed.
    fn modified_time(&self, path: &Path) -> io::Result<SystemTime>;

    /// Returns when a file was made, links followed. An error where the system does not keep that.
    fn creation_time(&self, path: &Path) -> io::Result<SystemTime> {
        match self.files_behind(path) {
            Some((files, path)) => files.creation_time(&path),
            None => unsupported_error("this system does not record file ages"),
        }
    }

    /// Creates a directory and those above it, readable by the user alone where that exists.
    fn create_private_dir(&self, path: &Path) -> io::Result<()> {
        self.files_behind(path)
            .map_or_else(read_only, |(files, path)| files.create_private_dir(&path))
    }

    /// Creates a directory and those above it.
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.files_behind(path).map_or_else(read_only, |(files, path)| files.create_dir(&path))
    }

    /// Adds bytes to the end of a file in one write, creating it if needed. Appends of two
    /// processes do not mix.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.files_behind(path).map_or_else(read_only, |(files, path)| files.append(&path, bytes))
    }

    /// Creates an executable file that must not exist yet, for the user alone.
    fn create_program(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match self.files_behind(path) {
            Some((files, path)) => files.create_program(&path, bytes),
            None => self.create_staged_file(path, bytes),
        }
    }

    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.files_behind(path).map_or_else(read_only, |(files, path)| files.remove_file(&path))
    }

    /// Removes an empty directory.
    fn remove_empty_dir(&self, path: &Path) -> io::Result<()> {
        self.files_behind(path)
            .map_or_else(read_only, |(files, path)| files.remove_empty_dir(&path))
    }

    /// Creates a directory in `parent` under a name that is not in use, for the user alone. It
    /// is filled there and then put in place with [`Files::rename_dir`].
    ///
    /// The lock shows others that its run is alive.
    fn create_staging_dir(&self, parent: &Path) -> io::Result<(PathBuf, FileLock)> {
        self.files_behind(parent)
            .map_or_else(read_only, |(files, path)| files.create_staging_dir(&path))
    }

    /// Returns whether the run is gone that has created a staging directory, where the system can tell.
    fn is_abandoned(&self, path: &Path) -> bool {
        self.files_behind(path).is_some_and(|(files, path)| files.is_abandoned(&path))
    }

    /// Creates a file that must not exist yet, below a staging directory. It need not be safe on
    /// disk before [`Files::rename_dir`] returns.
    fn create_staged_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.files_behind(path)
            .map_or_else(read_only, |(files, path)| files.create_staged_file(&path, bytes))
    }

    /// Creates a symbolic link at `path`, which must not exist yet.
    fn create_link(&self, path: &Path, target: &Path) -> io::Result<()> {
        match self.files_behind(path) {
            Some((files, path)) => files.create_link(&path, target),
            None => unsupported_error("this system cannot create links"),
        }
    }

    /// Gives a directory with all in it another name in one step. A directory that is there
    /// already stays and is [`io::ErrorKind::AlreadyExists`], unless it is empty. What was written
    /// below is on disk before the name changes, where the system can promise that.
    fn rename_dir(&self, from: &Path, to: &Path) -> io::Result<()> {
        match (self.files_behind(from), self.files_behind(to)) {
            (Some((files, from)), Some((_, to))) => files.rename_dir(&from, &to),
            _ => read_only(),
        }
    }

    /// Removes a directory and everything below it. Links are removed, not followed.
    fn remove_tree(&self, path: &Path) -> io::Result<()> {
        self.files_behind(path).map_or_else(read_only, |(files, path)| files.remove_tree(&path))
    }

    /// Waits until what was written on the file system of `path` is safe on disk, where the system
    /// can tell.
    fn sync_file_system(&self, path: &Path) -> io::Result<()> {
        self.files_behind(path).map_or(Ok(()), |(files, path)| files.sync_file_system(&path))
    }
}
