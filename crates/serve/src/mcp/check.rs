//! A look at configured servers: each is started, asked for its tools, and ended.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use brief_mcp_client::{ListedTools, McpConnection};
use brief_system::{Interruption, System};
use serde_json::Value as Json;

use super::GatewayServer;

/// The result of a look at a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerCheck {
    /// Its name in the configuration.
    pub name: String,
    /// The place of that configuration, for people.
    pub place: String,
    /// Its tools, or the problem.
    pub tools: Result<ListedTools, String>,
    /// All of its tools, as it describes them.
    pub described: Vec<Json>,
}

/// Starts all servers at once, lists the tools of each, and ends them. Each has `patience` for its start, and again
/// for the list.
pub fn check_servers(
    system: &Arc<dyn System>,
    directory: &Path,
    servers: &[GatewayServer],
    patience: Duration,
    stop: &Interruption,
) -> Vec<ServerCheck> {
    let looked_at = |server: &GatewayServer| {
        let named = (server.name.as_str(), &server.address);
        let mut running = McpConnection::start(system, directory, named, patience, stop)?;
        running.read_list("tools/list", "tools", patience)
    };
    thread::scope(|scope| {
        let looks: Vec<_> =
            servers.iter().map(|server| scope.spawn(move || looked_at(server))).collect();
        let checks = servers.iter().zip(looks).map(|(server, look)| {
            let found =
                look.join().unwrap_or_else(|_| Err("the check ended without a result".to_owned()));
            let described = found.as_ref().cloned().unwrap_or_default();
            let tools = found.map(|tools| server.decisions.divide_tools(tools));
            let (name, place) = (server.name.clone(), server.place.clone());
            ServerCheck { name, place, tools, described }
        });
        checks.collect()
    })
}
