//! Files that we share with the user and other tools.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use brief_dialects::portable::output::SharedEntry;
use brief_syntax::rules;
use brief_system::Permission;
use brief_system::hash::sha256;

use super::Plan;
use crate::outputs::backup::back_up;
use crate::outputs::disk::Disk;
use crate::outputs::stage::{PermissionSource, Planned, WriteRoot};
use crate::outputs::{Change, ChangeKind, Difference};

impl Plan<'_> {
    /// Notes for which files a rule is.
    pub(crate) fn note_scope(&mut self, key: &str, patterns: &[&str]) {
        if !patterns.is_empty() {
            let patterns = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            self.scopes.insert(key.to_owned(), patterns);
        }
    }

    /// Returns the paths of all files that will be there.
    pub(crate) fn output_paths(&self) -> BTreeSet<String> {
        self.report.record.files().map(|(_, path, _)| path.to_owned()).collect()
    }

    /// Returns the patterns of rules that are for some files, by the path of their output.
    pub(crate) fn scopes_by_path(&self) -> BTreeMap<String, Vec<String>> {
        let files = self.report.record.files();
        let scopes = files
            .filter_map(|(item, path, _)| Some((path.to_owned(), self.scopes.get(item)?.clone())));
        scopes.collect()
    }

    /// Records our entries in shared files.
    pub(crate) fn record_shared(&mut self, shared: BTreeMap<String, Vec<SharedEntry>>) {
        self.report.record.shared = shared;
    }

    /// Returns whether a file is to be replaced although it was edited.
    pub(crate) fn is_forced(&self, path: &str) -> bool {
        self.policy.edited.contains_path(path)
    }

    /// Copies a file before it is replaced, unless the run writes nothing.
    pub(crate) fn back_up(
        &mut self,
        path: &str,
        disk: &mut Disk<'_>,
        own: &Disk<'_>,
    ) -> io::Result<()> {
        if self.stage.is_some() {
            self.report.backups.push((path.to_owned(), back_up(disk, own, path)?));
        }
        Ok(())
    }

    /// Warns about a shared file.
    pub(crate) fn warn_shared(&mut self, path: &str, message: &str, help: &str) {
        let problem = self.file_diagnostic(rules::item::SHARED_FILE, path, message, help);
        self.report.diagnostics.push(problem);
    }

    /// Leaves something in a shared file as it is, and warns about it.
    pub(crate) fn keep_shared(&mut self, path: &str, message: &str, help: &str) {
        self.report.kept += 1;
        self.warn_shared(path, message, help);
    }

    /// Plans the new text of a shared file, whose entries are ours and whose rest is not; `None` removes it.
    pub(crate) fn write_shared(
        &mut self,
        path: &str,
        before: Option<&str>,
        after: Option<&str>,
    ) -> io::Result<()> {
        let kind = match (before, after) {
            (before, after) if before == after => {
                self.report.unchanged += usize::from(before.is_some());
                return Ok(());
            }
            (None, _) => ChangeKind::Created,
            (Some(_), None) => ChangeKind::Removed,
            (Some(_), Some(_)) => ChangeKind::Updated,
        };
        if self.compares {
            let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
            let (before, after) = (bytes(before), bytes(after));
            self.report.differences.push(Difference { path: path.to_owned(), before, after });
        }
        if let Some(stage) = &mut self.stage {
            let before = before.map(|text| sha256(text.as_bytes()));
            match (after, before) {
                (Some(text), before) => {
                    let (at, mode) = (WriteRoot::Outputs, PermissionSource::Kept);
                    let file = Planned { at, path, mode, permission: Permission::Data, before };
                    stage.put_bytes(file, text.as_bytes())?;
                }
                (None, Some(hash)) => stage.stage_removal(WriteRoot::Outputs, path, &hash),
                (None, None) => {}
            }
        }
        self.report.changes.push(Change { path: path.to_owned(), kind });
        Ok(())
    }
}
