//! A project's root and paths in it.
//!
//! Paths are compared by components after links were resolved, so that two spellings of one file
//! are one file, and a target that only seems to be inside the root is outside.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::limits;
use brief_system::{
    Dir, FileKind, Files, ReadError, Resolved, System, resolve_existing, resolved_home,
};

/// The directory at or below which everything is read. The default is the empty path, where nothing
/// lies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Root {
    path: PathBuf,
}

/// The kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// A file, which need not exist yet.
    File,
    /// A directory.
    Directory,
}

/// A path inside a [`Root`], without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    names: Vec<OsString>,
    slashed: String,
    kind: TargetKind,
}

impl Root {
    /// Resolves the links in `path`, which must lead to a directory.
    pub fn open(system: &dyn Files, path: &Path) -> io::Result<Root> {
        Ok(Root { path: system.resolve_dir(path)? })
    }

    /// Returns the repository that holds this directory: the nearest one with a `.git`, or the
    /// directory itself. It is the root of a question (ruling G16).
    #[must_use]
    pub fn into_repository(self, system: &dyn Files) -> Root {
        match repository_around(system, &self.path) {
            Some(directory) => Root { path: directory.to_owned() },
            None => self,
        }
    }

    /// Returns the absolute path without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Finds `path` in this root; `None` when it lies outside.
    ///
    /// A relative path starts at `base`. The system resolves the existing part of the path; the
    /// rest is appended as text. A path that does not exist is a directory if it ends in a
    /// separator.
    pub fn locate_target(&self, system: &dyn Files, base: &Path, path: &Path) -> Option<Target> {
        let absolute = base.join(path);
        let Resolved { path: resolved, kind } = resolve_existing(system, &absolute);
        let inside = resolved.strip_prefix(&self.path).ok()?;
        let names: Vec<OsString> =
            inside.components().map(|component| component.as_os_str().to_owned()).collect();
        let kind = match kind {
            FileKind::Directory => TargetKind::Directory,
            _ => TargetKind::File,
        };
        Some(Target::from_names(names, kind))
    }

    /// Reads the file called `name` in the directory `dir` of this root.
    ///
    /// A link is followed only if it leads to a regular file inside the root. `handle` must be the
    /// open `dir`.
    pub fn read_in(
        &self,
        system: &dyn Files,
        handle: &dyn Dir,
        dir: &Path,
        name: &str,
    ) -> Result<Vec<u8>, ReadError> {
        match handle.read(OsStr::new(name), limits::FILE_BYTES) {
            Err(ReadError::NotAFile(FileKind::Link)) => self.read_linked(system, &dir.join(name)),
            outcome => outcome,
        }
    }

    fn read_linked(&self, system: &dyn Files, link: &Path) -> Result<Vec<u8>, ReadError> {
        let resolved = system.resolve(&self.path.join(link))?;
        let Ok(inside) = resolved.path.strip_prefix(&self.path) else {
            return Err(ReadError::Io(io::Error::other(
                "is a symbolic link that leaves the project",
            )));
        };
        if inside.as_os_str().is_empty() {
            return Err(ReadError::NotAFile(FileKind::Directory));
        }
        // The path has no links: a link now was put there in between, and is refused.
        system.open_dir(&self.path)?.read_below(inside, limits::FILE_BYTES)
    }
}

/// Returns the nearest repository that holds a directory: one with a `.git`, which may be a file.
pub fn repository_around<'p>(system: &dyn Files, directory: &'p Path) -> Option<&'p Path> {
    directory.ancestors().find(|place| system.resolve(&place.join(".git")).is_ok())
}

/// A directory that is no project, because all projects of a user may lie below it. Nothing of what lies there belongs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WideDirectory {
    /// The top of the file system.
    FileSystem,
    /// The user's home directory.
    Home,
    /// A directory above it.
    AboveHome,
}

impl WideDirectory {
    /// What a walk does with such a directory, in the words of a message.
    pub const UNREAD: &'static str = "not a project; brief reads only its top level";

    /// The way out.
    pub const HELP: &'static str = "run in a project, or select one with `-C DIR`";

    /// Returns what a directory, given without links, is; `None` for any directory that may be a project. A user who keeps such
    /// a directory in git has made it a project.
    pub fn from_directory(system: &dyn System, directory: &Path) -> Option<WideDirectory> {
        let kind = if directory.parent().is_none() {
            WideDirectory::FileSystem
        } else {
            let home = resolved_home(system)?;
            match home.strip_prefix(directory) {
                Ok(below) if below.as_os_str().is_empty() => WideDirectory::Home,
                Ok(_) => WideDirectory::AboveHome,
                Err(_) => return None,
            }
        };
        repository_around(system, directory).is_none().then_some(kind)
    }

    /// Returns the directory in the words of a message.
    pub fn as_str(self) -> &'static str {
        match self {
            WideDirectory::FileSystem => "the whole file system",
            WideDirectory::Home => "your home directory",
            WideDirectory::AboveHome => "a directory above your home directory",
        }
    }
}

