//! Artifacts in a directory: the image layout of the specification, for places without a network.

use std::path::{Path, PathBuf};

use brief_system::{ReadError, System};
use serde_json::json;

use super::error::OciError;
use super::model::{Descriptor, Document, MANIFEST, MANIFEST_BYTES};
use super::reference::is_digest;
use super::store::{Fetched, Store, verify_digest};
use crate::outputs::if_there;

/// The annotation with the tag of an artifact, from the specification.
const NAME: &str = "org.opencontainers.image.ref.name";

/// The limit for the tags of a directory.
const MOST_ENTRIES: usize = 100_000;

/// A directory with artifacts of one repository.
pub(crate) struct Layout<'s> {
    system: &'s dyn System,
    directory: PathBuf,
    shown: String,
}

impl<'s> Layout<'s> {
    pub(crate) fn new(system: &'s dyn System, directory: &Path) -> Layout<'s> {
        let shown = format!("{}{}", super::reference::LAYOUT, directory.display());
        Layout { system, directory: directory.to_owned(), shown }
    }

    fn blob_path(&self, digest: &str) -> PathBuf {
        let (kind, digits) = digest.split_once(':').unwrap_or(("sha256", digest));
        self.directory.join("blobs").join(kind).join(digits)
    }

    fn read_file(
        &self,
        path: &Path,
        what: &'static str,
        limit: u64,
    ) -> Result<Option<Vec<u8>>, OciError> {
        if_there(self.system.read(path, limit)).map_err(|error| match error {
            ReadError::TooLarge { .. } => OciError::too_large(&self.shown, what, limit),
            error => disk_error(path, &error),
        })
    }

    fn read_content(
        &self,
        digest: &str,
        what: &'static str,
        limit: u64,
    ) -> Result<Vec<u8>, OciError> {
        let bytes = self.read_file(&self.blob_path(digest), what, limit)?;
        let bytes = bytes.ok_or_else(|| self.missing_error(digest))?;
        verify_digest(&self.shown, digest, bytes)
    }

    fn missing_error(&self, reference: &str) -> OciError {
        OciError::Missing { repository: self.shown.clone(), reference: reference.to_owned() }
    }

    /// Returns the list of artifacts; empty if there is none yet.
    fn read_index(&self) -> Result<Option<Document>, OciError> {
        let limit = MANIFEST_BYTES * 8;
        let Some(bytes) = self.read_file(&self.directory.join("index.json"), "the index", limit)?
        else {
            return Ok(None);
        };
        Document::parse(&bytes)
            .map(Some)
            .map_err(|problem| OciError::wrong_shape(&self.shown, problem))
    }

    fn read_entries(&self) -> Result<Vec<Descriptor>, OciError> {
        let problem = "is not an image layout (no `index.json`)";
        let index =
            self.read_index()?.ok_or_else(|| OciError::wrong_shape(&self.shown, problem))?;
        Ok(index.manifests.unwrap_or_default())
    }

    fn write_file(&self, path: &Path, bytes: &[u8]) -> Result<(), OciError> {
        if let Some(parent) = path.parent() {
            self.system.create_dir(parent).map_err(|error| disk_error(parent, &error))?;
        }
        self.system.replace_file(path, bytes).map_err(|error| disk_error(path, &error))
    }
}

impl Store for Layout<'_> {
    fn resolve_tag(&self, tag: &str) -> Result<String, OciError> {
        let entries = self.read_entries()?;
        let named =
            |entry: &&Descriptor| entry.annotations.get(NAME).is_some_and(|name| name == tag);
        let found = entries.iter().find(named);
        found.map(|entry| entry.digest.clone()).ok_or_else(|| self.missing_error(tag))
    }

    fn read_manifest(&self, reference: &str) -> Result<Fetched, OciError> {
        let digest =
            if is_digest(reference) { reference.to_owned() } else { self.resolve_tag(reference)? };
        Fetched::new(&self.shown, self.read_content(&digest, "the manifest", MANIFEST_BYTES)?)
    }

    fn read_blob(&self, descriptor: &Descriptor, limit: u64) -> Result<Vec<u8>, OciError> {
        self.read_content(&descriptor.digest, "a layer", limit)
    }

    fn list_tags(&self) -> Result<Vec<String>, OciError> {
        let entries = self.read_entries()?;
        Ok(entries.iter().filter_map(|entry| entry.annotations.get(NAME).cloned()).collect())
    }

    fn list_referrers(&self, digest: &str) -> Result<Vec<Descriptor>, OciError> {
        let mut found = Vec::new();
        let entries = self.read_entries()?;
        for entry in entries.iter().filter(|entry| entry.media_type == MANIFEST) {
            // An entry without a name may be about another artifact; one with a name is an artifact itself.
            if entry.annotations.contains_key(NAME) {
                continue;
            }
            let manifest = self.read_manifest(&entry.digest)?;
            if manifest.document.subject.as_ref().is_some_and(|subject| subject.digest == digest) {
                let artifact_type = manifest.document.kind().map(str::to_owned);
                found.push(Descriptor { artifact_type, ..entry.clone() });
            }
        }
        Ok(found)
    }

    fn put_blob(&self, digest: &str, bytes: &[u8]) -> Result<(), OciError> {
        let path = self.blob_path(digest);
        if self.system.read(&path, bytes.len() as u64).is_ok_and(|known| known == bytes) {
            return Ok(());
        }
        self.write_file(&path, bytes)
    }

    fn put_manifest(&self, manifest: &Fetched, tag: Option<&str>) -> Result<(), OciError> {
        let digest = &manifest.digest;
        self.put_blob(digest, &manifest.bytes)?;
        if tag.is_none() && manifest.document.subject.is_none() {
            return Ok(());
        }
        let marker = self.directory.join("oci-layout");
        if self.read_file(&marker, "the marker", 1024)?.is_none() {
            let text = json!({"imageLayoutVersion": "1.0.0"}).to_string();
            self.write_file(&marker, text.as_bytes())?;
        }
        // The list comes last: what it names is there.
        let _lock = self
            .system
            .lock(&self.directory.join(".brief-lock"))
            .map_err(|error| disk_error(&self.directory, &error))?;
        let mut index = self.read_index()?.unwrap_or_else(|| Document::new_index(None, Vec::new()));
        let mut entries = index.manifests.take().unwrap_or_default();
        let mut entry = manifest.descriptor();
        entry.annotations.extend(tag.map(|tag| (NAME.to_owned(), tag.to_owned())));
        let name = |entry: &Descriptor| entry.annotations.get(NAME).cloned();
        entries.retain(|known| match (name(known), tag) {
            (Some(known), Some(tag)) => known != tag,
            (None, None) => known.digest != *digest,
            _ => true,
        });
        entries.push(entry);
        entries.sort_by(|one, other| (name(one), &one.digest).cmp(&(name(other), &other.digest)));
        if entries.len() > MOST_ENTRIES {
            return Err(OciError::TooLarge {
                repository: self.shown.clone(),
                what: "the index",
                limit: MOST_ENTRIES as u64,
                unit: "entries",
            });
        }
        index.manifests = Some(entries);
        self.write_file(&self.directory.join("index.json"), &index.to_bytes())
    }
}

fn disk_error(path: &Path, error: &dyn std::fmt::Display) -> OciError {
    OciError::Disk { path: path.display().to_string(), problem: error.to_string() }
}
