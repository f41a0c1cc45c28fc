//! The installed items according to the lock and the disk, without their sources.

use std::collections::BTreeMap;

use brief_system::System;

use super::finish::{open_disks, open_own};
use super::run::RECORD;
use super::state::read_lock;
use super::{InstallError, ProjectPaths};
use crate::lock::{FileRecord, Lock};
use crate::outputs::disk::{Disk, DiskState};
use crate::outputs::record::OutputRecord;
use crate::outputs::stage;

/// The state of an installation.
#[derive(Debug, Default)]
pub struct InstallStatus {
    /// The lock, if there is one.
    pub lock: Option<Lock>,
    /// Files that differ from the lock.
    pub drift: BTreeMap<String, Drift>,
    /// True if a run was killed before it finished.
    pub is_pending: bool,
}

/// The difference between a file and the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Drift {
    Missing,
    Edited,
    /// The content is that of an earlier lock; the project needs a `brief sync`.
    Older,
    /// Something other than a file is there.
    InTheWay(String),
}

/// Compares the files on disk with the lock.
pub fn read_install_status(
    system: &dyn System,
    project: &ProjectPaths,
) -> Result<InstallStatus, InstallError> {
    let mut disks = open_disks(system, project, open_own(system, project)?)?;
    let lock = read_lock(&mut disks.config, project)?.map(|(_, lock)| lock);
    let record = disks.own.top().and_then(|own| OutputRecord::read(own, RECORD).ok().flatten());
    let mut drift = BTreeMap::new();
    for item in lock.iter().flat_map(|lock| lock.items.values()) {
        for (path, file) in &item.files {
            if let Some(found) = find_drift(path, file, record.as_ref(), &mut disks.outputs) {
                drift.insert(path.clone(), found);
            }
        }
    }
    Ok(InstallStatus { lock, drift, is_pending: stage::is_pending(&disks.own) })
}

fn find_drift(
    path: &str,
    file: &FileRecord,
    record: Option<&OutputRecord>,
    outputs: &mut Disk<'_>,
) -> Option<Drift> {
    match outputs.read_state(path) {
        DiskState::Missing => Some(Drift::Missing),
        DiskState::File(found) if found.sha256 == file.sha256 => None,
        DiskState::File(found) => {
            let mut known = record.into_iter().flat_map(OutputRecord::files);
            let is_older =
                known.any(|(_, other, file)| other == path && file.sha256 == found.sha256);
            Some(if is_older { Drift::Older } else { Drift::Edited })
        }
        DiskState::InTheWay(what) => Some(Drift::InTheWay(what)),
    }
}
