//! The reader of the search roots: their files and the order of these (rulings T1 and T6).
//!
//! Every directory is opened from a held handle of its root. A link is followed if it stays inside
//! the root (ruling G6); a file that is reached twice counts once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::{Diagnostic, Rule, Source, Span, limits, rules};
use brief_system::{
    Dir, DirEntry, FileKind, HeldDir, ReadError, Resolved, System, render_io_error,
};

use super::managed::users_text;
use super::model::{Author, SearchOrigin, SearchRoot, TaskDocument, TaskFileKind};
use super::parse::front_matter;
use super::places::{
    self, Holder, NAMESPACES, NOT_RULES, SCRIPT_SUFFIX, SKILL_FILE, TaskPlace, is_script,
    markdown_stem,
};
use super::variants::FromElsewhere;

/// The open search roots, and the diagnostics of reading them.
pub struct Library<'s> {
    system: &'s dyn System,
    roots: Vec<OpenRoot<'s>>,
    pub(super) elsewhere: FromElsewhere,
    diagnostics: RefCell<Vec<Diagnostic>>,
}

struct OpenRoot<'s> {
    handle: HeldDir<'s>,
    path: Arc<Path>,
    origin: SearchOrigin,
    author: Author,
}

impl<'s> Library<'s> {
    /// Opens the roots in order. A duplicate counts at its first position.
    pub fn open(system: &'s dyn System, roots: &[SearchRoot]) -> Library<'s> {
        let (elsewhere, diagnostics) = (FromElsewhere::default(), RefCell::default());
        let mut library = Library { system, roots: Vec::new(), elsewhere, diagnostics };
        for root in roots {
            match system.open_root(&root.path) {
                Ok((_, path)) if library.roots.iter().any(|known| *known.path == *path) => {}
                Ok((handle, path)) => {
                    let &SearchRoot { origin, author, .. } = root;
                    let (handle, path) = (HeldDir::Own(handle), Arc::from(path));
                    library.roots.push(OpenRoot { handle, path, origin, author });
                }
                Err(error) => library.report_unreadable(&root.path, &render_io_error(&error)),
            }
        }
        library
    }

    /// Takes one root, a path without links, that the caller holds open.
    pub(super) fn from_held_root(
        system: &'s dyn System,
        handle: &'s dyn Dir,
        root: &SearchRoot,
    ) -> Library<'s> {
        let (handle, path) = (HeldDir::Shared(handle), Arc::from(root.path.as_path()));
        let &SearchRoot { origin, author, .. } = root;
        let roots = vec![OpenRoot { handle, path, origin, author }];
        Library { roots, ..Library::open(system, &[]) }
    }

