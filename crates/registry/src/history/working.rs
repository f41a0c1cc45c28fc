//! The working tree: what git would see in it, read from disk.
//!
//! git says which names count, because only it knows all that says what to ignore. It does not look
//! into the files: that would run the filters of the repository.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::System;
use brief_syntax::system::{
    Contents, Dir, DirEntry, FileKind, Listed, ListedKind, Listing, Permission, ReadError,
};

use crate::extract::path_from;

/// Makes a listing of what `git ls-files -z` names, as far as it is there.
pub(super) fn listing(system: &dyn System, top: &Path, names: Vec<u8>) -> io::Result<Listing> {
    let mut levels = Levels { open: vec![Level::read(system.open_dir(top)?)] };
    let mut listing = Listing::new(names);
    let mut found = Vec::new();
    let mut start = 0;
    for name in listing.text().split(|&byte| byte == 0) {
        let range = start..start + name.len();
        start = range.end + 1;
        let kind = match levels.kind(name) {
            Some(FileKind::File) => ListedKind::File,
            Some(FileKind::Link) => ListedKind::Link,
            // A submodule is somebody else's repository; what was removed is not there.
            Some(FileKind::Directory | FileKind::Other) | None => continue,
        };
        found.push((range, kind));
    }
    for (range, kind) in found {
        listing.add(range, 0..0, kind);
    }
    Ok(listing)
}

/// A directory on the way to a name.
struct Level {
    name: Vec<u8>,
    /// `None` when it cannot be opened.
    handle: Option<Box<dyn Dir>>,
    entries: Vec<DirEntry>,
}

impl Level {
    fn read(handle: Box<dyn Dir>) -> Level {
        let mut entries = handle.entries().unwrap_or_default();
        entries.sort_unstable();
        Level { name: Vec::new(), handle: Some(handle), entries }
    }

    fn below(&self, name: &[u8]) -> Level {
        let open = || {
            let name = path_from(name)?;
            self.handle.as_ref()?.open_dir(name.as_os_str()).ok()
        };
        let level = open().map(Level::read);
        let nothing = Level { name: Vec::new(), handle: None, entries: Vec::new() };
        Level { name: name.to_vec(), ..level.unwrap_or(nothing) }
    }

    fn kind(&self, name: &[u8]) -> Option<FileKind> {
        let name = path_from(name)?;
        let found = self.entries.binary_search_by(|entry| {
            let found: &OsStr = &entry.name;
            found.cmp(name.as_os_str())
        });
        found.ok().map(|index| self.entries[index].kind)
    }
}

/// The open directories from the top to the last name. Names come in order, so each directory is
/// read once.
struct Levels {
    open: Vec<Level>,
}

impl Levels {
    fn kind(&mut self, path: &[u8]) -> Option<FileKind> {
        let mut names: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let last = names.pop()?;
        let common =
            self.open[1..].iter().zip(&names).take_while(|(level, name)| level.name == **name);
        let common = common.count();
        self.open.truncate(1 + common);
        for name in &names[common..] {
            let next = self.open.last()?.below(name);
            self.open.push(next);
        }
        self.open.last()?.kind(last)
    }
}

/// The contents of files on disk.
pub(super) struct OnDisk {
    pub(super) system: Arc<dyn System>,
    pub(super) top: PathBuf,
}

impl OnDisk {
    fn path(&self, listed: &Listed<'_>) -> io::Result<PathBuf> {
        let below = path_from(listed.path).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.top.join(below))
    }
}

impl Contents for OnDisk {
    fn read(&self, file: &Listed<'_>, limit: u64) -> Result<Vec<u8>, ReadError> {
        let below = path_from(file.path).ok_or(ReadError::Missing)?;
        let name = below.file_name().ok_or(ReadError::Missing)?;
        // From handle to handle: a directory that has become a link since leads nowhere.
        let handle = match below.parent().filter(|parent| *parent != Path::new("")) {
            Some(parent) => self.system.open_dir_below(&self.top, parent)?,
            None => self.system.open_dir(&self.top)?,
        };
        handle.read(name, limit)
    }

    fn target(&self, link: &Listed<'_>) -> io::Result<PathBuf> {
        Ok(self.system.resolve(&self.path(link)?)?.path)
    }

    fn permission(&self, file: &Listed<'_>) -> Permission {
        let is_program = |path: PathBuf| self.system.is_executable(&path);
        match self.path(file).and_then(is_program) {
            Ok(true) => Permission::Program,
            _ => Permission::Data,
        }
    }
}
