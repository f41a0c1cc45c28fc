//! Why nothing was installed.

use std::io;
use std::path::PathBuf;

use brief_dialects::policy::{Decision, PolicyError};
use brief_dialects::portable::ItemId;
use brief_dialects::portable::bundle::BundleError;
use brief_syntax::Diagnostic;
use brief_syntax::system::words;

use crate::error::FetchError;
use crate::lock::LockError;
use crate::manifest::EditError;
use crate::source::SourceError;

/// Why nothing was installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// There is no manifest.
    #[error("there is no `brief.toml` in `{}`", directory.display())]
    NoManifest {
        /// Where it should be.
        directory: PathBuf,
    },
    /// A file of the project cannot be read.
    #[error("`{}` cannot be read: {problem}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The manifest is wrong.
    #[error("`brief.toml` is wrong")]
    Manifest(Vec<Diagnostic>),
    /// The manifest cannot be changed.
    #[error("`{}` cannot be changed: {error}", path.display())]
    Edit {
        /// The manifest.
        path: PathBuf,
        /// Why.
        error: EditError,
    },
    /// The lock is wrong.
    #[error("`{}`, {error}", path.display())]
    Lock {
        /// The lock.
        path: PathBuf,
        /// What is wrong.
        error: LockError,
    },
    /// Somebody wants exactly what is locked, and there is no lock.
    #[error("there is no `brief.lock`, so nothing can be restored from it")]
    NoLock,
    /// Somebody wants exactly what is locked, and the lock is too old to say what items can do.
    #[error("`brief.lock` is of an older version, which does not record what every item can do")]
    OldLock,
    /// The lock does not say what the manifest wants.
    #[error("`brief.lock` is not what `brief.toml` comes to")]
    Frozen {
        /// In which ways.
        differences: Vec<String>,
    },
    /// What is in a commit is not what was locked.
    #[error(
        "the {item} of `{source_name}` is not what was locked, although the commit is the same"
    )]
    Tampered {
        /// The item.
        item: ItemId,
        /// The source.
        source_name: String,
    },
    /// A policy cannot be followed, so nothing is allowed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A policy forbids a source.
    #[error("the source `{name}` is not used: {decision}")]
    Forbidden {
        /// The source.
        name: String,
        /// The rule.
        decision: Decision,
    },
    /// A policy requires an item that the project does not have.
    #[error("the {item} is missing: {decision}")]
    Required {
        /// The item.
        item: ItemId,
        /// The rule.
        decision: Decision,
    },
    /// A source is no place.
    #[error("the source `{name}`: {error}")]
    Source {
        /// The source.
        name: String,
        /// Why.
        error: SourceError,
    },
    /// A source cannot be fetched.
    #[error("the source `{name}`: {error}")]
    Fetch {
        /// The source.
        name: String,
        /// Why.
        error: Box<FetchError>,
    },
    /// A source cannot be opened.
    #[error("the source `{name}`: the directory `{}` cannot be opened: {}", path.display(), words(error))]
    Directory {
        /// The source.
        name: String,
        /// The directory.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// There is no directory for the cache.
    #[error("there is no home directory to keep repositories in; set `HOME` or `XDG_CACHE_HOME`")]
    NoCache,
    /// Something that is wanted cannot be had.
    #[error("not everything that is wanted can be had, so nothing was changed")]
    Unresolved(Vec<Unresolved>),
    /// A directory cannot be used.
    #[error("`{}` cannot be used: {}", path.display(), words(error))]
    Io {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The project came with a journal of a run.
    #[error("`{}` was not written on this machine for this directory; nothing was carried out", path.display())]
    ForeignJournal {
        /// The journal.
        path: PathBuf,
    },
    /// It could not be written; everything is as it was.
    #[error("{}; nothing was changed", words(.0))]
    NotWritten(io::Error),
    /// It could not be finished.
    #[error("{}; the next `brief sync` finishes what was begun", words(.0))]
    HalfWritten(io::Error),
}

/// Something that is wanted and cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unresolved {
    /// A source has no such item.
    #[error("the source `{source_name}` has no {item}")]
    Item {
        /// The source.
        source_name: String,
        /// The item.
        item: ItemId,
        /// One that may be meant.
        near: Option<String>,
    },
    /// A source has no such bundle.
    #[error("the source `{source_name}` has no bundle `{bundle}`")]
    Bundle {
        /// The source.
        source_name: String,
        /// The bundle.
        bundle: String,
        /// One that may be meant.
        near: Option<String>,
    },
    /// An item is there, but something is wrong with it.
    #[error("the {item} of the source `{source_name}` cannot be used: {problem}")]
    Invalid {
        /// The source.
        source_name: String,
        /// The item.
        item: ItemId,
        /// What is wrong, with its place.
        problem: String,
    },
    /// A bundle comes to nothing.
    #[error("the source `{source_name}`: {error}")]
    Closure {
        /// The source.
        source_name: String,
        /// Why.
        error: BundleError,
    },
    /// Two sources bring the same item.
    #[error("the {item} comes from two sources, {}", sources.join(" and "))]
    Conflict {
        /// The item.
        item: ItemId,
        /// The sources, each with what brings it.
        sources: Vec<String>,
    },
    /// A source is for a client that does not exist.
    #[error("the source `{source_name}` is for the client `{client}`, which does not exist")]
    Client {
        /// The source.
        source_name: String,
        /// The client.
        client: String,
        /// Those that exist.
        known: Vec<String>,
    },
}

impl Unresolved {
    /// Returns the way out.
    pub fn help(&self) -> Option<String> {
        match self {
            Unresolved::Item { near: Some(near), .. }
            | Unresolved::Bundle { near: Some(near), .. } => {
                Some(format!("did you mean `{near}`?"))
            }
            Unresolved::Item { source_name, .. } | Unresolved::Bundle { source_name, .. } => {
                Some(format!("`brief list --available {source_name}` shows what there is"))
            }
            Unresolved::Invalid { .. } => {
                Some("`brief lint` in the source shows the place; until it is corrected, do without it".to_owned())
            }
            Unresolved::Closure { error: BundleError::Ambiguous { .. }, .. } => {
                Some("name the source that it should come from, and leave it out of the others with `exclude`".to_owned())
            }
            Unresolved::Closure { .. } => {
                Some("add the source that has it, or ask the authors of the bundle".to_owned())
            }
            Unresolved::Conflict { item, .. } => Some(format!(
                "take it from the list of one of them, or leave it out of all that it has: `exclude = [\"{}/{}\"]`",
                item.kind, item.name
            )),
            Unresolved::Client { known, .. } => {
                Some(format!("known clients: {}", known.join(", ")))
            }
        }
    }
}
