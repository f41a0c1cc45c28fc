//! Opens sources as directories with items.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::portable::{self, Bundle, ClientDirectories, ItemKind, Registry, config};
use brief_profiles::OwnClients;
use brief_safety::policy::Policy;
use brief_syntax::walk::Ignored;
use brief_syntax::{Diagnostic, Root, Source as Text, limits};
use brief_system::{Dir, FileKind, System};

use serde::{Deserialize, Serialize};

use super::run::Run;
use super::vouch::Pinned;
use super::{InstallError, ProjectPaths};
use crate::cache::{Cache, Checkout, Event, Network};
use crate::lock::{Lock, LockedSource};
use crate::manifest::{ManifestPlace, WantedItems, WantedSource};
use crate::oci::OciSource;
use crate::outputs::filter_errors;
use crate::remote::RemoteSource;
use crate::source::{GitSource, SourceAddress, SourceError};

pub(super) struct OpenedSource<'o> {
    pub(super) wanted: &'o WantedSource,
    pub(super) root: Root,
    pub(super) registry: Arc<Registry>,
    pub(super) commit: Option<String>,
    /// The origin of an artifact, as far as the lock keeps it.
    pub(super) pinned: Pinned,
    /// True if the commit is the locked one.
    pub(super) is_locked: bool,
    pub(super) notes: Vec<String>,
}

/// The items of a source that may not be installed yet.
#[derive(Debug)]
pub struct SourceItems {
    /// The items and bundles of the source.
    pub registry: Arc<Registry>,
    /// The commit; only for a repository.
    pub commit: Option<String>,
    pub notes: Vec<String>,
    /// Skills in directories for clients of the source itself, which are not items of it.
    pub elsewhere: Vec<Elsewhere>,
    /// The clients that the source itself describes.
    pub described: OwnClients,
    root: Root,
    /// The clients for which the items were checked.
    clients: Vec<String>,
}

/// Skills in the directory of a client, such as `.claude/skills`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// The directory below the source, with `/`.
    pub directory: String,
    /// The names of the skills, sorted.
    pub skills: Vec<String>,
}

impl SourceItems {
    /// Returns the errors that make items unusable. Files of a repository are shown under the name `name`.
    pub fn item_errors(&self, name: &str) -> Vec<Diagnostic> {
        let mut errors: Vec<Diagnostic> =
            filter_errors(self.registry.all_diagnostics()).cloned().collect();
        if self.commit.is_some() {
            name_places(name, self.root.path(), &mut errors);
        }
        errors
    }

    /// Returns the directory of its files.
    pub fn directory(&self) -> &Path {
        self.root.path()
    }

    /// Says which hooks and servers of the wanted plugins are not installed.
    pub fn not_installed(&self, wanted: &WantedItems) -> Vec<String> {
        let is_wanted = |bundle: &&Bundle| wanted.all || wanted.bundles.contains(bundle.name());
        let plugins = self.registry.bundles.iter().filter(is_wanted);
        let facts =
            plugins.filter_map(|bundle| Some((bundle.name(), &bundle.plugin()?.capabilities)));
        let facts: Vec<_> = facts.filter(|(_, facts)| !facts.is_empty()).collect();
        match facts.as_slice() {
            [] => Vec::new(),
            _ if wanted.all => {
                let count: usize = facts.iter().map(|(_, facts)| facts.len()).sum();
                let plugins = facts.len();
                vec![format!(
                    "{plugins} of its plugins have hooks or servers ({count}), which brief does not install"
                )]
            }
            _ => {
                let told = facts.into_iter().flat_map(|(name, facts)| {
                    facts
                        .iter()
                        .map(move |fact| format!("not installed from the plugin `{name}`: {fact}"))
                });
                told.collect()
            }
        }
    }

    /// Returns the items if they were read from the same directory and checked for the same clients.
    fn registry_of(&self, root: &Root, clients: &[&str]) -> Option<Arc<Registry>> {
        (self.root == *root && self.clients == clients).then(|| Arc::clone(&self.registry))
    }
}

