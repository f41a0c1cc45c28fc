//! The registry that an import writes to.
//!
//! It is the one that a person would choose: a directory that `brief.toml` has as a source, one with items of the portable
//! format, or a new one. A skill of the product, a test fixture, a directory that version control ignores and one that a client reads
//! are none of these.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use brief_clients::import::{CollectedItem, Collection, is_test_data};
use brief_engine::portable::{self, ItemKind};
use brief_registry::install::{self, NewFile, NewFileState, ProjectPaths};
use brief_registry::manifest::ManifestPlace;
use brief_syntax::Root;
use brief_syntax::walk::IgnoreFiles;
use brief_system::paths::{clean_path, relative_path, to_slashed};
use brief_system::{Below, FileKind};

use super::{ItemState, new_files};
use crate::error::{CommandError, Result};
use crate::installation::Installation;
use crate::session::Session;

/// The directories for items of a project that has no registry yet. The first one that is free is taken.
const NEW_DIRECTORIES: [&str; 3] = ["guidance", "agent-guidance", "ai-guidance"];

/// Directories, besides test data, whose items are for reading, and not for the project.
const SAMPLES: [&str; 9] =
    ["test", "tests", "spec", "e2e", "example", "examples", "sample", "samples", "docs"];

/// The registry that items are written to.
pub(super) struct RegistryTarget {
    pub(super) project: ProjectPaths,
    /// The directory below that project, with `/`; empty for the project itself.
    below: String,
    /// The directory as it is shown.
    pub(super) shown: String,
}

impl RegistryTarget {
    /// Finds the registry: the one that the user names, or the one that a person would choose.
    pub(super) fn find(
        session: &Session,
        installation: &Installation,
        collection: &Collection,
        to: Option<&Path>,
    ) -> Result<RegistryTarget> {
        let (system, project) = (session.system(), &installation.project);
        let Some(to) = to else {
            let choice = RegistryChoice::new(session, installation, collection)?;
            let Some(below) = choice.choose() else {
                let message = "no suitable directory for a registry";
                return Err(CommandError::refused(message).with_hint(
                    "pass `--to DIR` with a directory that version control does not ignore",
                ));
            };
            let shown = if below.is_empty() { ".".to_owned() } else { below.clone() };
            return Ok(RegistryTarget { project: project.clone(), shown, below });
        };
        let whole = clean_path(&session.directory().join(to));
        let shown = to.display().to_string();
        if let Ok(below) = whole.strip_prefix(clean_path(&project.outputs)) {
            let below = to_slashed(below);
            if is_hidden(&below) {
                let message =
                    format!("`{shown}` is a hidden directory, and those belong to clients");
                return Err(
                    CommandError::usage(message).with_hint("choose a directory such as `guidance`")
                );
            }
            return Ok(RegistryTarget { project: project.clone(), below, shown });
        }
        if system.resolve(&whole).is_err() {
            let message = format!("cannot create `{shown}`: outside the project");
            return Err(CommandError::usage(message).with_hint("create the directory first"));
        }
        Ok(RegistryTarget { project: ProjectPaths::from_root(&whole), below: String::new(), shown })
    }

    /// Returns a warning if version control ignores the registry, so that no clone would have it.
    pub(super) fn ignored_warning(&self, session: &Session) -> Option<String> {
        let root = Root::open(session.system(), &self.project.outputs).ok()?;
        let ignored = IgnoreFiles::new(session.system(), &root);
        let is_ignored = !self.below.is_empty() && ignored.is_ignored(Path::new(&self.below));
        is_ignored.then(|| {
            format!("commits will not contain the items: version control ignores `{}`", self.shown)
        })
    }

    /// Returns the registry as a user would type it: relative, so that the manifest is the same on every machine.
    pub(super) fn typed_path(&self, session: &Session) -> PathBuf {
        let place = clean_path(&self.project.outputs.join(&self.below));
        match relative_path(&clean_path(session.directory()), &place) {
            way if way.is_empty() => PathBuf::from("."),
            way if way == ".." || way.starts_with("../") => PathBuf::from(way),
            way => PathBuf::from(format!("./{way}")),
        }
    }

    /// Returns the registry as an argument of `brief add`: `guidance` alone would be a name.
    pub(super) fn shown_source(&self) -> String {
        let is_path = self.shown.starts_with(['.', '/']);
        if is_path { self.shown.clone() } else { format!("./{}", self.shown) }
    }

    /// Returns the path of an item's file below the project.
    pub(super) fn path_of(&self, item: &CollectedItem, file: &str) -> String {
        let inside = format!("{}/{file}", item.kind.folder());
        if self.below.is_empty() { inside } else { format!("{}/{inside}", self.below) }
    }

    pub(super) fn item_paths(&self, item: &CollectedItem) -> Vec<String> {
        item.files.iter().map(|file| self.path_of(item, &file.path)).collect()
    }

