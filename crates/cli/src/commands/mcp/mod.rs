//! `brief mcp`

mod check;
mod install;
mod listen;

use std::path::PathBuf;

use brief_serve::mcp::configured::{ServerSearch, project_servers};
use brief_serve::mcp::project::{self, ServerOptions};
use brief_serve::mcp::{GatewayServer, GatewayTimes, Served};
pub(super) use check::{accept, check};
use clap::{Args, Subcommand};

use super::question::{ClientName, known_client};
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Serve the project's guidance to an MCP client over standard input and output
///
/// Tools: context, why, sees, decisions, search and lint, each with the answer of the command of that name. Tasks and
/// commands are prompts; skills, listed files and agents are resources. Nothing is executed and nothing is
/// written.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    action: Option<McpAction>,

    /// The client that asks, unless a question names one: what it loads by itself is left out
    #[arg(
        long, value_name = "NAME", value_parser = ClientName,
        add = clap_complete::ArgValueCompleter::new(crate::complete::known_clients)
    )]
    client: Option<String>,

    /// Serve over HTTP at this address, `PORT` or `ADDRESS:PORT`, instead; a token is printed once
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,

    /// The file that holds the token, instead of a new one
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,

    /// Serve at an address that other machines can reach
    #[arg(long, requires = "http")]
    allow_remote: bool,

    /// Start the MCP servers that are configured here, if you trust the project, and offer their tools and prompts, too
    #[arg(long)]
    gateway: bool,

    /// Start the servers this time, although the project is not trusted
    #[arg(long, requires = "gateway")]
    exec: bool,
}

#[derive(Debug, Subcommand)]
enum McpAction {
    /// Add this server to a client's own file of MCP servers
    ///
    /// To the project's file, or with --global to yours. Everything else in the file stays as it is.
    Install(install::InstallPlace),
    /// Remove this server from a client's own file of MCP servers
    ///
    /// Removes what `brief mcp install` added, and nothing else.
    Uninstall(install::InstallPlace),
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &McpArgs) -> Result {
    match &args.action {
        Some(McpAction::Install(args)) => return install::install(ui, session, args),
        Some(McpAction::Uninstall(args)) => return install::uninstall(ui, session, args),
        None => {}
    }
    args.client.iter().try_for_each(|client| known_client(session, client))?;
    let gateway = if args.gateway {
        let search = ServerSearch { is_allowed: args.exec, without: args.client.as_deref() };
        let servers = servers(ui, session, search)?;
        if servers.is_empty() {
            ui.warning("the project has no MCP servers to start")?;
        }
        servers
    } else {
        Vec::new()
    };
    let options = ServerOptions {
        directory: session.directory().to_owned(),
        client: args.client.clone(),
        gateway,
        times: GatewayTimes::default(),
    };
    let system = session.shared_system();
    let served = match &args.http {
        Some(address) => {
            let http = listen::listen(ui, session, address, args)?;
            let interruption = session.system().interruption()?;
            project::serve_http(system, options, http, &interruption, &mut |line| {
                drop(ui.status(line));
            })
        }
        None => {
            if ui.can_ask() {
                ui.status("waiting for an MCP client on standard input; Ctrl-C ends it")?;
                ui.hint("`brief context PATH` answers a person")?;
            }
            ui.tell_remarks()?;
            let interruption = session.system().interruption()?;
            project::serve(system, options, &interruption, &mut |line| drop(ui.status(line)))
        }
    };
    match served.map_err(|error| CommandError::refused(error.to_string()))? {
        Served::Closed => Ok(()),
        Served::Interrupted => Err(CommandError::interrupted()),
    }
}

/// Returns the configured servers, if the user agrees that they start. Prints what is left out.
pub(super) fn servers(
    ui: &mut Ui,
    session: &Session,
    search: ServerSearch<'_>,
) -> Result<Vec<GatewayServer>> {
    let found = project_servers(session.system(), session.directory(), search);
    let found = found.map_err(|error| {
        let refused = CommandError::refused(error.to_string());
        match error.trust_hint() {
            Some(root) => {
                let trust = crate::assembly::trust_command(session.directory(), root);
                refused.with_hint(format!(
                    "`brief mcp-servers` shows them; `{trust}` trusts the project, `--exec` starts them this time"
                ))
            }
            None => refused,
        }
    })?;
    found.problems.iter().try_for_each(|problem| ui.warning(problem))?;
    Ok(found.servers)
}
