//! Errors of an installation.

use std::io;
use std::path::PathBuf;

use brief_dialects::portable::ItemId;
use brief_dialects::portable::bundle::BundleError;
use brief_safety::policy::{PolicyDecision, PolicyError, RequiredItem};
use brief_syntax::{Diagnostic, limits};
use brief_system::render_io_error;

use crate::error::FetchError;
use crate::lock::LockError;
use crate::manifest::EditError;
use crate::outputs::stage::CommitError;
use crate::sigstore::TrustRootError;
use crate::source::SourceError;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    #[error("no `brief.toml` in `{}`", directory.display())]
    NoManifest {
        /// The directory that should hold it.
        directory: PathBuf,
    },
    /// A file of the project cannot be read.
    #[error("cannot read `{}`: {problem}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        problem: String,
    },
    /// The manifest is not valid.
    #[error("`brief.toml` is invalid")]
    Manifest(Vec<Diagnostic>),
    /// The manifest cannot be edited.
    #[error("cannot edit `{}`: {error}", path.display())]
    Edit {
        /// The path of the manifest.
        path: PathBuf,
        error: EditError,
    },
    /// The lock is not valid.
    #[error("`{}`, {error}", path.display())]
    Lock {
        /// The path of the lock.
        path: PathBuf,
        /// The defect, with its line.
        error: LockError,
    },
    /// The locked state was requested, and there is no lock.
    #[error("no `brief.lock` to restore from")]
    NoLock,
    /// The locked state was requested, and the lock is too old to have the capabilities of every item.
    #[error("`brief.lock` has an older version, which does not record item capabilities")]
    OldLock,
    /// The lock does not match the manifest.
    #[error("`brief.lock` does not match `brief.toml`")]
    Frozen {
        /// The differences, one sentence each.
        differences: Vec<String>,
    },
    /// The content of an item differs from the lock, at the same commit.
    #[error(
        "the {item} of `{source_name}` differs from the locked content, although the commit is the same"
    )]
    Tampered {
        item: ItemId,
        /// The name of the source.
        source_name: String,
    },
    /// An item has more capabilities than a user reviews.
    #[error(
        "the {item} of `{source_name}` has {count} capabilities, more than {}",
        limits::ITEM_CAPABILITIES
    )]
    TooManyCapabilities {
        item: ItemId,
        /// The name of the source.
        source_name: String,
        /// The number of its capabilities.
        count: usize,
    },
    /// A policy cannot be read, so nothing is allowed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A policy forbids a source.
    #[error("cannot use the source `{name}`: {decision}")]
    Forbidden {
        /// The name of the source.
        name: String,
        /// The decision of the policy.
        decision: PolicyDecision,
    },
    /// A policy requires an item that the project lacks.
    #[error("the {item} is missing: {decision}")]
    Required {
        item: RequiredItem,
        /// The decision of the policy.
        decision: PolicyDecision,
    },
    /// A source names neither a repository nor a directory.
    #[error("the source `{name}`: {error}")]
    Source {
        /// The name of the source.
        name: String,
        /// The defect of its address.
        error: SourceError,
    },
    /// A source cannot be fetched.
    #[error("the source `{name}`: {error}")]
    Fetch {
        /// The name of the source.
        name: String,
        error: Box<FetchError>,
    },
    /// An artifact has another signer than the locked one, or none.
    #[error("the source `{name}` was signed by `{before}` but is now {found}")]
    Signer {
        /// The name of the source.
        name: String,
        before: String,
        /// The signers now, in words.
        found: String,
        /// The signers now, as a user accepts them.
        signers: Vec<String>,
    },
    /// A file that says whom to trust cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustRootError),
    /// The tag leads to an artifact that is older than the locked one.
    #[error("the source `{name}` would be downgraded from {before} to {found}")]
    Older {
        /// The name of the source.
        name: String,
        /// The time of the locked artifact.
        before: String,
        /// The time of the other one, in words.
        found: String,
    },
    /// The directory of a source cannot be opened.
    #[error("the source `{name}`: cannot open the directory `{}`: {}", path.display(), render_io_error(error))]
    Directory {
        /// The name of the source.
        name: String,
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// There is no directory for the cache.
    #[error("no directory for the cache; set `HOME` or `XDG_CACHE_HOME`")]
    NoCache,
    /// A wanted item or bundle cannot be resolved.
    #[error("cannot resolve some requested items; nothing was changed")]
    Unresolved(Vec<Unresolved>),
    /// A directory cannot be opened, created or locked.
    #[error("cannot use `{}`: {}", path.display(), render_io_error(error))]
    Io {
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The project has a journal that another machine wrote.
    #[error("`{}` is the journal of another machine or directory; nothing was changed", path.display())]
    ForeignJournal {
        /// The path of the journal.
        path: PathBuf,
    },
    /// The files could not be written; everything is unchanged.
    #[error("{}; nothing was changed", render_io_error(.0))]
    NotWritten(io::Error),
    /// The files could not all be put in place; the next run finishes.
    #[error("{}; run `brief sync` to finish the interrupted changes", render_io_error(.0))]
    HalfWritten(io::Error),
}

impl InstallError {
    /// Returns a function that adds the name of a source to the error of fetching it.
    pub(super) fn fetch_error(name: &str) -> impl FnOnce(FetchError) -> InstallError + use<> {
        let name = name.to_owned();
        |error| InstallError::Fetch { name, error: Box::new(error) }
    }
}

/// A wanted item or bundle that cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unresolved {
    /// The source has no such item.
    #[error("no {item} in the source `{source_name}`")]
    Item {
        /// The name of the source.
        source_name: String,
        item: ItemId,
        near: Option<String>,
    },
    /// The source has no such bundle.
    #[error("no bundle `{bundle}` in the source `{source_name}`")]
    Bundle {
        /// The name of the source.
        source_name: String,
        bundle: String,
        near: Option<String>,
    },
    /// The item exists, but is not valid.
    #[error("cannot use the {item} of the source `{source_name}`: {problem}")]
    Invalid {
        /// The name of the source.
        source_name: String,
        item: ItemId,
        /// The defect, with its place.
        problem: String,
        /// True if it is written for a newer version of the format.
        is_newer: bool,
    },
    /// A bundle cannot be resolved.
    #[error("the source `{source_name}`: {error}")]
    Closure {
        /// The name of the source.
        source_name: String,
        /// The defect of the bundle.
        error: BundleError,
    },
    /// Two sources bring the same item.
    #[error("two sources contain the {item}: {}", sources.join(" and "))]
    Conflict {
        /// The item in both sources.
        item: ItemId,
        /// The sources, each with the bundle that includes the item.
        sources: Vec<String>,
    },
    /// A source names an unknown client.
    #[error("unknown client `{client}` for the source `{source_name}`")]
    Client {
        /// The name of the source.
        source_name: String,
        client: String,
        known: Vec<String>,
    },
}

