//! Plans our entries in files that we share with the user and other tools. Only these entries change.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use brief_dialects::portable::PortableItem;
use brief_dialects::portable::output::{Compiler, Foreign, Merge, Outputs, SharedEntry};
use brief_syntax::rules;
use brief_system::hash::sha256;
use brief_system::{FileKind, Permission, ReadError};

use crate::outputs::Difference;
use crate::outputs::disk::DiskState;
use crate::outputs::plan::Plan;
use crate::outputs::record::OutputRecord;
use crate::outputs::stage::{Disks, PermissionSource, Planned, WriteRoot};
use crate::outputs::{Change, ChangeKind};

/// Returns the patterns of a rule that is for some files, by the key of the item.
pub(super) fn scope_of(key: &str, item: &PortableItem) -> Option<(String, Vec<String>)> {
    let patterns = item.scope_paths();
    let owned = || (key.to_owned(), patterns.iter().map(|&pattern| pattern.to_owned()).collect());
    (!patterns.is_empty()).then(owned)
}

/// Plans the changes of shared files, and returns our entries in them after the run.
pub(super) fn plan(
    compiler: &dyn Compiler,
    (local, witness): (Option<&OutputRecord>, &OutputRecord),
    clients: &[&str],
    plan: &mut Plan<'_>,
    disks: &mut Disks<'_>,
) -> io::Result<BTreeMap<String, Vec<SharedEntry>>> {
    let files: BTreeSet<String> = plan.after.files().map(|(_, path, _)| path.to_owned()).collect();
    let present: BTreeSet<String> = compiler
        .watched()
        .into_iter()
        .filter(|path| !matches!(disks.outputs.look(path), DiskState::Missing))
        .collect();
    let scopes: BTreeMap<String, Vec<String>> = plan
        .after
        .files()
        .filter_map(|(item, path, _)| Some((path.to_owned(), plan.scopes.get(item)?.clone())))
        .collect();
    let mut texts = BTreeMap::new();
    for path in
        present.iter().filter(|path| path.rsplit_once('.').is_some_and(|(_, end)| end == "md"))
    {
        let content = disks.outputs.read(path).ok();
        let text = content.and_then(|content| String::from_utf8(content.bytes).ok());
        texts.extend(text.map(|text| (path.clone(), text)));
    }
    let outputs =
        Outputs { files: &files, clients, present: &present, texts: &texts, scopes: &scopes };
    let mut wanted: BTreeMap<String, Vec<SharedEntry>> = BTreeMap::new();
    // Without wanted items no entries are needed.
    if !clients.is_empty() {
        for file in compiler.shared(&outputs) {
            wanted.entry(file.path).or_default().extend(file.entries);
        }
    }
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
            let message = "the lock names the file, but no client shares it; it stays as it is";
            warn(plan, &path, message, "take out by hand what came from a client");
        }
    }
    let mut after = BTreeMap::new();
    for (path, entries) in wanted {
        // The record of this machine comes first, then the lock.
        let records = local.into_iter().chain([&witness.shared]);
        let before = records.filter_map(|shared| shared.get(&path)).flatten();
        let before: Vec<SharedEntry> = before.cloned().collect();
        let entries = one(compiler, &path, &entries, &before, plan, disks)?;
        if !entries.is_empty() {
            after.insert(path, entries);
        }
    }
    Ok(after)
}

fn one(
    compiler: &dyn Compiler,
    path: &str,
    wanted: &[SharedEntry],
    before: &[SharedEntry],
    plan: &mut Plan<'_>,
    disks: &mut Disks<'_>,
) -> io::Result<Vec<SharedEntry>> {
    let refuse = |plan: &mut Plan<'_>, problem: &str| {
        plan.kept += 1;
        let names: Vec<String> = wanted.iter().map(SharedEntry::name).collect();
        let message = format!("{problem}; it stays as it is, without {}", names.join(", "));
        warn(plan, path, &message, "correct it, or write the entry yourself");
        let mut entries = before.to_vec();
        entries.sort_unstable();
        entries.dedup_by_key(|entry| entry.name());
        Ok(entries)
    };
    let bytes = match disks.outputs.read(path) {
        Ok(content) => Some(content.bytes),
        Err(ReadError::Missing) => None,
        // A `CLAUDE.md` that links to `AGENTS.md` already has the content of such a block.
        Err(ReadError::NotAFile(FileKind::Link)) if wanted.iter().all(is_block) => {
            return Ok(Vec::new());
        }
        // A missing file has no entries to remove.
        Err(_) if wanted.is_empty() => return Ok(Vec::new()),
        Err(error) => return refuse(plan, &format!("the file cannot be used: {error}")),
    };
    let hash = bytes.as_deref().map(sha256);
    let Ok(text) = bytes.map(String::from_utf8).transpose() else {
        return refuse(plan, "the file is not UTF-8");
    };
    let keep = Merge { path, text: text.as_deref(), wanted, before, foreign: Foreign::Keep };
    let mut merged = match compiler.merge(&keep) {
        Ok(merged) => merged,
        Err(problem) => return refuse(plan, &problem),
    };
    if !merged.kept.is_empty() && plan.is_forced(path) {
        let replace = Merge { foreign: Foreign::Replace, ..keep };
        merged = compiler.merge(&replace).map_err(io::Error::other)?;
        plan.back_up(path, &mut disks.outputs, &disks.own)?;
    }
    for (name, why) in &merged.kept {
        plan.kept += 1;
        let message = format!("`{name}`: {why}; it stays as it is");
        warn(plan, path, &message, "remove it; `brief sync --force FILE` replaces it");
    }
    if merged.text == text {
        if text.is_some() && !merged.entries.is_empty() {
            plan.unchanged += 1;
        }
        return Ok(merged.entries);
    }
    let kind = match (&text, &merged.text) {
        (None, _) => ChangeKind::Created,
        (Some(_), None) => ChangeKind::Removed,
        (Some(_), Some(_)) => ChangeKind::Updated,
    };
    if let Some(differences) = &mut plan.differences {
        differences.push(Difference {
            path: path.to_owned(),
            before: text.clone().map(String::into_bytes),
            after: merged.text.clone().map(String::into_bytes),
        });
    }
    if let Some(stage) = &mut plan.stage {
        match (&merged.text, hash) {
            (Some(text), before) => {
                let (at, mode) = (WriteRoot::Outputs, PermissionSource::Kept);
                let file = Planned { at, path, mode, permission: Permission::Data, before };
                stage.put_bytes(file, text.as_bytes())?;
            }
            (None, Some(hash)) => stage.remove(WriteRoot::Outputs, path, &hash),
            (None, None) => {}
        }
    }
    plan.changes.push(Change { path: path.to_owned(), kind });
    Ok(merged.entries)
}

fn warn(plan: &mut Plan<'_>, path: &str, message: &str, help: &str) {
    plan.diagnostics.push(plan.problem(rules::item::SHARED_FILE, path, message, help));
}

fn is_block(entry: &SharedEntry) -> bool {
    matches!(entry, SharedEntry::Block { .. })
}
