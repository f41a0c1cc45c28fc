//! The content of a source as a list, kept in the cache for each commit.
//!
//! A large collection has thousands of items, and a list shows one line of each. The files of a commit never
//! change, so the list is made once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::portable::{Bundle, ItemId, OutsidePlugin, PassedOver, PortableItem, Registry};
use brief_syntax::{Diagnostic, Source, Span, limits, rules};
use brief_system::hash::sha256;
use brief_system::{System, cache_directory};
use serde::{Deserialize, Serialize};

use super::open::{SourceRoot, collect_hidden_skills, open_source, read_items};
use super::{Elsewhere, InstallError};
use crate::cache::{Event, Network};
use crate::source::SourceAddress;

/// The version of kept lists: a change of what is found is a new one.
const VERSION: u32 = 2;

/// The items and bundles of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceListing {
    /// The items, sorted by kind and name.
    pub items: Vec<ListedItem>,
    /// The bundles, sorted by name.
    pub bundles: Vec<ListedBundle>,
    /// Plugins of its marketplaces that are somewhere else.
    pub outside: Vec<OutsidePlugin>,
    /// Files in directories for items that are not items.
    #[serde(rename = "skipped")]
    pub left_out: Vec<ListedFile>,
    /// The problems of its manifests: the file below the source, and the message.
    problems: Vec<(String, String)>,
    /// Skills in directories of clients that are not its items.
    pub elsewhere: Vec<Elsewhere>,
}

/// An item of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedItem {
    pub kind: String,
    pub name: String,
    pub description: String,
    pub version: Option<String>,
    /// Its directory or file below the source, with `/`.
    pub path: String,
    /// The client that it was written for, if it is one file for one client.
    pub written_for: Option<String>,
    /// True if it can be installed.
    pub valid: bool,
}

/// A bundle of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedBundle {
    pub name: String,
    pub description: Option<String>,
    pub version: Option<String>,
    pub items: Vec<String>,
    /// The bundles that it requires.
    pub requires: Vec<String>,
    /// The directory of a plugin.
    pub plugin: Option<String>,
    /// The hooks and servers of a plugin, which are not installed.
    pub capabilities: Vec<String>,
}

/// A file that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedFile {
    /// The file below the source, with `/`.
    pub path: String,
    pub reason: String,
}

impl SourceListing {
    fn from_registry(registry: &Registry, elsewhere: Vec<Elsewhere>) -> SourceListing {
        let of_bundles = registry.bundles.iter().flat_map(Bundle::diagnostics);
        let all = registry.diagnostics.iter().chain(of_bundles);
        let problems = all.filter(|found| found.rule == rules::item::INVALID_PLUGIN);
        let problems = problems.map(|found| {
            let path = found.source.path();
            let path = path.strip_prefix(&registry.root).unwrap_or(path);
            (path.to_string_lossy().into_owned(), found.message.clone())
        });
        SourceListing {
            items: registry.items.iter().map(to_listed_item).collect(),
            bundles: registry.bundles.iter().map(to_listed_bundle).collect(),
            outside: registry.outside.clone(),
            left_out: registry.left_out.iter().map(to_listed_file).collect(),
            problems: problems.collect(),
            elsewhere,
        }
    }

    /// Returns the problems of its manifests. `name` stands for the source in their places.
    pub fn manifest_diagnostics(&self, name: &str) -> Vec<Diagnostic> {
        let problems = self.problems.iter().map(|(path, message)| {
            let source = Arc::new(Source::without_text(PathBuf::from(format!("{name}:{path}"))));
            let rule = rules::item::INVALID_PLUGIN;
            Diagnostic::new(rule, &source, Span::default(), message.clone())
                .with_help("brief finds its items anyway; ask the author to fix it")
        });
        problems.collect()
    }
}

fn to_listed_item(item: &PortableItem) -> ListedItem {
    ListedItem {
        kind: item.kind().to_string(),
        name: item.name().to_owned(),
        description: item.description().to_owned(),
        version: item.version().map(str::to_owned),
        path: item.slashed().to_owned(),
        written_for: item.written_for().map(str::to_owned),
        valid: item.is_valid(),
    }
}

fn to_listed_bundle(bundle: &Bundle) -> ListedBundle {
    let plugin = bundle.plugin();
    ListedBundle {
        name: bundle.name().to_owned(),
        description: bundle.description().map(str::to_owned),
        version: bundle.version().map(str::to_owned),
        items: bundle.items().map(ItemId::full_name).collect(),
        requires: bundle.requires().iter().map(|other| other.name.clone()).collect(),
        plugin: plugin.map(|plugin| plugin.directory.clone()),
        capabilities: plugin.map(|plugin| plugin.capabilities.clone()).unwrap_or_default(),
    }
}

fn to_listed_file(file: &PassedOver) -> ListedFile {
    ListedFile { path: file.path.clone(), reason: file.reason.to_owned() }
}

/// The list of a source, and where it comes from.
#[derive(Debug)]
pub struct ListedSource {
    pub listing: SourceListing,
    /// The commit; only for a repository.
    pub commit: Option<String>,
    pub notes: Vec<String>,
}

/// Lists a source. The list of a commit is kept in the cache.
pub fn list_source(
    system: &dyn System,
    source: &SourceAddress,
    base: &Path,
    clients: &[&str],
    network: Network,
    observer: &dyn Fn(Event<'_>),
) -> Result<ListedSource, InstallError> {
    let SourceRoot { root, commit, notes } =
        open_source(system, source, None, base, network, observer)?;
    let kept = commit.as_ref().and_then(|_| listing_cache_path(system, root.path(), clients));
    if let Some(path) = &kept
        && let Ok(bytes) = system.read(path, limits::BUILD_RECORD_BYTES)
        && let Ok(listing) = serde_json::from_slice(&bytes)
    {
        return Ok(ListedSource { listing, commit, notes });
    }
    let registry = read_items(system, &root, clients, commit.is_some(), base);
    let elsewhere = collect_hidden_skills(system, &root, &registry);
    let listing = SourceListing::from_registry(&registry, elsewhere);
    if let Some(path) = &kept {
        // Without room for it, the list is made again next time.
        let directory = path.parent().map(|directory| system.create_private_dir(directory));
        if let (Some(Ok(())), Ok(bytes)) = (directory, serde_json::to_vec(&listing)) {
            let _ = system.replace_file(path, &bytes);
        }
    }
    Ok(ListedSource { listing, commit, notes })
}

/// Returns the cache file for the list of a directory. The path of the directory names the commit.
fn listing_cache_path(system: &dyn System, files: &Path, clients: &[&str]) -> Option<PathBuf> {
    let made = format!("{VERSION} {} {clients:?} {}", env!("CARGO_PKG_VERSION"), files.display());
    let name = format!("{}.json", &sha256(made.as_bytes())[..32]);
    Some(cache_directory(system)?.join("lists").join(name))
}
