//! Git repositories as directories, one per commit.
//!
//! Everything in the cache is put in place whole, by one rename, and then never changed: what is
//! there is complete. Two processes that fetch the same need no lock; the first one wins. Each
//! commit has a small repository of its own instead of one that all share, because a shared one
//! has locks, which a killed git leaves behind.
//!
//! ```text
//! ~/.cache/brief/git/github.com-org-repo-1a2b3c4d5e6f/
//!   refs/…          which commit a branch or tag was at, last time
//!   commits/…       the repository of one commit
//!   trees/…         the files of one commit, or of one directory in it
//! ```

use std::path::PathBuf;

use brief_syntax::System;
use brief_syntax::system::cache_directory;

use crate::address::one_line;
use crate::error::FetchError;
use crate::extract::is_commit;
use crate::latest::Latest;
use crate::place::{Kept, Place};
use crate::source::{GitSource, SourceError};

/// Whether anything may be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// A branch is looked up, and what is missing is fetched.
    Online,
    /// Only what is there already.
    Offline,
}

/// A git source as a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The absolute path of the files, with the source's subpath applied. Not to be written to.
    pub directory: PathBuf,
    /// The full commit.
    pub commit: String,
    /// What the user should know: that the network could not be reached, which files were left
    /// out. The same on every run as long as it is so.
    pub notes: Vec<String>,
}

/// What is about to be done, for somebody who waits.
///
/// `repository` is always the source as it may be shown: without credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A server is asked which commits its branches and tags are at.
    Asking {
        /// The source.
        repository: &'e str,
    },
    /// A commit is fetched, which may take long.
    Fetching {
        /// The source.
        repository: &'e str,
        /// The full commit; a branch may have moved on before it arrives.
        commit: &'e str,
    },
    /// An item is about to be compiled.
    Item {
        /// Its number, from one.
        number: usize,
        /// How many there are.
        of: usize,
    },
}

/// The git repositories that were fetched, by commit.
#[derive(Clone)]
pub struct Cache<'s> {
    pub(crate) system: &'s dyn System,
    pub(crate) directory: PathBuf,
    pub(crate) observer: Option<&'s dyn Fn(Event<'_>)>,
}

impl<'s> Cache<'s> {
    /// Returns the user's cache: `$XDG_CACHE_HOME/brief/git`, or the platform's place for such
    /// things. `None` if there is no home directory.
    pub fn of_user(system: &'s dyn System) -> Option<Self> {
        Some(Cache::at(system, cache_directory(system)?.join("git")))
    }

    /// Returns a cache in the given directory, which is created when needed.
    pub fn at(system: &'s dyn System, directory: PathBuf) -> Self {
        Cache { system, directory, observer: None }
    }

    /// Has `observer` told about everything that may take a while, before it is begun. What is in
    /// the cache already takes none and is not told.
    #[must_use]
    pub fn observed(self, observer: &'s dyn Fn(Event<'_>)) -> Self {
        Cache { observer: Some(observer), ..self }
    }

    /// Returns the files of a source at the commit that its reference leads to.
    ///
    /// A branch or tag costs one question to the server; a full commit, and everything offline,
    /// costs none if it was fetched before. If the server does not answer, the commit of an earlier
    /// run is used, and a note says so.
    pub fn checkout(&self, source: &GitSource, network: Network) -> Result<Checkout, FetchError> {
        let address = source.check()?;
        let place = Place::of(self, source, &address);
        let named = source.reference.as_deref().map(str::to_ascii_lowercase);
        if let Some(commit) = named.filter(|reference| is_commit(reference)) {
            return place.checkout_commit(&commit, network);
        }
        if network == Network::Offline {
            return place.earlier()?.into_checkout(&place.shown);
        }
        place.prepare()?;
        match place.checkout_reference() {
            Err(error) if error.is_about_reach() => match place.earlier()? {
                Kept::Files(mut checkout) => {
                    let commit = checkout.commit.get(..12).unwrap_or_default();
                    checkout.notes.insert(
                        0,
                        format!("{error}; commit {commit} of an earlier run is used instead"),
                    );
                    Ok(checkout)
                }
                Kept::Damaged(_) | Kept::Nothing => Err(error),
            },
            other => other,
        }
    }
    /// Returns the files of a source at this very commit, wherever its reference is by now.
    ///
    /// Costs no question to the server if the commit was fetched before.
    pub fn checkout_commit(
        &self,
        source: &GitSource,
        commit: &str,
        network: Network,
    ) -> Result<Checkout, FetchError> {
        let address = source.check()?;
        let name = commit.to_ascii_lowercase();
        if !is_commit(&name) {
            let reason = "a commit is written with all its digits, 40 or 64";
            return Err(SourceError::Reference { reference: one_line(commit), reason }.into());
        }
        Place::of(self, source, &address).checkout_commit(&name, network)
    }

    /// Asks the server where the source's reference is now, and for all tags. Nothing is fetched.
    ///
    /// A full commit stays where it is, so that only the tags are new.
    pub fn latest(&self, source: &GitSource) -> Result<Latest, FetchError> {
        let address = source.check()?;
        let place = Place::of(self, source, &address);
        place.prepare()?;
        place.latest()
    }
}