    /// Sets the files that were installed from elsewhere, by their path without links.
    #[must_use]
    pub fn with_installed(mut self, elsewhere: FromElsewhere) -> Library<'s> {
        self.elsewhere = elsewhere;
        self
    }

    /// Reads one file of a search root by its path.
    pub(super) fn document_at(&self, kind: TaskFileKind, path: &Path) -> Option<TaskDocument> {
        let mut search = FileSearch::new(self, kind, &|_| true);
        let root = self.roots.iter().find(|root| path.starts_with(&root.path))?;
        search.single_file(root, path.strip_prefix(&root.path).ok()?);
        search.found.pop()
    }

    /// Returns the author of a file; one with a script from elsewhere is not the user's alone.
    fn file_author(&self, folder: &SearchFolder<'_>, path: &Path, script: Option<&Path>) -> Author {
        let is_installed = |path: &Path| self.elsewhere.files.contains(path);
        if is_installed(path) || script.is_some_and(is_installed) {
            Author::Remote
        } else {
            folder.root.author
        }
    }

    /// Returns the system that the files are read from.
    pub fn system(&self) -> &'s dyn System {
        self.system
    }

    /// Takes the diagnostics so far, each once: a file may have been read several times.
    pub fn take_diagnostics(&self) -> Vec<Diagnostic> {
        let mut known = BTreeSet::new();
        let mut diagnostics = self.diagnostics.take();
        diagnostics.retain(|found| {
            known.insert((found.path().to_owned(), found.rule, found.span, found.message.clone()))
        });
        diagnostics
    }

    /// Returns the files of a kind, in order: those of the namespace first, root by root.
    ///
    /// Only files whose stem is `wanted` are read.
    pub fn read_documents(
        &self,
        kind: TaskFileKind,
        namespace: Option<&str>,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Vec<TaskDocument> {
        let mut search = FileSearch::new(self, kind, wanted);
        for root in &self.roots {
            search.search_root(root, namespace);
        }
        search.found
    }

    /// Returns the files of a kind in `.agents`, without those of other tools.
    pub(super) fn own_documents(&self, kind: TaskFileKind) -> Vec<TaskDocument> {
        let mut search = FileSearch::new(self, kind, &|_| true);
        let place = TaskPlace::Tree("");
        let folder = places::folder_name(kind);
        for root in &self.roots {
            search.search_place(root, None, place, &Path::new(places::OWN).join(folder));
            for name in self.namespaces_in(root) {
                let below = Path::new(NAMESPACES).join(&name).join(folder);
                search.search_place(root, Some(&name), place, &below);
            }
        }
        search.found
    }

    /// Returns the names of the files of a kind, without diagnostics of their content.
    pub(super) fn list_stems(&self, kind: TaskFileKind, namespace: Option<&str>) -> Vec<String> {
        let known = self.diagnostics.borrow().len();
        let documents = self.read_documents(kind, namespace, &|_| true);
        self.diagnostics.borrow_mut().truncate(known);
        documents.into_iter().map(|document| document.stem).collect()
    }

    /// Returns the tasks of all namespaces and of none, for a list.
    pub fn all_tasks(&self) -> Vec<TaskDocument> {
        let mut tasks = self.in_namespaces(TaskFileKind::Task, &self.namespaces());
        // Of several roots with one name, the first one's task would run.
        let mut first: BTreeMap<String, Arc<Path>> = BTreeMap::new();
        tasks.retain(|task| {
            let root = first.entry(task.name()).or_insert_with(|| Arc::clone(&task.root));
            *root == task.root
        });
        tasks
    }

    /// Returns the files of every kind and namespace, each once.
    pub fn read_all_documents(&self) -> Vec<TaskDocument> {
        let namespaces = self.namespaces();
        let kinds = TaskFileKind::ALL.into_iter();
        kinds.flat_map(|kind| self.in_namespaces(kind, &namespaces)).collect()
    }

    /// Returns the files of a kind outside namespaces, and in each of some namespaces.
    fn in_namespaces(
        &self,
        kind: TaskFileKind,
        namespaces: &BTreeSet<String>,
    ) -> Vec<TaskDocument> {
        let mut documents = self.read_documents(kind, None, &|_| true);
        for namespace in namespaces {
            let found = self.read_documents(kind, Some(namespace), &|_| true).into_iter();
            // Files outside namespaces are found with each namespace.
            documents.extend(found.filter(|document| document.namespace.is_some()));
        }
        documents
    }

    /// Returns the namespaces of all roots.
    fn namespaces(&self) -> BTreeSet<String> {
        self.roots.iter().flat_map(|root| self.namespaces_in(root)).collect()
    }

    fn namespaces_in(&self, root: &OpenRoot<'_>) -> BTreeSet<String> {
        let Some((handle, _)) = self.open_directory(root, Path::new(NAMESPACES)) else {
            return BTreeSet::new();
        };
        let entries = handle.first_entries(limits::TASK_FILES).unwrap_or_default().into_iter();
        let folders = entries.filter(|entry| entry.kind != FileKind::File);
        folders.filter_map(|entry| entry.name.into_string().ok()).collect()
    }

    /// Reads a document again, after its script ran.
    pub(super) fn read_again(&self, document: &TaskDocument) -> TaskDocument {
        let bytes = self.system.read(&document.real_path, limits::FILE_BYTES);
        let source = match bytes {
            Ok(bytes) => {
                let bytes = users_text(document.kind, bytes).unwrap_or_default();
                Arc::new(Source::from_bytes(document.path(), bytes))
            }
            Err(error) => {
                self.report_unreadable(document.path(), &error);
                Arc::clone(&document.source)
            }
        };
        TaskDocument { front: front_matter(&source), source, ..document.clone() }
    }

    fn report(&self, path: &Path, rule: Rule, problem: &dyn fmt::Display, help: Option<&str>) {
        let source = Arc::new(Source::without_text(path));
        let message = format!("the file was not read: {problem}");
        let found = Diagnostic::new(rule, &source, Span::default(), message);
        let help = help.map(str::to_owned);
        self.diagnostics.borrow_mut().push(Diagnostic { help, ..found });
    }

    fn report_unreadable(&self, path: &Path, problem: &dyn fmt::Display) {
        self.report(path, rules::tasks::UNREADABLE, problem, None);
    }

    /// Returns an opened directory, or reports why it cannot be opened.
    fn opened_directory(
        &self,
        path: &Path,
        handle: io::Result<Box<dyn Dir>>,
    ) -> Option<Box<dyn Dir>> {
        handle.inspect_err(|error| self.report_unreadable(path, &render_io_error(error))).ok()
    }

    /// Opens a directory below a root, and returns its real path.
    fn open_directory(&self, root: &OpenRoot<'_>, path: &Path) -> Option<(Box<dyn Dir>, PathBuf)> {
        match root.handle.get().open_dir_below(path) {
            Ok(handle) => Some((handle, root.path.join(path))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // A link or a file is in the path, or a permission is missing.
            Err(_) => self.enter_linked(root, &root.path.join(path)),
        }
    }

    fn enter_linked(&self, root: &OpenRoot<'_>, path: &Path) -> Option<(Box<dyn Dir>, PathBuf)> {
        let Resolved { path: real, kind: FileKind::Directory } = self.follow_link(root, path)?
        else {
            return None;
        };
        Some((self.opened_directory(path, self.system.open_dir(&real))?, real))
    }

    /// Follows a link that stays inside its root.
    fn follow_link(&self, root: &OpenRoot<'_>, path: &Path) -> Option<Resolved> {
        match self.system.resolve(path) {
            Ok(resolved) if resolved.path.starts_with(&root.path) => Some(resolved),
            Ok(_) => {
                let problem = "is a symbolic link that leaves its directory";
                let help = "run `brief task -d DIR` to also read the directory that it points to";
                self.report(path, rules::tasks::LINK_OUTSIDE, &problem, Some(help));
                None
            }
            Err(error) => {
                self.report_unreadable(path, &render_io_error(&error));
                None
            }
        }
    }
}

/// A search for the files of one kind.
struct FileSearch<'l, 's> {
    library: &'l Library<'s>,
    kind: TaskFileKind,
    wanted: &'l dyn Fn(&str) -> bool,
    /// The files found so far, without links.
    seen: BTreeSet<PathBuf>,
    /// The directories entered through links, so that a cycle ends.
    entered: BTreeSet<PathBuf>,
    /// The number of bytes that may still be read.
    room: usize,
    found: Vec<TaskDocument>,
}

struct SearchFolder<'f> {
    root: &'f OpenRoot<'f>,
    namespace: Option<&'f str>,
    handle: &'f dyn Dir,
    /// The path by which it was reached.
    path: &'f Path,
    real: &'f Path,
    depth: usize,
    place: TaskPlace,
}

