//! MCP servers that are programs: those that an operator has configured for an agent's tools, and one connection
//! for other callers.
//!
//! A server of an agent starts when a tool asks for it the first time and ends with the agent. It
//! speaks JSON-RPC, one message per line. Its output is untrusted: lines are bounded, and messages other than
//! the answer to our request are ignored.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use brief_syntax::limits;
use brief_syntax::system::{Call, Companion, Environment, System};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::abilities::McpAccess;
use brief_syntax::system::Passed;

/// The protocol revision in our request; a server answers with its own.
const REVISION: &str = "2025-06-18";

/// The message about a server that is too slow.
const LATE: &str = "the server did not answer in time";

/// The limit for the notifications that are kept from one look.
const MOST_NOTICES: usize = 100;

/// The size of the read buffer.
const PIECE: usize = 16 * 1024;

/// The servers of a configuration, in the format of `.mcp.json`.
#[derive(Debug, Clone, Default, Deserialize)]
struct Configuration {
    #[serde(rename = "mcpServers", default)]
    servers: BTreeMap<String, ServerProgram>,
}

/// A program that is a server.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ServerProgram {
    /// The program; a server without one is reached in another way, and not started.
    pub command: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables for its environment, besides a few of ours.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// Servers that are programs, spoken to by standard input and output.
pub struct StdioServers {
    system: Arc<dyn System>,
    directory: PathBuf,
    configured: BTreeMap<String, ServerProgram>,
    running: BTreeMap<String, McpConnection>,
}

/// A server that runs, and the client's side of its connection. The server ends with it.
pub struct McpConnection {
    program: Box<dyn Companion>,
    system: Arc<dyn System>,
    /// Bytes that do not form a complete line yet.
    read: Vec<u8>,
    /// The number of these bytes that are known to hold no line break.
    searched: usize,
    /// The number of the last request.
    last: u64,
}

impl StdioServers {
    /// Parses a configuration: `mcpServers` with `command`, `args` and `env`. The error is a message.
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

    fn start(&self, name: &str, patience: Duration) -> Result<McpConnection, String> {
        let Some(server) = self.configured.get(name) else {
            let names: Vec<&str> = self.configured.keys().map(String::as_str).collect();
            return Err(format!(
                "there is no server `{name}`; configured are: {}",
                names.join(", ")
            ));
        };
        McpConnection::start(&self.system, &self.directory, name, server, patience)
    }
}

impl McpAccess for StdioServers {
    fn call(
        &mut self,
        server: &str,
        tool: &str,
        args: &Value,
        time_left: Duration,
    ) -> Result<Value, String> {
        let until = self.system.elapsed() + time_left;
        let mut running = match self.running.remove(server) {
            Some(running) => running,
            None => self.start(server, time_left)?,
        };
        let params = json!({"name": tool, "arguments": args});
        // A server that did not answer in time is ended: its answer would be taken for that of the next
        // request.
        let result = running.ask("tools/call", &params, until)?;
        self.running.insert(server.to_owned(), running);
        answer(&result)
    }
}

/// Extracts the part of a result that a tool gets.
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

