//! Sources with versions: a repository with commits, or one with artifacts by digest.
//!
//! Installing asks both the same questions, and the answers have the same form: a directory of the cache, with
//! the commit or digest that it stands for.

use std::path::Path;

use crate::cache::{Cache, Checkout, Network};
use crate::error::FetchError;
use crate::latest::Latest;
use crate::oci::{OciSlot, OciSource};
use crate::source::{GitSource, SourceAddress};

#[derive(Debug, Clone, Copy)]
pub(crate) enum RemoteSource<'s> {
    Git(&'s GitSource),
    Oci(&'s OciSource),
}

impl<'s> RemoteSource<'s> {
    /// Returns the source. The error is the path of a directory, which has no versions.
    pub(crate) fn from_address(source: &'s SourceAddress) -> Result<RemoteSource<'s>, &'s Path> {
        match source {
            SourceAddress::Directory(path) => Err(path),
            SourceAddress::Git(git) => Ok(RemoteSource::Git(git)),
            SourceAddress::Oci(oci) => Ok(RemoteSource::Oci(oci)),
        }
    }

    /// Returns the wanted branch, tag, commit or digest.
    pub(crate) fn reference(&self) -> Option<&'s str> {
        match self {
            RemoteSource::Git(git) => git.reference.as_deref(),
            RemoteSource::Oci(oci) => oci.reference.as_deref(),
        }
    }

    /// Returns the files at the commit or digest that the reference has now.
    pub(crate) fn checkout_reference(
        &self,
        cache: &Cache<'_>,
        network: Network,
    ) -> Result<Checkout, FetchError> {
        match self {
            RemoteSource::Git(git) => cache.checkout_reference(git, network),
            RemoteSource::Oci(oci) => OciSlot::new(cache, oci).checkout_reference(network),
        }
    }

    /// Returns the files at one commit or digest.
    pub(crate) fn checkout_commit(
        &self,
        cache: &Cache<'_>,
        commit: &str,
        network: Network,
    ) -> Result<Checkout, FetchError> {
        match self {
            RemoteSource::Git(git) => cache.checkout_commit(git, commit, network),
            RemoteSource::Oci(oci) => OciSlot::new(cache, oci).checkout_digest(commit, network),
        }
    }

    /// Returns the files at the commit or digest that the reference has now, which the server has to say.
    pub(crate) fn checkout_newest(
        &self,
        cache: &Cache<'_>,
        network: Network,
    ) -> Result<Checkout, FetchError> {
        match self {
            RemoteSource::Git(git) => {
                let latest = cache.query_latest(git)?;
                cache.checkout_commit(git, &latest.commit, network)
            }
            RemoteSource::Oci(oci) => {
                let slot = OciSlot::new(cache, oci);
                slot.checkout_digest(&slot.resolve_reference()?, network)
            }
        }
    }

    /// Asks for the commit or digest that the reference has now.
    pub(crate) fn resolve_reference(&self, cache: &Cache<'_>) -> Result<String, FetchError> {
        match self {
            RemoteSource::Git(git) => Ok(cache.query_latest(git)?.commit),
            RemoteSource::Oci(oci) => OciSlot::new(cache, oci).resolve_reference(),
        }
    }

    /// Asks for the commit or digest that the reference has now, and for newer tags.
    pub(crate) fn query_latest(&self, cache: &Cache<'_>) -> Result<Latest, FetchError> {
        match self {
            RemoteSource::Git(git) => cache.query_latest(git),
            RemoteSource::Oci(oci) => OciSlot::new(cache, oci).query_latest(),
        }
    }
}
