//! `brief hook test`

use std::path::PathBuf;

use brief_serve::hook::{HookOptions, rehearse_conversation};
use clap::Args;
use serde_json::json;

use super::HoldArg;
use crate::commands::question::{AskedAction, action_parser};
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Show what an agent gets for one action on a file
///
/// Simulates a new conversation, from its start to the end of the tool call, event by event. Nothing is recorded.
#[derive(Debug, Args)]
pub(super) struct TestArgs {
    /// Client to simulate
    #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::hook_clients))]
    client: String,

    /// File to read, edit or create
    path: PathBuf,

    /// Action on the file to simulate
    #[arg(long, value_name = "ACTION", default_value = "read", value_parser = action_parser())]
    on: AskedAction,

    /// Simulate a hook with `--block-once`
    #[arg(
        long, value_name = "WHICH", num_args = 0..=1, require_equals = true,
        default_missing_value = "all"
    )]
    block_once: Option<HoldArg>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &TestArgs) -> Result {
    let known = super::known_clients(session)?;
    let client = super::find_hook_client(&known, &args.client)?;
    let Some(action) = args.on else {
        return Err(CommandError::usage("expected one action: `read`, `edit` or `create`"));
    };
    let options =
        HookOptions { hold: HoldArg::hold_policy(args.block_once), ..HookOptions::new(&client.id) };
    let directory = session.open_root()?;
    let path = directory.path().join(&args.path);
    let events =
        rehearse_conversation(session.system(), client, directory.path(), (&path, action), options)
            .map_err(|error| CommandError::refused(error.to_string()))?;
    if args.json {
        let body = json!({
            "client": &*client.id,
            "path": args.path.to_string_lossy(),
            "action": action.as_str(),
            "events": events,
        });
        let root = session.repository_root()?;
        return ui.print_json("hook test", root.path(), &[], body);
    }
    let mut is_first = true;
    for event in &events {
        let Some(text) = &event.text else { continue };
        if !is_first {
            ui.print_line("")?;
        }
        is_first = false;
        let held = if event.holds { " (blocks the call)" } else { "" };
        ui.print_heading(&format!("{}{held}:", event.event))?;
        ui.print_line("")?;
        ui.print_data(text)?;
    }
    if is_first {
        ui.print_status(&format!("{} would get nothing", client.name))?;
        ui.print_hint(&format!(
            "run `brief why {} --client {} --on {}` to see what is skipped",
            args.path.display(),
            client.id,
            action.as_str()
        ))?;
    }
    Ok(())
}
