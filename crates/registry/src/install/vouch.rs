//! The checks of an artifact's origin: its signer, its age, and what the policy demands of both.
//!
//! The first signer is remembered in the lock. Another one, or none, is refused until the user accepts it. A tag
//! that leads back to an older artifact is refused, too: a registry, or a machine in between, may replay an old
//! answer.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use brief_safety::policy::{PolicyDecision, RequiredSigners};

use super::InstallError;
use super::open::Opener;
use super::run::Run;
use crate::cache::{Cache, Checkout, Network};
use crate::lock::LockedSource;
use crate::manifest::{ManifestPlace, WantedSource};
use crate::oci::{Evidence, OciSlot, OciSource, manifest_of};
use crate::sigstore::{Trust, Verified};
use crate::source::SourceAddress;

/// The origin that the lock keeps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Pinned {
    pub(super) signer: Option<String>,
    pub(super) created: Option<String>,
}

/// The signatures of an artifact.
#[derive(Default)]
struct Signatures {
    verified: Vec<Verified>,
    /// The reasons why others do not count.
    problems: Vec<String>,
}

impl Signatures {
    /// Verifies everything that was found.
    fn verify_evidence(
        evidence: &[Evidence],
        manifest: &[u8],
        trust: &Trust,
        now: SystemTime,
    ) -> Signatures {
        let mut signatures = Signatures::default();
        for one in evidence {
            match trust.verify_bundle(&one.bundle, manifest, one.public_key().as_ref(), now) {
                Ok(verified) => signatures.verified.push(verified),
                Err(error) => signatures.problems.push(error.to_string()),
            }
        }
        signatures.verified.sort_by_key(|one| one.signer.clone());
        signatures.problems.sort();
        signatures.problems.dedup();
        signatures
    }

    fn contains_signer(&self, pinned: &str) -> bool {
        self.verified.iter().any(|one| one.signer.to_pinned().to_string() == pinned)
    }

    /// Returns the signature that satisfies a demand; else the reason why none does, if there is one.
    fn find_satisfying(
        &self,
        required: &RequiredSigners,
        now: SystemTime,
    ) -> Result<&Verified, Option<String>> {
        let mut reason = self
            .problems
            .first()
            .map(|problem| format!("its signature is not accepted: {problem}"));
        for one in &self.verified {
            let mut rules =
                required.signers.iter().filter(|rule| rule.matches_signer(&one.signer)).peekable();
            if rules.peek().is_some() && !one.is_of_machine {
                reason = Some(
                    "its signer is in the trust root of the project but not of this machine"
                        .to_owned(),
                );
                continue;
            }
            // Without a signed time a signature may have been made today.
            let time = one.time.unwrap_or(now);
            for rule in rules {
                if rule.allows_time(time) {
                    return Ok(one);
                }
                let shown = |time| humantime::format_rfc3339_seconds(time).to_string();
                let (limit, word) = match (rule.not_before, rule.not_after) {
                    (Some(start), _) if time < start => (start, "may sign from"),
                    (_, Some(end)) => (end, "may sign until"),
                    _ => continue,
                };
                let (signer, limit, time) = (&one.signer, shown(limit), shown(time));
                reason = Some(format!("`{signer}` {word} {limit}, but it is signed {time}"));
            }
        }
        Err(reason)
    }

    /// Returns the signers as text that follows "is now".
    fn in_words(&self) -> String {
        match (self.verified.as_slice(), self.problems.first()) {
            ([], None) => "not signed".to_owned(),
            ([], Some(problem)) => format!("not signed: {problem}"),
            (all, _) => {
                let all = all.iter().map(|one| format!("`{}`", one.signer.to_pinned()));
                // One signer may have signed twice.
                let all: BTreeSet<String> = all.collect();
                format!("signed by {}", all.into_iter().collect::<Vec<String>>().join(" and "))
            }
        }
    }

    /// Returns the signature that satisfies the last of these demands, or the first of all if there are none.
    fn satisfying_all(
        &self,
        required: &[RequiredSigners],
        now: SystemTime,
    ) -> Result<Option<&Verified>, PolicyDecision> {
        let mut chosen = self.verified.first();
        for one in required {
            chosen = Some(self.find_satisfying(one, now).map_err(|reason| {
                let reason = reason.map_or(String::new(), |reason| format!("; {reason}"));
                let rule = format!("{}{reason}", one.decision.rule);
                PolicyDecision { rule, ..one.decision.clone() }
            })?);
        }
        Ok(chosen)
    }

