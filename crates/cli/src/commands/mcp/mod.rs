//! `brief mcp`

use std::process::ExitCode;

use brief_serve::mcp::Served;
use brief_serve::mcp::project::{self, ServerOptions};
use clap::Args;

use super::question::{ClientName, known_client};
use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

/// Serve the project's guidance to an MCP client over standard input and output
///
/// Tools: context, why, sees, decisions, search and lint, each with the answer of the command of that name. Tasks and
/// commands are prompts; skills, offered files and agents are resources. Nothing is executed and nothing is
/// written.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The client that asks, unless a question names one: what it loads by itself is left out
    #[arg(long, value_name = "NAME", value_parser = ClientName)]
    client: Option<String>,
}

pub(crate) fn run(
    ui: &mut Ui,
    session: &Session,
    args: &McpArgs,
) -> Result<ExitCode, CommandError> {
    args.client.iter().try_for_each(|client| known_client(session, client))?;
    let options = ServerOptions {
        directory: session.directory().to_owned(),
        client: args.client.clone(),
        has_hook: super::hook::delivers_to,
    };
    if ui.can_ask() {
        ui.status("waiting for an MCP client on standard input; Ctrl-C ends it")?;
        ui.hint("`brief context PATH` answers a person")?;
    }
    ui.tell_remarks()?;
    let interruption = session.system().interruption().map_err(CommandError::from)?;
    let served = project::serve(session.shared_system(), options, &interruption);
    match served.map_err(|error| CommandError::refused(error.to_string()))? {
        Served::Closed => Ok(ExitCode::SUCCESS),
        Served::Interrupted => Err(CommandError::interrupted()),
    }
}
