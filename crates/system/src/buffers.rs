//! Texts that are not saved yet, in front of a system.
//!
//! An editor asks about what its user sees, not about what is on disk. A text in front takes the
//! place of the file at its path, or is a file where there is none; directories that exist only
//! because of such a text are there, too. Nothing can be written through it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::{
    Below, Dir, DirEntry, FileContent, FileKind, Files, Machine, Processes, ReadError, Resolved,
    System,
};

/// A system with texts in front.
pub struct Buffers {
    system: Arc<dyn System>,
    texts: Arc<BTreeMap<PathBuf, FileContent>>,
}

impl Buffers {
    /// Puts texts in front of a system. A relative path is one below the current directory, and the
    /// links of directories are followed, as they are for files.
    pub fn new(
        system: Arc<dyn System>,
        texts: impl IntoIterator<Item = (PathBuf, impl Into<FileContent>)>,
    ) -> io::Result<Buffers> {
        let current = system.current_dir()?;
        let place = |path: PathBuf| crate::resolve_existing(&*system, &current.join(path)).path;
        let texts = texts.into_iter().map(|(path, text)| (place(path), text.into())).collect();
        Ok(Buffers { texts: Arc::new(texts), system })
    }

    fn is_directory(&self, path: &Path) -> bool {
        texts_below(&self.texts, path).next().is_some()
    }
}

/// Returns the texts somewhere below a directory, by path.
fn texts_below<'t>(
    texts: &'t BTreeMap<PathBuf, FileContent>,
    directory: &Path,
) -> impl Iterator<Item = &'t PathBuf> {
    let after =
        texts.range::<Path, _>((std::ops::Bound::Excluded(directory), std::ops::Bound::Unbounded));
    let directory = directory.to_owned();
    after.map(|(path, _)| path).take_while(move |path| path.starts_with(&directory))
}

fn check_size(text: &FileContent, limit: u64) -> Result<&FileContent, ReadError> {
    if text.bytes.len() as u64 > limit { Err(ReadError::TooLarge { limit }) } else { Ok(text) }
}

/// A directory of the system, or one that exists only because of a text.
struct OverlaidDir {
    directory: Option<Box<dyn Dir>>,
    path: PathBuf,
    texts: Arc<BTreeMap<PathBuf, FileContent>>,
}

impl OverlaidDir {
    fn create_overlaid_dir(
        &self,
        opened: io::Result<Box<dyn Dir>>,
        path: PathBuf,
    ) -> io::Result<Box<dyn Dir>> {
        let directory = match opened {
            Ok(directory) => Some(directory),
            Err(_) if texts_below(&self.texts, &path).next().is_some() => None,
            Err(error) => return Err(error),
        };
        Ok(Box::new(OverlaidDir { directory, path, texts: Arc::clone(&self.texts) }))
    }
}

impl Dir for OverlaidDir {
    fn open_dir(&self, name: &OsStr) -> io::Result<Box<dyn Dir>> {
        let missing = || Err(io::ErrorKind::NotFound.into());
        let opened = self.directory.as_ref().map_or_else(missing, |base| base.open_dir(name));
        self.create_overlaid_dir(opened, self.path.join(name))
    }

    fn read(&self, name: &OsStr, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.read_file(name, limit).map(|content| content.bytes)
    }

    fn read_file(&self, name: &OsStr, limit: u64) -> Result<FileContent, ReadError> {
        match (self.texts.get(&self.path.join(name)), &self.directory) {
            (Some(text), _) => check_size(text, limit).cloned(),
            (None, Some(directory)) => directory.read_file(name, limit),
            (None, None) => Err(ReadError::Missing),
        }
    }

    fn look_below(&self, path: &Path) -> Below {
        if texts_below(&self.texts, &self.path.join(path)).next().is_some() {
            return Below::Directory;
        }
        self.directory.as_ref().map_or(Below::Missing, |base| base.look_below(path))
    }

    fn first_entries(&self, limit: usize) -> io::Result<Vec<DirEntry>> {
        let mut entries = match &self.directory {
            Some(directory) => directory.first_entries(limit)?,
            None => Vec::new(),
        };
        let mut own: BTreeMap<&OsStr, FileKind> = BTreeMap::new();
        for path in texts_below(&self.texts, &self.path) {
            let mut names = path.strip_prefix(&self.path).unwrap_or(path).iter();
            let Some(name) = names.next() else { continue };
            let kind = if names.next().is_some() { FileKind::Directory } else { FileKind::File };
            own.insert(name, kind);
        }
        entries.retain(|entry| !own.contains_key(entry.name.as_os_str()));
        entries
            .extend(own.into_iter().map(|(name, kind)| DirEntry { name: name.to_owned(), kind }));
        entries.truncate(limit);
        Ok(entries)
    }
}

impl Files for Buffers {
    fn resolve(&self, path: &Path) -> io::Result<Resolved> {
        if self.texts.contains_key(path) {
            return Ok(Resolved { path: path.to_owned(), kind: FileKind::File });
        }
        match self.system.resolve(path) {
            Err(_) if self.is_directory(path) => {
                Ok(Resolved { path: path.to_owned(), kind: FileKind::Directory })
            }
            resolved => resolved,
        }
    }

