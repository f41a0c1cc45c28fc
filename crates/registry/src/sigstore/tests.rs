//! Bundles of an own instance: valid ones, and each with one thing wrong.

use std::time::{Duration, SystemTime};

use brief_safety::policy::Signer;
use brief_testkit::sigstore::{TestSignature, TestSigstore};
use serde_json::Value;

use super::*;

const ARTIFACT: &[u8] = b"{}";
const AT: u64 = 1_750_000_000;
const IDENTITY: &str = "https://git.example/acme/guidance/release.yml@refs/heads/main";
const ISSUER: &str = "https://issuer.example";

/// Both generations of logs, with a statement and without.
const FORMS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

fn trust(instance: &TestSigstore) -> Trust {
    trust_of(&instance.trusted_root())
}

fn trust_of(file: &str) -> Trust {
    let roots = Root::parse(file.as_bytes()).unwrap();
    Trust { roots: roots.into_iter().map(|root| (root, true)).collect(), keys: Vec::new() }
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(AT + 1_000_000)
}

fn outcome(trust: &Trust, bundle: &Value) -> Result<Verified, SigstoreError> {
    trust.verify_bundle(&bundle.to_string(), ARTIFACT, None, now())
}

#[test]
fn an_identity_is_verified_with_both_generations_of_logs() {
    let instance = TestSigstore::default();
    let trust = trust(&instance);
    for identity in [IDENTITY, "ann@example.com"] {
        for (is_stamped, is_plain) in FORMS {
            let wanted = TestSignature::new(identity, ISSUER, AT);
            let wanted = TestSignature { is_stamped, is_plain, ..wanted };
            let found = outcome(&trust, &instance.create_bundle(ARTIFACT, &wanted)).unwrap();
            let (identity, issuer) = (identity.to_owned(), ISSUER.to_owned());
            assert_eq!(found.signer, Signer::Identity { identity, issuer });
            assert_eq!(found.time, Some(SystemTime::UNIX_EPOCH + Duration::from_secs(AT)));
        }
    }
}

#[test]
fn another_artifact_log_or_authority_is_refused() {
    let instance = TestSigstore::default();
    let wanted = TestSignature::new(IDENTITY, ISSUER, AT);
    let bundle = instance.create_bundle(ARTIFACT, &wanted);
    let other = trust(&TestSigstore::default());
    assert_eq!(
        outcome(&other, &bundle),
        Err(SigstoreError::Unknown("its transparency log is not in the trust root"))
    );
    assert!(matches!(outcome(&Trust::default(), &bundle), Err(SigstoreError::Unknown(_))));
    let elsewhere = instance.create_bundle(b"other", &wanted);
    assert_eq!(
        outcome(&trust(&instance), &elsewhere),
        Err(SigstoreError::Invalid("its statement has a different subject"))
    );
}

/// Forges print the root of the public instance and their own, one on each line.
#[test]
fn a_file_may_hold_several_roots() {
    let (one, other) = (TestSigstore::default(), TestSigstore::default());
    let trust = trust_of(&format!("{}\n{}\n", one.trusted_root(), other.trusted_root()));
    for instance in [one, other] {
        let bundle = instance.create_bundle(ARTIFACT, &TestSignature::new(IDENTITY, ISSUER, AT));
        outcome(&trust, &bundle).unwrap();
    }
    for wrong in ["", "{}", "[]", "{\"mediaType\": \"text/plain\"}"] {
        assert!(Root::parse(wrong.as_bytes()).is_err(), "{wrong}");
    }
}

/// Sigstore's certificates live for minutes: what counts is the time of the signature, and not today.
#[test]
fn times_outside_of_a_period_are_refused_with_their_dates() {
    let mut instance = TestSigstore::default();
    for is_stamped in [false, true] {
        for valid in [(AT - 600, AT - 1), (AT + 1, AT + 600)] {
            let wanted =
                TestSignature { valid, is_stamped, ..TestSignature::new(IDENTITY, ISSUER, AT) };
            let problem = outcome(&trust(&instance), &instance.create_bundle(ARTIFACT, &wanted));
            let problem = problem.unwrap_err().to_string();
            assert!(problem.starts_with("its certificate is valid from 2025-06-15T"), "{problem}");
            assert!(problem.ends_with("the signature is dated 2025-06-15T15:06:40Z"), "{problem}");
        }
        let at = AT + 2_000_000;
        let wanted = TestSignature { is_stamped, ..TestSignature::new(IDENTITY, ISSUER, at) };
        let bundle = instance.create_bundle(ARTIFACT, &wanted);
        let early = outcome(&trust(&instance), &bundle);
        assert_eq!(early, Err(SigstoreError::Invalid("was signed in the future")));
    }
    instance.authority_valid = (1_600_000_000, Some(AT - 1));
    let bundle = instance.create_bundle(ARTIFACT, &TestSignature::new(IDENTITY, ISSUER, AT));
    let problem = outcome(&trust(&instance), &bundle).unwrap_err().to_string();
    assert!(problem.contains("the authority of its certificate is valid from"), "{problem}");
    assert!(problem.contains("to 2025-06-15T15:06:39Z"), "{problem}");
}

