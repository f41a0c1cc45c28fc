//! The history of what texts name: the change that removed it, and the name that it has now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use brief_syntax::paths::{cleaned_below, relative_path, slashed};
use brief_syntax::{Root, System};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::{Likelihood, ReferenceCheck, ReferenceKind, StaleReference, Trace};
use crate::briefing::{PlaceReport, place_below};
use crate::catalog::Catalog;
use crate::links::LinkedPath;
use crate::suppression;

/// A change that removed something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removal {
    /// The full commit; `None` for a change that is not committed yet.
    pub commit: Option<String>,
    /// The day of the commit.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
    /// The new path of a file that was renamed, `/`-separated below the root.
    pub renamed: Option<String>,
}

/// A line that a change removed from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedLine {
    /// The change.
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
}

impl Catalog {
    /// Returns what the texts of the project name and the project does not have, the likeliest first. With a
    /// history, the change that removed it is known, and what history alone can show is found.
    pub fn stale_references(
        &self,
        system: &dyn System,
        root: &Root,
        history: Option<&dyn ProjectHistory>,
    ) -> Vec<StaleReference> {
        let mut found = self.named_and_missing(system, root);
        for link in self.broken_links(system, root) {
            let written = link.source.slice(link.span).to_owned();
            found.push(StaleReference {
                trace: Trace { paths: places(root, link.path(), &written), ..Trace::default() },
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
        if let Some(history) = history {
            trace(&mut found, root, history);
        }
        found.retain(|found| {
            (!found.trace.is_needed || found.removal.is_some())
                && !suppression::is_taken_back(&found.diagnostic())
        });
        found.sort_by(|left, right| {
            let key = |found: &StaleReference| {
                (found.likelihood, found.kind, found.source.path().to_owned(), found.span)
            };
            key(left).cmp(&key(right))
        });
        found
    }

    /// Returns what the texts alone show, without history.
    fn named_and_missing(&self, system: &dyn System, root: &Root) -> Vec<StaleReference> {
        let Some(files) = self.files() else { return Vec::new() };
        let mut check = ReferenceCheck::new(system, root, files);
        let mut found = Vec::new();
        self.each_prose(system, &mut |text| found.extend(check.check(text)));
        found
    }
}

/// Returns the places that a link may have led to.
fn places(root: &Root, file: &Path, written: &str) -> Vec<String> {
    let Some(wanted) = LinkedPath::of(written) else { return Vec::new() };
    let top = root.path();
    let bases = file.ancestors().skip(1).take_while(|base| base.starts_with(top));
    let places =
        bases.filter_map(|base| cleaned_below(&base.strip_prefix(top).ok()?.join(&wanted.path)));
    places.map(|path| slashed(&path)).collect()
}

/// Asks history about each, in as few questions as possible.
fn trace(found: &mut [StaleReference], root: &Root, history: &dyn ProjectHistory) {
    let paths: BTreeSet<String> =
        found.iter().flat_map(|one| one.trace.paths.iter().cloned()).collect();
    let paths: Vec<String> = paths.into_iter().collect();
    let removed = if paths.is_empty() { BTreeMap::new() } else { history.removed_paths(&paths) };
    let mut lines: BTreeMap<String, Vec<RemovedLine>> = BTreeMap::new();
    for one in found {
        let place = one.trace.paths.iter().find(|path| removed.contains_key(*path)).cloned();
        let mut removal = place.as_ref().and_then(|path| removed.get(path)).cloned();
        if let Some((file, defining)) = &one.trace.line {
            let known = lines.entry(file.clone()).or_insert_with(|| history.removed_lines(file));
            removal =
                known.iter().find(|line| defining.is(&line.line)).map(|line| line.removal.clone());
        }
        let Some(removal) = removal else { continue };
        one.likelihood = Likelihood::Certain;
        if let (Some(renamed), Some(place)) = (&removal.renamed, place) {
            let written = one.written.trim_start_matches("./");
            let new = match place.strip_suffix(written) {
                // From the directory that the old name was written from.
                Some(base) if one.kind != ReferenceKind::Link => {
                    renamed.strip_prefix(base).unwrap_or(renamed).to_owned()
                }
                _ => {
                    let directory = one.source.path().parent().unwrap_or(root.path());
                    relative_path(directory, &root.path().join(renamed))
                }
            };
            one.help = format!("write `{new}`, its name since then");
            one.replacement = Some(new);
        }
        one.removal = Some(removal);
    }
}

/// The JSON form of what is out of date.
pub struct StaleReport<'r> {
    /// The root of the project.
    pub root: &'r Path,
    /// The findings.
    pub found: &'r [StaleReference],
    /// True if there is a history to ask.
    pub has_history: bool,
}

impl Serialize for StaleReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows: Vec<_> = self.found.iter().map(|one| row(self.root, one)).collect();
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

fn row<'r>(root: &'r Path, one: &'r StaleReference) -> StaleRow<'r> {
    StaleRow {
        kind: one.kind.as_str(),
        named: &one.written,
        likelihood: one.likelihood.as_str(),
        source: place_below(root, one.source.path(), one.source.line(one.span.start)),
        message: &one.message,
        help: &one.help,
        replacement: one.replacement.as_deref(),
        removal: one.removal.as_ref(),
    }
}
