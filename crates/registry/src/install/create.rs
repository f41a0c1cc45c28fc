//! New files of a project, all of them or none.
//!
//! An import writes the items of a source registry. They belong to the user from then on, so that no record names them; but
//! they come to be in one transaction, as outputs do, and a killed run is finished by the next one.

use std::io;

use brief_syntax::hash::sha256;
use brief_syntax::system::{Permission, System};

use super::finish::{failed, finish_in, lock, open_disks, open_own};
use super::run::ignore_own;
use super::{InstallError, ProjectPaths};
use crate::outputs::disk::DiskState;
use crate::outputs::record::is_plain_path;
use crate::outputs::stage::{CommitError, PermissionSource, Planned, Stage, WriteRoot};

/// A file that is to be new.
#[derive(Debug, Clone, Copy)]
pub struct NewFile<'f> {
    /// The path below the project, with `/`.
    pub path: &'f str,
    /// The content.
    pub bytes: &'f [u8],
    /// The permission to start it.
    pub permission: Permission,
}

/// The state of a path where a new file is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewFileState {
    /// Nothing is there.
    Free,
    /// This very file is there.
    Same,
    /// Something else is there, in words.
    Taken(String),
}

/// Looks at the paths of new files, in order.
pub fn look(
    system: &dyn System,
    project: &ProjectPaths,
    files: &[NewFile<'_>],
) -> Result<Vec<NewFileState>, InstallError> {
    let mut disks = open_disks(system, project, open_own(system, project)?)?;
    let mut state = |file: &NewFile<'_>| match disks.outputs.look(file.path) {
        _ if !is_plain_path(file.path) => {
            NewFileState::Taken("leads out of the project".to_owned())
        }
        DiskState::Missing => NewFileState::Free,
        DiskState::File(found) if found.sha256 == sha256(file.bytes) => NewFileState::Same,
        DiskState::File(_) => NewFileState::Taken("exists already".to_owned()),
        DiskState::InTheWay(what) => NewFileState::Taken(what),
    };
    Ok(files.iter().map(&mut state).collect())
}

/// Writes new files in one transaction. Those that are there already are left out; one that is taken is an error, and
/// nothing is written.
pub fn create(
    system: &dyn System,
    project: &ProjectPaths,
    files: &[NewFile<'_>],
) -> Result<(), InstallError> {
    for directory in [&project.outputs, &project.own] {
        system.create_dir(directory).map_err(failed(directory))?;
    }
    let own = open_own(system, project)?;
    let _lock = lock(system, project)?;
    ignore_own(&own).map_err(failed(&project.own))?;
    let mut disks = open_disks(system, project, own)?;
    finish_in(system, project, &mut disks)?;
    let states = look(system, project, files)?;
    let mut stage = Stage::begin(&disks.own).map_err(InstallError::NotWritten)?;
    for (file, state) in files.iter().zip(states) {
        let outcome = match state {
            NewFileState::Same => Ok(()),
            NewFileState::Taken(what) => {
                Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("`{}` {what}", file.path)))
            }
            NewFileState::Free => {
                let NewFile { path, bytes, permission } = *file;
                let (at, mode) = (WriteRoot::Outputs, PermissionSource::Own);
                let planned =
                    Planned { at, path, mode, permission, sha256: sha256(bytes), before: None };
                stage.put(planned, &mut |target| target.write_all(bytes))
            }
        };
        if let Err(error) = outcome {
            // The first error is the one to report.
            let _ = stage.abandon(&disks.own);
            return Err(InstallError::NotWritten(error));
        }
    }
    stage.commit(system, &mut disks).map_err(|error| match error {
        CommitError::Nothing(error) => InstallError::NotWritten(error),
        CommitError::Half(error) => InstallError::HalfWritten(error),
    })
}