impl<'l, 's> FileSearch<'l, 's> {
    fn new(library: &'l Library<'s>, kind: TaskFileKind, wanted: &'l dyn Fn(&str) -> bool) -> Self {
        FileSearch {
            library,
            kind,
            wanted,
            seen: BTreeSet::new(),
            entered: BTreeSet::new(),
            room: limits::TASK_BYTES,
            found: Vec::new(),
        }
    }

    fn search_root(&mut self, root: &OpenRoot<'_>, namespace: Option<&str>) {
        if let Some(namespace) = namespace {
            let own = Path::new(NAMESPACES).join(namespace).join(places::folder_name(self.kind));
            let place = match self.kind {
                TaskFileKind::Skill => TaskPlace::Skills(""),
                _ => TaskPlace::Tree(""),
            };
            self.search_place(root, Some(namespace), place, &own);
        }
        let holder = if root.origin == SearchOrigin::Home { Holder::Home } else { Holder::Project };
        for &place in places::task_places(self.kind, holder) {
            self.search_place(root, None, place, Path::new(place.path()));
        }
    }

    fn search_place(
        &mut self,
        root: &OpenRoot<'_>,
        namespace: Option<&str>,
        place: TaskPlace,
        below: &Path,
    ) {
        if let TaskPlace::File(_) = place {
            self.single_file(root, below);
            return;
        }
        let Some((handle, real)) = self.library.open_directory(root, below) else { return };
        let path = root.path.join(below);
        let folder = SearchFolder {
            root,
            namespace,
            handle: handle.as_ref(),
            path: &path,
            real: &real,
            depth: 0,
            place,
        };
        match place {
            TaskPlace::Skills(_) => self.search_skills(&folder),
            _ => self.search_tree(&folder),
        }
    }

