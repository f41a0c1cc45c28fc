//! Finds and reads the files of one directory.
//!
//! Everything below a root is opened from a held handle. A link is followed when it leads to
//! something inside the root, because skills of one client are often links to those of another; a
//! directory is entered once, whatever the links.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use brief_profiles::{ClientPlace, KnownClients, PlaceShape};
use brief_syntax::{Diagnostic, Rule, Source, Span, limits, rules};
use brief_system::{Dir, FileKind, ReadError, System, resolved_home};

use crate::answer::{self, Owner};
use brief_safety::sensitive::{self, Leaf};

use super::model::{Folder, Guide, Use};
use super::modes;
use super::parse::{ClientFile, parse_guide};
use super::plugins;
use super::settings::{self, Setting, SettingsFile};
use super::walk::{SKILL_NAME, Walk};
use super::{clients, imports};
use crate::rule_check::{CheckCoverage, CheckScope, parse_header_check};

/// A root that files are read from: the mounted directory or the user's home.
pub(super) struct NativeReader<'s> {
    system: &'s dyn System,
    /// The clients that are known in the project.
    pub(super) known: &'s KnownClients,
    root: PathBuf,
    /// The root as text, for the list of names that hold secrets.
    above: String,
    /// The bytes that may still be read.
    pub(super) bytes: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Files found, readable or not.
    pub(super) found: usize,
}

/// The reason why a file was not read.
pub(super) enum NotRead {
    Missing,
    Directory,
    /// It is a link, or a path, that leaves the root.
    Outside,
    Refused(String),
}

/// The content of a file, and the file itself when it was found by a link.
pub(super) type Read = (Vec<u8>, Option<PathBuf>);

/// A directory that is held open.
pub(super) struct Opened {
    pub(super) handle: Box<dyn Dir>,
    /// By which name it was found.
    pub(super) path: PathBuf,
    pub(super) real: PathBuf,
}

/// A directory that is looked into.
#[derive(Clone, Copy)]
pub(super) struct Level<'l> {
    pub(super) handle: &'l dyn Dir,
    /// Absolute, without links.
    pub(super) path: &'l Path,
    pub(super) directory: &'l str,
    pub(super) owner: Owner,
    /// True if a name may be there.
    pub(super) has: &'l dyn Fn(&str) -> bool,
}

impl<'s> NativeReader<'s> {
    /// Starts at a root, which has no links in it, with `bytes` that may be read.
    pub(super) fn new(
        system: &'s dyn System,
        known: &'s KnownClients,
        root: PathBuf,
        bytes: usize,
    ) -> NativeReader<'s> {
        NativeReader {
            system,
            known,
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
        resolved_home(self.system)
    }

    /// Reads the places of a directory; `None` when there is nothing.
    pub(super) fn read_folder(&mut self, root: &dyn Dir, level: Level<'_>) -> Option<Folder> {
        let files = match level.owner {
            Owner::User => settings::USER,
            Owner::Project => settings::PROJECT,
        };
        let mut folder = Folder {
            owner: level.owner,
            directory: level.directory.to_owned(),
            path: level.path.to_owned(),
            level: match level.owner {
                Owner::User => answer::Level::of_user(false),
                Owner::Project => answer::Level::of_directory(level.path, false),
            },
            present: Vec::new(),
            guides: Vec::new(),
            settings: Vec::new(),
        };
        let mut parents: Vec<(&str, Option<Opened>)> = Vec::new();
        for place in clients::client_places(self.known, level.owner) {
            if !(level.has)(place.first_name()) {
                continue;
            }
            let (above, name) = place.path.rsplit_once('/').unwrap_or(("", &place.path));
            if let Some(here) = self.open_parent(level, above, &mut parents) {
                self.read_place(here, name, place, &mut folder);
            }
        }
        for file in files {
            if !(level.has)(file.first_name()) {
                continue;
            }
            let (above, name) = file.path.rsplit_once('/').unwrap_or(("", file.path));
            if let Some(here) = self.open_parent(level, above, &mut parents) {
                self.read_settings(root, here, name, file, &mut folder);
            }
        }
        if level.owner == Owner::User {
            folder.settings.extend(modes::of_user(self.system, level));
        }
        if folder.present.is_empty() && folder.guides.is_empty() && folder.settings.is_empty() {
            return None;
        }
        imports::read_imports(self, root, &mut folder);
        Some(folder)
    }

