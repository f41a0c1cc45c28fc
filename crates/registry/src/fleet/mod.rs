//! The state of many repositories: which items they have, at which commit or digest, and what has drifted.
//!
//! Only git objects of one commit of each are read. Nothing is checked out, and nothing of a repository is executed. A server is
//! asked for the repositories that the user names by address, by [`newest_of`], and by nothing else here.

mod branch;
mod find;
mod head;
mod judge;
mod known;
mod links;
mod newest;
mod push;
mod read;
mod workshop;

use std::path::{Path, PathBuf};

use brief_system::{MemorySystem, System};
use serde::{Deserialize, Serialize};

use crate::lock::{Lock, LockedSource};
use crate::manifest::ManifestPlace;
pub use crate::parallel::in_parallel;

pub use branch::{BranchState, UpdateBranch};
pub use find::{FleetError, FleetPlace, find_repositories};
pub use judge::{FleetState, Judgment, judge_members};
pub use known::KnownMembers;
pub use newest::{NewestByPlace, NewestState, PlaceKey, newest_of};
pub use read::{FleetReading, Measure, read_members};
pub use workshop::{UpdateWorkshop, WorkshopError};

/// A repository of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetMember {
    pub place: FleetPlace,
    /// Its git directory, if there is one.
    pub git_dir: Option<PathBuf>,
    /// The commit that was read; `None` in a repository without commits.
    pub commit: Option<String>,
    /// The facts of the commit.
    pub facts: FleetFacts,
    /// The reason why it could not be read.
    pub problem: Option<String>,
}

impl FleetMember {
    /// Returns the repository itself, which working trees may share; `None` if there is none here.
    pub fn shared_repository(&self, system: &dyn System) -> Option<PathBuf> {
        let FleetPlace::Path(_) = &self.place else { return None };
        system.resolve_dir(&head::common_dir(system, self.git_dir.as_ref()?)).ok()
    }
}

/// The facts of one commit of a repository. They never change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FleetFacts {
    /// True if it has a lock.
    pub has_lock: bool,
    /// True if it has a lock, or guidance at its top.
    pub has_guidance: bool,
    /// The sources of the lock, by name.
    pub sources: Vec<FleetSource>,
    /// The items of the lock, by kind and name.
    pub items: Vec<FleetItem>,
    /// Outputs whose committed content is not the locked one, sorted.
    pub drifted: Vec<String>,
    /// The tokens of the file that gets most guidance, if they were counted.
    pub tokens: Option<usize>,
    /// The owners of its guidance, as its `CODEOWNERS` says.
    #[serde(default)]
    pub owners: Vec<String>,
}

/// A source in a lock of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetSource {
    /// Its name in the repository.
    pub name: String,
    pub form: FleetSourceForm,
    pub address: String,
    /// The wanted branch, tag or digest.
    pub reference: Option<String>,
    /// The directory in a repository.
    pub subpath: Option<String>,
    /// The locked commit or digest.
    pub commit: Option<String>,
    /// The locked signer of an artifact.
    pub signer: Option<String>,
    /// The time of an artifact, as its publisher says.
    pub created: Option<String>,
    /// The installed bundles, with their versions.
    pub bundles: Vec<(String, Option<String>)>,
}

/// The form of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FleetSourceForm {
    Git,
    Oci,
    Directory,
}

impl FleetSource {
    fn from_locked(name: &str, source: &LockedSource) -> FleetSource {
        let (form, address) = match &source.place {
            ManifestPlace::Git { git, .. } => (FleetSourceForm::Git, git),
            ManifestPlace::Oci { oci, .. } => (FleetSourceForm::Oci, oci),
            ManifestPlace::Directory(path) => (FleetSourceForm::Directory, path),
        };
        FleetSource {
            name: name.to_owned(),
            form,
            address: address.clone(),
            reference: source.place.find_field("ref").map(str::to_owned),
            subpath: source.place.find_field("subpath").map(str::to_owned),
            commit: source.commit.clone(),
            signer: source.signer.clone(),
            created: source.created.clone(),
            bundles: source.bundles.clone().into_iter().collect(),
        }
    }

