//! Artifacts with guidance in container registries (OCI), and in directories of the same layout.
//!
//! A registry keeps content by its digest, so a lock that names the digest of a manifest names every byte.
//! [`OciSource`] is one more kind of source; the cache keeps its files as it keeps those of a commit.
//! [`publish_items`] is the other direction: equal items give equal digests on every machine.

mod archive;
mod challenge;
mod checkout;
mod client;
mod credentials;
mod error;
mod layout;
mod model;
mod promote;
mod publish;
mod reference;
mod signature;
mod store;
mod wire;

pub use checkout::Provenance;
pub(crate) use checkout::{OciSlot, manifest_of};
pub use error::OciError;
pub use promote::{Promotion, promote_artifact};
pub use publish::{PublishError, PublishReport, PublishRequest, PublishedPart, publish_items};
/// Reads bytes as a manifest, an archive, a challenge and an address. Checks that every parsed value fulfills the contract of its type.
pub(crate) fn fuzz_artifact(bytes: &[u8]) {
    if let Ok(document) = model::Document::parse(bytes) {
        let parts = document.layers.iter().chain(&document.manifests).flatten();
        assert!(parts.into_iter().all(|part| is_digest(&part.digest)));
        let again = model::Document::parse(&document.to_bytes());
        assert_eq!(again.as_ref(), Ok(&document));
    }
    let mut space = archive::Space { bytes: 64 * 1024, files: 16 };
    if let Ok((files, _)) = archive::unpack_archive("fuzz", bytes, &mut space) {
        let is_inside = |path: &str| path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        assert!(files.len() <= 16 && files.iter().all(|file| is_inside(&file.path)));
    }
    crate::sigstore::fuzz_sigstore(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    challenge::fuzz_challenge(text);
    if OciSource::is_meant(text)
        && let Ok(source) = OciSource::parse(text, std::path::Path::new("/base"))
    {
        let again = OciSource::parse(&source.to_string(), std::path::Path::new("/"));
        let is_registry = matches!(source.place, OciPlace::Registry { .. });
        assert!(!is_registry || again.as_ref() == Ok(&source));
    }
}

pub(crate) use reference::is_digest;
pub use reference::{OciPlace, OciSource};
pub(crate) use signature::Evidence;
pub use signature::{KeyError, MOST_BUNDLE_BYTES, SigningKey};
