//! Finds sources that have newer commits or versions than the locked ones.

use brief_safety::policy::Policy;
use brief_system::System;

use super::open::{check_admission, source_of};
use super::{InstallError, ProjectPaths};
use crate::cache::{Cache, Event};
use crate::latest::find_newer_tag;
use crate::lock::Lock;
use crate::manifest::Manifest;
use crate::remote::RemoteSource;

/// The locked and the newest state of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newest {
    /// The name of the source.
    pub name: String,
    /// The wanted branch, tag or commit.
    pub reference: Option<String>,
    pub locked: Option<String>,
    /// The commit that the reference leads to now.
    pub commit: Option<String>,
    /// A newer version, if the reference is a version.
    pub newer_tag: Option<String>,
    /// The reason why the server's state is not known.
    pub error: Option<String>,
}

impl Newest {
    /// Returns whether the server has something newer than the lock.
    pub fn is_outdated(&self) -> bool {
        self.newer_tag.is_some() || (self.commit.is_some() && self.commit != self.locked)
    }
}

/// Asks the server of every source. A server that does not answer yields an error for its source only.
pub fn query_newest_versions(
    system: &dyn System,
    project: &ProjectPaths,
    manifest: &Manifest,
    lock: &Lock,
    observer: &dyn Fn(Event<'_>),
) -> Result<Vec<Newest>, InstallError> {
    let cache = Cache::of_user(system).ok_or(InstallError::NoCache)?.with_observer(observer);
    let policy = Policy::load(system)?;
    let mut all = Vec::new();
    for wanted in &manifest.sources {
        let source = source_of(system, project, wanted)?;
        let Ok(remote) = RemoteSource::from_address(&source) else { continue };
        check_admission(system, &policy, &wanted.name, &source, &project.config)?;
        let locked = lock.sources.get(&wanted.name).and_then(|locked| locked.commit.clone());
        let name = wanted.name.clone();
        let reference = remote.reference().map(str::to_owned);
        let (latest, error) = match remote.query_latest(&cache) {
            Ok(latest) => (Some(latest), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let newer_tag = latest.as_ref().zip(reference.as_ref()).and_then(|(latest, reference)| {
            find_newer_tag(reference, &latest.tags).map(str::to_owned)
        });
        let commit = latest.map(|latest| latest.commit);
        all.push(Newest { name, reference, locked, commit, newer_tag, error });
    }
    Ok(all)
}
