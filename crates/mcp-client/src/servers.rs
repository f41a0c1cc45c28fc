//! The servers of an agent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use brief_system::System;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    ListedTools, McpConnection, RemoteProtocol, RemoteServer, ServerAddress, ServerProgram,
    ToolDecisions,
};

/// The servers of a configuration, in the format of `.mcp.json`.
#[derive(Deserialize)]
struct Configuration {
    #[serde(rename = "mcpServers", default)]
    servers: BTreeMap<String, ServerEntry>,
}

#[derive(Deserialize)]
struct ServerEntry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    disabled: bool,
}

impl ServerEntry {
    fn into_address(self) -> Option<ServerAddress> {
        let ServerEntry { command, args, env, url, headers, kind, .. } = self;
        if let Some(command) = command {
            let env = env.into_iter().collect();
            return Some(ServerAddress::Program(ServerProgram { command, args, env }));
        }
        let protocol = match kind.as_deref() {
            Some("sse") => RemoteProtocol::Sse,
            Some(_) => RemoteProtocol::Http,
            None => RemoteProtocol::Either,
        };
        let headers = headers.into_iter().collect();
        Some(ServerAddress::Remote(RemoteServer { url: url?, headers, protocol }))
    }
}

/// Servers by name. Each starts when it is asked for the first time, and ends with this.
pub struct ConfiguredServers {
    system: Arc<dyn System>,
    directory: PathBuf,
    configured: BTreeMap<String, ServerAddress>,
    running: BTreeMap<String, McpConnection>,
    decisions: BTreeMap<String, ToolDecisions>,
}

impl ConfiguredServers {
    /// Creates servers that start in a directory.
    pub fn new(
        system: Arc<dyn System>,
        directory: &Path,
        configured: impl IntoIterator<Item = (String, ServerAddress)>,
    ) -> ConfiguredServers {
        let (directory, running) = (directory.to_owned(), BTreeMap::new());
        let configured = configured.into_iter().collect();
        let decisions = BTreeMap::new();
        ConfiguredServers { system, directory, configured, running, decisions }
    }

    /// Sets the user's decisions about the tools of servers, by name.
    #[must_use]
    pub fn with_decisions(
        mut self,
        decisions: impl IntoIterator<Item = (String, ToolDecisions)>,
    ) -> ConfiguredServers {
        self.decisions = decisions.into_iter().collect();
        self
    }

    /// Parses a configuration: `mcpServers` with `command`, `args` and `env`, or `url`, `headers` and `type`. The
    /// error is a message.
    pub fn parse_configuration(
        configuration: &[u8],
    ) -> Result<Vec<(String, ServerAddress)>, String> {
        let read: Configuration =
            serde_json::from_slice(configuration).map_err(|error| error.to_string())?;
        let mut servers = Vec::new();
        for (name, entry) in read.servers.into_iter().filter(|(_, entry)| !entry.disabled) {
            let address = entry.into_address();
            let address = address
                .ok_or_else(|| format!("the server `{name}` has neither `command` nor `url`"))?;
            servers.push((name, address));
        }
        Ok(servers)
    }

    /// Returns the names of the servers, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.configured.keys().map(String::as_str)
    }

    /// Returns the tools of a server. The error is a message.
    pub fn list_tools(&mut self, server: &str, patience: Duration) -> Result<ListedTools, String> {
        let tools = self.with_server(server, patience, |running, patience| {
            running.read_list("tools/list", "tools", patience)
        })?;
        let known = self.decisions.get(server).cloned().unwrap_or_default();
        Ok(known.divide_tools(tools))
    }

    /// Calls a tool of a server and returns its result. The error is a message.
    pub fn call_tool(
        &mut self,
        server: &str,
        tool: &str,
        args: &Value,
        time_left: Duration,
    ) -> Result<Value, String> {
        let params = json!({"name": tool, "arguments": args});
        let until = self.system.elapsed() + time_left;
        // The server's own refusal does not end it.
        let result = self.with_server(server, time_left, |running, _| {
            running.send_request("tools/call", &params, until)
        })?;
        extract_content(&result?)
    }

    /// Uses a server, which is started if it does not run. One that fails is ended: what it still says would be
    /// taken for the answer to the next request.
    fn with_server<T>(
        &mut self,
        name: &str,
        patience: Duration,
        use_it: impl FnOnce(&mut McpConnection, Duration) -> Result<T, String>,
    ) -> Result<T, String> {
        let until = self.system.elapsed() + patience;
        let mut running = match self.running.remove(name) {
            Some(running) => running,
            None => self.start_server(name, patience)?,
        };
        let result = use_it(&mut running, until.saturating_sub(self.system.elapsed()))?;
        self.running.insert(name.to_owned(), running);
        Ok(result)
    }

    fn start_server(&self, name: &str, patience: Duration) -> Result<McpConnection, String> {
        let Some(server) = self.configured.get(name) else {
            let names: Vec<&str> = self.names().collect();
            return Err(format!(
                "unknown server `{name}`; configured servers: {}",
                names.join(", ")
            ));
        };
        let stop = self.system.interruption().unwrap_or_default();
        McpConnection::start(&self.system, &self.directory, (name, server), patience, &stop)
    }
}

/// Servers that tools ask for, and that the caller lists.
#[derive(Clone)]
pub struct SharedServers(Arc<Mutex<ConfiguredServers>>);

impl SharedServers {
    pub fn new(servers: ConfiguredServers) -> SharedServers {
        SharedServers(Arc::new(Mutex::new(servers)))
    }

    pub fn lock(&self) -> MutexGuard<'_, ConfiguredServers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Extracts the part of a result that a tool gets.
pub(crate) fn extract_content(result: &Value) -> Result<Value, String> {
    let content = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = content.iter().filter_map(|part| part["text"].as_str()).collect();
    let text = texts.join("\n");
    if result["isError"] == Value::Bool(true) {
        return Err(text);
    }
    Ok(match &result["structuredContent"] {
        Value::Null => Value::String(text),
        structured => structured.clone(),
    })
}
