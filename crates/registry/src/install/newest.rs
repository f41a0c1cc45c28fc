//! Finds sources that have newer commits or versions than the locked ones.

use brief_dialects::policy::Policy;
use brief_syntax::system::System;

use super::open::{admit, source_of};
use super::{InstallError, ProjectPaths};
use crate::cache::{Cache, Event};
use crate::latest::newer_tag;
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
    /// The locked commit.
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
pub fn newest(
    system: &dyn System,
    project: &ProjectPaths,
    manifest: &Manifest,
    lock: &Lock,
    observer: &dyn Fn(Event<'_>),
) -> Result<Vec<Newest>, InstallError> {
    let cache = Cache::of_user(system).ok_or(InstallError::NoCache)?.observed(observer);
    let policy = Policy::load(system)?;
    let mut all = Vec::new();
    for wanted in &manifest.sources {
        let source = source_of(system, project, wanted)?;
        let Some(remote) = RemoteSource::of(&source) else { continue };
        admit(system, &policy, &wanted.name, &source, &project.config)?;
        let locked = lock.sources.get(&wanted.name).and_then(|locked| locked.commit.clone());
        let name = wanted.name.clone();
        let reference = remote.reference().map(str::to_owned);
        all.push(match remote.latest(&cache) {
            Ok(latest) => {
                let tag = reference.as_deref().and_then(|text| newer_tag(text, &latest.tags));
                let newer_tag = tag.map(str::to_owned);
                let commit = Some(latest.commit);
                Newest { name, reference, locked, commit, newer_tag, error: None }
            }
            Err(error) => {
                let error = Some(error.to_string());
                Newest { name, reference, locked, commit: None, newer_tag: None, error }
            }
        });
    }
    Ok(all)
}
