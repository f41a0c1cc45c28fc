//! The shared parts of a connection to a server elsewhere, and the work of its threads.
//!
//! The operator's header fields go to this server alone: neither a redirect nor an event stream leads to another host.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use brief_outgoing::sse::{Events, ServerEvent, StreamPlace};
use brief_outgoing::{Route, is_own_machine};
use brief_syntax::limits;
use brief_system::System;
use serde_json::Value;
use ureq::http::{Response, Uri};

use crate::address::RemoteServer;
use crate::connection::WireFailure;

/// The size of the read buffer.
const PIECE: usize = 16 * 1024;

/// The longest life of a stream that a server may fill at any time.
pub(crate) const STREAM_TIME: Duration = Duration::from_hours(1);

/// The pause before a stream is opened again, unless the server names another.
const STREAM_PAUSE: Duration = Duration::from_secs(2);

/// The limits for a pause that a server names.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The interval of checks for the end of the connection.
const TICK: Duration = Duration::from_millis(50);

/// Header fields that the protocol sets.
const OURS: &str = "accept connection content-length content-type host last-event-id mcp-method mcp-name \
    mcp-protocol-version mcp-session-id transfer-encoding";

/// An event that the thread of a connection reports.
pub(crate) enum RemoteEvent {
    Message(Value),
    /// The address for messages to a server with an event stream.
    Endpoint(String),
    Failed(String),
}

/// The parts of a connection that its threads share.
pub(crate) struct Correspondence {
    system: Arc<dyn System>,
    agent: ureq::Agent,
    pub(crate) address: Uri,
    headers: Vec<(String, String)>,
    /// The session that the server has given us.
    session: Mutex<Option<String>>,
    /// The revision that both sides speak.
    revision: Mutex<Option<String>>,
    /// True when the connection was given up.
    is_over: AtomicBool,
}

impl Correspondence {
    pub(crate) fn new(
        system: &Arc<dyn System>,
        remote: &RemoteServer,
    ) -> Result<Correspondence, String> {
        let address = parse_address(&remote.url)?;
        let (host, is_encrypted) =
            (lowercase_host(&address), address.scheme_str() == Some("https"));
        let route = Route::from_environment(system.as_ref(), is_encrypted, &host)
            .map_err(|error| format!("cannot read `SSL_CERT_FILE`: {error}"))?;
        let is_free = |(name, _): &&(String, String)| {
            !OURS.split(' ').any(|ours| ours.eq_ignore_ascii_case(name))
        };
        Ok(Correspondence {
            system: Arc::clone(system),
            agent: route.create_agent()?,
            address,
            headers: remote.headers.iter().filter(is_free).cloned().collect(),
            session: Mutex::default(),
            revision: Mutex::default(),
            is_over: AtomicBool::new(false),
        })
    }

    /// Returns the header fields of a request, besides those that say what is sent.
    fn header_fields(&self) -> Vec<(String, String)> {
        let mut fields = self.headers.clone();
        let agreed = [("mcp-session-id", &self.session), ("mcp-protocol-version", &self.revision)];
        for (name, value) in agreed {
            fields.extend(lock_shared(value).clone().map(|value| (name.to_owned(), value)));
        }
        fields
    }

    /// Sends a message. A redirect is followed on the same host, if it keeps the message.
    pub(crate) fn post_message(
        &self,
        address: &Uri,
        message: &Value,
        patience: Duration,
    ) -> Result<Response<ureq::Body>, String> {
        let body = message.to_string();
        let mut fields = self.header_fields();
        // The newest revision repeats these two, for servers in between.
        let name = message["params"]["name"].as_str().filter(|name| name.is_ascii());
        let kept = [("mcp-method", message["method"].as_str()), ("mcp-name", name)];
        for (field, value) in kept {
            fields.extend(value.map(|value| (field.to_owned(), value.to_owned())));
        }
        follow_redirects(address, &[307, 308], |address| {
            let request = self
                .agent
                .post(address)
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream");
            let request = with_fields(request, &fields);
            request.config().timeout_global(Some(patience)).build().send(&body)
        })
    }

    /// Sends a message that has no answer.
    pub(crate) fn post_notification(
        &self,
        address: &Uri,
        message: &Value,
        patience: Duration,
    ) -> Result<(), String> {
        let status = self.post_message(address, message, patience)?.status();
        if status.is_success() { Ok(()) } else { Err(render_refusal(status.as_u16())) }
    }

    /// Tells the server that its session ends.
    pub(crate) fn end_session(&self, patience: Duration) -> Result<(), String> {
        let request = with_fields(self.agent.delete(&self.address), &self.header_fields());
        let request = request.config().timeout_global(Some(patience)).build();
        request.call().map(drop).map_err(|error| render_error(&error))
    }

