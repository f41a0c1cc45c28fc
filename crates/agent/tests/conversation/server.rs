//! A scripted server of chat completions, with one answer for each request.

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use brief_testkit::StubRequest;

/// A part of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Sends these bytes at once.
    Send(Vec<u8>),
    /// Sends nothing for this time.
    Wait(Duration),
    /// Nothing, until the client leaves.
    Hold,
    /// The user interrupts.
    Interrupt(brief_system::Interruption),
    /// Repeats these bytes until the client disconnects.
    Forever(Vec<u8>),
}

/// An answer to one request.
pub(crate) type Script = Vec<Part>;

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Json,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the messages of the conversation.
    pub(crate) fn messages(&self) -> &[Json] {
        self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

pub(crate) struct Server {
    pub(crate) base: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Starts the server; the last answer repeats.
    pub(crate) fn start(script: Vec<Script>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for (index, stream) in listener.incoming().enumerate() {
                let answer = script.get(index).or(script.last()).cloned().unwrap_or_default();
                let seen = Arc::clone(&seen);
                thread::spawn(move || {
                    // The client may disconnect at any time.
                    let _ = serve(stream.unwrap(), answer, &seen);
                });
            }
        });
        Server { base, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, answer: Script, seen: &Mutex<Vec<Request>>) -> std::io::Result<()> {
    let StubRequest { path, headers, body, .. } =
        StubRequest::read(&mut BufReader::new(stream.try_clone()?))?;
    let body = serde_json::from_slice(&body).unwrap();
    seen.lock().unwrap().push(Request { path, headers, body });
    let mut stream = stream;
    for part in answer {
        match part {
            Part::Send(bytes) => stream.write_all(&bytes)?,
            Part::Wait(time) => thread::sleep(time),
            // Until the client leaves.
            Part::Hold => drop(std::io::copy(&mut stream, &mut std::io::sink())),
            Part::Interrupt(interruption) => interruption.raise(),
            Part::Forever(bytes) => loop {
                stream.write_all(&bytes)?;
            },
        }
    }
    stream.shutdown(std::net::Shutdown::Both)
}

/// The head of an answer that ends with the connection.
pub(crate) fn head(status: &str, headers: &[&str]) -> Part {
    let headers: String = headers.iter().fold(String::new(), |all, header| all + header + "\r\n");
    let head = format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n");
    Part::Send(head.into_bytes())
}

pub(crate) fn stream_head() -> Part {
    head("200 OK", &["content-type: text/event-stream"])
}

pub(crate) fn send(text: &str) -> Part {
    Part::Send(text.as_bytes().to_vec())
}

/// An event of a stream.
pub(crate) fn event(json: &Json) -> Part {
    send(&format!("data: {json}\n\n"))
}

pub(crate) fn delta(delta: &Json) -> Part {
    event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
}

pub(crate) fn finish(reason: &str) -> Part {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
}

pub(crate) fn done() -> Part {
    send("data: [DONE]\n\n")
}

/// A complete answer, in small pieces.
pub(crate) fn text(text: &str) -> Script {
    let mut script = vec![stream_head(), delta(&json!({"role": "assistant", "content": ""}))];
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(4) {
        script.push(delta(&json!({"content": piece.iter().collect::<String>()})));
    }
    script.extend([finish("stop"), done()]);
    script
}

/// Calls of tools, with arguments in pieces.
pub(crate) fn calls(calls: &[(&str, &str)]) -> Script {
    let mut script = vec![stream_head(), delta(&json!({"role": "assistant", "content": null}))];
    for (index, (name, arguments)) in calls.iter().enumerate() {
        let id = format!("id{index}");
        let begin = json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
        script.push(delta(&json!({"tool_calls": [begin]})));
        let letters: Vec<char> = arguments.chars().collect();
        for piece in letters.chunks(3) {
            let piece: String = piece.iter().collect();
            let piece = json!({"index": index, "function": {"arguments": piece}});
            script.push(delta(&json!({"tool_calls": [piece]})));
        }
    }
    script.extend([finish("tool_calls"), done()]);
    script
}

/// A JSON answer.
pub(crate) fn json_answer(status: &str, headers: &[&str], json: &Json) -> Script {
    let mut all = vec!["content-type: application/json"];
    all.extend(headers);
    vec![head(status, &all), send(&json.to_string())]
}
