//! The plan of a run: every change, before any of them is made.
//!
//! A file is ours when a record names it and its content is the recorded one. Every other file stays: an
//! unrecorded file blocks its whole item, and an edited output is kept while the rest of its item is written.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use brief_dialects::portable::output::{Compiled, OutputContent, OutputFile};
use brief_dialects::portable::{ItemId, PortableItem};
use brief_syntax::{Diagnostic, Rule, Source, Span, rules};
use brief_system::hash::sha256;

use super::backup::{BackupFile, back_up, read_backup};
use super::disk::{Disk, DiskState};
use super::item::ItemFiles;
use super::record::{FileRecord, ItemRecord, OutputRecord, is_output_path};
use super::stage::{PermissionSource, Planned, Stage, WriteRoot};
use super::{Change, ChangeKind, Difference, with_parents};

/// The treatment of edited outputs and of files of others.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConflictPolicy {
    /// Outputs that were edited by hand and are to be replaced.
    pub(crate) edited: Chosen,
    /// Files of others that are to be replaced.
    pub(crate) foreign: Chosen,
    pub(crate) backup: Backup,
    pub(crate) advice: Advice,
}

/// Files that the user has chosen.
#[derive(Debug, Clone, Default)]
pub(crate) enum Chosen {
    #[default]
    None,
    All,
    /// These, and everything below these.
    Paths(BTreeSet<String>),
}

impl Chosen {
    pub(crate) fn has(&self, path: &str) -> bool {
        match self {
            Chosen::None => false,
            Chosen::All => true,
            Chosen::Paths(paths) => with_parents(path).any(|above| paths.contains(above)),
        }
    }
}

/// The treatment of replaced files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Backup {
    #[default]
    None,
    Copy,
}

/// The advice that goes with a conflict, in terms of one command.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Advice {
    pub(crate) edited: &'static str,
    pub(crate) foreign: &'static str,
    pub(crate) stale: &'static str,
}

/// The planned changes of a run.
pub(crate) struct Plan<'p> {
    /// The records: first that of this machine, then the lock.
    records: Vec<&'p OutputRecord>,
    policy: &'p ConflictPolicy,
    out: &'p Path,
    /// The stage for new contents; `None` in a run that writes nothing.
    pub(crate) stage: Option<Stage>,
    /// The contents of changed files, if the request asks for them.
    pub(crate) differences: Option<Vec<Difference>>,
    /// The new record.
    pub(crate) after: OutputRecord,
    /// The outputs of each item for the lock, even where this machine keeps an edited file.
    pub(crate) made: BTreeMap<String, BTreeMap<String, FileRecord>>,
    /// The patterns of rules that are for some files, by item.
    pub(crate) scopes: BTreeMap<String, Vec<String>>,
    pub(crate) changes: Vec<Change>,
    pub(crate) unchanged: usize,
    pub(crate) kept: usize,
    /// The number of items that could not be written.
    pub(crate) failed: usize,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The losses of clients that items were not written for.
    pub(crate) notes: BTreeMap<ItemId, Vec<String>>,
    /// Backups of replaced files, by path.
    pub(crate) backups: Vec<(String, String)>,
    /// The recorded files by path, each with the number of its record.
    recorded: BTreeMap<&'p str, Vec<(usize, &'p FileRecord)>>,
    /// The paths that stay or will exist.
    claimed: BTreeSet<String>,
    /// The item of each path. Paths are in lower case: some file systems ignore case.
    owners: BTreeMap<String, String>,
}

/// An item to write.
pub(crate) struct ItemToWrite<'w> {
    pub(crate) item: &'w PortableItem,
    /// The directory or the name of its source.
    pub(crate) source: String,
    pub(crate) fingerprint: String,
    pub(crate) item_files: &'w ItemFiles,
}

/// A file of an item to write.
struct OneWrite {
    path: String,
    content: OutputContent,
    record: FileRecord,
    /// The hash of the file that is in place now, if there is one.
    before: Option<String>,
    replaces: Replaces,
}

/// The owner of the file that is in place now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Replaces {
    Ours,
    Edited,
    Foreign,
}

/// Returns the new records of files; `None` for a copy of a missing file.
fn records_of(files: &[OutputFile], item_files: &ItemFiles) -> Vec<Option<FileRecord>> {
    let mut records: Vec<Option<FileRecord>> = Vec::with_capacity(files.len());
    // Most clients get the same text.
    let mut texts: Vec<(&str, FileRecord)> = Vec::new();
    for file in files {
        records.push(match &file.content {
            OutputContent::Copy(path) => item_files.record(path).cloned(),
            OutputContent::Text(text) => match texts.iter().find(|(known, _)| known == text) {
                Some((_, record)) => Some(record.clone()),
                None => {
                    let record = FileRecord { sha256: sha256(text.as_bytes()), program: false };
                    texts.push((text, record.clone()));
                    Some(record)
                }
            },
        });
    }
    records
}