    /// Returns the signers as a user accepts them, each once.
    fn pinned_signers(&self) -> Vec<String> {
        let all = self.verified.iter().map(|one| one.signer.to_pinned().to_string());
        all.collect::<BTreeSet<String>>().into_iter().collect()
    }
}

impl Opener<'_> {
    /// Checks an artifact, and returns what the lock keeps of its origin. A signature that does not count, and is not
    /// demanded, is a note.
    pub(super) fn pin_origin(
        &self,
        wanted: &WantedSource,
        source: &OciSource,
        locked: Option<&LockedSource>,
        cache: &Cache<'_>,
        checkout: &mut Checkout,
    ) -> Result<Pinned, InstallError> {
        let Run { system, project, request, policy, .. } = *self.run;
        let name = || wanted.name.clone();
        let locked = locked.filter(|locked| is_same_place(&locked.place, &wanted.place));
        let before = locked.and_then(|locked| locked.signer.as_deref());
        let place = SourceAddress::Oci(source.clone()).resolve_place(system, Path::new("/"));
        let required = policy.required_signers(&place);
        let now = system.now();
        let manifest = manifest_of(system, checkout).unwrap_or_default();
        let trust = Trust::load(system, &project.config)?;
        let verify = |evidence: &[_]| Signatures::verify_evidence(evidence, &manifest, &trust, now);
        let evidence = &checkout.provenance.evidence;
        let mut signatures = verify(evidence);
        let is_enough = before.is_none_or(|before| signatures.contains_signer(before))
            && required.iter().all(|one| signatures.find_satisfying(one, now).is_ok());
        // A signature may have come after the files.
        if !is_enough && request.network == Network::Online {
            let found = OciSlot::new(cache, source).fetch_evidence(&checkout.commit);
            let found = found.map_err(InstallError::fetch_error(&wanted.name))?;
            signatures = verify(&[evidence.clone(), found].concat());
        }
        let chosen = signatures
            .satisfying_all(&required, now)
            .map_err(|decision| InstallError::Forbidden { name: name(), decision })?;
        let pinned = |one: &Verified| one.signer.to_pinned().to_string();
        let mut accepted = signatures.verified.iter().map(pinned);
        let accepted = accepted.find(|signer| request.accept_signers.contains(signer));
        let signer = match before {
            Some(before) if signatures.contains_signer(before) => Some(before.to_owned()),
            Some(before) => Some(accepted.ok_or_else(|| InstallError::Signer {
                name: name(),
                before: before.to_owned(),
                found: signatures.in_words(),
                signers: signatures.pinned_signers(),
            })?),
            None => accepted.or_else(|| chosen.map(pinned)),
        };
        let created = checkout.provenance.created.clone();
        let time = created.as_deref().and_then(|text| humantime::parse_rfc3339(text).ok());
        if let Some(decision) = policy.too_young(time, now) {
            return Err(InstallError::Forbidden { name: name(), decision });
        }
        check_order(wanted, locked, checkout)?;
        if signer.is_none() {
            let ignored = signatures.problems.iter();
            let notes = ignored.map(|problem| format!("brief ignores a signature: {problem}"));
            checkout.notes.extend(notes);
        }
        Ok(Pinned { signer, created })
    }
}

/// Refuses to follow a tag back to an older artifact. Naming another tag, or a digest, is a decision.
fn check_order(
    wanted: &WantedSource,
    locked: Option<&LockedSource>,
    checkout: &Checkout,
) -> Result<(), InstallError> {
    let Some(locked) = locked.filter(|locked| locked.place == wanted.place) else {
        return Ok(());
    };
    let is_same = locked.commit.as_deref() == Some(checkout.commit.as_str());
    let time = |text: &str| humantime::parse_rfc3339(text).ok();
    let before = locked.created.as_deref().filter(|_| !is_same);
    let Some((before, then)) = before.and_then(|text| Some((text, time(text)?))) else {
        return Ok(());
    };
    let created = checkout.provenance.created.as_deref();
    if created.and_then(time).is_some_and(|now| now >= then) {
        return Ok(());
    }
    let found = created.unwrap_or("an undated artifact").to_owned();
    let (name, before) = (wanted.name.clone(), before.to_owned());
    Err(InstallError::Older { name, before, found })
}

/// Returns whether two addresses name one repository, at any tag or digest.
fn is_same_place(one: &ManifestPlace, other: &ManifestPlace) -> bool {
    one.find_field("oci").is_some_and(|oci| other.find_field("oci") == Some(oci))
}
