//! The report of an import, for people and as JSON.

use std::collections::BTreeSet;
use std::path::Path;

use brief_clients::import::{
    CollectedItem, CollectedServer, Collection, ImportLoss, ImportNote, SkippedFile,
};
use brief_dialects::portable;
use serde::Serialize;

use super::{ImportArgs, ItemState, RegistryTarget, Replacement, chosen};
use crate::error::Result;
use crate::ui::Ui;

#[derive(Debug, Serialize)]
pub(super) struct ImportReport<'r> {
    pub(super) to: &'r str,
    pub(super) files: usize,
    pub(super) items: Vec<JsonItem<'r>>,
    pub(super) servers: Vec<JsonServer<'r>>,
    pub(super) skipped: Vec<JsonSkipped<'r>>,
    pub(super) written: usize,
    pub(super) replaced: Vec<String>,
    pub(super) left: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct JsonItem<'r> {
    pub(super) item: String,
    pub(super) state: &'static str,
    pub(super) from: &'r [String],
    pub(super) clients: &'r [String],
    pub(super) files: Vec<String>,
    pub(super) notes: Vec<JsonNote>,
}

#[derive(Debug, Serialize)]
pub(super) struct JsonServer<'r> {
    pub(super) name: &'r str,
    pub(super) from: &'r [String],
    pub(super) clients: &'r [String],
}

#[derive(Debug, Serialize)]
pub(super) struct JsonNote {
    pub(super) field: Option<String>,
    pub(super) message: String,
}

#[derive(Debug, Serialize)]
pub(super) struct JsonSkipped<'r> {
    pub(super) path: &'r str,
    pub(super) reason: &'r str,
}

pub(super) fn print(
    ui: &mut Ui,
    collection: &Collection,
    states: &[ItemState],
    target: &RegistryTarget,
    outcome: &Replacement,
    args: &ImportArgs,
) -> Result {
    for (item, state) in
        collection.items.iter().zip(states).filter(|(_, state)| **state != ItemState::Taken)
    {
        let shown = target.path_of(item, &item.name);
        let mark = if *state == ItemState::Unchanged { " (unchanged)" } else { "" };
        ui.print_line(format!("{shown}{mark}: {}", item.originals.join(", ")))?;
        for note in &item.notes {
            ui.print_line(format!("  {note}"))?;
        }
    }
    for own in &collection.servers {
        ui.print_line(format!("[mcp.{}]: {}", own.server.name, own.originals.join(", ")))?;
    }
    for SkippedFile { path, reason, loss } in &collection.skipped {
        match loss {
            ImportLoss::Text => ui.warning(&format!("`{path}` is not imported: {reason}"))?,
            ImportLoss::NoPortableForm => ui.status(&format!("`{path}`: {reason}"))?,
            ImportLoss::Nothing => {}
        }
    }
    for (path, copy) in &outcome.replaced {
        ui.status(&format!("`{path}` is an output now; a copy is in `{}`", copy.display()))?;
    }
    for path in &outcome.left {
        ui.warning(&format!("`{path}` stays: its text is written elsewhere now, and its client reads both; remove it when you have looked"))?;
    }
    if !collection.servers.is_empty() {
        let would = if args.dry_run { "would be " } else { "" };
        let count = collection.servers.len();
        ui.status(&format!("{count} servers {would}declared in brief.toml"))?;
    }
    let new = chosen(collection, states, ItemState::New).len();
    let files: usize = collection.items.iter().map(|item| item.originals.len()).sum();
    let items = if new == 1 { "item" } else { "items" };
    let would = if args.dry_run { "would be " } else { "" };
    ui.status(&format!(
        "{new} new {items} {would}written to {} from {files} files; {} left out",
        target.shown,
        collection.skipped.len()
    ))?;
    if collection.items.is_empty() && collection.servers.is_empty() {
        ui.hint("no client's files were found here; `brief import PATH` looks at names anywhere below PATH")?;
    } else if !args.dry_run && !args.replace && new > 0 {
        let named: BTreeSet<&str> =
            collection.items.iter().flat_map(|item| &item.clients).map(String::as_str).collect();
        let is_default = named.iter().all(|client| portable::CLIENTS.contains(client));
        let mut options = String::new();
        for client in named.into_iter().filter(|_| !is_default) {
            options.push_str(" --client ");
            options.push_str(client);
        }
        ui.hint(&format!("`brief build{options}` writes the files of clients from them; `--replace` makes the originals their outputs"))?;
    }
    Ok(())
}

pub(super) fn print_json(
    ui: &mut Ui,
    root: &Path,
    collection: &Collection,
    states: &[ItemState],
    target: &RegistryTarget,
    outcome: &Replacement,
    args: &ImportArgs,
) -> Result {
    let skipped = collection.skipped.iter().map(json_skipped);
    let items = collection.items.iter().zip(states);
    let items = items.map(|(item, state)| json_item(item, *state, target.paths(item)));
    let body = ImportReport {
        to: &target.shown,
        files: collection.files,
        items: items.collect(),
        servers: collection.servers.iter().map(json_server).collect(),
        skipped: skipped.collect(),
        written: if args.dry_run { 0 } else { chosen(collection, states, ItemState::New).len() },
        replaced: outcome.replaced.iter().map(|(path, _)| path.clone()).collect(),
        left: outcome.left.clone(),
    };
    ui.print_json("import", root, &[], body)
}

pub(super) fn json_item(
    item: &CollectedItem,
    state: ItemState,
    files: Vec<String>,
) -> JsonItem<'_> {
    let note = |note: &'_ ImportNote| (note.field.clone(), note.message.clone());
    let notes = item.notes.iter().map(note);
    JsonItem {
        item: format!("{}/{}", item.kind, item.name),
        state: state.as_str(),
        from: &item.originals,
        clients: &item.clients,
        files,
        notes: notes.map(|(field, message)| JsonNote { field, message }).collect(),
    }
}

pub(super) fn json_server(own: &CollectedServer) -> JsonServer<'_> {
    JsonServer { name: &own.server.name, from: &own.originals, clients: &own.clients }
}

pub(super) fn json_skipped(one: &SkippedFile) -> JsonSkipped<'_> {
    JsonSkipped { path: &one.path, reason: &one.reason }
}
