//! The report of an import, for people and as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use brief_clients::import::{CollectedItem, CollectedServer, ImportLoss, SkippedFile};
use brief_dialects::portable;
use brief_syntax::text::format_count;
use serde_json::{Value, json};

use super::{Import, ItemState, Replacement};
use crate::error::Result;
use crate::ui::Ui;

pub(super) fn print_import(ui: &mut Ui, import: &Import<'_>, outcome: &Replacement) -> Result {
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
    print_skipped(ui, &collection.skipped)?;
    for (path, copy) in &outcome.replaced {
        ui.print_status(&format!(
            "replaced `{path}` with a generated file; the backup is `{}`",
            copy.display()
        ))?;
    }
    for path in &outcome.left {
        ui.print_warning(&format!(
            "`{path}` stays: brief cannot generate this file, so its item is only in the registry"
        ))?;
    }
    let would = if args.dry_run { "would be " } else { "" };
    if !collection.clients.is_empty() {
        let (clients, from) = (collection.clients.join(", "), collection.clients_from.join(", "));
        ui.print_status(&format!("clients: {clients} (named in {from})"))?;
    }
    if !collection.servers.is_empty() {
        let servers = format_count(collection.servers.len(), "server");
        ui.print_status(&format!("{servers} {would}declared in brief.toml"))?;
    }
    let new = import.new_items().len();
    let files: usize = collection.items.iter().map(|item| item.originals.len()).sum();
    let skipped = match collection.skipped.len() {
        0 => String::new(),
        count => format!("; {count} skipped"),
    };
    ui.print_status(&format!(
        "{} {would}written to {} from {}{skipped}",
        format_count(new, "new item"),
        target.shown,
        format_count(files, "file")
    ))?;
    if collection.items.is_empty() && collection.servers.is_empty() {
        ui.print_hint(
            "run `brief import PATH` to search a directory for client files at any depth",
        )?;
    } else if !args.dry_run && !args.replace && new > 0 {
        let named: BTreeSet<&str> =
            collection.items.iter().flat_map(|item| &item.clients).map(String::as_str).collect();
        let is_default = named.iter().all(|client| portable::CLIENTS.contains(client));
        let mut options = String::new();
        for client in named.into_iter().filter(|_| !is_default) {
            options.push_str(" --client ");
            options.push_str(client);
        }
        let tools: BTreeSet<&str> = collection.generated.iter().map(|file| file.tool).collect();
        if tools.is_empty() {
            ui.print_hint(&format!("run `brief registry build{options}` to generate client files, or pass `--replace` to replace the originals"))?;
        } else {
            let (tools, source) =
                (tools.into_iter().collect::<Vec<_>>().join(" and "), target.shown_source());
            ui.print_hint(&format!("run `brief add {source}` to replace the files written by {tools}; brief keeps backups"))?;
        }
    }
    Ok(())
}

/// The number of files with the same reason that have a line each.
const FEW: usize = 3;

/// Prints every file that was left out, with the reason. A reason that many have is said once.
fn print_skipped(ui: &mut Ui, skipped: &[SkippedFile]) -> Result {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for SkippedFile { path, reason, loss } in skipped {
        match loss {
            ImportLoss::Text => ui.print_warning(&format!("skipped `{path}`: {reason}"))?,
            ImportLoss::NoPortableForm | ImportLoss::Nothing => {
                by_reason.entry(reason).or_default().push(path);
            }
        }
    }
    for (reason, paths) in by_reason {
        if paths.len() <= FEW {
            for path in paths {
                ui.print_status(&format!("`{path}`: {reason}"))?;
            }
            continue;
        }
        ui.print_status(&format!("{}: {reason}", format_count(paths.len(), "file")))?;
        for path in paths {
            ui.print_status(&format!("  {path}"))?;
        }
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
    let items =
        import.items().map(|(item, state)| json_item(item, state, &target.item_paths(item)));
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
