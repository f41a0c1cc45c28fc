//! The checks of an artefact's origin: its signer, its age, and what the policy demands of both.
//!
//! The first signer is remembered in the lock. Another one, or none, is refused until the user accepts it. A tag
//! that leads back to an older artefact is refused, too: a registry, or a machine in between, may replay an old
//! answer.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use brief_dialects::policy::Policy;
use brief_syntax::System;

use super::{InstallError, InstallRequest};
use crate::cache::{Cache, Checkout, Network};
use crate::lock::LockedSource;
use crate::manifest::ManifestPlace;
use crate::oci::OciSource;
use crate::remote::RemoteSource;
use crate::source::SourceAddress;

/// The origin that the lock keeps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Pinned {
    pub(super) signer: Option<String>,
    pub(super) created: Option<String>,
}

/// An artefact to vouch for.
pub(super) struct Vouching<'v> {
    pub(super) name: &'v str,
    pub(super) source: &'v OciSource,
    pub(super) wanted: &'v ManifestPlace,
    pub(super) locked: Option<&'v LockedSource>,
    pub(super) policy: &'v Policy,
    pub(super) request: &'v InstallRequest<'v>,
}

impl Vouching<'_> {
    /// Checks an artefact, and returns what the lock keeps of its origin.
    pub(super) fn pin(
        &self,
        system: &dyn System,
        cache: &Cache<'_>,
        checkout: &Checkout,
    ) -> Result<Pinned, InstallError> {
        let locked = self.locked.filter(|locked| is_same_place(&locked.place, self.wanted));
        let before = locked.and_then(|locked| locked.signer.as_deref());
        let place = SourceAddress::Oci(self.source.clone()).place(system, Path::new("/"));
        let required = self.policy.signers(&place);
        let mut signers = checkout.provenance.signers.clone();
        let is_enough = |signers: &BTreeSet<String>| {
            before.is_none_or(|before| signers.contains(before))
                && required.iter().all(|one| !one.signers.is_disjoint(signers))
        };
        // A signature may have come after the files.
        if !is_enough(&signers) && self.request.network == Network::Online {
            let remote = RemoteSource::Oci(self.source);
            let found = remote.signers(cache, &checkout.commit).map_err(|error| {
                InstallError::Fetch { name: self.name.to_owned(), error: Box::new(error) }
            })?;
            signers.extend(found);
        }
        if let Some(missing) = required.iter().find(|one| one.signers.is_disjoint(&signers)) {
            let decision = missing.decision.clone();
            return Err(InstallError::Forbidden { name: self.name.to_owned(), decision });
        }
        let accepted = signers.iter().find(|signer| self.request.accept_signers.contains(*signer));
        let signer = match before {
            Some(before) if signers.contains(before) => Some(before.to_owned()),
            Some(before) => match accepted {
                Some(accepted) => Some(accepted.clone()),
                None => {
                    let found = match signers.len() {
                        0 => "not signed".to_owned(),
                        _ => {
                            let all: Vec<String> =
                                signers.iter().map(|signer| format!("`{signer}`")).collect();
                            format!("signed by {}", all.join(" and "))
                        }
                    };
                    let (name, before) = (self.name.to_owned(), before.to_owned());
                    return Err(InstallError::Signer { name, before, found });
                }
            },
            None => accepted.or_else(|| signers.first()).cloned(),
        };
        let created = checkout.provenance.created.clone();
        self.check_age(system, created.as_deref())?;
        self.check_order(locked, checkout)?;
        Ok(Pinned { signer, created })
    }

    fn check_age(&self, system: &dyn System, created: Option<&str>) -> Result<(), InstallError> {
        let time = created.and_then(|text| humantime::parse_rfc3339(text).ok());
        match self.policy.too_young(time, system.now()) {
            Some(decision) => Err(InstallError::Forbidden { name: self.name.to_owned(), decision }),
            None => Ok(()),
        }
    }

    /// Refuses to follow a tag back to an older artefact. Naming another tag, or a digest, is a decision.
    fn check_order(
        &self,
        locked: Option<&LockedSource>,
        checkout: &Checkout,
    ) -> Result<(), InstallError> {
        let Some(locked) = locked.filter(|locked| locked.place == *self.wanted) else {
            return Ok(());
        };
        let is_same = locked.commit.as_deref() == Some(checkout.commit.as_str());
        let time = |text: &str| humantime::parse_rfc3339(text).ok();
        let Some((before, then)) = locked
            .created
            .as_deref()
            .filter(|_| !is_same)
            .and_then(|text| Some((text, time(text)?)))
        else {
            return Ok(());
        };
        let created = checkout.provenance.created.as_deref();
        if created.and_then(time).is_some_and(|now: SystemTime| now >= then) {
            return Ok(());
        }
        let (name, before) = (self.name.to_owned(), before.to_owned());
        let found = created.map_or("an artefact without a time".to_owned(), str::to_owned);
        Err(InstallError::Older { name, before, found })
    }
}

/// Returns whether two addresses name one repository, at any tag or digest.
fn is_same_place(one: &ManifestPlace, other: &ManifestPlace) -> bool {
    match (one, other) {
        (ManifestPlace::Oci { oci: one, .. }, ManifestPlace::Oci { oci: other, .. }) => {
            one == other
        }
        _ => false,
    }
}
