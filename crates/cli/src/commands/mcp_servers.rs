//! `brief mcp servers`

use std::path::{Path, PathBuf};

use brief_clients::mcp::{self, FoundServer, Protocol, Server, ServerFile, Transport};
use brief_clients::profile::ProfileScope;
use brief_engine::hosted::CONFIG_NAME;
use brief_engine::mcp::{Connection, McpServer, ServerKind};
use brief_engine::{McpServersReport, hosted};
use brief_profiles::ServerProfile;
use brief_syntax::limits;
use brief_syntax::text::visible_line;
use brief_system::{ReadError, home_directory};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use serde_json::{Value, json};

use super::question::create_briefing_request;
use crate::error::{Result, refuse_if};
use crate::session::Session;
use crate::ui::Ui;

/// Show the MCP servers configured for a file or directory
///
/// Reads `context-config.json`, and the clients' own files at the top of the repository (`.mcp.json`, `.cursor/mcp.json`,
/// `.vscode/mcp.json`, …) and in the home directory. Starts servers only with --check. With --for, prints the servers of
/// `context-config.json` in the format of that client.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag, and clap keeps them apart")]
pub(crate) struct McpServersArgs {
    /// File or directory, which need not exist
    #[arg(default_value = ".")]
    path: PathBuf,

    /// The client's workspace directory [default: the repository]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Print JSON
    #[arg(long, conflicts_with = "client")]
    json: bool,

    /// Print them in this client's format
    #[arg(long = "for", value_name = "CLIENT", value_parser = client_parser())]
    client: Option<String>,

    /// Start each server, list its tools, and stop it
    #[arg(long, conflicts_with_all = ["client", "workspace", "path"])]
    check: bool,

    /// Start servers this time, even in an untrusted project
    #[arg(long, requires = "check")]
    exec: bool,

    /// Review and accept new or changed tool descriptions
    #[arg(long, requires = "check", conflicts_with = "json")]
    accept: bool,
}

#[derive(Serialize)]
struct Configured<'s> {
    mcp_servers: McpServersReport<'s>,
    /// The servers of clients' own files, each with its place.
    client_servers: Vec<Value>,
    /// The servers that were started.
    #[serde(skip_serializing_if = "Option::is_none")]
    checked: Option<Vec<CheckedServer>>,
}

/// A server that was started, and its tools or its problem.
#[derive(Serialize)]
pub(super) struct CheckedServer {
    pub(super) name: String,
    pub(super) place: String,
    pub(super) tools: Option<Vec<String>>,
    /// The tools that were not accepted.
    pub(super) held_back: Vec<String>,
    pub(super) problem: Option<String>,
}

/// Reads the servers of all clients' files at the top of the project and in the home directory. Prints the unreadable
/// ones.
fn of_clients(
    ui: &mut Ui,
    session: &Session,
    root: &Path,
) -> Result<Vec<(ServerFile, FoundServer)>> {
    let mut servers = Vec::new();
    let home = home_directory(session.system());
    let bases = [(Some(root.to_owned()), ProfileScope::Project), (home, ProfileScope::Home)];
    for (base, scope) in bases {
        let top = base.map(|base| session.system().open_dir(&base));
        let Some(Ok(top)) = top else { continue };
        for file in mcp::server_files(scope) {
            let found = match top.read_below(Path::new(file.path), limits::FILE_BYTES) {
                Ok(bytes) => mcp::parse_servers(&file, &String::from_utf8_lossy(&bytes), root),
                Err(ReadError::Missing) => continue,
                Err(error) => Err(error.to_string()),
            };
            match found {
                Ok(found) => servers.extend(found.into_iter().map(|found| (file, found))),
                Err(problem) => {
                    ui.print_warning(&format!("cannot read {}: {problem}", file.display_path()))?;
                }
            }
        }
    }
    Ok(servers)
}

