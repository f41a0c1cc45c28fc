//! The only way from a browser to the network: a proxy on this machine, in this process.
//!
//! A browser sends requests for many reasons: pages, frames, workers, pop-ups, redirects, prefetching, reports. No list
//! of events names them all, so they are not looked at one by one: the browser is told to send everything here, and to
//! look up no name itself. The gate looks a name up once, checks the addresses as `network` does, and connects to the
//! very address that it has checked; a name that changes its meaning a moment later gains nothing.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use brief_syntax::limits;
use ureq::http::Uri;

use super::super::AbilityRefusal;
use super::super::network::{self, NetworkPolicy};

/// The time for a name, and for one address.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// The time that a connection may wait for its first request; browsers open some ahead.
const FIRST_TIME: Duration = Duration::from_mins(1);

/// The limit for the head of a request.
const HEAD_BYTES: usize = 64 * 1024;

/// The stack of a thread that copies bytes.
const STACK: usize = 128 * 1024;

/// The size of a copied piece.
const PIECE: usize = 16 * 1024;

/// The limit for refusals that are remembered between two calls.
const MOST_REFUSALS: usize = 100;

/// The first byte of every TLS connection: a handshake.
const TLS_HANDSHAKE: u8 = 0x16;

/// A request of the browser that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefusedConnection {
    /// The host and port.
    pub(crate) target: String,
    /// The reason.
    pub(crate) message: String,
}

/// An open gate. It is closed when this value is dropped.
pub(super) struct Gate {
    port: u16,
    state: Arc<GateState>,
}

struct GateState {
    policy: NetworkPolicy,
    /// The addresses of each host and port: one answer for a whole run.
    known: Mutex<BTreeMap<String, Vec<SocketAddr>>>,
    refused: Mutex<Vec<RefusedConnection>>,
    bytes: AtomicU64,
    /// The limit for them.
    most: u64,
    connections: AtomicUsize,
    is_closed: AtomicBool,
}

impl Gate {
    /// Opens a gate for hosts that the policy allows.
    pub(super) fn open(policy: NetworkPolicy) -> io::Result<Gate> {
        Gate::limited(policy, limits::BROWSER_BYTES)
    }

