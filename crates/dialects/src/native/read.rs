//! Finds and reads the files of one directory.
//!
//! Everything below a root is opened from a held handle. A link is followed when it leads to
//! something inside the root, because skills of one client are often links to those of another; a
//! directory is entered once, whatever the links.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use brief_syntax::system::{Dir, DirEntry, FileKind, ReadError};
use brief_syntax::{Diagnostic, Source, Span, System, limits};

use crate::answer::{self, Owner};
use crate::sensitive::{self, Leaf};

use super::imports;
use super::model::{Folder, Guide, Use};
use super::parse::{Found, parse};
use super::places::{Names, Place, Shape};

/// A root that files are read from: the mounted directory or the user's home.
pub(super) struct Ground<'s> {
    system: &'s dyn System,
    /// Without links.
    root: PathBuf,
    /// The root as text, for the list of names that hold secrets.
    above: String,
    /// What may still be read.
    pub(super) bytes: usize,
    /// What is wrong.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Files found, readable or not.
    pub(super) found: usize,
}

/// Why a file was not read.
pub(super) enum Unread {
    Missing,
    Directory,
    /// It is a link, or a path, that leaves the root.
    Outside,
    /// For this reason.
    Refused(String),
}

/// A directory that is held open.
struct Opened {
    handle: Box<dyn Dir>,
    /// By which name it was found.
    path: PathBuf,
    /// Without links.
    real: PathBuf,
}

/// A directory that is looked into.
#[derive(Clone, Copy)]
pub(super) struct Level<'l> {
    pub(super) handle: &'l dyn Dir,
    /// Absolute, without links.
    pub(super) path: &'l Path,
    /// Below the mounted directory.
    pub(super) directory: &'l str,
    pub(super) owner: Owner,
    /// Whether a name may be there.
    pub(super) has: &'l dyn Fn(&str) -> bool,
}

