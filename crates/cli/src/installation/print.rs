//! The report of a run, for people and for programs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use brief_engine::PackageReport;
use brief_registry::install::{
    DependencyReport, InstallMode, InstallReport, ItemCapabilities, SourceReport,
};
use brief_registry::manifest::ManifestPlace;
use brief_registry::{Change, ChangeKind, Difference};
use brief_syntax::render::path_below;
use serde::Serialize;
use similar::TextDiff;

use super::Installation;
use crate::error::Result;
use crate::ui::Ui;

/// The number of shown letters of a commit.
const SHORT: usize = 12;

/// Returns the start of a commit, or of the digits of a digest.
pub(crate) fn short(commit: &str) -> &str {
    let commit = commit.strip_prefix("sha256:").unwrap_or(commit);
    commit.get(..SHORT).unwrap_or(commit)
}

/// Prints what a run did or would do, for people.
pub(crate) fn print_report(
    ui: &mut Ui,
    installation: &Installation,
    report: &InstallReport,
    mode: InstallMode,
) -> Result {
    let root = &installation.project.outputs;
    ui.print_diagnostics(&report.diagnostics, root)?;
    for note in &report.notes {
        ui.warning(note)?;
    }
    match mode {
        InstallMode::Write => {}
        InstallMode::Check => {
            for change in &report.changes {
                ui.print_line(format!("{}: {}", change.path, why(change)))?;
            }
            for (name, kind) in [("brief.toml", report.manifest), ("brief.lock", report.lock)] {
                if let Some(kind) = kind {
                    ui.print_line(format!("{name}: {}", of_our_own(kind)))?;
                }
            }
        }
        InstallMode::Diff => {
            for difference in &report.differences {
                ui.print_text(unified(difference).as_bytes())?;
            }
        }
    }
    for source in &report.sources {
        if let Some(line) = moved(source) {
            ui.status(&line)?;
        }
    }
    for (id, kind) in &report.items {
        let sign = sign(*kind);
        ui.status(&format!("  {sign} {}/{}", id.kind, id.name))?;
        if let Some(capabilities) = report.capabilities.get(id) {
            for line in told(capabilities, *kind) {
                ui.status(&format!("      {line}"))?;
            }
        }
    }
    for line in lost(report) {
        ui.status(&line)?;
    }
    for dependency in &report.dependencies {
        ui.status(&format!("  {}", chosen(dependency)))?;
        for line in told(&dependency.capabilities, dependency.change) {
            ui.status(&format!("      {line}"))?;
        }
    }
    for (path, copy) in &report.backups {
        let copy = copy.strip_prefix(root).unwrap_or(copy);
        ui.status(&format!("  {path} was replaced; what it held is in {}", copy.display()))?;
    }
    ui.status(&summary(installation, report, mode))?;
    if mode == InstallMode::Diff {
        ui.status("nothing was written; the same without `--diff` does it")?;
    }
    Ok(())
}

fn sign(kind: ChangeKind) -> char {
    match kind {
        ChangeKind::Created => '+',
        ChangeKind::Updated => '~',
        ChangeKind::Removed => '-',
    }
}

/// Says what happened to a package of `[dependencies]`.
fn chosen(dependency: &DependencyReport) -> String {
    let DependencyReport { id, before, change, files, .. } = dependency;
    let files = match files {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    };
    let was = match before {
        Some(before) if *before != id.version => format!(", was {before}"),
        _ => String::new(),
    };
    format!("{} {}:{id} ({files}{was})", sign(*change), id.ecosystem)
}

/// The number of shown facts of one capability; `brief audit` shows all.
const SHOWN: usize = 4;

/// Lists the capabilities of an item, one per line: all of them, or the new ones.
fn told(capabilities: &ItemCapabilities, kind: ChangeKind) -> Vec<String> {
    let (facts, now) = match kind {
        ChangeKind::Created => (&capabilities.all, ""),
        _ => (&capabilities.added, "now also "),
    };
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, evidence) in facts.iter().filter_map(|fact| fact.split_once(' ')) {
        by_name.entry(name).or_default().push(evidence);
    }
    let line = |(name, evidence): (&str, Vec<&str>)| {
        let more = match evidence.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let shown: Vec<&str> = evidence.into_iter().take(SHOWN).collect();
        format!("{now}{name}: {}{more}", shown.join(", "))
    };
    by_name.into_iter().map(line).collect()
}

/// Returns the reason why a file differs from its wanted state.
fn why(change: &Change) -> &'static str {
    match change.kind {
        ChangeKind::Created => "missing",
        ChangeKind::Updated => "out of date",
        ChangeKind::Removed => "no longer wanted",
    }
}

