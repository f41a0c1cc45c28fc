//! Copies of one skill for several clients that are no longer the same.
//!
//! Which of them an agent follows depends on its client. Only copies that a person keeps are compared: what `brief` or
//! another program writes for each client may differ.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::{ProjectFiles, native};
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::text::format_count;
use brief_syntax::{Diagnostic, Root, Source, Span, limits, rules};
use brief_system::System;
use brief_system::paths::to_slashed;

use crate::references::has_extension;
use brief_engine::Catalog;

/// The number of files that a message names.
const NAMED: usize = 3;

/// The limit for files of one skill; more are not compared.
const MOST_FILES: usize = 200;

/// The part of its lines that the entry of a copy shares, in percent.
const ALIKE: usize = 50;

/// Files that say that a program keeps the copies.
const KEEPERS: [&str; 4] = ["brief.lock", "brief.toml", "skills-lock.json", "rulesync.jsonc"];

/// A skill of the project for some client.
struct SkillCopy {
    source: Arc<Source>,
    /// Its directory, `/`-separated below the root, without links.
    directory: String,
}

/// Reports the copies of each skill that differ from the first one.
pub(super) fn check_copies(catalog: &Catalog, system: &dyn System, root: &Root) -> Vec<Diagnostic> {
    let Some(files) = catalog.files() else { return Vec::new() };
    if KEEPERS
        .iter()
        .any(|name| files.files.binary_search_by(|path| path.as_str().cmp(name)).is_ok())
    {
        return Vec::new();
    }
    let mut found = Vec::new();
    for copies in collect_skill_copies(catalog, system, root).into_values() {
        let Some((first, others)) = copies.split_first() else { continue };
        found.extend(
            others.iter().filter_map(|other| compare_copies(system, root, files, first, other)),
        );
    }
    found
}

/// Returns the skills in clients' directories, by the directory that the clients' one is in and by their names.
fn collect_skill_copies(
    catalog: &Catalog,
    system: &dyn System,
    root: &Root,
) -> BTreeMap<(PathBuf, String), Vec<SkillCopy>> {
    let mut found: BTreeMap<(PathBuf, String), Vec<SkillCopy>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    catalog.each_text(&mut |text| {
        let path = text.source.path();
        let Ok(below) = path.strip_prefix(root.path()) else { return };
        if text.dialect != native::NAME || !text.is_skill || native::is_elsewhere(below) {
            return;
        }
        let is_hidden =
            |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.starts_with('.'));
        let Some(at) = below.iter().position(is_hidden) else { return };
        let real = system.resolve(path).map_or_else(|_| path.to_owned(), |real| real.path);
        let directory = real.parent().and_then(|above| above.strip_prefix(root.path()).ok());
        let name = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let (Some(directory), Some(name)) = (directory.map(to_slashed), name) else { return };
        if seen.insert(real) {
            let base: PathBuf = below.iter().take(at).collect();
            let copy = SkillCopy { source: Arc::clone(text.source), directory };
            found.entry((base, name.to_owned())).or_default().push(copy);
        }
    });
    found
}

fn compare_copies(
    system: &dyn System,
    root: &Root,
    files: &ProjectFiles,
    first: &SkillCopy,
    other: &SkillCopy,
) -> Option<Diagnostic> {
    let (left, right) = (body_text(&first.source), body_text(&other.source));
    if !is_like(left, right) {
        return None;
    }
    let of = |copy: &SkillCopy| -> BTreeSet<String> {
        files
            .files_below(&copy.directory)
            .filter(|path| *path != ENTRY && !is_of_one_client(path))
            .map(str::to_owned)
            .collect()
    };
    let (ours, theirs) = (of(first), of(other));
    if ours.len().max(theirs.len()) > MOST_FILES {
        return None;
    }
    let read = |copy: &SkillCopy, path: &str| {
        let path = root.path().join(&copy.directory).join(path);
        system.read(&path, limits::FILE_BYTES).ok()
    };
    let mut differing: Vec<String> = Vec::new();
    if left.trim() != right.trim() {
        differing.push(ENTRY.to_owned());
    }
    let all = ours.union(&theirs).filter(|path| {
        ours.contains(*path) != theirs.contains(*path) || read(first, path) != read(other, path)
    });
    differing.extend(all.cloned());
    let (named, more) = differing.split_at(differing.len().min(NAMED));
    if named.is_empty() {
        return None;
    }
    let more = if more.is_empty() { "" } else { ", …" };
    let named: Vec<String> = named.iter().map(|path| format!("`{path}`")).collect();
    let message = format!(
        "the skill in `{}` and its copy here differ in {}: {}{more}",
        first.directory,
        format_count(differing.len(), "file"),
        named.join(", "),
    );
    let help = "keep one of them, and make the other a link to it";
    let rule = rules::guidance::COPIES_DIFFER;
    Some(Diagnostic::new(rule, &other.source, Span::empty_at(0), message).with_help(help))
}

/// Returns whether a file of a skill is for one client, such as `agents/openai.yaml` for Codex: a copy for another has none.
fn is_of_one_client(path: &str) -> bool {
    let name = path.strip_prefix("agents/");
    name.is_some_and(|name| has_extension(name, &["yaml"]) && !name.contains('/'))
}

/// The entry file of a skill.
const ENTRY: &str = "SKILL.md";

fn body_text(source: &Arc<Source>) -> &str {
    source.text().get(FrontMatter::from_source(source).body_start..).unwrap_or_default()
}

/// Returns whether two texts share most of their lines: skills of one name may have nothing else in common.
fn is_like(left: &str, right: &str) -> bool {
    fn significant_lines(text: &str) -> BTreeSet<&str> {
        text.lines().map(str::trim).filter(|line| line.len() > 3).collect()
    }
    let (left, right) = (significant_lines(left), significant_lines(right));
    let shared = left.intersection(&right).count();
    shared > 0 && shared * 100 >= left.len().max(right.len()) * ALIKE
}
