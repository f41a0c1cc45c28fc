//! Plans our entries in files that we share with the user and other tools. Only these entries change.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use brief_dialects::portable::output::{Compiler, Foreign, Merge, Outputs, SharedEntry};
use brief_system::{FileKind, ReadError};

use crate::outputs::disk::DiskState;
use crate::outputs::plan::Plan;
use crate::outputs::record::OutputRecord;
use crate::outputs::stage::Disks;

/// Plans the changes of shared files, and returns our entries in them after the run.
pub(super) fn plan_shared_files(
    compiler: &dyn Compiler,
    (local, witness): (Option<&OutputRecord>, &OutputRecord),
    clients: &[&str],
    plan: &mut Plan<'_>,
    disks: &mut Disks<'_>,
) -> io::Result<BTreeMap<String, Vec<SharedEntry>>> {
    let mut wanted = wanted_entries(compiler, clients, plan, disks);
    let local = local.map(|record| &record.shared);
    let is_local = |path: &String| local.is_some_and(|shared| shared.contains_key(path));
    let told = local.into_iter().chain([&witness.shared]).flat_map(BTreeMap::keys);
    let mut known: BTreeSet<String> = told.cloned().collect();
    known.retain(|path| !wanted.contains_key(path));
    for path in known {
        // The lock may have been edited, and its entries are removed from files of the user.
        if is_local(&path) || compiler.could_share(&path) {
            wanted.insert(path, Vec::new());
        } else {
            let message = "brief keeps the file: `brief.lock` lists it, but no client of the project shares it";
            plan.warn_shared(&path, message, "remove the entries of that client by hand");
        }
    }
    let mut after = BTreeMap::new();
    for (path, entries) in wanted {
        // The record of this machine comes first, then the lock.
        let records = local.into_iter().chain([&witness.shared]);
        let before = records.filter_map(|shared| shared.get(&path)).flatten();
        let before: Vec<SharedEntry> = before.cloned().collect();
        let change = SharedChange { path: &path, wanted: &entries, before: &before };
        let entries = change.plan_change(compiler, plan, disks)?;
        if !entries.is_empty() {
            after.insert(path, entries);
        }
    }
    Ok(after)
}

/// Returns the entries that the clients need for the outputs of the plan, by file.
fn wanted_entries(
    compiler: &dyn Compiler,
    clients: &[&str],
    plan: &Plan<'_>,
    disks: &mut Disks<'_>,
) -> BTreeMap<String, Vec<SharedEntry>> {
    let mut wanted: BTreeMap<String, Vec<SharedEntry>> = BTreeMap::new();
    // Without wanted items no entries are needed.
    if clients.is_empty() {
        return wanted;
    }
    let (files, scopes) = (plan.output_paths(), plan.scopes_by_path());
    let mut present = BTreeSet::new();
    let mut texts = BTreeMap::new();
    for path in compiler.watched_paths() {
        if let DiskState::Missing = disks.outputs.read_state(&path) {
            continue;
        }
        if path.rsplit_once('.').is_some_and(|(_, end)| end == "md") {
            let content = disks.outputs.read_file(&path).ok();
            let text = content.and_then(|content| String::from_utf8(content.bytes).ok());
            texts.extend(text.map(|text| (path.clone(), text)));
        }
        present.insert(path);
    }
    let outputs =
        Outputs { files: &files, clients, present: &present, texts: &texts, scopes: &scopes };
    for file in compiler.list_shared_files(&outputs) {
        wanted.entry(file.path).or_default().extend(file.entries);
    }
    wanted
}

/// The change of one shared file.
struct SharedChange<'c> {
    path: &'c str,
    /// The entries that it is to have of us.
    wanted: &'c [SharedEntry],
    /// Those that it has, by our records.
    before: &'c [SharedEntry],
}

/// A shared file as it is.
enum SharedFile {
    Text(Option<String>),
    /// Nothing is to be done with it.
    Left,
    /// It cannot be used, for this reason.
    Unusable(String),
}

impl SharedChange<'_> {
    /// Plans the new text, and returns our entries in it.
    fn plan_change(
        &self,
        compiler: &dyn Compiler,
        plan: &mut Plan<'_>,
        disks: &mut Disks<'_>,
    ) -> io::Result<Vec<SharedEntry>> {
        let SharedChange { path, wanted, before } = *self;
        let text = match self.read_shared_file(disks) {
            SharedFile::Text(text) => text,
            SharedFile::Left => return Ok(Vec::new()),
            SharedFile::Unusable(problem) => return Ok(self.refuse_change(plan, &problem)),
        };
        let keep = Merge { path, text: text.as_deref(), wanted, before, foreign: Foreign::Keep };
        let mut merged = match compiler.merge_entries(&keep) {
            Ok(merged) => merged,
            Err(problem) => return Ok(self.refuse_change(plan, &problem)),
        };
        if !merged.kept.is_empty() && plan.is_forced(path) {
            let replace = Merge { foreign: Foreign::Replace, ..keep };
            merged = compiler.merge_entries(&replace).map_err(io::Error::other)?;
            plan.back_up(path, &mut disks.outputs, &disks.own)?;
        }
        for (name, why) in &merged.kept {
            let message = format!("brief keeps `{name}`: {why}");
            plan.keep_shared(
                path,
                &message,
                "remove it, or run `brief sync --force FILE` to replace it",
            );
        }
        if merged.text != text || !merged.entries.is_empty() {
            plan.write_shared(path, text.as_deref(), merged.text.as_deref())?;
        }
        Ok(merged.entries)
    }

    fn read_shared_file(&self, disks: &mut Disks<'_>) -> SharedFile {
        match disks.outputs.read_file(self.path) {
            Ok(content) => match String::from_utf8(content.bytes) {
                Ok(text) => SharedFile::Text(Some(text)),
                Err(_) => SharedFile::Unusable("the file is not UTF-8".to_owned()),
            },
            Err(ReadError::Missing) => SharedFile::Text(None),
            // A `CLAUDE.md` that links to `AGENTS.md` already has the content of such a block.
            Err(ReadError::NotAFile(FileKind::Link)) if self.wanted.iter().all(is_block) => {
                SharedFile::Left
            }
            // A missing file has no entries to remove.
            Err(_) if self.wanted.is_empty() => SharedFile::Left,
            Err(error) => SharedFile::Unusable(format!("cannot use the file: {error}")),
        }
    }

    /// Leaves the file as it is, with the entries that it has.
    fn refuse_change(&self, plan: &mut Plan<'_>, problem: &str) -> Vec<SharedEntry> {
        let names: Vec<String> = self.wanted.iter().map(SharedEntry::name).collect();
        let message = format!("{problem}; brief did not add {}", names.join(", "));
        plan.keep_shared(self.path, &message, "fix the file, or add the entry yourself");
        let mut entries = self.before.to_vec();
        entries.sort_unstable();
        entries.dedup_by_key(|entry| entry.name());
        entries
    }
}

fn is_block(entry: &SharedEntry) -> bool {
    matches!(entry, SharedEntry::Block { .. })
}
