//! The only door to files, environment, clock and processes: [`Files`], [`Processes`], [`Machine`].
//!
//! Libraries take `&dyn System`, so that a test needs no directory and an editor can ask about an
//! unsaved buffer. Reading on behalf of a project goes through a held [`Dir`], which never follows
//! a link and opens regular files only: a link planted in a project cannot lead a reader out of
//! it, and a FIFO cannot make it wait.

#![warn(missing_docs)]

mod buffers;
mod deadline;
mod files;
mod follow;
pub mod hash;
mod interruption;
mod listing;
mod machine;
mod memory;
mod os;
mod passed;
pub mod paths;
mod private;
mod process;
mod recorded;
mod remembered;
mod resolve;
mod tree;
mod watch;
mod writing;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use buffers::Buffers;
pub use deadline::{Deadline, LastWords};
pub use files::Files;
pub use follow::FileWatch;
pub use interruption::Interruption;
pub use listing::{Listing, TreeFile, TreeFileKind};
pub use machine::{
    Machine, cache_directory, config_directory, home_directory, resolved_home, state_directory,
};
pub use memory::MemorySystem;
pub use os::OsSystem;
pub use passed::Passed;
pub use private::{FileLock, FileOwner, Identity, Ownership, TemporaryDir, Writers};
pub use process::{Call, Companion, Ending, Environment, OverLimit, Processes, Stream};
pub use recorded::{NodeStamp, ReadRecord, Recorded, Stamp};
pub use remembered::Remembered;
pub use resolve::resolve_existing;
pub use tree::{SeenFile, TreeContents, TreeSystem};
pub use watch::{WatchReport, WatchedChange, Watcher};
pub use writing::Over;

/// The end of a path whose links were followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, where links are not followed.
    Link,
    /// A FIFO, socket or device.
    Other,
}

impl FileKind {
    /// Returns the words for it in a message.
    pub fn noun(self) -> &'static str {
        match self {
            FileKind::File => "a file",
            FileKind::Directory => "a directory",
            FileKind::Link => "a symbolic link",
            FileKind::Other => "not a regular file",
        }
    }
}

/// A path after every link in it was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The absolute path without links, `.` or `..`.
    pub path: PathBuf,
    /// The kind of file.
    pub kind: FileKind,
}

/// The result of [`Files::probe_path`] or [`Dir::look_below`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// A directory.
    Directory,
    /// Something else, or something else is in the way.
    NotADirectory,
    /// Nothing, maybe from higher up on.
    Missing,
    /// It takes more to tell: [`Files::resolve`] does.
    Unsure,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// The name, without any directory.
    pub name: OsString,
    /// Its kind; links are not followed.
    pub kind: FileKind,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The permission to start it.
    pub permission: Permission,
}

/// Bytes alone are data.
impl From<Vec<u8>> for FileContent {
    fn from(bytes: Vec<u8>) -> FileContent {
        FileContent { bytes, permission: Permission::Data }
    }
}

/// An entry of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// Its kind; links are not followed.
    pub kind: FileKind,
    /// Bytes of a file.
    pub size: u64,
}

/// The rights that a new file starts with; the user's mask leaves some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Data for everybody.
    Data,
    /// A program for everybody.
    Program,
    /// Data for the user alone.
    Private,
}

impl From<Permission> for Access {
    fn from(permission: Permission) -> Access {
        match permission {
            Permission::Data => Access::Data,
            Permission::Program => Access::Program,
        }
    }
}

/// The permission to start a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Permission {
    /// It is data.
    #[default]
    Data,
    /// It is a program; where the system does not tell, nothing is.
    Program,
}

/// The identity of a held directory.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum DirPlace<'p> {
    /// An open descriptor.
    #[cfg(unix)]
    Descriptor(std::os::fd::BorrowedFd<'p>),
    /// A path, where there are no descriptors.
    Path(&'p Path),
}

/// The name that a file has in its directory before it is whole. A killed run may leave it behind: no
/// listing shows it, and the next writer in that directory removes it.
pub const STAGED: &str = ".brief-staged";

/// The reason why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such file.
    #[error("no such file")]
    Missing,
    /// The name is taken by something that is not a regular file.
    #[error("is {}", .0.noun())]
    NotAFile(FileKind),
    /// The file is larger than the caller allows.
    #[error("is larger than {limit} bytes")]
    TooLarge {
        /// The limit of the caller.
        limit: u64,
    },
    /// The operating system refused.
    #[error(transparent)]
    Io(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadError::Missing,
            _ => ReadError::Io(error),
        }
    }
}

/// Returns an error of the system in words that are the same on every system.
pub fn render_io_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "is not a directory".to_owned(),
        _ => error.to_string(),
    }
}

/// A file under the name [`STAGED`]. While it is held, no other writer stages a file in that directory.
pub trait StagedFile: Write {
    /// Waits until the content is safe on disk.
    fn sync_content(&mut self) -> io::Result<()>;
}

/// An open directory, held by the caller or by the one who reads in it.
pub enum HeldDir<'d> {
    /// The caller holds it.
    Shared(&'d dyn Dir),
    /// It is closed with this value.
    Own(Box<dyn Dir>),
}

impl HeldDir<'_> {
    /// Returns the directory.
    pub fn get(&self) -> &dyn Dir {
        match self {
            HeldDir::Shared(handle) => *handle,
            HeldDir::Own(handle) => handle.as_ref(),
        }
    }
}

/// A directory held open.
///
/// A file gets its content through [`put_file`](trait.Dir.html#method.put_file) and its siblings; the
/// methods here are the single steps that those take.
pub trait Dir: Send {
    /// Opens a directory in this one. A link is an error, also one to a directory.
    fn open_dir(&self, name: &OsStr) -> io::Result<Box<dyn Dir>>;