impl Elsewhere {
    /// Returns the directories of clients that have all these skills; `KIND/NAME` counts as `NAME`.
    pub fn with_all<'e>(found: &'e [Elsewhere], names: &[String]) -> Vec<&'e Elsewhere> {
        let bare = names.iter().map(|name| name.rsplit('/').next().unwrap_or_default());
        let has_all = |found: &&Elsewhere| {
            bare.clone().all(|name| found.skills.iter().any(|skill| skill == name))
        };
        found.iter().filter(has_all).collect()
    }
}

/// Reads a source so that the user can choose from its items: at `commit`, or else at its newest commit.
pub fn look_into(
    system: &dyn System,
    source: &SourceAddress,
    commit: Option<&str>,
    base: &Path,
    clients: &[&str],
    network: Network,
    observer: &dyn Fn(Event<'_>),
) -> Result<SourceItems, InstallError> {
    let opened = open_source(system, source, commit, base, network, observer)?;
    let SourceRoot { root, commit, notes } = opened;
    let registry = Arc::new(read_items(system, &root, clients, commit.is_some(), base));
    let elsewhere = collect_hidden_skills(system, &root, &registry);
    let described = OwnClients::read_project(system, root.path());
    let clients = clients.iter().map(|&name| name.to_owned()).collect();
    Ok(SourceItems { registry, commit, notes, elsewhere, described, root, clients })
}

/// Reads the items of a source. They may name the clients that the source itself describes, also in its `brief.toml`. In a directory around
/// `here`, where the user's project is, the directories of clients hold outputs.
pub(crate) fn read_items(
    system: &dyn System,
    root: &Root,
    clients: &[&str],
    is_repository: bool,
    here: &Path,
) -> Registry {
    let ignored = if is_repository { Ignored::Visit } else { Ignored::Skip };
    let here = system.resolve_dir(here).unwrap_or_else(|_| here.to_owned());
    let directories = if !is_repository && here.starts_with(root.path()) {
        ClientDirectories::Outputs
    } else {
        ClientDirectories::Items
    };
    let described = OwnClients::read_project(system, root.path()).clients;
    let described = described.iter().map(|client| &*client.id);
    let configuration = system.read(&root.path().join(config::FILE_NAME), limits::FILE_BYTES);
    let configured = config::client_names(&configuration.unwrap_or_default());
    let configured = configured.iter().map(String::as_str);
    let clients: Vec<&str> = clients.iter().copied().chain(described).chain(configured).collect();
    portable::read_source(system, root, &clients, ignored, directories)
}

/// The open directory of a source.
#[derive(Debug)]
pub struct SourceRoot {
    /// The directory with the files.
    pub root: Root,
    /// The commit; only for a repository.
    pub commit: Option<String>,
    pub notes: Vec<String>,
}

/// Opens the directory of a source: at `commit`, or else at its newest commit. Reads nothing in it.
pub fn open_source(
    system: &dyn System,
    source: &SourceAddress,
    commit: Option<&str>,
    base: &Path,
    network: Network,
    observer: &dyn Fn(Event<'_>),
) -> Result<SourceRoot, InstallError> {
    let name = source.to_string();
    check_admission(system, &Policy::load(system)?, &name, source, base)?;
    let (directory, commit, notes) = match RemoteSource::from_address(source) {
        Err(path) => (base.join(path), None, Vec::new()),
        Ok(remote) => {
            let cache = open_cache(system)?.with_observer(observer);
            let checkout = match commit {
                Some(commit) => remote.checkout_commit(&cache, commit, network),
                None => remote.checkout_reference(&cache, network),
            };
            let checkout = checkout.map_err(InstallError::fetch_error(&name))?;
            (checkout.directory, Some(checkout.commit), checkout.notes)
        }
    };
    let root = open_root(system, &name, directory)?;
    Ok(SourceRoot { root, commit, notes })
}

/// Refuses a source that a policy forbids, before anything of it is fetched or read.
pub(super) fn check_admission(
    system: &dyn System,
    policy: &Policy,
    name: &str,
    source: &SourceAddress,
    base: &Path,
) -> Result<(), InstallError> {
    match source.forbidden_by(policy, system, base) {
        Some(decision) => Err(InstallError::Forbidden { name: name.to_owned(), decision }),
        None => Ok(()),
    }
}

/// The names of skill directories in the directory of a client.
const FOLDERS: [&str; 2] = ["skills", "skill"];

/// Finds skills in hidden directories of a source. Those are for people who work on the source, or were
/// generated; a user may still want them.
pub(super) fn collect_hidden_skills(
    system: &dyn System,
    root: &Root,
    registry: &Registry,
) -> Vec<Elsewhere> {
    let Ok(top) = system.open_dir(root.path()) else { return Vec::new() };
    let hidden =
        list_directory_names(top.as_ref()).into_iter().filter(|name| name.starts_with('.'));
    let mut found = Vec::new();
    for (client, folder) in hidden.flat_map(|name| FOLDERS.map(|folder| (name.clone(), folder))) {
        let directory = format!("{client}/{folder}");
        let Ok(skills) = top.open_dir_below(Path::new(&directory)) else { continue };
        let is_skill = |name: &String| {
            let entrypoint = Path::new(name).join(ItemKind::Skill.entrypoint());
            let slashed = format!("{directory}/{name}");
            let is_item = registry.items.iter().any(|item| item.slashed() == slashed);
            !is_item && skills.read_below(&entrypoint, limits::FILE_BYTES).is_ok()
        };
        let mut skills: Vec<String> =
            list_directory_names(skills.as_ref()).into_iter().filter(is_skill).collect();
        skills.sort_unstable();
        if !skills.is_empty() {
            found.push(Elsewhere { directory, skills });
        }
    }
    found.sort_by(|left, right| left.directory.cmp(&right.directory));
    found
}

/// Returns the names of the directories in a directory.
fn list_directory_names(directory: &dyn Dir) -> Vec<String> {
    let entries = directory.first_entries(limits::REMOTE_FILES).unwrap_or_default();
    let directories = entries.into_iter().filter(|entry| entry.kind == FileKind::Directory);
    directories.filter_map(|entry| entry.name.into_string().ok()).collect()
}

/// Renames files of a repository in diagnostics from their path in the cache to their display name.
pub(super) fn name_places(name: &str, directory: &Path, diagnostics: &mut [Diagnostic]) {
    for diagnostic in diagnostics {
        if let Ok(below) = diagnostic.source.path().strip_prefix(directory) {
            let below = below.to_string_lossy().replace('\\', "/");
            let text = diagnostic.source.text();
            diagnostic.source = Arc::new(Text::new(format!("{name}:{below}"), text));
        }
    }
}

fn open_cache(system: &dyn System) -> Result<Cache<'_>, InstallError> {
    Cache::of_user(system).ok_or(InstallError::NoCache)
}

fn open_root(system: &dyn System, name: &str, path: PathBuf) -> Result<Root, InstallError> {
    Root::open(system, &path).map_err(|error| InstallError::Directory {
        name: name.to_owned(),
        path,
        error,
    })
}

/// Opens the sources of a run.
pub(super) struct Opener<'o> {
    pub(super) run: &'o Run<'o>,
    pub(super) lock: &'o Lock,
    pub(super) clients: &'o [&'o str],
}

