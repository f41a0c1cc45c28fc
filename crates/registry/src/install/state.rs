//! The state of a project before a run.

use std::path::Path;
use std::sync::Arc;

use brief_dialects::portable::ItemId;
use brief_dialects::portable::output::Compiler;
use brief_syntax::Source;
use brief_system::System;

use super::run::RECORD;
use super::{Extent, InstallError, InstallRequest, ProjectPaths, derived};
use crate::lock::{Lock, LockError};
use crate::manifest::{Manifest, ManifestEdit};
use crate::outputs::disk::Disk;
use crate::outputs::if_there;
use crate::outputs::record::OutputRecord;
use crate::outputs::stage::Disks;

/// The state of a project before a run.
pub(super) struct ProjectState {
    /// The text of the manifest before the run, if there is one.
    pub(super) manifest_before: Option<String>,
    /// The text of the manifest after the edits.
    pub(super) manifest_text: String,
    pub(super) manifest: Manifest,
    pub(super) lock_before: Option<String>,
    pub(super) lock: Lock,
    /// The record of this machine; `None` before its first run.
    pub(super) record: Option<OutputRecord>,
    /// The files according to the lock.
    pub(super) witness: OutputRecord,
    /// True if this machine derived the capability lists of the lock.
    pub(super) has_own_lists: bool,
}

impl ProjectState {
    pub(super) fn read(
        system: &dyn System,
        compiler: &dyn Compiler,
        project: &ProjectPaths,
        request: &InstallRequest<'_>,
        disks: &mut Disks<'_>,
    ) -> Result<ProjectState, InstallError> {
        let path = project.manifest_path();
        let manifest_before = read_text(&mut disks.config, &path)?;
        if manifest_before.is_none() && needs_manifest(request) {
            return Err(InstallError::NoManifest { directory: project.config.clone() });
        }
        let before = manifest_before.clone().unwrap_or_default();
        let accept =
            request.accept.iter().map(|sha256| ManifestEdit::Accept { sha256: sha256.clone() });
        let edits: Vec<ManifestEdit> = request.edits.iter().cloned().chain(accept).collect();
        let manifest_text = ManifestEdit::apply_edits(&before, &edits)
            .map_err(|error| InstallError::Edit { path: path.clone(), error })?;
        let source = Arc::new(Source::new(path, manifest_text.as_str()));
        let manifest = match request.extent {
            Extent::Manifest => Manifest::parse(&source).map_err(InstallError::Manifest)?,
            Extent::Nothing => Manifest::default(),
        };
        let (lock_before, lock) = read_lock(&mut disks.config, project)?.unzip();
        let lock = lock.unwrap_or_default();
        let record = match disks.own.top() {
            Some(own) => OutputRecord::read(own, RECORD).map_err(|problem| {
                InstallError::Unreadable { path: project.own.join(RECORD), problem }
            })?,
            None => None,
        };
        if let Some(error) = first_foreign(compiler, &lock, lock_before.as_deref(), record.as_ref())
        {
            return Err(InstallError::Lock { path: project.lock_path(), error });
        }
        let witness = lock.to_record();
        let has_own_lists = derived::has_mark(system, project, &lock, record.as_ref());
        Ok(ProjectState {
            manifest_before,
            manifest_text,
            manifest,
            lock_before,
            lock,
            record,
            witness,
            has_own_lists,
        })
    }

    /// Returns the capabilities of an item with this content, if they were derived before.
    pub(super) fn find_capabilities(&self, id: &ItemId, sha256: &str) -> Option<&[String]> {
        let known = self.lock.items.get(id).filter(|_| self.has_own_lists)?;
        (known.sha256 == sha256).then_some(known.capabilities.as_slice())
    }
}

/// Reads the lock, with its text; `None` when there is none. Links are not followed.
pub(super) fn read_lock(
    config: &mut Disk<'_>,
    project: &ProjectPaths,
) -> Result<Option<(String, Lock)>, InstallError> {
    let path = project.lock_path();
    let Some(text) = read_text(config, &path)? else { return Ok(None) };
    let lock = Lock::parse(&text).map_err(|error| InstallError::Lock { path, error })?;
    Ok(Some((text, lock)))
}

/// Reads a file of the project that a run may write; links are not followed.
pub(super) fn read_text(disk: &mut Disk<'_>, path: &Path) -> Result<Option<String>, InstallError> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let unreadable = |problem| InstallError::Unreadable { path: path.to_owned(), problem };
    let content = if_there(disk.read_file(name)).map_err(|error| unreadable(error.to_string()))?;
    let text = content.map(|content| String::from_utf8(content.bytes)).transpose();
    text.map_err(|_| unreadable("is not UTF-8".to_owned()))
}

/// Returns whether the request is impossible without a manifest.
pub(super) fn needs_manifest(request: &InstallRequest<'_>) -> bool {
    request.edits.is_empty() && request.extent == Extent::Manifest
}

/// Finds a file in the lock that no client could have, and that this machine has not written either. A run
/// removes files by the lock, which may have been edited.
fn first_foreign(
    compiler: &dyn Compiler,
    lock: &Lock,
    text: Option<&str>,
    record: Option<&OutputRecord>,
) -> Option<LockError> {
    let is_recorded =
        |path: &str| record.is_some_and(|record| record.files().any(|(_, known, _)| known == path));
    let mut files = lock.items.values().flat_map(|item| item.files.keys());
    let path = files.find(|path| !compiler.could_write(path) && !is_recorded(path))?;
    let problem = format!("`{path}` is not an output path of a client");
    Some(LockError::at_file(text.unwrap_or_default(), path, problem))
}
