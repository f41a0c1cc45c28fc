//! A scripted server of a model.

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::StubRequest;

const WORKS: &str = "a server on this machine works";

/// A server that answers each request with the next of some bodies, and keeps what it was asked.
pub struct ModelServer {
    /// Its address.
    pub url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl ModelServer {
    /// Starts a server with an answer for each request: the `deltas` of a stream, and its `finish`.
    pub fn start(answers: Vec<Value>) -> ModelServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect(WORKS);
        let url = format!("http://{}/v1", listener.local_addr().expect(WORKS));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut answers = answers.into_iter();
            while let Ok((stream, _)) = listener.accept() {
                let Some(answer) = answers.next() else { return };
                seen.lock().expect(WORKS).push(answer_one(stream, &answer));
            }
        });
        ModelServer { url, asked }
    }

    /// Returns the bodies of the requests so far.
    pub fn request_bodies(&self) -> Vec<Value> {
        self.asked.lock().expect(WORKS).clone()
    }
}

/// Reads one request, sends one event for each delta, and returns the body of the request.
fn answer_one(stream: TcpStream, answer: &Value) -> Value {
    let mut reader = BufReader::new(stream);
    let request = StubRequest::read(&mut reader).expect(WORKS);
    let mut text = String::new();
    for delta in answer["deltas"].as_array().expect(WORKS) {
        let event = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
        text.push_str(&format!("data: {event}\n\n"));
    }
    let event = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": answer["finish"]}]});
    text.push_str(&format!("data: {event}\n\ndata: [DONE]\n\n"));
    let mut stream = reader.into_inner();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{text}", text.len()).expect(WORKS);
    serde_json::from_slice(&request.body).expect(WORKS)
}