impl McpConnection {
    /// Starts a server in a directory and introduces us. The error is a message.
    pub fn start(
        system: &Arc<dyn System>,
        directory: &Path,
        name: &str,
        server: &ServerProgram,
        patience: Duration,
    ) -> Result<McpConnection, String> {
        let Some(command) = &server.command else {
            return Err(format!(
                "the server `{name}` is not a program, and only programs are started"
            ));
        };
        let env = server.env.iter().map(|(key, value)| (key.into(), Some(value.into())));
        let limit = limits::TOOL_MESSAGE_BYTES;
        let call = Call {
            args: server.args.iter().map(Into::into).collect(),
            environment: Environment::Empty,
            env: env.collect(),
            ..Call::new(command, directory.to_owned(), patience, limit)
        };
        // Tokens for a server come from its `env`.
        let call = Passed::default().apply(system.as_ref(), call);
        let program = system
            .start(&call)
            .map_err(|error| format!("the server `{name}` cannot be started: {error}"))?;
        let until = system.elapsed() + patience;
        let mut running = McpConnection::new(program, Arc::clone(system));
        let client = json!({"name": "brief", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client});
        running.ask("initialize", &hello, until)?;
        running.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), until)?;
        Ok(running)
    }

    /// Reads what the server says unasked, for so long, and returns the methods of its notifications. The
    /// error is a message: the server has ended, or says too much.
    pub fn listen(&mut self, patience: Duration) -> Result<Vec<String>, String> {
        let until = self.system.elapsed() + patience;
        let mut methods = Vec::new();
        loop {
            match self.line(until) {
                Ok(line) => {
                    let message = serde_json::from_slice::<Value>(&line).unwrap_or_default();
                    let method = message["method"].as_str().map(str::to_owned);
                    if methods.len() < MOST_NOTICES {
                        methods.extend(method);
                    }
                }
                Err(problem) if problem == LATE => return Ok(methods),
                Err(problem) => return Err(problem),
            }
        }
    }

    fn new(program: Box<dyn Companion>, system: Arc<dyn System>) -> McpConnection {
        McpConnection { program, system, read: Vec::new(), searched: 0, last: 0 }
    }

    fn patience(&self, until: Duration) -> Duration {
        until.saturating_sub(self.system.elapsed())
    }

    fn send(&mut self, message: &Value, until: Duration) -> Result<(), String> {
        let (line, patience) = (format!("{message}\n"), self.patience(until));
        self.program
            .send(line.as_bytes(), patience)
            .map_err(|error| format!("the server does not read its input: {error}"))
    }

    /// Sends a request and waits for its answer, until the given time at most. The error is a message.
    fn ask(&mut self, method: &str, params: &Value, until: Duration) -> Result<Value, String> {
        self.ask_raw(method, params, until)?
    }

    /// Sends a request and waits for its answer, until the given time at most. Other messages of the server
    /// do not extend that time. The inner error is the server's own, the outer one that of the connection, which
    /// cannot be used any more; both are messages.
    pub fn ask_raw(
        &mut self,
        method: &str,
        params: &Value,
        until: Duration,
    ) -> Result<Result<Value, String>, String> {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}), until)?;
        loop {
            let line = self.line(until)?;
            let Ok(mut message) = serde_json::from_slice::<Value>(&line) else { continue };
            if message.get("method").is_some() {
                // A server may send requests too; none is supported.
                if let Some(asked) = message.get("id") {
                    let error = json!({"code": -32601, "message": "not supported"});
                    let refused = json!({"jsonrpc": "2.0", "id": asked, "error": error});
                    self.send(&refused, until)?;
                }
                continue;
            }
            if message["id"] != id {
                continue;
            }
            return Ok(match message.get("error") {
                Some(error) => {
                    Err(error["message"].as_str().unwrap_or("the server refused").to_owned())
                }
                None => Ok(message["result"].take()),
            });
        }
    }

    /// Returns the next line without its line break.
    fn line(&mut self, until: Duration) -> Result<Vec<u8>, String> {
        let mut piece = [0; PIECE];
        loop {
            let patience = self.patience(until);
            if patience.is_zero() {
                return Err(LATE.to_owned());
            }
            // Only new bytes are searched: a long line comes in thousands of pieces.
            let new = self.read.get(self.searched..).unwrap_or_default();
            if let Some(end) = new.iter().position(|&byte| byte == b'\n') {
                let mut line: Vec<u8> = self.read.drain(..=self.searched + end).collect();
                line.pop();
                self.searched = 0;
                return Ok(line);
            }
            self.searched = self.read.len();
            if self.searched > limits::TOOL_MESSAGE_BYTES {
                return Err("a message of the server is too large".to_owned());
            }
            match self.program.receive(&mut piece, patience) {
                Ok(0) => return Err("the server has ended".to_owned()),
                Ok(count) => self.read.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    return Err(LATE.to_owned());
                }
                Err(error) => {
                    return Err(format!("the output of the server cannot be read: {error}"));
                }
            }
        }
    }
}

