//! Checks folders on a thread of its own, on the texts of the editor.
//!
//! Only the newest texts are checked: those that came meanwhile replace the ones that still wait.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use brief_checks::links::{GuidanceLink, find_links};
use brief_checks::lint::Lint;
use brief_dialects::{Candidate, Moment, Reason, State};
use brief_engine::survey::Survey;
use brief_engine::tokens::Counter;
use brief_engine::{Catalog, Project};
use brief_profiles::OwnClients;
use brief_syntax::{Diagnostic, rules};
use brief_system::{Buffers, Remembered, System};

use brief_workflows::change_check::judge_text;
use brief_workflows::configuration::ProjectAndSource;

/// The time of a check that may follow every keystroke.
const SHORT: Duration = Duration::from_millis(20);

/// The pause in typing that longer ones wait for.
const PAUSE: Duration = Duration::from_millis(60);

/// The number of files that a hover names.
const EXAMPLES: usize = 8;

/// The texts of the editor, by path without links.
pub(super) type Texts = BTreeMap<PathBuf, Arc<str>>;

/// The folders and texts to check.
#[derive(Debug, Clone, Default)]
pub(super) struct CheckRequest {
    /// Counts the changes; a result bears the number of its texts.
    pub(super) stamp: u64,
    pub(super) folders: Vec<PathBuf>,
    pub(super) texts: Texts,
}

/// The result of a check.
#[derive(Debug, Default)]
pub(super) struct CheckedFolders {
    pub(super) stamp: u64,
    /// The problems of each file.
    pub(super) files: BTreeMap<PathBuf, Vec<FileProblem>>,
    /// The items in each file, by line.
    pub(super) items: BTreeMap<PathBuf, Vec<PlacedItem>>,
    /// The places that name each file.
    pub(super) links: BTreeMap<PathBuf, Vec<GuidanceLink>>,
}

/// A problem of a file.
#[derive(Debug, Clone)]
pub(super) struct FileProblem {
    pub(super) diagnostic: Diagnostic,
    /// True if the file alone shows it, so that [`quick_problems`] finds it, too.
    pub(super) is_quick: bool,
}

/// An item of guidance where it stands.
#[derive(Debug, Clone)]
pub(super) struct PlacedItem {
    /// The first line, from 0.
    pub(super) line: usize,
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) state: State,
    pub(super) files: usize,
    /// The first of these files.
    pub(super) examples: Vec<String>,
    /// True if the item is for directories, or for a user to mention.
    pub(super) is_reached_otherwise: bool,
    pub(super) tokens: usize,
    pub(super) patterns: Vec<String>,
    /// The names of the clients that load it by themselves.
    pub(super) loaded_by: Vec<String>,
}

/// The thread, and the request that waits for it.
pub(super) struct Checker {
    waiting: Arc<(Mutex<PendingCheck>, Condvar)>,
}

#[derive(Default)]
struct PendingCheck {
    request: Option<CheckRequest>,
    is_over: bool,
}

impl Checker {
    /// Starts the thread. `tell` gets each result.
    pub(super) fn start(
        system: Arc<dyn System>,
        mut tell: impl FnMut(CheckedFolders) + Send + 'static,
    ) -> std::io::Result<Checker> {
        let waiting: Arc<(Mutex<PendingCheck>, Condvar)> = Arc::default();
        let shared = Arc::clone(&waiting);
        thread::Builder::new().name("lsp-check".to_owned()).spawn(move || {
            let mut pause = None;
            while let Some(request) = next(&shared, pause) {
                let begun = system.elapsed();
                tell(check_folders(&system, &request));
                let is_long = system.elapsed().saturating_sub(begun) > SHORT;
                pause = is_long.then_some(PAUSE);
            }
        })?;
        Ok(Checker { waiting })
    }

    /// Checks these texts next, instead of any that wait.
    pub(super) fn request_check(&self, request: CheckRequest) {
        let (waiting, bell) = &*self.waiting;
        waiting.lock().unwrap_or_else(PoisonError::into_inner).request = Some(request);
        bell.notify_one();
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        let (waiting, bell) = &*self.waiting;
        waiting.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        bell.notify_one();
    }
}