fn of_our_own(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Created => "missing",
        ChangeKind::Updated => "out of date",
        ChangeKind::Removed => "no longer needed",
    }
}

/// The most lines about what clients do not get.
const LOST_LINES: usize = 12;

/// Says what clients do not get of items that were written for another one: a line each, or for many a line for each
/// loss with the number of items.
fn lost(report: &InstallReport) -> Vec<String> {
    let all =
        || report.lost.iter().flat_map(|(id, notes)| notes.iter().map(move |note| (id, note)));
    let count = all().count();
    if count == 0 {
        return Vec::new();
    }
    let mut lines = vec!["for clients that they were not written for:".to_owned()];
    if count <= LOST_LINES {
        lines.extend(all().map(|(id, note)| format!("  {}/{}: {note}", id.kind, id.name)));
        return lines;
    }
    let mut items: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, note) in all() {
        *items.entry(note).or_default() += 1;
    }
    let mut items: Vec<(&str, usize)> = items.into_iter().collect();
    items.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let noun = |count: usize| if count == 1 { "item" } else { "items" };
    let line = |(note, count): &(&str, usize)| format!("  {count} {}: {note}", noun(*count));
    lines.extend(items.iter().take(LOST_LINES).map(line));
    if let Some(more) = items.len().checked_sub(LOST_LINES).filter(|more| *more > 0) {
        lines.push(format!("  and {more} other notes; `--json` has all"));
    }
    lines
}

fn moved(source: &SourceReport) -> Option<String> {
    let name = &source.name;
    match (&source.before, &source.commit) {
        (Some(before), Some(commit)) if before != commit => {
            Some(format!("{name}: {} -> {}", short(before), short(commit)))
        }
        (None, Some(commit)) => Some(format!("{name}: {}", short(commit))),
        _ => None,
    }
}

fn summary(installation: &Installation, report: &InstallReport, mode: InstallMode) -> String {
    let items = if report.count == 1 { "item" } else { "items" };
    let done = match report.failed {
        0 => report.count.to_string(),
        failed => format!("{} of {}", report.count.saturating_sub(failed), report.count),
    };
    let counted = |kind| {
        let count = report.count_of(kind);
        let verb = match kind {
            ChangeKind::Created => "create",
            ChangeKind::Updated => "update",
            ChangeKind::Removed => "remove",
        };
        match mode {
            InstallMode::Write => format!("{count} {verb}d"),
            InstallMode::Check | InstallMode::Diff => format!("{count} to {verb}"),
        }
    };
    let kinds = [ChangeKind::Created, ChangeKind::Updated, ChangeKind::Removed];
    let [created, updated, removed] = kinds.map(counted);
    let (unchanged, kept) = (report.unchanged, report.kept);
    let place = if installation.is_elsewhere {
        format!(" in {}", installation.project.outputs.display())
    } else {
        String::new()
    };
    format!(
        "{done} {items}{place}: {created}, {updated}, {unchanged} unchanged, {removed}, {kept} kept"
    )
}

/// Shows the change of a file in the format of `diff -u`.
fn unified(difference: &Difference) -> String {
    let Difference { path, before, after } = difference;
    let text = |bytes: &Option<Vec<u8>>| match bytes {
        None => Some(String::new()),
        Some(bytes) if bytes.contains(&0) => None,
        Some(bytes) => String::from_utf8(bytes.clone()).ok(),
    };
    let name = |bytes: &Option<Vec<u8>>, side: &str| match bytes {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (name(before, "a"), name(after, "b"));
    match (text(before), text(after)) {
        (Some(before), Some(after)) => {
            TextDiff::from_lines(&before, &after).unified_diff().header(&old, &new).to_string()
        }
        _ => format!("Binary files {old} and {new} differ\n"),
    }
}

#[derive(Debug, Serialize)]
struct RunReport<'r> {
    project: String,
    sources: Vec<JsonSource<'r>>,
    items: JsonItems,
    capabilities: Vec<JsonCapabilities<'r>>,
    dependencies: Vec<JsonDependency<'r>>,
    files: JsonFiles<'r>,
    failed: usize,
    manifest: Option<&'static str>,
    lock: Option<&'static str>,
    backups: Vec<JsonBackup<'r>>,
    notes: Vec<String>,
}

/// A source in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct JsonSource<'r> {
    name: &'r str,
    git: Option<&'r str>,
    oci: Option<&'r str>,
    r#ref: Option<&'r str>,
    subpath: Option<&'r str>,
    directory: Option<&'r str>,
    before: Option<&'r str>,
    commit: Option<&'r str>,
}

