//! A directory that outputs go to: looked at and written through held handles, never through a link.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use brief_syntax::hash::Hasher;
use brief_syntax::limits;
use brief_syntax::system::{Access, Dir, FileContent, Over, Permission, ReadError, STAGED, System};

use super::record::FileRecord;
use super::split;

/// Directories that are held open; neighbours are looked at one after the other.
const HELD: usize = 8;

/// The output directory.
pub(crate) struct Disk<'d> {
    system: &'d dyn System,
    path: PathBuf,
    top: Option<Box<dyn Dir>>,
    /// Whether this run has made it, so that nothing is there but what this run writes.
    is_new: bool,
    held: Vec<(String, Box<dyn Dir>)>,
    /// Directories that were looked for in vain, so that nobody asks again for every file in them.
    missing: BTreeSet<String>,
    /// Directories that this run has made for files, in order.
    made: Vec<String>,
    /// The same, to be found: nothing is in them but what this run has put there.
    is_made: BTreeSet<String>,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing.
    Missing,
    /// A file.
    File(FileRecord),
    /// Something else, in these words.
    InTheWay(String),
}

impl<'d> Disk<'d> {
    /// Opens a directory, which need not exist.
    pub(crate) fn open(system: &'d dyn System, path: &Path) -> io::Result<Disk<'d>> {
        Disk::holding(system, path, system.open_dir(path))
    }

    /// Opens a directory that is only for us, which need not exist. A link is an error: what it leads to
    /// is somebody else's.
    pub(crate) fn open_own(system: &'d dyn System, path: &Path) -> io::Result<Disk<'d>> {
        let opened = match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) => system.open_dir_below(above, Path::new(name)),
            _ => system.open_dir(path),
        };
        Disk::holding(system, path, opened)
    }

    fn holding(
        system: &'d dyn System,
        path: &Path,
        opened: io::Result<Box<dyn Dir>>,
    ) -> io::Result<Disk<'d>> {
        let top = match opened {
            Ok(top) => Some(top),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let (held, made) = (Vec::new(), Vec::new());
        let (missing, is_made) = (BTreeSet::new(), BTreeSet::new());
        let path = path.to_owned();
        Ok(Disk { system, path, top, is_new: false, held, missing, made, is_made })
    }

    /// Creates the directory, if it does not exist.
    pub(crate) fn create(&mut self) -> io::Result<()> {
        if self.top.is_none() {
            self.system.create_dir(&self.path)?;
            self.top = Some(self.system.open_dir(&self.path)?);
            self.is_new = true;
        }
        Ok(())
    }