impl Target {
    /// Makes a target from the names of its path.
    pub fn from_names(names: Vec<OsString>, kind: TargetKind) -> Target {
        let mut slashed = String::new();
        for name in &names {
            if !slashed.is_empty() {
                slashed.push('/');
            }
            slashed.push_str(&name.to_string_lossy());
        }
        Target { names, slashed, kind }
    }

    /// Makes a target from a `/`-separated path that is known to be inside the root.
    pub fn from_slashed(path: &str, kind: TargetKind) -> Target {
        let names = path.split('/').filter(|name| !name.is_empty()).map(OsString::from).collect();
        Target::from_names(names, kind)
    }

    /// Makes this the target of another name in the same directory. Costs less than a new one, which counts
    /// where every file of a project is asked about (X18).
    pub fn set_name(&mut self, name: &str) {
        let Some(last) = self.names.last_mut() else { return };
        last.clear();
        last.push(name);
        let start = self.slashed.rfind('/').map_or(0, |slash| slash + 1);
        self.slashed.truncate(start);
        self.slashed.push_str(name);
    }

    /// Returns the path below the root with `/` between names; empty for the root itself.
    pub fn slashed(&self) -> &str {
        &self.slashed
    }

    /// Returns the kind: file or directory.
    pub fn kind(&self) -> TargetKind {
        self.kind
    }

    /// Returns the names of the directories from the root down to the start of discovery: the
    /// directory of a file, or the directory itself.
    pub fn directories(&self) -> &[OsString] {
        match self.kind {
            TargetKind::Directory => &self.names,
            TargetKind::File => &self.names[..self.names.len().saturating_sub(1)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brief_system::MemorySystem;

    fn located(system: &MemorySystem, root: &str, path: &str) -> Option<(String, TargetKind)> {
        let root = Root::open(system, Path::new(root)).unwrap();
        let target = root.locate_target(system, Path::new(root.path()), Path::new(path))?;
        Some((target.slashed().to_owned(), target.kind()))
    }

    #[test]
    fn another_name_in_a_directory_is_another_target() {
        for (before, name, after) in [("a/b/c", "x.rs", "a/b/x.rs"), ("c", "\u{e9}", "\u{e9}")] {
            let mut target = Target::from_slashed(before, TargetKind::File);
            target.set_name(name);
            assert_eq!(target, Target::from_slashed(after, TargetKind::File));
        }
    }

    #[test]
    fn a_path_is_a_file_unless_it_is_or_ends_like_a_directory() {
        let system = MemorySystem::new("/p").with_dir("src").with_file("a.py", "");
        assert_eq!(located(&system, "/p", "src"), Some(("src".into(), TargetKind::Directory)));
        assert_eq!(located(&system, "/p", "a.py"), Some(("a.py".into(), TargetKind::File)));
        assert_eq!(located(&system, "/p", "new/x"), Some(("new/x".into(), TargetKind::File)));
        assert_eq!(located(&system, "/p", "new/"), Some(("new".into(), TargetKind::Directory)));
        assert_eq!(located(&system, "/p", "."), Some((String::new(), TargetKind::Directory)));
        assert_eq!(located(&system, "/p", "no/such/../x"), Some(("no/x".into(), TargetKind::File)));
    }

    /// Ruling G4: a target outside the root gets nothing from this root.
    #[test]
    fn outside_is_outside_however_it_is_spelled() {
        let system = MemorySystem::new("/p").with_dir("/other").with_link("/p/out", "/other");
        for path in ["../other/x", "/other/x", "out/x", "/p2/x", ".."] {
            assert_eq!(located(&system, "/p", path), None, "{path}");
        }
    }

    /// Ruling G4: both spellings of a linked root are one root.
    #[test]
    fn a_linked_root_is_the_same_root() {
        let system = MemorySystem::new("/p").with_file("a", "").with_link("/alias", "/p");
        assert_eq!(located(&system, "/alias", "/p/a"), Some(("a".into(), TargetKind::File)));
        assert_eq!(located(&system, "/p", "/alias/new"), Some(("new".into(), TargetKind::File)));
    }

    #[test]
    fn names_that_begin_with_two_dots_are_names() {
        let system = MemorySystem::new("/p").with_file("..data/x", "");
        assert_eq!(located(&system, "/p", "..data/x"), Some(("..data/x".into(), TargetKind::File)));
    }

    /// Ruling G6: a link inside the root is followed, one that leaves it never is.
    #[test]
    fn links_are_followed_inside_the_root_only() {
        let system = MemorySystem::new("/p")
            .with_file("/secret", "s")
            .with_file("real/a.yaml", "r")
            .with_link("in.yaml", "real/a.yaml")
            .with_link("absolute.yaml", "/p/real/a.yaml")
            .with_link("out.yaml", "/secret")
            .with_link("up.yaml", "../secret");
        let root = Root::open(&system, Path::new("/p")).unwrap();
        let handle = system.open_dir(root.path()).unwrap();
        let read = |name: &str| root.read_in(&system, handle.as_ref(), Path::new(""), name);
        assert_eq!(read("in.yaml").unwrap(), b"r");
        assert_eq!(read("absolute.yaml").unwrap(), b"r");
        for outside in ["out.yaml", "up.yaml"] {
            let error = read(outside).unwrap_err().to_string();
            assert_eq!(error, "is a symbolic link that leaves the project");
        }
    }
}
