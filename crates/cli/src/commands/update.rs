//! `brief update`

use std::collections::BTreeSet;

use brief_registry::install::{self, InstallRequest, Newest, Refresh};
use brief_registry::manifest::{Manifest, ManifestEdit, ManifestPlace, WantedItems};
use brief_syntax::near_miss::find_nearest;
use clap::Args;

use super::outdated;
use crate::error::{CommandError, Result};
use crate::installation::{self, Installation, RunPurpose, WritingArgs};
use crate::session::Session;
use crate::ui::Ui;

/// Update sources to their newest version
///
/// A source is always at one commit: naming an item updates its whole source, and the plan shows every change. New items are
/// added only for sources with `all = true`. SOURCE@REF moves a source to another branch, tag or commit, and edits
/// brief.toml.
#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Sources, items or bundles to update [default: all]
    #[arg(value_name = "NAME", add = clap_complete::ArgValueCompleter::new(installation::complete_installed_name))]
    names: Vec<String>,

    /// List sources with newer versions, and exit 1 if there are any
    #[arg(
        long,
        conflicts_with_all = ["dry_run", "diff", "adopt", "force", "accept", "accept_signer"]
    )]
    check: bool,

    /// Show the plan without writing
    #[arg(long)]
    dry_run: bool,

    /// Show the changes of each file without writing
    #[arg(long)]
    diff: bool,

    #[command(flatten)]
    writing: WritingArgs,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &UpdateArgs) -> Result {
    if args.check {
        let WritingArgs { place, json, .. } = &args.writing;
        return outdated::run(ui, session, &args.names, place, *json);
    }
    let mode = installation::install_mode(args.dry_run, args.diff);
    let installation = Installation::find_for(ui, session, &args.writing.place, mode)?;
    let manifest = installation.manifest.clone().unwrap_or_default();
    let mut edits = Vec::new();
    let mut names = Vec::new();
    for name in &args.names {
        match name.split_once('@') {
            Some((name, reference)) => edits.push(other_version(&manifest, name, reference)?),
            None => names.push(name.clone()),
        }
    }
    let refresh = match args.names.as_slice() {
        [] => Refresh::All,
        _ => Refresh::Named(resolve_source_names(session, &installation, &manifest, &names)?),
    };
    let clients = installation.wanted_clients(&[])?;
    let request = InstallRequest {
        edits: &edits,
        refresh,
        mode,
        ..installation.create_request(session, &args.writing, &clients)
    };
    let asked = RunPurpose::ToWrite;
    installation.carry_out(ui, "update", session, &request, &args.writing, asked)?;
    mention_newer(ui, session, &installation, &request.refresh, &edits)
}

/// Names newer versions of sources that brief.toml pins to one: an update of such a source changes nothing.
fn mention_newer(
    ui: &mut Ui,
    session: &Session,
    installation: &Installation,
    refresh: &Refresh,
    edits: &[ManifestEdit],
) -> Result {
    let is_moved = |name: &str| {
        edits.iter().any(|edit| matches!(edit, ManifestEdit::Want { source, .. } if source == name))
    };
    let mut manifest = installation.manifest.clone().unwrap_or_default();
    manifest.sources.retain(|source| {
        let is_pinned = source.place.find_field("ref").is_some_and(install::is_version);
        let is_asked = match refresh {
            Refresh::All => true,
            Refresh::Named(names) => names.contains(&source.name),
            Refresh::None => false,
        };
        is_pinned && is_asked && !is_moved(&source.name)
    });
    if manifest.sources.is_empty() {
        return Ok(());
    }
    let found = outdated::query_newest(ui, session, installation, &manifest)?;
    for Newest { name, reference, newer_tag, .. } in &found {
        if let (Some(reference), Some(tag)) = (reference, newer_tag) {
            ui.print_status(&format!("{name} is pinned at {reference}; {tag} is available"))?;
            ui.print_hint(&format!("run `brief update {name}@{tag}` to move to it"))?;
        }
    }
    Ok(())
}

/// Changes the version of a source and keeps its wanted items.
fn other_version(manifest: &Manifest, name: &str, reference: &str) -> Result<ManifestEdit> {
    let Some(source) = manifest.find_source(name) else {
        let known: Vec<&str> = manifest.sources.iter().map(|source| source.name.as_str()).collect();
        let hint = match find_nearest(name, &known) {
            Some(near) => format!("did you mean `{near}@{reference}`?"),
            None => "run `brief list --tree` to see sources; only sources have versions".to_owned(),
        };
        let message = format!("no source named `{name}`");
        return Err(CommandError::refused(message).with_hint(hint));
    };
    if let ManifestPlace::Directory(_) = &source.place {
        let message = format!("the source `{name}` is a directory and has no versions");
        return Err(CommandError::refused(message)
            .with_hint("run `brief sync` to install its current content"));
    }
    if reference.is_empty() {
        let message = format!("missing version after `{name}@`");
        return Err(CommandError::usage(message)
            .with_hint("write a branch, tag, commit or digest after `@`"));
    }
    let place = source.place.with_reference(reference);
    let (source, wanted) = (name.to_owned(), WantedItems::default());
    Ok(ManifestEdit::Want { source, place, wanted, clients: None })
}

/// Finds the sources for names: their own, or those of items.
pub(super) fn resolve_source_names(
    session: &Session,
    installation: &Installation,
    manifest: &Manifest,
    names: &[String],
) -> Result<BTreeSet<String>> {
    let lock = installation.read_lock(session.system())?.unwrap_or_default();
    let mut found = BTreeSet::new();
    for name in names {
        if let Some(source) = manifest.find_source(name) {
            found.insert(source.name.clone());
            continue;
        }
        let is_meant = |kind: &str, own: &str| own == name || format!("{kind}/{own}") == *name;
        let items = lock.items.iter().filter(|(id, _)| is_meant(id.kind.as_str(), &id.name));
        let bundles = lock
            .sources
            .iter()
            .filter(|(_, source)| source.bundles.keys().any(|own| is_meant("bundle", own)));
        let items = items.map(|(_, item)| item.source.clone());
        let of_name: Vec<String> = items.chain(bundles.map(|(own, _)| own.clone())).collect();
        if of_name.is_empty() {
            let known = manifest.sources.iter().map(|source| source.name.as_str());
            let bundles = lock.sources.values().flat_map(|source| source.bundles.keys());
            let known: Vec<&str> = known
                .chain(lock.items.keys().map(|id| id.name.as_str()))
                .chain(bundles.map(String::as_str))
                .collect();
            let hint = match find_nearest(name, &known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "run `brief list` to see what is installed".to_owned(),
            };
            let message = format!("no source, bundle or item named `{name}`");
            return Err(CommandError::refused(message).with_hint(hint));
        }
        found.extend(of_name);
    }
    let has_versions = |name: &String| {
        manifest
            .find_source(name)
            .is_some_and(|source| !matches!(source.place, ManifestPlace::Directory(_)))
    };
    // A directory has no versions and is always read as it is.
    found.retain(has_versions);
    Ok(found)
}
