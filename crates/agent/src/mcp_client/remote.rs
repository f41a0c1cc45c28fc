//! Servers elsewhere: streamable HTTP, and the event stream that was before it.
//!
//! Each request has a thread of its own, which ends with the time for it; what comes is handed over by a
//! short queue, so that a server that floods waits for us. The operator's header fields go to this server alone:
//! neither a redirect nor an event stream leads to another host.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use brief_syntax::{System, limits};
use serde_json::Value;
use ureq::http::{Response, Uri};

use super::address::RemoteServer;
use super::connection::{Wire, WireFailure};
use crate::outgoing::{Route, is_own_machine};
use crate::sse::{Events, ServerEvent};

/// The messages that wait for us; a server with more waits, too.
const QUEUE: usize = 64;

/// The size of the read buffer.
const PIECE: usize = 16 * 1024;

/// The longest life of a stream that a server may fill at any time.
const STREAM_TIME: Duration = Duration::from_hours(1);

/// The pause before a stream is opened again.
const STREAM_PAUSE: Duration = Duration::from_secs(2);

/// The time that a server has to forget us.
const FAREWELL: Duration = Duration::from_millis(500);

/// Header fields that the protocol sets.
const OURS: [&str; 10] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// Something that a thread hands over.
enum Arrival {
    Message(Value),
    /// The address for messages to a server with an event stream.
    Endpoint(String),
    Failed(String),
}

/// The parts of a connection that its threads share.
struct Correspondence {
    agent: ureq::Agent,
    address: Uri,
    headers: Vec<(String, String)>,
    /// The session that the server has given us.
    session: Mutex<Option<String>>,
    /// The revision that both sides speak.
    revision: Mutex<Option<String>>,
    /// True when the connection was given up.
    is_over: AtomicBool,
}

impl Correspondence {
    fn with(system: &dyn System, remote: &RemoteServer) -> Result<Correspondence, String> {
        let address = checked(&remote.url)?;
        let (host, is_encrypted) = (host(&address), address.scheme_str() == Some("https"));
        let route = Route::to(system, is_encrypted, &host)
            .map_err(|error| format!("`SSL_CERT_FILE` cannot be read: {error}"))?;
        let is_free =
            |(name, _): &&(String, String)| !OURS.contains(&name.to_ascii_lowercase().as_str());
        Ok(Correspondence {
            agent: route.agent()?,
            address,
            headers: remote.headers.iter().filter(is_free).cloned().collect(),
            session: Mutex::default(),
            revision: Mutex::default(),
            is_over: AtomicBool::new(false),
        })
    }

    /// Returns the header fields of a request, besides those that say what is sent.
    fn fields(&self) -> Vec<(String, String)> {
        let mut fields = self.headers.clone();
        let kept = [("mcp-session-id", &self.session), ("mcp-protocol-version", &self.revision)];
        for (name, value) in kept {
            let value = value.lock().unwrap_or_else(PoisonError::into_inner).clone();
            fields.extend(value.map(|value| (name.to_owned(), value)));
        }
        fields
    }

    /// Sends a message. A redirect is followed on the same host, if it keeps the message.
    fn post(
        &self,
        address: &Uri,
        message: &Value,
        patience: Duration,
    ) -> Result<Response<ureq::Body>, String> {
        let body = message.to_string();
        let mut fields = self.fields();
        // The newest revision repeats these two, for servers in between.
        let name = message["params"]["name"].as_str().filter(|name| name.is_ascii());
        let kept = [("mcp-method", message["method"].as_str()), ("mcp-name", name)];
        for (field, value) in kept {
            fields.extend(value.map(|value| (field.to_owned(), value.to_owned())));
        }
        redirected(address, &[307, 308], |address| {
            let mut request = self
                .agent
                .post(address)
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream");
            for (name, value) in &fields {
                request = request.header(name, value);
            }
            request.config().timeout_global(Some(patience)).build().send(&body)
        })
    }