    /// Opens a directory some levels below this one; `path` has names only. A link anywhere on
    /// the way is an error.
    fn open_dir_below(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        let mut names = path.iter();
        let first = names.next().ok_or(io::ErrorKind::InvalidInput)?;
        names.try_fold(self.open_dir(first)?, |handle, name| handle.open_dir(name))
    }

    /// Reads a regular file in this directory, at most `limit` bytes of it. A link is
    /// [`ReadError::NotAFile`].
    fn read(&self, name: &OsStr, limit: u64) -> Result<Vec<u8>, ReadError>;

    /// Reads a regular file some levels below this directory; `path` has names only. A link anywhere
    /// on the way is an error.
    fn read_below(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let name = path.file_name().ok_or(ReadError::Missing)?;
        match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => self.open_dir_below(parent)?.read(name, limit),
            None => self.read(name, limit),
        }
    }

    /// Reads a file that a listing of this directory has shown to be regular, which saves asking
    /// again.
    fn read_listed(&self, name: &OsStr, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.read(name, limit)
    }

    /// Reads a regular file as [`Dir::read`] does, and says whether it may be started.
    fn read_file(&self, name: &OsStr, limit: u64) -> Result<FileContent, ReadError> {
        self.read(name, limit).map(|bytes| FileContent { bytes, permission: Permission::Data })
    }

    /// Opens a directory in this one as [`Dir::open_dir`] does, and creates it if nothing is there.
    fn make_dir(&self, _name: &OsStr) -> io::Result<Box<dyn Dir>> {
        read_only()
    }

    /// Creates a file under the name [`STAGED`]. Waits for a writer that is at work, and removes what a
    /// killed one has left.
    fn stage_file(&self, _access: Access) -> io::Result<Box<dyn StagedFile>> {
        read_only()
    }

    /// Reads a regular file as [`Dir::read_file`] does, piece by piece: whatever its size, only a piece of
    /// it is in memory.
    fn read_pieces(
        &self,
        name: &OsStr,
        limit: u64,
        piece: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Permission, ReadError> {
        let content = self.read_file(name, limit)?;
        piece(&content.bytes).map_err(ReadError::Io)?;
        Ok(content.permission)
    }

    /// Creates a file in this directory that must not exist yet, to be written by and by. It need not be
    /// safe on disk before [`Files::sync_file_system`].
    fn create_file(&self, _name: &OsStr, _permission: Permission) -> io::Result<Box<dyn Write>> {
        read_only()
    }

    /// Moves a file of another directory of the same file system into this one in one step, in the place
    /// of a file that may be there. A link is replaced, not followed.
    fn take_file(&self, _from: &dyn Dir, _name: &OsStr, _target: &OsStr) -> io::Result<()> {
        read_only()
    }

    /// Moves a file as [`Dir::take_file`] does, but only where nothing is:
    /// [`io::ErrorKind::AlreadyExists`].
    fn take_new_file(&self, _from: &dyn Dir, _name: &OsStr, _target: &OsStr) -> io::Result<()> {
        read_only()
    }

    /// Lets a file of another directory and one of this directory change places in one step. Not every
    /// file system can: [`io::ErrorKind::Unsupported`].
    fn exchange_file(&self, _from: &dyn Dir, _name: &OsStr, _target: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Gives a file of another directory the permissions of a regular file in this one: it is about to
    /// take the place of another one, which may be a secret.
    fn share_permissions(&self, _to: &dyn Dir, _name: &OsStr, _model: &OsStr) -> io::Result<()> {
        Ok(())
    }

    /// Returns what the system knows this directory by, for calls that take two of them.
    fn dir_place(&self) -> Option<DirPlace<'_>> {
        None
    }

    /// Says what a name in this directory is. A link is a link.
    fn status(&self, name: &OsStr) -> io::Result<Status> {
        let entries = self.entries()?;
        let entry = entries.iter().find(|entry| entry.name == name);
        let kind = entry.ok_or(io::ErrorKind::NotFound)?.kind;
        let size = match kind {
            FileKind::File => self.read(name, u64::MAX).map_or(0, |bytes| bytes.len() as u64),
            _ => 0,
        };
        Ok(Status { kind, size })
    }

    /// Waits until the names in this directory are safe on disk, where the system can tell.
    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    /// Removes a file or a link from this directory.
    fn remove_file(&self, _name: &OsStr) -> io::Result<()> {
        read_only()
    }

    /// Removes an empty directory from this one.
    fn remove_empty_dir(&self, _name: &OsStr) -> io::Result<()> {
        read_only()
    }

    /// Says what is some levels below this directory, as far as one call can tell; `path` has names
    /// only. Anything but [`Below::Unsure`] also means that no link is on the way.
    fn look_below(&self, _path: &Path) -> Below {
        Below::Unsure
    }

    /// Lists the directory, in no particular order.
    fn entries(&self) -> io::Result<Vec<DirEntry>> {
        self.first_entries(usize::MAX)
    }

    /// Lists at most `limit` names of the directory, whichever the system tells first.
    fn first_entries(&self, limit: usize) -> io::Result<Vec<DirEntry>>;
}

/// Files, processes and the machine: whatever has all three is a system.
pub trait System: Files + Processes + Machine {}

impl<S: Files + Processes + Machine> System for S {}

/// Returns the error of a system that can only be read.
fn read_only<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "this system is read-only"))
}

/// Returns the error of a system without a feature.
fn unsupported_error<T>(message: &'static str) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}
