//! The files of the working tree that git would see, read from disk.
//!
//! git lists the names, because only it knows all ignore rules. It does not read the files: that would run
//! the filters of the repository.

use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_system::{
    Dir, DirEntry, FileKind, Listing, Permission, ReadError, System, TreeContents, TreeFile,
    TreeFileKind,
};

use super::objects::Committed;
use crate::extract::{listed_kind, path_from};

/// The arguments of `git ls-files`. The output is `H 100644 1a2b… 0\tpath`, or `? path` for an untracked
/// file.
pub(super) const ARGS: [&str; 8] = [
    "ls-files",
    "-z",
    "-t",
    "--stage",
    "--cached",
    "--others",
    "--exclude-standard",
    "--full-name",
];

/// Makes a listing of the names from git that exist on disk. Files that a sparse checkout leaves out are
/// listed too, with their contents from the repository.
pub(super) fn list_working_files(
    system: &dyn System,
    top: &Path,
    names: Vec<u8>,
) -> io::Result<Listing> {
    let mut levels = Levels { open: vec![OpenLevel::from_handle(system.open_dir(top)?)] };
    let mut listing = Listing::new(names);
    let mut found = Vec::new();
    let mut start = 0;
    for text in listing.text().split(|&byte| byte == 0) {
        let begin = start;
        start += text.len() + 1;
        let Some(line) = IndexLine::parse(text) else { continue };
        let path = begin + text.len() - line.path.len()..begin + text.len();
        let kind = match levels.find_kind(line.path) {
            Some(FileKind::File) => TreeFileKind::File,
            Some(FileKind::Link) => TreeFileKind::Link,
            None if line.is_sparse => {
                let (object, kind) = (line.object, line.kind);
                found.push((path, begin + object.start..begin + object.end, kind));
                continue;
            }
            // A submodule is another repository; a removed file is missing.
            Some(FileKind::Directory | FileKind::Other) | None => continue,
        };
        found.push((path, 0..0, kind));
    }
    for (path, object, kind) in found {
        listing.add_file(path, object, kind);
    }
    Ok(listing)
}

struct IndexLine<'t> {
    path: &'t [u8],
    /// True for a tracked file that need not be on disk.
    is_sparse: bool,
    object: Range<usize>,
    kind: TreeFileKind,
}

impl<'t> IndexLine<'t> {
    fn parse(text: &'t [u8]) -> Option<IndexLine<'t>> {
        let (tag, rest) = text.split_at_checked(2)?;
        let nothing =
            IndexLine { path: rest, is_sparse: false, object: 0..0, kind: TreeFileKind::File };
        if tag == b"? " {
            return Some(nothing);
        }
        let tab = text.iter().position(|&byte| byte == b'\t')?;
        let mode = text.get(2..8)?;
        let object = 9..9 + text.get(9..)?.iter().position(|&byte| byte == b' ')?;
        let kind = listed_kind(std::str::from_utf8(mode).ok()?).unwrap_or(TreeFileKind::File);
        let is_sparse = tag == b"S " && mode != b"160000";
        Some(IndexLine { path: &text[tab + 1..], is_sparse, object, kind })
    }
}

/// An open directory above a name.
struct OpenLevel {
    name: Vec<u8>,
    /// The handle; `None` when the directory cannot be opened.
    handle: Option<Box<dyn Dir>>,
    entries: Vec<DirEntry>,
}

impl OpenLevel {
    fn from_handle(handle: Box<dyn Dir>) -> OpenLevel {
        let mut entries = handle.entries().unwrap_or_default();
        entries.sort_unstable();
        OpenLevel { name: Vec::new(), handle: Some(handle), entries }
    }

    fn open_below(&self, name: &[u8]) -> OpenLevel {
        let open = || {
            let name = path_from(name)?;
            self.handle.as_ref()?.open_dir(name.as_os_str()).ok()
        };
        let level = open().map(OpenLevel::from_handle);
        let nothing = OpenLevel { name: Vec::new(), handle: None, entries: Vec::new() };
        OpenLevel { name: name.to_vec(), ..level.unwrap_or(nothing) }
    }

    fn find_kind(&self, name: &[u8]) -> Option<FileKind> {
        let name = path_from(name)?;
        let found = self.entries.binary_search_by(|entry| {
            let found: &OsStr = &entry.name;
            found.cmp(name.as_os_str())
        });
        found.ok().map(|index| self.entries[index].kind)
    }
}

/// The open directories above the last name. Names come in order, so each directory is read once.
struct Levels {
    open: Vec<OpenLevel>,
}

impl Levels {
    fn find_kind(&mut self, path: &[u8]) -> Option<FileKind> {
        let mut names: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let last = names.pop()?;
        let common =
            self.open[1..].iter().zip(&names).take_while(|(level, name)| level.name == **name);
        let common = common.count();
        self.open.truncate(1 + common);
        for name in &names[common..] {
            let next = self.open.last()?.open_below(name);
            self.open.push(next);
        }
        self.open.last()?.find_kind(last)
    }
}

/// The contents of files on disk.
pub(super) struct OnDisk {
    pub(super) system: Arc<dyn System>,
    pub(super) top: PathBuf,
    /// The contents for files that a sparse checkout leaves out.
    pub(super) committed: Committed,
}

impl OnDisk {
    fn disk_path(&self, listed: &TreeFile<'_>) -> io::Result<PathBuf> {
        let below = path_from(listed.path).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.top.join(below))
    }
}

impl TreeContents for OnDisk {
    fn read_file(&self, file: &TreeFile<'_>, limit: u64) -> Result<Vec<u8>, ReadError> {
        if !file.object.is_empty() {
            return self.committed.read_file(file, limit);
        }
        let below = path_from(file.path).ok_or(ReadError::Missing)?;
        read_on_disk(self.system.as_ref(), &self.top, &below, limit)
    }

    fn link_target(&self, link: &TreeFile<'_>) -> io::Result<PathBuf> {
        if !link.object.is_empty() {
            return self.committed.link_target(link);
        }
        Ok(self.system.resolve(&self.disk_path(link)?)?.path)
    }

    fn permission(&self, file: &TreeFile<'_>) -> Permission {
        if !file.object.is_empty() {
            return self.committed.permission(file);
        }
        let is_program = |path: PathBuf| self.system.is_executable(&path);
        match self.disk_path(file).and_then(is_program) {
            Ok(true) => Permission::Program,
            _ => Permission::Data,
        }
    }
}

/// Reads a file below the top of a working tree.
pub(super) fn read_on_disk(
    system: &dyn System,
    top: &Path,
    below: &Path,
    limit: u64,
) -> Result<Vec<u8>, ReadError> {
    let name = below.file_name().ok_or(ReadError::Missing)?;
    // Opened from handle to handle, so that a directory replaced by a link cannot lead elsewhere.
    let handle = match below.parent().filter(|parent| *parent != Path::new("")) {
        Some(parent) => system.open_dir_below(top, parent)?,
        None => system.open_dir(top)?,
    };
    handle.read(name, limit)
}