    /// Opens a stream of events.
    fn stream(&self, patience: Duration) -> Result<Response<ureq::Body>, String> {
        redirected(&self.address, &[301, 302, 307, 308], |address| {
            let mut request = self.agent.get(address).header("accept", "text/event-stream");
            for (name, value) in self.fields() {
                request = request.header(name, value);
            }
            request.config().timeout_global(Some(patience)).build().call()
        })
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn has_session(&self) -> bool {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Sends a request and hands its answer over.
    fn ask(&self, message: &Value, patience: Duration, to: &SyncSender<Arrival>) {
        let arrived = self.post(&self.address, message, patience).and_then(|response| {
            if message["method"] == "initialize"
                && let Some(session) = field(&response, "mcp-session-id")
            {
                let mut known = self.session.lock().unwrap_or_else(PoisonError::into_inner);
                *known = Some(session);
            }
            self.deliver(response, &message["id"], to)
        });
        if let Err(problem) = arrived {
            // Without a receiver the connection was given up.
            let _ = to.send(Arrival::Failed(problem));
        }
    }

    /// Hands over the messages of a response to the request of that number.
    fn deliver(
        &self,
        response: Response<ureq::Body>,
        id: &Value,
        to: &SyncSender<Arrival>,
    ) -> Result<(), String> {
        let status = response.status().as_u16();
        let kind = field(&response, "content-type").unwrap_or_default().to_ascii_lowercase();
        if (200..300).contains(&status) && kind.starts_with("text/event-stream") {
            let mut is_answered = false;
            read_events(response, |event| {
                let message = serde_json::from_str::<Value>(&event.data).ok();
                is_answered |= message.as_ref().is_some_and(|message| message["id"] == *id);
                let is_taken =
                    message.is_none_or(|message| to.send(Arrival::Message(message)).is_ok());
                // No request waits for what comes after the answer.
                is_taken && !is_answered
            })?;
            return if is_answered {
                Ok(())
            } else {
                Err("the server ended its answer early".to_owned())
            };
        }
        let body = response.into_body().with_config().limit(MESSAGE_BYTES).read_to_vec();
        let body = body.map_err(|error| told(&error))?;
        let message = serde_json::from_slice::<Value>(&body).ok();
        match (status, message) {
            // An older revision has lists of messages.
            (200..300, Some(Value::Array(messages))) => {
                for message in messages {
                    let _ = to.send(Arrival::Message(message));
                }
                Ok(())
            }
            (_, Some(message)) if message["id"] == *id && message.get("jsonrpc").is_some() => {
                let _ = to.send(Arrival::Message(message));
                Ok(())
            }
            (200..300, _) => {
                Err("the server answered with something else than a message".to_owned())
            }
            (404, _) if self.has_session() => Err("the server has ended our session".to_owned()),
            (status, _) => Err(refusal(status)),
        }
    }

    /// Hands over what the server says unasked, as long as it lets us.
    fn follow(&self, to: &SyncSender<Arrival>) {
        while !self.is_over() {
            let Ok(response) = self.stream(STREAM_TIME) else { return };
            let kind = field(&response, "content-type").unwrap_or_default();
            if response.status() != 200
                || !kind.to_ascii_lowercase().starts_with("text/event-stream")
            {
                return;
            }
            // An end is no failure: the server may have nothing to say for now.
            let _ = read_events(response, |event| {
                let message = serde_json::from_str(&event.data).ok();
                let is_taken =
                    message.is_none_or(|message| to.send(Arrival::Message(message)).is_ok());
                is_taken && !self.is_over()
            });
            thread::sleep(STREAM_PAUSE);
        }
    }
}

/// Sends a request, and again where the server says, if that is on the same host.
fn redirected(
    address: &Uri,
    followed: &[u16],
    send: impl Fn(&Uri) -> Result<Response<ureq::Body>, ureq::Error>,
) -> Result<Response<ureq::Body>, String> {
    let mut address = address.clone();
    for _ in 0..limits::TOOL_REDIRECTS {
        let response = send(&address).map_err(|error| told(&error))?;
        let is_followed = followed.contains(&response.status().as_u16());
        let place = field(&response, "location").filter(|_| is_followed);
        match place.and_then(|place| joined(&address, &place).ok()) {
            Some(next) => address = next,
            None => return Ok(response),
        }
    }
    Err("the server redirects too often".to_owned())
}

/// The limit for the bytes of a message.
const MESSAGE_BYTES: u64 = limits::TOOL_MESSAGE_BYTES as u64;

/// Parses an address, if a server may be asked there.
fn checked(url: &str) -> Result<Uri, String> {
    let address: Uri = url.parse().map_err(|_| "its `url` is not an address".to_owned())?;
    if address.authority().is_none_or(|authority| authority.as_str().contains('@')) {
        return Err("its `url` has no host, or a password in it".to_owned());
    }
    match address.scheme_str() {
        Some("https") => Ok(address),
        Some("http") if is_own_machine(&host(&address)) => Ok(address),
        Some("http") => Err("a server elsewhere is asked over `https`".to_owned()),
        _ => Err("its `url` is neither `https` nor `http`".to_owned()),
    }
}

fn host(address: &Uri) -> String {
    let host = address.host().unwrap_or_default().trim_matches(['[', ']']);
    host.to_ascii_lowercase()
}

fn field(response: &Response<ureq::Body>, name: &str) -> Option<String> {
    response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn refusal(status: u16) -> String {
    match status {
        300..=399 => {
            format!("the server answered {status}: redirects to another host are not followed")
        }
        401 | 403 => format!("the server answered {status}: it wants other `headers`"),
        _ => format!("the server answered {status}"),
    }
}

fn told(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => WireFailure::Late.into(),
        error => error.to_string(),
    }
}

/// Reads events until the end, or until `take` wants no more. The error is a message.
fn read_events(
    response: Response<ureq::Body>,
    mut take: impl FnMut(ServerEvent) -> bool,
) -> Result<(), String> {
    let mut body = response.into_body().into_reader();
    let (mut parser, mut events) = (Events::new(limits::TOOL_MESSAGE_BYTES), Vec::new());
    let mut piece = vec![0; PIECE];
    loop {
        let count = match body.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) => return Err(told(&ureq::Error::from(error))),
        };
        parser
            .feed(&piece[..count], &mut events)
            .map_err(|_| "a message of the server is too large".to_owned())?;
        for event in events.drain(..) {
            if !take(event) {
                return Ok(());
            }
        }
    }
}

