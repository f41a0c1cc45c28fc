//! Stages the files that are ours: the record, the lock, the manifest, and descriptions of clients.

use std::io;
use std::sync::Arc;

use brief_profiles::OWN_CLIENTS;
use brief_syntax::Source;
use brief_system::Permission;
use brief_system::hash::sha256;

use super::run::RECORD;
use super::state::ProjectState;
use crate::lock::FILE_NAME as LOCK_NAME;
use crate::outputs::ChangeKind;
use crate::outputs::disk::{Disk, DiskState};
use crate::outputs::record::OutputRecord;
use crate::outputs::stage::{CLIENTS, Disks, PermissionSource, Planned, Stage, WriteRoot};

/// The files of our own that a run changes.
pub(super) struct OwnFiles<'f> {
    pub(super) record: &'f OutputRecord,
    pub(super) lock: Option<ChangeKind>,
    pub(super) lock_text: &'f str,
    pub(super) manifest: Option<ChangeKind>,
}

/// Stages our own files: the record, the lock, the manifest.
pub(super) fn stage_own(
    old: &ProjectState,
    own: &OwnFiles<'_>,
    stage: &mut Stage,
    disks: &mut Disks<'_>,
) -> io::Result<()> {
    if old.record.as_ref() != Some(own.record) {
        stage_named_file(stage, &mut disks.own, WriteRoot::Own, RECORD, &own.record.to_bytes()?)?;
    }
    let name = brief_dialects::portable::config::FILE_NAME;
    for (name, kind, before, after) in [
        (LOCK_NAME, own.lock, &old.lock_before, own.lock_text),
        (name, own.manifest, &old.manifest_before, old.manifest_text.as_str()),
    ] {
        match (kind, before) {
            (None, _) => {}
            (Some(ChangeKind::Removed), Some(before)) => {
                stage.stage_removal(WriteRoot::Config, name, &sha256(before.as_bytes()));
            }
            _ => stage_named_file(
                stage,
                &mut disks.config,
                WriteRoot::Config,
                name,
                after.as_bytes(),
            )?,
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
        if !matches!(disks.own.read_state(&path), DiskState::Missing) {
            let message = format!("`{OWN_CLIENTS}` contains another file with this name: `{path}`");
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        stage_named_file(stage, &mut disks.own, WriteRoot::Own, &path, client.text().as_bytes())?;
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
pub(super) fn stage_named_file(
    stage: &mut Stage,
    disk: &mut Disk<'_>,
    at: WriteRoot,
    path: &str,
    bytes: &[u8],
) -> io::Result<()> {
    let before = match disk.read_state(path) {
        DiskState::File(found) => Some(found.sha256),
        DiskState::Missing => None,
        DiskState::InTheWay(what) => return Err(io::Error::other(format!("`{path}` {what}"))),
    };
    let (mode, permission) = (PermissionSource::Kept, Permission::Data);
    stage.put_bytes(Planned { at, path, mode, permission, before }, bytes)
}
