//! The only way from a browser to the network: a proxy on this machine, in this process.
//!
//! A browser sends requests for many reasons: pages, frames, workers, pop-ups, redirects, prefetching, reports. No list
//! of events names them all, so they are not looked at one by one: the browser is told to send everything here, and to
//! look up no name itself. The gate looks a name up once, checks the addresses as `network` does, and connects to the
//! very address that it has checked; a name that changes its meaning a moment later gains nothing.
//!
//! Any program of this machine can connect to the gate's port. So it serves only requests with a credential that is made
//! for each browser, and that the browser gets through its pipe.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use brief_syntax::limits;
use ureq::http::Uri;

use super::super::network::{self, NetworkPolicy};
use super::super::{AbilityRefusal, AbilityResult, create_failure, create_refusal};

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

/// The limit for different connections of one verdict that are remembered between two calls.
const MOST_CONNECTIONS: usize = 100;

/// The name of all connections beyond that limit.
const OTHERS: &str = "others";

/// The user's name of the credential.
pub(super) const USER: &str = "brief";

/// The first byte of every TLS connection: a handshake.
const TLS_HANDSHAKE: u8 = 0x16;

/// A connection that the browser has asked for, once or several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageConnection {
    pub(crate) target: String,
    /// The reason why it was not made; none for one that was.
    pub(crate) refusal: Option<AbilityRefusal>,
    pub(crate) count: u64,
}

/// Adds a connection to a list. One that is there already is counted, and so are all beyond the limit.
pub(super) fn add_connection(list: &mut Vec<PageConnection>, mut new: PageConnection) {
    let is_alike = |one: &PageConnection| one.refusal.is_some() == new.refusal.is_some();
    let is_there = list.iter().any(|one| one.target == new.target && one.refusal == new.refusal);
    if !is_there && list.iter().filter(|one| is_alike(one)).count() >= MOST_CONNECTIONS {
        OTHERS.clone_into(&mut new.target);
        let several = || create_refusal("for several reasons");
        new.refusal = new.refusal.map(|_| several());
    }
    match list.iter_mut().find(|one| one.target == new.target && one.refusal == new.refusal) {
        Some(known) => known.count += new.count,
        None => list.push(new),
    }
}

/// An open gate. It is closed when this value is dropped.
pub(super) struct BrowserGate {
    /// The port on this machine.
    pub(super) port: u16,
    /// The password of the credential.
    pub(super) password: String,
    state: Arc<GateState>,
}

struct GateState {
    policy: NetworkPolicy,
    /// The value of the field `Proxy-Authorization` in every request of the browser.
    credential: String,
    /// True if the browser has shown it: from then on it does so by itself.
    is_known: AtomicBool,
    /// The addresses of each host and port: one answer for a whole run.
    known: Mutex<BTreeMap<String, Vec<SocketAddr>>>,
    connected: Mutex<Vec<PageConnection>>,
    bytes: AtomicU64,
    most: u64,
    connections: AtomicUsize,
    is_closed: AtomicBool,
}

impl BrowserGate {
    /// Opens a gate for hosts that the policy allows. The credential is made of `chance`.
    pub(super) fn open(policy: NetworkPolicy, chance: [u8; 32]) -> io::Result<BrowserGate> {
        BrowserGate::open_limited(policy, chance, limits::BROWSER_BYTES)
    }

