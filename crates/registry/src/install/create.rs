//! New files of a project, all of them or none.
//!
//! An import writes the items of a source registry. They belong to the user from then on, so no record names them. They are
//! still written in one transaction, as outputs are, and the next run finishes a killed one. An installation can
//! have them in its own transaction: it reads its sources through a system that shows them in place.

use std::fmt;
use std::io;

use brief_system::hash::sha256;
use brief_system::{Permission, System};

use super::finish::{finish_in, lock_project, open_disks, open_own, to_io_error};
use super::own_files::stage_named_file;
use super::run::ignore_own;
use super::state::read_text;
use super::{InstallError, ProjectPaths};
use crate::manifest::ManifestEdit;
use crate::outputs::Durability;
use crate::outputs::disk::{Disk, DiskState};
use crate::outputs::record::is_plain_path;
use crate::outputs::stage::{Disks, PermissionSource, Planned, Stage, WriteRoot};
use crate::outputs::transaction::run_transaction;

/// A file that is to be new.
#[derive(Debug, Clone, Copy)]
pub struct NewFile<'f> {
    /// The path below the project, with `/`.
    pub path: &'f str,
    pub bytes: &'f [u8],
    /// The permission to start it.
    pub permission: Permission,
}

/// The state of a path where a new file is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewFileState {
    Free,
    /// This very file is there.
    Same,
    /// Something else is there, in words.
    Taken(String),
}

/// New files of a source in the project, which an installation writes together with its outputs.
#[derive(Clone, Copy)]
pub struct NewSource<'r> {
    pub files: &'r [NewFile<'r>],
    /// The system that shows them in place, through which sources are read.
    pub shown_by: &'r dyn System,
}

impl fmt::Debug for NewSource<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NewSource").field("files", &self.files).finish_non_exhaustive()
    }
}

/// Looks at the paths of new files, in order.
pub fn inspect_new_files(
    system: &dyn System,
    project: &ProjectPaths,
    files: &[NewFile<'_>],
) -> Result<Vec<NewFileState>, InstallError> {
    let mut disks = open_disks(system, project, open_own(system, project)?)?;
    Ok(files.iter().map(|file| new_file_state(&mut disks.outputs, file)).collect())
}

fn new_file_state(disk: &mut Disk<'_>, file: &NewFile<'_>) -> NewFileState {
    match disk.read_state(file.path) {
        _ if !is_plain_path(file.path) => {
            NewFileState::Taken("points outside the project".to_owned())
        }
        DiskState::Missing => NewFileState::Free,
        DiskState::File(found) if found.sha256 == sha256(file.bytes) => NewFileState::Same,
        DiskState::File(_) => NewFileState::Taken("already exists".to_owned()),
        DiskState::InTheWay(what) => NewFileState::Taken(what),
    }
}

/// Writes new files and edits of the manifest in one transaction. Files that are there already are left out; one that is
/// taken is an error, and nothing is written.
pub fn create_files(
    system: &dyn System,
    project: &ProjectPaths,
    files: &[NewFile<'_>],
    edits: &[ManifestEdit],
) -> Result<(), InstallError> {
    for directory in [&project.outputs, &project.own] {
        system.create_dir(directory).map_err(to_io_error(directory))?;
    }
    let own = open_own(system, project)?;
    let _lock = lock_project(system, project)?;
    ignore_own(&own).map_err(to_io_error(&project.own))?;
    let mut disks = open_disks(system, project, own)?;
    finish_in(system, project, &mut disks)?;
    run_transaction(
        system,
        &mut disks,
        Some(Durability::Lasting),
        |_, disks| edited_manifest(project, edits, disks),
        |manifest: &Option<String>, stage, disks| {
            stage_new(stage, files, disks).map_err(InstallError::NotWritten)?;
            let Some(text) = manifest else { return Ok(()) };
            let name = brief_dialects::portable::config::FILE_NAME;
            stage_named_file(stage, &mut disks.config, WriteRoot::Config, name, text.as_bytes())
                .map_err(InstallError::NotWritten)
        },
    )?;
    Ok(())
}

/// Stages new files. One that is taken is an error.
pub(super) fn stage_new(
    stage: &mut Stage,
    files: &[NewFile<'_>],
    disks: &mut Disks<'_>,
) -> io::Result<()> {
    for file in files {
        let NewFile { path, bytes, permission } = *file;
        match new_file_state(&mut disks.outputs, file) {
            NewFileState::Same => {}
            NewFileState::Taken(what) => {
                let problem = format!("`{path}` {what}");
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, problem));
            }
            NewFileState::Free => {
                let (at, mode) = (WriteRoot::Outputs, PermissionSource::Own);
                stage.put_bytes(Planned { at, path, mode, permission, before: None }, bytes)?;
            }
        }
    }
    Ok(())
}

/// Returns the manifest with edits; `None` if they change nothing.
fn edited_manifest(
    project: &ProjectPaths,
    edits: &[ManifestEdit],
    disks: &mut Disks<'_>,
) -> Result<Option<String>, InstallError> {
    if edits.is_empty() {
        return Ok(None);
    }
    let path = project.manifest_path();
    let before = read_text(&mut disks.config, &path)?.unwrap_or_default();
    let after = ManifestEdit::apply_edits(&before, edits)
        .map_err(|error| InstallError::Edit { path: path.clone(), error })?;
    Ok((after != before).then_some(after))
}
