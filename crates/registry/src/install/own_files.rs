//! Stages the files that are ours: the record, the lock, the manifest, and descriptions of clients.

use std::io;
use std::sync::Arc;

use brief_profiles::OWN_CLIENTS;
use brief_syntax::Source;
use brief_system::Permission;
use brief_system::hash::sha256;

use super::InstallReport;
use super::run::RECORD;
use super::state::ProjectState;
use crate::lock::FILE_NAME as LOCK_NAME;
use crate::outputs::ChangeKind;
use crate::outputs::disk::{Disk, DiskState};
use crate::outputs::stage::{CLIENTS, Disks, PermissionSource, Planned, Stage, WriteRoot};

/// Stages our own files: the record, the lock, the manifest.
pub(super) fn stage_own(
    old: &ProjectState,
    lock_text: &str,
    report: &InstallReport,
    stage: &mut Stage,
    disks: &mut Disks<'_>,
) -> io::Result<()> {
    if let Some(record) =
        report.record.as_ref().filter(|record| old.record.as_ref() != Some(*record))
    {
        let text = record.to_bytes()?;
        put(stage, &mut disks.own, WriteRoot::Own, RECORD, &text)?;
    }
    let name = brief_dialects::portable::config::FILE_NAME;
    for (name, kind, before, after) in [
        (LOCK_NAME, report.lock, &old.lock_before, lock_text),
        (name, report.manifest, &old.manifest_before, old.manifest_text.as_str()),
    ] {
        match (kind, before) {
            (None, _) => {}
            (Some(ChangeKind::Removed), Some(before)) => {
                stage.remove(WriteRoot::Config, name, &sha256(before.as_bytes()));
            }
            _ => put(stage, &mut disks.config, WriteRoot::Config, name, after.as_bytes())?,
        }
    }
    Ok(())
}

/// Stages the descriptions of new clients.
pub(super) fn stage_clients(
    clients: &[Arc<Source>],
    stage: &mut Stage,
    disks: &mut Disks<'_>,
) -> io::Result<()> {
    for client in clients {
        let Some(path) = file_name(client).map(|name| format!("{CLIENTS}{name}")) else { continue };
        if !matches!(disks.own.look(&path), DiskState::Missing) {
            let message = format!("`{OWN_CLIENTS}` has another file of this name: `{path}`");
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        put(stage, &mut disks.own, WriteRoot::Own, &path, client.text().as_bytes())?;
    }
    Ok(())
}

/// Returns the path of a client's description in the project.
pub(super) fn client_file(client: &Source) -> Option<String> {
    Some(format!("{OWN_CLIENTS}/{}", file_name(client)?))
}

fn file_name(client: &Source) -> Option<&str> {
    client.path().file_name()?.to_str()
}

/// Stages a file with a known name. Its permissions stay.
pub(super) fn put(
    stage: &mut Stage,
    disk: &mut Disk<'_>,
    at: WriteRoot,
    path: &str,
    bytes: &[u8],
) -> io::Result<()> {
    let before = match disk.look(path) {
        DiskState::File(found) => Some(found.sha256),
        DiskState::Missing => None,
        DiskState::InTheWay(what) => return Err(io::Error::other(format!("`{path}` {what}"))),
    };
    let (mode, permission) = (PermissionSource::Kept, Permission::Data);
    stage.put_bytes(Planned { at, path, mode, permission, before }, bytes)
}