impl<'p> Plan<'p> {
    pub(crate) fn new(
        records: Vec<&'p OutputRecord>,
        policy: &'p ConflictPolicy,
        out: &'p Path,
        after: OutputRecord,
        stage: Option<Stage>,
    ) -> Plan<'p> {
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
            differences: None,
            after,
            made: BTreeMap::new(),
            scopes: BTreeMap::new(),
            changes: Vec::new(),
            unchanged: 0,
            kept: 0,
            failed: 0,
            diagnostics: Vec::new(),
            notes: BTreeMap::new(),
            backups: Vec::new(),
            recorded,
            claimed: BTreeSet::new(),
            owners: BTreeMap::new(),
        }
    }

    fn claim(&mut self, path: &str, key: &str) {
        self.claimed.insert(path.to_owned());
        self.owners.insert(path.to_lowercase(), key.to_owned());
    }

    /// Leaves all files of an item as they are, because it could not be compiled.
    pub(crate) fn fail(&mut self, key: &str) {
        self.failed += 1;
        self.leave(key);
    }

    /// Leaves all files of an item as they are.
    pub(crate) fn leave(&mut self, key: &str) {
        if self.after.items.contains_key(key) {
            return;
        }
        let known = self.records.iter().find_map(|record| record.items.get(key));
        if let Some(record) = known {
            for path in record.files.keys() {
                self.claim(path, key);
                self.keep_adopted(path);
            }
            self.after.items.insert(key.to_owned(), record.clone());
        }
    }

    /// Leaves all recorded files as they are.
    pub(crate) fn leave_all(&mut self) {
        for record in self.records.clone() {
            for key in record.items.keys() {
                self.leave(key);
            }
        }
    }

    /// Creates a diagnostic about the whole file at `path`.
    pub(crate) fn problem(
        &self,
        rule: Rule,
        path: &str,
        message: impl Into<String>,
        help: &str,
    ) -> Diagnostic {
        let source = Arc::new(Source::unread(self.out.join(path)));
        Diagnostic::new(rule, &source, Span::default(), message).with_help(help)
    }

    /// Returns whether a file is to be replaced although it was edited.
    pub(crate) fn is_forced(&self, path: &str) -> bool {
        self.policy.edited.has(path)
    }

    /// Copies a file before it is replaced, unless the run writes nothing.
    pub(crate) fn back_up(
        &mut self,
        path: &str,
        disk: &mut Disk<'_>,
        own: &Disk<'_>,
    ) -> io::Result<()> {
        if self.stage.is_some() {
            self.backups.push((path.to_owned(), back_up(disk, own, path)?));
        }
        Ok(())
    }

    /// Returns whether the user has chosen a file that is not ours yet.
    fn is_handed_over(&self, path: &str, found: &FileRecord) -> bool {
        self.policy.foreign.has(path) && self.recorded(path, &found.sha256).is_none()
    }

    /// Returns the name of the backup of the user's file that our output has replaced.
    fn adopted(&self, path: &str) -> Option<&'p String> {
        self.records.iter().find_map(|record| record.adopted.get(path))
    }

    /// Reads the backup of the user's file that our output has replaced.
    fn original(&self, path: &str, own: &Disk<'_>) -> io::Result<Option<BackupFile>> {
        self.adopted(path).map_or(Ok(None), |copy| read_backup(own, copy))
    }

    /// Returns whether a file equals the backup of the one that our output had replaced before.
    fn is_adopted(&self, path: &str, hash: &str, own: &Disk<'_>) -> io::Result<bool> {
        let original = self.original(path, own)?;
        Ok(original.is_some_and(|original| sha256(&original.content.bytes) == hash))
    }

    /// Records which files our removed outputs had replaced, so that they replace them again when they
    /// return.
    pub(crate) fn remember_adopted(&mut self) {
        for record in &self.records {
            for (path, copy) in &record.adopted {
                self.after.adopted.entry(path.clone()).or_insert_with(|| copy.clone());
            }
        }
    }

    fn keep_adopted(&mut self, path: &str) {
        if let Some(backup) = self.adopted(path) {
            self.after.adopted.insert(path.to_owned(), backup.clone());
        }
    }

    /// Returns whether neither the inputs nor the files of an item have changed.
    pub(crate) fn is_unchanged(
        &mut self,
        key: &str,
        fingerprint: &str,
        disk: &mut Disk<'_>,
    ) -> bool {
        let Some(record) = self.records.first().and_then(|record| record.items.get(key)) else {
            return false;
        };
        let same = record.fingerprint == fingerprint
            && record
                .files
                .iter()
                .all(|(path, file)| disk.look(path) == DiskState::File(file.clone()));
        if same {
            self.unchanged += record.files.len();
            self.made.insert(key.to_owned(), record.files.clone());
            self.leave(key);
        }
        same
    }

    /// Plans the files of a compiled item.
    pub(crate) fn add(
        &mut self,
        wanted: ItemToWrite<'_>,
        compiled: Compiled,
        disk: &mut Disk<'_>,
        own: &Disk<'_>,
    ) -> io::Result<()> {
        let ItemToWrite { item, source, fingerprint, item_files } = wanted;
        let key = item.id().full_name();
        self.diagnostics.extend(compiled.diagnostics);
        let mut record = ItemRecord { source, fingerprint, files: BTreeMap::new() };
        let (mut writes, mut problems, mut edits) = (Vec::new(), Vec::new(), Vec::new());
        let mut made = BTreeMap::new();
        let mut unchanged = 0;
        let known = records_of(&compiled.files, item_files);
        for (file, known) in compiled.files.into_iter().zip(known) {
            let Some(known) = known else { continue };
            let path = file.path;
            if !is_output_path(&path) {
                problems.push(unportable(item, &path));
                continue;
            }
            if let Some(other) = self.clash(&path) {
                problems.push(collision(item, &path, &other));
                continue;
            }
            made.insert(path.clone(), known.clone());
            let mut write = |before: Option<FileRecord>, replaces| {
                writes.push(OneWrite {
                    path: path.clone(),
                    content: file.content.clone(),
                    record: known.clone(),
                    before: before.map(|found| found.sha256),
                    replaces,
                });
            };
            match disk.look(&path) {
                DiskState::Missing => write(None, Replaces::Ours),
                // A file that the user hands over is backed up, and restored later, even if its content is the same now.
                DiskState::File(found)
                    if found.sha256 == known.sha256 && self.is_handed_over(&path, &found) =>
                {
                    write(Some(found), Replaces::Foreign);
                }
                DiskState::File(found) if found == known => unchanged += 1,
                // Replacing equal content loses nothing.
                DiskState::File(found) if found.sha256 == known.sha256 => {
                    write(Some(found), Replaces::Ours);
                }
                DiskState::File(found) => match self.recorded(&path, &found.sha256) {
                    Some(Recorded::Same) => write(Some(found), Replaces::Ours),
                    _ if self.is_adopted(&path, &found.sha256, own)? => {
                        write(Some(found), Replaces::Foreign);
                    }
                    Some(Recorded::Changed(_)) if self.policy.edited.has(&path) => {
                        write(Some(found), Replaces::Edited);
                    }
                    Some(Recorded::Changed(before)) => {
                        let message =
                            "the file was changed since it was written; it stays as it is";
                        let (rule, help) = (rules::item::OUTPUT_EDITED, self.policy.advice.edited);
                        edits.push(self.problem(rule, &path, message, help));
                        record.files.insert(path, before);
                        continue;
                    }
                    None if self.policy.foreign.has(&path) => {
                        write(Some(found), Replaces::Foreign);
                    }
                    None => problems.push(self.in_the_way(item, &path, "is not ours")),
                },
                DiskState::InTheWay(what) => problems.push(self.in_the_way(item, &path, &what)),
            }
            self.keep_adopted(&path);
            record.files.insert(path, known);
        }
        if !problems.is_empty() {
            self.kept += problems.len();
            self.diagnostics.append(&mut problems);
            self.fail(&key);
            return Ok(());
        }
        for path in record.files.keys() {
            self.claim(path, &key);
        }
        self.unchanged += unchanged;
        self.kept += edits.len();
        if !edits.is_empty() {
            // An empty fingerprint makes the next run write the file again once the edit is undone.
            record.fingerprint.clear();
        }
        self.diagnostics.append(&mut edits);
        for write in writes {
            self.write(write, item_files, disk, own)?;
        }
        self.made.insert(key.clone(), made);
        if !record.files.is_empty() {
            self.after.items.insert(key, record);
        }
        Ok(())
    }

    fn write(
        &mut self,
        write: OneWrite,
        item_files: &ItemFiles,
        disk: &mut Disk<'_>,
        own: &Disk<'_>,
    ) -> io::Result<()> {
        let OneWrite { path, content, record, before, replaces } = write;
        let kind = if before.is_some() { ChangeKind::Updated } else { ChangeKind::Created };
        if let Some(differences) = &mut self.differences {
            let mut after = Vec::new();
            item_files.fill(&content, &mut after)?;
            let before = before.as_ref().map(|_| content_of(disk, &path)).transpose()?;
            differences.push(Difference { path: path.clone(), before, after: Some(after) });
        }
        if let Some(stage) = &mut self.stage {
            if replaces != Replaces::Ours && self.policy.backup == Backup::Copy {
                let copy = back_up(disk, own, &path)?;
                if replaces == Replaces::Foreign {
                    self.after.adopted.insert(path.clone(), copy.clone());
                }
                self.backups.push((path.clone(), copy));
            }
            let (at, mode) = (WriteRoot::Outputs, PermissionSource::Own);
            let permission = record.permission();
            let planned = Planned { at, path: &path, mode, permission, before };
            let fill = &mut |target: &mut dyn io::Write| item_files.fill(&content, target);
            stage.put(planned, record.sha256, fill)?;
        }
        self.changes.push(Change { path, kind });
        Ok(())
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
            let DiskState::File(found) = disk.look(path) else { continue };
            let Some(known) = self.recorded(path, &found.sha256) else { continue };
            let is_same = matches!(known, Recorded::Same);
            if is_same || self.policy.edited.has(path) {
                self.remove(path, &found.sha256, is_same, disk, own)?;
                continue;
            }
            self.kept += 1;
            let message =
                "the file is no longer wanted, but was changed since it was written; it stays";
            let (rule, help) = (rules::item::OUTPUT_OUTDATED, self.policy.advice.stale);
            self.diagnostics.push(self.problem(rule, path, message, help));
            let record = self.after.items.entry(item.to_owned()).or_default();
            record.files.insert(path.to_owned(), file.clone());
            // With its fingerprint the item would count as complete.
            record.fingerprint.clear();
        }
        Ok(())
    }

    fn remove(
        &mut self,
        path: &str,
        sha256: &str,
        is_same: bool,
        disk: &mut Disk<'_>,
        own: &Disk<'_>,
    ) -> io::Result<()> {
        let original = self.original(path, own)?;
        if let Some(differences) = &mut self.differences {
            let before = Some(content_of(disk, path)?);
            let after = original.as_ref().map(|original| original.content.bytes.clone());
            differences.push(Difference { path: path.to_owned(), before, after });
        }
        if let Some(stage) = &mut self.stage {
            if !is_same && self.policy.backup == Backup::Copy {
                self.backups.push((path.to_owned(), back_up(disk, own, path)?));
            }
            match &original {
                Some(original) => {
                    let (at, mode) = (WriteRoot::Outputs, PermissionSource::Own);
                    let permission = original.content.permission;
                    let before = Some(sha256.to_owned());
                    let planned = Planned { at, path, mode, permission, before };
                    stage.put_bytes(planned, &original.content.bytes)?;
                    let (files, last) = stage.last();
                    original.share_permissions(files, &last)?;
                }
                None => stage.remove(WriteRoot::Outputs, path, sha256),
            }
        }
        let kind = if original.is_some() { ChangeKind::Updated } else { ChangeKind::Removed };
        self.changes.push(Change { path: path.to_owned(), kind });
        Ok(())
    }

    /// Returns the recorded state of a file with this content. Only the first record can prove an edit: the
    /// others may name files that were never written here.
    fn recorded(&self, path: &str, sha256: &str) -> Option<Recorded> {
        let files = self.recorded.get(path)?;
        if files.iter().any(|(_, file)| file.sha256 == sha256) {
            return Some(Recorded::Same);
        }
        let known = files.iter().find(|(place, _)| *place == 0)?;
        Some(Recorded::Changed(known.1.clone()))
    }

    /// Returns the item that already has a path, or needs it for a directory.
    fn clash(&self, path: &str) -> Option<String> {
        let path = path.to_lowercase();
        if let Some(item) = with_parents(&path).find_map(|above| self.owners.get(above)) {
            return Some(item.clone());
        }
        let below = format!("{path}/");
        let next = self.owners.range(below.clone()..).next();
        next.filter(|(other, _)| other.starts_with(&below)).map(|(_, item)| item.clone())
    }

    fn in_the_way(&self, item: &PortableItem, path: &str, what: &str) -> Diagnostic {
        let message = format!("the file {what}; nothing of the {} is written", item.id());
        let help = self.policy.advice.foreign;
        self.problem(rules::item::OUTPUT_IN_THE_WAY, path, message, help)
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
    Ok(disk.read(path).map_err(io::Error::other)?.bytes)
}

/// Creates the error for a path that a record cannot hold.
fn unportable(item: &PortableItem, path: &str) -> Diagnostic {
    let message =
        format!("`{path}` is not a valid path for a file; nothing of the {} is written", item.id());
    let source = item.document().source();
    Diagnostic::new(rules::item::UNPORTABLE_FILE_NAME, source, Span::default(), message)
        .with_help("give the file another name")
}

fn collision(item: &PortableItem, path: &str, other: &str) -> Diagnostic {
    let source = item.document().source();
    let message = format!("the {} and `{other}` would both be `{path}`", item.id());
    Diagnostic::new(rules::item::OUTPUT_COLLISION, source, Span::default(), message)
        .with_help("rename one, or give their kinds different paths in `brief.toml`")
}