    fn open_dir(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        let path = self.resolve(path)?.path;
        let start =
            OverlaidDir { directory: None, path: PathBuf::new(), texts: Arc::clone(&self.texts) };
        start.create_overlaid_dir(self.system.open_dir(&path), path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        match self.texts.get(path) {
            Some(text) => check_size(text, limit).map(|text| text.bytes.clone()),
            None => self.system.read(path, limit),
        }
    }

    fn is_executable(&self, path: &Path) -> io::Result<bool> {
        self.system.is_executable(path)
    }

    fn modified_time(&self, path: &Path) -> io::Result<SystemTime> {
        self.system.modified_time(path)
    }
}

impl Processes for Buffers {}

impl Machine for Buffers {
    fn machine_behind(&self) -> Option<&dyn Machine> {
        Some(self.system.as_ref())
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        self.system.current_dir()
    }

    fn env(&self, name: &str) -> Option<OsString> {
        self.system.env(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemorySystem, Permission};

    fn buffers() -> Buffers {
        let system = MemorySystem::new("/p").with_file("a/old", "disk").with_file("a/both", "disk");
        let texts = [("a/both", "new"), ("b/c/d", "new")];
        let texts = texts.map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_owned()));
        Buffers::new(Arc::new(system), texts).unwrap()
    }

    fn names(directory: &dyn Dir) -> Vec<(String, FileKind)> {
        let mut entries = directory.first_entries(10).unwrap();
        entries.sort_unstable();
        let name = |entry: DirEntry| (entry.name.to_string_lossy().into_owned(), entry.kind);
        entries.into_iter().map(name).collect()
    }

    /// A policy of the machine counts in an editor, too.
    #[test]
    fn the_machine_is_the_one_behind() {
        let system = MemorySystem::new("/p").with_machine_directory("/machine");
        let (now, directory) = (system.now(), system.machine_directory());
        let buffers = Buffers::new(Arc::new(system), [(PathBuf::from("a"), Vec::new())]).unwrap();
        assert_eq!((buffers.now(), buffers.machine_directory()), (now, directory.clone()));
        assert_eq!(directory, Some(PathBuf::from("/machine")));
    }

    #[test]
    fn a_text_is_in_front_of_a_file_and_of_nothing() {
        let buffers = buffers();
        let top = buffers.open_dir(Path::new("/p")).unwrap();
        let directory = |name: &str| (name.to_owned(), FileKind::Directory);
        assert_eq!(names(top.as_ref()), [directory("a"), directory("b")]);
        let a = top.open_dir(OsStr::new("a")).unwrap();
        assert_eq!(names(a.as_ref()).len(), 2);
        assert_eq!(a.read(OsStr::new("both"), 9).unwrap(), b"new");
        assert_eq!(a.read(OsStr::new("old"), 9).unwrap(), b"disk");
        let c = top.open_dir_below(Path::new("b/c")).unwrap();
        assert_eq!(names(c.as_ref()), [("d".to_owned(), FileKind::File)]);
        assert_eq!(c.read(OsStr::new("d"), 9).unwrap(), b"new");
        assert!(matches!(c.read(OsStr::new("d"), 2), Err(ReadError::TooLarge { limit: 2 })));
        assert!(top.open_dir(OsStr::new("x")).is_err());
        assert_eq!(buffers.resolve(Path::new("/p/b")).unwrap().kind, FileKind::Directory);
    }

    #[test]
    fn a_text_has_its_permission_and_a_file_keeps_its_own() {
        let system = MemorySystem::new("/p").with_file("a/old", "disk");
        let bytes = b"new".to_vec();
        let program = FileContent { bytes, permission: Permission::Program };
        let buffers = Buffers::new(Arc::new(system), [(PathBuf::from("a/run"), program)]).unwrap();
        let a = buffers.open_dir(Path::new("/p/a")).unwrap();
        for (name, text, permission) in
            [("run", "new", Permission::Program), ("old", "disk", Permission::Data)]
        {
            let content = a.read_file(OsStr::new(name), 9).unwrap();
            assert_eq!((&*content.bytes, content.permission), (text.as_bytes(), permission));
            let mut read = Vec::new();
            let mut piece = |bytes: &[u8]| {
                read.extend_from_slice(bytes);
                Ok(())
            };
            assert_eq!(a.read_pieces(OsStr::new(name), 9, &mut piece).unwrap(), permission);
            assert_eq!(read, text.as_bytes());
        }
        assert!(matches!(a.read_file(OsStr::new("run"), 2), Err(ReadError::TooLarge { limit: 2 })));
        assert!(matches!(a.read_file(OsStr::new("x"), 2), Err(ReadError::Missing)));
    }

    #[test]
    fn nothing_is_written_through_it() {
        let buffers = buffers();
        assert!(buffers.create_staged_file(Path::new("/p/x"), b"").is_err());
        assert!(buffers.remove_file(Path::new("/p/a/old")).is_err());
    }
}
