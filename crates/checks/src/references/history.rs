//! The history of what texts name: the change that removed it, and the name that it has now.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::ProjectFiles;
use brief_engine::{Catalog, PlaceReport, place_below};
use brief_syntax::{Root, Span};
use brief_system::System;
use brief_system::paths::{cleaned_below, relative_path, to_slashed};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::manifests::Manifests;
use super::{DefiningLine, Likelihood, ReferenceCheck, ReferenceKind, StaleReference, Trace};
use crate::audience::Audience;
use crate::illustrations::illustrated_spans;
use crate::links::{LinkedPath, find_broken_links};
use crate::suppression;
use crate::texts::each_prose;

/// A change that removed something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removal {
    /// The full commit; `None` for a change that is not committed yet.
    pub commit: Option<String>,
    /// The day of the commit.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
    /// The path that a renamed file has now, `/`-separated below the root.
    pub renamed: Option<String>,
}

impl Removal {
    /// Returns what the change did to it.
    pub(super) fn verb(&self) -> &'static str {
        if self.renamed.is_some() { "renamed" } else { "removed" }
    }
}

/// A line that a change removed from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedLine {
    pub removal: Removal,
    /// The line, without its break.
    pub line: String,
}

/// The history of a project, as far as it can be had. Paths are `/`-separated below the root.
pub trait ProjectHistory {
    /// Returns for each of some paths, files or directories, the newest change that removed it or its last file.
    fn removed_paths(&self, paths: &[String]) -> BTreeMap<String, Removal>;

    /// Returns the lines that were removed from a file, newest first.
    fn removed_lines(&self, file: &str) -> Vec<RemovedLine>;

    /// Returns the text that a file had before a commit.
    fn file_before(&self, commit: &str, file: &str) -> Option<String>;
}

/// Returns what the texts of the project name and the project does not have, the likeliest first. With a
/// history, the change that removed it is known, and what history alone can show is found.
pub fn find_stale_references(
    catalog: &Catalog,
    system: &dyn System,
    root: &Root,
    history: Option<&dyn ProjectHistory>,
) -> Vec<StaleReference> {
    let Some(files) = catalog.files() else { return Vec::new() };
    let mut check = ReferenceCheck::new(system, root, files);
    let mut found = Vec::new();
    each_prose(catalog, system, &mut |text| found.extend(check.check_text(text)));
    let mut found = trace_references(catalog, system, root, &check, found, history);
    found.retain(|found| !suppression::is_taken_back(&found.to_diagnostic()));
    found
}

/// Adds links that lead nowhere to what texts name, and what history tells of all of it. Returns the likeliest first.
pub(crate) fn trace_references(
    catalog: &Catalog,
    system: &dyn System,
    root: &Root,
    check: &ReferenceCheck<'_>,
    mut found: Vec<StaleReference>,
    history: Option<&dyn ProjectHistory>,
) -> Vec<StaleReference> {
    let Some(files) = catalog.files() else { return found };
    let links = find_broken_links(catalog, system, root);
    let mut audiences = HashMap::new();
    let mut illustrations: Vec<(&Path, Span)> = Vec::new();
    if !links.is_empty() {
        catalog.each_text(&mut |text| {
            let path = text.source.path();
            audiences.insert(path, Audience::from_text(&text, root.path(), files));
            if links.iter().any(|link| link.path() == path) {
                let shown = illustrated_spans(text.body()).into_iter();
                illustrations
                    .extend(shown.map(|shown| (path, text.source_span(shown.start, shown.end))));
            }
        });
    }
    for link in links {
        let written = link.source.slice(link.span).to_owned();
        let audience = audiences.get(link.path()).copied().unwrap_or(Audience::Readers);
        let (paths, ceiling) = possible_places(root, link.path(), &written, audience);
        let is_illustration = illustrations.iter().any(|(path, shown)| {
            *path == link.path() && (shown.start..shown.end).contains(&link.span.start)
        });
        found.push(StaleReference {
            trace: Trace { paths, is_needed: is_illustration, ..Trace::new(ceiling) },
            source: Arc::clone(&link.source),
            span: link.span,
            kind: ReferenceKind::Link,
            written,
            message: link.message,
            help: link.help.unwrap_or_default(),
            likelihood: Likelihood::Likely,
            replacement: None,
            removal: None,
            rule: link.rule,
        });
    }
    if let Some(history) = history.filter(|_| !found.is_empty()) {
        let is_there = |path: &str| system.resolve(&root.path().join(path)).is_ok();
        Tracing { manifests: &check.manifests, root, history, is_there: &is_there }
            .trace_findings(&mut found);
        drop_foreign_paths(&mut found, root, files);
    }
    found.retain(|found| !found.trace.is_needed || found.removal.is_some());
    if catalog.is_no_project() {
        // What was not read may have it.
        found.retain(|found| found.kind == ReferenceKind::Link);
    }
    found.sort_by(|left, right| {
        let key = |found: &StaleReference| {
            (found.likelihood, found.kind, found.source.path().to_owned(), found.span)
        };
        key(left).cmp(&key(right))
    });
    found
}

