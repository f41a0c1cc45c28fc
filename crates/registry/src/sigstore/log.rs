//! Entries of a transparency log: that the log has promised or included one, and that it is about a signature.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::SigstoreError;
use super::bundle::{LogEntry, Proof};
use super::key::{HashKind, PublicKey, pem_blocks};

/// The signed content, and the key or certificate that has signed it.
pub(super) struct LoggedSignature<'s> {
    /// The hash of what was signed: of an artifact, or of an envelope with its head.
    pub(super) message: &'s [u8],
    /// The hash of the payload of an envelope.
    pub(super) payload: Option<&'s [u8]>,
    pub(super) signature: &'s [u8],
    /// The certificate or the key, in DER.
    pub(super) verifier: &'s [u8],
}

/// Checks an entry, and returns whether its time is signed by the log.
pub(super) fn check_log_entry(
    entry: &LogEntry,
    key: &PublicKey,
    about: &LoggedSignature<'_>,
    is_proof_needed: bool,
) -> Result<bool, SigstoreError> {
    let body: Value = serde_json::from_slice(&entry.canonicalized_body.0)
        .map_err(|_| SigstoreError::Invalid("its log entry is not JSON"))?;
    if !is_about(&body, entry, about) {
        return Err(SigstoreError::Invalid("its log entry belongs to another signature"));
    }
    let is_promised = entry.inclusion_promise.is_some();
    if let Some(promise) = &entry.inclusion_promise
        && !key.has_signed(promised_text(entry).as_bytes(), &promise.signed_entry_timestamp.0)
    {
        return Err(SigstoreError::Invalid("its log entry has an invalid inclusion promise"));
    }
    match &entry.inclusion_proof {
        Some(proof) => check_proof(entry, proof, key)?,
        None if is_proof_needed || !is_promised => {
            return Err(SigstoreError::Invalid("its log entry has no inclusion proof"));
        }
        None => {}
    }
    Ok(is_promised && entry.integrated_time.0 > 0)
}

/// Returns the text that a log signs when it promises to include an entry (canonical JSON).
fn promised_text(entry: &LogEntry) -> String {
    let log = encode_hex(&entry.log_id.key_id.0);
    json!({
        "body": STANDARD.encode(&entry.canonicalized_body.0),
        "integratedTime": entry.integrated_time.0,
        "logID": log,
        "logIndex": entry.log_index.0,
    })
    .to_string()
}

fn encode_hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Checks that a tree with a signed root includes an entry (RFC 6962).
fn check_proof(entry: &LogEntry, proof: &Proof, key: &PublicKey) -> Result<(), SigstoreError> {
    let checkpoint = proof.checkpoint.as_ref();
    let checkpoint =
        checkpoint.ok_or(SigstoreError::Invalid("its inclusion proof has no checkpoint"))?;
    let signed = signed_root(&checkpoint.envelope, &entry.log_id.key_id.0, key)?;
    let size = u64::try_from(proof.tree_size.0).unwrap_or_default();
    let index = u64::try_from(proof.log_index.0).unwrap_or(u64::MAX);
    let is_proven = signed == (size, proof.root_hash.0.clone())
        && root_of(index, size, &entry.canonicalized_body.0, proof)
            .is_some_and(|root| root == proof.root_hash.0);
    is_proven.then_some(()).ok_or(SigstoreError::Invalid("its inclusion proof is invalid"))
}

/// Computes the root of a tree from an entry and the hashes beside its way.
fn root_of(index: u64, size: u64, body: &[u8], proof: &Proof) -> Option<Vec<u8>> {
    if index >= size {
        return None;
    }
    let node =
        |left: &[u8], right: &[u8]| HashKind::Sha256.hash_bytes(&[&[1], left, right].concat());
    let mut hash = HashKind::Sha256.hash_bytes(&[&[0], body].concat());
    let (mut at, mut last) = (index, size - 1);
    for beside in &proof.hashes {
        let beside = &beside.0;
        if last == 0 {
            return None;
        }
        if at & 1 == 1 || at == last {
            hash = node(beside, &hash);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            hash = node(&hash, beside);
        }
        at >>= 1;
        last >>= 1;
    }
    (last == 0).then_some(hash)
}

