//! A web server of a test.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// An answer of a site.
#[derive(Clone)]
pub(crate) enum Answer {
    Page(String),
    /// The status line, header fields and body.
    Raw(String),
    /// A page whose end never comes.
    Endless(String),
    /// No answer at all.
    Silence,
}

pub(crate) struct Site {
    pub(crate) port: u16,
    /// The first lines and bodies of all requests.
    seen: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Serves paths; `PORT` in an answer is the port.
    pub(crate) fn serve(pages: &[(&str, Answer)]) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let pages: BTreeMap<String, Answer> =
            pages.iter().map(|(path, answer)| ((*path).to_owned(), answer.clone())).collect();
        let (pages, record) = (Arc::new(pages), Arc::clone(&seen));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (pages, record) = (Arc::clone(&pages), Arc::clone(&record));
                thread::spawn(move || answer(stream, port, &pages, &record));
            }
        });
        Site { port, seen }
    }

    pub(crate) fn page(html: &str) -> Site {
        Site::serve(&[("/", Answer::Page(html.to_owned()))])
    }

    pub(crate) fn base(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether a request began so.
    pub(crate) fn was_asked(&self, start: &str) -> bool {
        self.seen().iter().any(|request| request.starts_with(start))
    }
}

fn answer(
    mut stream: TcpStream,
    port: u16,
    pages: &BTreeMap<String, Answer>,
    record: &Mutex<Vec<String>>,
) {
    let Some((head, body)) = request(&mut stream) else {
        record.lock().unwrap_or_else(PoisonError::into_inner).push("nothing".to_owned());
        return;
    };
    let first = head.lines().next().unwrap_or_default().to_owned();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    record.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{first} {body}"));
    let path = path.split('?').next().unwrap_or_default();
    let filled = |text: &str| {
        text.replace("PORT", &port.to_string()).replace("BODY", &body).replace("REQUEST", &first)
    };
    let whole = |text: &str| {
        let text = filled(text);
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\r\n{text}",
            text.len()
        )
    };
    let bytes = match pages.get(path) {
        Some(Answer::Page(text)) => whole(text),
        Some(Answer::Raw(text)) => filled(text),
        Some(Answer::Silence) => {
            thread::sleep(Duration::from_mins(2));
            return;
        }
        Some(Answer::Endless(text)) => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n";
            let _ = stream.write_all(format!("{head}{}", filled(text)).as_bytes());
            while stream.write_all(b"<!-- more -->").is_ok() {
                thread::sleep(Duration::from_millis(200));
            }
            return;
        }
        None => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned(),
    };
    let _ = stream.write_all(bytes.as_bytes());
}

/// Reads the head and the body of a request.
fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let fields = head.to_ascii_lowercase();
            let length = fields.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some((head.to_owned(), body.to_owned()));
            }
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
}
