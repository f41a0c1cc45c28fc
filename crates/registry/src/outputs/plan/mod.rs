//! The plan of a run: every change, before any of them is made.
//!
//! A file is ours when a record names it and its content is the recorded one. Every other file stays: an
//! unrecorded file blocks its whole item, and an edited output is kept while the rest of its item is written.

mod item;
mod policy;
mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use brief_dialects::portable::ItemId;
use brief_syntax::{Diagnostic, Rule, Source, Span, rules};

use super::backup::{BackupFile, back_up, read_backup};
use super::disk::{Disk, DiskState};
use super::record::{FileRecord, OutputRecord};
use super::stage::{PermissionSource, Planned, Stage, WriteRoot};
use super::{Change, ChangeKind, Difference};

pub(crate) use item::{ItemOutcome, ItemToWrite};
pub(crate) use policy::{Advice, Backup, Chosen, ConflictPolicy};

/// The planned changes of a run. Contents are staged while they are planned, so that none is held in memory.
pub(crate) struct Plan<'p> {
    /// The records: first that of this machine, then the lock.
    records: Vec<&'p OutputRecord>,
    policy: &'p ConflictPolicy,
    out: &'p Path,
    /// The stage for new contents; `None` in a run that writes nothing.
    stage: Option<&'p mut Stage>,
    /// True if the contents of changed files are wanted.
    compares: bool,
    report: PlanReport,
    /// The outputs of each item for the lock, even where this machine keeps an edited file.
    made: BTreeMap<String, BTreeMap<String, FileRecord>>,
    /// The patterns of rules that are for some files, by item.
    scopes: BTreeMap<String, Vec<String>>,
    /// The recorded files by path, each with the number of its record.
    recorded: BTreeMap<&'p str, Vec<(usize, &'p FileRecord)>>,
    /// The paths that stay or will exist.
    claimed: BTreeSet<String>,
    /// The item of each path. Paths are in lower case: some file systems ignore case.
    owners: BTreeMap<String, String>,
}

/// What a plan has come to.
#[derive(Debug, Default)]
pub(crate) struct PlanReport {
    pub(crate) record: OutputRecord,
    /// The changes, sorted by path.
    pub(crate) changes: Vec<Change>,
    /// The contents of changed files, sorted by path, if the run asked for them.
    pub(crate) differences: Vec<Difference>,
    /// The number of files that are up to date.
    pub(crate) unchanged: usize,
    /// The number of files that stay, although others are wanted.
    pub(crate) kept: usize,
    /// The number of items that could not be written.
    pub(crate) failed: usize,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The losses of clients that items were not written for.
    pub(crate) losses: BTreeMap<ItemId, Vec<String>>,
    /// Backups of replaced files, by path.
    pub(crate) backups: Vec<(String, String)>,
}

/// The start of a plan.
pub(crate) struct PlanStart<'p> {
    /// The records: first that of this machine, then the lock.
    pub(crate) records: Vec<&'p OutputRecord>,
    pub(crate) policy: &'p ConflictPolicy,
    pub(crate) out: &'p Path,
    /// The new record, without items.
    pub(crate) after: OutputRecord,
    /// True if the contents of changed files are wanted.
    pub(crate) compares: bool,
}