/// Returns the size and the root of a tree from a checkpoint that the log has signed.
fn signed_root(text: &str, log: &[u8], key: &PublicKey) -> Result<(u64, Vec<u8>), SigstoreError> {
    let malformed = SigstoreError::Invalid("its log checkpoint is unreadable");
    let Some(end) = text.find("\n\n") else { return Err(malformed) };
    let (note, signatures) = (&text[..=end], &text[end + 2..]);
    let signed = signatures.lines().filter_map(|line| {
        let (_, signed) = line.strip_prefix("\u{2014} ")?.split_once(' ')?;
        let bytes = STANDARD.decode(signed).ok()?;
        let (hint, signature) = bytes.split_first_chunk::<4>()?;
        (log.starts_with(hint)).then(|| signature.to_owned())
    });
    // Others may have signed, too.
    if !signed.into_iter().any(|signature| key.has_signed(note.as_bytes(), &signature)) {
        return Err(SigstoreError::Invalid("its log checkpoint is not signed by the log"));
    }
    let mut lines = note.lines();
    let origin = lines.next().filter(|line| !line.is_empty());
    let size = lines.next().and_then(|line| line.parse().ok());
    let root = lines.next().and_then(|line| STANDARD.decode(line).ok());
    match (origin, size, root) {
        (Some(_), Some(size), Some(root)) => Ok((size, root)),
        _ => Err(malformed),
    }
}

/// Returns whether the body of an entry is about a signature.
fn is_about(body: &Value, entry: &LogEntry, about: &LoggedSignature<'_>) -> bool {
    let (kind, version) = (&entry.kind_version.kind, &entry.kind_version.version);
    if body["kind"].as_str() != Some(kind) || body["apiVersion"].as_str() != Some(version) {
        return false;
    }
    let spec = &body["spec"];
    let is_hex = |value: &Value, hash: &[u8]| value.as_str() == Some(encode_hex(hash).as_str());
    let base64 = |value: &Value| value.as_str().and_then(|text| STANDARD.decode(text).ok());
    let is_hash = |value: &Value, hash: &[u8]| base64(value).as_deref() == Some(hash);
    let is_signature = |value: &Value| base64(value).as_deref() == Some(about.signature);
    // Older entries have the certificate or key as PEM, newer ones as DER.
    let is_pem = |value: &Value| {
        let text = base64(value).and_then(|bytes| String::from_utf8(bytes).ok());
        let text = text.unwrap_or_default();
        let mut blocks = ["CERTIFICATE", "PUBLIC KEY"].into_iter().filter_map(|label| {
            pem_blocks(&text, label).and_then(|blocks| blocks.into_iter().next())
        });
        blocks.next().as_deref() == Some(about.verifier)
    };
    let is_verifier = |value: &Value| {
        let raw = ["x509Certificate", "publicKey"].map(|kind| base64(&value[kind]["rawBytes"]));
        raw.into_iter().flatten().next().as_deref() == Some(about.verifier)
    };
    let only =
        |value: &Value| value.as_array().filter(|list| list.len() == 1).map(|list| list[0].clone());
    match (about.payload, kind.as_str(), version.as_str()) {
        (None, "hashedrekord", "0.0.1") => {
            is_hex(&spec["data"]["hash"]["value"], about.message)
                && is_signature(&spec["signature"]["content"])
                && is_pem(&spec["signature"]["publicKey"]["content"])
        }
        (_, "hashedrekord", "0.0.2") => {
            let spec = &spec["hashedRekordV002"];
            is_hash(&spec["data"]["digest"], about.message)
                && is_signature(&spec["signature"]["content"])
                && is_verifier(&spec["signature"]["verifier"])
        }
        (Some(payload), "dsse", "0.0.1") => only(&spec["signatures"]).is_some_and(|one| {
            is_hex(&spec["payloadHash"]["value"], payload)
                && is_signature(&one["signature"])
                && is_pem(&one["verifier"])
        }),
        (Some(payload), "dsse", "0.0.2") => {
            let spec = &spec["dsseV002"];
            only(&spec["signatures"]).is_some_and(|one| {
                is_hash(&spec["payloadHash"]["digest"], payload)
                    && is_signature(&one["content"])
                    && is_verifier(&one["verifier"])
            })
        }
        (Some(payload), "intoto", "0.0.2") => {
            let content = &spec["content"];
            only(&content["envelope"]["signatures"]).is_some_and(|one| {
                // It is encoded twice.
                let inner = base64(&one["sig"]).and_then(|text| String::from_utf8(text).ok());
                is_hex(&content["payloadHash"]["value"], payload)
                    && is_signature(&Value::from(inner.unwrap_or_default()))
                    && is_pem(&one["publicKey"])
            })
        }
        _ => false,
    }
}
