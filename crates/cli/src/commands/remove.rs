//! `brief remove`

use std::collections::BTreeMap;

use brief_dialects::portable::ItemId;
use brief_registry::install::InstallRequest;
use brief_registry::lock::Lock;
use brief_registry::manifest::{Manifest, ManifestEdit};
use brief_syntax::near_miss::find_nearest;
use clap::Args;

use super::clean;
use crate::error::{CommandError, Result};
use crate::installation::{self, Installation, RunPurpose, WritingArgs};
use crate::session::Session;
use crate::ui::Ui;

/// Remove items, bundles or sources, and their files
///
/// An item of a bundle or of a whole source is excluded from now on (`exclude` in brief.toml). With `--all`, removes all
/// installed files but keeps brief.toml and brief.lock; edited files stay, and files that brief replaced are restored.
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// NAME or KIND/NAME of an item, bundle or source
    #[arg(
        value_name = "NAME",
        required_unless_present = "all",
        add = clap_complete::ArgValueCompleter::new(installation::complete_installed_name)
    )]
    names: Vec<String>,

    /// Remove all installed files; `brief sync` restores them
    #[arg(long, conflicts_with = "names")]
    all: bool,

    /// Show the plan without writing
    #[arg(long)]
    dry_run: bool,

    /// Use only the cache
    #[arg(long)]
    offline: bool,

    #[command(flatten)]
    writing: WritingArgs,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &RemoveArgs) -> Result {
    if args.all {
        return clean::run(ui, session, args.dry_run, &args.writing);
    }
    let mode = installation::install_mode(args.dry_run, false);
    let installation = Installation::find_for(ui, session, &args.writing.place, mode)?;
    let manifest = installation.manifest.clone().unwrap_or_default();
    let lock = installation.read_lock(session.system())?.unwrap_or_default();
    let mut edits = Vec::new();
    let is_name = |full: &str, name: &str| {
        full == name || full.split_once('/').is_some_and(|(_, own)| own == name)
    };
    for name in &args.names {
        match plan_removal(&manifest, &lock, name) {
            Ok(found) => edits.extend(found),
            // A killed run removed it, and that run is finished now.
            Err(_) if installation.finished.removed.iter().any(|full| is_name(full, name)) => {}
            Err(error) => return Err(error),
        }
    }
    let clients = installation.wanted_clients(&[])?;
    let request = InstallRequest {
        edits: &edits,
        mode,
        network: installation::network_mode(args.offline),
        ..installation.create_request(session, &args.writing, &clients)
    };
    let asked = RunPurpose::ToTakeAway;
    installation.carry_out(ui, "remove", session, &request, &args.writing, asked)?;
    Ok(())
}

/// A part of the manifest that a typed name refers to.
enum Removable<'m> {
    Source(&'m str),
    Bundle { source: &'m str, bundle: &'m str },
    Item { source: &'m str, item: ItemId },
}

impl Removable<'_> {
    fn full_name(&self) -> String {
        match self {
            Removable::Source(name) => format!("source/{name}"),
            Removable::Bundle { bundle, .. } => format!("bundle/{bundle}"),
            Removable::Item { item, .. } => installation::full_name(item),
        }
    }

    fn name(&self) -> &str {
        match self {
            Removable::Source(name) => name,
            Removable::Bundle { bundle, .. } => bundle,
            Removable::Item { item, .. } => &item.name,
        }
    }
}

/// Returns the changes to the manifest that remove a name.
fn plan_removal(manifest: &Manifest, lock: &Lock, text: &str) -> Result<Vec<ManifestEdit>> {
    let all = all_meant(manifest, lock);
    let is_meant = |meant: &&Removable<'_>| text == meant.name() || text == meant.full_name();
    let found: Vec<&Removable<'_>> = all.iter().filter(is_meant).collect();
    match found.as_slice() {
        [] => {
            let names: Vec<String> = all.iter().map(|meant| meant.name().to_owned()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let near = find_nearest(text, &names);
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "run `brief list` to see what is installed".to_owned(),
            };
            let message = format!("`{text}` is not installed");
            Err(CommandError::refused(message).with_hint(hint))
        }
        [meant] => Ok(removal_edits(manifest, lock, meant)),
        several => {
            let names: Vec<String> = several.iter().map(|meant| meant.full_name()).collect();
            let message = format!("`{text}` is ambiguous: {}", names.join(" or "));
            Err(CommandError::refused(message).with_hint("use one of these names"))
        }
    }
}

fn all_meant<'m>(manifest: &'m Manifest, lock: &'m Lock) -> Vec<Removable<'m>> {
    let mut all = Vec::new();
    let mut items: BTreeMap<ItemId, &str> = BTreeMap::new();
    for source in &manifest.sources {
        all.push(Removable::Source(&source.name));
        for bundle in &source.wanted.bundles {
            all.push(Removable::Bundle { source: &source.name, bundle });
        }
        items.extend(source.wanted.items.iter().map(|id| (id.clone(), source.name.as_str())));
    }
    for (id, item) in &lock.items {
        if manifest.find_source(&item.source).is_some() {
            items.entry(id.clone()).or_insert(&item.source);
        }
    }
    all.extend(items.into_iter().map(|(item, source)| Removable::Item { source, item }));
    all
}

fn removal_edits(manifest: &Manifest, lock: &Lock, meant: &Removable<'_>) -> Vec<ManifestEdit> {
    match meant {
        Removable::Source(name) => vec![ManifestEdit::DropSource { source: (*name).to_owned() }],
        Removable::Bundle { source, bundle } => {
            let (source, bundle) = ((*source).to_owned(), (*bundle).to_owned());
            vec![ManifestEdit::DropBundle { source, bundle }]
        }
        Removable::Item { source, item } => {
            let wanted = manifest.find_source(source).map(|source| &source.wanted);
            let (source, item) = ((*source).to_owned(), item.clone());
            let mut edits = Vec::new();
            let is_brought = lock.items.get(&item).is_some_and(|item| !item.bundles.is_empty());
            if is_brought || wanted.is_some_and(|wanted| wanted.all) {
                edits.push(ManifestEdit::Exclude { source: source.clone(), item: item.clone() });
            }
            if wanted.is_some_and(|wanted| wanted.items.contains(&item)) {
                edits.push(ManifestEdit::DropItem { source, item });
            }
            edits
        }
    }
}
