//! Everything that a project offers by name, from one look at the whole of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_engine::search::SearchIndex;
use brief_engine::tokens::Counter;
use brief_engine::{BriefedItem, Briefing, Project, ProjectFiles, State};
use brief_syntax::limits;
use brief_syntax::text::percent_encoded;
use brief_system::hash::sha256;
use brief_system::{ReadError, Remembered, System, resolved_home};
use rmcp::model::Resource;

use super::ServerOptions;
use super::instructions::render_instructions;
use super::prompts::OfferedPrompt;
use super::skills::{OfferedSkill, SkillReader};

/// The lists of a project's server.
#[derive(Debug, Default)]
pub(super) struct Offers {
    pub(super) root: PathBuf,
    pub(super) index: SearchIndex,
    pub(super) instructions: String,
    pub(super) prompts: Vec<OfferedPrompt>,
    pub(super) skills: Vec<OfferedSkill>,
    /// The skills' main files, the listed files, and the agents, in the order of the list.
    pub(super) listed: Vec<OfferedFile>,
    /// Every file that a client can read, by URI.
    pub(super) readable: BTreeMap<String, ReadableFile>,
    /// The directories whose changes change these lists, sorted.
    pub(super) watched: Vec<PathBuf>,
    /// The files of items and skills, sorted.
    pub(super) files: Vec<PathBuf>,
}

/// A file of the list of resources.
#[derive(Debug)]
pub(super) struct OfferedFile {
    pub(super) resource: Resource,
    /// The kind of item: `skill`, `agent`, `rule` and so on.
    pub(super) kind: &'static str,
}

/// A file that a client can read.
#[derive(Debug, Clone)]
pub(super) struct ReadableFile {
    /// A directory that the file may not leave: the project, or the home directory.
    pub(super) base: PathBuf,
    pub(super) below: PathBuf,
    pub(super) fingerprint: String,
}

impl ReadableFile {
    /// Reads the file as it is now. A link out of the base is an error.
    pub(super) fn read(&self, system: &dyn System, limit: u64) -> Result<Vec<u8>, ReadError> {
        let path = system.resolve(&self.base.join(&self.below))?.path;
        let below = path.strip_prefix(&self.base).map_err(|_| ReadError::Missing)?;
        system.open_dir(&self.base)?.read_below(below, limit)
    }
}

impl Offers {
    pub(super) fn read_project(system: &Arc<dyn System>, options: &ServerOptions) -> Offers {
        let system = Remembered::new(Arc::clone(system));
        let directory = &options.directory;
        let Ok(project) = Project::open(&system, directory) else {
            return Offers { root: directory.clone(), ..Offers::default() };
        };
        let request = project.everything();
        let catalog = request.read_catalog();
        let counter = Counter::estimate();
        let root = request.moment.root.path().to_owned();
        let everything = Briefing::from_catalog(&catalog, request.moment, &counter);
        let mut offers = Offers {
            index: SearchIndex::from_briefing(&everything),
            prompts: OfferedPrompt::collect(&system, directory),
            root,
            ..Offers::default()
        };
        offers.add_files(&system, &everything);
        // A client that loads an item by itself need not be told of it.
        let news = match &options.client {
            Some(client) => {
                let moment = project.everything().client(client.clone()).moment;
                Briefing::from_catalog(&catalog, moment, &counter).listed
            }
            None => everything.listed,
        };
        offers.instructions = render_instructions(&offers, &news);
        offers.add_watched(catalog.files());
        offers
    }

    /// Notes the directories and files to follow.
    fn add_watched(&mut self, found: Option<&ProjectFiles>) {
        let directories = found.map(|found| found.directories.as_slice()).unwrap_or_default();
        // Git writes there all the time.
        let directories = directories.iter().filter(|path| path.rsplit('/').next() != Some(".git"));
        self.watched.extend(directories.map(|directory| self.root.join(directory)));
        self.watched.push(self.root.clone());
        self.files.extend(self.readable.values().map(|file| file.base.join(&file.below)));
        for list in [&mut self.watched, &mut self.files] {
            list.sort_unstable();
            list.dedup();
        }
    }

