//! The files of one item: which are written, which stay, and what keeps all of them from being written.

use std::collections::BTreeMap;
use std::io;

use brief_dialects::portable::PortableItem;
use brief_dialects::portable::output::{Compiled, OutputContent, OutputFile};
use brief_syntax::{Diagnostic, Span, rules};
use brief_system::hash::sha256;

use super::{Backup, Plan, Recorded, content_of};
use crate::outputs::backup::back_up;
use crate::outputs::disk::{Disk, DiskState};
use crate::outputs::item::ItemFiles;
use crate::outputs::record::{FileRecord, ItemRecord, is_output_path};
use crate::outputs::stage::{PermissionSource, Planned, WriteRoot};
use crate::outputs::{Change, ChangeKind, Difference, with_parents};

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemOutcome {
    /// Its files are written, or are up to date.
    Planned,
    /// Nothing of it is written, and the report says why.
    Refused,
}

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

/// The files of an item while they are planned.
#[derive(Default)]
struct ItemPlan {
    record: ItemRecord,
    writes: Vec<OneWrite>,
    /// What keeps the whole item from being written.
    problems: Vec<Diagnostic>,
    /// The files that were edited by hand, and stay.
    edits: Vec<Diagnostic>,
    made: BTreeMap<String, FileRecord>,
    unchanged: usize,
}