    /// Adds a single file at the top of a root, or in a directory there.
    fn single_file(&mut self, root: &OpenRoot<'_>, below: &Path) {
        let name = below.file_name().unwrap_or_default();
        let stem = markdown_stem(name).unwrap_or(name).to_string_lossy().into_owned();
        if !(self.wanted)(&stem) {
            return;
        }
        let parent = below.parent().filter(|parent| !parent.as_os_str().is_empty());
        let opened = parent.map(|parent| self.library.open_directory(root, parent));
        let (handle, real): (&dyn Dir, PathBuf) = match &opened {
            None => (root.handle.get(), root.path.to_path_buf()),
            Some(Some((handle, real))) => (handle.as_ref(), real.clone()),
            Some(None) => return,
        };
        let path = root.path.join(below);
        let folder = SearchFolder {
            root,
            namespace: None,
            handle,
            path: path.parent().unwrap_or(&root.path),
            real: &real,
            depth: 0,
            place: TaskPlace::File(""),
        };
        let content = handle.read(name, limits::FILE_BYTES);
        if !matches!(content, Err(ReadError::Missing)) {
            let script = self.script_beside(&folder, &stem);
            self.add_document(&folder, name, content, stem, script);
        }
    }

    /// Looks for the script of a file in a directory without a listing.
    fn script_beside(&self, folder: &SearchFolder<'_>, stem: &str) -> Option<PathBuf> {
        let script = (self.kind == TaskFileKind::Rule).then(|| format!("{stem}{SCRIPT_SUFFIX}"))?;
        // Any other error means that something is there.
        let is_missing =
            matches!(folder.handle.read(OsStr::new(&script), 0), Err(ReadError::Missing));
        (!is_missing).then(|| folder.path.join(script))
    }

    fn list_entries(&self, folder: &SearchFolder<'_>) -> Vec<DirEntry> {
        let mut entries = match folder.handle.first_entries(limits::TASK_FILES + 1) {
            Ok(entries) => entries,
            Err(error) => {
                self.library.report_unreadable(folder.path, &render_io_error(&error));
                return Vec::new();
            }
        };
        if entries.len() > limits::TASK_FILES {
            let problem = format!("has more than {} entries", limits::TASK_FILES);
            self.library.report(folder.path, rules::tasks::TOO_MANY_FILES, &problem, None);
            return Vec::new();
        }
        entries.sort_unstable();
        entries
    }

