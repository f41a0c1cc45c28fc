//! The JSON of Sigstore's bundles and trust roots, as far as it is needed.
//!
//! It is the JSON form of protocol buffers: numbers may be texts, and bytes are texts in base64.

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The media type of bundles that we write.
pub(crate) const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";

/// The media types of bundles that we read, with the number after `0.`.
const VERSIONS: [(&str, u32); 4] = [
    (BUNDLE, 3),
    ("application/vnd.dev.sigstore.bundle+json;version=0.3", 3),
    ("application/vnd.dev.sigstore.bundle+json;version=0.2", 2),
    ("application/vnd.dev.sigstore.bundle+json;version=0.1", 1),
];

/// Returns the version of a bundle with this media type, if it is one that is known.
pub(crate) fn version_of(media_type: &str) -> Option<u32> {
    VERSIONS.into_iter().find(|(known, _)| *known == media_type).map(|(_, version)| version)
}

/// Bytes in base64.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Base64(pub(crate) Vec<u8>);

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Base64, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Base64).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

/// A number, which may be a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Number(pub(crate) i64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(i64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(Number(number)),
            Written::Text(text) => text.parse().map(Number).map_err(serde::de::Error::custom),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Bundle {
    pub(crate) media_type: String,
    pub(crate) verification_material: Material,
    pub(crate) dsse_envelope: Option<Envelope>,
    pub(crate) message_signature: Option<MessageSignature>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Material {
    pub(crate) public_key: Option<Hint>,
    pub(crate) certificate: Option<Raw>,
    pub(crate) x509_certificate_chain: Option<Chain>,
    #[serde(default)]
    pub(crate) tlog_entries: Vec<LogEntry>,
    pub(crate) timestamp_verification_data: Option<Timestamps>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Hint {
    #[serde(default)]
    pub(crate) hint: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Raw {
    pub(crate) raw_bytes: Base64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Chain {
    #[serde(default)]
    pub(crate) certificates: Vec<Raw>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Timestamps {
    #[serde(default)]
    pub(crate) rfc3161_timestamps: Vec<Timestamp>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Timestamp {
    pub(crate) signed_timestamp: Base64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Envelope {
    pub(crate) payload: Base64,
    pub(crate) payload_type: String,
    #[serde(default)]
    pub(crate) signatures: Vec<EnvelopeSignature>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EnvelopeSignature {
    pub(crate) sig: Base64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageSignature {
    pub(crate) message_digest: Option<MessageDigest>,
    pub(crate) signature: Base64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct MessageDigest {
    pub(crate) algorithm: String,
    pub(crate) digest: Base64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogEntry {
    #[serde(default)]
    pub(crate) log_index: Number,
    pub(crate) log_id: LogId,
    pub(crate) kind_version: KindVersion,
    #[serde(default)]
    pub(crate) integrated_time: Number,
    pub(crate) inclusion_promise: Option<Promise>,
    pub(crate) inclusion_proof: Option<Proof>,
    pub(crate) canonicalized_body: Base64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogId {
    pub(crate) key_id: Base64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct KindVersion {
    pub(crate) kind: String,
    pub(crate) version: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Promise {
    pub(crate) signed_entry_timestamp: Base64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Proof {
    #[serde(default)]
    pub(crate) log_index: Number,
    pub(crate) root_hash: Base64,
    pub(crate) tree_size: Number,
    #[serde(default)]
    pub(crate) hashes: Vec<Base64>,
    pub(crate) checkpoint: Option<Checkpoint>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Checkpoint {
    pub(crate) envelope: String,
}

/// A trust root, as Sigstore distributes it (`trusted_root.json`).
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrustedRoot {
    pub(crate) media_type: String,
    #[serde(default)]
    pub(crate) tlogs: Vec<TrustedLog>,
    #[serde(default)]
    pub(crate) certificate_authorities: Vec<Authority>,
    #[serde(default)]
    pub(crate) ctlogs: Vec<TrustedLog>,
    #[serde(default)]
    pub(crate) timestamp_authorities: Vec<Authority>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrustedLog {
    pub(crate) public_key: LogKey,
    pub(crate) log_id: LogId,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogKey {
    pub(crate) raw_bytes: Base64,
    #[serde(default)]
    pub(crate) valid_for: Period,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Authority {
    pub(crate) cert_chain: Chain,
    #[serde(default)]
    pub(crate) valid_for: Period,
}

/// A period, open at its end where nothing is said. Without a beginning it contains nothing.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Period {
    #[serde(default, deserialize_with = "time")]
    pub(crate) start: Option<SystemTime>,
    #[serde(default, deserialize_with = "time")]
    pub(crate) end: Option<SystemTime>,
}

impl Period {
    pub(crate) fn contains(&self, time: SystemTime) -> bool {
        self.start.is_some_and(|start| start <= time) && self.end.is_none_or(|end| time <= end)
    }
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SystemTime>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    let read = |text: String| humantime::parse_rfc3339(&text).map_err(serde::de::Error::custom);
    text.map(read).transpose()
}
