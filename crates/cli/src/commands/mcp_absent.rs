//! `brief mcp`, in a program that was built without agents.

use std::ffi::OsString;

use clap::Args;

use super::mcp_servers::CheckedServer;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Not in this program: it was built without the MCP server
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

pub(crate) fn run(_: &mut Ui, _: &Session, _: &McpArgs) -> Result {
    Err(absent())
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
