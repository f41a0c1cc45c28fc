//! Installs the wanted items of a project in one step.
//!
//! ```text
//! brief.toml ──▶ sources ──▶ items ──▶ files of clients
//!                   │           │             │
//!                   └───────────┴── brief.lock ┘
//! ```
//!
//! Nothing is written before everything is known: the commit of each source, the selected items, the content
//! of each file, and the owner of each file that is in place now.

mod addition;
mod create;
mod dependencies;
mod derived;
mod eject;
mod error;
mod finish;
mod frozen;
mod gate;
mod inventory;
mod items;
mod listing;
mod newest;
mod open;
mod own_files;
mod project;
mod refusals;
mod run;
mod select;
mod shared;
mod state;
mod status;
mod vouch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use brief_dialects::portable::ItemId;
use brief_syntax::{Diagnostic, Severity, Source};

use crate::cache::Network;
use crate::manifest::{ManifestEdit, ManifestPlace};
use crate::outputs::{Change, ChangeKind, Difference, Durability, filter_errors};

pub use crate::latest::is_version;
pub use addition::{AddError, Addition, TypedSource};
pub use create::{NewFile, NewFileState, NewSource, create_files, inspect_new_files};
pub use dependencies::DependencyReport;
pub use eject::{EjectReport, InstalledParts, LeftFile, eject_project, read_installed_parts};
pub use error::{InstallError, Unresolved};
pub use finish::{Finished, finish_killed_run};
pub use gate::ItemCapabilities;
pub use inventory::SourceInventory;
pub use listing::{ListedBundle, ListedFile, ListedItem, ListedSource, SourceListing, list_source};
pub use newest::{Newest, query_newest_versions};
pub(crate) use open::read_items;
pub use open::{Elsewhere, SourceItems, SourceRoot, look_into, open_source, source_of};
pub use project::ProjectPaths;
pub use refusals::collect_refusals;
pub use run::sync_project;
pub use select::{ChooseError, choose_items};
pub use status::{Drift, InstallStatus, read_install_status};

#[derive(Debug, Clone, Default)]
pub struct InstallRequest<'r> {
    /// Edits of the manifest, which come first.
    pub edits: &'r [ManifestEdit],
    /// The sources to look up again instead of using the locked commit.
    pub refresh: Refresh,
    /// Commits that the caller has looked up already, by source.
    pub commits: BTreeMap<String, String>,
    /// A source that the caller has read already, so that it is not read again.
    pub found: Option<&'r SourceItems>,
    /// Files of a new source, written in the same transaction as the outputs.
    pub new: Option<NewSource<'r>>,
    /// The mode: write, check or show differences.
    pub mode: InstallMode,
    /// The time for which the files are needed.
    pub durability: Durability,
    /// The treatment of the lock.
    pub locking: Locking,
    pub network: Network,
    /// The clients of items, unless their source names some.
    pub clients: &'r [String],
    /// Files of others to replace: these, and everything below these.
    pub adopt: BTreeSet<String>,
    /// Outputs that were edited by hand and are to be replaced.
    pub force: BTreeSet<String>,
    /// Accepted contents of items with hidden text or opaque files, by SHA-256. The manifest records them.
    pub accept: BTreeSet<String>,
    /// Signers that may replace the locked ones.
    pub accept_signers: BTreeSet<String>,
    pub extent: Extent,
    /// Descriptions of clients that become files of the project.
    pub new_clients: &'r [Arc<Source>],
}

impl<'r> InstallRequest<'r> {
    /// Creates a request that installs what the manifest names, for these clients.
    pub fn new(clients: &'r [String]) -> InstallRequest<'r> {
        InstallRequest { clients, ..InstallRequest::default() }
    }
}

/// The sources to look up again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Refresh {
    #[default]
    None,
    All,
    /// The sources with these names.
    Named(BTreeSet<String>),
}

impl Refresh {
    fn contains_source(&self, name: &str) -> bool {
        match self {
            Refresh::None => false,
            Refresh::All => true,
            Refresh::Named(names) => names.contains(name),
        }
    }
}

/// The mode of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InstallMode {
    /// Brings the project up to date.
    #[default]
    Write,
    /// Reports the changes and writes nothing.
    Check,
    /// Reports the changes with the contents of files, and writes nothing.
    Diff,
}

/// The treatment of the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Locking {
    /// The lock follows the manifest.
    #[default]
    Follow,
    /// The result has to equal the lock.
    Frozen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// The items that the manifest names.
    #[default]
    Manifest,
    /// No items: all outputs are removed, and the lock stays.
    Nothing,
}

/// The result of an installation, or of a check.
#[derive(Debug, Default)]
pub struct InstallReport {
    /// The sources of the manifest.
    pub sources: Vec<SourceReport>,
    /// The new, changed and removed items.
    pub items: BTreeMap<ItemId, ChangeKind>,
    /// The losses of clients that items were not written for.
    pub lost: BTreeMap<ItemId, Vec<String>>,
    /// The capabilities of new and changed items.
    pub capabilities: BTreeMap<ItemId, ItemCapabilities>,
    /// The new, changed and removed packages of `[dependencies]`.
    pub dependencies: Vec<DependencyReport>,
    pub count: usize,
    /// The number of items that could not be written.
    pub failed: usize,
    /// The changed files, sorted by path.
    pub changes: Vec<Change>,
    /// The contents of changed files; empty unless the mode asks for them.
    pub differences: Vec<Difference>,
    /// The number of files that are up to date.
    pub unchanged: usize,
    /// The number of files that stay as others wrote them.
    pub kept: usize,
    /// The backups of replaced files: the file, and the copy.
    pub backups: Vec<(String, PathBuf)>,
    /// The change of the lock, if there is one.
    pub lock: Option<ChangeKind>,
    /// The change of the manifest, if there is one.
    pub manifest: Option<ChangeKind>,
    /// The problems that stopped an item, and what compiling lost.
    pub diagnostics: Vec<Diagnostic>,
    pub notes: Vec<String>,
}

impl InstallReport {
    /// Returns the number of files with this kind of change.
    pub fn count_of(&self, kind: ChangeKind) -> usize {
        self.changes.iter().filter(|change| change.kind == kind).count()
    }

    /// Returns whether a step failed.
    pub fn has_errors(&self) -> bool {
        filter_errors(&self.diagnostics).next().is_some()
    }

    /// Turns all errors into notes, for a run whose own task succeeded: the failures concern other items.
    pub fn downgrade_errors(&mut self) {
        for diagnostic in &mut self.diagnostics {
            if diagnostic.severity == Severity::Error {
                diagnostic.severity = Severity::Note;
            }
        }
    }

    /// Returns whether the project differs from its manifest.
    pub fn has_drift(&self) -> bool {
        !self.changes.is_empty() || self.lock.is_some() || self.has_errors()
    }
}

/// A source and its commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceReport {
    /// The name of the source.
    pub name: String,
    /// The address of the source.
    pub place: ManifestPlace,
    /// The previous commit, for a locked repository.
    pub before: Option<String>,
    /// The current commit; only for a repository.
    pub commit: Option<String>,
    /// The directory from which its files were read.
    pub directory: PathBuf,
}
