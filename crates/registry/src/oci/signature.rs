//! Signatures with plain keys: Ed25519 and ECDSA P-256.
//!
//! A signature is an artefact about another one, in the form of cosign: a small JSON text with the digest of
//! the signed manifest, and the signature of that text in an annotation. We add the public key, so that the
//! first use can remember it; a signer is known by the SHA-256 of its public key.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair, UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::{Value, json};

use super::error::OciError;
use super::model::{Descriptor, Document, digest_of};
use super::store::{Fetched, Store};

/// The kind of artefact that a signature is.
const SIGNATURE: &str = "application/vnd.dev.cosign.artifact.sig.v1+json";

/// The media type of the signed text.
const PAYLOAD: &str = "application/vnd.dev.cosign.simplesigning.v1+json";

/// The annotation with the signature, in base64.
const SIGNED: &str = "dev.cosignproject.cosign/signature";

/// The annotation with the public key, in base64.
const KEY: &str = "dev.brief.signature/public-key";

/// The kind of statement in the signed text.
const STATEMENT: &str = "cosign container image signature";

/// The limit for the bytes of a signed text.
const PAYLOAD_BYTES: u64 = 64 * 1024;

/// The limit for the signatures of one artefact that are looked at.
const MOST_SIGNATURES: usize = 32;

/// The beginnings of public keys in DER (RFC 5280): the algorithm, before the point.
const ED25519_KEY: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const P256_KEY: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// A key file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file is in another format.
    #[error(
        "it is not an unencrypted PKCS#8 key in PEM; `openssl genpkey -algorithm ed25519` makes one, `openssl pkcs8 -topk8 -nocrypt` converts another"
    )]
    Format,
    /// The key is for another algorithm.
    #[error("it is neither an Ed25519 key nor one for ECDSA with P-256")]
    Algorithm,
}

/// A private key.
pub struct SigningKey(Pair);

enum Pair {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
}

impl SigningKey {
    /// Reads a key file: PKCS#8 in PEM, unencrypted.
    pub fn read(pem: &[u8]) -> Result<SigningKey, KeyError> {
        let text = std::str::from_utf8(pem).map_err(|_| KeyError::Format)?;
        let (_, rest) = text.split_once("-----BEGIN PRIVATE KEY-----").ok_or(KeyError::Format)?;
        let (body, _) = rest.split_once("-----END PRIVATE KEY-----").ok_or(KeyError::Format)?;
        let body: String = body.split_whitespace().collect();
        let der = STANDARD.decode(body).map_err(|_| KeyError::Format)?;
        if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der) {
            return Ok(SigningKey(Pair::Ed25519(pair)));
        }
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &der, &SystemRandom::new())
            .map(|pair| SigningKey(Pair::P256(pair)))
            .map_err(|_| KeyError::Algorithm)
    }

    /// Returns the name of the signer: the SHA-256 of the public key.
    pub fn signer(&self) -> String {
        digest_of(&self.public())
    }

    /// Returns the public key in DER.
    fn public(&self) -> Vec<u8> {
        match &self.0 {
            Pair::Ed25519(pair) => [&ED25519_KEY[..], pair.public_key().as_ref()].concat(),
            Pair::P256(pair) => [&P256_KEY[..], pair.public_key().as_ref()].concat(),
        }
    }

    fn sign(&self, text: &[u8]) -> Option<Vec<u8>> {
        match &self.0 {
            Pair::Ed25519(pair) => Some(pair.sign(text).as_ref().to_vec()),
            Pair::P256(pair) => Some(pair.sign(&SystemRandom::new(), text).ok()?.as_ref().to_vec()),
        }
    }
}