    pub(super) fn item_states(
        &self,
        session: &Session,
        items: &[CollectedItem],
    ) -> Result<Vec<ItemState>> {
        let paths: Vec<Vec<String>> = items.iter().map(|item| self.item_paths(item)).collect();
        let files: Vec<NewFile<'_>> =
            items.iter().zip(&paths).flat_map(|(item, paths)| new_files(item, paths)).collect();
        let found = install::inspect_new_files(session.system(), &self.project, &files)?;
        let mut rest = found.as_slice();
        let state = |item: &CollectedItem| {
            let (own, others) = rest.split_at(item.files.len().min(rest.len()));
            rest = others;
            let is = |wanted: &NewFileState| own.iter().all(|state| state == wanted);
            if is(&NewFileState::Free) {
                ItemState::New
            } else if is(&NewFileState::Same) {
                ItemState::Unchanged
            } else {
                ItemState::Taken
            }
        };
        Ok(items.iter().map(state).collect())
    }
}

fn is_hidden(below: &str) -> bool {
    below.split('/').any(|name| name.starts_with('.'))
}

/// The directories of a project that could be its registry.
struct RegistryChoice<'c> {
    session: &'c Session,
    root: Root,
    /// The directories that `brief.toml` has as sources.
    sources: Vec<String>,
    /// The directories that clients read by a link.
    linked: &'c [String],
}

impl<'c> RegistryChoice<'c> {
    fn new(
        session: &'c Session,
        installation: &Installation,
        collection: &'c Collection,
    ) -> Result<RegistryChoice<'c>> {
        let project = &installation.project;
        let root = Root::open(session.system(), &project.outputs).map_err(|error| {
            CommandError::refused(format!("`{}`: {error}", project.outputs.display()))
        })?;
        let named = installation.manifest.iter().flat_map(|manifest| &manifest.sources);
        let sources = named.filter_map(|source| {
            let ManifestPlace::Directory(path) = &source.place else { return None };
            let whole = clean_path(&project.config.join(path));
            Some(to_slashed(whole.strip_prefix(clean_path(&project.outputs)).ok()?))
        });
        Ok(RegistryChoice { session, sources: sources.collect(), linked: &collection.linked, root })
    }

    fn choose(&self) -> Option<String> {
        let items = self.count_items();
        let count = |below: &String| items.get(below).copied().unwrap_or_default();
        let sources = self.sources.iter().filter(|below| self.is_right(below));
        if let Some(source) = sources.max_by_key(|below| count(below)) {
            return Some(source.clone());
        }
        // Of several with as many items, the one at the top.
        let is_own = |below: &&String| self.is_right(below) && !is_sample(below);
        let depth = |below: &str| below.split('/').filter(|name| !name.is_empty()).count();
        let found = items.keys().filter(is_own);
        let found = found.max_by_key(|below| (count(below), std::cmp::Reverse(depth(below))));
        found.cloned().or_else(|| {
            let mut new = NEW_DIRECTORIES.into_iter();
            new.find(|name| self.is_right(name) && self.is_free(name)).map(str::to_owned)
        })
    }

    /// Counts the items of the portable format, by the directory that they are in. Skills of other formats prove nothing: products
    /// have them, too.
    fn count_items(&self) -> BTreeMap<String, usize> {
        let registry = portable::read_registry(self.session.system(), &self.root, &[]);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for item in registry.items.iter().filter(|item| !item.is_foreign()) {
            let above = item.slashed().rsplit_once('/').map_or("", |(above, _)| above);
            let (base, folder) = above.rsplit_once('/').unwrap_or(("", above));
            if folder == item.kind().folder() {
                *counts.entry(base.to_owned()).or_default() += 1;
            }
        }
        counts
    }

    /// Returns whether new items may be written there: everybody gets them, and no client reads them as its own.
    fn is_right(&self, below: &str) -> bool {
        if is_hidden(below) {
            return false;
        }
        let ignored = IgnoreFiles::new(self.session.system(), &self.root);
        let base = Path::new(below);
        ItemKind::ALL.into_iter().all(|kind| {
            let folder = to_slashed(&base.join(kind.folder()));
            let is_read = self.linked.iter().any(|own| {
                folder == *own
                    || folder.starts_with(&format!("{own}/"))
                    || own.starts_with(&format!("{folder}/"))
            });
            let item = base.join(kind.folder()).join("name").join(kind.entrypoint());
            !is_read && !ignored.is_ignored(&item)
        })
    }

    /// Returns whether a directory is missing, or holds nothing but what a registry has.
    fn is_free(&self, name: &str) -> bool {
        let path = self.root.path().join(name);
        let Ok(directory) = self.session.system().open_dir(&path) else {
            return matches!(self.session.system().probe_path(&path), Below::Missing);
        };
        let entries = directory.entries().unwrap_or_default();
        let has_folder = entries.iter().any(|entry| {
            entry.kind == FileKind::Directory
                && entry.name.to_str().and_then(ItemKind::of_folder).is_some()
        });
        has_folder || entries.is_empty()
    }
}

fn is_sample(below: &str) -> bool {
    is_test_data(below) || below.split('/').any(|name| SAMPLES.contains(&name))
}