/// Starts a thread for work that a server can hold up.
fn apart(work: impl FnOnce() + Send + 'static) -> Result<(), WireFailure> {
    let builder = thread::Builder::new().name("mcp-http".to_owned());
    let started = builder.spawn(work);
    started.map(drop).map_err(|error| WireFailure::Broken(error.to_string()))
}

/// Does work on a thread of its own, and waits for it.
fn waited_for(
    patience: Duration,
    work: impl FnOnce() -> Result<(), String> + Send + 'static,
) -> Result<(), WireFailure> {
    let (done, outcome) = channel();
    apart(move || drop(done.send(work())))?;
    match outcome.recv_timeout(patience) {
        Ok(outcome) => outcome.map_err(WireFailure::Broken),
        Err(_) => Err(WireFailure::Late),
    }
}

fn next(arrivals: &Receiver<Arrival>, patience: Duration) -> Result<Arrival, WireFailure> {
    match arrivals.recv_timeout(patience) {
        Ok(Arrival::Failed(reason)) => Err(WireFailure::Broken(reason)),
        Ok(arrival) => Ok(arrival),
        Err(RecvTimeoutError::Timeout) => Err(WireFailure::Late),
        Err(RecvTimeoutError::Disconnected) => {
            Err(WireFailure::Broken("the connection has ended".to_owned()))
        }
    }
}

/// Returns the next message; an address in between means nothing.
fn next_message(arrivals: &Receiver<Arrival>, patience: Duration) -> Result<Value, WireFailure> {
    match next(arrivals, patience)? {
        Arrival::Message(message) => Ok(message),
        _ => Err(WireFailure::Broken("the server names another address".to_owned())),
    }
}

/// Returns whether a message waits for an answer.
fn is_request(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some()
}

/// Streamable HTTP: every message is a request, and its answer comes with the response.
pub(super) struct StreamableHttp {
    shared: Arc<Correspondence>,
    arrivals: Receiver<Arrival>,
    to: SyncSender<Arrival>,
    is_following: bool,
}

impl StreamableHttp {
    /// Prepares a connection. Sends nothing yet.
    pub(super) fn new(
        system: &dyn System,
        remote: &RemoteServer,
    ) -> Result<StreamableHttp, String> {
        let shared = Arc::new(Correspondence::with(system, remote)?);
        let (to, arrivals) = sync_channel(QUEUE);
        Ok(StreamableHttp { shared, arrivals, to, is_following: false })
    }
}

impl Wire for StreamableHttp {
    fn send(&mut self, message: &Value, patience: Duration) -> Result<(), WireFailure> {
        let (shared, message) = (Arc::clone(&self.shared), message.clone());
        if is_request(&message) {
            let to = self.to.clone();
            return apart(move || shared.ask(&message, patience, &to));
        }
        waited_for(patience, move || {
            let status = shared.post(&shared.address, &message, patience)?.status().as_u16();
            if (200..300).contains(&status) { Ok(()) } else { Err(refusal(status)) }
        })
    }

    fn receive(&mut self, patience: Duration) -> Result<Value, WireFailure> {
        next_message(&self.arrivals, patience)
    }

    fn agree(&mut self, revision: &str) {
        let mut known = self.shared.revision.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(revision.to_owned());
    }

    fn follow(&mut self) {
        if !std::mem::replace(&mut self.is_following, true) {
            let (shared, to) = (Arc::clone(&self.shared), self.to.clone());
            // Without a thread, changes are seen at the next start.
            let _ = apart(move || shared.follow(&to));
        }
    }
}

impl Drop for StreamableHttp {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if !self.shared.has_session() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let _ = waited_for(FAREWELL, move || {
            let mut request = shared.agent.delete(&shared.address);
            for (name, value) in shared.fields() {
                request = request.header(name, value);
            }
            let request = request.config().timeout_global(Some(FAREWELL)).build();
            request.call().map(drop).map_err(|error| told(&error))
        });
    }
}