/// Reads server output for [`crate::fuzzing`].
pub(crate) mod fuzzing {
    use std::sync::LazyLock;

    use brief_syntax::system::{Ending, MemorySystem};

    use super::{Arc, Companion, Duration, McpConnection, PIECE, System, answer, io, json};

    /// A server that sends its text, in pieces, whatever the request.
    struct Recital {
        text: Vec<u8>,
        at: usize,
    }

    impl Companion for Recital {
        fn send(&mut self, bytes: &[u8], _: Duration) -> io::Result<()> {
            assert!(bytes.ends_with(b"\n") && !bytes[..bytes.len() - 1].contains(&b'\n'));
            Ok(())
        }

        fn receive(&mut self, buffer: &mut [u8], _: Duration) -> io::Result<usize> {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let count = rest.len().min(buffer.len()).min(PIECE / 100);
            buffer[..count].copy_from_slice(&rest[..count]);
            self.at += count;
            Ok(count)
        }

        fn id(&self) -> u32 {
            0
        }

        fn wait(&mut self, _: Duration) -> io::Result<Ending> {
            Ok(Ending::Exited(0))
        }

        fn end(&mut self) {}
    }

    static SYSTEM: LazyLock<Arc<MemorySystem>> =
        LazyLock::new(|| Arc::new(MemorySystem::new("/p")));

    /// Sends requests until the server's text is used up.
    pub(crate) fn answers(text: &[u8]) {
        let recital = Recital { text: text.to_vec(), at: 0 };
        let system: Arc<dyn System> = Arc::clone(&*SYSTEM) as Arc<dyn System>;
        let mut running = McpConnection::new(Box::new(recital), system);
        let until = running.system.elapsed() + Duration::from_mins(1);
        let params = json!({});
        // The text is used up in the end: each request takes at least a line of it.
        for _ in 0..=text.len() {
            match running.ask("tools/call", &params, until) {
                Ok(result) => drop(answer(&result)),
                Err(message) if message == "the server has ended" => return,
                Err(_) => {}
            }
        }
        panic!("a server that has ended is asked again");
    }
}

#[cfg(test)]
mod tests {
    use brief_syntax::system::{Ending, OsSystem};

    use super::*;

    /// A server that repeats its text for ever.
    struct Endless(&'static [u8]);

    impl Companion for Endless {
        fn send(&mut self, _: &[u8], _: Duration) -> io::Result<()> {
            Ok(())
        }

        fn receive(&mut self, buffer: &mut [u8], _: Duration) -> io::Result<usize> {
            buffer[..self.0.len()].copy_from_slice(self.0);
            Ok(self.0.len())
        }

        fn id(&self) -> u32 {
            0
        }

        fn wait(&mut self, _: Duration) -> io::Result<Ending> {
            Ok(Ending::Exited(0))
        }

        fn end(&mut self) {}
    }

    fn asked(server: Endless, patience: Duration) -> Result<Value, String> {
        let mut running = McpConnection::new(Box::new(server), Arc::new(OsSystem));
        let until = running.system.elapsed() + patience;
        running.ask("tools/call", &json!({}), until)
    }

    /// X11: the time limit covers the whole request, not each line of a server.
    #[test]
    fn a_server_that_never_answers_and_never_stops_is_left() {
        let chatter = Endless(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n");
        let answer = asked(chatter, Duration::from_millis(50));
        assert_eq!(answer, Err("the server did not answer in time".to_owned()));
    }

    /// R1: a line of 16 MB in pieces of 16 bytes is searched once, not a million times.
    #[test]
    fn a_line_without_an_end_is_left_at_its_limit() {
        let answer = asked(Endless(b"0123456789abcdef"), Duration::from_mins(1));
        assert_eq!(answer, Err("a message of the server is too large".to_owned()));
    }
}
