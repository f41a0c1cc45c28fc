//! The directories that packages may lie in, and the way to them.
//!
//! A package manager makes links: pnpm links each package into its store, workspaces link their members. A
//! link is followed where it stays inside the project (ruling G6); one that leaves it is noted and not
//! followed. Packages that a project shares with others lie in a cache, which is a base directory of its own.

use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_system::{Dir, DirEntry, FileKind, System};
use serde_json::Value;
use toml_edit::Document;

use super::manifests;
use super::model::{Package, PackageId};
use super::shipping;

/// An open directory and its path without links.
pub(super) struct PackageDir {
    pub(super) handle: Box<dyn Dir>,
    pub(super) path: PathBuf,
}

/// A directory that its packages must not leave.
pub(super) struct PackageBase<'g> {
    pub(super) system: &'g dyn System,
    /// The directory, absolute and without links.
    pub(super) path: PathBuf,
    notes: RefCell<Vec<String>>,
    looked_at: Cell<usize>,
}

impl<'g> PackageBase<'g> {
    pub(super) fn new(system: &'g dyn System, path: &Path) -> PackageBase<'g> {
        PackageBase {
            system,
            path: path.to_owned(),
            notes: RefCell::default(),
            looked_at: Cell::new(0),
        }
    }

    /// Opens the cache that a package manager shares between projects, if there is one.
    pub(super) fn open_cache(
        system: &'g dyn System,
        path: &Path,
    ) -> Option<(PackageBase<'g>, PackageDir)> {
        let path = system.resolve_dir(path).ok()?;
        let base = PackageBase::new(system, &path);
        let top = base.open_directory(&path)?;
        Some((base, top))
    }

    /// Returns a package in a directory of this base, before the search for its guidance.
    pub(super) fn build_package(&self, id: PackageId, owner: &Path, place: &PackageDir) -> Package {
        Package {
            id,
            declared: None,
            is_direct: false,
            owner: owner.to_owned(),
            base: self.path.clone(),
            directory: place.path.clone(),
            code: vec![place.path.clone()],
            files: Vec::new(),
        }
    }

    /// Records a remark for the user, once.
    pub(super) fn add_note(&self, note: String) {
        let mut notes = self.notes.borrow_mut();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Records that a package shipped more than is read.
    pub(super) fn note_cut(&self, package: &Package, is_cut: bool) {
        if is_cut {
            let limit = limits::DEPENDENCY_FILES;
            self.add_note(format!(
                "{} ships more than {limit} files: the rest is skipped",
                package.id
            ));
        }
    }

    /// Counts packages that were looked at.
    pub(super) fn count_packages(&self, packages: usize) {
        self.looked_at.set(self.looked_at.get() + packages);
    }

    /// Returns the remarks, and the number of packages that were looked at.
    pub(super) fn finish(self) -> (Vec<String>, usize) {
        (self.notes.into_inner(), self.looked_at.get())
    }

    /// Searches the directory of a package for guidance. It may lie on another base.
    pub(super) fn search_guidance(&self, package: &mut Package) {
        let below = package.directory.strip_prefix(&package.base).unwrap_or(&package.directory);
        if let Ok(handle) = self.system.open_dir_below(&package.base, below) {
            let shipping = shipping::collect_shipped_files(handle.as_ref());
            self.note_cut(package, shipping.is_cut);
            package.files = shipping.files;
        }
    }

    /// Returns the package of a directory with its guidance; `None` if it ships none.
    pub(super) fn shipping_package(
        &self,
        place: &PackageDir,
        package: impl FnOnce() -> Package,
    ) -> Option<Package> {
        let shipping = shipping::collect_shipped_files(place.handle.as_ref());
        if shipping.files.is_empty() {
            return None;
        }
        let mut package = package();
        self.note_cut(&package, shipping.is_cut);
        package.files = shipping.files;
        Some(package)
    }

    /// Returns a path as people read it.
    pub(super) fn display_path(&self, path: &Path) -> String {
        path.strip_prefix(&self.path).unwrap_or(path).display().to_string()
    }

    /// Opens a directory on this base, with the links in its path followed.
    pub(super) fn open_directory(&self, path: &Path) -> Option<PackageDir> {
        let path = self.system.resolve_dir(path).ok()?;
        let Ok(below) = path.strip_prefix(&self.path) else {
            self.add_note(format!("{} is outside the project and is not read", path.display()));
            return None;
        };
        let handle = if below.as_os_str().is_empty() {
            self.system.open_dir(&path)
        } else {
            self.system.open_dir_below(&self.path, below)
        };
        Some(PackageDir { handle: handle.ok()?, path })
    }

    /// Opens a directory in another one. A link is followed where it stays on this base.
    pub(super) fn enter_directory(&self, above: &PackageDir, name: &str) -> Option<PackageDir> {
        let path = above.path.join(name);
        match above.handle.open_dir(OsStr::new(name)) {
            Ok(handle) => Some(PackageDir { handle, path }),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(_) => self.follow_link(&path),
        }
    }

    /// Opens a directory some levels below another one, as [`PackageBase::enter`] does.
    pub(super) fn enter_below(&self, above: &PackageDir, slashed: &str) -> Option<PackageDir> {
        let mut names = slashed.split('/');
        let first = self.enter_directory(above, names.next()?)?;
        names.try_fold(first, |place, name| self.enter_directory(&place, name))
    }

    fn follow_link(&self, link: &Path) -> Option<PackageDir> {
        let resolved = self.system.resolve(link).ok()?;
        if resolved.kind != FileKind::Directory || resolved.path == link {
            return None;
        }
        let Ok(below) = resolved.path.strip_prefix(&self.path) else {
            let shown = self.display_path(link);
            self.add_note(format!(
                "{shown} is a link that leaves the project, so brief does not follow it"
            ));
            return None;
        };
        let handle = self.system.open_dir_below(&self.path, below).ok()?;
        Some(PackageDir { handle, path: resolved.path })
    }
}

impl PackageDir {
    /// Reads a file of a package manager in this directory; `None` if there is none that can be read.
    pub(super) fn read_file(&self, name: &str) -> Option<Vec<u8>> {
        self.handle.read(OsStr::new(name), limits::DEPENDENCY_MANIFEST_BYTES).ok()
    }

    /// Reads a text as [`PackageDir::read`] does, without the mark of its encoding.
    pub(super) fn read_text(&self, name: &str) -> Option<String> {
        let text = String::from_utf8(self.read_file(name)?).ok()?;
        Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }

    /// Reads a manifest in TOML; `None` for anything else.
    pub(super) fn read_toml(&self, name: &str) -> Option<Document<String>> {
        manifests::parse_toml(&self.read_text(name)?)
    }

    /// Reads a manifest in JSON; `None` for anything else.
    pub(super) fn read_json(&self, name: &str) -> Option<Value> {
        manifests::parse_json(&self.read_file(name)?)
    }

    /// Returns the entries, sorted by name.
    pub(super) fn entries(&self) -> Vec<DirEntry> {
        let mut entries =
            self.handle.first_entries(limits::DEPENDENCY_PACKAGES).unwrap_or_default();
        entries.sort_unstable();
        entries
    }

    /// Returns the names of directories and links, sorted. Names that are not text are left out.
    pub(super) fn directory_names(&self) -> Vec<String> {
        let entries = self.entries().into_iter();
        let may_be = |entry: &DirEntry| matches!(entry.kind, FileKind::Directory | FileKind::Link);
        entries.filter(may_be).filter_map(|entry| entry.name.into_string().ok()).collect()
    }
}