impl<'s> Ground<'s> {
    /// Starts at a root, which has no links in it, with `bytes` that may be read.
    pub(super) fn new(system: &'s dyn System, root: PathBuf, bytes: usize) -> Ground<'s> {
        Ground {
            system,
            above: root.to_string_lossy().into_owned(),
            root,
            bytes,
            diagnostics: Vec::new(),
            found: 0,
        }
    }

    /// Returns the root, without links.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the user's home directory.
    pub(super) fn home(&self) -> Option<PathBuf> {
        home(self.system)
    }

    /// Reads the places of a directory; `None` when there is nothing.
    pub(super) fn folder(
        &mut self,
        root: &dyn Dir,
        level: Level<'_>,
        places: &'static [Place],
    ) -> Option<Folder> {
        let mut folder = Folder {
            owner: level.owner,
            directory: level.directory.to_owned(),
            path: level.path.to_owned(),
            level: match level.owner {
                Owner::User => answer::Level::of_user(false),
                Owner::Project => answer::Level::of_directory(level.path, false),
            },
            present: 0,
            guides: Vec::new(),
        };
        let mut parents: Vec<(&'static str, Option<Opened>)> = Vec::new();
        for (index, place) in places.iter().enumerate() {
            if !(level.has)(place.first()) {
                continue;
            }
            let (above, name) = place.path.rsplit_once('/').unwrap_or(("", place.path));
            if above.is_empty() {
                let here = Here { handle: level.handle, path: level.path, real: level.path };
                self.place(here, name, place, index, &mut folder);
                continue;
            }
            if !parents.iter().any(|(known, _)| *known == above) {
                let opened = self.open_along(level, above);
                parents.push((above, opened));
            }
            let parent = parents.iter().find(|(known, _)| *known == above);
            if let Some((_, Some(parent))) = parent {
                let Opened { handle, path, real } = parent;
                self.place(
                    Here { handle: handle.as_ref(), path, real },
                    name,
                    place,
                    index,
                    &mut folder,
                );
            }
        }
        if folder.present == 0 && folder.guides.is_empty() {
            return None;
        }
        imports::follow(self, root, &mut folder);
        Some(folder)
    }

    fn open_along(&mut self, level: Level<'_>, way: &str) -> Option<Opened> {
        let mut opened: Option<Opened> = None;
        for name in way.split('/') {
            let here = match &opened {
                Some(Opened { handle, path, real }) => Here { handle: handle.as_ref(), path, real },
                None => Here { handle: level.handle, path: level.path, real: level.path },
            };
            opened = Some(self.open(here, OsStr::new(name))?);
        }
        opened
    }

    fn place(
        &mut self,
        here: Here<'_>,
        name: &'static str,
        place: &'static Place,
        index: usize,
        folder: &mut Folder,
    ) {
        if place.shape == Shape::File {
            match self.read(here, OsStr::new(name)) {
                Ok(bytes) => {
                    folder.present |= 1 << index;
                    self.add(here.path.join(name), bytes, place, folder);
                }
                // A directory of that name is something else.
                Err(Unread::Missing | Unread::Directory) => {}
                Err(problem) => {
                    folder.present |= 1 << index;
                    self.report(&here.path.join(name), problem);
                }
            }
            return;
        }
        let Some(opened) = self.open(here, OsStr::new(name)) else { return };
        let mut walk =
            Walk { place, folder, entries: 0, files: 0, entered: BTreeSet::new(), is_full: false };
        match place.shape {
            Shape::Tree(names) => walk.tree(self, &opened, names, 0),
            _ => walk.skills(self, &opened),
        }
    }

    fn add(&mut self, path: PathBuf, bytes: Vec<u8>, place: &'static Place, folder: &mut Folder) {
        self.found += 1;
        let below = path.strip_prefix(&folder.path).unwrap_or(&path);
        let below = below.iter().map(OsStr::to_string_lossy).collect::<Vec<_>>().join("/");
        let source = Arc::new(Source::from_bytes(path, bytes));
        folder.guides.push(parse(Found { source, below }, place, &mut self.diagnostics));
    }

    /// Adds a file that is there and that nobody reads.
    fn add_unread(
        &mut self,
        path: PathBuf,
        place: &'static Place,
        reason: &'static str,
        folder: &mut Folder,
    ) {
        self.found += 1;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        folder.guides.push(Guide {
            source: Arc::new(Source::unread(path)),
            kind: place.form.kind(),
            name,
            description: String::new(),
            body_start: 0,
            line: 1,
            scope: None,
            use_: Use::Never(reason.into()),
            place: Some(place),
            imports: Vec::new(),
            mentions: Vec::new(),
            is_shared: false,
        });
    }

    fn read(&mut self, here: Here<'_>, name: &OsStr) -> Result<Vec<u8>, Unread> {
        self.read_as(here, name, FileKind::Other)
    }

    /// Reads a file whose kind a listing has told.
    fn read_as(&mut self, here: Here<'_>, name: &OsStr, kind: FileKind) -> Result<Vec<u8>, Unread> {
        self.refuse_secret(&here.path.join(name))?;
        if self.bytes == 0 {
            return Err(Unread::Refused("the files before it are too large together".to_owned()));
        }
        let read = match kind {
            FileKind::File => here.handle.read_listed(name, limits::FILE_BYTES),
            _ => here.handle.read(name, limits::FILE_BYTES),
        };
        let bytes = match read {
            Err(ReadError::NotAFile(FileKind::Link)) => self.read_real(&here.path.join(name)),
            outcome => outcome.map_err(Unread::from),
        }?;
        self.charge(&bytes);
        Ok(bytes)
    }

    /// Reads a file of the root by its path, which is absolute.
    pub(super) fn read_below(&mut self, root: &dyn Dir, path: &Path) -> Result<Vec<u8>, Unread> {
        self.refuse_secret(path)?;
        let inside = path.strip_prefix(&self.root).map_err(|_| Unread::Outside)?;
        let (Some(parent), Some(name)) = (inside.parent(), inside.file_name()) else {
            return Err(Unread::Directory);
        };
        let read = if parent.as_os_str().is_empty() {
            root.read(name, limits::FILE_BYTES)
        } else {
            let opened = root.open_dir_below(parent).map_err(ReadError::from);
            opened.and_then(|directory| directory.read(name, limits::FILE_BYTES))
        };
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(ReadError::NotAFile(FileKind::Directory)) => return Err(Unread::Directory),
            // A link anywhere on the way, or nothing at all.
            Err(_) => self.read_real(path)?,
        };
        self.charge(&bytes);
        Ok(bytes)
    }

    /// Reads what a link leads to, when that is inside the root.
    fn read_real(&self, path: &Path) -> Result<Vec<u8>, Unread> {
        let resolved =
            self.system.resolve(path).map_err(|error| Unread::from(ReadError::from(error)))?;
        let inside = resolved.path.strip_prefix(&self.root).map_err(|_| Unread::Outside)?;
        self.refuse_secret(&resolved.path)?;
        let (parent, name) = (inside.parent(), inside.file_name().ok_or(Unread::Directory)?);
        let parent = parent.unwrap_or(Path::new(""));
        let handle =
            self.open_real(parent).map_err(|error| Unread::from(ReadError::from(error)))?;
        handle.read(name, limits::FILE_BYTES).map_err(Unread::from)
    }

    /// Opens a directory below the root; any link that is met was put there since it was resolved.
    fn open_real(&self, inside: &Path) -> io::Result<Box<dyn Dir>> {
        let mut handle = self.system.open_dir(&self.root)?;
        for component in inside.components() {
            let Component::Normal(name) = component else { continue };
            handle = handle.open_dir(name)?;
        }
        Ok(handle)
    }

    fn open(&mut self, here: Here<'_>, name: &OsStr) -> Option<Opened> {
        let path = here.path.join(name);
        match here.handle.open_dir(name) {
            Ok(handle) => return Some(Opened { handle, path, real: here.real.join(name) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(_) => {}
        }
        // A link, a file, or nothing that we may enter.
        let resolved = self.system.resolve(&path).ok()?;
        if resolved.kind != FileKind::Directory {
            return None;
        }
        let Ok(inside) = resolved.path.strip_prefix(&self.root) else {
            self.report(&path, Unread::Outside);
            return None;
        };
        match self.open_real(inside) {
            Ok(handle) => Some(Opened { handle, path, real: resolved.path }),
            Err(error) => {
                self.report(&path, Unread::Refused(error.to_string()));
                None
            }
        }
    }

    fn refuse_secret(&self, path: &Path) -> Result<(), Unread> {
        let inside = path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy();
        match sensitive::find_below(&self.above, &inside, Leaf::File) {
            Some(found) => Err(Unread::Refused(format!(
                "such files hold secrets and are never read (`{}`)",
                found.pattern
            ))),
            None => Ok(()),
        }
    }

    fn charge(&mut self, bytes: &[u8]) {
        let was_open = self.bytes > 0;
        self.bytes = self.bytes.saturating_sub(bytes.len());
        if was_open && self.bytes == 0 {
            let limit = limits::NATIVE_BYTES;
            self.limit(&self.root.clone(), &format!("client files of more than {limit} bytes"));
        }
    }

    fn report(&mut self, path: &Path, problem: Unread) {
        let reason = match problem {
            Unread::Missing => "it leads nowhere".to_owned(),
            Unread::Directory => "it is a directory".to_owned(),
            Unread::Outside => "it is a symbolic link that leaves the project".to_owned(),
            Unread::Refused(reason) => reason,
        };
        self.found += 1;
        let message = format!("this cannot be read: {reason}");
        self.about(path, "native/unreadable", message);
    }

    /// Reports that there is more than is read.
    pub(super) fn limit(&mut self, path: &Path, what: &str) {
        self.about(path, "native/limit", format!("{what}; from here on they are left out"));
    }

    fn about(&mut self, path: &Path, code: &'static str, message: String) {
        let source = Arc::new(Source::unread(path));
        self.diagnostics.push(Diagnostic::warning(code, &source, Span::at(0), message));
    }
}

impl From<ReadError> for Unread {
    fn from(error: ReadError) -> Unread {
        match error {
            ReadError::Missing => Unread::Missing,
            ReadError::NotAFile(FileKind::Directory) => Unread::Directory,
            other => Unread::Refused(other.to_string()),
        }
    }
}

/// Returns the user's home directory, without links.
pub(super) fn home(system: &dyn System) -> Option<PathBuf> {
    let names = if cfg!(windows) { ["USERPROFILE", "HOME"] } else { ["HOME", "USERPROFILE"] };
    let mut paths = names.into_iter().filter_map(|name| system.env(name).map(PathBuf::from));
    let home = paths.find(|path| path.is_absolute())?;
    system.resolve_dir(&home).ok()
}

/// An open directory, borrowed.
#[derive(Clone, Copy)]
struct Here<'h> {
    handle: &'h dyn Dir,
    path: &'h Path,
    real: &'h Path,
}

/// What the file of a skill is called.
const SKILL_NAME: &str = "SKILL.md";

/// A walk over one directory of rules, skills or agents.
struct Walk<'w> {
    place: &'static Place,
    folder: &'w mut Folder,
    entries: usize,
    files: usize,
    /// The directories that were entered, without links.
    entered: BTreeSet<PathBuf>,
    is_full: bool,
}

impl Walk<'_> {
    fn tree(&mut self, ground: &mut Ground<'_>, directory: &Opened, names: Names, depth: usize) {
        if !self.entered.insert(directory.real.clone()) {
            return;
        }
        for entry in self.list(ground, directory) {
            if self.is_full {
                return;
            }
            let path = directory.path.join(&entry.name);
            let name = entry.name.to_string_lossy();
            let counts = names.endings.iter().any(|ending| name.ends_with(ending));
            match entry.kind {
                FileKind::File | FileKind::Link if counts => self.file(ground, directory, &entry),
                FileKind::File | FileKind::Link
                    if let Some((ending, reason)) = names.unread
                        && name.ends_with(ending) =>
                {
                    self.unread(ground, path, reason);
                }
                FileKind::Directory | FileKind::Link
                    if names.is_deep && !names.skipped.contains(&&*name) =>
                {
                    if depth == limits::NATIVE_DEPTH {
                        let limit = limits::NATIVE_DEPTH;
                        ground.limit(&path, &format!("more than {limit} directories deep"));
                        continue;
                    }
                    if let Some(child) = ground.open(directory.here(), &entry.name) {
                        self.tree(ground, &child, names, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }

    fn skills(&mut self, ground: &mut Ground<'_>, directory: &Opened) {
        for entry in self.list(ground, directory) {
            if self.is_full {
                return;
            }
            if !matches!(entry.kind, FileKind::Directory | FileKind::Link) {
                continue;
            }
            let file = DirEntry { name: SKILL_NAME.into(), kind: FileKind::Other };
            if entry.kind == FileKind::Directory
                && self.skill(ground, directory, &Path::new(&entry.name).join(SKILL_NAME))
            {
                continue;
            }
            let Some(skill) = ground.open(directory.here(), &entry.name) else { continue };
            self.file(ground, &skill, &file);
        }
    }

    /// Reads the file of a skill in one step; says whether there is nothing left to do.
    fn skill(&mut self, ground: &mut Ground<'_>, directory: &Opened, below: &Path) -> bool {
        let path = directory.path.join(below);
        if ground.bytes == 0 || ground.refuse_secret(&path).is_err() {
            return false;
        }
        match directory.handle.read_below(below, limits::FILE_BYTES) {
            Ok(bytes) => {
                ground.charge(&bytes);
                if self.takes_one_more(ground, &path) {
                    ground.add(path, bytes, self.place, self.folder);
                }
                true
            }
            Err(error) => matches!(error, ReadError::Missing),
        }
    }

    fn file(&mut self, ground: &mut Ground<'_>, directory: &Opened, entry: &DirEntry) {
        let path = directory.path.join(&entry.name);
        match ground.read_as(directory.here(), &entry.name, entry.kind) {
            Ok(bytes) => {
                if self.takes_one_more(ground, &path) {
                    ground.add(path, bytes, self.place, self.folder);
                }
            }
            Err(Unread::Missing | Unread::Directory) => {}
            Err(problem) if ground.bytes > 0 => ground.report(&path, problem),
            Err(_) => self.is_full = true,
        }
    }

    fn unread(&mut self, ground: &mut Ground<'_>, path: PathBuf, reason: &'static str) {
        if self.takes_one_more(ground, &path) {
            ground.add_unread(path, self.place, reason, self.folder);
        }
    }

    fn takes_one_more(&mut self, ground: &mut Ground<'_>, path: &Path) -> bool {
        self.files += 1;
        if self.files > limits::NATIVE_FILES && !self.is_full {
            self.is_full = true;
            let limit = limits::NATIVE_FILES;
            ground.limit(path, &format!("more than {limit} files"));
        }
        !self.is_full
    }

    fn list(&mut self, ground: &mut Ground<'_>, directory: &Opened) -> Vec<DirEntry> {
        let room = limits::NATIVE_ENTRIES - self.entries;
        match directory.handle.first_entries(room + 1) {
            Ok(mut entries) => {
                entries.sort_unstable();
                if entries.len() > room {
                    let limit = limits::NATIVE_ENTRIES;
                    ground.limit(&directory.path, &format!("more than {limit} names"));
                    entries.truncate(room);
                }
                self.entries += entries.len();
                entries
            }
            Err(error) => {
                ground.report(&directory.path, Unread::Refused(error.to_string()));
                Vec::new()
            }
        }
    }
}

impl Opened {
    fn here(&self) -> Here<'_> {
        Here { handle: self.handle.as_ref(), path: &self.path, real: &self.real }
    }
}