impl Unresolved {
    /// Returns advice for the user, if there is any.
    pub fn help(&self) -> Option<String> {
        match self {
            Unresolved::Item { near: Some(near), .. }
            | Unresolved::Bundle { near: Some(near), .. } => {
                Some(format!("did you mean `{near}`?"))
            }
            Unresolved::Item { source_name, .. } | Unresolved::Bundle { source_name, .. } => {
                Some(format!("run `brief list {source_name}` to list its items"))
            }
            Unresolved::Invalid { is_newer: true, .. } => Some("upgrade brief".to_owned()),
            Unresolved::Invalid { .. } => Some(
                "fix it in the source (`brief lint` there shows the location), or exclude it"
                    .to_owned(),
            ),
            Unresolved::Closure { error: BundleError::Ambiguous { .. }, .. } => {
                Some("keep it in one source, and omit it from the others with `exclude`".to_owned())
            }
            Unresolved::Closure { .. } => {
                Some("add the source that contains it, or ask the author of the bundle".to_owned())
            }
            Unresolved::Conflict { item, .. } => Some(format!(
                "remove it from the list of one source, or omit it with `exclude = [\"{}\"]`",
                item.full_name()
            )),
            Unresolved::Client { known, .. } => {
                Some(format!("known clients: {}", known.join(", ")))
            }
        }
    }
}

impl From<CommitError> for InstallError {
    fn from(error: CommitError) -> InstallError {
        match error {
            CommitError::Nothing(error) => InstallError::NotWritten(error),
            CommitError::Half(error) => InstallError::HalfWritten(error),
        }
    }
}
