//! What a build will do, before it does anything.
//!
//! A file is ours when the record says so and its content is what was recorded. Everything else stays: a
//! file that nobody recorded keeps its item from being written at all, one that was changed since is kept
//! alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use brief_dialects::portable::Item;
use brief_syntax::hash::sha256;
use brief_syntax::system::{FileContent, Permission};
use brief_syntax::{Diagnostic, Source, Span};

use super::disk::{Disk, Found};
use super::record::{FileRecord, ItemRecord, Record};
use super::source::Beside;
use super::{Change, ChangeKind, Edited};
use crate::compile::{Compiled, Content};

/// What a build will do.
pub(super) struct Plan<'p> {
    /// What was written before.
    before: &'p Record,
    /// What a run that was ended in the middle was about to write.
    pending: Option<&'p Record>,
    edited: Edited,
    out: &'p Path,
    /// What the record will say.
    pub(super) after: Record,
    pub(super) writes: Vec<Write>,
    pub(super) removals: Vec<Change>,
    pub(super) unchanged: usize,
    pub(super) kept: usize,
    /// How many items could not be built.
    pub(super) failed: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What the records say about each path.
    recorded: BTreeMap<&'p str, Vec<&'p FileRecord>>,
    /// Whose each path is.
    claimed: BTreeMap<String, String>,
}

/// A file to be written.
pub(super) struct Write {
    pub(super) path: String,
    pub(super) bytes: Bytes,
    pub(super) permission: Permission,
    pub(super) kind: ChangeKind,
}

/// The content of a file to be written.
pub(super) enum Bytes {
    /// A text that was compiled.
    Text(String),
    /// A file that lies beside an item, for several clients at once.
    Shared(Rc<FileContent>),
}

impl Bytes {
    pub(super) fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Text(text) => text.as_bytes(),
            Bytes::Shared(content) => &content.bytes,
        }
    }
}

/// Returns what the record calls an item.
pub(super) fn key(item: &Item) -> String {
    format!("{}/{}", item.kind(), item.name())
}

