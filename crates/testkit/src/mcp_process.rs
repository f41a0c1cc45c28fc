//! The program as an MCP server, from a client's side.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::{PATIENCE, Sandbox, send_signal, wait_until};

const WORKS: &str = "a server works";

/// A server that a client speaks to.
pub struct McpProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl McpProcess {
    /// Takes a program that speaks no protocol: it ends with the test.
    pub fn from_child(child: Child) -> McpProcess {
        McpProcess { child, stdin: None, lines: channel().1 }
    }

    /// Starts a server with these words, and introduces a client.
    pub fn start(project: &Sandbox, args: &[&str]) -> McpProcess {
        let mut child =
            project.prepare_command("", args).stderr(Stdio::null()).spawn().expect(WORKS);
        let stdin = child.stdin.take();
        let stdout: ChildStdout = child.stdout.take().expect(WORKS);
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut server = McpProcess { child, stdin, lines };
        let client = json!({"name": "test", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        server.request_answer(0, "initialize", &params);
        server.send_message(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    /// Sends a line of any bytes.
    pub fn send_line(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().expect(WORKS);
        stdin.write_all(line).expect(WORKS);
        stdin.write_all(b"\n").expect(WORKS);
        stdin.flush().expect(WORKS);
    }

    /// Sends a message.
    pub fn send_message(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    /// Returns the next message.
    pub fn receive_message(&self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect(WORKS)
    }

    /// Sends a request and returns its answer.
    pub fn request_answer(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.send_message(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let answer = self.receive_message();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Calls a tool without waiting for the answer.
    pub fn send_tool_call(&mut self, id: u64, tool: &str) {
        let params = json!({"name": tool, "arguments": {}});
        self.send_message(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}),
        );
    }

    /// Returns the number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Closes its standard input.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal to it.
    pub fn send_signal(&self, name: &str) {
        send_signal(name, self.child.id());
    }

    /// Waits for its end, and returns its status.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect(WORKS)
    }

    /// Waits for the end of the server, up to the time limit.
    pub fn await_end(&mut self, why: &str) {
        wait_until(&format!("the server ends, {why}"), || {
            self.child.try_wait().expect(WORKS).is_some()
        });
    }
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