/// The number of paths of one text that the project never had, so that the text is about another project.
const FOREIGN: usize = 3;

/// Removes the paths of a text that is about another project: several that no commit had, each below a directory that neither
/// the project nor the text's own directory has.
fn drop_foreign_paths(found: &mut Vec<StaleReference>, root: &Root, files: &ProjectFiles) {
    let is_foreign = |one: &StaleReference| {
        let first = one.written.trim_start_matches("./").split('/').next().unwrap_or_default();
        let own = one.source.path().strip_prefix(root.path()).ok().and_then(Path::parent);
        let has = |directory: &Path| {
            files.directories.binary_search(&to_slashed(&directory.join(first))).is_ok()
        };
        one.kind == ReferenceKind::Path
            && one.likelihood == Likelihood::Possible
            && one.removal.is_none()
            && one.replacement.is_none()
            && !one.trace.is_of_skill
            && !own.into_iter().chain([Path::new("")]).any(has)
    };
    let mut counts: HashMap<PathBuf, usize> = HashMap::new();
    for one in found.iter().filter(|one| is_foreign(one)) {
        *counts.entry(one.source.path().to_owned()).or_default() += 1;
    }
    found.retain(|one| {
        counts.get(one.source.path()).is_none_or(|count| *count < FOREIGN) || !is_foreign(one)
    });
}

/// Returns the places that a link may have led to, and the likelihood that a commit gives it that removed one. A text for
/// other projects is held to its own directory.
fn possible_places(
    root: &Root,
    file: &Path,
    written: &str,
    audience: Audience,
) -> (Vec<String>, Likelihood) {
    let Some(wanted) = LinkedPath::from_destination(written) else {
        return (Vec::new(), Likelihood::Likely);
    };
    let top = root.path();
    let levels = if audience == Audience::Readers { 1 } else { usize::MAX };
    let bases = file.ancestors().skip(1).take_while(|base| base.starts_with(top)).take(levels);
    let places =
        bases.filter_map(|base| cleaned_below(&base.strip_prefix(top).ok()?.join(&wanted.path)));
    let ceiling = match audience {
        Audience::Perhaps => Likelihood::Likely,
        Audience::Here | Audience::Readers => Likelihood::Certain,
    };
    (places.map(|path| to_slashed(&path)).collect(), ceiling)
}

/// The limit for names of one file that are followed, one after the other.
const MOST_NAMES: usize = 16;

/// The search for the commits that removed things.
struct Tracing<'t, 'c> {
    manifests: &'t Manifests<'c>,
    root: &'t Root,
    history: &'t dyn ProjectHistory,
    is_there: &'t dyn Fn(&str) -> bool,
}

impl Tracing<'_, '_> {
    /// Asks history about each finding, in as few questions as possible.
    fn trace_findings(&self, found: &mut [StaleReference]) {
        let asked = found.iter().flat_map(|one| one.trace.paths.iter().chain(&one.trace.guesses));
        let asked: BTreeSet<String> = asked.cloned().collect();
        let removed = self.find_removed_paths(asked);
        let names = self.newest_names(&removed);
        let mut lines: BTreeMap<String, Vec<RemovedLine>> = BTreeMap::new();
        for one in found {
            let is_removed = |path: &&String| removed.contains_key(*path);
            let direct = one.trace.paths.iter().find(is_removed);
            let place = direct.or_else(|| one.trace.guesses.iter().find(is_removed)).cloned();
            let is_direct = direct.is_some();
            let mut removal = place.as_ref().and_then(|path| removed.get(path)).cloned();
            if let Some((file, defining)) = &one.trace.line {
                let known =
                    lines.entry(file.clone()).or_insert_with(|| self.history.removed_lines(file));
                let mut known = known.iter().filter(|line| defining.matches_line(&line.line));
                let is_it = |line: &&RemovedLine| self.has_defined(file, defining, &line.removal);
                removal = known.find(is_it).map(|line| line.removal.clone());
            }
            let Some(mut removal) = removal else { continue };
            // A guess, and what is not committed, may be something else.
            let is_shown = removal.commit.is_some() && (is_direct || one.trace.line.is_some());
            let least = if is_shown { Likelihood::Certain } else { Likelihood::Likely };
            let known = one.likelihood;
            one.likelihood = known.min(one.trace.ceiling.max(least));
            let name = place.as_ref().and_then(|place| names.get(place));
            removal.renamed = name.cloned();
            if let (Some(name), Some(place)) = (name, &place) {
                match &one.trace.elsewhere {
                    // It was here, and has moved there.
                    Some(other) if other == name => {}
                    Some(_) => removal.renamed = None,
                    None => self.propose_replacement(one, place, name),
                }
            }
            let has_moved = one.trace.elsewhere.is_none() || removal.renamed.is_some();
            if !has_moved {
                one.likelihood = known;
            }
            one.removal = Some(removal);
        }
    }