    /// Returns the place in the words of a manifest.
    pub fn manifest_place(&self) -> ManifestPlace {
        let (address, reference) = (self.address.clone(), self.reference.clone());
        match self.form {
            FleetSourceForm::Git => {
                ManifestPlace::Git { git: address, reference, subpath: self.subpath.clone() }
            }
            FleetSourceForm::Oci => ManifestPlace::Oci { oci: address, reference },
            FleetSourceForm::Directory => ManifestPlace::Directory(address),
        }
    }

    /// Returns whether it is an artifact without a locked signer.
    pub fn is_unsigned(&self) -> bool {
        self.form == FleetSourceForm::Oci && self.signer.is_none()
    }
}

/// An item in a lock of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetItem {
    pub kind: String,
    pub name: String,
    /// The name of its source.
    pub source: String,
    /// Its version, if it has one.
    pub version: Option<String>,
    /// The hash of its content.
    pub sha256: String,
    /// True if a written file of it is committed with another content.
    pub is_drifted: bool,
}

impl FleetItem {
    /// Returns whether a typed name means this item: its name, alone or after its kind.
    pub fn is_called(&self, name: &str) -> bool {
        name == self.name || name.split_once('/') == Some((&self.kind, &self.name))
    }
}

impl FleetFacts {
    /// Takes the facts of a lock.
    fn of_lock(lock: &Lock) -> FleetFacts {
        let sources =
            lock.sources.iter().map(|(name, source)| FleetSource::from_locked(name, source));
        let items = lock.items.iter().map(|(id, item)| FleetItem {
            kind: id.kind.as_str().to_owned(),
            name: id.name.clone(),
            source: item.source.clone(),
            version: item.version.clone(),
            sha256: item.sha256.clone(),
            is_drifted: false,
        });
        FleetFacts {
            has_lock: true,
            has_guidance: true,
            sources: sources.collect(),
            items: items.collect(),
            ..FleetFacts::default()
        }
    }

    /// Returns a source by its name.
    pub fn find_source(&self, name: &str) -> Option<&FleetSource> {
        self.sources.iter().find(|source| source.name == name)
    }

    /// Returns the sources that a typed name means: their own names or addresses, or those of bundles and items.
    pub fn sources_called(&self, name: &str) -> Vec<&FleetSource> {
        let has = |source: &&FleetSource| {
            let bundle = name.strip_prefix("bundle/").unwrap_or(name);
            source.name == name
                || source.address == name
                || source.bundles.iter().any(|(own, _)| own == bundle)
                || self.items.iter().any(|item| item.source == source.name && item.is_called(name))
        };
        self.sources.iter().filter(has).collect()
    }
}

/// Reads hostile bytes in every way that a fleet is read without git.
pub(crate) fn fuzz_fleet(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let system = MemorySystem::new("/p")
        .with_env("XDG_CACHE_HOME", "/cache")
        .with_file("/p/r/HEAD", bytes)
        .with_file("/p/s/HEAD", "ref: refs/heads/main\n")
        .with_file("/p/s/packed-refs", bytes)
        .with_file("/p/t/.git", bytes)
        .with_file("/p/list", bytes);
    for name in ["/p/r", "/p/s"] {
        let head = head::read_head(&system, Path::new(name));
        if let head::HeadState::Commit(commit) = head {
            assert!(crate::extract::is_commit(&commit), "{commit}");
        }
    }
    let _ = find::git_dir(&system, Path::new("/p/t"));
    let sources = [PathBuf::from("list")];
    if let Ok(places) = find_repositories(&system, Path::new("/p"), &sources) {
        for place in places {
            assert!(!place.name(Path::new("/p")).contains('\n'), "{place}");
        }
    }
    let known = known::KnownMembers::parse(bytes);
    assert!(known.take_facts("", "").is_none_or(|facts| facts.items.len() < bytes.len()));
    if let Ok(lock) = Lock::parse(&text) {
        let facts = FleetFacts::of_lock(&lock);
        assert_eq!(facts.items.len(), lock.items.len());
    }
    let _ = workshop::tree_files(bytes);
}
