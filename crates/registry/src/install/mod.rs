//! From what is wanted to what is there, in one step.
//!
//! ```text
//! brief.toml ──▶ sources ──▶ items ──▶ files of clients
//!                   │           │             │
//!                   └───────────┴── brief.lock ┘
//! ```
//!
//! Nothing is written before everything is known: where each source is, which items that means, what each
//! file will hold and whose the file is that stands there now.

mod derived;
mod error;
mod finish;
mod frozen;
mod gate;
mod inventory;
mod newest;
mod open;
mod run;
mod select;
mod shared;
mod state;
mod status;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use brief_dialects::portable::{ItemId, config};
use brief_syntax::{Diagnostic, Severity};

use crate::cache::Network;
use crate::lock;
use crate::manifest::{Edit, Place};
use crate::outputs::plan::Difference;
use crate::outputs::record;
use crate::outputs::{Change, ChangeKind};

pub use error::{InstallError, Unresolved};
pub use finish::{Finished, finish};
pub use gate::ItemCapabilities;
pub use inventory::Inventory;
pub use newest::{Newest, newest};
pub use open::{Elsewhere, Found, SourceRoot, look_into, open_source, source_of};
pub use run::sync;
pub use select::{ChooseError, choose};
pub use status::{Drift, Status, status};

/// The directories of a project, or of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Where files of clients go: the project, or the home directory.
    pub outputs: PathBuf,
    /// Where `brief.toml` and `brief.lock` are.
    pub config: PathBuf,
    /// Where we keep what is only for us.
    pub own: PathBuf,
}

impl Project {
    /// A project that lies in a directory.
    pub fn at(root: &Path) -> Project {
        Project {
            outputs: root.to_owned(),
            config: root.to_owned(),
            own: root.join(record::DIRECTORY),
        }
    }

    /// The user's own places.
    pub fn of_user(home: &Path, config: &Path, state: &Path) -> Project {
        Project {
            outputs: home.to_owned(),
            config: config.to_owned(),
            own: state.join("installed"),
        }
    }

    /// Returns the path of the manifest.
    pub fn manifest(&self) -> PathBuf {
        self.config.join(config::FILE_NAME)
    }

    /// Returns the path of the lock.
    pub fn lock(&self) -> PathBuf {
        self.config.join(lock::FILE_NAME)
    }
}

/// What to do.
#[derive(Debug, Clone)]
pub struct Request<'r> {
    /// Changes to the manifest that come first.
    pub edits: &'r [Edit],
    /// The sources that are looked up again instead of taken from the lock.
    pub refresh: Refresh,
    /// Commits that somebody has looked up already, by source.
    pub commits: BTreeMap<String, String>,
    /// A source that was looked into for this, so that it is not read again.
    pub found: Option<&'r Found>,
    /// Whether anything is written.
    pub mode: Mode,
    /// Whether the lock may change.
    pub locking: Locking,
    /// Whether anything may be fetched.
    pub network: Network,
    /// The clients that items are for, unless their source says otherwise.
    pub clients: &'r [String],
    /// Files of somebody else whose place is to be taken: these and everything below these.
    pub adopt: BTreeSet<String>,
    /// Outputs that were changed by hand and are to be replaced.
    pub force: BTreeSet<String>,
    /// Contents of items that the user accepts although they hold hidden text or opaque files, by SHA-256. They are
    /// recorded in the manifest.
    pub accept: BTreeSet<String>,
    /// What is wanted.
    pub extent: Extent,
}

impl<'r> Request<'r> {
    /// Makes the project what its manifest says, for these clients.
    pub fn new(clients: &'r [String]) -> Request<'r> {
        Request {
            edits: &[],
            refresh: Refresh::None,
            commits: BTreeMap::new(),
            found: None,
            mode: Mode::Write,
            locking: Locking::Follow,
            network: Network::Online,
            clients,
            adopt: BTreeSet::new(),
            force: BTreeSet::new(),
            accept: BTreeSet::new(),
            extent: Extent::Manifest,
        }
    }
}

/// The sources that are looked up again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Refresh {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// These.
    Named(BTreeSet<String>),
}

impl Refresh {
    fn has(&self, name: &str) -> bool {
        match self {
            Refresh::None => false,
            Refresh::All => true,
            Refresh::Named(names) => names.contains(name),
        }
    }
}

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The project is brought up to date.
    Write,
    /// Nothing is written, only told.
    Check,
    /// Nothing is written, and told in full: what would be in each file.
    Diff,
}

/// Whether the lock may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locking {
    /// It follows the manifest.
    Follow,
    /// It has to be what comes out.
    Frozen,
}

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What the manifest says.
    Manifest,
    /// Nothing: everything that was written goes, and the lock stays.
    Nothing,
}

/// What was done, or would be.
#[derive(Debug, Default)]
pub struct Report {
    /// The sources.
    pub sources: Vec<SourceReport>,
    /// The items that are new, changed or gone, by name.
    pub items: BTreeMap<ItemId, ChangeKind>,
    /// What the items that are new or changed can do.
    pub capabilities: BTreeMap<ItemId, ItemCapabilities>,
    /// How many items there are.
    pub count: usize,
    /// How many of them could not be written.
    pub failed: usize,
    /// The files that changed, sorted by path.
    pub changes: Vec<Change>,
    /// How files would change, if that was asked for.
    pub differences: Vec<Difference>,
    /// How many files are as they should be.
    pub unchanged: usize,
    /// How many files stay as somebody else has written them.
    pub kept: usize,
    /// Copies of files that were replaced: the file, and the copy.
    pub backups: Vec<(String, PathBuf)>,
    /// Whether the lock changes.
    pub lock: Option<ChangeKind>,
    /// Whether the manifest changes.
    pub manifest: Option<ChangeKind>,
    /// What stopped an item, and what got lost on the way.
    pub diagnostics: Vec<Diagnostic>,
    /// What the user should know besides.
    pub notes: Vec<String>,
    /// What this machine will have written.
    record: Option<record::Record>,
}

impl Report {
    /// Returns how many files changed in one way.
    pub fn count_of(&self, kind: ChangeKind) -> usize {
        self.changes.iter().filter(|change| change.kind == kind).count()
    }

    /// Returns whether something could not be done.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Makes notes of all errors, for a run that has done what it was asked for: what could not be
    /// done was not part of it.
    pub fn excuse(&mut self) {
        for diagnostic in &mut self.diagnostics {
            if diagnostic.severity == Severity::Error {
                diagnostic.severity = Severity::Note;
            }
        }
    }

    /// Returns whether anything is not as it should be.
    pub fn has_drift(&self) -> bool {
        !self.changes.is_empty() || self.lock.is_some() || self.has_errors()
    }
}

/// A source, and where it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceReport {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// The commit before, of a repository that was locked.
    pub before: Option<String>,
    /// The commit now, of a repository.
    pub commit: Option<String>,
    /// Where its files were read.
    pub directory: PathBuf,
}
