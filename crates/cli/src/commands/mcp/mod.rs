//! `brief mcp`

mod check;
mod install;
mod listen;

use std::path::PathBuf;

use brief_serve::mcp::configured::{ServerSearch, project_servers};
use brief_serve::mcp::project::{self, ServerOptions};
use brief_serve::mcp::{GatewayServer, GatewayTimes, Served};
pub(super) use check::{accept_tools, check_project_servers};
use clap::{Args, Subcommand};

use super::mcp_servers::{self, McpServersArgs};
use super::question::{ClientName, known_client};
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Serve guidance to MCP clients, and show MCP servers
///
/// `brief mcp` is the same as `brief mcp serve`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    action: Option<McpAction>,

    #[command(flatten)]
    serving: ServeArgs,
}

/// Serve the project's guidance to an MCP client
///
/// Tools: context, why, show, decisions, search and lint. Tasks and commands are prompts; skills, listed files and agents
/// are resources. Read-only.
#[derive(Debug, Args)]
struct ServeArgs {
    /// Default client for requests
    #[arg(
        long, value_name = "NAME", value_parser = ClientName,
        add = clap_complete::ArgValueCompleter::new(crate::complete::known_clients)
    )]
    client: Option<String>,

    /// Serve over HTTP at `PORT` or `ADDRESS:PORT`, and print a token
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,

    /// Read the token from FILE instead of creating one
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,

    /// Allow connections from other machines
    #[arg(long, requires = "http")]
    allow_remote: bool,

    /// Also start the project's MCP servers and offer their tools and prompts
    #[arg(long)]
    gateway: bool,

    /// Start the servers this time, even in an untrusted project
    #[arg(long, requires = "gateway")]
    exec: bool,
}

#[derive(Debug, Subcommand)]
enum McpAction {
    Serve(ServeArgs),
    Servers(McpServersArgs),
    /// Add brief to the MCP servers of a client
    ///
    /// Edits the project's file, or with --global your own. The rest of the file stays unchanged.
    Install(install::InstallPlace),
    /// Remove brief from the MCP servers of a client
    ///
    /// Removes only what `brief mcp install` added.
    Uninstall(install::InstallPlace),
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &McpArgs) -> Result {
    match &args.action {
        Some(McpAction::Install(args)) => install::install_server(ui, session, args),
        Some(McpAction::Uninstall(args)) => install::uninstall_server(ui, session, args),
        Some(McpAction::Servers(args)) => mcp_servers::run(ui, session, args),
        Some(McpAction::Serve(args)) => serve_mcp(ui, session, args),
        None => serve_mcp(ui, session, &args.serving),
    }
}

fn serve_mcp(ui: &mut Ui, session: &Session, args: &ServeArgs) -> Result {
    args.client.iter().try_for_each(|client| known_client(session, client))?;
    let gateway = if args.gateway {
        let search = ServerSearch { is_allowed: args.exec, without: args.client.as_deref() };
        let servers = find_project_servers(ui, session, search)?;
        if servers.is_empty() {
            ui.print_warning("the project has no MCP servers to start")?;
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
            let http = listen::open_http_socket(ui, session, address, args)?;
            let interruption = session.system().interruption()?;
            project::serve_http(system, options, http, &interruption, &mut |line| {
                drop(ui.print_status(line));
            })
        }
        None => {
            if ui.can_ask() {
                ui.print_status(
                    "waiting for an MCP client on standard input; press Ctrl-C to stop",
                )?;
                ui.print_hint("run `brief context PATH` to read guidance yourself")?;
            }
            ui.tell_remarks()?;
            let interruption = session.system().interruption()?;
            project::serve_stdio(system, options, &interruption, &mut |line| {
                drop(ui.print_status(line));
            })
        }
    };
    match served.map_err(|error| CommandError::refused(error.to_string()))? {
        Served::Closed => Ok(()),
        Served::Interrupted => Err(CommandError::interrupted()),
    }
}

/// Returns the configured servers, if the user agrees that they start. Prints what is left out.
pub fn find_project_servers(
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
                    "review them with `brief mcp servers`, then run `{trust}`, or pass `--exec` to start them once"
                ))
            }
            None => refused,
        }
    })?;
    found.problems.iter().try_for_each(|problem| ui.print_warning(problem))?;
    Ok(found.servers)
}
