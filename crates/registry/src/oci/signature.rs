//! Signatures of artifacts: Sigstore's bundles, each an artifact about another one.
//!
//! We sign with plain keys, Ed25519 and ECDSA P-256, and put the public key beside the bundle, so that the first use can
//! remember it. Bundles of other tools are read the same way. Nothing is verified here: that depends on the trust roots, which
//! may change after an artifact was fetched.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use serde::{Deserialize, Serialize};

use super::error::OciError;
use super::model::{Descriptor, Document, EMPTY_BYTES, digest_of};
use super::store::{Fetched, Store};
use crate::sigstore::{BUNDLE, PublicKey, pem_blocks, signed_bundle, version_of};

/// The annotation with the public key, in base64.
const KEY: &str = "dev.brief.signature/public-key";

/// The limit for the bytes of a bundle of Sigstore.
pub const MOST_BUNDLE_BYTES: u64 = 64 * 1024;

/// The limit for the signatures of one artifact that are looked at.
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
        "is not an unencrypted PKCS#8 key in PEM; run `openssl genpkey -algorithm ed25519` to create one, or `openssl pkcs8 -topk8 -nocrypt` to convert a key"
    )]
    Format,
    /// The key is for another algorithm.
    #[error("is neither an Ed25519 key nor an ECDSA P-256 key")]
    Algorithm,
}

pub struct SigningKey(Pair);

enum Pair {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
}

impl SigningKey {
    /// Reads a key file: PKCS#8 in PEM, unencrypted.
    pub fn parse_pem(pem: &[u8]) -> Result<SigningKey, KeyError> {
        let text = std::str::from_utf8(pem).map_err(|_| KeyError::Format)?;
        let blocks = pem_blocks(text, "PRIVATE KEY").ok_or(KeyError::Format)?;
        let der = blocks.into_iter().next().ok_or(KeyError::Format)?;
        if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der) {
            return Ok(SigningKey(Pair::Ed25519(pair)));
        }
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &der, &SystemRandom::new())
            .map(|pair| SigningKey(Pair::P256(pair)))
            .map_err(|_| KeyError::Algorithm)
    }

    /// Returns the name of the signer: the SHA-256 of the public key.
    pub fn signer(&self) -> String {
        self.public_key().fingerprint()
    }

    /// Returns the public key as PEM.
    pub fn public_key_pem(&self) -> String {
        let text = STANDARD.encode(self.public_key_der());
        let lines = text.as_bytes().chunks(64).map(String::from_utf8_lossy);
        let lines = lines.map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
        format!("-----BEGIN PUBLIC KEY-----\n{lines}-----END PUBLIC KEY-----\n")
    }

    fn public_key(&self) -> PublicKey {
        PublicKey::parse_der(&self.public_key_der()).expect("the head is that of a public key")
    }

    fn public_key_der(&self) -> Vec<u8> {
        match &self.0 {
            Pair::Ed25519(pair) => [&ED25519_KEY[..], pair.public_key().as_ref()].concat(),
            Pair::P256(pair) => [&P256_KEY[..], pair.public_key().as_ref()].concat(),
        }
    }

    /// Signs a text: Ed25519, or ECDSA P-256 over its SHA-256 in DER. `None` if the system has no random numbers.
    pub fn sign(&self, text: &[u8]) -> Option<Vec<u8>> {
        match &self.0 {
            Pair::Ed25519(pair) => Some(pair.sign(text).as_ref().to_vec()),
            Pair::P256(pair) => Some(pair.sign(&SystemRandom::new(), text).ok()?.as_ref().to_vec()),
        }
    }
}

/// A bundle as it was found, with the key beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    pub(crate) bundle: String,
    key: Option<String>,
}

impl Evidence {
    /// Returns the public key beside the bundle.
    pub(crate) fn public_key(&self) -> Option<PublicKey> {
        PublicKey::parse_der(&STANDARD.decode(self.key.as_ref()?).ok()?)
    }
}

/// Signs an artifact that is in its store, and returns the digest of the signature.
pub(super) fn sign_artifact(
    store: &dyn Store,
    repository: &str,
    subject: &Descriptor,
    key: &SigningKey,
) -> Result<String, OciError> {
    let public = key.public_key();
    let bundle = signed_bundle(&subject.digest, &public, |text| key.sign(text));
    let bundle = bundle.ok_or_else(|| {
        OciError::wrong_shape(repository, "cannot sign: the system has no source of random numbers")
    })?;
    attach_bundle(store, subject, bundle.to_string().as_bytes(), Some(&public))
}

