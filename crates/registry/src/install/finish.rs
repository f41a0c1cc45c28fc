//! Recovery: finishes the work of a killed run.

use std::path::Path;

use brief_system::{FileLock, System};

use super::{InstallError, ProjectPaths};
use crate::outputs::disk::Disk;
use crate::outputs::stage::{self, Disks, RecoverError};

/// The lock file that keeps two runs at once apart.
pub(super) const LOCK: &str = "lock";

/// The finished work of a killed run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Finished {
    pub notes: Vec<String>,
    /// The names that the killed run was asked to remove: `source/NAME`, `bundle/NAME` or `KIND/NAME`.
    pub removed: Vec<String>,
}

/// Finishes the work of a killed run. A command that writes calls it before it reads the manifest or the
/// lock, which may be in a mixed state.
pub fn finish_killed_run(
    system: &dyn System,
    project: &ProjectPaths,
) -> Result<Finished, InstallError> {
    let own = open_own(system, project)?;
    if !stage::is_left(&own) {
        return Ok(Finished::default());
    }
    let _lock = lock_project(system, project)?;
    finish_in(system, project, &mut open_disks(system, project, own)?)
}

/// The same, for a caller that holds the lock.
pub(super) fn finish_in(
    system: &dyn System,
    project: &ProjectPaths,
    disks: &mut Disks<'_>,
) -> Result<Finished, InstallError> {
    let recovered = stage::replay_journal(system, disks).map_err(|error| match error {
        RecoverError::Foreign(path) => InstallError::ForeignJournal { path },
        RecoverError::Io(error) => InstallError::Io { path: project.own.clone(), error },
    })?;
    let Some(recovered) = recovered else { return Ok(Finished::default()) };
    let mut notes = vec!["finished an interrupted run".to_owned()];
    let kept = recovered.kept.iter();
    notes.extend(kept.map(|path| format!("kept `{path}`: changed since that run")));
    Ok(Finished { notes, removed: recovered.removed })
}

/// Locks the project against other runs.
pub(super) fn lock_project(
    system: &dyn System,
    project: &ProjectPaths,
) -> Result<FileLock, InstallError> {
    system.lock(&project.own.join(LOCK)).map_err(to_io_error(&project.own))
}

pub(super) fn open_own<'d>(
    system: &'d dyn System,
    project: &ProjectPaths,
) -> Result<Disk<'d>, InstallError> {
    Disk::open_own(system, &project.own).map_err(to_io_error(&project.own))
}

pub(super) fn open_disks<'d>(
    system: &'d dyn System,
    project: &ProjectPaths,
    own: Disk<'d>,
) -> Result<Disks<'d>, InstallError> {
    let open = |path: &Path| Disk::open(system, path).map_err(to_io_error(path));
    Ok(Disks { outputs: open(&project.outputs)?, config: open(&project.config)?, own })
}

pub(super) fn to_io_error(path: &Path) -> impl Fn(std::io::Error) -> InstallError + use<> {
    let path = path.to_owned();
    move |error| InstallError::Io { path: path.clone(), error }
}
