//! A web server with git repositories behind it, on this machine.
//!
//! The requests of the installed git are real, and `git http-backend` answers them; only the authentication
//! is ours.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The `Authorization` headers of the received requests.
type Seen = Option<String>;

/// The server's treatment of requests.
#[derive(Clone)]
pub(crate) enum Door {
    /// Allows every request.
    Open,
    /// Allows requests with this header: the text after `Basic`.
    Basic(&'static str),
    /// Redirects every request to this address, with its path appended.
    Elsewhere(String),
}

pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    is_over: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(root: PathBuf, door: Door) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let is_over = Arc::<AtomicBool>::default();
        let (log, stop) = (Arc::clone(&seen), Arc::clone(&is_over));
        let listening = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (root, door, log) = (root.clone(), door.clone(), Arc::clone(&log));
                // A client that hangs up does not fail the test.
                std::thread::spawn(move || stream.and_then(|it| answer(it, &root, &door, &log)));
            }
        });
        Server { port, seen, is_over, listening: Some(listening) }
    }

    /// Returns the address of a repository; `login` precedes the host.
    pub(crate) fn url(&self, login: &str, repository: &str) -> String {
        format!("http://{login}127.0.0.1:{}/{repository}", self.port)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the listener up once more.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
        }
    }
}

fn answer(
    mut stream: TcpStream,
    root: &PathBuf,
    door: &Door,
    log: &Mutex<Vec<Seen>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(()) };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let header = |wanted: &str| {
        headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    };
    let authorization = header("authorization").map(str::to_owned);
    log.lock().unwrap().push(authorization.clone());
    let length = header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    match door {
        Door::Open => {}
        Door::Basic(expected) if authorization == Some(format!("Basic {expected}")) => {}
        Door::Basic(_) => {
            let headers = "WWW-Authenticate: Basic realm=\"test\"\r\n";
            return respond(&mut stream, "401 Unauthorized", headers, b"");
        }
        Door::Elsewhere(address) => {
            let headers = format!("Location: {address}{target}\r\n");
            return respond(&mut stream, "302 Found", &headers, b"");
        }
    }
    let mut command = Command::new("git");
    command.arg("http-backend").env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command
        .env("HOME", root)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REMOTE_ADDR", "127.0.0.1")
        .env("CONTENT_LENGTH", length.to_string());
    for (name, variable) in [
        ("content-type", "CONTENT_TYPE"),
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "HTTP_GIT_PROTOCOL"),
    ] {
        if let Some(value) = header(name) {
            command.env(variable, value);
        }
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().unwrap().write_all(&body)?;
    let output = child.wait_with_output()?.stdout;
    let end = output.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or(output.len());
    let text = String::from_utf8_lossy(&output[..end]).into_owned();
    let mut status = "200 OK";
    let mut headers = String::new();
    for line in text.lines() {
        match line.strip_prefix("Status: ") {
            Some(code) => status = code,
            None => write!(headers, "{line}\r\n").unwrap(),
        }
    }
    respond(&mut stream, status, &headers, output.get(end + 4..).unwrap_or_default())
}

fn respond(
    stream: &mut TcpStream,
    status: &str,
    headers: &str,
    body: &[u8],
) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(body)?;
    stream.flush()
}
