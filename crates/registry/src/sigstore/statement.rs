//! The content that a bundle signs: an artifact itself, or a statement about it (DSSE with in-toto); and how we write the latter.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use super::bundle::{BUNDLE, Bundle};
use super::key::{HashKind, PublicKey};
use super::{Signed, SigstoreError};

/// The media type of a statement.
const STATEMENT: &str = "application/vnd.in-toto+json";

/// The versions of a statement; we write the first.
const TYPES: [&str; 2] = ["https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0.1"];

/// The statements that count as a signature: cosign's, which we write, and those of a build. Others, such as the
/// report of a scan, say something about an artifact, and not that it is meant to be used.
const PREDICATES: [&str; 3] = [
    "https://sigstore.dev/cosign/sign/v1",
    "https://slsa.dev/provenance/v1",
    "https://slsa.dev/provenance/v0.2",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    #[serde(default)]
    subject: Vec<Subject>,
    predicate_type: String,
}

#[derive(Deserialize)]
struct Subject {
    digest: std::collections::BTreeMap<String, String>,
}

/// Returns what a bundle signs, if that is about this artifact.
pub(super) fn parse_signed_content<'b>(
    bundle: &'b Bundle,
    artifact: &'b [u8],
) -> Result<Signed<'b>, SigstoreError> {
    match (&bundle.dsse_envelope, &bundle.message_signature) {
        (Some(envelope), None) => {
            let [signature] = envelope.signatures.as_slice() else {
                return Err(SigstoreError::Invalid("its envelope must have exactly one signature"));
            };
            let payload = &envelope.payload.0;
            let statement: Statement = Some(&envelope.payload_type)
                .filter(|kind| *kind == STATEMENT)
                .and_then(|_| serde_json::from_slice(payload).ok())
                .filter(|statement: &Statement| TYPES.contains(&statement.kind.as_str()))
                .ok_or(SigstoreError::Invalid("its envelope has no known statement"))?;
            let own = brief_system::hash::sha256(artifact);
            let is_own = |subject: &Subject| subject.digest.get("sha256") == Some(&own);
            if !statement.subject.iter().any(is_own) {
                return Err(SigstoreError::Invalid("its statement has a different subject"));
            }
            if !PREDICATES.contains(&statement.predicate_type.as_str()) {
                return Err(SigstoreError::Invalid(
                    "its statement is neither a signature nor build provenance",
                ));
            }
            Ok(Signed {
                message: to_be_signed(&envelope.payload_type, payload),
                payload: Some(payload),
                signature: &signature.sig.0,
            })
        }
        (None, Some(message)) => {
            let digest = message.message_digest.as_ref();
            let is_about = digest.is_none_or(|digest| {
                let hash = match digest.algorithm.as_str() {
                    "SHA2_256" => HashKind::Sha256,
                    "SHA2_384" => HashKind::Sha384,
                    "SHA2_512" => HashKind::Sha512,
                    _ => return false,
                };
                digest.digest.0 == hash.hash_bytes(artifact)
            });
            if !is_about {
                return Err(SigstoreError::Invalid("its signature is for different content"));
            }
            Ok(Signed {
                message: artifact.to_owned(),
                payload: None,
                signature: &message.signature.0,
            })
        }
        _ => Err(SigstoreError::Invalid("its bundle must have exactly one signature")),
    }
}

/// Returns the bytes that the signature of an envelope is made of (DSSE, version 1).
fn to_be_signed(kind: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// Returns the name of a key in a bundle, as cosign writes it.
pub(super) fn key_hint(key: &PublicKey) -> String {
    STANDARD.encode(HashKind::Sha256.hash_bytes(&key.der))
}

/// Makes a bundle about an artifact with a plain key.
pub(crate) fn signed_bundle(
    artifact: &str,
    key: &PublicKey,
    sign: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
) -> Option<Value> {
    let digits = artifact.trim_start_matches("sha256:");
    let statement = json!({
        "_type": TYPES[0],
        "subject": [{"digest": {"sha256": digits}}],
        "predicateType": PREDICATES[0],
        "predicate": {},
    });
    let payload = statement.to_string().into_bytes();
    let signature = sign(&to_be_signed(STATEMENT, &payload))?;
    Some(json!({
        "mediaType": BUNDLE,
        "verificationMaterial": {"publicKey": {"hint": key_hint(key)}, "tlogEntries": []},
        "dsseEnvelope": {
            "payload": STANDARD.encode(payload),
            "payloadType": STATEMENT,
            "signatures": [{"sig": STANDARD.encode(signature)}],
        },
    }))
}
