//! Manifests and indexes, as far as artifacts with guidance need them.

use std::collections::BTreeMap;

use brief_system::hash::sha256;
use serde::{Deserialize, Serialize};

use super::reference::is_digest;
use crate::address::one_line;

pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const EMPTY: &str = "application/vnd.oci.empty.v1+json";
pub(crate) const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";

/// The content of the empty descriptor, from the image specification.
pub(crate) const EMPTY_BYTES: &[u8] = b"{}";

/// Our own kinds of artifacts.
pub(crate) const ITEM: &str = "application/vnd.brief.item.v1";
pub(crate) const BUNDLE: &str = "application/vnd.brief.bundle.v1";
pub(crate) const SOURCE: &str = "application/vnd.brief.source.v1";

/// Kinds of artifacts of others that carry a skill.
pub(crate) const SKILLS: [&str; 5] = [
    "application/vnd.agentskills.skill.v1",
    "application/vnd.agentskills.skill.v1+json",
    "application/vnd.agent.skill.v1+json",
    "application/vnd.cncf.skill.manifest.v1+json",
    "dev.toolhive.skills.v1",
];

pub(crate) const TITLE: &str = "org.opencontainers.image.title";
pub(crate) const VERSION: &str = "org.opencontainers.image.version";
pub(crate) const CREATED: &str = "org.opencontainers.image.created";
pub(crate) const REVISION: &str = "org.opencontainers.image.revision";
pub(crate) const ORIGIN: &str = "org.opencontainers.image.source";

/// The limit for the bytes of a manifest, which is that of most registries.
pub(crate) const MANIFEST_BYTES: u64 = 4 * 1024 * 1024;

/// The limit for the artifacts of an index, and for the layers of an artifact.
pub(crate) const MOST_PARTS: usize = 10_000;

/// A reference to content by its digest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    pub(crate) media_type: String,
    pub(crate) digest: String,
    pub(crate) size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) artifact_type: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) annotations: BTreeMap<String, String>,
}

impl Descriptor {
    pub(crate) fn from_bytes(media_type: &str, bytes: &[u8]) -> Descriptor {
        Descriptor {
            media_type: media_type.to_owned(),
            digest: digest_of(bytes),
            size: bytes.len() as u64,
            ..Descriptor::default()
        }
    }
}

/// A manifest or an index: which one, its media type says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document {
    pub(crate) schema_version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) artifact_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) config: Option<Descriptor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) layers: Option<Vec<Descriptor>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) manifests: Option<Vec<Descriptor>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<Descriptor>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) annotations: BTreeMap<String, String>,
}

impl Document {
    /// Makes a manifest without a config.
    pub(crate) fn new_manifest(artifact_type: &str, layers: Vec<Descriptor>) -> Document {
        Document {
            schema_version: 2,
            media_type: Some(MANIFEST.to_owned()),
            artifact_type: Some(artifact_type.to_owned()),
            config: Some(Descriptor::from_bytes(EMPTY, EMPTY_BYTES)),
            layers: Some(layers),
            ..Document::default()
        }
    }

    pub(crate) fn new_index(artifact_type: Option<&str>, manifests: Vec<Descriptor>) -> Document {
        Document {
            schema_version: 2,
            media_type: Some(INDEX.to_owned()),
            artifact_type: artifact_type.map(str::to_owned),
            manifests: Some(manifests),
            ..Document::default()
        }
    }

    /// Parses a document. The error is a message.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Document, String> {
        let document: Document =
            serde_json::from_slice(bytes).map_err(|error| format!("invalid manifest: {error}"))?;
        if document.schema_version != 2 {
            return Err(format!(
                "unsupported manifest version {}; brief supports version 2",
                document.schema_version
            ));
        }
        let parts = document.layers.iter().chain(&document.manifests).flatten();
        let mut count = 0;
        for part in parts.chain(&document.config).chain(&document.subject) {
            count += 1;
            if !is_digest(&part.digest) {
                return Err(format!("`{}` is not a SHA-256 digest", one_line(&part.digest)));
            }
        }
        if count > MOST_PARTS {
            return Err(format!("has more than {MOST_PARTS} parts"));
        }
        Ok(document)
    }

    /// Returns the bytes. Equal documents give equal bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("texts and numbers are always valid JSON")
    }

    pub(crate) fn is_index(&self) -> bool {
        match &self.media_type {
            Some(media_type) => media_type == INDEX,
            None => self.manifests.is_some(),
        }
    }

    /// Returns the kind of artifact: what the manifest says, else the media type of its config.
    pub(crate) fn kind(&self) -> Option<&str> {
        let config = self.config.as_ref().map(|config| config.media_type.as_str());
        self.artifact_type.as_deref().or(config)
    }

    pub(crate) fn find_annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key).map(String::as_str)
    }
}

pub(crate) fn digest_of(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256(bytes))
}