    fn open_limited(policy: NetworkPolicy, chance: [u8; 32], most: u64) -> io::Result<BrowserGate> {
        let password = URL_SAFE_NO_PAD.encode(chance);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(GateState {
            policy,
            credential: format!("Basic {}", STANDARD.encode(format!("{USER}:{password}"))),
            is_known: AtomicBool::new(false),
            known: Mutex::default(),
            connected: Mutex::default(),
            bytes: AtomicU64::new(0),
            most,
            connections: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || accept_connections(&listener, &shared))?;
        Ok(BrowserGate { port, password, state })
    }

    /// Returns whether the browser has the credential.
    pub(super) fn knows_browser(&self) -> bool {
        self.state.is_known.load(Ordering::Relaxed)
    }

    /// Returns the connections since the last call of this function.
    pub(super) fn take_connections(&self) -> Vec<PageConnection> {
        std::mem::take(&mut *lock_shared(&self.state.connected))
    }
}

impl Drop for BrowserGate {
    fn drop(&mut self) {
        self.state.is_closed.store(true, Ordering::Relaxed);
        // The listening thread is waiting for a connection.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

fn lock_shared<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept_connections(listener: &TcpListener, state: &Arc<GateState>) {
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
            let _ = shared.serve_connection(&stream);
            shared.connections.fetch_sub(1, Ordering::Relaxed);
        });
        if started.is_err() {
            state.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl GateState {
    fn record_connection(&self, target: &str, refusal: Option<AbilityRefusal>) {
        let new = PageConnection { target: target.to_owned(), refusal, count: 1 };
        add_connection(&mut lock_shared(&self.connected), new);
    }

    fn serve_connection(self: &Arc<Self>, browser: &TcpStream) -> io::Result<()> {
        browser.set_nodelay(true)?;
        browser.set_read_timeout(Some(FIRST_TIME))?;
        let bytes = read_head(browser)?;
        let Some(head) = ProxyHead::parse(&bytes) else {
            return write_answer(browser, "400 Bad Request", "");
        };
        if head.credential != Some(&self.credential) {
            let challenge = format!("proxy-authenticate: Basic realm=\"{USER}\"\r\n");
            return write_answer(browser, "407 Proxy Authentication Required", &challenge);
        }
        self.is_known.store(true, Ordering::Relaxed);
        let server = match self.connect_server(&head) {
            Ok(server) => {
                self.record_connection(&head.target, None);
                server
            }
            Err(refusal) => {
                self.record_connection(&head.target, Some(refusal));
                // A page without an answer is an error page; an answer of ours would be the page's.
                return if head.is_tunnel {
                    write_answer(browser, "403 Forbidden", "")
                } else {
                    Ok(())
                };
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
        self.copy_both_ways(browser, &server)
    }

    /// Returns whether a tunnel carries TLS, or need not.
    fn is_sealed(&self, browser: &TcpStream, head: &ProxyHead<'_>) -> io::Result<bool> {
        let Err(refusal) = network::check_scheme(&self.policy, &head.uri, "http") else {
            return Ok(true);
        };
        let mut first = [0];
        // Browsers open connections ahead, and close those that they do not use.
        let is_used = browser.peek(&mut first)? == 1;
        let is_sealed = first[0] == TLS_HANDSHAKE;
        if is_used && !is_sealed {
            self.record_connection(&head.target, Some(refusal));
        }
        Ok(is_used && is_sealed)
    }

    fn connect_server(&self, head: &ProxyHead<'_>) -> AbilityResult<TcpStream> {
        if !head.is_tunnel {
            network::check_scheme(&self.policy, &head.uri, "http")?;
        }
        let known = lock_shared(&self.known).get(&head.target).cloned();
        let addresses = match known {
            Some(addresses) => addresses,
            None => {
                let found = network::resolve_addresses(&self.policy, &head.uri, CONNECT_TIME)?;
                lock_shared(&self.known).insert(head.target.clone(), found.clone());
                found
            }
        };
        let mut problem = "no address found".to_owned();
        for address in &addresses {
            match TcpStream::connect_timeout(address, CONNECT_TIME) {
                Ok(stream) => return Ok(stream),
                Err(error) => problem = error.to_string(),
            }
        }
        Err(create_failure(format!("`{}`: {problem}", head.target)))
    }

    /// Copies in both directions until both sides have ended.
    fn copy_both_ways(self: &Arc<Self>, browser: &TcpStream, server: &TcpStream) -> io::Result<()> {
        let (from, to) = (browser.try_clone()?, server.try_clone()?);
        let shared = Arc::clone(self);
        let upwards = thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || shared.copy_stream(&from, &to))?;
        self.copy_stream(server, browser);
        let _ = upwards.join();
        Ok(())
    }

    fn copy_stream(&self, mut from: &TcpStream, mut to: &TcpStream) {
        let mut piece = [0; PIECE];
        loop {
            let count = match from.read(&mut piece) {
                Ok(0) | Err(_) => break,
                Ok(count) => count,
            };
            let before = self.bytes.fetch_add(count as u64, Ordering::Relaxed);
            if before + count as u64 > self.most {
                let most = self.most;
                let message = format!("loaded more than {most} bytes");
                self.record_connection("all pages", Some(create_refusal(message)));
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

fn write_answer(mut browser: &TcpStream, status: &str, field: &str) -> io::Result<()> {
    let text =
        format!("HTTP/1.1 {status}\r\n{field}content-length: 0\r\nconnection: close\r\n\r\n");
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
    is_tunnel: bool,
    /// The address: `http`, or `https` for a tunnel.
    uri: Uri,
    target: String,
    credential: Option<&'b str>,
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
        let credential = fields.split("\r\n").find_map(|field| {
            let (name, value) = field.split_once(':')?;
            name.eq_ignore_ascii_case("proxy-authorization").then(|| value.trim())
        });
        if method == "CONNECT" {
            let uri: Uri = format!("https://{address}/").parse().ok()?;
            uri.port_u16()?;
            let target = host_and_port(&uri)?;
            let forwarded = Vec::new();
            return Some(ProxyHead { is_tunnel: true, uri, target, credential, forwarded, rest });
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
        let target = host_and_port(&uri)?;
        let forwarded = forwarded.into_bytes();
        Some(ProxyHead { is_tunnel: false, uri, target, credential, forwarded, rest })
    }
}

fn host_and_port(uri: &Uri) -> Option<String> {
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
        assert_eq!(head.credential, Some("Basic eA=="));
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

    /// Sends a request with the credential through a gate, and returns all that comes back.
    fn ask(gate: &BrowserGate, request: &str) -> String {
        let credential = format!("\r\nproxy-authorization: {}\r\n\r\n", gate.state.credential);
        ask_as_it_is(gate, &request.replace("\r\n\r\n", &credential))
    }

    fn ask_as_it_is(gate: &BrowserGate, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, gate.port)).unwrap();
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
        let gate = BrowserGate::open(granted(address), [7; 32]).unwrap();
        let get = |host: &str| format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert!(ask(&gate, &get(&address.to_string())).ends_with("here"));
        let tunnel = format!("CONNECT {address} HTTP/1.1\r\n\r\n");
        assert!(ask(&gate, &tunnel).starts_with("HTTP/1.1 200"));
        let reached = PageConnection { target: address.to_string(), refusal: None, count: 2 };
        assert_eq!(gate.take_connections(), [reached]);
        // Other names of the same machine, over both ways.
        let port = address.port();
        for host in ["localhost", "127.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"] {
            let host = format!("{host}:{port}");
            assert_eq!(ask(&gate, &get(&host)), "", "{host}");
            let tunnel = format!("CONNECT {host} HTTP/1.1\r\n\r\n");
            assert!(ask(&gate, &tunnel).starts_with("HTTP/1.1 403"), "{host}");
            let connections = gate.take_connections();
            assert!(connections.iter().all(|one| one.refusal.is_some()), "{connections:?}");
            assert_eq!(connections.iter().map(|one| one.count).sum::<u64>(), 2, "{host}");
        }
        assert!(ask(&gate, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400"));
    }

    /// A program that has found the port gets nothing, and reaches nothing.
    #[test]
    fn another_program_is_not_served() {
        let address = server(b"HTTP/1.1 200 OK\r\n\r\nhere");
        let gate = BrowserGate::open(granted(address), [7; 32]).unwrap();
        let wrong = STANDARD.encode("brief:guess");
        for field in [
            String::new(),
            format!("\r\nProxy-Authorization: Basic {wrong}"),
            format!("\r\nProxy-Authorization: Bearer {}", gate.password),
            format!("\r\nAuthorization: {}", gate.state.credential),
        ] {
            for first in
                [format!("GET http://{address}/ HTTP/1.1"), format!("CONNECT {address} HTTP/1.1")]
            {
                let said = ask_as_it_is(&gate, &format!("{first}{field}\r\n\r\n"));
                let expected =
                    "HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic ";
                assert!(said.starts_with(expected) && !said.contains("here"), "{first}: {said}");
            }
        }
        assert!(!gate.knows_browser());
        assert_eq!(gate.take_connections(), []);
        assert!(ask(&gate, &format!("GET http://{address}/ HTTP/1.1\r\n\r\n")).ends_with("here"));
        assert!(gate.knows_browser());
        let other = BrowserGate::open(granted(address), [8; 32]).unwrap();
        assert_ne!(other.password, gate.password);
    }

    #[test]
    fn connections_are_counted_and_bounded() {
        let mut list = Vec::new();
        for number in 0..500 {
            for _ in 0..2 {
                let target = format!("h{number}:80");
                add_connection(&mut list, PageConnection { target, refusal: None, count: 1 });
            }
        }
        let refusal = Some(AbilityRefusal::Refused("no".to_owned()));
        let target = "h1:80".to_owned();
        add_connection(&mut list, PageConnection { target, refusal: refusal.clone(), count: 1 });
        assert_eq!(list.len(), MOST_CONNECTIONS + 2);
        assert_eq!(list[1], PageConnection { target: "h1:80".to_owned(), refusal: None, count: 2 });
        assert_eq!(list[MOST_CONNECTIONS].target, OTHERS);
        assert_eq!(list.last().unwrap().refusal, refusal);
        assert_eq!(list.iter().map(|one| one.count).sum::<u64>(), 1001);
    }

    #[test]
    fn bytes_have_a_limit() {
        let address = server(&[b'x'; 5_000]);
        let gate = BrowserGate::open_limited(granted(address), [7; 32], 4_000).unwrap();
        let request = format!("GET http://{address}/ HTTP/1.1\r\n\r\n");
        assert!(ask(&gate, &request).len() < 5_000);
        let found = gate.take_connections();
        let refused = found.iter().find_map(|one| one.refusal.as_ref()).unwrap();
        assert!(refused.to_string().contains("more than 4000 bytes"), "{found:?}");
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
