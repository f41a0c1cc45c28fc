//! Public keys, and the signatures that they verify.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{self, Algorithm};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1,
    ED25519, UnparsedPublicKey, VerificationAlgorithm,
};

use super::der::{BIT_STRING, OBJECT, SEQUENCE, Value};

/// The algorithms of keys (RFC 8410, RFC 5480).
const ED25519_KEY: &[u8] = &[0x2b, 0x65, 0x70];
const EC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    Ed25519,
    P256,
    P384,
}

/// The hash function below a signature of an elliptic curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HashKind {
    Sha256,
    Sha384,
    Sha512,
}

impl HashKind {
    pub(super) fn algorithm(self) -> &'static Algorithm {
        match self {
            HashKind::Sha256 => &digest::SHA256,
            HashKind::Sha384 => &digest::SHA384,
            HashKind::Sha512 => &digest::SHA512,
        }
    }

    pub(super) fn hash_bytes(self, bytes: &[u8]) -> Vec<u8> {
        digest::digest(self.algorithm(), bytes).as_ref().to_vec()
    }
}

/// A public key: Ed25519, or ECDSA with P-256 or P-384.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicKey {
    /// The whole in DER (`SubjectPublicKeyInfo`).
    pub(crate) der: Vec<u8>,
    kind: KeyKind,
    point: Vec<u8>,
}

impl PublicKey {
    /// Reads a key in DER.
    pub(crate) fn parse_der(der: &[u8]) -> Option<PublicKey> {
        let mut parts = Value::parse_single(der, SEQUENCE)?.values();
        let mut algorithm = parts.next_tagged(SEQUENCE)?.values();
        let kind = match algorithm.next_tagged(OBJECT)?.content {
            ED25519_KEY => KeyKind::Ed25519,
            EC_KEY => match algorithm.next_tagged(OBJECT)?.content {
                P256 => KeyKind::P256,
                P384 => KeyKind::P384,
                _ => return None,
            },
            _ => return None,
        };
        // The first byte counts the unused bits.
        let point = parts.next_tagged(BIT_STRING)?.content.strip_prefix(&[0])?;
        parts.0.is_empty().then(|| PublicKey { der: der.to_owned(), kind, point: point.to_owned() })
    }

    /// Returns the name of the key: the SHA-256 of its DER.
    pub(crate) fn fingerprint(&self) -> String {
        format!("sha256:{}", brief_system::hash::sha256(&self.der))
    }

    /// Returns the hash function that goes with the key.
    pub(crate) fn hash(&self) -> HashKind {
        match self.kind {
            KeyKind::Ed25519 | KeyKind::P256 => HashKind::Sha256,
            KeyKind::P384 => HashKind::Sha384,
        }
    }

    /// Returns whether a signature is valid.
    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        self.has_signed_by(self.hash(), message, signature)
    }

    pub(super) fn has_signed_by(&self, hash: HashKind, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &dyn VerificationAlgorithm = match (self.kind, hash) {
            (KeyKind::Ed25519, _) => &ED25519,
            (KeyKind::P256, HashKind::Sha256) => &ECDSA_P256_SHA256_ASN1,
            (KeyKind::P256, HashKind::Sha384) => &ECDSA_P256_SHA384_ASN1,
            (KeyKind::P384, HashKind::Sha256) => &ECDSA_P384_SHA256_ASN1,
            (KeyKind::P384, HashKind::Sha384) => &ECDSA_P384_SHA384_ASN1,
            (_, HashKind::Sha512) => return false,
        };
        UnparsedPublicKey::new(algorithm, &self.point).verify(message, signature).is_ok()
    }
}

/// Returns the content of the blocks of a PEM text with this label.
pub(crate) fn pem_blocks(text: &str, label: &str) -> Option<Vec<Vec<u8>>> {
    let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
    let blocks = text.split(begin.as_str()).skip(1);
    let block = |text: &str| {
        let body: String = text.split_once(end.as_str())?.0.split_whitespace().collect();
        STANDARD.decode(body).ok()
    };
    blocks.map(block).collect()
}