    /// Looks again whether nothing is there: another run may have made the directory at the same time.
    pub(crate) fn look_again(&mut self, ours: &str) -> io::Result<()> {
        if let (true, Some(top)) = (self.is_new, &self.top) {
            let entries = top.first_entries(2)?;
            self.is_new = entries.iter().all(|entry| entry.name == ours);
        }
        Ok(())
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory itself, if it exists.
    pub(crate) fn top(&self) -> Option<&dyn Dir> {
        self.top.as_deref()
    }

    /// Opens a directory in it; `None` when that does not exist.
    pub(crate) fn directory(&self, name: &str) -> io::Result<Option<Box<dyn Dir>>> {
        let Some(top) = &self.top else { return Ok(None) };
        match top.open_dir(OsStr::new(name)) {
            Ok(directory) => Ok(Some(directory)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a directory in it, and creates it if need be.
    pub(crate) fn make_directory(&self, name: &str) -> io::Result<Box<dyn Dir>> {
        let top = self.top.as_deref().ok_or(io::ErrorKind::NotFound)?;
        top.make_dir(OsStr::new(name))
    }

    /// Opens a directory in it, and creates it for the user alone if need be.
    pub(crate) fn make_private_directory(&self, name: &str) -> io::Result<Box<dyn Dir>> {
        let top = self.top.as_deref().ok_or(io::ErrorKind::NotFound)?;
        match top.open_dir(OsStr::new(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.system.create_private_dir(&self.path.join(name))?;
                top.open_dir(OsStr::new(name))
            }
            outcome => outcome,
        }
    }

    /// Says what is at a path.
    pub(crate) fn look(&mut self, path: &str) -> Found {
        if self.is_new {
            return Found::Missing;
        }
        let (parent, name) = split(path);
        match self.hold(parent) {
            Ok(Some(directory)) => {
                let mut hasher = Hasher::default();
                let read = directory.read_pieces(
                    OsStr::new(name),
                    limits::SUPPORT_FILE_BYTES,
                    &mut |piece| {
                        hasher.update(piece);
                        Ok(())
                    },
                );
                match read {
                    Ok(permission) => Found::File(FileRecord {
                        sha256: hasher.finish(),
                        program: permission == Permission::Program,
                    }),
                    Err(ReadError::Missing) => Found::Missing,
                    // Nothing of ours is so large.
                    Err(ReadError::TooLarge { .. }) => {
                        Found::File(FileRecord { sha256: String::new(), program: false })
                    }
                    Err(ReadError::NotAFile(kind)) => {
                        Found::InTheWay(format!("is {}", kind.noun()))
                    }
                    Err(error) => Found::InTheWay(format!("cannot be read: {error}")),
                }
            }
            Ok(None) => Found::Missing,
            Err(_) => Found::InTheWay("lies behind a link or a file".to_owned()),
        }
    }

    /// Reads a file as a whole.
    pub(crate) fn read(&mut self, path: &str) -> Result<FileContent, ReadError> {
        let (parent, name) = split(path);
        match self.hold(parent)? {
            Some(directory) => directory.read_file(OsStr::new(name), limits::SUPPORT_FILE_BYTES),
            None => Err(ReadError::Missing),
        }
    }

    /// Puts a staged file in place, and makes the directories above it.
    pub(crate) fn take(&mut self, stage: &dyn Dir, staged: &str, path: &str) -> io::Result<()> {
        let (parent, name) = split(path);
        let directory = self.make(parent)?;
        let (staged, name) = (OsStr::new(staged), OsStr::new(name));
        match directory.take_file(stage, staged, name) {
            // The user's own places may be on several file systems.
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                put_bytes((stage, staged), (directory, name))?;
                // It is in place; what is left of it goes with the other staged files.
                let _ = stage.remove_file(staged);
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Lets a staged file and the one at a path change places.
    pub(crate) fn exchange(&mut self, stage: &dyn Dir, staged: &str, path: &str) -> io::Result<()> {
        let (parent, name) = split(path);
        let directory = self.hold(parent)?.ok_or(io::ErrorKind::NotFound)?;
        directory.exchange_file(stage, OsStr::new(staged), OsStr::new(name))
    }

    /// Gives a staged file the permissions of the one that it will take the place of.
    pub(crate) fn share_permissions(
        &mut self,
        stage: &dyn Dir,
        staged: &str,
        path: &str,
    ) -> io::Result<()> {
        let (parent, name) = split(path);
        match self.hold(parent)? {
            Some(directory) => {
                directory.share_permissions(stage, OsStr::new(staged), OsStr::new(name))
            }
            None => Ok(()),
        }
    }

    /// Moves a file to the staged ones.
    pub(crate) fn give(&mut self, stage: &dyn Dir, staged: &str, path: &str) -> io::Result<()> {
        let (parent, name) = split(path);
        let (staged, name) = (OsStr::new(staged), OsStr::new(name));
        match self.hold(parent)? {
            Some(directory) => match stage.take_file(directory, name, staged) {
                Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                    put_bytes((directory, name), (stage, staged))?;
                    directory.remove_file(name)
                }
                outcome => outcome,
            },
            None => Ok(()),
        }
    }

    /// Removes a directory and those above it, as far as they are empty.
    pub(crate) fn tidy(&mut self, directory: &str) {
        let mut directory = directory;
        while !directory.is_empty() {
            // One that is not empty stays, and so do those above it.
            if !self.remove_directory(directory) {
                break;
            }
            directory = split(directory).0;
        }
    }

    /// Removes the directories that this run has made for files, as far as they are empty.
    pub(crate) fn unmake(&mut self) {
        self.is_made.clear();
        for directory in std::mem::take(&mut self.made).iter().rev() {
            self.remove_directory(directory);
        }
    }

    /// Removes a directory if it is empty, and returns whether it is gone.
    fn remove_directory(&mut self, directory: &str) -> bool {
        self.held.clear();
        self.is_made.remove(directory);
        let (above, name) = split(directory);
        match self.hold(above) {
            Ok(Some(held)) => match held.remove_empty_dir(OsStr::new(name)) {
                Ok(()) => true,
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            },
            Ok(None) => true,
            Err(_) => false,
        }
    }

    /// Returns a directory below; `None` when it does not exist. A link on the way is an error.
    fn hold(&mut self, directory: &str) -> io::Result<Option<&dyn Dir>> {
        let Some(top) = self.top.as_deref() else { return Ok(None) };
        if directory.is_empty() {
            return Ok(Some(top));
        }
        if !self.held.iter().any(|(name, _)| name == directory) {
            if is_below_one(&self.missing, directory) {
                return Ok(None);
            }
            match top.open_dir_below(Path::new(directory)) {
                Ok(handle) => keep(&mut self.held, directory, handle),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let first = first_missing(top, &mut self.held, directory);
                    self.missing.insert(first.to_owned());
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(held(&self.held, directory))
    }

    /// Returns a directory below, created if need be.
    fn make(&mut self, directory: &str) -> io::Result<&dyn Dir> {
        if directory.is_empty() {
            return self.top.as_deref().ok_or_else(|| io::ErrorKind::NotFound.into());
        }
        if !self.held.iter().any(|(name, _)| name == directory) {
            let (above, name) = split(directory);
            let is_new =
                self.is_new || self.is_made.contains(above) && !self.is_made.contains(directory);
            let is_there = !is_new && self.hold(directory)?.is_some();
            if !is_there {
                let handle = self.make(above)?.make_dir(OsStr::new(name))?;
                keep(&mut self.held, directory, handle);
                // From now on it is there.
                self.missing.remove(directory);
                self.made.push(directory.to_owned());
                self.is_made.insert(directory.to_owned());
            }
        }
        held(&self.held, directory).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Returns the highest directory that does not exist on the way to one that does not: whatever else
/// would lie below it is missing too, and nobody has to ask for it.
fn first_missing<'n>(
    top: &dyn Dir,
    held: &mut Vec<(String, Box<dyn Dir>)>,
    directory: &'n str,
) -> &'n str {
    let mut first = directory;
    while let Some((above, _)) = first.rsplit_once('/') {
        if held.iter().any(|(name, _)| name == above) {
            break;
        }
        match top.open_dir_below(Path::new(above)) {
            Ok(handle) => {
                keep(held, above, handle);
                break;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => first = above,
            Err(_) => break,
        }
    }
    first
}

fn keep(all: &mut Vec<(String, Box<dyn Dir>)>, directory: &str, handle: Box<dyn Dir>) {
    if all.len() == HELD {
        // Those on the way are asked for again, by the next directory beside this one.
        let oldest = all.iter().position(|(name, _)| !is_above(name, directory)).unwrap_or(0);
        all.remove(oldest);
    }
    all.push((directory.to_owned(), handle));
}

fn held<'h>(all: &'h [(String, Box<dyn Dir>)], directory: &str) -> Option<&'h dyn Dir> {
    all.iter().find(|(name, _)| name == directory).map(|(_, handle)| handle.as_ref())
}

/// Returns whether a directory is one of some, or lies below one.
fn is_below_one(all: &BTreeSet<String>, directory: &str) -> bool {
    let mut above = directory;
    loop {
        if all.contains(above) {
            return true;
        }
        match above.rsplit_once('/') {
            Some((parent, _)) => above = parent,
            None => return false,
        }
    }
}

/// Returns whether a directory is another one, or lies on the way to it.
fn is_above(above: &str, directory: &str) -> bool {
    directory.strip_prefix(above).is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// Puts a file of another file system in place, with its permissions.
fn put_bytes((from, name): (&dyn Dir, &OsStr), (to, target): (&dyn Dir, &OsStr)) -> io::Result<()> {
    to.put_filled_file(target, Over::Anything, Access::Data, &mut |file| {
        from.share_permissions(to, OsStr::new(STAGED), name)?;
        from.read_pieces(name, limits::SUPPORT_FILE_BYTES, &mut |piece| file.write_all(piece))
            .map_err(io::Error::other)?;
        Ok(())
    })
}
