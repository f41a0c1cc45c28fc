//! A stand-in for the registries of npm and Python, on loopback: it takes what `npm publish` sends, and serves it to `npm
//! install` and `pip install`. One request at a time, because one rehearsal asks.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, thread};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use brief_system::hash::sha256;
use serde_json::{Value, json};

/// The limit of one upload.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// What was uploaded.
#[derive(Default)]
struct Content {
    /// The documents of npm packages, by name.
    documents: BTreeMap<String, Value>,
    /// Files by their names.
    files: BTreeMap<String, Vec<u8>>,
}

pub(super) struct StandIn {
    address: String,
    content: Arc<Mutex<Content>>,
}

impl StandIn {
    pub(super) fn start() -> io::Result<StandIn> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = format!("http://{}", listener.local_addr()?);
        let content = Arc::new(Mutex::new(Content::default()));
        let (shared, own) = (Arc::clone(&content), address.clone());
        // It ends with the program.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that goes away has its own message.
                let _ = answer(stream, &own, &shared);
            }
        });
        Ok(StandIn { address, content })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Adds a wheel, as an upload would.
    pub(super) fn add_wheel(&self, path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs::read(path)?;
        self.content.lock().unwrap_or_else(PoisonError::into_inner).files.insert(name, bytes);
        Ok(())
    }
}

fn answer(stream: TcpStream, own: &str, content: &Mutex<Content>) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (method, path) = (method.to_owned(), path.replace("%2f", "/").replace("%2F", "/"));
    let (mut length, mut is_chunked) = (0, false);
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let lower = line.trim().to_ascii_lowercase();
        if lower.is_empty() {
            break;
        }
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        is_chunked |= lower.starts_with("transfer-encoding:") && lower.contains("chunked");
    }
    let mut body = Vec::new();
    if is_chunked {
        read_chunks(&mut reader, &mut body)?;
    } else {
        reader.by_ref().take(u64::min(length, MOST_BYTES)).read_to_end(&mut body)?;
    }
    let mut content = content.lock().unwrap_or_else(PoisonError::into_inner);
    let (status, kind, bytes) = content.respond(&method, &path, &body, own);
    let mut stream = reader.into_inner();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        bytes.len()
    )?;
    stream.write_all(&bytes)
}

fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = u64::from_str_radix(line.trim(), 16).unwrap_or(0);
        if size == 0 || body.len() as u64 + size > MOST_BYTES {
            return Ok(());
        }
        reader.by_ref().take(size).read_to_end(body)?;
        line.clear();
        reader.read_line(&mut line)?;
    }
}

impl Content {
    fn respond(
        &mut self,
        method: &str,
        path: &str,
        body: &[u8],
        own: &str,
    ) -> (&'static str, &'static str, Vec<u8>) {
        let path = path.split('?').next().unwrap_or_default().trim_matches('/');
        let json =
            |status, value: &Value| (status, "application/json", value.to_string().into_bytes());
        let missing = || json("404 Not Found", &json!({"error": "not found"}));
        if method == "PUT" {
            return match self.publish(path, body, own) {
                Some(()) => json("201 Created", &json!({"ok": true})),
                None => json("400 Bad Request", &json!({"error": "not a package"})),
            };
        }
        if let Some(name) = path.strip_prefix("files/") {
            return match self.files.get(name) {
                Some(bytes) => ("200 OK", "application/octet-stream", bytes.clone()),
                None => missing(),
            };
        }
        if path.starts_with("simple") {
            let links = self.files.iter().filter(|(name, _)| name.strip_suffix(".whl").is_some());
            let links = links
                .map(|(name, bytes)| {
                    format!("<a href=\"{own}/files/{name}#sha256={}\">{name}</a>\n", sha256(bytes))
                })
                .collect::<Vec<String>>()
                .concat();
            let page = format!("<!DOCTYPE html><html><body>\n{links}</body></html>\n");
            return ("200 OK", "text/html", page.into_bytes());
        }
        match self.documents.get(path) {
            Some(document) => json("200 OK", document),
            None => missing(),
        }
    }

    /// Takes what `npm publish` sends: a document with the package inside.
    fn publish(&mut self, name: &str, body: &[u8], own: &str) -> Option<()> {
        let mut document: Value = serde_json::from_slice(body).ok()?;
        let attachments = document.as_object_mut()?.remove("_attachments")?;
        for (file, attachment) in attachments.as_object()? {
            let bytes = STANDARD.decode(attachment["data"].as_str()?).ok()?;
            let file = file.replace('/', "-");
            for version in document["versions"].as_object_mut()?.values_mut() {
                version["dist"]["tarball"] = json!(format!("{own}/files/{file}"));
            }
            self.files.insert(file, bytes);
        }
        self.documents.insert(name.to_owned(), document);
        Some(())
    }
}