#[derive(Debug, Serialize)]
struct JsonItems {
    count: usize,
    added: Vec<String>,
    updated: Vec<String>,
    removed: Vec<String>,
}

#[derive(Debug, Serialize)]
struct JsonCapabilities<'r> {
    item: String,
    all: &'r [String],
    added: &'r [String],
}

#[derive(Debug, Serialize)]
struct JsonDependency<'r> {
    package: PackageReport<'r>,
    before: Option<&'r str>,
    change: &'static str,
    all: &'r [String],
    added: &'r [String],
}

#[derive(Debug, Serialize)]
struct JsonFiles<'r> {
    created: Vec<&'r str>,
    updated: Vec<&'r str>,
    removed: Vec<&'r str>,
    unchanged: usize,
    kept: usize,
}

#[derive(Debug, Serialize)]
struct JsonBackup<'r> {
    path: &'r str,
    copy: Cow<'r, str>,
}

impl<'r> JsonSource<'r> {
    pub(crate) fn new(
        name: &'r str,
        place: &'r ManifestPlace,
        before: Option<&'r str>,
        commit: Option<&'r str>,
    ) -> JsonSource<'r> {
        let empty = JsonSource {
            name,
            git: None,
            oci: None,
            r#ref: None,
            subpath: None,
            directory: None,
            before,
            commit,
        };
        match place {
            ManifestPlace::Git { git, reference, subpath } => JsonSource {
                git: Some(git),
                r#ref: reference.as_deref(),
                subpath: subpath.as_deref(),
                ..empty
            },
            ManifestPlace::Oci { oci, reference } => {
                JsonSource { oci: Some(oci), r#ref: reference.as_deref(), ..empty }
            }
            ManifestPlace::Directory(path) => JsonSource { directory: Some(path), ..empty },
        }
    }
}

fn word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Created => "created",
        ChangeKind::Updated => "updated",
        ChangeKind::Removed => "removed",
    }
}

/// Prints what a run did or would do, as JSON.
pub(crate) fn print_json(
    ui: &mut Ui,
    kind: &'static str,
    root: &Path,
    report: &InstallReport,
) -> Result {
    let items = |wanted| {
        let changed = report.items.iter().filter(move |(_, kind)| **kind == wanted);
        changed.map(|(id, _)| format!("{}/{}", id.kind, id.name)).collect()
    };
    let files = |wanted| {
        let changed = report.changes.iter().filter(move |change| change.kind == wanted);
        changed.map(|change| change.path.as_str()).collect()
    };
    let word = |kind: Option<ChangeKind>| kind.map(word);
    let sources = report.sources.iter().map(|source| {
        let (before, commit) = (source.before.as_deref(), source.commit.as_deref());
        JsonSource::new(&source.name, &source.place, before, commit)
    });
    let capabilities = report.capabilities.iter().map(|(id, told)| JsonCapabilities {
        item: format!("{}/{}", id.kind, id.name),
        all: &told.all,
        added: &told.added,
    });
    let dependencies = report.dependencies.iter().map(|dependency| JsonDependency {
        package: PackageReport::of(&dependency.id),
        before: dependency.before.as_deref(),
        change: self::word(dependency.change),
        all: &dependency.capabilities.all,
        added: &dependency.capabilities.added,
    });
    let backups =
        report.backups.iter().map(|(path, copy)| JsonBackup { path, copy: path_below(root, copy) });
    let body = RunReport {
        project: root.to_string_lossy().into_owned(),
        sources: sources.collect(),
        items: JsonItems {
            count: report.count,
            added: items(ChangeKind::Created),
            updated: items(ChangeKind::Updated),
            removed: items(ChangeKind::Removed),
        },
        capabilities: capabilities.collect(),
        dependencies: dependencies.collect(),
        files: JsonFiles {
            created: files(ChangeKind::Created),
            updated: files(ChangeKind::Updated),
            removed: files(ChangeKind::Removed),
            unchanged: report.unchanged,
            kept: report.kept,
        },
        failed: report.failed,
        manifest: word(report.manifest),
        lock: word(report.lock),
        backups: backups.collect(),
        notes: report
            .notes
            .iter()
            .cloned()
            .chain(report.lost.iter().flat_map(|(id, notes)| {
                notes.iter().map(move |note| format!("{}/{}: {note}", id.kind, id.name))
            }))
            .collect(),
    };
    ui.print_json(kind, root, &report.diagnostics, body)
}