/// The older event stream: messages of the server come by one long response, ours go to the address that it names.
pub(super) struct EventStream {
    shared: Arc<Correspondence>,
    arrivals: Receiver<Arrival>,
    endpoint: Uri,
}

impl EventStream {
    /// Connects, and waits for the address. The error is a message.
    pub(super) fn open(
        system: &Arc<dyn System>,
        remote: &RemoteServer,
        patience: Duration,
    ) -> Result<EventStream, String> {
        let until = system.elapsed() + patience;
        let shared = Arc::new(Correspondence::with(system.as_ref(), remote)?);
        let (to, arrivals) = sync_channel(QUEUE);
        let streaming = Arc::clone(&shared);
        apart(move || {
            let problem = match streaming.stream(STREAM_TIME) {
                Ok(response) if response.status() == 200 => {
                    let ended = read_events(response, |event| {
                        let arrival = match event.kind.as_str() {
                            "endpoint" => Some(Arrival::Endpoint(event.data)),
                            _ => serde_json::from_str(&event.data).ok().map(Arrival::Message),
                        };
                        let is_taken = arrival.is_none_or(|arrival| to.send(arrival).is_ok());
                        is_taken && !streaming.is_over()
                    });
                    ended.err().unwrap_or_else(|| "the server has ended".to_owned())
                }
                Ok(response) => refusal(response.status().as_u16()),
                Err(problem) => problem,
            };
            let _ = to.send(Arrival::Failed(problem));
        })?;
        loop {
            let patience = until.saturating_sub(system.elapsed());
            if let Arrival::Endpoint(named) = next(&arrivals, patience)? {
                let endpoint = joined(&shared.address, &named)?;
                return Ok(EventStream { shared, arrivals, endpoint });
            }
        }
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

impl Wire for EventStream {
    fn send(&mut self, message: &Value, patience: Duration) -> Result<(), WireFailure> {
        let (shared, message) = (Arc::clone(&self.shared), message.clone());
        let endpoint = self.endpoint.clone();
        waited_for(patience, move || {
            let status = shared.post(&endpoint, &message, patience)?.status().as_u16();
            if (200..300).contains(&status) { Ok(()) } else { Err(refusal(status)) }
        })
    }

    fn receive(&mut self, patience: Duration) -> Result<Value, WireFailure> {
        next_message(&self.arrivals, patience)
    }
}

/// Returns the address that a server names, if it is on the same host.
fn joined(base: &Uri, named: &str) -> Result<Uri, String> {
    let origin = |address: &Uri| {
        let scheme = address.scheme_str().unwrap_or_default().to_owned();
        (scheme, address.authority().map(|found| found.as_str().to_ascii_lowercase()))
    };
    let (scheme, authority) = origin(base);
    let authority_text = authority.clone().unwrap_or_default();
    let whole = if named.contains("://") {
        named.to_owned()
    } else if named.starts_with('/') && !named.starts_with("//") {
        format!("{scheme}://{authority_text}{named}")
    } else {
        let directory = base.path().rsplit_once('/').map_or("", |(directory, _)| directory);
        format!("{scheme}://{authority_text}{directory}/{named}")
    };
    let address: Uri =
        whole.parse().map_err(|_| "the server names an address that is none".to_owned())?;
    if origin(&address) != (scheme, authority) {
        return Err("the server names an address on another host".to_owned());
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_encrypted_or_on_this_machine() {
        for url in [
            "https://mcp.example/mcp",
            "http://localhost:8080/mcp",
            "http://127.0.0.1/",
            "http://[::1]:9/x",
            "http://a.localhost/",
        ] {
            assert!(checked(url).is_ok(), "{url}");
        }
        for url in [
            "http://mcp.example/mcp",
            "http://10.0.0.5/mcp",
            "http://localhost.example/",
            "https://user:password@mcp.example/",
            "ftp://localhost/",
            "file:///etc/passwd",
            "/mcp",
            "mcp.example",
            "",
        ] {
            assert!(checked(url).is_err(), "{url}");
        }
    }

    /// A server cannot send our header fields to another host.
    #[test]
    fn an_event_stream_names_an_address_on_its_own_host() {
        let base: Uri = "https://a.example:8443/x/sse".parse().unwrap();
        for (named, expected) in [
            ("/messages?id=1", Some("https://a.example:8443/messages?id=1")),
            ("messages?id=1", Some("https://a.example:8443/x/messages?id=1")),
            ("https://A.example:8443/m", Some("https://A.example:8443/m")),
            ("https://b.example:8443/m", None),
            ("http://a.example:8443/m", None),
            ("https://a.example/m", None),
            ("https://a.example:8443@b.example/m", None),
        ] {
            let found = joined(&base, named).ok().map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{named}");
        }
        // Two slashes are a path here, never a host.
        assert_eq!(joined(&base, "//b.example/m").unwrap().host(), Some("a.example"));
    }
}
