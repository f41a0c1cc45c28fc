//! A project from above, owned: what the pages show that is not about one file.
//!
//! It is made anew when a file has changed, by a thread of its own. The costs and items come first; the checks, which
//! read more, follow.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_engine::search::SearchIndex;
use brief_engine::sees::{Arrival, Sight, Viewer, asked_clients};
use brief_engine::survey::{DialectCost, Share, Survey, SurveyedDirectory, SurveyedItem};
use brief_engine::tokens::Counter;
use brief_engine::{Briefing, Catalog, Dialects, Project, ProjectFiles, State};
use brief_profiles::BUILTIN;
use brief_syntax::render::path_below;
use brief_system::{Remembered, System};

use super::address::short_hash;
use brief_workflows::delivery::find_viewers;

/// An item as pages show it.
#[derive(Debug, Clone)]
pub(super) struct ShownItem {
    /// The identity: it stays when lines are added above the item.
    pub(super) id: String,
    pub(super) dialect: &'static str,
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// The file, below the root where it can be.
    pub(super) place: String,
    pub(super) line: usize,
    pub(super) scope: &'static str,
    pub(super) trigger: Option<&'static str>,
    pub(super) state: State,
    pub(super) patterns: Vec<String>,
    pub(super) description: String,
    pub(super) text: String,
    /// The directory whose guidance it is; `None` for the user's own.
    pub(super) directory: Option<String>,
    pub(super) tokens: usize,
    /// The number of files that it is for.
    pub(super) files: usize,
    /// The first of these files.
    pub(super) examples: Vec<String>,
    pub(super) is_reached_otherwise: bool,
}

/// An item that a client may come to, in the table of items and clients.
#[derive(Debug, Clone)]
pub(super) struct MatrixRow {
    pub(super) id: Option<String>,
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) place: String,
    pub(super) line: usize,
    pub(super) tokens: usize,
    pub(super) seen: Vec<Sight>,
}

impl MatrixRow {
    pub(super) fn is_skipped(&self) -> bool {
        self.seen.iter().all(|sight| sight.how == Arrival::Skipped)
    }
}

#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub(super) root: PathBuf,
    /// The reason why there is no project, if there is none.
    pub(super) problem: Option<String>,
    pub(super) items: Vec<ShownItem>,
    by_id: HashMap<String, usize>,
    by_place: HashMap<(String, String), usize>,
    pub(super) tokens: usize,
    pub(super) dialects: Vec<DialectCost>,
    pub(super) directories: Vec<SurveyedDirectory>,
    pub(super) shares: Vec<Share>,
    pub(super) files: ProjectFiles,
    /// The tokens that each file gets.
    pub(super) costs: Vec<usize>,
    pub(super) guidance_files: usize,
    /// The clients that pages ask about.
    pub(super) clients: Vec<String>,
    /// The same with what is installed for each.
    pub(super) viewers: Vec<Viewer>,
    pub(super) matrix: Vec<MatrixRow>,
    pub(super) index: SearchIndex,
}

/// The parts of a reading that the checks use.
pub(super) struct ProjectReading<'s> {
    pub(super) project: Project<'s>,
    pub(super) catalog: Catalog,
}

impl Snapshot {
    /// Reads the whole project around a directory, and does `then` with what was read.
    pub(super) fn read(
        system: &Arc<dyn System>,
        directory: &Path,
        then: impl FnOnce(Snapshot, Option<(&ProjectReading<'_>, &Survey<'_>)>),
    ) {
        let system = Remembered::new(Arc::clone(system));
        let project = match Project::open(&system, directory) {
            Ok(project) => project,
            Err(error) => {
                let problem = format!("cannot open `{}`: {error}", directory.display());
                let root = directory.to_owned();
                then(Snapshot { root, problem: Some(problem), ..Snapshot::default() }, None);
                return;
            }
        };
        let reading = ProjectReading { catalog: project.read_project(Dialects::All), project };
        let counter = Counter::estimate();
        let (moment, root) = (reading.project.everything().moment, reading.project.root().path());
        let count = |text: &str| counter.count(text);
        match Survey::from_catalog(&reading.catalog, root, &moment, &count) {
            Some(survey) => {
                then(Snapshot::from_reading(&reading, &survey), Some((&reading, &survey)));
            }
            None => then(Snapshot { root: root.to_owned(), ..Snapshot::default() }, None),
        }
    }