/// Signs an artefact that is in its store, and returns the digest of the signature.
pub(super) fn sign(
    store: &dyn Store,
    repository: &str,
    subject: &Descriptor,
    key: &SigningKey,
) -> Result<String, OciError> {
    let statement = json!({
        "critical": {
            "identity": {"docker-reference": repository.trim_start_matches("oci://")},
            "image": {"docker-manifest-digest": subject.digest},
            "type": STATEMENT,
        },
        "optional": null,
    });
    let payload = statement.to_string().into_bytes();
    let signed = key.sign(&payload).ok_or_else(|| OciError::Shape {
        repository: repository.to_owned(),
        problem: "the system has no random numbers for a signature".to_owned(),
    })?;
    let mut layer = Descriptor::of(PAYLOAD, &payload);
    layer.annotations.insert(SIGNED.to_owned(), STANDARD.encode(signed));
    layer.annotations.insert(KEY.to_owned(), STANDARD.encode(key.public()));
    store.put_blob(&layer.digest, &payload)?;
    let mut manifest = Document::manifest(SIGNATURE, vec![layer]);
    let subject = Descriptor { annotations: BTreeMap::new(), ..subject.clone() };
    manifest.subject = Some(subject);
    store.put_blob(&digest_of(super::model::EMPTY_BYTES), super::model::EMPTY_BYTES)?;
    let manifest = Fetched::made(manifest);
    store.put_manifest(&manifest, None)?;
    Ok(manifest.digest)
}

/// Returns the signers of an artefact whose signatures are valid. Others do not count: everyone who may write
/// to the repository can add one.
pub(super) fn signers(store: &dyn Store, digest: &str) -> Result<BTreeSet<String>, OciError> {
    let mut found = BTreeSet::new();
    let listed = store.referrers(digest)?;
    let is_signature =
        |one: &&Descriptor| one.artifact_type.as_deref().is_none_or(|kind| kind == SIGNATURE);
    for one in listed.iter().filter(is_signature).take(MOST_SIGNATURES) {
        let manifest = match store.manifest(&one.digest) {
            Ok(manifest) => manifest.document,
            // A list may name what was deleted since, or is not a signature.
            Err(OciError::Missing { .. } | OciError::Shape { .. }) => continue,
            Err(error) => return Err(error),
        };
        let is_about = manifest.subject.as_ref().is_some_and(|subject| subject.digest == digest);
        if !is_about || manifest.kind() != Some(SIGNATURE) {
            continue;
        }
        for layer in manifest.layers.iter().flatten().take(MOST_SIGNATURES) {
            if layer.size > PAYLOAD_BYTES || layer.media_type != PAYLOAD {
                continue;
            }
            let payload = match store.blob(layer, PAYLOAD_BYTES) {
                Ok(payload) => payload,
                Err(OciError::Missing { .. }) => continue,
                Err(error) => return Err(error),
            };
            found.extend(signer_of(layer, &payload, digest));
        }
    }
    Ok(found)
}

/// Returns the signer of a text about an artefact, if the signature is valid.
fn signer_of(layer: &Descriptor, payload: &[u8], digest: &str) -> Option<String> {
    let statement: Value = serde_json::from_slice(payload).ok()?;
    let critical = &statement["critical"];
    let is_about = critical["image"]["docker-manifest-digest"].as_str() == Some(digest)
        && critical["type"].as_str() == Some(STATEMENT);
    let decoded = |key: &str| STANDARD.decode(layer.annotations.get(key)?).ok();
    let (key, signed) = (decoded(KEY)?, decoded(SIGNED)?);
    let (algorithm, point): (&dyn VerificationAlgorithm, &[u8]) =
        if let Some(point) = key.strip_prefix(&ED25519_KEY) {
            (&ED25519, point)
        } else {
            (&ECDSA_P256_SHA256_ASN1, key.strip_prefix(&P256_KEY)?)
        };
    let is_signed = UnparsedPublicKey::new(algorithm, point).verify(payload, &signed).is_ok();
    (is_about && is_signed).then(|| digest_of(&key))
}

#[cfg(test)]
mod tests {
    use brief_syntax::system::OsSystem;

    use super::super::layout::Layout;
    use super::super::model::MANIFEST;
    use super::*;

