//! A directory for outputs, read and written through open handles, never through a link.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_system::hash::Hasher;
use brief_system::{Access, Dir, FileContent, Over, Permission, ReadError, STAGED, System};

use super::record::FileRecord;
use super::{if_found, split_path, with_parents};

/// The limit for directories that are held open. The files of an item lie in directories of every client, and those
/// of the next item in the same ones.
const HELD: usize = 64;

/// A directory that a run writes to.
pub(crate) struct Disk<'d> {
    system: &'d dyn System,
    path: PathBuf,
    top: Option<Box<dyn Dir>>,
    /// True if this run created it, so that it holds only files of this run.
    is_new: bool,
    held: Vec<(String, Box<dyn Dir>)>,
    /// Directories that do not exist, so that each is looked up once.
    missing: BTreeSet<String>,
    /// Directories that this run has created for files. They hold only files of this run.
    made: BTreeSet<String>,
}

/// The state of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DiskState {
    Missing,
    /// A file is there, with this hash and permission.
    File(FileRecord),
    /// Something other than a file is there, in words.
    InTheWay(String),
}

impl<'d> Disk<'d> {
    /// Opens a directory, which need not exist.
    pub(crate) fn open(system: &'d dyn System, path: &Path) -> io::Result<Disk<'d>> {
        Disk::from_opened(system, path, system.open_dir(path))
    }

    /// Opens a directory of our own state, which need not exist. A link is an error: its target belongs to
    /// others.
    pub(crate) fn open_own(system: &'d dyn System, path: &Path) -> io::Result<Disk<'d>> {
        let opened = match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) => system.open_dir_below(above, Path::new(name)),
            _ => system.open_dir(path),
        };
        Disk::from_opened(system, path, opened)
    }