    fn from_reading(reading: &ProjectReading<'_>, survey: &Survey<'_>) -> Snapshot {
        let ProjectReading { project, catalog } = reading;
        let root = project.root().path();
        let counter = Counter::estimate();
        let count = |text: &str| counter.count(text);
        let moment = project.everything().moment;
        let clients = asked_clients(project.system(), root, Vec::new()).unwrap_or_default();
        let all = find_viewers(project.system(), root, &moment, &BUILTIN.names());
        let viewers = find_viewers(project.system(), root, &moment, &clients);
        let mut snapshot = Snapshot {
            root: root.to_owned(),
            tokens: survey.tokens,
            dialects: survey.dialect_costs(),
            directories: survey.surveyed_directories(),
            shares: survey.client_shares(catalog, root, &all, &count),
            files: survey.files.clone(),
            costs: survey.costs.clone(),
            guidance_files: catalog.file_count(),
            clients,
            ..Snapshot::default()
        };
        snapshot.add_items(root, survey);
        let sees = survey.tabulate_sees(catalog, root, &viewers, &count);
        let row = |item: &brief_engine::sees::SeenItem<'_>| {
            let (place, name) = (path_below(root, item.path).into_owned(), item.name.to_string());
            MatrixRow {
                id: snapshot.id_at(&place, &name).map(str::to_owned),
                kind: item.kind,
                line: item.line,
                tokens: item.tokens,
                seen: item.seen.clone(),
                place,
                name,
            }
        };
        snapshot.matrix = sees.items.iter().map(row).collect();
        snapshot.viewers = viewers;
        snapshot.index =
            SearchIndex::from_briefing(&Briefing::from_catalog(catalog, moment.clone(), &counter));
        snapshot
    }

    /// Takes over the items of a survey.
    fn add_items(&mut self, root: &Path, survey: &Survey<'_>) {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for surveyed in &survey.items {
            let SurveyedItem { item, directory, tokens, files, has_directory, is_manual, .. } =
                surveyed;
            let examples =
                surveyed.examples.iter().filter_map(|&place| self.files.files.get(place));
            let examples = examples.cloned().collect();
            let place = path_below(root, item.path).into_owned();
            let name = item.name.to_string();
            let identity = format!("{}\n{place}\n{name}", item.dialect);
            let number = seen.entry(identity.clone()).or_default();
            *number += 1;
            let identity = if *number > 1 { format!("{identity}\n{number}") } else { identity };
            let id = short_hash(&identity);
            let index = self.items.len();
            self.by_id.insert(id.clone(), index);
            self.by_place.entry((place.clone(), name.clone())).or_insert(index);
            self.items.push(ShownItem {
                id,
                dialect: item.dialect,
                kind: item.kind,
                name,
                place,
                line: item.line,
                scope: item.scope,
                trigger: item.trigger,
                state: item.state,
                patterns: item.patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect(),
                description: item.description.to_owned(),
                text: item.content.to_owned(),
                directory: directory.clone(),
                tokens: *tokens,
                files: *files,
                examples,
                is_reached_otherwise: *has_directory || *is_manual,
            });
        }
    }

    pub(super) fn find_item(&self, id: &str) -> Option<&ShownItem> {
        self.items.get(*self.by_id.get(id)?)
    }

    /// Returns the identity of the item with a name in a file.
    pub(super) fn id_at(&self, place: &str, name: &str) -> Option<&str> {
        let index = *self.by_place.get(&(place.to_owned(), name.to_owned()))?;
        self.items.get(index).map(|item| item.id.as_str())
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.cost_of(path).is_some()
    }

    /// Returns the tokens that a file gets; `None` for one that is not in the project.
    pub(super) fn cost_of(&self, path: &str) -> Option<usize> {
        let place = self.files.files.binary_search_by(|file| file.as_str().cmp(path)).ok()?;
        self.costs.get(place).copied()
    }

    pub(super) fn name(&self) -> String {
        let name = self.root.file_name().unwrap_or(self.root.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Returns the directories and files to follow, sorted.
    pub(super) fn watched_paths(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        // Git writes there all the time.
        let directories =
            self.files.directories.iter().filter(|path| path.rsplit('/').next() != Some(".git"));
        let mut directories: Vec<PathBuf> =
            directories.map(|directory| self.root.join(directory)).collect();
        directories.push(self.root.clone());
        let mut files: Vec<PathBuf> =
            self.items.iter().map(|item| self.root.join(&item.place)).collect();
        for file in &files {
            // The user's own files lie elsewhere.
            if !file.starts_with(&self.root) {
                directories.extend(file.parent().map(Path::to_owned));
            }
        }
        for list in [&mut directories, &mut files] {
            list.sort_unstable();
            list.dedup();
        }
        (directories, files)
    }
}