/// Every text of a bundle is changed, one after the other; nothing of it may count any more.
#[test]
fn every_changed_part_is_refused() {
    let instance = TestSigstore::default();
    let trust = trust(&instance);
    for (is_stamped, is_plain) in FORMS {
        let wanted = TestSignature::new(IDENTITY, ISSUER, AT);
        let wanted = TestSignature { is_stamped, is_plain, ..wanted };
        let bundle = instance.create_bundle(ARTIFACT, &wanted);
        outcome(&trust, &bundle).unwrap();
        let mut places = Vec::new();
        leaves(&bundle, String::new(), &mut places);
        assert!(places.len() > 12, "{places:?}");
        for place in &places {
            // The index in the whole of several trees is signed with the promise alone.
            if is_stamped && place.ends_with("/0/logIndex") {
                continue;
            }
            let mut changed = bundle.clone();
            let leaf = changed.pointer_mut(place).unwrap();
            *leaf = Value::from(another(leaf.as_str().unwrap()));
            assert!(outcome(&trust, &changed).is_err(), "{place}: {changed}");
        }
        for place in [
            "verificationMaterial/tlogEntries",
            "verificationMaterial/certificate",
            "dsseEnvelope",
            "messageSignature",
        ] {
            let mut changed = bundle.clone();
            let (above, name) = place.rsplit_once('/').unwrap_or(("", place));
            let above = if above.is_empty() { String::new() } else { format!("/{above}") };
            if changed.pointer_mut(&above).unwrap().as_object_mut().unwrap().remove(name).is_none()
            {
                continue;
            }
            assert!(outcome(&trust, &changed).is_err(), "{place}");
        }
    }
}

/// Changes a letter behind the middle of a text, so that base64 stays base64.
fn another(text: &str) -> String {
    let at = text.len() * 3 / 4;
    let (head, rest) = text.split_at(at);
    let letter = rest.chars().next().unwrap_or('0');
    let other = match letter {
        '1' => '2',
        letter if letter.is_ascii_digit() => '1',
        'A' => 'B',
        _ => 'A',
    };
    format!("{head}{other}{}", rest.get(letter.len_utf8()..).unwrap_or_default())
}

fn leaves(value: &Value, place: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| leaves(value, format!("{place}/{key}"), found));
        }
        Value::Array(list) => {
            let numbered = list.iter().enumerate();
            numbered.for_each(|(at, value)| leaves(value, format!("{place}/{at}"), found));
        }
        _ => found.push(place),
    }
}

/// A key needs no log; where the root knows the log, the time is signed, and a wrong entry is refused.
#[test]
fn keys_are_verified_with_and_without_a_log() {
    let instance = TestSigstore::default();
    for (is_stamped, is_plain) in FORMS {
        let wanted = TestSignature::new("", "", AT);
        let wanted = TestSignature { is_stamped, is_plain, has_key: true, ..wanted };
        let (bundle, der) = instance.bundle_and_key(ARTIFACT, &wanted);
        let key = PublicKey::parse_der(&der).unwrap();
        let signer = Signer::Key(format!("sha256:{}", brief_system::hash::sha256(&der)));
        let with_root = Trust { keys: vec![key.clone()], ..trust(&instance) };
        let time = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(AT));
        let expected = Verified { signer: signer.clone(), time, is_of_machine: true };
        assert_eq!(outcome(&with_root, &bundle), Ok(expected));
        let alone = Trust { roots: Vec::new(), keys: vec![key.clone()] };
        let expected = Verified { signer, time: None, is_of_machine: true };
        assert_eq!(outcome(&alone, &bundle), Ok(expected));

        let mut changed = bundle.clone();
        let hash =
            changed.pointer_mut("/verificationMaterial/tlogEntries/0/inclusionProof/rootHash");
        let hash = hash.unwrap();
        *hash = Value::from(another(hash.as_str().unwrap()));
        assert!(matches!(outcome(&with_root, &changed), Err(SigstoreError::Invalid(_))));
        let (_, other) = instance.bundle_and_key(ARTIFACT, &wanted);
        let other = Trust { roots: Vec::new(), keys: vec![PublicKey::parse_der(&other).unwrap()] };
        assert!(matches!(outcome(&other, &bundle), Err(SigstoreError::Unknown(_))));
    }
}

#[test]
fn arbitrary_bytes_never_panic() {
    let instance = TestSigstore::default();
    let bundle =
        instance.create_bundle(ARTIFACT, &TestSignature::new(IDENTITY, ISSUER, AT)).to_string();
    let trust = trust(&instance);
    arbtest::arbtest(|input| {
        let mut bytes = bundle.clone().into_bytes();
        for _ in 0..input.int_in_range(1..=8)? {
            let at = input.int_in_range(0..=bytes.len() - 1)?;
            bytes[at] = input.arbitrary()?;
        }
        let _ = trust.verify_bundle(&String::from_utf8_lossy(&bytes), ARTIFACT, None, now());
        let bytes: Vec<u8> = input.arbitrary()?;
        let _ = Certificate::parse_der(&bytes);
        let _ = SignedTime::parse_der(&bytes, b"");
        let _ = Root::parse(&bytes);
        Ok(())
    })
    .budget_ms(300);
}