    fn from_opened(
        system: &'d dyn System,
        path: &Path,
        opened: io::Result<Box<dyn Dir>>,
    ) -> io::Result<Disk<'d>> {
        let (path, top) = (path.to_owned(), if_found(opened)?);
        let (held, missing, made) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        Ok(Disk { system, path, top, is_new: false, held, missing, made })
    }

    /// Creates the directory if it does not exist.
    pub(crate) fn create_if_missing(&mut self) -> io::Result<()> {
        if self.top.is_none() {
            self.system.create_dir(&self.path)?;
            self.top = Some(self.system.open_dir(&self.path)?);
            self.is_new = true;
        }
        Ok(())
    }

    /// Checks again whether the directory is empty: another run may have created it at the same time.
    pub(crate) fn look_again(&mut self, ours: &str) -> io::Result<()> {
        if let (true, Some(top)) = (self.is_new, &self.top) {
            let entries = top.first_entries(2)?;
            self.is_new = entries.iter().all(|entry| entry.name == ours);
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory itself, if it exists.
    pub(crate) fn top(&self) -> Option<&dyn Dir> {
        self.top.as_deref()
    }

    /// Opens a directory in it; `None` when it does not exist.
    pub(crate) fn open_directory(&self, name: &str) -> io::Result<Option<Box<dyn Dir>>> {
        let Some(top) = &self.top else { return Ok(None) };
        if_found(top.open_dir(OsStr::new(name)))
    }

    /// Opens a directory in it. Creates it if needed.
    pub(crate) fn make_directory(&self, name: &str) -> io::Result<Box<dyn Dir>> {
        let top = self.top.as_deref().ok_or(io::ErrorKind::NotFound)?;
        top.make_dir(OsStr::new(name))
    }

    /// Opens a directory in it. Creates it for the user alone if needed.
    pub(crate) fn make_private_directory(&self, name: &str) -> io::Result<Box<dyn Dir>> {
        let top = self.top.as_deref().ok_or(io::ErrorKind::NotFound)?;
        if let Some(found) = self.open_directory(name)? {
            return Ok(found);
        }
        self.system.create_private_dir(&self.path.join(name))?;
        top.open_dir(OsStr::new(name))
    }

    /// Returns the state of a path.
    pub(crate) fn read_state(&mut self, path: &str) -> DiskState {
        if self.is_new {
            return DiskState::Missing;
        }
        let (directory, name) = match self.parent_of(path) {
            Ok(Some(found)) => found,
            Ok(None) => return DiskState::Missing,
            Err(_) => return DiskState::InTheWay("is behind a link or a file".to_owned()),
        };
        let mut hasher = Hasher::default();
        let read = directory.read_pieces(name, limits::SUPPORT_FILE_BYTES, &mut |piece| {
            hasher.update(piece);
            Ok(())
        });
        match read {
            Ok(permission) => DiskState::File(FileRecord {
                sha256: hasher.finish(),
                program: permission == Permission::Program,
            }),
            Err(ReadError::Missing) => DiskState::Missing,
            // No output of ours is that large.
            Err(ReadError::TooLarge { .. }) => {
                DiskState::File(FileRecord { sha256: String::new(), program: false })
            }
            Err(ReadError::NotAFile(kind)) => DiskState::InTheWay(format!("is {}", kind.noun())),
            Err(error) => DiskState::InTheWay(format!("cannot be read: {error}")),
        }
    }

    pub(crate) fn read_file(&mut self, path: &str) -> Result<FileContent, ReadError> {
        let (directory, name) = self.parent_of(path)?.ok_or(ReadError::Missing)?;
        directory.read_file(name, limits::SUPPORT_FILE_BYTES)
    }

    /// Puts a staged file in place. Creates the directories above it.
    pub(crate) fn move_from_stage(
        &mut self,
        stage: &dyn Dir,
        staged: &str,
        path: &str,
    ) -> io::Result<()> {
        let (parent, name) = split_path(path);
        let directory = self.ensure_directory(parent)?;
        let (staged, name) = (OsStr::new(staged), OsStr::new(name));
        match directory.take_file(stage, staged, name) {
            // The user's own directories may be on several file systems.
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                put_bytes((stage, staged), (directory, name))?;
                // The file is in place; the staged copy is removed with the other staged files.
                let _ = stage.remove_file(staged);
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Exchanges a staged file and the one at a path.
    pub(crate) fn exchange_file(
        &mut self,
        stage: &dyn Dir,
        staged: &str,
        path: &str,
    ) -> io::Result<()> {
        let (directory, name) = self.parent_of(path)?.ok_or(io::ErrorKind::NotFound)?;
        directory.exchange_file(stage, OsStr::new(staged), name)
    }

    /// Gives a staged file the permissions of the one that it will replace.
    pub(crate) fn share_permissions(
        &mut self,
        stage: &dyn Dir,
        staged: &str,
        path: &str,
    ) -> io::Result<()> {
        let Some((directory, name)) = self.parent_of(path)? else { return Ok(()) };
        directory.share_permissions(stage, OsStr::new(staged), name)
    }

    /// Moves a file to the staged ones.
    pub(crate) fn move_to_stage(
        &mut self,
        stage: &dyn Dir,
        staged: &str,
        path: &str,
    ) -> io::Result<()> {
        let Some((directory, name)) = self.parent_of(path)? else { return Ok(()) };
        let staged = OsStr::new(staged);
        match stage.take_file(directory, name, staged) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                put_bytes((directory, name), (stage, staged))?;
                directory.remove_file(name)
            }
            outcome => outcome,
        }
    }

    /// Removes a directory and its parents as far as they are empty.
    pub(crate) fn remove_empty_directories(&mut self, directory: &str) {
        for directory in with_parents(directory).filter(|directory| !directory.is_empty()) {
            // A directory that is not empty stays, and so do its parents.
            if !self.remove_directory(directory) {
                break;
            }
        }
    }

    /// Removes the directories that this run has created for files, as far as they are empty.
    pub(crate) fn remove_created_directories(&mut self) {
        // Deeper directories come first.
        for directory in std::mem::take(&mut self.made).iter().rev() {
            self.remove_directory(directory);
        }
    }

    /// Removes a directory if it is empty. Returns whether it is gone.
    fn remove_directory(&mut self, directory: &str) -> bool {
        self.held.clear();
        self.made.remove(directory);
        match self.parent_of(directory) {
            Ok(Some((parent, name))) => if_found(parent.remove_empty_dir(name)).is_ok(),
            outcome => outcome.is_ok(),
        }
    }

    /// Returns the directory of a file, and the file's name; `None` when the directory does not exist.
    fn parent_of<'n>(&mut self, path: &'n str) -> io::Result<Option<(&dyn Dir, &'n OsStr)>> {
        let (parent, name) = split_path(path);
        Ok(self.find_directory(parent)?.map(|directory| (directory, OsStr::new(name))))
    }

    /// Returns a directory below; `None` when it does not exist. A link in the path is an error.
    fn find_directory(&mut self, directory: &str) -> io::Result<Option<&dyn Dir>> {
        let Some(top) = self.top.as_deref() else { return Ok(None) };
        if directory.is_empty() {
            return Ok(Some(top));
        }
        if !self.held.iter().any(|(name, _)| name == directory) {
            if with_parents(directory).any(|above| self.missing.contains(above)) {
                return Ok(None);
            }
            let Some(handle) = if_found(top.open_dir_below(Path::new(directory)))? else {
                let first = first_missing(top, &mut self.held, directory);
                self.missing.insert(first.to_owned());
                return Ok(None);
            };
            cache_handle(&mut self.held, directory, handle);
        }
        Ok(find_handle(&self.held, directory))
    }

    /// Returns a directory below. Creates it if needed.
    fn ensure_directory(&mut self, directory: &str) -> io::Result<&dyn Dir> {
        if directory.is_empty() {
            return self.top.as_deref().ok_or_else(|| io::ErrorKind::NotFound.into());
        }
        if !self.held.iter().any(|(name, _)| name == directory) {
            let (above, name) = split_path(directory);
            let is_new = self.is_new || self.made.contains(above) && !self.made.contains(directory);
            let is_there = !is_new && self.find_directory(directory)?.is_some();
            if !is_there {
                let handle = self.ensure_directory(above)?.make_dir(OsStr::new(name))?;
                cache_handle(&mut self.held, directory, handle);
                // It exists from now on.
                self.missing.remove(directory);
                self.made.insert(directory.to_owned());
            }
        }
        find_handle(&self.held, directory).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Returns the highest missing directory above a missing one. Everything below it is missing too and needs no
/// lookup.
fn first_missing<'n>(
    top: &dyn Dir,
    held: &mut Vec<(String, Box<dyn Dir>)>,
    directory: &'n str,
) -> &'n str {
    let mut first = directory;
    for above in with_parents(directory).skip(1) {
        if held.iter().any(|(name, _)| name == above) {
            break;
        }
        match if_found(top.open_dir_below(Path::new(above))) {
            Ok(None) => first = above,
            Ok(Some(handle)) => {
                cache_handle(held, above, handle);
                break;
            }
            Err(_) => break,
        }
    }
    first
}

fn cache_handle(all: &mut Vec<(String, Box<dyn Dir>)>, directory: &str, handle: Box<dyn Dir>) {
    if all.len() == HELD {
        // Parents of the directory stay open, because its neighbors need them next.
        let is_above = |name: &String| with_parents(directory).any(|above| above == name);
        let oldest = all.iter().position(|(name, _)| !is_above(name)).unwrap_or(0);
        all.remove(oldest);
    }
    all.push((directory.to_owned(), handle));
}

fn find_handle<'h>(all: &'h [(String, Box<dyn Dir>)], directory: &str) -> Option<&'h dyn Dir> {
    all.iter().find(|(name, _)| name == directory).map(|(_, handle)| handle.as_ref())
}

/// Copies a file from another file system into place, with its permissions.
fn put_bytes((from, name): (&dyn Dir, &OsStr), (to, target): (&dyn Dir, &OsStr)) -> io::Result<()> {
    to.put_filled_file(target, Over::Anything, Access::Data, &mut |file| {
        from.share_permissions(to, OsStr::new(STAGED), name)?;
        from.read_pieces(name, limits::SUPPORT_FILE_BYTES, &mut |piece| file.write_all(piece))
            .map_err(io::Error::other)?;
        Ok(())
    })
}
