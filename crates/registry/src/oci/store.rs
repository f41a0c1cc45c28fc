//! A place that keeps artifacts: a registry, or a directory.

use brief_system::System;

use super::client::RegistryClient;
use super::error::OciError;
use super::layout::Layout;
use super::model::{Descriptor, Document, INDEX, MANIFEST, digest_of};
use super::reference::{OciPlace, OciSource};

/// The purpose of an access, which decides about the rights that a token is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Write,
}

/// A manifest or index with its exact bytes.
#[derive(Debug, Clone)]
pub(crate) struct Fetched {
    pub(crate) digest: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) document: Document,
}

impl Fetched {
    /// Parses bytes whose digest is known to be right.
    pub(crate) fn new(repository: &str, bytes: Vec<u8>) -> Result<Fetched, OciError> {
        let document = Document::parse(&bytes)
            .map_err(|problem| OciError::wrong_shape(repository, problem))?;
        Ok(Fetched { digest: digest_of(&bytes), bytes, document })
    }

    /// Makes the bytes of a new document.
    pub(crate) fn from_document(document: Document) -> Fetched {
        let bytes = document.to_bytes();
        Fetched { digest: digest_of(&bytes), bytes, document }
    }

    /// Describes it, for an index or a signature.
    pub(crate) fn descriptor(&self) -> Descriptor {
        let media_type = if self.document.is_index() { INDEX } else { MANIFEST };
        let mut descriptor = Descriptor::from_bytes(media_type, &self.bytes);
        descriptor.artifact_type = self.document.kind().map(str::to_owned);
        descriptor
    }
}

/// A place that keeps artifacts of one repository.
///
/// Contents that it returns have the digest that was asked for.
pub(crate) trait Store: Sync {
    /// Returns the digest of a tag.
    fn resolve_tag(&self, tag: &str) -> Result<String, OciError>;

    /// Returns the manifest or index of a tag or digest.
    fn read_manifest(&self, reference: &str) -> Result<Fetched, OciError>;

    /// Returns the content of a layer.
    fn read_blob(&self, descriptor: &Descriptor, limit: u64) -> Result<Vec<u8>, OciError>;

    /// Returns the names of all tags.
    fn list_tags(&self) -> Result<Vec<String>, OciError>;

    /// Returns the artifacts about another one, such as its signatures.
    fn list_referrers(&self, digest: &str) -> Result<Vec<Descriptor>, OciError>;

    /// Keeps the content of a layer, unless it is there.
    fn put_blob(&self, digest: &str, bytes: &[u8]) -> Result<(), OciError>;

    /// Keeps a manifest or index; its layers and artifacts are there already. `tag` is a name for it.
    fn put_manifest(&self, manifest: &Fetched, tag: Option<&str>) -> Result<(), OciError>;
}

/// Opens the place of a source. Sends nothing yet.
pub(crate) fn open_store<'s>(
    system: &'s dyn System,
    source: &OciSource,
    purpose: Purpose,
) -> Box<dyn Store + 's> {
    match &source.place {
        OciPlace::Registry { host, path } => {
            Box::new(RegistryClient::new(system, host, path, purpose))
        }
        OciPlace::Layout(directory) => Box::new(Layout::new(system, directory)),
    }
}

/// Returns the tag that stands for the artifacts about another one in registries that cannot list them.
pub(crate) fn fallback_tag(digest: &str) -> String {
    digest.replacen(':', "-", 1)
}

/// Refuses content with another digest.
pub(crate) fn verify_digest(
    repository: &str,
    digest: &str,
    bytes: Vec<u8>,
) -> Result<Vec<u8>, OciError> {
    let found = digest_of(&bytes);
    if found == digest {
        return Ok(bytes);
    }
    let (repository, digest) = (repository.to_owned(), digest.to_owned());
    Err(OciError::Digest { repository, digest, found })
}
