//! Another tag for an artifact: the step from one ring of users to the next.

use brief_system::System;

use super::error::OciError;
use super::reference::OciSource;
use super::store::{Purpose, open_store};

/// A tag that was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promotion {
    /// The digest of the artifact.
    pub digest: String,
    /// The digest that the tag had before, if it is another one.
    pub before: Option<String>,
    /// True if the tag had the digest already.
    pub is_unchanged: bool,
}

/// Sets a tag of a repository to the artifact with the digest. The manifest stays byte for byte.
pub fn promote_artifact(
    system: &dyn System,
    source: &OciSource,
    digest: &str,
    tag: &str,
) -> Result<Promotion, OciError> {
    super::reference::check_tag(tag).map_err(|reason| {
        let problem = format!("invalid tag `{}`: {reason}", crate::address::one_line(tag));
        OciError::wrong_shape(&source.repository(), problem)
    })?;
    let store = open_store(system, source, Purpose::Write);
    let artifact = store.read_manifest(digest)?;
    let before = OciError::if_present(store.resolve_tag(tag))?;
    let is_unchanged = before.as_deref() == Some(digest);
    if !is_unchanged {
        store.put_manifest(&artifact, Some(tag))?;
    }
    let before = before.filter(|_| !is_unchanged);
    Ok(Promotion { digest: artifact.digest, before, is_unchanged })
}