pub(super) fn client_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(mcp::server_clients().map(|(client, _)| client))
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &McpServersArgs) -> Result {
    let session = &session.with_memory();
    let mut request = create_briefing_request(session, Some(&args.path))?.only([hosted::NAME]);
    if let Some(mounted) = &args.workspace {
        request = request.mounted(session.directory().join(mounted));
    }
    request.moment.skip_left_out = true;
    let mut briefing = request.resolve();
    briefing.diagnostics.retain(|diagnostic| diagnostic.path().ends_with(CONFIG_NAME));
    let (servers, diagnostics) = (&briefing.mcp_servers, &briefing.diagnostics);
    let root = briefing.root();
    let of_clients =
        if args.client.is_none() { of_clients(ui, session, root)? } else { Vec::new() };
    if args.accept {
        return super::mcp::accept_tools(ui, session, args.exec);
    }
    let checked = if args.check {
        Some(super::mcp::check_project_servers(ui, session, args.exec)?)
    } else {
        None
    };
    let has_failed = checked.iter().flatten().any(|server| server.problem.is_some());
    if args.json {
        let mcp_servers = McpServersReport(servers);
        let client_servers =
            of_clients.iter().map(|(file, found)| server_json(file, found)).collect();
        let body = Configured { mcp_servers, client_servers, checked };
        ui.print_json("mcp servers", root, diagnostics, body)?;
        return refuse_if(has_failed);
    }
    ui.print_diagnostic_lines(diagnostics, root)?;
    if let Some(checked) = &checked {
        print_checked(ui, checked)?;
        return refuse_if(has_failed);
    }
    if let Some(profile) = args.client.as_deref().and_then(mcp::find_server_profile) {
        let servers = servers.iter();
        let servers = servers.map(|server| (server.name.clone(), server.server.clone()));
        print_for(ui, profile, &servers_for(servers))?;
    } else {
        for configured in servers {
            let place = configured.origin.path();
            let place = place.strip_prefix(root).unwrap_or(place).display();
            let line = configured.origin.line();
            let disabled = if configured.server.disabled { ", disabled" } else { "" };
            ui.print_heading(&format!("{}  {place}:{line}{disabled}", configured.name))?;
            let words = match &configured.server.connection {
                Connection::Command { command, args, .. } => command_line(command, args),
                Connection::Url { url, .. } => url.clone(),
            };
            ui.print_line(format!("  {}", visible_line(&words)))?;
        }
        for (file, FoundServer { server, line, .. }) in &of_clients {
            let (name, client, path) = (&server.name, file.client, file.display_path());
            let disabled = if server.disabled { ", disabled" } else { "" };
            ui.print_heading(&format!("{name}  {path}:{line}, for {client}{disabled}"))?;
            let words = match &server.transport {
                Transport::Stdio { command, args, .. } => command_line(command, args),
                Transport::Remote { url, .. } => url.clone(),
            };
            ui.print_line(format!("  {}", visible_line(&words)))?;
        }
        if servers.is_empty() && of_clients.is_empty() {
            ui.print_status("no MCP servers are configured here")?;
        } else {
            ui.print_status(
                "servers not started; pass `--check` to start them and list their tools",
            )?;
        }
    }
    Ok(())
}

/// Returns a server of a client's own file, with its place.
fn server_json(file: &ServerFile, FoundServer { server, line, .. }: &FoundServer) -> Value {
    let (command, args, url) = match &server.transport {
        Transport::Stdio { command, args, .. } => (Some(command), args.as_slice(), None),
        Transport::Remote { url, .. } => (None, &[][..], Some(url)),
    };
    json!({
        "client": file.client,
        "name": server.name,
        "path": file.display_path(),
        "line": line,
        "command": command,
        "args": args,
        "url": url,
        "disabled": server.disabled,
    })
}

fn command_line(command: &str, args: &[String]) -> String {
    std::iter::once(command).chain(args.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

fn print_checked(ui: &mut Ui, checked: &[CheckedServer]) -> Result {
    for server in checked {
        ui.print_heading(&format!("{}  {}", server.name, server.place))?;
        let words = match (&server.problem, &server.tools) {
            (Some(problem), _) => format!("failed: {problem}"),
            (None, Some(tools)) if tools.is_empty() => "no tools".to_owned(),
            (None, tools) => tools.iter().flatten().cloned().collect::<Vec<_>>().join(", "),
        };
        ui.print_line(format!("  {}", visible_line(&words)))?;
    }
    let failed = checked.iter().filter(|server| server.problem.is_some()).count();
    match (checked.len(), failed) {
        (0, _) => ui.print_status("no MCP servers to start")?,
        (_, 0) => ui.print_status("started and stopped every server")?,
        (all, failed) => ui.print_warning(&format!("{failed} of {all} servers failed"))?,
    }
    Ok(())
}

/// Prints servers in a client's format.
pub(super) fn print_for(ui: &mut Ui, profile: &ServerProfile, servers: &[Server]) -> Result {
    let written = mcp::render_servers(profile, servers);
    for (name, reason) in &written.left_out {
        ui.print_warning(&format!("skipped `{name}`: {reason}"))?;
    }
    ui.print_text(written.text.as_bytes())?;
    let home = || profile.home_file.as_ref().map(|file| format!("~/{file}"));
    let file = profile.file.as_ref().map(ToString::to_string).or_else(home);
    ui.print_status(&format!("write this to {}", file.unwrap_or_default()))
}

/// Converts servers of any dialect to the model of the clients.
pub(super) fn servers_for(servers: impl IntoIterator<Item = (String, McpServer)>) -> Vec<Server> {
    let servers = servers.into_iter().map(|(name, server)| {
        let transport = match server.connection {
            Connection::Command { command, args, env } => Transport::Stdio { command, args, env },
            Connection::Url { url, headers } => {
                let protocol = match server.kind {
                    Some(ServerKind::Sse) => Protocol::Sse,
                    Some(ServerKind::Http | ServerKind::Stdio) | None => Protocol::Http,
                };
                Transport::Remote { protocol, url, headers }
            }
        };
        Server { name, transport, disabled: server.disabled, custom: server.custom }
    });
    servers.collect()
}