impl Opener<'_> {
    /// Opens a source at the locked commit, unless the request asks for a newer one.
    pub(super) fn open_wanted<'w>(
        &self,
        wanted: &'w WantedSource,
    ) -> Result<OpenedSource<'w>, InstallError> {
        let Run { system, project, request, policy, .. } = *self.run;
        let sources = self.run.source_system();
        let source = source_of(system, project, wanted)?;
        check_admission(system, policy, &wanted.name, &source, &project.config)?;
        let mut pinned = Pinned::default();
        let (directory, commit, is_locked, notes) = match RemoteSource::from_address(&source) {
            Err(path) => (project.config.join(path), None, false, Vec::new()),
            Ok(remote) => {
                let locked = self.lock.sources.get(&wanted.name);
                let cache = open_cache(system)?.with_observer(self.run.observer);
                let (mut checkout, is_locked) =
                    self.checkout_source(&cache, wanted, &remote, locked)?;
                if let RemoteSource::Oci(oci) = remote {
                    pinned = self.pin_origin(wanted, oci, locked, &cache, &mut checkout)?;
                }
                (checkout.directory, Some(checkout.commit), is_locked, checkout.notes)
            }
        };
        let root = open_root(sources, &wanted.name, directory)?;
        // A source that the user has just chosen from is in memory already.
        let found = request.found;
        let registry =
            found.and_then(|found| found.registry_of(&root, self.clients)).unwrap_or_else(|| {
                let (is_repository, here) = (commit.is_some(), &project.outputs);
                Arc::new(read_items(sources, &root, self.clients, is_repository, here))
            });
        Ok(OpenedSource { wanted, root, registry, commit, pinned, is_locked, notes })
    }

    fn checkout_source(
        &self,
        cache: &Cache<'_>,
        wanted: &WantedSource,
        source: &RemoteSource<'_>,
        locked: Option<&LockedSource>,
    ) -> Result<(Checkout, bool), InstallError> {
        let request = self.run.request;
        let network = request.network;
        let locked = locked.filter(|locked| locked.place == wanted.place);
        let locked = locked.and_then(|locked| locked.commit.as_deref());
        let (checkout, is_locked) = match (request.commits.get(&wanted.name), locked) {
            (Some(commit), _) => (source.checkout_commit(cache, commit, network), false),
            // The commit in the cache may be older than the locked one.
            _ if request.refresh.contains_source(&wanted.name) => {
                (source.checkout_newest(cache, network), false)
            }
            (None, Some(commit)) => (source.checkout_commit(cache, commit, network), true),
            (None, None) => (source.checkout_reference(cache, network), false),
        };
        Ok((checkout.map_err(InstallError::fetch_error(&wanted.name))?, is_locked))
    }
}

