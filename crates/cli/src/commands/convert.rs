//! `brief convert`

use std::path::{Path, PathBuf};

use brief_clients::import::{CollectedItem, Collection, ConvertedItem, ImportNote};
use brief_clients::profile::Profile;
use brief_registry::install::{self, NewFile, NewFileState, ProjectPaths};
use brief_syntax::paths::cleaned;
use brief_syntax::text::counted;
use clap::Args;
use serde_json::json;

use crate::error::{CommandError, Result, refuse_if};
use crate::installation::{Installation, InstallationArg};
use crate::session::Session;
use crate::ui::Ui;

/// Turn one client's files into another client's, without a registry
///
/// Prints the files, or writes them below DIR with `--out`. A file that is there already is never replaced.
/// Exits with 1 when a file could not be converted; the others are.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The client whose files are read
    #[arg(value_name = "FROM", add = clap_complete::ArgValueCompleter::new(crate::complete::clients))]
    from: String,

    /// The client whose files are made
    #[arg(value_name = "TO", add = clap_complete::ArgValueCompleter::new(crate::complete::clients))]
    to: String,

    /// The files and directories to convert [default: all of FROM in the project]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Write the files below this directory instead of printing them
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print JSON: the files with their texts, and notes
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &ConvertArgs) -> Result {
    let installation = Installation::find(ui, session, &InstallationArg { global: false })?;
    installation.wanted(&[args.from.clone(), args.to.clone()])?;
    let profiles = installation.clients.profiles();
    let to = profiles
        .get(&args.to)
        .ok_or_else(|| CommandError::usage(format!("unknown client `{}`", args.to)))?;
    let collection = super::import::collect(session, &installation, &args.paths, Some(&args.from))?;
    let collection = of_client(collection, &args.from);
    let clients = profiles.ids();
    let converted: Vec<ConvertedItem> =
        collection.items.iter().map(|item| item.converted(to, &clients)).collect();
    if collection.items.is_empty() && collection.skipped.is_empty() {
        return Err(CommandError::refused(format!("there are no files of {} here", args.from))
            .with_hint("name the files: `brief convert FROM TO PATH`"));
    }
    if let Some(out) = &args.out {
        write(session, out, &converted)?;
    }
    if args.json {
        print_json(ui, &installation.project.outputs, args, &collection, &converted)?;
    } else {
        print(ui, args, to, &collection, &converted)?;
    }
    let is_whole =
        collection.skipped.is_empty() && converted.iter().all(|one| !one.files.is_empty());
    refuse_if(!is_whole)
}

/// Keeps the items that come from files of a client, or from files that several read.
fn of_client(mut collection: Collection, client: &str) -> Collection {
    let is_of = |item: &CollectedItem| {
        item.clients.is_empty() || item.clients.iter().any(|own| own == client)
    };
    collection.items.retain(is_of);
    collection
}

/// Writes the files below a directory, all or none.
fn write(session: &Session, out: &Path, converted: &[ConvertedItem]) -> Result {
    let files: Vec<NewFile<'_>> = converted
        .iter()
        .flat_map(|one| &one.files)
        .map(|file| NewFile { path: &file.path, bytes: &file.bytes, permission: file.permission })
        .collect();
    let place = ProjectPaths::at(&cleaned(&session.directory().join(out)));
    let states = install::look(session.system(), &place, &files)?;
    for (file, state) in files.iter().zip(&states) {
        if let NewFileState::Taken(what) = state {
            return Err(CommandError::refused(format!(
                "`{}` {what}; nothing was written",
                file.path
            ))
            .with_hint("choose another `--out`, or move it away"));
        }
    }
    Ok(install::create(session.system(), &place, &files, &[])?)
}

fn print(
    ui: &mut Ui,
    args: &ConvertArgs,
    to: &Profile,
    collection: &Collection,
    converted: &[ConvertedItem],
) -> Result {
    for (item, one) in collection.items.iter().zip(converted) {
        for file in &one.files {
            match (std::str::from_utf8(&file.bytes), &args.out) {
                (Ok(text), None) => {
                    ui.print_line(format!("==> {} <==", file.path))?;
                    ui.print_text(text.as_bytes())?;
                }
                _ => ui.print_line(&file.path)?,
            }
        }
        for note in &one.notes {
            ui.warning(&format!("{}: {note}", item.originals.join(", ")))?;
        }
    }
    for skipped in &collection.skipped {
        ui.warning(&format!("`{}` is not converted: {}", skipped.path, skipped.reason))?;
    }
    let files: usize = converted.iter().map(|one| one.files.len()).sum();
    let (files, items) = (counted(files, "file"), counted(collection.items.len(), "item"));
    ui.status(&format!("{files} of {} from {items} of {}", to.name(), args.from))
}

fn print_json(
    ui: &mut Ui,
    root: &Path,
    args: &ConvertArgs,
    collection: &Collection,
    converted: &[ConvertedItem],
) -> Result {
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    for (item, one) in collection.items.iter().zip(converted) {
        let from = &item.originals;
        files.extend(one.files.iter().map(|file| {
            let text = std::str::from_utf8(&file.bytes).ok();
            json!({ "path": file.path, "from": from, "text": text })
        }));
        notes.extend(one.notes.iter().map(|ImportNote { field, message }| {
            json!({ "from": from, "field": field, "message": message })
        }));
    }
    let body = json!({
        "from": args.from,
        "to": args.to,
        "files": files,
        "notes": notes,
        "skipped": collection.skipped,
    });
    ui.print_json("convert", root, &[], body)
}
