//! A client for tests that speaks the protocol line by line.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

const WORKS: &str = "a server in this process works";

/// The time for a message: a limit that only a failure reaches.
const PATIENCE: Duration = Duration::from_mins(2);

/// The client's side of a session.
pub struct TestClient {
    runtime: tokio::runtime::Runtime,
    reader: BufReader<tokio::io::ReadHalf<DuplexStream>>,
    writer: tokio::io::WriteHalf<DuplexStream>,
    id: u64,
    /// The fields that every request carries in the newest revision.
    meta: Option<Json>,
    /// Notifications that came before the answer to a request.
    notifications: VecDeque<Json>,
}

impl TestClient {
    /// Speaks over a stream.
    pub fn new(stream: DuplexStream) -> TestClient {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().build().expect(WORKS);
        let (reader, writer) = tokio::io::split(stream);
        let (reader, notifications) = (BufReader::new(reader), VecDeque::new());
        TestClient { runtime, reader, writer, id: 0, meta: None, notifications }
    }

    /// Sends a message.
    pub fn send_message(&mut self, message: &Json) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends any bytes.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.runtime.block_on(self.writer.write_all(bytes)).expect(WORKS);
    }

    /// Reads a line and returns its bytes; none at the end.
    pub fn read_line(&mut self, line: &mut String) -> usize {
        self.runtime.block_on(self.reader.read_line(line)).expect(WORKS)
    }

    /// Returns the next message.
    pub fn receive_message(&mut self) -> Json {
        let mut line = String::new();
        let read = async {
            let read = self.reader.read_line(&mut line);
            tokio::time::timeout(PATIENCE, read).await
        };
        assert!(self.runtime.block_on(read).expect(WORKS).expect(WORKS) > 0, "the server has left");
        serde_json::from_str(&line).expect(WORKS)
    }

    /// Sends a request and returns its number.
    pub fn send_request(&mut self, method: &str, mut params: Json) -> u64 {
        self.id += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.send_message(
            &json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}),
        );
        self.id
    }

    /// Sends a request and returns the whole answer.
    pub fn request_answer(&mut self, method: &str, params: Json) -> Json {
        let id = self.send_request(method, params);
        loop {
            let answer = self.receive_message();
            if answer.get("id").is_none() {
                self.notifications.push_back(answer);
                continue;
            }
            assert_eq!(answer["id"], id, "{answer}");
            return answer;
        }
    }

    /// Sends a request and returns its result.
    pub fn request_result(&mut self, method: &str, params: Json) -> Json {
        let answer = self.request_answer(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Introduces itself in a revision, and returns what the server says of itself.
    pub fn initialize(&mut self, version: &str) -> Json {
        let info = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
        let result = self.request_result("initialize", params);
        self.send_message(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        result
    }

    /// Speaks the newest revision, which has no `initialize`.
    pub fn speak_newest(&mut self) {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }));
    }

    /// Returns the next notification.
    pub fn next_notification(&mut self) -> Json {
        self.notifications.pop_front().unwrap_or_else(|| self.receive_message())
    }
}
