//! The report of an import, for people and as JSON.

use std::collections::BTreeSet;
use std::path::Path;

use brief_clients::import::{CollectedItem, CollectedServer, ImportLoss, SkippedFile};
use brief_dialects::portable;
use serde_json::{Value, json};

use super::{Import, ItemState, Replacement};
use crate::error::Result;
use crate::ui::Ui;

pub(super) fn print(ui: &mut Ui, import: &Import<'_>, outcome: &Replacement) -> Result {
    let Import { args, collection, target, .. } = import;
    for (item, state) in import.items().filter(|(_, state)| !state.is_taken()) {
        let shown = target.path_of(item, &item.name);
        let mark = if state == ItemState::Unchanged { " (unchanged)" } else { "" };
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
    let would = if args.dry_run { "would be " } else { "" };
    if !collection.servers.is_empty() {
        let count = collection.servers.len();
        ui.status(&format!("{count} servers {would}declared in brief.toml"))?;
    }
    let new = import.new_items().len();
    let files: usize = collection.items.iter().map(|item| item.originals.len()).sum();
    let items = if new == 1 { "item" } else { "items" };
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
    import: &Import<'_>,
    outcome: &Replacement,
) -> Result {
    let Import { args, collection, target, .. } = import;
    let items = import.items().map(|(item, state)| json_item(item, state, &target.paths(item)));
    let servers = collection.servers.iter().map(|CollectedServer { server, clients, originals }| {
        json!({ "name": server.name, "from": originals, "clients": clients })
    });
    let new = import.new_items().len();
    let body = json!({
        "to": target.shown,
        "files": collection.files,
        "items": items.collect::<Vec<_>>(),
        "servers": servers.collect::<Vec<_>>(),
        "skipped": collection.skipped,
        "written": if args.dry_run { 0 } else { new },
        "replaced": outcome.replaced.iter().map(|(path, _)| path).collect::<Vec<_>>(),
        "left": outcome.left,
    });
    ui.print_json("import", root, &[], body)
}

pub(super) fn json_item(item: &CollectedItem, state: ItemState, files: &[String]) -> Value {
    json!({
        "item": format!("{}/{}", item.kind, item.name),
        "state": state,
        "from": item.originals,
        "clients": item.clients,
        "files": files,
        "notes": item.notes,
    })
}
