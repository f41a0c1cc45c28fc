//! `brief mcp`, in a program that was built without agents.

use std::ffi::OsString;

use clap::{Args, Subcommand};

use super::mcp_servers::{self, CheckedServer, McpServersArgs};
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Not available: built without the MCP server
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    action: Option<McpAction>,

    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
enum McpAction {
    Servers(McpServersArgs),
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &McpArgs) -> Result {
    match &args.action {
        Some(McpAction::Servers(args)) => mcp_servers::run(ui, session, args),
        None => Err(absent()),
    }
}

pub(super) fn check(_: &mut Ui, _: &Session, _: bool) -> Result<Vec<CheckedServer>> {
    Err(absent())
}

pub(super) fn accept(_: &mut Ui, _: &Session, _: bool) -> Result {
    Err(absent())
}

fn absent() -> CommandError {
    let error = CommandError::usage("this program was built without MCP");
    error.with_hint("install it with the feature `agent`, which is on by default")
}
