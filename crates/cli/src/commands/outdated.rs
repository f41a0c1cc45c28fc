//! `brief update --check`

use brief_registry::install::{self, Newest};
use brief_registry::manifest::Manifest;
use serde_json::{Value, json};

use super::update::resolve_source_names;
use crate::error::{Result, refuse_if};
use crate::installation::{self, Installation, InstallationArg, short_commit};
use crate::session::Session;
use crate::ui::Ui;

/// Shows the sources with newer versions than brief.lock. Without names, all sources. Fails if any has, or cannot be asked.
pub(super) fn run(
    ui: &mut Ui,
    session: &Session,
    names: &[String],
    place: &InstallationArg,
    is_json: bool,
) -> Result {
    let installation = Installation::find(ui, session, place)?;
    let mut manifest = installation.manifest.clone().unwrap_or_default();
    if !names.is_empty() {
        let chosen = resolve_source_names(session, &installation, &manifest, names)?;
        manifest.sources.retain(|source| chosen.contains(&source.name));
    }
    let found = query_newest(ui, session, &installation, &manifest)?;
    if is_json {
        let body = json!({ "sources": found.iter().map(newest_version_json).collect::<Vec<_>>() });
        let root = &installation.project.outputs;
        ui.print_json("update check", root, &[], body)?;
    } else {
        for source in &found {
            print_newest_version(ui, source)?;
        }
    }
    let failed = found.iter().any(|source| source.is_outdated() || source.error.is_some());
    if !failed && !is_json {
        ui.print_status(if found.is_empty() {
            "no versioned sources"
        } else {
            "all sources are up to date"
        })?;
    }
    refuse_if(failed)
}

fn newest_version_json(source: &Newest) -> Value {
    json!({
        "name": source.name,
        "ref": source.reference,
        "locked": source.locked,
        "commit": source.commit,
        "newer_tag": source.newer_tag,
        "outdated": source.is_outdated(),
        "error": source.error,
    })
}

fn print_newest_version(ui: &mut Ui, source: &Newest) -> Result {
    let name = &source.name;
    if let Some(error) = &source.error {
        return ui.print_warning(&format!("{name}: {error}"));
    }
    let at = source.reference.as_deref().map_or(String::new(), |at| format!(" ({at})"));
    match (&source.locked, &source.commit) {
        (Some(locked), Some(commit)) if locked != commit => {
            let (locked, commit) = (short_commit(locked), short_commit(commit));
            ui.print_line(format!("{name}{at}: {locked} -> {commit}; run `brief update {name}`"))?;
        }
        (None, Some(commit)) => {
            ui.print_line(format!(
                "{name}{at}: not locked yet, now at {}; run `brief sync`",
                short_commit(commit)
            ))?;
        }
        _ => {}
    }
    if let Some(tag) = &source.newer_tag {
        ui.print_line(format!("{name}{at}: {tag} is available; run `brief update {name}@{tag}`"))?;
    }
    Ok(())
}

/// Asks the sources of a manifest for newer versions than brief.lock has.
pub(super) fn query_newest(
    ui: &mut Ui,
    session: &Session,
    installation: &Installation,
    manifest: &Manifest,
) -> Result<Vec<Newest>> {
    let lock = installation.read_lock(session.system())?.unwrap_or_default();
    let project = &installation.project;
    Ok(installation::with_progress(ui, |observer| {
        install::query_newest_versions(session.system(), project, manifest, &lock, observer)
    })??)
}
