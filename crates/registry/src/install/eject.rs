//! The way back: takes what is ours out of a project, or out of the user's files, in one transaction.
//!
//! What items were written as stays: these are plain files of clients. `brief.toml`, `brief.lock` and the record go last,
//! because they say what is ours: a killed run is finished by the next one, as every other is.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;

use brief_dialects::portable::output::SharedEntry;
use brief_syntax::limits;
use brief_system::hash::sha256;
use brief_system::{FileKind, Permission, System};

use super::finish::{LOCK, finish_in, lock_project, open_disks, open_own, to_io_error};
use super::run::{IGNORE_FILE, IGNORED, RECORD};
use super::state::read_lock;
use super::{InstallError, ProjectPaths};
use crate::lock;
use crate::outputs::Durability;
use crate::outputs::backup::BACKUPS;
use crate::outputs::disk::DiskState;
use crate::outputs::record::OutputRecord;
use crate::outputs::stage::{CLIENTS, Disks, PermissionSource, Planned, Stage, WriteRoot};
use crate::outputs::transaction::run_transaction;

/// A file that loses what is ours in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftFile {
    /// The path below the output directory, with `/`.
    pub path: String,
    pub before: String,
    /// The text that is left; `None` if nothing is, so that the file goes.
    pub after: Option<String>,
}

/// What an installation has written, by the record of this machine and by the lock.
#[derive(Debug, Default)]
pub struct InstalledParts {
    /// Our entries in files of the user.
    pub shared: BTreeMap<String, Vec<SharedEntry>>,
    /// The files of items.
    pub outputs: BTreeSet<String>,
}

/// The result of an ejection.
#[derive(Debug, Default)]
pub struct EjectReport {
    /// The files of our own that were removed, or would be, as people write them.
    pub removed: Vec<String>,
    /// The directory with copies of files that outputs have replaced. They belong to the user.
    pub backups: bool,
}

/// Reads what an installation has written.
pub fn read_installed_parts(
    system: &dyn System,
    project: &ProjectPaths,
) -> Result<InstalledParts, InstallError> {
    let mut disks = open_disks(system, project, open_own(system, project)?)?;
    let record = match disks.own.top() {
        Some(own) => OutputRecord::read(own, RECORD).map_err(|problem| {
            InstallError::Unreadable { path: project.own.join(RECORD), problem }
        })?,
        None => None,
    };
    let lock = read_lock(&mut disks.config, project)?.map(|(_, lock)| lock.to_record());
    let mut parts = InstalledParts::default();
    for record in record.iter().chain(&lock) {
        for (path, entries) in &record.shared {
            let known = parts.shared.entry(path.clone()).or_default();
            known.extend(entries.iter().cloned());
            known.sort_unstable();
            known.dedup();
        }
        let files = record.files().map(|(_, path, _)| path.to_owned());
        for path in files {
            if matches!(disks.outputs.read_state(&path), DiskState::File(_)) {
                parts.outputs.insert(path);
            }
        }
    }
    Ok(parts)
}

/// Changes the files, and removes `brief.toml`, `brief.lock` and the directory of our state. A dry run changes nothing.
pub fn eject_project(
    system: &dyn System,
    project: &ProjectPaths,
    files: &[LeftFile],
    is_dry: bool,
) -> Result<EjectReport, InstallError> {
    let mut disks = open_disks(system, project, open_own(system, project)?)?;
    let own = list_own_files(&mut disks)?;
    let report = EjectReport {
        removed: own.iter().map(|file| file.shown(project)).collect(),
        backups: disks.own.open_directory(BACKUPS).is_ok_and(|found| found.is_some()),
    };
    if is_dry {
        return Ok(report);
    }
    if files.is_empty() && own.is_empty() {
        if disks.own.top().is_some() {
            remove_own_directory(system, project).map_err(to_io_error(&project.own))?;
        }
        return Ok(report);
    }
    {
        disks.own.create_if_missing().map_err(to_io_error(&project.own))?;
        let _lock = lock_project(system, project)?;
        finish_in(system, project, &mut disks)?;
        run_transaction(
            system,
            &mut disks,
            Some(Durability::Lasting),
            |stage, _| {
                let stage = stage.expect("a run that writes has a stage");
                stage_files(stage, files).map_err(InstallError::NotWritten)?;
                for file in &own {
                    stage.stage_removal(file.at, &file.path, &file.sha256);
                }
                Ok(())
            },
            |(), _, _| Ok::<(), InstallError>(()),
        )?;
    }
    remove_own_directory(system, project).map_err(to_io_error(&project.own))?;
    Ok(report)
}

