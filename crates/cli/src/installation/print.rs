//! The report of a run, for people and for programs.

use std::collections::BTreeMap;
use std::path::Path;

use brief_dialects::portable::ItemId;
use brief_registry::install::{
    DependencyReport, InstallMode, InstallReport, ItemCapabilities, SourceReport,
};
use brief_registry::manifest::ManifestPlace;
use brief_registry::{ChangeKind, Difference};
use brief_syntax::render::path_below;
use brief_syntax::text::format_count;
use serde::Serialize;
use serde_json::json;
use similar::TextDiff;

use super::Installation;
use crate::error::Result;
use crate::ui::Ui;

/// The number of shown letters of a commit.
const SHORT: usize = 12;

/// Returns the start of a commit, or of the digits of a digest.
pub(crate) fn short_commit(commit: &str) -> &str {
    let commit = commit.strip_prefix("sha256:").unwrap_or(commit);
    commit.get(..SHORT).unwrap_or(commit)
}

/// Returns the name of an item as a user types it, with its kind.
pub(crate) fn full_name(id: &ItemId) -> String {
    format!("{}/{}", id.kind, id.name)
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
        ui.print_warning(note)?;
    }
    match mode {
        InstallMode::Write => {}
        InstallMode::Check => {
            for change in &report.changes {
                let reason = change_reason(change.kind, "no longer needed");
                ui.print_line(format!("{}: {reason}", change.path))?;
            }
            for (name, kind) in [("brief.toml", report.manifest), ("brief.lock", report.lock)] {
                if let Some(kind) = kind {
                    ui.print_line(format!("{name}: {}", change_reason(kind, "no longer needed")))?;
                }
            }
        }
        InstallMode::Diff => {
            for difference in &report.differences {
                ui.print_text(render_unified_diff(difference).as_bytes())?;
            }
        }
    }
    for source in &report.sources {
        if let Some(line) = render_source_change(source) {
            ui.print_status(&line)?;
        }
    }
    for (id, kind) in &report.items {
        let sign = change_sign(*kind);
        ui.print_status(&format!("  {sign} {}", full_name(id)))?;
        if let Some(capabilities) = report.capabilities.get(id) {
            for line in render_capabilities(capabilities, *kind) {
                ui.print_status(&format!("      {line}"))?;
            }
        }
    }
    for line in render_losses(report) {
        ui.print_status(&line)?;
    }
    for dependency in &report.dependencies {
        ui.print_status(&format!("  {}", render_dependency(dependency)))?;
        for line in render_capabilities(&dependency.capabilities, dependency.change) {
            ui.print_status(&format!("      {line}"))?;
        }
    }
    for (path, copy) in &report.backups {
        let copy = copy.strip_prefix(root).unwrap_or(copy);
        ui.print_status(&format!("  replaced {path}; the backup is {}", copy.display()))?;
    }
    ui.print_status(&render_install_summary(installation, report, mode))?;
    if mode == InstallMode::Diff {
        ui.print_status("nothing written; run without `--diff` to apply")?;
    }
    Ok(())
}

fn change_sign(kind: ChangeKind) -> char {
    match kind {
        ChangeKind::Created => '+',
        ChangeKind::Updated => '~',
        ChangeKind::Removed => '-',
    }
}

/// Says what happened to a package of `[dependencies]`.
fn render_dependency(dependency: &DependencyReport) -> String {
    let DependencyReport { id, before, change, files, .. } = dependency;
    let files = format_count(*files, "file");
    let was = match before {
        Some(before) if *before != id.version => format!(", was {before}"),
        _ => String::new(),
    };
    format!("{} {}:{id} ({files}{was})", change_sign(*change), id.ecosystem)
}

/// The number of shown facts of one capability; `brief audit` shows all.
const SHOWN: usize = 4;

/// Lists the capabilities of an item, one per line: all of them, or the new ones.
fn render_capabilities(capabilities: &ItemCapabilities, kind: ChangeKind) -> Vec<String> {
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

/// Returns the reason why a file differs from its wanted state; `surplus` is that of one too many.
fn change_reason(kind: ChangeKind, surplus: &'static str) -> &'static str {
    match kind {
        ChangeKind::Created => "missing",
        ChangeKind::Updated => "out of date",
        ChangeKind::Removed => surplus,
    }
}

/// The most lines about what clients do not get.
const LOST_LINES: usize = 12;

/// Says what clients do not get of items that were written for another one: a line each, or for many a line for each
/// loss with the number of items.
fn render_losses(report: &InstallReport) -> Vec<String> {
    let all =
        || report.lost.iter().flat_map(|(id, notes)| notes.iter().map(move |note| (id, note)));
    let count = all().count();
    if count == 0 {
        return Vec::new();
    }
    let mut lines = vec!["compatibility:".to_owned()];
    if count <= LOST_LINES {
        lines.extend(all().map(|(id, note)| format!("  {}: {note}", full_name(id))));
        return lines;
    }
    let mut items: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, note) in all() {
        *items.entry(note).or_default() += 1;
    }
    let mut items: Vec<(&str, usize)> = items.into_iter().collect();
    items.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let line =
        |(note, count): &(&str, usize)| format!("  {}: {note}", format_count(*count, "item"));
    lines.extend(items.iter().take(LOST_LINES).map(line));
    if let Some(more) = items.len().checked_sub(LOST_LINES).filter(|more| *more > 0) {
        lines.push(format!("  and {more} more; `--json` lists them all"));
    }
    lines
}

fn render_source_change(source: &SourceReport) -> Option<String> {
    let name = &source.name;
    match (&source.before, &source.commit) {
        (Some(before), Some(commit)) if before != commit => {
            Some(format!("{name}: {} -> {}", short_commit(before), short_commit(commit)))
        }
        (None, Some(commit)) => Some(format!("{name}: {}", short_commit(commit))),
        _ => None,
    }
}

pub(crate) fn change_verb(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Created => "create",
        ChangeKind::Updated => "update",
        ChangeKind::Removed => "remove",
    }
}