    /// Opens a stream of events, or goes on with one.
    pub(crate) fn open_stream(
        &self,
        place: &StreamPlace,
        patience: Duration,
    ) -> Result<Response<ureq::Body>, String> {
        let mut fields = self.header_fields();
        let last = place.last_id.as_ref().filter(|id| !id.is_empty());
        fields.extend(last.map(|id| ("last-event-id".to_owned(), id.clone())));
        follow_redirects(&self.address, &[301, 302, 307, 308], |address| {
            let request = self.agent.get(address).header("accept", "text/event-stream");
            let request = with_fields(request, &fields);
            request.config().timeout_global(Some(patience)).build().call()
        })
    }

    /// Notes the revision that both sides speak from now on.
    pub(crate) fn set_revision(&self, revision: Option<&str>) {
        *lock_shared(&self.revision) = revision.map(str::to_owned);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn has_session(&self) -> bool {
        lock_shared(&self.session).is_some()
    }

    /// Ends the connection: what waits for the server ends now.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.agent.clone().shutdown();
    }

    /// Waits before a stream is asked for again, as long as the server says, within reason. Returns whether the
    /// connection still stands.
    fn wait_to_retry(&self, place: &StreamPlace) -> bool {
        let time = place.retry.unwrap_or(STREAM_PAUSE).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        let until = self.system.elapsed() + time;
        while !self.is_over() && self.system.elapsed() < until {
            thread::sleep(TICK.min(until.saturating_sub(self.system.elapsed())));
        }
        !self.is_over()
    }

    /// Sends a request and hands its answer over.
    pub(crate) fn send_request(
        &self,
        message: &Value,
        patience: Duration,
        to: &SyncSender<RemoteEvent>,
    ) {
        let begun = self.system.elapsed();
        let arrived = self.post_message(&self.address, message, patience).and_then(|response| {
            if message["method"] == "initialize"
                && let Some(session) = header_value(&response, "mcp-session-id")
            {
                *lock_shared(&self.session) = Some(session);
            }
            let until = begun + patience;
            self.deliver_response(response, &message["id"], until, to)
        });
        if let Err(problem) = arrived {
            // Without a receiver the connection was given up.
            let _ = to.send(RemoteEvent::Failed(problem));
        }
    }

    /// Hands over the messages of a response to the request of that number.
    fn deliver_response(
        &self,
        response: Response<ureq::Body>,
        id: &Value,
        until: Duration,
        to: &SyncSender<RemoteEvent>,
    ) -> Result<(), String> {
        if is_stream(&response) {
            return self.read_answer(response, id, until, to);
        }
        let status = response.status().as_u16();
        let body = response.into_body().with_config().limit(MESSAGE_BYTES).read_to_vec();
        let body = body.map_err(|error| render_error(&error))?;
        let message = serde_json::from_slice::<Value>(&body).ok();
        match (status, message) {
            // An older revision has lists of messages.
            (200..300, Some(Value::Array(messages))) => {
                for message in messages {
                    let _ = to.send(RemoteEvent::Message(message));
                }
                Ok(())
            }
            (_, Some(message)) if message["id"] == *id && message.get("jsonrpc").is_some() => {
                let _ = to.send(RemoteEvent::Message(message));
                Ok(())
            }
            (200..300, _) => Err("the server answered with an invalid message".to_owned()),
            (404, _) if self.has_session() => Err("the server ended the session".to_owned()),
            (status, _) => Err(render_refusal(status)),
        }
    }

    /// Hands over the messages of a stream until the answer. A server may end a stream before it, and go on with another
    /// one after the last event that had an `id`.
    fn read_answer(
        &self,
        mut response: Response<ureq::Body>,
        id: &Value,
        until: Duration,
        to: &SyncSender<RemoteEvent>,
    ) -> Result<(), String> {
        let mut place = StreamPlace::default();
        loop {
            let mut is_answered = false;
            let mut is_left = false;
            read_events(response, &mut place, |event| {
                let message = serde_json::from_str::<Value>(&event.data).ok();
                is_answered |= message.as_ref().is_some_and(|message| message["id"] == *id);
                let is_taken =
                    message.is_none_or(|message| to.send(RemoteEvent::Message(message)).is_ok());
                is_left |= !is_taken;
                // No request waits for what comes after the answer.
                is_taken && !is_answered
            })?;
            if is_answered || is_left {
                return Ok(());
            }
            let early = || "the server ended its answer early".to_owned();
            if place.last_id.is_none() || !self.wait_to_retry(&place) {
                return Err(early());
            }
            let left = until.saturating_sub(self.system.elapsed());
            if left.is_zero() {
                return Err(WireFailure::Late.into());
            }
            response = self.open_stream(&place, left)?;
            if !is_stream(&response) {
                return Err(early());
            }
        }
    }

