//! The MCP servers that a project configures, as far as the user lets them start.

use std::path::{Path, PathBuf};

use brief_agent::mcp_client::ServerProgram;
use brief_clients::mcp::{Server, Transport, find, server_files};
use brief_dialects::hosted;
use brief_dialects::mcp::Connection;
use brief_dialects::policy::PolicyError;
use brief_engine::Project;
use brief_runtime::{Consent, Execution, ProjectRefusal, Wish};
use brief_syntax::limits;
use brief_syntax::system::{ReadError, System};

use super::GatewayServer;

/// The client whose file holds servers for every client.
const SHARED_FILE: &str = ".mcp.json";

/// The variable that a gateway sets for the servers that it starts. One that is started by another would start
/// itself without end.
const INSIDE: &str = "BRIEF_GATEWAY";

/// The servers to start, and the problems of others.
#[derive(Debug, Default)]
pub struct ProjectServers {
    /// The servers, those of `context-config.json` first.
    pub servers: Vec<GatewayServer>,
    /// Messages about servers that are not started.
    pub problems: Vec<String>,
}

/// Servers that do not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// The directory cannot be opened.
    #[error("the directory cannot be opened: {0}")]
    Directory(#[source] std::io::Error),
    /// A policy cannot be read.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Nothing may run.
    #[error("the servers do not start: nothing runs because of {0}")]
    Off(String),
    /// The project is not trusted.
    #[error("the servers do not start: {0}")]
    Untrusted(ProjectRefusal),
    /// Another gateway has started this one.
    #[error("a gateway does not start another one")]
    Inside,
}

impl GatewayError {
    /// Returns the project to trust, if that would help.
    pub fn trust_hint(&self) -> Option<&Path> {
        match self {
            GatewayError::Untrusted(refusal) => Some(&refusal.root),
            _ => None,
        }
    }
}

/// Returns the servers of the project around a directory: those of `context-config.json` for the directory, and
/// those of `.mcp.json` at the top. `is_allowed` starts them although the project is not trusted.
pub fn project_servers(
    system: &dyn System,
    directory: &Path,
    is_allowed: bool,
) -> Result<ProjectServers, GatewayError> {
    if system.env(INSIDE).is_some() {
        return Err(GatewayError::Inside);
    }
    let project = Project::open(system, directory).map_err(GatewayError::Directory)?;
    let wish = is_allowed.then_some(Wish::Execute);
    let execution = Execution::under_policy(system, wish.as_ref())?;
    if let Some(off) = execution.off() {
        return Err(GatewayError::Off(off.to_string()));
    }
    let mut found = ProjectServers::default();
    let configured = configured(&project, &mut found.problems);
    if configured.is_empty() {
        return Ok(found);
    }
    let mut consent = Consent::new(system, directory, execution);
    consent.project(project.root().path()).map_err(GatewayError::Untrusted)?;
    for Server { name, transport, disabled, .. } in configured {
        match transport {
            _ if disabled => {}
            Transport::Remote { .. } => {
                found
                    .problems
                    .push(format!("the server `{name}` is not a program, and is left out"));
            }
            Transport::Stdio { command, args, env } => {
                let inside = (INSIDE.to_owned(), "1".to_owned());
                let env = env.into_iter().chain([inside]).collect();
                let program = ServerProgram { command: Some(command), args, env };
                found.servers.push(GatewayServer { name, program });
            }
        }
    }
    Ok(found)
}

fn configured(project: &Project<'_>, problems: &mut Vec<String>) -> Vec<Server> {
    let briefing = project.briefing(PathBuf::from(".")).only([hosted::NAME]).resolve();
    let hosted = briefing.mcp_servers.into_iter().map(|configured| {
        let transport = match configured.server.connection {
            Connection::Command { command, args, env } => Transport::Stdio { command, args, env },
            Connection::Url { url, headers } => {
                Transport::Remote { protocol: brief_clients::mcp::Protocol::Http, url, headers }
            }
        };
        let disabled = configured.server.disabled;
        Server { name: configured.name, transport, disabled, custom: Vec::new() }
    });
    let mut servers: Vec<Server> = hosted.collect();
    let file = server_files().find(|file| file.path == SHARED_FILE);
    let top = project.system().open_dir(project.root().path());
    let (Some(file), Ok(top)) = (file, top) else { return servers };
    let found = match top.read_below(Path::new(file.path), limits::FILE_BYTES) {
        Ok(bytes) => find(&file, &String::from_utf8_lossy(&bytes)),
        Err(ReadError::Missing) => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    };
    match found {
        Ok(found) => servers.extend(found.into_iter().map(|found| found.server)),
        Err(problem) => problems.push(format!("{SHARED_FILE} is not read: {problem}")),
    }
    servers
}
