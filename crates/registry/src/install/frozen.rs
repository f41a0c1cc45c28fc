//! Checks of `--frozen`: the result must be exactly what is locked.

use super::{InstallError, gate};
use crate::lock::Lock;
use crate::manifest::Manifest;

/// Refuses a lock that does not cover the manifest.
pub(super) fn check_lock(manifest: &Manifest, lock: Option<&Lock>) -> Result<(), InstallError> {
    let Some(lock) = lock else {
        // Nothing is locked, and nothing is wanted.
        let is_nothing = manifest.sources.is_empty() && manifest.dependencies.is_empty();
        return if is_nothing { Ok(()) } else { Err(InstallError::NoLock) };
    };
    if lock.is_old {
        return Err(InstallError::OldLock);
    }
    let mut differences = Vec::new();
    for source in &manifest.sources {
        match lock.sources.get(&source.name) {
            None => differences.push(format!("the source `{}` is not locked", source.name)),
            Some(locked) if locked.place != source.place => {
                differences.push(format!(
                    "the source `{}` is locked with another address or version",
                    source.name
                ));
            }
            Some(_) => {}
        }
    }
    for name in lock.sources.keys() {
        if manifest.find_source(name).is_none() {
            differences.push(format!("the source `{name}` is locked but no longer requested"));
        }
    }
    if differences.is_empty() { Ok(()) } else { Err(InstallError::Frozen { differences }) }
}

/// Refuses a new lock that differs from the old one.
pub(super) fn refuse_difference(before: &Lock, after: &Lock) -> Result<(), InstallError> {
    if before == after {
        return Ok(());
    }
    let mut differences = Vec::new();
    for (id, item) in &after.items {
        match before.items.get(id) {
            None => differences.push(format!("the {id} is not locked")),
            Some(known) if known.sha256 != item.sha256 => {
                differences.push(format!("the {id} differs from the locked content"));
            }
            Some(known) if known.files != item.files => {
                differences.push(format!("the {id} compiles to other files than locked: the settings or the version of `brief` changed"));
            }
            Some(known) if known.capabilities != item.capabilities => {
                differences.push(format!(
                    "the {id} has other capabilities than `brief.lock` records: {}",
                    gate::describe_difference(known, item)
                ));
            }
            Some(known) if known != item => {
                differences.push(format!("the {id} is locked differently"));
            }
            Some(_) => {}
        }
    }
    for id in before.items.keys().filter(|id| !after.items.contains_key(id)) {
        differences.push(format!("the {id} is locked but no longer requested"));
    }
    differences.extend(super::dependencies::describe_dependency_changes(before, after));
    if differences.is_empty() {
        differences.push("bundles or shared files differ from the locked ones".to_owned());
    }
    Err(InstallError::Frozen { differences })
}