    /// Hands over what the server says unasked, as long as it lets us.
    pub(crate) fn follow_stream(&self, to: &SyncSender<RemoteEvent>) {
        let mut place = StreamPlace::default();
        loop {
            let Ok(response) = self.open_stream(&place, STREAM_TIME) else { return };
            if !is_stream(&response) {
                return;
            }
            // An end is no failure: the server may have nothing to say for now.
            let _ = read_events(response, &mut place, |event| {
                let message = serde_json::from_str(&event.data).ok();
                let is_taken =
                    message.is_none_or(|message| to.send(RemoteEvent::Message(message)).is_ok());
                is_taken && !self.is_over()
            });
            if !self.wait_to_retry(&place) {
                return;
            }
        }
    }
}

fn lock_shared<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with_fields<B>(
    request: ureq::RequestBuilder<B>,
    fields: &[(String, String)],
) -> ureq::RequestBuilder<B> {
    fields.iter().fold(request, |request, (name, value)| request.header(name, value))
}

/// Returns whether a response is a stream of events.
fn is_stream(response: &Response<ureq::Body>) -> bool {
    let kind = header_value(response, "content-type").unwrap_or_default().to_ascii_lowercase();
    response.status().is_success() && kind.starts_with("text/event-stream")
}

/// Sends a request, and again where the server says, if that is on the same host.
fn follow_redirects(
    address: &Uri,
    followed: &[u16],
    send: impl Fn(&Uri) -> Result<Response<ureq::Body>, ureq::Error>,
) -> Result<Response<ureq::Body>, String> {
    let mut address = address.clone();
    for _ in 0..limits::TOOL_REDIRECTS {
        let response = send(&address).map_err(|error| render_error(&error))?;
        let is_followed = followed.contains(&response.status().as_u16());
        let place = header_value(&response, "location").filter(|_| is_followed);
        match place.and_then(|place| join_address(&address, &place).ok()) {
            Some(next) => address = next,
            None => return Ok(response),
        }
    }
    Err("the server sent too many redirects".to_owned())
}

/// The limit for the bytes of a message.
const MESSAGE_BYTES: u64 = limits::TOOL_MESSAGE_BYTES as u64;

/// Parses an address, if a server may be asked there.
fn parse_address(url: &str) -> Result<Uri, String> {
    let address: Uri = url.parse().map_err(|_| "its `url` is not a valid URL".to_owned())?;
    if address.authority().is_none_or(|authority| authority.as_str().contains('@')) {
        return Err("its `url` has no host or contains a password".to_owned());
    }
    match address.scheme_str() {
        Some("https") => Ok(address),
        Some("http") if is_own_machine(&lowercase_host(&address)) => Ok(address),
        Some("http") => Err("a server on another machine requires `https`".to_owned()),
        _ => Err("its `url` is neither `https` nor `http`".to_owned()),
    }
}

fn lowercase_host(address: &Uri) -> String {
    let host = address.host().unwrap_or_default().trim_matches(['[', ']']);
    host.to_ascii_lowercase()
}

fn header_value(response: &Response<ureq::Body>, name: &str) -> Option<String> {
    response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

pub(crate) fn render_refusal(status: u16) -> String {
    match status {
        300..=399 => {
            format!("the server answered {status}: brief does not follow redirects to another host")
        }
        401 | 403 => format!("the server answered {status}: check its `headers`"),
        _ => format!("the server answered {status}"),
    }
}

fn render_error(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => WireFailure::Late.into(),
        error => error.to_string(),
    }
}

/// Reads events until the end, or until `take` wants no more, and notes the place. A connection that breaks is an end.
/// The error is a message.
pub(crate) fn read_events(
    response: Response<ureq::Body>,
    place: &mut StreamPlace,
    mut take: impl FnMut(ServerEvent) -> bool,
) -> Result<(), String> {
    let mut body = response.into_body().into_reader();
    let (mut parser, mut events) = (Events::new(limits::TOOL_MESSAGE_BYTES), Vec::new());
    let mut piece = vec![0; PIECE];
    loop {
        let count = match body.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) => match ureq::Error::from(error) {
                ureq::Error::Io(_) => return Ok(()),
                error => return Err(render_error(&error)),
            },
        };
        parser
            .feed(&piece[..count], &mut events)
            .map_err(|_| "a message of the server is too large".to_owned())?;
        let StreamPlace { last_id, retry } = parser.place();
        place.last_id = last_id.clone().or(place.last_id.take());
        place.retry = retry.or(place.retry);
        for event in events.drain(..) {
            if !take(event) {
                return Ok(());
            }
        }
    }
}

/// Returns the address that a server names, if it is on the same host.
pub(crate) fn join_address(base: &Uri, named: &str) -> Result<Uri, String> {
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
        whole.parse().map_err(|_| "the server sent an invalid address".to_owned())?;
    if origin(&address) != (scheme, authority) {
        return Err("the server sent an address on another host".to_owned());
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
            assert!(parse_address(url).is_ok(), "{url}");
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
            assert!(parse_address(url).is_err(), "{url}");
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
            let found = join_address(&base, named).ok().map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{named}");
        }
        // Two slashes are a path here, never a host.
        assert_eq!(join_address(&base, "//b.example/m").unwrap().host(), Some("a.example"));
    }
}
