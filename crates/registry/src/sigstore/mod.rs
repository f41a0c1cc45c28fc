//! Sigstore's bundles, verified without a network.
//!
//! A bundle holds a signature and everything that is needed to check it: a key's name, or a certificate for an identity
//! with the entry of a transparency log and signed times. A file, the trust root, names the trusted logs and authorities. The crates that do this
//! bring a second library of cryptography; this module makes the same checks with the one that the program has for TLS.

mod bundle;
mod certificate;
mod der;
mod key;
mod log;
mod statement;
mod timestamp;
mod trust;

use std::time::{Duration, SystemTime};

use brief_safety::policy::Signer;

pub(crate) use bundle::{BUNDLE, version_of};
use bundle::{Bundle, Period};
use certificate::{CODE_SIGNING, Certificate};
use key::HashKind;
pub(crate) use key::{PublicKey, pem_blocks};
use log::LoggedSignature;
pub(crate) use statement::signed_bundle;
use timestamp::SignedTime;
use trust::Root;
pub(crate) use trust::Trust;
pub use trust::TrustRootError;

/// A bundle that does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SigstoreError {
    /// Something cannot be read, or is wrong.
    #[error("{0}")]
    Invalid(&'static str),
    /// The trust root does not know a log or an authority.
    #[error("{0}")]
    Unknown(&'static str),
    /// Something was signed before or after the time for which its signer may sign.
    #[error("{what} is valid from {from} to {until}, but the signature is dated {at}")]
    Expired {
        /// The certificate, log or authority.
        what: &'static str,
        from: String,
        until: String,
        /// The time of the signature.
        at: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verified {
    pub(crate) signer: Signer,
    /// The time, if a log or an authority of the trust root has signed it.
    pub(crate) time: Option<SystemTime>,
    /// True if the machine trusts it, and not only the project.
    pub(crate) is_of_machine: bool,
}

/// The content of a bundle's signature.
struct Signed<'b> {
    message: Vec<u8>,
    /// The payload of an envelope.
    payload: Option<&'b [u8]>,
    signature: &'b [u8],
}

/// The signed times of a signature.
#[derive(Default)]
struct Times {
    signed: Vec<i64>,
    is_logged: bool,
}

impl Signed<'_> {
    /// Checks the entry of a log and the timestamps.
    fn check_times(
        &self,
        root: &Root,
        material: &bundle::Material,
        version: u32,
        verifier: &[u8],
        key: &PublicKey,
    ) -> Result<Times, SigstoreError> {
        let payload = self.payload.map(|payload| HashKind::Sha256.hash_bytes(payload));
        let about = LoggedSignature {
            message: &key.hash().hash_bytes(&self.message),
            payload: payload.as_deref(),
            signature: self.signature,
            verifier,
        };
        let mut times = Times::default();
        let mut periods = Vec::new();
        for entry in &material.tlog_entries {
            let mut logs = root.logs.iter().filter(|log| log.id == entry.log_id.key_id.0);
            let log = logs.next();
            let log =
                log.ok_or(SigstoreError::Unknown("its transparency log is not in the trust root"))?;
            if log::check_log_entry(entry, &log.key, &about, version > 1)? {
                times.signed.push(entry.integrated_time.0);
            }
            times.is_logged = true;
            periods.push(&log.period);
        }
        let stamps = material.timestamp_verification_data.iter();
        for stamp in stamps.flat_map(|data| &data.rfc3161_timestamps) {
            let stamp = SignedTime::parse_der(&stamp.signed_timestamp.0, self.signature).ok_or(
                SigstoreError::Invalid(
                    "its timestamp is unreadable or belongs to another signature",
                ),
            )?;
            let at = to_system_time(stamp.seconds)?;
            let fitting = root.times.iter().filter(|(_, period)| period.contains(at));
            if fitting.into_iter().any(|(chain, _)| stamp.is_signed_by(chain)) {
                times.signed.push(stamp.seconds);
            }
        }
        for (period, at) in
            periods.iter().flat_map(|period| times.signed.iter().map(move |at| (period, at)))
        {
            check_period(period, "the key of its transparency log", *at)?;
        }
        Ok(times)
    }
}

/// Reads bytes as a bundle, a trust root, a certificate and a timestamp. Nothing of them is trusted.
pub(crate) fn fuzz_sigstore(bytes: &[u8]) {
    let _ = Certificate::parse_der(bytes)
        .map(|one| (one.identity(), one.identity_issuer(), one.parse_log_timestamps().is_some()));
    let _ = SignedTime::parse_der(bytes, b"");
    let _ = Root::parse(bytes);
    let text = String::from_utf8_lossy(bytes);
    assert!(Trust::default().verify_bundle(&text, b"", None, SystemTime::UNIX_EPOCH).is_err());
}

/// Checks that a text is a bundle about an artifact. Verifies no signature.
pub(crate) fn check_subject(text: &str, artifact: &[u8]) -> Result<(), SigstoreError> {
    let bundle: Bundle = serde_json::from_str(text)
        .map_err(|_| SigstoreError::Invalid("its bundle is unreadable"))?;
    statement::parse_signed_content(&bundle, artifact).map(|_| ())
}

impl Trust {
    /// Verifies a bundle about an artifact, and returns its signer. `key` lies beside the bundle: everyone who may write
    /// there can choose it, so it proves an identity only to those who remember it.
    pub(crate) fn verify_bundle(
        &self,
        text: &str,
        artifact: &[u8],
        key: Option<&PublicKey>,
        now: SystemTime,
    ) -> Result<Verified, SigstoreError> {
        let bundle: Bundle = serde_json::from_str(text)
            .map_err(|_| SigstoreError::Invalid("its bundle is unreadable"))?;
        let version = version_of(&bundle.media_type)
            .ok_or(SigstoreError::Invalid("its bundle has an unknown version"))?;
        let content = statement::parse_signed_content(&bundle, artifact)?;
        let material = &bundle.verification_material;
        if material.tlog_entries.len() > 1 {
            return Err(SigstoreError::Invalid("its bundle has several log entries"));
        }
        let chain = material.x509_certificate_chain.iter().flat_map(|chain| &chain.certificates);
        let certificate = material.certificate.iter().chain(chain).next();
        match (certificate, &material.public_key) {
            (Some(certificate), None) => {
                let certificate = Certificate::parse_der(&certificate.raw_bytes.0)
                    .ok_or(SigstoreError::Invalid("its certificate is unreadable"))?;
                let mut problem = SigstoreError::Unknown("no trust root for identity certificates");
                for (root, is_of_machine) in &self.roots {
                    match verify_keyless(root, &certificate, &content, material, version, now) {
                        Ok((signer, at)) => {
                            let (time, is_of_machine) = (Some(at), *is_of_machine);
                            return Ok(Verified { signer, time, is_of_machine });
                        }
                        // The root that knows more has the better reason.
                        Err(SigstoreError::Unknown(_))
                            if !matches!(problem, SigstoreError::Unknown(_)) => {}
                        Err(error) => problem = error,
                    }
                }
                Err(problem)
            }
            (None, Some(hint)) => self.by_key(key, &hint.hint, &content, material, version, now),
            _ => Err(SigstoreError::Invalid("its bundle has neither a certificate nor a key")),
        }
    }

    /// Verifies a signature with a plain key.
    fn by_key(
        &self,
        beside: Option<&PublicKey>,
        hint: &str,
        content: &Signed<'_>,
        material: &bundle::Material,
        version: u32,
        now: SystemTime,
    ) -> Result<Verified, SigstoreError> {
        let mut known = self.keys.iter().chain(beside);
        let Some(key) = known.find(|key| key.has_signed(&content.message, content.signature))
        else {
            let is_known =
                self.keys.iter().chain(beside).any(|key| statement::key_hint(key) == hint);
            return Err(if is_known || beside.is_some() {
                SigstoreError::Invalid("its signature is invalid")
            } else {
                SigstoreError::Unknown("its key is not one of `trusted_keys.pem`")
            });
        };
        let mut time_of = None;
        for (root, _) in &self.roots {
            match content.check_times(root, material, version, &key.der, key) {
                Ok(times) => {
                    let latest = times.signed.into_iter().max();
                    time_of = latest.map(|at| check_past_time(at, now)).transpose()?;
                    break;
                }
                // Without the log, the key alone counts.
                Err(SigstoreError::Unknown(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let signer = Signer::Key(key.fingerprint());
        Ok(Verified { signer, time: time_of, is_of_machine: true })
    }
}

/// Verifies a signature with a certificate for an identity, and returns the identity and the time.
fn verify_keyless(
    root: &Root,
    certificate: &Certificate,
    signed: &Signed<'_>,
    material: &bundle::Material,
    version: u32,
    now: SystemTime,
) -> Result<(Signer, SystemTime), SigstoreError> {
    let key = certificate.key.as_ref();
    let key = key.ok_or(SigstoreError::Invalid("its certificate has an unsupported key type"))?;
    let times = signed.check_times(root, material, version, &certificate.der, key)?;
    if !times.is_logged && root.has_logs {
        return Err(SigstoreError::Invalid("its bundle has no transparency log entry"));
    }
    let Some(at) = times.signed.iter().copied().max() else {
        return Err(SigstoreError::Invalid(
            "its time is not signed by a log or timestamp authority",
        ));
    };
    for at in times.signed {
        check_past_time(at, now)?;
        check_certificate(root, certificate, at)?;
    }
    if !key.has_signed(&signed.message, signed.signature) {
        return Err(SigstoreError::Invalid("its signature is invalid"));
    }
    let (identity, issuer) = certificate.identity().zip(certificate.identity_issuer()).ok_or(
        SigstoreError::Invalid("its certificate does not name one identity and its issuer"),
    )?;
    Ok((Signer::Identity { identity, issuer }, to_system_time(at)?))
}

/// Checks that an authority vouches for a certificate at a time, and that a log of certificates knows it.
fn check_certificate(root: &Root, certificate: &Certificate, at: i64) -> Result<(), SigstoreError> {
    let (from, until) = certificate.valid;
    let period = Period { start: Some(to_system_time(from)?), end: Some(to_system_time(until)?) };
    check_period(&period, "its certificate", at)?;
    let mut vouching = root
        .authorities
        .iter()
        .filter(|(chain, _)| certificate.is_vouched_for(chain, CODE_SIGNING, at));
    let problem = "its certificate is not issued by an authority of the trust root";
    let first = vouching.next().ok_or(SigstoreError::Unknown(problem))?;
    let moment = to_system_time(at)?;
    let fitting = [first].into_iter().chain(vouching).find(|(_, period)| period.contains(moment));
    let Some((chain, _)) = fitting else {
        return check_period(&first.1, "the authority of its certificate", at);
    };
    if !root.has_certificate_logs {
        return Ok(());
    }
    let issuer = chain.iter().find(|one| one.subject == certificate.issuer);
    let is_logged =
        issuer.zip(certificate.parse_log_timestamps()).is_some_and(|(issuer, logged)| {
            logged.iter().any(|logged| {
                let at =
                    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(logged.milliseconds));
                root.certificate_logs.iter().any(|log| {
                    log.id == logged.log
                        && at.is_some_and(|at| log.period.contains(at))
                        && certificate.is_logged_by(logged, &log.key, issuer)
                })
            })
        });
    let problem = "its certificate is not in a certificate log of the trust root";
    is_logged.then_some(()).ok_or(SigstoreError::Invalid(problem))
}

fn to_system_time(seconds: i64) -> Result<SystemTime, SigstoreError> {
    let seconds = u64::try_from(seconds).ok();
    seconds
        .and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)))
        // Text cannot express a later one.
        .filter(|time| *time < SystemTime::UNIX_EPOCH + Duration::from_hours(70_389_528))
        .ok_or(SigstoreError::Invalid("it contains an invalid time"))
}

/// Refuses a time that is still to come.
fn check_past_time(seconds: i64, now: SystemTime) -> Result<SystemTime, SigstoreError> {
    let at = to_system_time(seconds)?;
    if at > now + Duration::from_mins(5) {
        return Err(SigstoreError::Invalid("was signed in the future"));
    }
    Ok(at)
}

/// Refuses a signature that was made outside a period.
fn check_period(period: &Period, what: &'static str, at: i64) -> Result<(), SigstoreError> {
    let at = to_system_time(at)?;
    if period.contains(at) {
        return Ok(());
    }
    let shown = |time: Option<SystemTime>, open: &str| {
        time.map_or(open.to_owned(), |time| humantime::format_rfc3339_seconds(time).to_string())
    };
    Err(SigstoreError::Expired {
        what,
        from: shown(period.start, "the beginning"),
        until: shown(period.end, "now"),
        at: shown(Some(at), ""),
    })
}

#[cfg(test)]
mod tests;