    /// Adds the files of a directory and of all below it, by path.
    fn search_tree(&mut self, folder: &SearchFolder<'_>) {
        if folder.depth >= limits::TASK_DEPTH {
            let problem = format!("is more than {} directories deep", limits::TASK_DEPTH);
            self.library.report(folder.path, rules::tasks::TOO_DEEP, &problem, None);
            return;
        }
        let entries = self.list_entries(folder);
        for entry in &entries {
            match entry.kind {
                FileKind::Directory => {
                    let name = &entry.name;
                    let is_state = matches!(folder.place, TaskPlace::AgentTree(_))
                        && name.to_str().is_some_and(|name| NOT_RULES.binary_search(&name).is_ok());
                    if !is_state {
                        let opened = folder.handle.open_dir(name);
                        let (path, real) = (folder.path.join(name), folder.real.join(name));
                        self.search_subdirectory(folder, &path, &real, opened);
                    }
                }
                FileKind::File | FileKind::Other => self.search_file(folder, entry, &entries),
                FileKind::Link => {
                    let path = folder.path.join(&entry.name);
                    let may_be_wanted = markdown_stem(&entry.name)
                        .is_some_and(|stem| (self.wanted)(&stem.to_string_lossy()))
                        || Path::new(&entry.name).extension().is_none();
                    if !may_be_wanted || is_script(&entry.name) {
                        continue;
                    }
                    match self.library.follow_link(folder.root, &path) {
                        Some(Resolved { path: real, kind: FileKind::Directory })
                            if self.entered.insert(real.clone()) =>
                        {
                            let opened = self.library.system.open_dir(&real);
                            self.search_subdirectory(folder, &path, &real, opened);
                        }
                        Some(Resolved { kind: FileKind::File, .. }) => {
                            self.search_file(folder, entry, &entries);
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    fn search_file(&mut self, folder: &SearchFolder<'_>, entry: &DirEntry, entries: &[DirEntry]) {
        let Some(stem) = markdown_stem(&entry.name) else { return };
        let stem = stem.to_string_lossy();
        if !(self.wanted)(&stem) {
            return;
        }
        let script = (self.kind == TaskFileKind::Rule).then(|| format!("{stem}{SCRIPT_SUFFIX}"));
        let script = script.filter(|script| {
            let beside =
                entries.binary_search_by(|entry| entry.name.as_os_str().cmp(OsStr::new(script)));
            beside.is_ok()
        });
        let script = script.map(|script| folder.path.join(script));
        let content = match entry.kind {
            FileKind::Link => Err(ReadError::NotAFile(FileKind::Link)),
            FileKind::File => folder.handle.read_listed(&entry.name, limits::FILE_BYTES),
            // The error of the read names the kind.
            _ => folder.handle.read(&entry.name, limits::FILE_BYTES),
        };
        self.add_document(folder, &entry.name, content, stem.into_owned(), script);
    }

    fn search_subdirectory(
        &mut self,
        folder: &SearchFolder<'_>,
        path: &Path,
        real: &Path,
        opened: io::Result<Box<dyn Dir>>,
    ) {
        if let Some(handle) = self.library.opened_directory(path, opened) {
            let (handle, depth) = (handle.as_ref(), folder.depth + 1);
            self.search_tree(&SearchFolder { handle, path, real, depth, ..*folder });
        }
    }

    /// Adds the skills: one directory each, with a file of a fixed name.
    fn search_skills(&mut self, folder: &SearchFolder<'_>) {
        for entry in self.list_entries(folder) {
            let name = entry.name.to_string_lossy().into_owned();
            if !(self.wanted)(&name) {
                continue;
            }
            let path = folder.path.join(&entry.name);
            let opened = match entry.kind {
                FileKind::Directory => self
                    .library
                    .opened_directory(&path, folder.handle.open_dir(&entry.name))
                    .map(|handle| (handle, folder.real.join(&entry.name))),
                FileKind::Link => self.library.enter_linked(folder.root, &path),
                FileKind::File | FileKind::Other => None,
            };
            let Some((handle, real)) = opened else { continue };
            let skill =
                SearchFolder { handle: handle.as_ref(), path: &path, real: &real, ..*folder };
            let file = OsStr::new(SKILL_FILE);
            let content = handle.read(file, limits::FILE_BYTES);
            self.add_document(&skill, file, content, name, None);
        }
    }

    /// Adds a file with its content. A link is followed; a missing file is no problem.
    fn add_document(
        &mut self,
        folder: &SearchFolder<'_>,
        name: &OsStr,
        content: Result<Vec<u8>, ReadError>,
        stem: String,
        script: Option<PathBuf>,
    ) {
        let path = folder.path.join(name);
        let (content, real_path) = match content {
            Err(ReadError::Missing) => return,
            Err(ReadError::NotAFile(FileKind::Link)) => {
                let Some(resolved) = self.library.follow_link(folder.root, &path) else { return };
                let content = self.library.system.read(&resolved.path, limits::FILE_BYTES);
                (content, resolved.path)
            }
            content => (content, folder.real.join(name)),
        };
        let bytes = match content {
            Ok(bytes) => bytes,
            Err(error) => return self.library.report_unreadable(&path, &error),
        };
        if !self.seen.insert(real_path.clone()) {
            return;
        }
        let Some(bytes) = users_text(self.kind, bytes) else { return };
        let Some(room) = self.room.checked_sub(bytes.len()) else {
            let problem =
                format!("exceeds the limit of {} bytes for all files", limits::TASK_BYTES);
            return self.library.report(&path, rules::tasks::TOO_MANY_FILES, &problem, None);
        };
        self.room = room;
        let source = Arc::new(Source::from_bytes(path, bytes));
        let mut front = front_matter(&source);
        self.library.diagnostics.borrow_mut().append(&mut front.diagnostics);
        self.found.push(TaskDocument {
            kind: self.kind,
            source,
            front,
            stem,
            origin: folder.root.origin,
            author: self.library.file_author(folder, &real_path, script.as_deref()),
            root: Arc::clone(&folder.root.path),
            namespace: folder.namespace.map(str::to_owned),
            script,
            real_path,
            expands: None,
        });
    }
}
