//! A server over HTTP that answers as a test says.

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use brief_testkit::StubRequest;
use serde_json::{Value as Json, json};

/// A received request.
#[derive(Debug, Clone)]
pub(super) struct Received {
    pub(super) method: String,
    pub(super) path: String,
    headers: Vec<(String, String)>,
    pub(super) message: Json,
}

impl Received {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the method of the message, or that of the request.
    pub(super) fn asks(&self) -> &str {
        self.message["method"].as_str().unwrap_or(&self.method)
    }

    /// Returns the answer to the message, with the result that a server has for its method. It does not know the newest
    /// revision.
    pub(super) fn answer(&self) -> Json {
        if self.asks() == "server/discover" {
            let error = json!({"code": -32601, "message": "method not found"});
            return json!({"jsonrpc": "2.0", "id": self.message["id"], "error": error});
        }
        let result = match self.asks() {
            "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {},
                "serverInfo": {"name": "stub", "version": "1"}}),
            "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
            "tools/call" => {
                let text = self.message["params"]["arguments"].to_string();
                json!({"content": [{"type": "text", "text": text}]})
            }
            _ => json!({}),
        };
        json!({"jsonrpc": "2.0", "id": self.message["id"], "result": result})
    }
}

/// A server; it lives as long as the test.
pub(super) struct Stub {
    pub(super) url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Stub {
    /// Answers each request by `respond`, on a thread of its own.
    pub(super) fn start(
        respond: impl Fn(&Received, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Stub {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let (seen, respond) = (Arc::clone(&received), Arc::new(respond));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (seen, respond) = (Arc::clone(&seen), Arc::clone(&respond));
                thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    // The client may leave at any time.
                    let Ok(request) = read(&stream) else { return };
                    seen.lock().unwrap().push(request.clone());
                    let _ = respond(&request, &mut stream);
                });
            }
        });
        Stub { url, received }
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> std::io::Result<Received> {
    let StubRequest { method, path, headers, body } =
        StubRequest::read(&mut BufReader::new(stream))?;
    let message = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Received { method, path, headers, message })
}

/// Sends the head of a response that ends with the connection.
pub(super) fn head(stream: &mut TcpStream, status: u16, fields: &[&str]) -> std::io::Result<()> {
    let fields: String = fields.iter().fold(String::new(), |all, field| all + field + "\r\n");
    write!(stream, "HTTP/1.1 {status} X\r\n{fields}connection: close\r\n\r\n")
}

/// Sends JSON, or nothing but the status for a notification.
pub(super) fn plain(
    request: &Received,
    stream: &mut TcpStream,
    fields: &[&str],
) -> std::io::Result<()> {
    if request.message.get("id").is_none() {
        return head(stream, 202, fields);
    }
    head(stream, 200, &[fields, &["content-type: application/json"]].concat())?;
    stream.write_all(request.answer().to_string().as_bytes())
}

/// Begins a stream of events.
pub(super) fn events(stream: &mut TcpStream) -> std::io::Result<()> {
    head(stream, 200, &["content-type: text/event-stream"])
}

/// Sends an event.
pub(super) fn event(stream: &mut TcpStream, kind: &str, data: &str) -> std::io::Result<()> {
    write!(stream, "event: {kind}\ndata: {data}\n\n")
}
