//! Artefacts with guidance in registries of containers (OCI), and in directories of the same layout.
//!
//! A registry keeps content by its digest, so a lock that names the digest of a manifest names every byte.
//! [`OciSource`] is one more kind of source; its files come to lie in the cache as those of a commit do.
//! [`publish`] is the other direction: equal items give equal digests on every machine.

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

pub(crate) use checkout::OciSlot;
pub use checkout::Provenance;
pub use error::OciError;
pub use promote::{Promotion, promote};
pub use publish::{PublishError, PublishReport, PublishRequest, PublishedPart, publish};
pub(crate) use reference::is_digest;
pub use reference::{OciPlace, OciSource};
pub use signature::{KeyError, SigningKey};