fn render_install_summary(
    installation: &Installation,
    report: &InstallReport,
    mode: InstallMode,
) -> String {
    let items = if report.count == 1 { "item" } else { "items" };
    let done = match report.failed {
        0 => report.count.to_string(),
        failed => format!("{} of {}", report.count.saturating_sub(failed), report.count),
    };
    let counts = render_file_counts(
        &|kind| report.count_of(kind),
        (report.unchanged, report.kept),
        mode == InstallMode::Write,
    );
    let place = if installation.is_elsewhere {
        format!(" in {}", installation.project.outputs.display())
    } else {
        String::new()
    };
    format!("{done} {items}{place}: {counts}")
}

/// Renders what happens to files, without the zeros: `3 created, 1 unchanged`, or `already up to date`.
pub(crate) fn render_file_counts(
    count_of: &dyn Fn(ChangeKind) -> usize,
    (unchanged, kept): (usize, usize),
    is_written: bool,
) -> String {
    let counted = |kind| {
        let (count, verb) = (count_of(kind), change_verb(kind));
        (count, if is_written { format!("{count} {verb}d") } else { format!("{count} to {verb}") })
    };
    let kinds = [ChangeKind::Created, ChangeKind::Updated, ChangeKind::Removed].map(counted);
    let [created, updated, removed] = kinds;
    if created.0 + updated.0 + removed.0 + kept == 0 {
        return if is_written { "already up to date" } else { "up to date" }.to_owned();
    }
    let unchanged = (unchanged, format!("{unchanged} unchanged"));
    let kept = (kept, format!("{kept} kept"));
    let counts = [created, updated, unchanged, removed, kept];
    let shown = counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text);
    shown.collect::<Vec<_>>().join(", ")
}

/// Shows the change of a file in the format of `diff -u`.
fn render_unified_diff(difference: &Difference) -> String {
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

#[derive(Debug, Default, Serialize)]
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

impl<'r> JsonSource<'r> {
    pub(crate) fn new(
        name: &'r str,
        place: &'r ManifestPlace,
        before: Option<&'r str>,
        commit: Option<&'r str>,
    ) -> JsonSource<'r> {
        let source = JsonSource { name, before, commit, ..JsonSource::default() };
        match place {
            ManifestPlace::Git { git, reference, subpath } => JsonSource {
                git: Some(git),
                r#ref: reference.as_deref(),
                subpath: subpath.as_deref(),
                ..source
            },
            ManifestPlace::Oci { oci, reference } => {
                JsonSource { oci: Some(oci), r#ref: reference.as_deref(), ..source }
            }
            ManifestPlace::Directory(path) => JsonSource { directory: Some(path), ..source },
        }
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
        changed.map(|(id, _)| full_name(id)).collect::<Vec<_>>()
    };
    let files = |wanted| {
        let changed = report.changes.iter().filter(move |change| change.kind == wanted);
        changed.map(|change| &change.path).collect::<Vec<_>>()
    };
    let sources = report.sources.iter().map(|source| {
        let (before, commit) = (source.before.as_deref(), source.commit.as_deref());
        JsonSource::new(&source.name, &source.place, before, commit)
    });
    let capabilities = report.capabilities.iter().map(|(id, ItemCapabilities { all, added })| {
        json!({ "item": full_name(id), "all": all, "added": added })
    });
    let backups = report
        .backups
        .iter()
        .map(|(path, copy)| json!({ "path": path, "copy": path_below(root, copy) }));
    let lost = report
        .lost
        .iter()
        .flat_map(|(id, notes)| notes.iter().map(move |note| format!("{}: {note}", full_name(id))));
    let body = json!({
        "project": root.to_string_lossy(),
        "sources": sources.collect::<Vec<_>>(),
        "items": {
            "count": report.count,
            "added": items(ChangeKind::Created),
            "updated": items(ChangeKind::Updated),
            "removed": items(ChangeKind::Removed),
        },
        "capabilities": capabilities.collect::<Vec<_>>(),
        "dependencies": report.dependencies,
        "files": {
            "created": files(ChangeKind::Created),
            "updated": files(ChangeKind::Updated),
            "removed": files(ChangeKind::Removed),
            "unchanged": report.unchanged,
            "kept": report.kept,
        },
        "failed": report.failed,
        "manifest": report.manifest,
        "lock": report.lock,
        "backups": backups.collect::<Vec<_>>(),
        "notes": report.notes.iter().cloned().chain(lost).collect::<Vec<_>>(),
    });
    ui.print_json(kind, root, &report.diagnostics, body)
}