    /// Opens a directory on the way to a place, once for all places in it. Without a path it is the level itself.
    fn open_parent<'p, 'n>(
        &mut self,
        level: Level<'p>,
        above: &'n str,
        parents: &'p mut Vec<(&'n str, Option<Opened>)>,
    ) -> Option<Here<'p>> {
        if above.is_empty() {
            return Some(Here { handle: level.handle, path: level.path, real: level.path });
        }
        let known = parents.iter().position(|(known, _)| *known == above);
        let index = known.unwrap_or_else(|| {
            let (outer, name) = above.rsplit_once('/').unwrap_or(("", above));
            let outer = self.open_parent(level, outer, parents);
            let opened = outer.and_then(|outer| self.open_directory(outer, OsStr::new(name)));
            parents.push((above, opened));
            parents.len() - 1
        });
        parents[index].1.as_ref().map(Opened::here)
    }

    /// Reads settings of a client, as far as they say what it reads.
    fn read_settings(
        &mut self,
        root: &dyn Dir,
        here: Here<'_>,
        name: &str,
        file: &SettingsFile,
        folder: &mut Folder,
    ) {
        let Ok((bytes, _)) = self.read_file(here, OsStr::new(name)) else { return };
        let source = Arc::new(Source::from_bytes(here.path.join(name), bytes));
        folder.settings.extend(file.parse(source.text(), &|| self.home()));
        if file.has_plugins() {
            plugins::read_plugins(self, root, &source, folder);
        }
    }

    /// Reads the settings of a directory that may name directories of a workspace; `None` where they say nothing.
    pub(super) fn read_workspace_settings(
        &mut self,
        root: &dyn Dir,
        directory: &Path,
    ) -> Option<Folder> {
        let mut found = Vec::new();
        for file in settings::PROJECT.iter().filter(|file| file.names_workspace()) {
            let Ok(bytes) = self.read_below(root, &directory.join(file.path)) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            found.extend(file.parse(&text, &|| self.home()));
        }
        found.retain(|setting| matches!(setting, Setting::Workspace { .. }));
        (!found.is_empty()).then(|| Folder {
            owner: Owner::Project,
            directory: settings::slashed_below(directory, &self.root).unwrap_or_default(),
            path: directory.to_owned(),
            level: answer::Level::of_directory(directory, false),
            present: Vec::new(),
            guides: Vec::new(),
            settings: found,
        })
    }

    /// Reads the skills or agents of a plugin.
    pub(super) fn plugin_tree(&mut self, path: &Path, place: &ClientPlace, folder: &mut Folder) {
        let Ok(resolved) = self.system.resolve(path) else { return };
        let Ok(inside) = resolved.path.strip_prefix(&self.root) else {
            return self.report_unreadable(path, NotRead::Outside);
        };
        let Ok(handle) = self.open_real(inside) else { return };
        let opened = Opened { handle, path: path.to_owned(), real: resolved.path };
        Walk::new(place, folder).read_all(self, &opened);
    }

    /// Reads one skill of a plugin.
    pub(super) fn plugin_skill(
        &mut self,
        root: &dyn Dir,
        path: &Path,
        place: &ClientPlace,
        folder: &mut Folder,
    ) {
        let file = path.join(SKILL_NAME);
        if folder.guides.iter().any(|guide| guide.path() == file) {
            return;
        }
        match self.read_below(root, &file) {
            Ok(bytes) => self.add_guide(file, (bytes, None), place, folder),
            Err(_) => self.plugin_tree(path, place, folder),
        }
    }

    fn read_place(&mut self, here: Here<'_>, name: &str, place: &ClientPlace, folder: &mut Folder) {
        if place.shape == PlaceShape::File {
            match self.read_file(here, OsStr::new(name)) {
                Ok(read) => {
                    folder.present.push(place.key.clone());
                    self.add_guide(here.path.join(name), read, place, folder);
                }
                // A directory of that name is something else.
                Err(NotRead::Missing | NotRead::Directory) => {}
                Err(problem) => {
                    folder.present.push(place.key.clone());
                    self.report_unreadable(&here.path.join(name), problem);
                }
            }
            return;
        }
        let Some(opened) = self.open_directory(here, OsStr::new(name)) else { return };
        if Walk::new(place, folder).read_all(self, &opened) {
            folder.present.push(place.key.clone());
        }
    }

    pub(super) fn add_guide(
        &mut self,
        path: PathBuf,
        found: Read,
        place: &ClientPlace,
        folder: &mut Folder,
    ) {
        let (bytes, real) = found;
        self.found += 1;
        let below = path.strip_prefix(&folder.path).unwrap_or(&path);
        let below = below.iter().map(OsStr::to_string_lossy).collect::<Vec<_>>().join("/");
        let source = Arc::new(Source::from_bytes(path, bytes));
        let found = &mut self.diagnostics;
        let file = ClientFile { source: Arc::clone(&source), real, below };
        let mut guide = parse_guide(file, place, found);
        let scope = || {
            let globs = guide.scope.as_ref().map(|scope| Arc::clone(&scope.globs));
            let coverage = globs.map(|globs| -> Arc<dyn CheckCoverage> { globs });
            CheckScope::new(&folder.path, coverage)
        };
        guide.check = parse_header_check(&source, guide.body_start, scope, folder.owner, found);
        folder.guides.push(guide);
    }

    /// Adds a file that exists and that no client reads.
    pub(super) fn add_unread(
        &mut self,
        path: PathBuf,
        place: &ClientPlace,
        reason: &str,
        folder: &mut Folder,
    ) {
        self.found += 1;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (source, kind) =
            (Arc::new(Source::without_text(path)), clients::form_label(place.form));
        let guide = Guide::new(source, kind, name, 0, Use::Never(reason.to_owned().into()));
        folder.guides.push(Guide { place: Some(place.clone()), ..guide });
    }

    fn read_file(&mut self, here: Here<'_>, name: &OsStr) -> Result<Read, NotRead> {
        self.read_as(here, name, FileKind::Other)
    }

    /// Reads a file whose kind a listing has told.
    pub(super) fn read_as(
        &mut self,
        here: Here<'_>,
        name: &OsStr,
        kind: FileKind,
    ) -> Result<Read, NotRead> {
        self.refuse_secret(&here.path.join(name))?;
        if self.bytes == 0 {
            return Err(NotRead::Refused(
                "exceeds the size limit together with the files before it".to_owned(),
            ));
        }
        let outcome = match kind {
            FileKind::File => here.handle.read_listed(name, limits::FILE_BYTES),
            _ => here.handle.read(name, limits::FILE_BYTES),
        };
        let (bytes, real) = match outcome {
            Err(ReadError::NotAFile(FileKind::Link)) => self.read_real(&here.path.join(name))?,
            plain => (plain.map_err(NotRead::from)?, None),
        };
        self.charge_bytes(&bytes);
        Ok((bytes, real))
    }

    /// Reads a file of the root by its path, which is absolute.
    pub(super) fn read_below(&mut self, root: &dyn Dir, path: &Path) -> Result<Vec<u8>, NotRead> {
        self.refuse_secret(path)?;
        let inside = path.strip_prefix(&self.root).map_err(|_| NotRead::Outside)?;
        let (Some(parent), Some(name)) = (inside.parent(), inside.file_name()) else {
            return Err(NotRead::Directory);
        };
        let read = if parent.as_os_str().is_empty() {
            root.read(name, limits::FILE_BYTES)
        } else {
            let opened = root.open_dir_below(parent).map_err(ReadError::from);
            opened.and_then(|directory| directory.read(name, limits::FILE_BYTES))
        };
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(ReadError::NotAFile(FileKind::Directory)) => return Err(NotRead::Directory),
            // A link anywhere on the way, or nothing at all.
            Err(_) => self.read_real(path)?.0,
        };
        self.charge_bytes(&bytes);
        Ok(bytes)
    }

    /// Reads what a link leads to, when that is inside the root, and says where it led.
    fn read_real(&self, path: &Path) -> Result<Read, NotRead> {
        let resolved =
            self.system.resolve(path).map_err(|error| NotRead::from(ReadError::from(error)))?;
        let inside = resolved.path.strip_prefix(&self.root).map_err(|_| NotRead::Outside)?;
        self.refuse_secret(&resolved.path)?;
        let (parent, name) = (inside.parent(), inside.file_name().ok_or(NotRead::Directory)?);
        let parent = parent.unwrap_or(Path::new(""));
        let handle =
            self.open_real(parent).map_err(|error| NotRead::from(ReadError::from(error)))?;
        let bytes = handle.read(name, limits::FILE_BYTES).map_err(NotRead::from)?;
        Ok((bytes, Some(resolved.path)))
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

    pub(super) fn open_directory(&mut self, here: Here<'_>, name: &OsStr) -> Option<Opened> {
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
            self.report_unreadable(&path, NotRead::Outside);
            return None;
        };
        match self.open_real(inside) {
            Ok(handle) => Some(Opened { handle, path, real: resolved.path }),
            Err(error) => {
                self.report_unreadable(&path, NotRead::Refused(error.to_string()));
                None
            }
        }
    }

    pub(super) fn refuse_secret(&self, path: &Path) -> Result<(), NotRead> {
        // Nearly always both are text, which compares faster than names one by one.
        let text = path.to_str().zip(self.root.to_str());
        let below = text.and_then(|(path, root)| path.strip_prefix(root)?.strip_prefix('/'));
        let inside = match below {
            Some(below) => Cow::Borrowed(below),
            None => path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy(),
        };
        match sensitive::find_below(&self.above, &inside, Leaf::File) {
            Some(found) => Err(NotRead::Refused(format!(
                "such files hold secrets and are never read (`{}`)",
                found.pattern
            ))),
            None => Ok(()),
        }
    }

    pub(super) fn charge_bytes(&mut self, bytes: &[u8]) {
        let was_open = self.bytes > 0;
        self.bytes = self.bytes.saturating_sub(bytes.len());
        if was_open && self.bytes == 0 {
            let limit = limits::NATIVE_BYTES;
            self.report_limit(
                &self.root.clone(),
                &format!("more than {limit} bytes of client files"),
            );
        }
    }

    pub(super) fn report_unreadable(&mut self, path: &Path, problem: NotRead) {
        let reason = match problem {
            NotRead::Missing => "the target does not exist".to_owned(),
            NotRead::Directory => "is a directory".to_owned(),
            NotRead::Outside => "is a symbolic link that leaves the project".to_owned(),
            NotRead::Refused(reason) => reason,
        };
        self.found += 1;
        let message = format!("cannot read this path: {reason}");
        self.report_path(path, rules::client::UNREADABLE, message);
    }

    /// Reports that there is more than is read.
    pub(super) fn report_limit(&mut self, path: &Path, what: &str) {
        self.report_path(path, rules::client::LIMIT, format!("{what}: the rest is skipped"));
    }

    /// Reports something about a path.
    pub(super) fn report_path(&mut self, path: &Path, rule: Rule, message: String) {
        let source = Arc::new(Source::without_text(path));
        self.diagnostics.push(Diagnostic::new(rule, &source, Span::empty_at(0), message));
    }
}

impl From<ReadError> for NotRead {
    fn from(error: ReadError) -> NotRead {
        match error {
            ReadError::Missing => NotRead::Missing,
            ReadError::NotAFile(FileKind::Directory) => NotRead::Directory,
            other => NotRead::Refused(other.to_string()),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Here<'h> {
    handle: &'h dyn Dir,
    path: &'h Path,
    real: &'h Path,
}

impl Opened {
    pub(super) fn here(&self) -> Here<'_> {
        Here { handle: self.handle.as_ref(), path: &self.path, real: &self.real }
    }
}