/// What may happen to a file that is in place.
enum Judgment {
    Replace(Replaces),
    UpToDate,
    /// It was edited by hand; this is its record.
    Edited(FileRecord),
    /// It belongs to somebody else.
    Foreign,
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
            OutputContent::Copy(path) => item_files.find_record(path).cloned(),
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

impl Plan<'_> {
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
                .all(|(path, file)| disk.read_state(path) == DiskState::File(file.clone()));
        if same {
            self.report.unchanged += record.files.len();
            self.made.insert(key.to_owned(), record.files.clone());
            self.keep_item(key);
        }
        same
    }

    /// Plans the files of a compiled item.
    pub(crate) fn plan_item(
        &mut self,
        wanted: ItemToWrite<'_>,
        compiled: Compiled,
        disk: &mut Disk<'_>,
        own: &Disk<'_>,
    ) -> io::Result<ItemOutcome> {
        let ItemToWrite { item, source, fingerprint, item_files } = wanted;
        let key = item.id().full_name();
        self.report.diagnostics.extend(compiled.diagnostics);
        let record = ItemRecord { source, fingerprint, files: BTreeMap::new() };
        let mut files = ItemPlan { record, ..ItemPlan::default() };
        let known = records_of(&compiled.files, item_files);
        for (file, known) in compiled.files.into_iter().zip(known) {
            if let Some(known) = known {
                self.plan_file(item, file, known, &mut files, disk, own)?;
            }
        }
        let ItemPlan { mut record, writes, problems, edits, made, unchanged } = files;
        if !problems.is_empty() {
            self.report.kept += problems.len();
            self.refuse_item(&key, problems);
            return Ok(ItemOutcome::Refused);
        }
        for path in record.files.keys() {
            self.claim_path(path, &key);
        }
        self.report.unchanged += unchanged;
        self.report.kept += edits.len();
        if !edits.is_empty() {
            // An empty fingerprint makes the next run write the file again once the edit is undone.
            record.fingerprint.clear();
        }
        self.report.diagnostics.extend(edits);
        for write in writes {
            self.plan_write(write, item_files, disk, own)?;
        }
        self.made.insert(key.clone(), made);
        if !record.files.is_empty() {
            self.report.record.items.insert(key, record);
        }
        Ok(ItemOutcome::Planned)
    }

    /// Decides about one file of an item: written, up to date, edited, or in the way of the whole item.
    fn plan_file(
        &mut self,
        item: &PortableItem,
        file: OutputFile,
        known: FileRecord,
        files: &mut ItemPlan,
        disk: &mut Disk<'_>,
        own: &Disk<'_>,
    ) -> io::Result<()> {
        let path = file.path;
        if !is_output_path(&path) {
            files.problems.push(unportable_diagnostic(item, &path));
            return Ok(());
        }
        if let Some(other) = self.find_clash(&path) {
            files.problems.push(collision_diagnostic(item, &path, &other));
            return Ok(());
        }
        files.made.insert(path.clone(), known.clone());
        let found = match disk.read_state(&path) {
            DiskState::Missing => None,
            DiskState::File(found) => Some(found),
            DiskState::InTheWay(what) => {
                files.problems.push(self.in_the_way(item, &path, &what));
                self.keep_adopted(&path);
                files.record.files.insert(path, known);
                return Ok(());
            }
        };
        let replaces = match &found {
            None => Some(Replaces::Ours),
            Some(found) => match self.judge_file(&path, found, &known, own)? {
                Judgment::Replace(replaces) => Some(replaces),
                Judgment::UpToDate => {
                    files.unchanged += 1;
                    None
                }
                Judgment::Edited(before) => {
                    let message = "brief keeps the file: changed since brief wrote it";
                    let (rule, help) = (rules::item::OUTPUT_EDITED, self.policy.advice.edited);
                    files.edits.push(self.file_diagnostic(rule, &path, message, help));
                    files.record.files.insert(path, before);
                    return Ok(());
                }
                Judgment::Foreign => {
                    files.problems.push(self.in_the_way(item, &path, "was not written by brief"));
                    None
                }
            },
        };
        if let Some(replaces) = replaces {
            let before = found.map(|found| found.sha256);
            let (content, record) = (file.content, known.clone());
            files.writes.push(OneWrite { path: path.clone(), content, record, before, replaces });
        }
        self.keep_adopted(&path);
        files.record.files.insert(path, known);
        Ok(())
    }

    /// Tells what may happen to a file that is in place, where another is wanted.
    fn judge_file(
        &self,
        path: &str,
        found: &FileRecord,
        wanted: &FileRecord,
        own: &Disk<'_>,
    ) -> io::Result<Judgment> {
        let is_same = found.sha256 == wanted.sha256;
        Ok(match self.find_recorded_state(path, &found.sha256) {
            // A file that the user hands over is backed up, and restored later, even if its content is the same now.
            _ if is_same && self.is_handed_over(path, found) => {
                Judgment::Replace(Replaces::Foreign)
            }
            _ if found == wanted => Judgment::UpToDate,
            // Replacing equal content loses nothing.
            _ if is_same => Judgment::Replace(Replaces::Ours),
            Some(Recorded::Same) => Judgment::Replace(Replaces::Ours),
            _ if self.is_adopted(path, &found.sha256, own)? => Judgment::Replace(Replaces::Foreign),
            Some(Recorded::Changed(_)) if self.policy.edited.contains_path(path) => {
                Judgment::Replace(Replaces::Edited)
            }
            Some(Recorded::Changed(before)) => Judgment::Edited(before),
            None if self.policy.foreign.contains_path(path) => Judgment::Replace(Replaces::Foreign),
            None => Judgment::Foreign,
        })
    }

    fn plan_write(
        &mut self,
        write: OneWrite,
        item_files: &ItemFiles,
        disk: &mut Disk<'_>,
        own: &Disk<'_>,
    ) -> io::Result<()> {
        let OneWrite { path, content, record, before, replaces } = write;
        let kind = if before.is_some() { ChangeKind::Updated } else { ChangeKind::Created };
        if self.compares {
            let mut after = Vec::new();
            item_files.write_content(&content, &mut after)?;
            let before = before.as_ref().map(|_| content_of(disk, &path)).transpose()?;
            let difference = Difference { path: path.clone(), before, after: Some(after) };
            self.report.differences.push(difference);
        }
        if let Some(stage) = &mut self.stage {
            if replaces != Replaces::Ours && self.policy.backup == Backup::Copy {
                let copy = back_up(disk, own, &path)?;
                if replaces == Replaces::Foreign {
                    self.report.record.adopted.insert(path.clone(), copy.clone());
                }
                self.report.backups.push((path.clone(), copy));
            }
            let (at, mode) = (WriteRoot::Outputs, PermissionSource::Own);
            let permission = record.permission();
            let planned = Planned { at, path: &path, mode, permission, before };
            let fill = &mut |target: &mut dyn io::Write| item_files.write_content(&content, target);
            stage.stage_file(planned, record.sha256, fill)?;
        }
        self.report.changes.push(Change { path, kind });
        Ok(())
    }

    /// Returns whether the user has chosen a file that is not ours yet.
    fn is_handed_over(&self, path: &str, found: &FileRecord) -> bool {
        self.policy.foreign.contains_path(path)
            && self.find_recorded_state(path, &found.sha256).is_none()
    }

    /// Returns whether a file equals the backup of the one that our output had replaced before.
    fn is_adopted(&self, path: &str, hash: &str, own: &Disk<'_>) -> io::Result<bool> {
        let original = self.read_original(path, own)?;
        Ok(original.is_some_and(|original| sha256(&original.content.bytes) == hash))
    }

    /// Returns the item that already has a path, or needs it for a directory.
    fn find_clash(&self, path: &str) -> Option<String> {
        let path = path.to_lowercase();
        if let Some(item) = with_parents(&path).find_map(|above| self.owners.get(above)) {
            return Some(item.clone());
        }
        let below = format!("{path}/");
        let next = self.owners.range(below.clone()..).next();
        next.filter(|(other, _)| other.starts_with(&below)).map(|(_, item)| item.clone())
    }

    fn in_the_way(&self, item: &PortableItem, path: &str, what: &str) -> Diagnostic {
        let message = format!("brief does not write the {}: the file {what}", item.id());
        let help = self.policy.advice.foreign;
        self.file_diagnostic(rules::item::OUTPUT_IN_THE_WAY, path, message, help)
    }
}

/// Creates the error for a path that a record cannot hold.
fn unportable_diagnostic(item: &PortableItem, path: &str) -> Diagnostic {
    let message = format!("brief does not write the {}: invalid file path `{path}`", item.id());
    let source = item.document().source();
    Diagnostic::new(rules::item::UNPORTABLE_FILE_NAME, source, Span::default(), message)
        .with_help("give the file another name")
}

fn collision_diagnostic(item: &PortableItem, path: &str, other: &str) -> Diagnostic {
    let source = item.document().source();
    let message = format!("the {} and `{other}` have the same output path `{path}`", item.id());
    Diagnostic::new(rules::item::OUTPUT_COLLISION, source, Span::default(), message)
        .with_help("rename one, or give their kinds different paths in `brief.toml`")
}