impl<'p> Plan<'p> {
    pub(super) fn new(
        before: &'p Record,
        pending: Option<&'p Record>,
        edited: Edited,
        out: &'p Path,
        registry: String,
    ) -> Plan<'p> {
        let mut recorded: BTreeMap<&str, Vec<&FileRecord>> = BTreeMap::new();
        for (_, path, file) in std::iter::once(before).chain(pending).flat_map(Record::files) {
            recorded.entry(path).or_default().push(file);
        }
        Plan {
            before,
            pending,
            edited,
            out,
            after: Record::new(registry),
            writes: Vec::new(),
            removals: Vec::new(),
            unchanged: 0,
            kept: 0,
            failed: 0,
            diagnostics: Vec::new(),
            recorded,
            claimed: BTreeMap::new(),
        }
    }

    /// Leaves everything of an item as it is, because it could not be built.
    pub(super) fn fail(&mut self, key: &str) {
        self.failed += 1;
        self.leave(key);
    }

    /// Leaves everything of an item as it is.
    pub(super) fn leave(&mut self, key: &str) {
        if self.after.items.contains_key(key) {
            return;
        }
        if let Some(record) = self.before.items.get(key) {
            for path in record.files.keys() {
                self.claimed.insert(path.clone(), key.to_owned());
            }
            self.after.items.insert(key.to_owned(), record.clone());
        }
    }

    /// Returns whether nothing about an item has changed: neither what it is made from nor its files.
    pub(super) fn is_unchanged(
        &mut self,
        key: &str,
        fingerprint: &str,
        disk: &mut Disk<'_>,
    ) -> bool {
        let Some(record) = self.before.items.get(key) else { return false };
        let same = record.fingerprint == fingerprint
            && record.files.iter().all(|(path, file)| disk.look(path) == Found::File(file.clone()));
        if same {
            self.unchanged += record.files.len();
            self.leave(key);
        }
        same
    }

    /// Plans the files of an item that was compiled.
    pub(super) fn add(
        &mut self,
        item: &Item,
        fingerprint: String,
        compiled: Compiled,
        files: &BTreeMap<String, Beside>,
        disk: &mut Disk<'_>,
    ) {
        let key = key(item);
        self.diagnostics.extend(compiled.diagnostics);
        let mut record =
            ItemRecord { source: item.slashed().to_owned(), fingerprint, files: BTreeMap::new() };
        let (mut writes, mut problems, mut edits) = (Vec::new(), Vec::new(), Vec::new());
        let mut unchanged = 0;
        for file in compiled.files {
            let (bytes, wanted) = match file.content {
                Content::Text(text) => {
                    let sha256 = sha256(text.as_bytes());
                    (Bytes::Text(text), FileRecord { sha256, program: false })
                }
                Content::Copy(path) => {
                    let Some(beside) = files.get(&path) else { continue };
                    let program = beside.content.permission == Permission::Program;
                    let wanted = FileRecord { sha256: beside.sha256.clone(), program };
                    (Bytes::Shared(Rc::clone(&beside.content)), wanted)
                }
            };
            let path = file.path;
            if let Some(other) = self.clash(&path) {
                problems.push(collision(item, &path, &other));
                continue;
            }
            let write = |kind| {
                writes.push(Write {
                    path: path.clone(),
                    bytes,
                    permission: wanted.permission(),
                    kind,
                });
            };
            match disk.look(&path) {
                Found::Missing => write(ChangeKind::Created),
                Found::File(found) if found == wanted => unchanged += 1,
                // The same content is nobody's work that could be lost.
                Found::File(found) if found.sha256 == wanted.sha256 => write(ChangeKind::Updated),
                Found::File(found) => match self.recorded(&path, &found.sha256) {
                    Some(_) if self.edited == Edited::Overwrite => write(ChangeKind::Updated),
                    Some(Recorded::Same) => write(ChangeKind::Updated),
                    Some(Recorded::Changed(before)) => {
                        edits.push(self.edit(&path));
                        record.files.insert(path, before);
                        continue;
                    }
                    None => problems.push(self.in_the_way(item, &path, "is not ours")),
                },
                Found::InTheWay(what) => problems.push(self.in_the_way(item, &path, &what)),
            }
            record.files.insert(path, wanted);
        }
        if !problems.is_empty() {
            self.kept += problems.len();
            self.diagnostics.append(&mut problems);
            self.fail(&key);
            return;
        }
        for path in record.files.keys() {
            self.claimed.insert(path.clone(), key.clone());
        }
        self.unchanged += unchanged;
        self.kept += edits.len();
        self.diagnostics.append(&mut edits);
        self.writes.append(&mut writes);
        if !record.files.is_empty() {
            self.after.items.insert(key, record);
        }
    }

    /// Plans to remove what is no longer wanted.
    pub(super) fn remove_stale(&mut self, disk: &mut Disk<'_>) {
        let records = std::iter::once(self.before).chain(self.pending);
        let mut stale: BTreeMap<&str, (&str, &FileRecord)> = BTreeMap::new();
        for (item, path, file) in records.flat_map(Record::files) {
            if !self.claimed.contains_key(path) {
                stale.entry(path).or_insert((item, file));
            }
        }
        for (path, (item, file)) in stale {
            let Found::File(found) = disk.look(path) else { continue };
            let is_same = matches!(self.recorded(path, &found.sha256), Some(Recorded::Same));
            if is_same || self.edited == Edited::Overwrite {
                let path = path.to_owned();
                self.removals.push(Change { path, kind: ChangeKind::Removed });
                continue;
            }
            self.kept += 1;
            let source = Arc::new(Source::unread(self.out.join(path)));
            let message =
                "the file is no longer wanted, but was changed since it was written; it stays";
            self.diagnostics.push(
                Diagnostic::warning("portable/output-stale", &source, Span::default(), message)
                    .with_help("remove it, or build with `--force`"),
            );
            let record = self.after.items.entry(item.to_owned()).or_default();
            record.files.insert(path.to_owned(), file.clone());
            // Without that the item would count as built.
            record.fingerprint.clear();
        }
    }

    /// Returns what the records say about a file with that content.
    fn recorded(&self, path: &str, sha256: &str) -> Option<Recorded> {
        let files = self.recorded.get(path)?;
        if files.iter().any(|file| file.sha256 == sha256) {
            return Some(Recorded::Same);
        }
        files.first().map(|&file| Recorded::Changed(file.clone()))
    }

    /// Returns the item that has a path already, or needs it for a directory.
    fn clash(&self, path: &str) -> Option<String> {
        let mut above = path;
        while let Some((parent, _)) = above.rsplit_once('/') {
            if let Some(item) = self.claimed.get(above) {
                return Some(item.clone());
            }
            above = parent;
        }
        let below = format!("{path}/");
        let next = self.claimed.range(below.clone()..).next();
        next.filter(|(other, _)| other.starts_with(&below)).map(|(_, item)| item.clone())
    }

    fn edit(&self, path: &str) -> Diagnostic {
        let source = Arc::new(Source::unread(self.out.join(path)));
        let message = "the file was changed since it was written; it stays as it is";
        let help = "put the change into the source, then build with `--force`";
        Diagnostic::error("portable/output-edited", &source, Span::default(), message)
            .with_help(help)
    }

    fn in_the_way(&self, item: &Item, path: &str, what: &str) -> Diagnostic {
        let source = Arc::new(Source::unread(self.out.join(path)));
        let message = format!("the file {what}; nothing of the {} is written", item.id());
        Diagnostic::error("portable/output-in-the-way", &source, Span::default(), message)
            .with_help("move it away, or build into another directory")
    }
}

/// What a record says about a file.
enum Recorded {
    /// It is as it was written.
    Same,
    /// It was written, and changed since.
    Changed(FileRecord),
}

fn collision(item: &Item, path: &str, other: &str) -> Diagnostic {
    let source = item.document().source();
    let message = format!("the {} and `{other}` would both be `{path}`", item.id());
    Diagnostic::error("portable/output-collision", source, Span::default(), message)
        .with_help("rename one, or give their kinds different paths in `brief.toml`")
}