    fn find_removed_paths(&self, paths: BTreeSet<String>) -> BTreeMap<String, Removal> {
        let paths: Vec<String> = paths.into_iter().collect();
        if paths.is_empty() { BTreeMap::new() } else { self.history.removed_paths(&paths) }
    }

    /// Follows renamed files to the names that they have now. One that is gone by now has none.
    fn newest_names(&self, removed: &BTreeMap<String, Removal>) -> BTreeMap<String, String> {
        let mut names = BTreeMap::new();
        let renamed =
            removed.iter().filter_map(|(old, to)| Some((old.clone(), to.renamed.clone()?)));
        let mut open: Vec<(String, String)> = renamed.collect();
        for _ in 0..MOST_NAMES {
            let (there, gone) =
                open.into_iter().partition::<Vec<_>, _>(|(_, new)| (self.is_there)(new));
            names.extend(there);
            if gone.is_empty() {
                break;
            }
            let later = self.find_removed_paths(gone.iter().map(|(_, new)| new.clone()).collect());
            let next =
                |(old, new): (String, String)| Some((old, later.get(&new)?.renamed.clone()?));
            open = gone.into_iter().filter_map(next).collect();
        }
        names
    }

    /// Proposes the new name of a file, as the text would write it.
    fn propose_replacement(&self, one: &mut StaleReference, place: &str, name: &str) {
        let written = one.written.trim_start_matches("./");
        let new = match place.strip_suffix(written) {
            // From the directory that the old name was written from.
            Some(base) if one.kind != ReferenceKind::Link => {
                name.strip_prefix(base).unwrap_or(name).to_owned()
            }
            // Cursor's links begin at the top.
            _ if one.written.starts_with("mdc:") => format!("mdc:{name}"),
            _ => {
                let top = self.root.path();
                let directory = one.source.path().parent().unwrap_or(top);
                relative_path(directory, &top.join(name))
            }
        };
        one.help = format!("write `{new}`, its new name");
        one.replacement = Some(new);
    }

    /// Returns whether a file defined a name before a commit: a line like its definition may be anything.
    fn has_defined(&self, file: &str, defining: &DefiningLine, removal: &Removal) -> bool {
        let DefiningLine::Target(runner, name) = defining else { return true };
        let Some(commit) = &removal.commit else { return true };
        let before = self.history.file_before(commit, file);
        before.is_some_and(|text| self.manifests.defines_name(*runner, file, &text, name))
    }
}

/// The JSON form of what is out of date.
pub struct StaleReport<'r> {
    /// The root of the project.
    pub root: &'r Path,
    pub found: &'r [StaleReference],
    /// True if there is a history to ask.
    pub has_history: bool,
}

impl Serialize for StaleReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows: Vec<_> = self.found.iter().map(|one| build_stale_row(self.root, one)).collect();
        let mut report = serializer.serialize_struct("StaleReport", 2)?;
        report.serialize_field("history", &self.has_history)?;
        report.serialize_field("found", &rows)?;
        report.end()
    }
}

#[derive(Serialize)]
struct StaleRow<'r> {
    kind: &'static str,
    named: &'r str,
    likelihood: &'static str,
    source: PlaceReport<'r>,
    message: &'r str,
    help: &'r str,
    replacement: Option<&'r str>,
    removal: Option<&'r Removal>,
}

fn build_stale_row<'r>(root: &'r Path, one: &'r StaleReference) -> StaleRow<'r> {
    StaleRow {
        kind: one.kind.as_str(),
        named: &one.written,
        likelihood: one.likelihood.as_str(),
        source: place_below(root, one.source.path(), one.source.line_number(one.span.start)),
        message: &one.message,
        help: &one.help,
        replacement: one.replacement.as_deref(),
        removal: one.removal.as_ref(),
    }
}
