//! The implementation of [`Dialect`] for this format.

use std::path::{Path, PathBuf};

use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, rules};
use brief_system::{DirEntry, FileKind, System, resolved_home};

use crate::moment::Moment;
use crate::{Dialect, DialectGuidance, LockRole, Reader};

use super::NAME;
use super::check::{self, CheckedTasks};
use super::library::Library;
use super::model::{Author, SearchOrigin, SearchRoot, TaskDocument};
use super::own::OwnFiles;
use super::places;
use super::script;

/// The dialect of task, rule, command and skill files.
#[derive(Debug, Clone, Copy)]
pub struct Tasks;

impl Dialect for Tasks {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "Tasks, rules, commands and skills in `.agents`"
    }

    fn noun(&self) -> &'static str {
        "task files"
    }

    fn lock_role(&self) -> LockRole {
        LockRole::Holds
    }

    fn mounted_reader(&self, moment: &Moment) -> Option<Box<dyn Reader>> {
        Some(Box::new(OwnFiles::from_moment(moment)))
    }

    fn whole_reader(&self) -> Option<Box<dyn Reader>> {
        Some(Box::new(Projects::default()))
    }
}

/// Every directory of a project that has files of this format.
#[derive(Default)]
struct Projects {
    own: OwnFiles,
    is_started: bool,
    /// The home directory, read once for the first project that needs it.
    home: Option<AtHome>,
}

/// The files of the home directory, which are available in every project.
#[derive(Default)]
struct AtHome {
    directory: Option<PathBuf>,
    documents: Vec<TaskDocument>,
}

impl AtHome {
    fn read(system: &dyn System) -> AtHome {
        let Some(home) = resolved_home(system) else { return AtHome::default() };
        let documents = open_home_library(system, &home).read_all_documents();
        AtHome { directory: Some(home), documents }
    }
}

impl Reader for Projects {
    fn visit_directory(&mut self, visit: &Visit<'_>) {
        if !std::mem::replace(&mut self.is_started, true) {
            self.own.read_home(visit.system(), visit.root());
            // Its files and problems are not the project's.
            self.own.diagnostics.clear();
            self.own.count = 0;
        }
        let begins = |entries: &[DirEntry]| {
            let mut names = entries.iter().filter_map(|entry| entry.name.to_str());
            names.any(places::is_beginning)
        };
        if visit.entries().is_some_and(begins) {
            let home = self.home.get_or_insert_with(|| AtHome::read(visit.system()));
            let directory = visit.path();
            let (documents, diagnostics) = check_directory(visit, &directory, home);
            self.own.paths.extend(documents.iter().map(|document| document.path().to_owned()));
            self.own.diagnostics.extend(diagnostics);
            for document in documents {
                self.own.add_listed(document, &directory, visit.slashed());
            }
        }
    }

    fn finish(self: Box<Self>) -> Box<dyn DialectGuidance> {
        Box::new(self.own).finish()
    }
}

/// Reads and checks the files of one directory of a project.
fn check_directory(
    visit: &Visit<'_>,
    directory: &Path,
    home: &AtHome,
) -> (Vec<TaskDocument>, Vec<Diagnostic>) {
    let (system, project, library) = (visit.system(), visit.root(), held_library(visit));
    let documents = library.read_all_documents();
    let mut diagnostics = library.take_diagnostics();
    diagnostics.retain(|found| {
        let path = found.path();
        // Files of clients are reported by the dialect for clients.
        let is_own = path.strip_prefix(directory).is_ok_and(check::is_own_path);
        let stays = || system.resolve(path).is_ok_and(|real| real.path.starts_with(project));
        path == directory || is_own && (found.rule != rules::tasks::LINK_OUTSIDE || !stays())
    });
    let is_home = home.directory.as_deref() == Some(directory);
    let is_file = |path: &[u8]| {
        let path = directory.join(String::from_utf8_lossy(path).as_ref());
        system.resolve(&path).is_ok_and(|found| found.kind == FileKind::File)
    };
    let checked = CheckedTasks {
        documents: &documents,
        at_home: if is_home { &[] } else { &home.documents },
        is_file: &is_file,
        obstacle: &|rule, path| script::find_script_obstacle(system, rule, path),
    };
    if !documents.is_empty() {
        diagnostics.extend(checked.collect_diagnostics());
    }
    (documents, diagnostics)
}

/// Opens the files of the home directory.
pub(super) fn open_home_library<'s>(system: &'s dyn System, home: &Path) -> Library<'s> {
    Library::open(system, &[search_root(home.to_owned(), SearchOrigin::Home)])
}

/// Returns the files of a directory of a project, which the walk holds open.
pub(super) fn held_library<'v>(visit: &'v Visit<'_>) -> Library<'v> {
    let root = search_root(visit.path(), SearchOrigin::Project);
    Library::from_held_root(visit.system(), visit.handle(), &root)
}

fn search_root(path: PathBuf, origin: SearchOrigin) -> SearchRoot {
    SearchRoot { path, origin, author: Author::from_origin(origin) }
}
