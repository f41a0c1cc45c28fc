//! The real system: its files here, its processes in `programs`, the machine in `machine`.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

#[cfg(unix)]
mod companion;
#[cfg_attr(not(unix), path = "elsewhere.rs")]
mod handles;
#[cfg(unix)]
mod keeper;
mod machine;
#[cfg(unix)]
mod process;
mod programs;
mod read;
#[cfg(unix)]
mod search;
mod tree;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(unix)]
mod write;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use self::read::{read_by_pieces, read_open};
#[cfg(target_os = "linux")]
use super::Below;
use super::{
    Access, Dir, DirEntry, FileContent, FileKind, FileLock, Files, Identity, Ownership, Permission,
    Place, ReadError, Resolved, StagedFile, Status, TemporaryDir, private,
};

/// The operating system that the program runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsSystem;

impl Files for OsSystem {
    fn resolve(&self, path: &Path) -> io::Result<Resolved> {
        handles::resolve(path)
    }

    #[cfg(target_os = "linux")]
    fn resolve_dir(&self, path: &Path) -> io::Result<PathBuf> {
        handles::resolve_dir(path)
    }

    fn open_dir(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        handles::open_dir(path)
    }

    #[cfg(target_os = "linux")]
    fn look(&self, path: &Path) -> Below {
        handles::look(path)
    }

    #[cfg(target_os = "linux")]
    fn open_root(&self, path: &Path) -> io::Result<(Box<dyn Dir>, PathBuf)> {
        handles::open_root(path)
    }

    #[cfg(unix)]
    fn open_dir_below(&self, base: &Path, below: &Path) -> io::Result<Box<dyn Dir>> {
        handles::open_dir_below(base, below)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        handles::read(path, limit)
    }

    fn is_executable(&self, path: &Path) -> io::Result<bool> {
        programs::is_executable(path)
    }

    fn ownership(&self, path: &Path) -> io::Result<Ownership> {
        private::ownership(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Identity> {
        private::identity(path)
    }

    #[cfg(unix)]
    fn stamp(&self, path: &Path) -> io::Result<super::Stamp> {
        private::stamp(path)
    }

    fn lock(&self, path: &Path) -> io::Result<FileLock> {
        private::lock(path)
    }

    #[cfg(target_os = "linux")]
    fn watch(&self) -> io::Result<Box<dyn super::Watcher>> {
        Ok(Box::new(watch::Inotify::start()?))
    }

    fn temporary_dir(&self) -> io::Result<TemporaryDir> {
        tree::temporary_dir(&std::env::temp_dir())
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        fs::metadata(path)?.modified()
    }

    fn create_private_dir(&self, path: &Path) -> io::Result<()> {
        private::create_dir(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        private::append(path, bytes)
    }

    fn create_program(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        private::create_program(path, bytes)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_empty_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn create_staging_dir(&self, parent: &Path) -> io::Result<(PathBuf, FileLock)> {
        tree::create_staging_dir(parent)
    }

    fn is_abandoned(&self, path: &Path) -> bool {
        tree::is_abandoned(path)
    }

    fn create_staged_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        tree::create_staged_file(path, bytes)
    }

    fn create_link(&self, path: &Path, target: &Path) -> io::Result<()> {
        tree::create_link(path, target)
    }

    fn rename_dir(&self, from: &Path, to: &Path) -> io::Result<()> {
        tree::rename_dir(from, to)
    }

    fn remove_tree(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    #[cfg(target_os = "linux")]
    fn settle(&self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::syncfs(File::open(path)?)?)
    }
}

fn kind_of(file_type: fs::FileType) -> FileKind {
    if file_type.is_file() {
        FileKind::File
    } else if file_type.is_dir() {
        FileKind::Directory
    } else if file_type.is_symlink() {
        FileKind::Link
    } else {
        FileKind::Other
    }
}