    fn limited(policy: NetworkPolicy, most: u64) -> io::Result<Gate> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(GateState {
            policy,
            known: Mutex::default(),
            refused: Mutex::default(),
            bytes: AtomicU64::new(0),
            most,
            connections: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        thread::Builder::new().stack_size(STACK).spawn(move || accept(&listener, &shared))?;
        Ok(Gate { port, state })
    }

    /// Returns the port on this machine.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the refused requests since the last call of this function.
    pub(super) fn take_refused(&self) -> Vec<RefusedConnection> {
        std::mem::take(&mut *held(&self.state.refused))
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.state.is_closed.store(true, Ordering::Relaxed);
        // The listening thread is waiting for a connection.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

fn held<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, state: &Arc<GateState>) {
    for stream in listener.incoming() {
        if state.is_closed.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if state.connections.fetch_add(1, Ordering::Relaxed) >= limits::BROWSER_CONNECTIONS {
            state.connections.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let shared = Arc::clone(state);
        let started = thread::Builder::new().stack_size(STACK).spawn(move || {
            // A request that cannot be carried out ends with its connection, which the browser sees.
            let _ = shared.serve(&stream);
            shared.connections.fetch_sub(1, Ordering::Relaxed);
        });
        if started.is_err() {
            state.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl GateState {
    fn refuse(&self, target: &str, message: &str) {
        let mut refused = held(&self.refused);
        let found = RefusedConnection { target: target.to_owned(), message: message.to_owned() };
        if refused.len() < MOST_REFUSALS && !refused.contains(&found) {
            refused.push(found);
        }
    }

    fn serve(self: &Arc<Self>, browser: &TcpStream) -> io::Result<()> {
        browser.set_nodelay(true)?;
        browser.set_read_timeout(Some(FIRST_TIME))?;
        let bytes = read_head(browser)?;
        let Some(head) = ProxyHead::parse(&bytes) else {
            return answer(browser, "400 Bad Request");
        };
        let server = match self.connect(&head) {
            Ok(server) => server,
            Err(refusal) => {
                self.refuse(&head.target, &refusal.to_string());
                // A page without an answer is an error page; an answer of ours would be the page's.
                return if head.is_tunnel { answer(browser, "403 Forbidden") } else { Ok(()) };
            }
        };
        server.set_nodelay(true)?;
        if head.is_tunnel {
            let mut writer = browser;
            writer.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            if !head.rest.is_empty() || !self.is_sealed(browser, &head)? {
                return Ok(());
            }
        } else {
            (&server).write_all(&head.forwarded)?;
            (&server).write_all(head.rest)?;
        }
        browser.set_read_timeout(None)?;
        self.join(browser, &server)
    }

    /// Returns whether a tunnel carries TLS, or need not.
    fn is_sealed(&self, browser: &TcpStream, head: &ProxyHead<'_>) -> io::Result<bool> {
        let Err(refusal) = network::check_scheme(&self.policy, &head.uri, "http") else {
            return Ok(true);
        };
        let mut first = [0];
        let is_sealed = browser.peek(&mut first)? == 1 && first[0] == TLS_HANDSHAKE;
        if !is_sealed {
            self.refuse(&head.target, &refusal.to_string());
        }
        Ok(is_sealed)
    }

    fn connect(&self, head: &ProxyHead<'_>) -> Result<TcpStream, AbilityRefusal> {
        if !head.is_tunnel {
            network::check_scheme(&self.policy, &head.uri, "http")?;
        }
        let known = held(&self.known).get(&head.target).cloned();
        let addresses = match known {
            Some(addresses) => addresses,
            None => {
                let found = network::addresses(&self.policy, &head.uri, CONNECT_TIME)?;
                held(&self.known).insert(head.target.clone(), found.clone());
                found
            }
        };
        let mut problem = "no address was found".to_owned();
        for address in &addresses {
            match TcpStream::connect_timeout(address, CONNECT_TIME) {
                Ok(stream) => return Ok(stream),
                Err(error) => problem = error.to_string(),
            }
        }
        Err(AbilityRefusal::Failed(format!("`{}`: {problem}", head.target)))
    }

    /// Copies in both directions until both sides have ended.
    fn join(self: &Arc<Self>, browser: &TcpStream, server: &TcpStream) -> io::Result<()> {
        let (from, to) = (browser.try_clone()?, server.try_clone()?);
        let shared = Arc::clone(self);
        let upwards =
            thread::Builder::new().stack_size(STACK).spawn(move || shared.copy(&from, &to))?;
        self.copy(server, browser);
        let _ = upwards.join();
        Ok(())
    }

    fn copy(&self, mut from: &TcpStream, mut to: &TcpStream) {
        let mut piece = [0; PIECE];
        loop {
            let count = match from.read(&mut piece) {
                Ok(0) | Err(_) => break,
                Ok(count) => count,
            };
            let before = self.bytes.fetch_add(count as u64, Ordering::Relaxed);
            if before + count as u64 > self.most {
                let most = self.most;
                self.refuse("all pages", &format!("they have loaded more than {most} bytes"));
                let _ = from.shutdown(Shutdown::Both);
                let _ = to.shutdown(Shutdown::Both);
                return;
            }
            if to.write_all(&piece[..count]).is_err() {
                let _ = from.shutdown(Shutdown::Both);
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    }
}

fn answer(mut browser: &TcpStream, status: &str) -> io::Result<()> {
    let text = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    browser.write_all(text.as_bytes())
}

/// Reads until the empty line after the fields of a request; what follows may be in it.
fn read_head(mut browser: &TcpStream) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = browser.read(&mut piece)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let start = bytes.len().saturating_sub(3);
        bytes.extend_from_slice(&piece[..count]);
        if bytes[start..].windows(4).any(|window| window == b"\r\n\r\n") {
            return Ok(bytes);
        }
        if bytes.len() > HEAD_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
}

/// The head of a request to a proxy.
#[derive(Debug)]
pub(crate) struct ProxyHead<'b> {
    /// True for `CONNECT`.
    is_tunnel: bool,
    /// The address: `http`, or `https` for a tunnel.
    uri: Uri,
    /// The host and port.
    target: String,
    /// The head for the server.
    forwarded: Vec<u8>,
    /// The bytes after it.
    rest: &'b [u8],
}

impl ProxyHead<'_> {
    /// Parses the bytes up to the empty line. A request for the proxy itself is none.
    pub(crate) fn parse(bytes: &[u8]) -> Option<ProxyHead<'_>> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let (head, rest) = (&bytes[..end], &bytes[end + 4..]);
        let head = std::str::from_utf8(head).ok()?;
        let (first, fields) = head.split_once("\r\n").unwrap_or((head, ""));
        let mut words = first.split(' ');
        let (method, address) = (words.next()?, words.next()?);
        if words.next()? != "HTTP/1.1" || words.next().is_some() {
            return None;
        }
        if method == "CONNECT" {
            let uri: Uri = format!("https://{address}/").parse().ok()?;
            uri.port_u16()?;
            let target = target(&uri)?;
            return Some(ProxyHead { is_tunnel: true, uri, target, forwarded: Vec::new(), rest });
        }
        let uri: Uri = address.parse().ok()?;
        if uri.scheme_str() != Some("http") {
            return None;
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let mut forwarded = format!("{method} {path} HTTP/1.1\r\n");
        for field in fields.split("\r\n").filter(|field| !field.is_empty()) {
            let name = field.split(':').next().unwrap_or_default().to_ascii_lowercase();
            // One request for each connection: the next one is checked again.
            if !name.starts_with("proxy-") && name != "connection" && name != "keep-alive" {
                forwarded.push_str(field);
                forwarded.push_str("\r\n");
            }
        }
        forwarded.push_str("Connection: close\r\n\r\n");
        let target = target(&uri)?;
        Some(ProxyHead { is_tunnel: false, uri, target, forwarded: forwarded.into_bytes(), rest })
    }
}

fn target(uri: &Uri) -> Option<String> {
    let authority = uri.authority()?.as_str();
    let host = uri.host().filter(|host| !host.is_empty())?;
    let port = uri.port_u16().unwrap_or(80);
    (!authority.contains('@')).then(|| format!("{}:{port}", host.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_to_a_proxy_name_their_host() {
        let head =
            ProxyHead::parse(b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n").unwrap();
        assert!(head.is_tunnel);
        assert_eq!(head.target, "a.example:443");
        let plain = b"GET http://a.example/x?y=1 HTTP/1.1\r\nHost: a.example\r\nProxy-Connection: keep-alive\r\n\
                      Proxy-Authorization: Basic eA==\r\nAccept: */*\r\n\r\nrest";
        let head = ProxyHead::parse(plain).unwrap();
        assert!(!head.is_tunnel);
        assert_eq!((head.target.as_str(), head.rest), ("a.example:80", b"rest".as_slice()));
        let forwarded =
            "GET /x?y=1 HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\nConnection: close\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&head.forwarded), forwarded);
        assert_eq!(
            ProxyHead::parse(b"CONNECT [::1]:1 HTTP/1.1\r\n\r\n").unwrap().target,
            "[::1]:1"
        );
    }

    /// Answers every connection with these bytes, and returns the address.
    fn server(answer: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                if read_head(&stream).is_ok() {
                    let _ = (&stream).write_all(answer);
                }
            }
        });
        address
    }

    fn granted(address: SocketAddr) -> NetworkPolicy {
        NetworkPolicy { private_hosts: [address.to_string()].into(), plain_http: false }
    }

    /// Sends a request through a gate, and returns all that comes back.
    fn ask(gate: &Gate, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, gate.port())).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        // A connection that is cut has an error at its end.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[test]
    fn a_granted_host_is_reached_and_no_other() {
        let address = server(b"HTTP/1.1 200 OK\r\n\r\nhere");
        let gate = Gate::open(granted(address)).unwrap();
        let get = |host: &str| format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert!(ask(&gate, &get(&address.to_string())).ends_with("here"));
        let tunnel = format!("CONNECT {address} HTTP/1.1\r\n\r\n");
        assert!(ask(&gate, &tunnel).starts_with("HTTP/1.1 200"));
        assert_eq!(gate.take_refused(), []);
        // Other names of the same machine, over both ways.
        let port = address.port();
        for host in ["localhost", "127.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"] {
            let host = format!("{host}:{port}");
            assert_eq!(ask(&gate, &get(&host)), "", "{host}");
            let tunnel = format!("CONNECT {host} HTTP/1.1\r\n\r\n");
            assert!(ask(&gate, &tunnel).starts_with("HTTP/1.1 403"), "{host}");
            assert!(!gate.take_refused().is_empty(), "{host}");
        }
        assert!(ask(&gate, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400"));
    }

    #[test]
    fn bytes_have_a_limit() {
        let address = server(&[b'x'; 5_000]);
        let gate = Gate::limited(granted(address), 4_000).unwrap();
        let request = format!("GET http://{address}/ HTTP/1.1\r\n\r\n");
        assert!(ask(&gate, &request).len() < 5_000);
        let refused = gate.take_refused();
        assert!(refused[0].message.contains("more than 4000 bytes"), "{refused:?}");
    }

    #[test]
    fn requests_for_anything_else_are_none() {
        for head in [
            "GET / HTTP/1.1",
            "GET https://a.example/ HTTP/1.1",
            "GET file:///etc/passwd HTTP/1.1",
            "GET http://user@a.example/ HTTP/1.1",
            "CONNECT a.example HTTP/1.1",
            "CONNECT user@a.example:443 HTTP/1.1",
            "GET http://a.example/ HTTP/1.0",
            "GET http://a.example/",
            "",
        ] {
            assert!(ProxyHead::parse(format!("{head}\r\n\r\n").as_bytes()).is_none(), "{head}");
        }
        assert!(ProxyHead::parse(b"GET http://a.example/ HTTP/1.1\r\n").is_none());
    }
}