impl<'p> Plan<'p> {
    /// Begins a plan; without a stage nothing is written.
    pub(crate) fn new(start: PlanStart<'p>, stage: Option<&'p mut Stage>) -> Plan<'p> {
        let PlanStart { records, policy, out, after, compares } = start;
        let mut recorded: BTreeMap<&str, Vec<(usize, &FileRecord)>> = BTreeMap::new();
        for (place, record) in records.iter().enumerate() {
            for (_, path, file) in record.files() {
                recorded.entry(path).or_default().push((place, file));
            }
        }
        Plan {
            records,
            policy,
            out,
            stage,
            compares,
            report: PlanReport { record: after, ..PlanReport::default() },
            made: BTreeMap::new(),
            scopes: BTreeMap::new(),
            recorded,
            claimed: BTreeSet::new(),
            owners: BTreeMap::new(),
        }
    }

    pub(crate) fn finish(self) -> PlanReport {
        let mut report = self.report;
        report.changes.sort_unstable();
        report.differences.sort_by(|left, right| left.path.cmp(&right.path));
        report
    }

    /// Reports problems, and returns whether there were any.
    pub(crate) fn report_problems(
        &mut self,
        problems: impl IntoIterator<Item = Diagnostic>,
    ) -> bool {
        let before = self.report.diagnostics.len();
        self.report.diagnostics.extend(problems);
        self.report.diagnostics.len() > before
    }

    /// Reports the problems of an item, and leaves all its files as they are.
    pub(crate) fn refuse_item(
        &mut self,
        key: &str,
        problems: impl IntoIterator<Item = Diagnostic>,
    ) {
        self.report_problems(problems);
        self.report.failed += 1;
        self.keep_item(key);
    }

    /// Returns whether every item could be written.
    pub(crate) fn is_whole(&self) -> bool {
        self.report.failed == 0
    }

    /// Notes what clients lose that an item was not written for.
    pub(crate) fn note_losses(&mut self, id: &ItemId, losses: Vec<String>) {
        if !losses.is_empty() {
            self.report.losses.insert(id.clone(), losses);
        }
    }

    /// Returns the outputs of an item for the lock, if it was planned.
    pub(crate) fn outputs_of(&self, key: &str) -> Option<&BTreeMap<String, FileRecord>> {
        self.made.get(key)
    }

    /// Returns whether files of an item will be there.
    pub(crate) fn has_item(&self, key: &str) -> bool {
        self.report.record.items.contains_key(key)
    }

    /// Records that the lists of capabilities were derived on this machine.
    pub(crate) fn record_capabilities(&mut self, mark: Option<String>) {
        self.report.record.capabilities = mark;
    }

    fn claim_path(&mut self, path: &str, key: &str) {
        self.claimed.insert(path.to_owned());
        self.owners.insert(path.to_lowercase(), key.to_owned());
    }

    /// Leaves all files of an item as they are.
    fn keep_item(&mut self, key: &str) {
        if self.has_item(key) {
            return;
        }
        let known = self.records.iter().find_map(|record| record.items.get(key));
        if let Some(record) = known {
            for path in record.files.keys() {
                self.claim_path(path, key);
                self.keep_adopted(path);
            }
            self.report.record.items.insert(key.to_owned(), record.clone());
        }
    }

    /// Leaves all recorded files as they are.
    pub(crate) fn leave_all(&mut self) {
        for record in self.records.clone() {
            for key in record.items.keys() {
                self.keep_item(key);
            }
        }
    }

    /// Creates a diagnostic about the whole file at `path`.
    fn file_diagnostic(
        &self,
        rule: Rule,
        path: &str,
        message: impl Into<String>,
        help: &str,
    ) -> Diagnostic {
        let source = Arc::new(Source::without_text(self.out.join(path)));
        Diagnostic::new(rule, &source, Span::default(), message).with_help(help)
    }

    /// Returns the name of the backup of the user's file that our output has replaced.
    fn find_backup_name(&self, path: &str) -> Option<&'p String> {
        self.records.iter().find_map(|record| record.adopted.get(path))
    }

    /// Reads the backup of the user's file that our output has replaced.
    fn read_original(&self, path: &str, own: &Disk<'_>) -> io::Result<Option<BackupFile>> {
        self.find_backup_name(path).map_or(Ok(None), |copy| read_backup(own, copy))
    }

    /// Records which files our removed outputs had replaced, so that they replace them again when they
    /// return.
    pub(crate) fn remember_adopted(&mut self) {
        for record in &self.records {
            for (path, copy) in &record.adopted {
                self.report.record.adopted.entry(path.clone()).or_insert_with(|| copy.clone());
            }
        }
    }

    fn keep_adopted(&mut self, path: &str) {
        if let Some(backup) = self.find_backup_name(path) {
            self.report.record.adopted.insert(path.to_owned(), backup.clone());
        }
    }

    /// Plans to remove outputs that are no longer wanted, and to restore the files that they had replaced.
    pub(crate) fn remove_stale(&mut self, disk: &mut Disk<'_>, own: &Disk<'_>) -> io::Result<()> {
        let mut stale: BTreeMap<&str, (&str, &FileRecord)> = BTreeMap::new();
        for (item, path, file) in self.records.iter().flat_map(|record| record.files()) {
            if !self.claimed.contains(path) {
                stale.entry(path).or_insert((item, file));
            }
        }
        for (path, (item, file)) in stale {
            let DiskState::File(found) = disk.read_state(path) else { continue };
            let Some(known) = self.find_recorded_state(path, &found.sha256) else { continue };
            let is_same = matches!(known, Recorded::Same);
            if is_same || self.policy.edited.contains_path(path) {
                self.plan_removal(path, &found.sha256, is_same, disk, own)?;
                continue;
            }
            self.report.kept += 1;
            let message =
                "brief keeps the file: no longer needed, but changed since brief wrote it";
            let (rule, help) = (rules::item::OUTPUT_OUTDATED, self.policy.advice.stale);
            let problem = self.file_diagnostic(rule, path, message, help);
            self.report.diagnostics.push(problem);
            let record = self.report.record.items.entry(item.to_owned()).or_default();
            record.files.insert(path.to_owned(), file.clone());
            // With its fingerprint the item would count as complete.
            record.fingerprint.clear();
        }
        Ok(())
    }

    fn plan_removal(
        &mut self,
        path: &str,
        sha256: &str,
        is_same: bool,
        disk: &mut Disk<'_>,
        own: &Disk<'_>,
    ) -> io::Result<()> {
        let original = self.read_original(path, own)?;
        if self.compares {
            let before = Some(content_of(disk, path)?);
            let after = original.as_ref().map(|original| original.content.bytes.clone());
            self.report.differences.push(Difference { path: path.to_owned(), before, after });
        }
        if let Some(stage) = &mut self.stage {
            if !is_same && self.policy.backup == Backup::Copy {
                self.report.backups.push((path.to_owned(), back_up(disk, own, path)?));
            }
            match &original {
                Some(original) => {
                    let (at, mode) = (WriteRoot::Outputs, PermissionSource::Own);
                    let permission = original.content.permission;
                    let before = Some(sha256.to_owned());
                    let planned = Planned { at, path, mode, permission, before };
                    stage.put_bytes(planned, &original.content.bytes)?;
                    let (files, last) = stage.last_staged_file();
                    original.share_permissions(files, &last)?;
                }
                None => stage.stage_removal(WriteRoot::Outputs, path, sha256),
            }
        }
        let kind = if original.is_some() { ChangeKind::Updated } else { ChangeKind::Removed };
        self.report.changes.push(Change { path: path.to_owned(), kind });
        Ok(())
    }

    /// Returns the recorded state of a file with this content. Only the first record can prove an edit: the
    /// others may name files that were never written here.
    fn find_recorded_state(&self, path: &str, sha256: &str) -> Option<Recorded> {
        let files = self.recorded.get(path)?;
        if files.iter().any(|(_, file)| file.sha256 == sha256) {
            return Some(Recorded::Same);
        }
        let known = files.iter().find(|(place, _)| *place == 0)?;
        Some(Recorded::Changed(known.1.clone()))
    }
}

/// The recorded state of a file.
enum Recorded {
    /// The file is as it was written.
    Same,
    /// The file was edited since it was written.
    Changed(FileRecord),
}

fn content_of(disk: &mut Disk<'_>, path: &str) -> io::Result<Vec<u8>> {
    Ok(disk.read_file(path).map_err(io::Error::other)?.bytes)
}