/// A file of our own.
struct OwnFile {
    at: WriteRoot,
    path: String,
    sha256: String,
}

impl OwnFile {
    fn shown(&self, project: &ProjectPaths) -> String {
        let directory = match self.at {
            WriteRoot::Own => &project.own,
            _ => &project.config,
        };
        let path = directory.join(&self.path);
        let shown = path.strip_prefix(&project.outputs).unwrap_or(&path);
        shown.to_string_lossy().replace('\\', "/")
    }
}

fn list_own_files(disks: &mut Disks<'_>) -> Result<Vec<OwnFile>, InstallError> {
    let mut wanted: Vec<(WriteRoot, String)> = Vec::new();
    if let Ok(Some(clients)) = disks.own.open_directory(CLIENTS.trim_end_matches('/')) {
        let entries = clients.entries().unwrap_or_default().into_iter();
        let names = entries.filter(|entry| entry.kind == FileKind::File);
        let names = names.filter_map(|entry| entry.name.to_str().map(str::to_owned));
        wanted.extend(names.map(|name| (WriteRoot::Own, format!("{CLIENTS}{name}"))));
    }
    let manifest = brief_dialects::portable::config::FILE_NAME;
    wanted.push((WriteRoot::Config, manifest.to_owned()));
    wanted.push((WriteRoot::Config, lock::FILE_NAME.to_owned()));
    wanted.push((WriteRoot::Own, RECORD.to_owned()));
    let mut found = Vec::new();
    for (at, path) in wanted {
        let disk = if at == WriteRoot::Own { &mut disks.own } else { &mut disks.config };
        match disk.read_state(&path) {
            DiskState::Missing => {}
            DiskState::File(file) => found.push(OwnFile { at, path, sha256: file.sha256 }),
            DiskState::InTheWay(what) => {
                let error = io::Error::other(format!("`{path}` {what}"));
                return Err(InstallError::NotWritten(error));
            }
        }
    }
    Ok(found)
}

fn stage_files(stage: &mut Stage, files: &[LeftFile]) -> io::Result<()> {
    for LeftFile { path, before, after } in files {
        let hash = sha256(before.as_bytes());
        match after {
            None => stage.stage_removal(WriteRoot::Outputs, path, &hash),
            Some(text) => {
                let (at, mode) = (WriteRoot::Outputs, PermissionSource::Kept);
                let (permission, before) = (Permission::Data, Some(hash));
                stage.put_bytes(Planned { at, path, mode, permission, before }, text.as_bytes())?;
            }
        }
    }
    Ok(())
}

/// Removes the directory of our state, unless it holds something of the user.
fn remove_own_directory(system: &dyn System, project: &ProjectPaths) -> io::Result<()> {
    let Some(own) = open_own(system, project).ok().filter(|own| own.top().is_some()) else {
        return Ok(());
    };
    let Some(top) = own.top() else { return Ok(()) };
    let is_edited = top
        .read(OsStr::new(IGNORE_FILE), limits::FILE_BYTES)
        .is_ok_and(|text| text != IGNORED.as_bytes());
    for name in [LOCK, IGNORE_FILE].into_iter().filter(|name| *name != IGNORE_FILE || !is_edited) {
        match top.remove_file(OsStr::new(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let _ = top.remove_empty_dir(OsStr::new(CLIENTS.trim_end_matches('/')));
    let _ = top.remove_empty_dir(OsStr::new(BACKUPS));
    drop(own);
    // Backups of the user's files keep it.
    let _ = system.remove_empty_dir(&project.own);
    Ok(())
}
