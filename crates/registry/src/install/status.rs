//! The installed items according to the lock and the disk, without their sources.

use std::collections::BTreeMap;
use std::path::Path;

use brief_syntax::system::{ReadError, System};

use super::run::RECORD;
use super::{InstallError, ProjectPaths};
use crate::lock::{Lock, LockedFile};
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
    /// The file is missing.
    Missing,
    /// The content differs.
    Edited,
    /// The content is that of an earlier lock; the project needs a `brief sync`.
    Older,
    /// Something other than a file is there.
    InTheWay(String),
}

/// Compares the files on disk with the lock.
pub fn status(system: &dyn System, project: &ProjectPaths) -> Result<InstallStatus, InstallError> {
    let open = |path: &Path| {
        Disk::open(system, path).map_err(|error| InstallError::Io { path: path.to_owned(), error })
    };
    let (mut outputs, mut config) = (open(&project.outputs)?, open(&project.config)?);
    let own = Disk::open_own(system, &project.own)
        .map_err(|error| InstallError::Io { path: project.own.clone(), error })?;
    let path = project.lock();
    let text = match config.read(crate::lock::FILE_NAME) {
        Ok(content) => Some(String::from_utf8_lossy(&content.bytes).into_owned()),
        Err(ReadError::Missing) => None,
        Err(error) => {
            return Err(InstallError::Unreadable { path, problem: error.to_string() });
        }
    };
    let lock = match text {
        Some(text) => Some(Lock::parse(&text).map_err(|error| InstallError::Lock { path, error })?),
        None => None,
    };
    let record = own.top().and_then(|own| OutputRecord::read(own, RECORD).ok().flatten());
    let mut drift = BTreeMap::new();
    for item in lock.iter().flat_map(|lock| lock.items.values()) {
        for (path, file) in &item.files {
            if let Some(found) = compare(path, file, record.as_ref(), &mut outputs) {
                drift.insert(path.clone(), found);
            }
        }
    }
    Ok(InstallStatus { lock, drift, is_pending: stage::is_pending(&own) })
}

fn compare(
    path: &str,
    file: &LockedFile,
    record: Option<&OutputRecord>,
    outputs: &mut Disk<'_>,
) -> Option<Drift> {
    match outputs.look(path) {
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
