//! MCP servers that an operator has configured, for tools that may ask them.
//!
//! A server is a program, started when a tool asks for it the first time and ended with the agent. It
//! speaks JSON-RPC, one message in a line. What it says is a stranger's: lines are bounded, and what is not
//! an answer to our question is passed over.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use brief_syntax::limits;
use brief_syntax::system::{Call, Companion, Environment, Interruption, OverLimit, System};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::abilities::McpServers;
use brief_syntax::system::Passed;

/// The revision that we ask for; a server answers with its own.
const REVISION: &str = "2025-06-18";

/// Bytes that are read at once.
const PIECE: usize = 16 * 1024;

/// The servers of a configuration, in the shape of `.mcp.json`.
#[derive(Debug, Clone, Default, Deserialize)]
struct Configuration {
    #[serde(rename = "mcpServers", default)]
    servers: BTreeMap<String, Server>,
}

#[derive(Debug, Clone, Deserialize)]
struct Server {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// Servers that are programs.
pub struct StdioServers {
    system: Arc<dyn System>,
    directory: PathBuf,
    configured: BTreeMap<String, Server>,
    running: BTreeMap<String, Running>,
}

struct Running {
    program: Box<dyn Companion>,
    /// What was read and belongs to no whole line yet.
    read: Vec<u8>,
    last: u64,
}

impl StdioServers {
    /// Reads a configuration: `mcpServers` with `command`, `args` and `env`. The error is in words.
    pub fn read(
        system: Arc<dyn System>,
        directory: &Path,
        configuration: &[u8],
    ) -> Result<StdioServers, String> {
        let read: Configuration =
            serde_json::from_slice(configuration).map_err(|error| error.to_string())?;
        let directory = directory.to_owned();
        Ok(StdioServers { system, directory, configured: read.servers, running: BTreeMap::new() })
    }

    fn start(&self, name: &str, patience: Duration) -> Result<Running, String> {
        let Some(server) = self.configured.get(name) else {
            let names: Vec<&str> = self.configured.keys().map(String::as_str).collect();
            return Err(format!(
                "there is no server `{name}`; configured are: {}",
                names.join(", ")
            ));
        };
        let Some(command) = &server.command else {
            return Err(format!(
                "the server `{name}` is no program, and only programs are started"
            ));
        };
        let env = server.env.iter().map(|(key, value)| (key.into(), Some(value.into())));
        let call = Call {
            program: command.into(),
            args: server.args.iter().map(Into::into).collect(),
            directory: self.directory.clone(),
            environment: Environment::Empty,
            env: env.collect(),
            input: Vec::new(),
            merge_streams: false,
            time_limit: patience,
            output_limit: limits::TOOL_MESSAGE_BYTES,
            when_over_limit: OverLimit::EndIt,
            interruption: Interruption::default(),
        };
        // Tokens for a server stand in its `env`.
        let call = Passed::default().apply(self.system.as_ref(), call);
        let program = self
            .system
            .start(&call)
            .map_err(|error| format!("the server `{name}` cannot be started: {error}"))?;
        let mut running = Running { program, read: Vec::new(), last: 0 };
        let client = json!({"name": "brief", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client});
        running.ask("initialize", &hello, patience)?;
        running
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), patience)?;
        Ok(running)
    }
}

impl McpServers for StdioServers {
    fn call(
        &mut self,
        server: &str,
        tool: &str,
        args: &Value,
        time_left: Duration,
    ) -> Result<Value, String> {
        let mut running = match self.running.remove(server) {
            Some(running) => running,
            None => self.start(server, time_left)?,
        };
        let params = json!({"name": tool, "arguments": args});
        // A server that did not answer in time is ended: its answer would come to the next question.
        let result = running.ask("tools/call", &params, time_left)?;
        self.running.insert(server.to_owned(), running);
        answer(&result)
    }
}

/// Takes what a tool is to see out of a result.
fn answer(result: &Value) -> Result<Value, String> {
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

impl Running {
    fn send(&mut self, message: &Value, patience: Duration) -> Result<(), String> {
        let line = format!("{message}\n");
        self.program
            .send(line.as_bytes(), patience)
            .map_err(|error| format!("the server does not listen: {error}"))
    }

    /// Asks something and waits for the answer to it.
    fn ask(&mut self, method: &str, params: &Value, patience: Duration) -> Result<Value, String> {
        self.last += 1;
        let id = self.last;
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
            patience,
        )?;
        loop {
            let line = self.line(patience)?;
            let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
            if message.get("method").is_some() {
                // A server may ask, too; there is nothing that we would do for it.
                if let Some(asked) = message.get("id") {
                    let error = json!({"code": -32601, "message": "not supported"});
                    let refused = json!({"jsonrpc": "2.0", "id": asked, "error": error});
                    self.send(&refused, patience)?;
                }
                continue;
            }
            if message["id"] != id {
                continue;
            }
            return match message.get("error") {
                Some(error) => {
                    Err(error["message"].as_str().unwrap_or("the server refused").to_owned())
                }
                None => Ok(message["result"].clone()),
            };
        }
    }

    fn line(&mut self, patience: Duration) -> Result<Vec<u8>, String> {
        let mut piece = vec![0; PIECE];
        loop {
            if let Some(end) = self.read.iter().position(|&byte| byte == b'\n') {
                let mut line: Vec<u8> = self.read.drain(..=end).collect();
                line.pop();
                return Ok(line);
            }
            if self.read.len() > limits::TOOL_MESSAGE_BYTES {
                return Err("the server says more than it may in one message".to_owned());
            }
            match self.program.receive(&mut piece, patience) {
                Ok(0) => return Err("the server has ended".to_owned()),
                Ok(count) => self.read.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    return Err("the server did not answer in time".to_owned());
                }
                Err(error) => return Err(format!("the server cannot be heard: {error}")),
            }
        }
    }
}
