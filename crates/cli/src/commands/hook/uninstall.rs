//! `brief hook uninstall`

use std::path::Path;

use brief_clients::client_file::{ClientFile, ClientFileError, FileEdit};
use brief_clients::hook::installed::{HookScope, possible_files};
use brief_profiles::Client;
use clap::Args;

use super::install::{PlaceArgs, base_directory, render_file_name};
use super::{client_file_error, refused_file};
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Remove the hook of a client from this repository
///
/// Removes only what `brief hook install` added.
#[derive(Debug, Args)]
pub(super) struct UninstallArgs {
    /// Clients to remove the hook from
    #[arg(value_name = "CLIENT", required = true, add = clap_complete::ArgValueCompleter::new(crate::complete::hook_clients))]
    clients: Vec<String>,

    #[command(flatten)]
    place: PlaceArgs,

    /// Show the plan without removing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &UninstallArgs) -> Result {
    let known = super::known_clients(session)?;
    for name in &args.clients {
        let client = super::find_hook_client(&known, name)?;
        // The place of today's default, the project, and the directory itself, where an earlier version installed it.
        let mut places = vec![args.place.is_global(client)];
        if !args.place.global && !places.contains(&false) {
            places.push(false);
        }
        let mut is_removed = false;
        for is_global in places {
            let base = base_directory(session, is_global)?;
            is_removed |= remove_hook(ui, session, args, client, (&base, is_global))?;
            let here = session.open_root()?;
            if !is_global && here.path() != base {
                is_removed |= remove_hook(ui, session, args, client, (here.path(), false))?;
            }
        }
        if !is_removed {
            ui.print_status(&format!("the hook for {} is not installed here", client.name))?;
        }
    }
    Ok(())
}

fn remove_hook(
    ui: &mut Ui,
    session: &Session,
    args: &UninstallArgs,
    client: &Client,
    (base, is_global): (&Path, bool),
) -> Result<bool> {
    let program = super::hook_program(client, args.place.command.as_deref());
    let scope = if is_global { HookScope::Home } else { HookScope::Project };
    let all = possible_files(session.system(), client, (base, scope), &program);
    let all = all.map_err(refused_file)?;
    let install = super::install_of(client);
    let shared = install.and_then(|install| install.shared.as_ref()).map(|shared| &*shared.file);
    let mut is_removed = false;
    for file in &all {
        let is_shared = shared == Some(file.path.as_str()) && !is_global;
        // A private file and a shared one are two hooks.
        if shared.is_some() && args.place.shared && !is_shared {
            continue;
        }
        let failed = |error: ClientFileError| client_file_error(&file.path, &error);
        let on_disk = ClientFile::open(session.system(), base, &file.path).map_err(failed)?;
        let Some(text) = on_disk.text() else { continue };
        let left = file.uninstall(text).map_err(|error| client_file_error(&file.path, &error))?;
        let Some(left) = left else { continue };
        is_removed = true;
        let shown = render_file_name(session, base, &file.path)?;
        if is_shared && !args.place.shared {
            ui.print_status(&format!("kept the hook in {shown}: your team shares this file"))?;
            ui.print_hint("pass `--shared` to remove it")?;
            continue;
        }
        if args.dry_run {
            ui.print_status(&format!("would remove the hook from {shown}"))?;
        } else if on_disk.write_text(Some(&left), false).map_err(failed)? == FileEdit::Changed {
            ui.print_status(&format!("removed the hook from {shown}"))?;
        }
    }
    Ok(is_removed)
}