/// Waits for a request; with a pause, until no newer one comes for so long.
fn next(
    (waiting, bell): &(Mutex<PendingCheck>, Condvar),
    pause: Option<Duration>,
) -> Option<CheckRequest> {
    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    let mut newest = None;
    loop {
        if waiting.is_over {
            return None;
        }
        if let Some(request) = waiting.request.take() {
            newest = Some(request);
        } else if let Some(request) = newest {
            return Some(request);
        }
        waiting = match (&newest, pause) {
            (Some(_), None) => return newest,
            (Some(_), Some(pause)) => {
                bell.wait_timeout(waiting, pause).unwrap_or_else(PoisonError::into_inner).0
            }
            (None, _) => bell.wait(waiting).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

/// Puts the texts of the editor in front of a system.
pub(super) fn in_front(system: &Arc<dyn System>, texts: &Texts) -> Option<Remembered> {
    let texts = texts.iter().map(|(path, text)| (path.clone(), text.as_bytes().to_owned()));
    let buffers = Buffers::new(Arc::clone(system), texts).ok()?;
    Some(Remembered::new(Arc::new(buffers)))
}

fn check_folders(system: &Arc<dyn System>, request: &CheckRequest) -> CheckedFolders {
    let mut checked = CheckedFolders { stamp: request.stamp, ..CheckedFolders::default() };
    let Some(system) = in_front(system, &request.texts) else { return checked };
    for (project, folders) in projects_of(&system, &request.folders) {
        // Several folders of one repository are read once.
        let part = match folders.as_slice() {
            [only] => only,
            _ => project.root().path(),
        };
        let Ok(lint) = Lint::new(&project, part) else { continue };
        let lint = lint.configured_by(&ProjectAndSource);
        let (catalog, root) = (lint.read_project(), project.root());
        let counter = Counter::estimate();
        let moment = Moment { root: root.clone(), ..Moment::default() };
        let count = |text: &str| counter.count(text);
        let survey = Survey::from_catalog(&catalog, root.path(), &moment, &count);
        let mut found = lint.check_all(&catalog, survey.as_ref());
        let is_in = |path: &Path| folders.iter().any(|folder| path.starts_with(folder));
        found.diagnostics.retain(|diagnostic| is_in(diagnostic.path()));
        for diagnostic in found.diagnostics {
            let file = checked.files.entry(diagnostic.path().to_owned()).or_default();
            file.push(FileProblem { diagnostic, is_quick: false });
        }
        if let Some(survey) = &survey {
            place_items(&project, &catalog, survey, &mut checked.items);
        }
        for link in find_links(&catalog, project.system(), project.root()) {
            checked.links.entry(link.target.clone()).or_default().push(link);
        }
    }
    for path in request.texts.keys() {
        let quick = problems_along(&system, &request.folders, path);
        let broken = quick.iter().filter(|found| found.rule == rules::check::BROKEN).cloned();
        let broken: Vec<FileProblem> =
            broken.map(|diagnostic| FileProblem { diagnostic, is_quick: true }).collect();
        if let Some(problems) = checked.files.get_mut(path) {
            for problem in problems {
                problem.is_quick = quick.contains(&problem.diagnostic);
            }
        }
        // The rest of the check is about guidance, and these are about what it is for.
        if !broken.is_empty() {
            checked.files.entry(path.clone()).or_default().extend(broken);
        }
    }
    checked
}

/// Returns the projects that folders are in, each with its folders: a folder may be a part of a repository.
fn projects_of<'s, 'f>(
    system: &'s dyn System,
    folders: &'f [PathBuf],
) -> Vec<(Project<'s>, Vec<&'f Path>)> {
    let mut projects: Vec<(Project<'s>, Vec<&'f Path>)> = Vec::new();
    for folder in folders {
        let Ok(project) = Project::open(system, folder) else { continue };
        match projects.iter_mut().find(|(known, _)| known.root() == project.root()) {
            Some((_, folders)) => folders.push(folder),
            None => projects.push((project, vec![folder])),
        }
    }
    projects
}

/// Returns the problems of one file that can be seen without reading the whole folder: its cost follows the depth of
/// its path.
pub(super) fn quick_problems(
    system: &Arc<dyn System>,
    folders: &[PathBuf],
    path: &Path,
    text: &str,
) -> Vec<Diagnostic> {
    match in_front_of(system, path, text) {
        Some(system) => problems_along(&system, folders, path),
        None => Vec::new(),
    }
}

/// Puts the text of one file in front of a system.
pub(super) fn in_front_of(system: &Arc<dyn System>, path: &Path, text: &str) -> Option<Remembered> {
    in_front(system, &Texts::from([(path.to_owned(), Arc::from(text))]))
}

/// Returns the innermost folder that holds a file.
pub(super) fn folder_of<'f>(folders: &'f [PathBuf], path: &Path) -> Option<&'f PathBuf> {
    let holding = folders.iter().filter(|folder| path.starts_with(folder));
    holding.max_by_key(|folder| folder.components().count())
}

fn problems_along(system: &dyn System, folders: &[PathBuf], path: &Path) -> Vec<Diagnostic> {
    let Some(folder) = folder_of(folders, path) else { return Vec::new() };
    let Ok(project) = Project::open(system, folder) else { return Vec::new() };
    let catalog = project.briefing(path).read_catalog();
    let mut found = catalog.diagnostics();
    let checks = catalog.rule_checks();
    if !checks.is_empty() {
        found.extend(judge_text(system, project.root(), checks, path));
    }
    found.retain(|diagnostic| diagnostic.path() == path);
    found
}

/// Notes the items of a project, with their reach and cost.
fn place_items(
    project: &Project<'_>,
    catalog: &Catalog,
    survey: &Survey<'_>,
    items: &mut BTreeMap<PathBuf, Vec<PlacedItem>>,
) {
    let root = project.root().path();
    let moment = Moment { root: project.root().clone(), ..Moment::default() };
    let known = OwnClients::read_project(project.system(), root).known_clients();
    let mut loading: BTreeMap<(PathBuf, usize), Vec<String>> = BTreeMap::new();
    for client in &known.clients {
        let moment = Moment { client: Some(client.id.to_string()), ..moment.clone() };
        for left_out in catalog.collect_candidates(&moment).left_out {
            if matches!(left_out.reason, Reason::LoadedByClient { .. }) {
                let place = (left_out.path.to_owned(), left_out.line);
                loading.entry(place).or_default().push(client.name.to_string());
            }
        }
    }
    let mut examples: BTreeMap<(&Path, usize), Vec<String>> = BTreeMap::new();
    if let Some(files) = catalog.files() {
        catalog.collect_reach(&moment, &mut |reached| {
            if let Candidate::Item(item) = reached.candidate {
                let named = examples.entry((item.path, item.line)).or_default();
                let first = reached.files.iter().filter_map(|place| files.files.get(place));
                named.extend(first.take(EXAMPLES - named.len().min(EXAMPLES)).cloned());
            }
        });
    }
    for surveyed in &survey.items {
        let item = &surveyed.item;
        let loaded_by = loading.get(&(item.path.to_owned(), item.line));
        items.entry(item.path.to_owned()).or_default().push(PlacedItem {
            line: item.line.saturating_sub(1),
            kind: item.kind,
            name: item.name.to_string(),
            state: item.state,
            files: surveyed.files,
            examples: examples.remove(&(item.path, item.line)).unwrap_or_default(),
            is_reached_otherwise: surveyed.has_directory || surveyed.is_manual,
            tokens: surveyed.tokens,
            patterns: item.patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect(),
            loaded_by: loaded_by.cloned().unwrap_or_default(),
        });
    }
    for placed in items.values_mut() {
        placed.sort_by_key(|item| item.line);
    }
}
