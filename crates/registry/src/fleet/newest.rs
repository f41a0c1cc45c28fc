//! The newest states of the sources of a fleet: asked of a server, each source once.

use std::collections::BTreeMap;
use std::path::Path;

use brief_safety::policy::Policy;
use brief_system::System;

use super::FleetSource;
use crate::cache::{Cache, Event};
use crate::latest::{find_newer_tag, is_version};
use crate::manifest::ManifestPlace;
use crate::oci::OciSource;
use crate::remote::RemoteSource;
use crate::source::{GitSource, SourceAddress};

/// A source of several repositories: its address and reference.
pub type PlaceKey = (String, Option<String>);

/// The newest state of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewestState {
    /// The commit or digest of its reference.
    pub commit: String,
    /// A newer version, if the reference is a version: a tag like that does not move.
    pub newer_tag: Option<String>,
}

/// The newest states of sources.
pub type NewestByPlace = BTreeMap<PlaceKey, NewestState>;

impl FleetSource {
    /// Returns the address and the reference, which several repositories may have in common.
    pub fn place_key(&self) -> PlaceKey {
        (self.address.clone(), self.reference.clone())
    }
}

/// Asks for the commit or digest that a locked source has now, and for a newer version. `None` for a directory, and for an address that is relative to
/// its own repository. The error is a message.
pub fn newest_of(
    system: &dyn System,
    place: &ManifestPlace,
    observer: &dyn Fn(Event<'_>),
) -> Option<Result<NewestState, String>> {
    let base = Path::new("/");
    let source = match place {
        ManifestPlace::Directory(_) => return None,
        ManifestPlace::Git { git, .. } if git.starts_with('.') => return None,
        ManifestPlace::Oci { oci, .. } if oci.starts_with("oci-layout:.") => return None,
        ManifestPlace::Git { git, reference, .. } => {
            match SourceAddress::parse_added(git, base, system) {
                Ok(SourceAddress::Git(source)) => {
                    let reference = reference.clone().or(source.reference);
                    Ok(SourceAddress::Git(GitSource { reference, ..source }))
                }
                Ok(_) => return None,
                Err(error) => Err(error),
            }
        }
        ManifestPlace::Oci { oci, reference } => {
            OciSource::parse_at(oci, reference.as_deref(), base).map(SourceAddress::Oci)
        }
    };
    let newest = || {
        let source = source.map_err(|error| error.to_string())?;
        let policy = Policy::load(system).map_err(|error| error.to_string())?;
        if let Some(decision) = source.forbidden_by(&policy, system, base) {
            return Err(decision.to_string());
        }
        let cache = Cache::of_user(system).map(|cache| cache.with_observer(observer));
        let (Ok(remote), Some(cache)) = (RemoteSource::from_address(&source), cache) else {
            return Ok(None);
        };
        // The tags of an artifact cost a question of their own.
        let Some(reference) = remote.reference().filter(|own| is_version(own)) else {
            let newest = remote.resolve_reference(&cache).map_err(|error| error.to_string())?;
            return Ok(Some(NewestState { commit: newest, newer_tag: None }));
        };
        let latest = remote.query_latest(&cache).map_err(|error| error.to_string())?;
        let newer_tag = find_newer_tag(reference, &latest.tags).map(str::to_owned);
        Ok(Some(NewestState { commit: latest.commit, newer_tag }))
    };
    newest().transpose()
}
