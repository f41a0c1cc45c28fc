//! `brief import --as`

use std::path::{Path, PathBuf};

use brief_clients::import::{CollectedItem, Collection, ConvertedItem, ImportNote};
use brief_clients::profile::Profile;
use brief_registry::install::{self, NewFile, NewFileState, ProjectPaths};
use brief_syntax::text::format_count;
use brief_system::paths::clean_path;
use clap::Args;
use serde_json::json;

use crate::error::{CommandError, Result, refuse_if};
use crate::installation::{Installation, InstallationArg};
use crate::session::Session;
use crate::ui::Ui;

/// The conversion of client files into those of another client.
#[derive(Debug, Args)]
pub(super) struct ConversionArgs {
    /// Convert to this client's files instead, and print them
    #[arg(
        long = "as", value_name = "CLIENT",
        conflicts_with_all = ["to", "agents_yaml", "dry_run", "replace"],
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_clients)
    )]
    to_client: Option<String>,

    /// With `--as`: read only this client's files
    #[arg(
        long, value_name = "CLIENT", requires = "to_client",
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_clients)
    )]
    from: Option<String>,

    /// With `--as`: write the files below DIR
    #[arg(long, value_name = "DIR", requires = "to_client")]
    out: Option<PathBuf>,
}

impl ConversionArgs {
    pub(super) fn conversion<'a>(&'a self, paths: &'a [PathBuf]) -> Option<Conversion<'a>> {
        let to = self.to_client.as_deref()?;
        Some(Conversion { from: self.from.as_deref(), to, out: self.out.as_deref(), paths })
    }
}

/// A conversion of client files into those of another client.
pub(super) struct Conversion<'a> {
    from: Option<&'a str>,
    to: &'a str,
    out: Option<&'a Path>,
    paths: &'a [PathBuf],
}

/// Prints the files of another client, or writes them below a directory. No existing file is replaced. Fails if a file could not
/// be converted; the others are.
pub(super) fn run(ui: &mut Ui, session: &Session, args: &Conversion<'_>, is_json: bool) -> Result {
    let installation = Installation::find(ui, session, &InstallationArg { global: false })?;
    let named: Vec<String> = args.from.into_iter().chain([args.to]).map(str::to_owned).collect();
    installation.wanted_clients(&named)?;
    let profiles = installation.clients.profiles();
    let to = profiles
        .get(args.to)
        .ok_or_else(|| CommandError::usage(format!("unknown client `{}`", args.to)))?;
    let collection = super::import::collect_items(session, &installation, args.paths, args.from)?;
    let collection = match args.from {
        Some(client) => of_client(collection, client),
        None => collection,
    };
    let clients = profiles.ids();
    let converted: Vec<ConvertedItem> =
        collection.items.iter().map(|item| item.convert_for_client(to, &clients)).collect();
    if collection.items.is_empty() && collection.skipped.is_empty() {
        let found = args.from.map_or("client files".to_owned(), |from| format!("files of {from}"));
        return Err(CommandError::refused(format!("no {found} found"))
            .with_hint("run `brief import PATH --as CLIENT` to name the files"));
    }
    if let Some(out) = args.out {
        write_converted_files(session, out, &converted)?;
    }
    if is_json {
        print_json(ui, &installation.project.outputs, args, &collection, &converted)?;
    } else {
        print_conversion(ui, args, to, &collection, &converted)?;
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
fn write_converted_files(session: &Session, out: &Path, converted: &[ConvertedItem]) -> Result {
    let files: Vec<NewFile<'_>> = converted
        .iter()
        .flat_map(|one| &one.files)
        .map(|file| NewFile { path: &file.path, bytes: &file.bytes, permission: file.permission })
        .collect();
    let place = ProjectPaths::from_root(&clean_path(&session.directory().join(out)));
    let states = install::inspect_new_files(session.system(), &place, &files)?;
    for (file, state) in files.iter().zip(&states) {
        if let NewFileState::Taken(what) = state {
            return Err(CommandError::refused(format!(
                "`{}` {what}; nothing was written",
                file.path
            ))
            .with_hint("choose another `--out`, or move the file"));
        }
    }
    Ok(install::create_files(session.system(), &place, &files, &[])?)
}

fn print_conversion(
    ui: &mut Ui,
    args: &Conversion<'_>,
    to: &Profile,
    collection: &Collection,
    converted: &[ConvertedItem],
) -> Result {
    for (item, one) in collection.items.iter().zip(converted) {
        for file in &one.files {
            match (std::str::from_utf8(&file.bytes), args.out) {
                (Ok(text), None) => {
                    ui.print_line(format!("==> {} <==", file.path))?;
                    ui.print_text(text.as_bytes())?;
                }
                _ => ui.print_line(&file.path)?,
            }
        }
        for note in &one.notes {
            ui.print_warning(&format!("{}: {note}", item.originals.join(", ")))?;
        }
    }
    for skipped in &collection.skipped {
        ui.print_warning(&format!("skipped `{}`: {}", skipped.path, skipped.reason))?;
    }
    let files: usize = converted.iter().map(|one| one.files.len()).sum();
    let (files, items) =
        (format_count(files, "file"), format_count(collection.items.len(), "item"));
    let from = args.from.map_or(String::new(), |from| format!(" of {from}"));
    ui.print_status(&format!("{files} of {} from {items}{from}", to.name()))
}

fn print_json(
    ui: &mut Ui,
    root: &Path,
    args: &Conversion<'_>,
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
    ui.print_json("import as", root, &[], body)
}