    fn add_files(&mut self, system: &dyn System, everything: &Briefing) {
        let home = resolved_home(system);
        let bases: Vec<PathBuf> = std::iter::once(self.root.clone()).chain(home).collect();
        let skills = SkillReader::new(system, &bases);
        for item in everything.items() {
            self.files.push(item.path.to_path_buf());
            let is_file = item.kind == "agent" || item.state == State::Listed;
            if item.kind != "skill" && !is_file {
                continue;
            }
            let Some((base, below)) = find_base(&bases, &item.path) else { continue };
            if base != self.root
                && let Some(parent) = item.path.parent()
            {
                self.watched.push(parent.to_owned());
            }
            if item.kind == "skill"
                && let Some(skill) = skills.read_skill(item, base)
            {
                self.add_skill(skill, item, base, below);
                continue;
            }
            let uri = format!("file://{}", percent_encoded(&item.path.to_string_lossy()));
            let readable = ReadableFile {
                base: base.to_owned(),
                below: below.to_owned(),
                fingerprint: sha256(item.content.as_bytes()),
            };
            // One file can have several items.
            if self.readable.insert(uri.clone(), readable).is_none() {
                self.list_item(item, uri, None);
            }
        }
    }

    fn add_skill(&mut self, skill: OfferedSkill, item: &BriefedItem, base: &Path, below: &Path) {
        let directory = below.parent().unwrap_or(Path::new(""));
        self.watched.push(base.join(directory));
        for file in &skill.files {
            let below = directory.join(&file.below);
            if let Some(parent) = below.parent() {
                self.watched.push(base.join(parent));
            }
            let fingerprint = file.digest.clone();
            let readable = ReadableFile { base: base.to_owned(), below, fingerprint };
            self.readable.insert(file.uri.clone(), readable);
        }
        let size = skill.files.first().map(|file| file.size);
        self.list_item(item, skill.uri.clone(), size);
        self.skills.push(skill);
    }

    fn list_item(&mut self, item: &BriefedItem, uri: String, size: Option<u64>) {
        let mut resource = Resource::new(uri, item.name.clone());
        resource.mime_type = Some("text/markdown".to_owned());
        resource.size = size;
        if !item.description.is_empty() {
            resource.description = Some(item.description.clone());
        }
        self.listed.push(OfferedFile { resource, kind: item.kind });
    }

    /// Returns the URI of an item, if a client can read it.
    pub(super) fn uri_of(&self, item: &BriefedItem) -> Option<&str> {
        let is_same = |file: &ReadableFile| file.base.join(&file.below) == *item.path;
        self.readable.iter().find(|(_, file)| is_same(file)).map(|(uri, _)| uri.as_str())
    }

    /// Returns whether a client sees another list of prompts.
    pub(super) fn has_other_prompts(&self, other: &Offers) -> bool {
        let others = other.prompts.iter().map(|prompt| &prompt.listed);
        !self.prompts.iter().map(|prompt| &prompt.listed).eq(others)
    }

    /// Returns whether a client sees another list of resources. A changed file of a skill is such a change:
    /// the extension has no notification of its own.
    pub(super) fn has_other_resources(&self, other: &Offers) -> bool {
        let others = other.listed.iter().map(|file| &file.resource);
        !self.listed.iter().map(|file| &file.resource).eq(others) || self.skills != other.skills
    }

    /// Returns whether a resource has another content.
    pub(super) fn has_other_content(&self, other: &Offers, uri: &str) -> bool {
        let [mine, others] = [self, other].map(|offers| offers.readable.get(uri));
        mine.map(|file| &file.fingerprint) != others.map(|file| &file.fingerprint)
    }
}

/// Returns the base that a path lies in, and its path below it.
fn find_base<'p>(bases: &'p [PathBuf], path: &'p Path) -> Option<(&'p Path, &'p Path)> {
    bases.iter().find_map(|base| Some((base.as_path(), path.strip_prefix(base).ok()?)))
}

/// The limit for the bytes of a resource.
pub(super) const RESOURCE_BYTES: u64 = limits::SKILL_BYTES;
