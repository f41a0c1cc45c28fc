//! Clients' own files: settings, hooks, MCP servers, agents, skills, commands, plugins.
//!
//! The facts are data: a table of checks for each client (`brief_profiles::CheckSheet`), seen in the client itself. This
//! module finds the files during the walk of a whole project; `brief_checks` compares each with its table.

mod places;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_profiles::FileFormat;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::walk::Visit;
use brief_syntax::{Source, limits};
use brief_system::paths::cleaned_below;
use brief_system::{Below, FileKind};
use serde_json::Value;

use super::check::PUT_AWAY;
use crate::CheckedClientFile;
use places::{CheckedPlace, CheckedPlaces};

/// The clients' own files that were found.
#[derive(Debug, Default)]
pub(super) struct ClientFiles {
    found: Vec<FileToCheck>,
    /// The directories that hold a plugin, below the root.
    plugins: Vec<String>,
}

#[derive(Debug)]
struct FileToCheck {
    place: &'static CheckedPlace,
    /// The directory that the place starts at.
    base: PathBuf,
    source: Arc<Source>,
}

impl FileToCheck {
    fn has_header(&self) -> bool {
        self.place
            .find_file_checks()
            .is_some_and(|(_, file)| file.format == FileFormat::FrontMatter)
    }
}

impl ClientFiles {
    /// Looks for such files in a directory.
    pub(super) fn visit(&mut self, visit: &Visit<'_>) {
        let entries = visit.entries().unwrap_or_default();
        let directory = visit.slashed();
        if directory.split('/').any(|name| PUT_AWAY.contains(&name)) {
            return;
        }
        let has = |name: &str| entries.iter().any(|entry| entry.name == name);
        if has(places::PLUGIN) {
            let manifest = Path::new(places::PLUGIN).join("plugin.json");
            if visit.handle().look_below(&manifest) == Below::NotADirectory {
                self.plugins.push(directory.to_owned());
                self.add_listed_agents(visit, &manifest);
            }
        }
        let mut here = CheckedPlaces::builtin_places().in_directory(directory, &self.plugins);
        if places::OF_OTHER_PLUGINS.iter().any(|name| has(name)) {
            // The servers there are those of a plugin, of whichever client.
            here.retain(|(place, _)| place.is_below());
        }
        if here.is_empty() {
            return;
        }
        // `settings.local.json` is not meant for the repository.
        let ignored = visit.ignored_entries().iter().map(|entry| (entry, true));
        let all = entries.iter().map(|entry| (entry, false)).chain(ignored);
        for (entry, is_ignored) in all.filter(|(entry, _)| entry.kind == FileKind::File) {
            let Some(name) = entry.name.to_str() else { continue };
            for (place, base) in &here {
                if !place.matches_name(name) || is_ignored && !place.is_exact() {
                    continue;
                }
                if self.found.len() == limits::NATIVE_FILES {
                    return;
                }
                let read = if is_ignored {
                    visit.handle().read(OsStr::new(name), limits::FILE_BYTES)
                } else {
                    visit.read_file(name)
                };
                let Ok(bytes) = read else { continue };
                self.found.push(FileToCheck {
                    place,
                    base: visit.root().join(*base),
                    source: Arc::new(Source::from_bytes(visit.path_of(name), bytes)),
                });
            }
        }
    }

    /// Adds the agents that the manifest of a plugin lists, besides those of its directory `agents`.
    fn add_listed_agents(&mut self, visit: &Visit<'_>, manifest: &Path) {
        let Some(place) = CheckedPlaces::builtin_places().of_plugin_agents() else { return };
        let manifest = visit.handle().read_below(manifest, limits::FILE_BYTES);
        let manifest = manifest.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let manifest: Value = manifest.unwrap_or_default();
        let listed = manifest["agents"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for path in listed.filter_map(|path| cleaned_below(Path::new(path))) {
            let is_page = path.extension().is_some_and(|end| end == "md");
            if !is_page || path.starts_with("agents") || self.found.len() == limits::NATIVE_FILES {
                continue;
            }
            if let Ok(bytes) = visit.handle().read_below(&path, limits::FILE_BYTES) {
                let source = Arc::new(Source::from_bytes(visit.path().join(path), bytes));
                self.found.push(FileToCheck { place, base: visit.path(), source });
            }
        }
    }

    /// Passes the path of each to `tell`.
    pub(super) fn each_file<'s>(&'s self, tell: &mut dyn FnMut(&'s Path)) {
        self.found.iter().for_each(|found| tell(found.source.path()));
    }

    /// Returns the texts with a header, such as commands, with the place where each body begins.
    pub(super) fn texts_with_header(&self) -> impl Iterator<Item = (&Arc<Source>, usize)> {
        let files = self.found.iter().filter(|found| found.has_header());
        files.map(|found| (&found.source, FrontMatter::from_source(&found.source).body_start))
    }

    /// Passes each to `tell`, with the checks for it.
    pub(super) fn each_checked<'s>(&'s self, tell: &mut dyn FnMut(CheckedClientFile<'s>)) {
        for FileToCheck { place, base, source } in &self.found {
            let is_plugin_agent = place.is_of_plugin_agents();
            if let Some((checks, file)) = place.find_file_checks() {
                tell(CheckedClientFile { checks, file, base, source, is_plugin_agent });
            }
        }
    }
}
