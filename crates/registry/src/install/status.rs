//! What is installed, as the lock and the disk tell it, without any source.

use std::collections::BTreeMap;
use std::path::Path;

use brief_syntax::system::{ReadError, System};

use super::run::RECORD;
use super::{InstallError, Project};
use crate::lock::{Lock, LockedFile};
use crate::outputs::disk::{Disk, Found};
use crate::outputs::record::Record;
use crate::outputs::stage;

/// What is installed.
#[derive(Debug, Default)]
pub struct Status {
    /// The lock; `None` when there is none.
    pub lock: Option<Lock>,
    /// Files that are not as they were written.
    pub drift: BTreeMap<String, Drift>,
    /// Whether a run was ended in the middle.
    pub is_pending: bool,
}

/// In which way a file is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Drift {
    /// It is gone.
    Missing,
    /// It has another content.
    Edited,
    /// It is what an earlier lock said; nobody has brought it up to date.
    Older,
    /// It is something else.
    InTheWay(String),
}

/// Compares what was written with what is there.
pub fn status(system: &dyn System, project: &Project) -> Result<Status, InstallError> {
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
    let record = own.top().and_then(|own| Record::read(own, RECORD).ok().flatten());
    let mut drift = BTreeMap::new();
    for item in lock.iter().flat_map(|lock| lock.items.values()) {
        for (path, file) in &item.files {
            if let Some(found) = compare(path, file, record.as_ref(), &mut outputs) {
                drift.insert(path.clone(), found);
            }
        }
    }
    Ok(Status { lock, drift, is_pending: stage::is_pending(&own) })
}

fn compare(
    path: &str,
    file: &LockedFile,
    record: Option<&Record>,
    outputs: &mut Disk<'_>,
) -> Option<Drift> {
    match outputs.look(path) {
        Found::Missing => Some(Drift::Missing),
        Found::File(found) if found.sha256 == file.sha256 => None,
        Found::File(found) => {
            let mut known = record.into_iter().flat_map(Record::files);
            let is_older =
                known.any(|(_, other, file)| other == path && file.sha256 == found.sha256);
            Some(if is_older { Drift::Older } else { Drift::Edited })
        }
        Found::InTheWay(what) => Some(Drift::InTheWay(what)),
    }
}
