//! The installed items, with the descriptions in their sources.

use std::collections::BTreeMap;

use brief_dialects::portable::{ItemId, PortableItem, Registry};
use brief_syntax::Root;
use brief_system::{System, render_io_error};

use super::ProjectPaths;
use super::open::{read_items, source_of};
use crate::cache::{Cache, Network};
use crate::lock::Lock;
use crate::manifest::{Manifest, WantedSource};
use crate::remote::RemoteSource;

/// The sources of a project, read without the network.
#[derive(Debug, Default)]
pub struct SourceInventory {
    /// The items and bundles of each source, or the reason why they cannot be read.
    pub sources: BTreeMap<String, Result<Registry, String>>,
}

impl SourceInventory {
    /// Reads the sources at their locked commits.
    pub fn read(
        system: &dyn System,
        project: &ProjectPaths,
        manifest: &Manifest,
        lock: &Lock,
        clients: &[&str],
    ) -> SourceInventory {
        let sources = manifest.sources.iter().map(|source| {
            let registry = read_one(system, project, source, lock, clients);
            (source.name.clone(), registry)
        });
        SourceInventory { sources: sources.collect() }
    }

    /// Returns an item of a source.
    pub fn find_item(&self, source: &str, id: &ItemId) -> Option<&PortableItem> {
        self.sources.get(source)?.as_ref().ok()?.find_item(id)
    }
}

fn read_one(
    system: &dyn System,
    project: &ProjectPaths,
    source: &WantedSource,
    lock: &Lock,
    clients: &[&str],
) -> Result<Registry, String> {
    let address = source_of(system, project, source).map_err(|error| error.to_string())?;
    let remote = RemoteSource::from_address(&address);
    let directory = match remote {
        Err(path) => project.config.join(path),
        Ok(remote) => {
            let cache = Cache::of_user(system).ok_or("no home directory")?;
            let locked = lock.sources.get(&source.name).filter(|one| one.place == source.place);
            let commit = locked.and_then(|locked| locked.commit.as_deref());
            let commit = commit.ok_or("is not locked; run `brief sync`")?;
            let checkout = remote.checkout_commit(&cache, commit, Network::Offline);
            checkout.map_err(|error| error.to_string())?.directory
        }
    };
    let root = Root::open(system, &directory).map_err(|error| {
        format!("cannot open `{}`: {}", directory.display(), render_io_error(&error))
    })?;
    Ok(read_items(system, &root, clients, remote.is_ok(), &project.outputs))
}
