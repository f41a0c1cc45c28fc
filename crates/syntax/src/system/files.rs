//! Files and directories by path.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{
    Below, Dir, FileKind, FileLock, Identity, Ownership, ReadError, Resolved, Stamp, TemporaryDir,
    Watcher, read_only,
};

/// Files and directories. Code that only reads takes this instead of [`System`](super::System).
pub trait Files: Send + Sync {
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
    fn look(&self, _path: &Path) -> Below {
        Below::Unsure
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
    fn is_executable(&self, _path: &Path) -> io::Result<bool> {
        Ok(false)
    }

    /// Says whose a file or directory is and who may change it, links followed.
    fn ownership(&self, _path: &Path) -> io::Result<Ownership> {
        Ok(Ownership::PRIVATE)
    }

    /// Says which file or directory is at a path, links followed, so that another one in its place is told
    /// from it. An error where the system cannot tell.
    fn identity(&self, _path: &Path) -> io::Result<Identity> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "files have no identity here"))
    }

    /// Returns the state of a path, which any change of it changes.
    fn stamp(&self, _path: &Path) -> io::Result<Stamp> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Waits for a lock on the file at `path`, which is created for the user alone. It keeps other
    /// threads and processes out that ask for it too.
    fn lock(&self, _path: &Path) -> io::Result<FileLock> {
        Ok(FileLock::unlocked())
    }

    /// Starts to watch directories. An error where the system cannot: the caller looks from time to time
    /// instead.
    fn watch(&self) -> io::Result<Box<dyn Watcher>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "directories cannot be watched here"))
    }

    /// Creates a new directory for the user alone, outside any project.
    fn temporary_dir(&self) -> io::Result<TemporaryDir> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "there are no temporary directories here"))
    }

    /// Returns when a file or directory was last changed.
    fn modified(&self, path: &Path) -> io::Result<SystemTime>;

    /// Creates a directory and those above it, readable by the user alone where that exists.
    fn create_private_dir(&self, _path: &Path) -> io::Result<()> {
        read_only()
    }

    /// Creates a directory and those above it.
    fn create_dir(&self, _path: &Path) -> io::Result<()> {
        read_only()
    }

    /// Adds bytes to the end of a file in one write, creating it if needed. Appends of two
    /// processes do not mix.
    fn append(&self, _path: &Path, _bytes: &[u8]) -> io::Result<()> {
        read_only()
    }

    /// Creates an executable file that must not exist yet, for the user alone.
    fn create_program(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.create_staged_file(path, bytes)
    }

    /// Removes a file.
    fn remove_file(&self, _path: &Path) -> io::Result<()> {
        read_only()
    }

    /// Removes an empty directory.
    fn remove_empty_dir(&self, _path: &Path) -> io::Result<()> {
        read_only()
    }

    /// Creates a directory in `parent` under a name that is not in use, for the user alone. It
    /// is filled there and then put in place with [`Files::rename_dir`].
    ///
    /// The lock shows others that its run is alive.
    fn create_staging_dir(&self, _parent: &Path) -> io::Result<(PathBuf, FileLock)> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "no directory can be staged here"))
    }

    /// Returns whether the run is gone that has created a staging directory, where the system can tell.
    fn is_abandoned(&self, _path: &Path) -> bool {
        false
    }

    /// Creates a file that must not exist yet, below a staging directory. It need not be safe on
    /// disk before [`Files::rename_dir`] returns.
    fn create_staged_file(&self, _path: &Path, _bytes: &[u8]) -> io::Result<()> {
        read_only()
    }

    /// Creates a symbolic link at `path`, which must not exist yet.
    fn create_link(&self, _path: &Path, _target: &Path) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "no link can be created here"))
    }

    /// Gives a directory with all in it another name in one step. A directory that is there
    /// already stays and is [`io::ErrorKind::AlreadyExists`], unless it is empty. What was written
    /// below is on disk before the name changes, where the system can promise that.
    fn rename_dir(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "no directory can be renamed here"))
    }

    /// Removes a directory and everything below it. Links are removed, not followed.
    fn remove_tree(&self, _path: &Path) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "no directory can be removed here"))
    }

    /// Waits until what was written on the file system of `path` is safe on disk, where the system
    /// can tell.
    fn settle(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}
