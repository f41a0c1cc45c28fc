//! The checks of an artefact's origin: its signer, its age, and what the policy demands of both.
//!
//! The first signer is remembered in the lock. Another one, or none, is refused until the user accepts it. A tag
//! that leads back to an older artefact is refused, too: a registry, or a machine in between, may replay an old
//! answer.

use std::path::Path;
use std::time::SystemTime;

use brief_dialects::policy::{Policy, PolicyDecision, RequiredSigners};
use brief_syntax::System;

use super::{InstallError, InstallRequest};
use crate::cache::{Cache, Checkout, Network};
use crate::lock::LockedSource;
use crate::manifest::ManifestPlace;
use crate::oci::{Evidence, OciSlot, OciSource, manifest_of};
use crate::sigstore::{Trust, Verified};
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
    /// The directory of `brief.toml`, which may have a trust root.
    pub(super) config: &'v Path,
}

/// The signatures of an artefact.
#[derive(Default)]
struct Signatures {
    verified: Vec<Verified>,
    /// The reasons why others do not count.
    problems: Vec<String>,
}

impl Signatures {
    /// Verifies everything that was found.
    fn of(evidence: &[Evidence], manifest: &[u8], trust: &Trust, now: SystemTime) -> Signatures {
        let mut signatures = Signatures::default();
        for one in evidence {
            match trust.verify(&one.bundle, manifest, one.key().as_ref(), now) {
                Ok(verified) => signatures.verified.push(verified),
                Err(error) => signatures.problems.push(error.to_string()),
            }
        }
        signatures.verified.sort_by_key(|one| one.signer.clone());
        signatures.problems.sort();
        signatures.problems.dedup();
        signatures
    }

    fn by(&self, pinned: &str) -> bool {
        self.verified.iter().any(|one| one.signer.pinned().to_string() == pinned)
    }

    /// Returns the signature that satisfies a demand; else the reason why none does, if there is one.
    fn satisfying(
        &self,
        required: &RequiredSigners,
        now: SystemTime,
    ) -> Result<&Verified, Option<String>> {
        let mut reason =
            self.problems.first().map(|problem| format!("its signature does not count: {problem}"));
        for one in &self.verified {
            let mut rules =
                required.signers.iter().filter(|rule| rule.names(&one.signer)).peekable();
            if rules.peek().is_some() && !one.is_of_machine {
                reason = Some(
                    "only the project has a trust root for its signer, and this machine has none"
                        .to_owned(),
                );
                continue;
            }
            // Without a signed time a signature may have been made today.
            let time = one.time.unwrap_or(now);
            for rule in rules {
                if rule.permits(time) {
                    return Ok(one);
                }
                let shown = |time| humantime::format_rfc3339_seconds(time).to_string();
                let (limit, word) = match (rule.not_before, rule.not_after) {
                    (Some(start), _) if time < start => (start, "may sign from"),
                    (_, Some(end)) => (end, "may sign until"),
                    _ => continue,
                };
                let (signer, limit, time) = (&one.signer, shown(limit), shown(time));
                reason = Some(format!("`{signer}` {word} {limit}, and it is signed {time}"));
            }
        }
        Err(reason)
    }

    /// Returns who has signed, in words that follow "is now".
    fn in_words(&self) -> String {
        match (self.verified.as_slice(), self.problems.first()) {
            ([], None) => "not signed".to_owned(),
            ([], Some(problem)) => format!("not signed by anyone: {problem}"),
            (all, _) => {
                let all = all.iter().map(|one| format!("`{}`", one.signer.pinned()));
                format!("signed by {}", all.collect::<Vec<String>>().join(" and "))
            }
        }
    }
}

impl Vouching<'_> {
    /// Checks an artefact, and returns what the lock keeps of its origin. A signature that does not count, and is not
    /// demanded, is a note.
    pub(super) fn pin(
        &self,
        system: &dyn System,
        cache: &Cache<'_>,
        checkout: &mut Checkout,
    ) -> Result<Pinned, InstallError> {
        let locked = self.locked.filter(|locked| is_same_place(&locked.place, self.wanted));
        let before = locked.and_then(|locked| locked.signer.as_deref());
        let place = SourceAddress::Oci(self.source.clone()).place(system, Path::new("/"));
        let required = self.policy.signers(&place);
        let (now, evidence) = (system.now(), &checkout.provenance.evidence);
        let (manifest, trust) = (manifest_of(system, checkout), Trust::load(system, self.config)?);
        let manifest = manifest.unwrap_or_default();
        let mut signatures = Signatures::of(evidence, &manifest, &trust, now);
        let is_enough = |signatures: &Signatures| {
            before.is_none_or(|before| signatures.by(before))
                && required.iter().all(|one| signatures.satisfying(one, now).is_ok())
        };
        // A signature may have come after the files.
        if !is_enough(&signatures) && self.request.network == Network::Online {
            let found = OciSlot::of(cache, self.source).evidence(&checkout.commit);
            let found = found.map_err(InstallError::fetch(self.name))?;
            signatures =
                Signatures::of(&[evidence.clone(), found].concat(), &manifest, &trust, now);
        }
        let mut chosen = signatures.verified.first();
        for one in &required {
            match signatures.satisfying(one, now) {
                Ok(signature) => chosen = Some(signature),
                Err(reason) => {
                    let reason = reason.map_or(String::new(), |reason| format!("; {reason}"));
                    let rule = format!("{}{reason}", one.decision.rule);
                    let decision = PolicyDecision { rule, ..one.decision.clone() };
                    return Err(InstallError::Forbidden { name: self.name.to_owned(), decision });
                }
            }
        }
        let mut pinned = signatures.verified.iter().map(|one| one.signer.pinned().to_string());
        let accepted = pinned.find(|signer| self.request.accept_signers.contains(signer));
        let signer = match before {
            Some(before) if signatures.by(before) => Some(before.to_owned()),
            Some(before) => Some(accepted.ok_or_else(|| InstallError::Signer {
                name: self.name.to_owned(),
                before: before.to_owned(),
                found: signatures.in_words(),
            })?),
            None => accepted.or_else(|| chosen.map(|one| one.signer.pinned().to_string())),
        };
        let created = checkout.provenance.created.clone();
        self.check_age(system, created.as_deref())?;
        self.check_order(locked, checkout)?;
        if signer.is_none() {
            let ignored = signatures.problems.iter();
            checkout
                .notes
                .extend(ignored.map(|problem| format!("a signature does not count: {problem}")));
        }
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
    one.field("oci").is_some_and(|oci| other.field("oci") == Some(oci))
}