/// Returns the source that an entry of the manifest names.
pub fn source_of(
    system: &dyn System,
    project: &ProjectPaths,
    wanted: &WantedSource,
) -> Result<SourceAddress, InstallError> {
    let failed = |error| InstallError::Source { name: wanted.name.clone(), error };
    let parse =
        |text: &str| SourceAddress::parse_added(text, &project.config, system).map_err(failed);
    let (git, reference, subpath) = match &wanted.place {
        ManifestPlace::Directory(path) => return Ok(SourceAddress::Directory(PathBuf::from(path))),
        ManifestPlace::Oci { oci, reference } => {
            let source = OciSource::parse_at(oci, reference.as_deref(), &project.config);
            return source.map(SourceAddress::Oci).map_err(failed);
        }
        ManifestPlace::Git { git, reference, subpath } => (git, reference, subpath),
    };
    let mut source = parse(git)?;
    // The manifest says that it is a repository, even if a directory of that name exists.
    if let SourceAddress::Directory(_) = source {
        let is_path = git.starts_with(['.', '/', '~', '\\']);
        let forced = if is_path { format!("git::{git}") } else { format!("github:{git}") };
        source = parse(&forced)?;
    }
    let SourceAddress::Git(source) = source else {
        let reason = "is an OCI artifact; write `oci` instead of `git`";
        return Err(failed(SourceError::Oci { given: source.to_string(), reason }));
    };
    Ok(SourceAddress::Git(GitSource {
        url: source.url,
        reference: reference.clone().or(source.reference),
        subpath: subpath.clone().or(source.subpath),
    }))
}
