//! Git repositories as directories, one per commit.
//!
//! Everything in the cache is put in place whole, by one rename, and then never changed, so an entry that
//! exists is complete. Two processes that fetch the same commit need no lock; the first one wins. Each commit
//! has a small repository of its own, because a shared repository has locks, which a killed git leaves
//! behind.
//!
//! ```text
//! ~/.cache/brief/git/github.com-org-repo-1a2b3c4d5e6f/
//!   refs/…          which commit a branch or tag was at, last time
//!   commits/…       the repository of one commit
//!   trees/…         the files of one commit, or of one directory in it
//! ```

use std::path::PathBuf;

use brief_system::{System, cache_directory};

use crate::address::one_line;
use crate::cache_slot::{CacheSlot, CachedCommit};
use crate::error::FetchError;
use crate::extract::is_commit;
use crate::latest::Latest;
use crate::oci::Provenance;
use crate::source::{GitSource, SourceError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// Branches are looked up, and missing commits are fetched.
    #[default]
    Online,
    /// Only the cache is read.
    Offline,
}

/// The files of a source at one commit or digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The absolute path of the files, with the source's subpath applied. Read-only for callers.
    pub directory: PathBuf,
    /// The full commit, or the digest of an artifact.
    pub commit: String,
    /// Remarks for the user: an unreachable network, files that were left out. Repeated runs give the same
    /// notes while the cause lasts.
    pub notes: Vec<String>,
    /// The origin that an artifact of a registry claims and proves; empty for a commit.
    pub provenance: Provenance,
}

/// A step that may take a while, reported before it begins.
///
/// `repository` is always the redacted address of the source, without credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'e> {
    /// The server is asked for the commits of its branches and tags.
    Asking {
        /// The redacted address of the source.
        repository: &'e str,
    },
    /// A commit is fetched, which may take long.
    Fetching {
        /// The redacted address of the source.
        repository: &'e str,
        /// The full commit. A branch may move on before it arrives.
        commit: &'e str,
    },
    Item {
        /// The number of the item, from one.
        number: usize,
        /// The number of all items.
        of: usize,
    },
}

/// The user's cache of fetched git repositories, by commit.
#[derive(Clone)]
pub struct Cache<'s> {
    pub(crate) system: &'s dyn System,
    pub(crate) directory: PathBuf,
    pub(crate) observer: Option<&'s dyn Fn(Event<'_>)>,
}

impl<'s> Cache<'s> {
    /// Returns the user's cache: `$XDG_CACHE_HOME/brief/git`, or the platform's cache directory. `None`
    /// without a home directory.
    pub fn of_user(system: &'s dyn System) -> Option<Self> {
        Some(Cache::new(system, cache_directory(system)?.join("git")))
    }

    /// Returns a cache in the given directory, which is created when needed.
    pub fn new(system: &'s dyn System, directory: PathBuf) -> Self {
        Cache { system, directory, observer: None }
    }

    /// Reports every step that may take a while to `observer`, before the step begins. Answers from the cache
    /// are not reported.
    #[must_use]
    pub fn with_observer(self, observer: &'s dyn Fn(Event<'_>)) -> Self {
        Cache { observer: Some(observer), ..self }
    }

    /// Returns the files of a source at the commit that its reference names.
    ///
    /// A branch or tag costs one request to the server; a full commit, and everything offline, costs none if
    /// it was fetched before. If the server does not answer, the commit of an earlier run is used, and a note
    /// says so.
    pub fn checkout_reference(
        &self,
        source: &GitSource,
        network: Network,
    ) -> Result<Checkout, FetchError> {
        let address = source.check()?;
        let slot = CacheSlot::new(self, source, &address);
        if let Some(commit) = slot.named_commit() {
            return slot.checkout_commit(&commit, network);
        }
        if network == Network::Offline {
            return slot.find_earlier_commit()?.into_checkout(&slot.shown);
        }
        slot.prepare_directories()?;
        match slot.checkout_reference() {
            Err(error) if error.is_about_reach() => match slot.find_earlier_commit()? {
                CachedCommit::Files(mut checkout) => {
                    let commit = checkout.commit.get(..12).unwrap_or_default();
                    let note = format!("{error}; using commit {commit} from an earlier run");
                    checkout.notes.insert(0, note);
                    Ok(checkout)
                }
                CachedCommit::Damaged(_) | CachedCommit::Nothing => Err(error),
            },
            other => other,
        }
    }

    /// Fetches the commit that the source's reference names, without its files. Returns the bare repository that has it, which
    /// nothing may change, and the commit.
    ///
    /// A branch or tag costs one request to the server, and one more if its commit is new; a full commit costs at most one.
    pub(crate) fn fetch_repository(
        &self,
        source: &GitSource,
    ) -> Result<(PathBuf, String), FetchError> {
        let address = source.check()?;
        CacheSlot::new(self, source, &address).bare_repository()
    }

    /// Returns the files of a source at `commit`, even if its reference has moved on.
    ///
    /// Costs no request to the server if the commit was fetched before.
    pub fn checkout_commit(
        &self,
        source: &GitSource,
        commit: &str,
        network: Network,
    ) -> Result<Checkout, FetchError> {
        let address = source.check()?;
        let name = commit.to_ascii_lowercase();
        if !is_commit(&name) {
            let reason = "write all 40 or 64 digits of a commit";
            return Err(SourceError::Reference { reference: one_line(commit), reason }.into());
        }
        CacheSlot::new(self, source, &address).checkout_commit(&name, network)
    }

    /// Asks the server for the commit of the source's reference and for all tags. Fetches nothing.
    ///
    /// A full commit never moves, so for such a source only the tags are news.
    pub fn query_latest(&self, source: &GitSource) -> Result<Latest, FetchError> {
        let address = source.check()?;
        let slot = CacheSlot::new(self, source, &address);
        slot.prepare_directories()?;
        slot.query_latest()
    }
}