/// Adds a bundle to an artifact that is in its store, and returns the digest of the addition.
pub(super) fn attach_bundle(
    store: &dyn Store,
    subject: &Descriptor,
    bundle: &[u8],
    key: Option<&PublicKey>,
) -> Result<String, OciError> {
    let mut layer = Descriptor::from_bytes(BUNDLE, bundle);
    layer.annotations.extend(key.map(|key| (KEY.to_owned(), STANDARD.encode(&key.der))));
    store.put_blob(&layer.digest, bundle)?;
    let mut manifest = Document::new_manifest(BUNDLE, vec![layer]);
    manifest.subject = Some(Descriptor { annotations: BTreeMap::new(), ..subject.clone() });
    store.put_blob(&digest_of(EMPTY_BYTES), EMPTY_BYTES)?;
    let manifest = Fetched::from_document(manifest);
    store.put_manifest(&manifest, None)?;
    Ok(manifest.digest)
}

/// Returns the bundles about an artifact. None of them is verified: everyone with write access to the repository can add
/// one.
pub(super) fn fetch_evidence(store: &dyn Store, digest: &str) -> Result<Vec<Evidence>, OciError> {
    let mut found = Vec::new();
    let listed = store.list_referrers(digest)?;
    let is_bundle = |one: &&Descriptor| {
        one.artifact_type.as_deref().is_none_or(|kind| version_of(kind).is_some())
    };
    for one in listed.iter().filter(is_bundle).take(MOST_SIGNATURES) {
        let manifest = match store.read_manifest(&one.digest) {
            Ok(manifest) => manifest.document,
            // A list may name what was deleted since, or is not a signature.
            Err(OciError::Missing { .. } | OciError::Shape { .. }) => continue,
            Err(error) => return Err(error),
        };
        if manifest.subject.as_ref().is_none_or(|subject| subject.digest != digest) {
            continue;
        }
        let layers = manifest.layers.iter().flatten();
        let bundles = layers.filter(|layer| {
            layer.size <= MOST_BUNDLE_BYTES && version_of(&layer.media_type).is_some()
        });
        for layer in bundles.take(MOST_SIGNATURES - found.len()) {
            let bytes = OciError::if_present(store.read_blob(layer, MOST_BUNDLE_BYTES))?;
            let bundle = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            let key = layer.annotations.get(KEY).cloned();
            found.extend(bundle.map(|bundle| Evidence { bundle, key }));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::SystemTime;

    use brief_system::OsSystem;

    use super::super::layout::Layout;
    use super::super::model::MANIFEST;
    use super::*;
    use crate::sigstore::Trust;

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
        assert_eq!(SigningKey::parse_pem(ED25519_PEM).ok().unwrap().signer(), ED25519_SIGNER);
        assert_eq!(SigningKey::parse_pem(P256_PEM).ok().unwrap().signer(), P256_SIGNER);
        assert_eq!(SigningKey::parse_pem(b"nonsense").err(), Some(KeyError::Format));
        let other = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        assert_eq!(SigningKey::parse_pem(other).err(), Some(KeyError::Algorithm));
    }

    fn signers(store: &dyn Store, artifact: &Fetched) -> BTreeSet<String> {
        let found = fetch_evidence(store, &artifact.digest).unwrap();
        let trust = Trust::default();
        let verified = found.iter().filter_map(|one| {
            let key = one.public_key();
            let now = SystemTime::UNIX_EPOCH;
            trust.verify_bundle(&one.bundle, &artifact.bytes, key.as_ref(), now).ok()
        });
        verified.map(|one| one.signer.to_string()).collect()
    }

    #[test]
    fn only_valid_signatures_of_the_same_artifact_count() {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::new(&OsSystem, directory.path());
        let artifact =
            Fetched::from_document(Document::new_manifest(super::super::model::ITEM, Vec::new()));
        layout.put_manifest(&artifact, Some("v1")).unwrap();
        assert!(signers(&layout, &artifact).is_empty());
        let subject = artifact.descriptor();
        for (pem, count) in [(ED25519_PEM, 1), (P256_PEM, 2)] {
            let key = SigningKey::parse_pem(pem).ok().unwrap();
            sign_artifact(&layout, "oci://h/a", &subject, &key).unwrap();
            assert_eq!(signers(&layout, &artifact).len(), count);
        }
        let all = signers(&layout, &artifact);
        assert!(all.contains(ED25519_SIGNER) && all.contains(P256_SIGNER));
        // The bundle of one artifact, added to another one.
        let other =
            Fetched::from_document(Document::new_manifest(super::super::model::BUNDLE, Vec::new()));
        layout.put_manifest(&other, Some("v2")).unwrap();
        assert!(signers(&layout, &other).is_empty());
        let bundle = fetch_evidence(&layout, &artifact.digest).unwrap().remove(0);
        let key = bundle.public_key();
        let about = Descriptor::from_bytes(MANIFEST, &other.bytes);
        attach_bundle(&layout, &about, bundle.bundle.as_bytes(), key.as_ref()).unwrap();
        assert_eq!(fetch_evidence(&layout, &other.digest).unwrap().len(), 1);
        assert!(signers(&layout, &other).is_empty());
    }
}