    /// Made with `openssl genpkey -algorithm ed25519`; the signer is that of
    /// `openssl pkey -pubout -outform DER | sha256sum`.
    const ED25519_PEM: &[u8] = b"-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIOYILcPF2MazdbE1XlJQv1YHLaQ0x/FRbLNSeaQXnYFI\n-----END PRIVATE KEY-----\n";
    const ED25519_SIGNER: &str =
        "sha256:44e0b346882148d95e4a7a0d62ba86731d3de381f1403d15d1572b6abdaa1ae5";

    /// Made with `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`.
    const P256_PEM: &[u8] = b"-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZuWF369y8/SHuIzVeJRTBTDCoX3oaX4zKyQzmQA1SFahRANCAARbo7l2XecOC8X3PsV+NdGweXAllpdFXxYFc8/x9KvSPpk6mih2EOYuFVA7LvIiJhNZJoiN5welwwCXgecKpkFJ\n-----END PRIVATE KEY-----\n";
    const P256_SIGNER: &str =
        "sha256:4fce475f15b6237d5777d9c954a23528ae186f9e3c198cb4932fcdf2bded8538";

    #[test]
    fn signers_are_those_that_openssl_computes() {
        assert_eq!(SigningKey::read(ED25519_PEM).ok().unwrap().signer(), ED25519_SIGNER);
        assert_eq!(SigningKey::read(P256_PEM).ok().unwrap().signer(), P256_SIGNER);
        assert_eq!(SigningKey::read(b"nonsense").err(), Some(KeyError::Format));
        let other = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        assert_eq!(SigningKey::read(other).err(), Some(KeyError::Algorithm));
    }

    #[test]
    fn only_valid_signatures_of_the_same_artefact_count() {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::new(&OsSystem, directory.path());
        let artefact = Fetched::made(Document::manifest(super::super::model::ITEM, Vec::new()));
        layout.put_manifest(&artefact, Some("v1")).unwrap();
        let digest = artefact.digest.clone();
        assert!(signers(&layout, &digest).unwrap().is_empty());
        let subject = artefact.descriptor();
        for (pem, count) in [(ED25519_PEM, 1), (P256_PEM, 2)] {
            let key = SigningKey::read(pem).ok().unwrap();
            sign(&layout, "oci://h/a", &subject, &key).unwrap();
            assert_eq!(signers(&layout, &digest).unwrap().len(), count);
        }
        let all = signers(&layout, &digest).unwrap();
        assert!(all.contains(ED25519_SIGNER) && all.contains(P256_SIGNER));
        // The signature of another artefact, listed under this one.
        let other = Document::manifest(super::super::model::BUNDLE, Vec::new());
        let other = Descriptor::of(MANIFEST, &other.to_bytes());
        assert!(signers(&layout, &other.digest).unwrap().is_empty());
    }

    #[test]
    fn a_changed_text_key_or_signature_is_not_valid() {
        let key = SigningKey::read(ED25519_PEM).ok().unwrap();
        let digest = digest_of(b"x");
        let text =
            json!({"critical": {"image": {"docker-manifest-digest": digest}, "type": STATEMENT}});
        let payload = text.to_string().into_bytes();
        let mut layer = Descriptor::of(PAYLOAD, &payload);
        layer.annotations.insert(SIGNED.to_owned(), STANDARD.encode(key.sign(&payload).unwrap()));
        layer.annotations.insert(KEY.to_owned(), STANDARD.encode(key.public()));
        assert_eq!(signer_of(&layer, &payload, &digest).as_deref(), Some(ED25519_SIGNER));
        assert_eq!(signer_of(&layer, &payload, &digest_of(b"y")), None);
        for index in 0..payload.len() {
            let mut changed = payload.clone();
            changed[index] ^= 1;
            assert_eq!(signer_of(&layer, &changed, &digest), None, "{index}");
        }
        for name in [SIGNED, KEY] {
            let mut bytes = STANDARD.decode(&layer.annotations[name]).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            let mut changed = layer.clone();
            changed.annotations.insert(name.to_owned(), STANDARD.encode(bytes));
            assert_eq!(signer_of(&changed, &payload, &digest), None, "{name}");
            changed.annotations.remove(name);
            assert_eq!(signer_of(&changed, &payload, &digest), None, "{name}");
        }
    }
}
