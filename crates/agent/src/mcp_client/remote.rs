//! Servers elsewhere: streamable HTTP, and the event stream that was before it.
//!
//! Each request has a thread of its own, which ends with the time for it, and with the connection; what comes is handed
//! over by a short queue, so that a server that floods waits for us.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use brief_syntax::System;
use serde_json::Value;
use ureq::http::Uri;

use super::address::RemoteServer;
use super::connection::{Wire, WireFailure};
use super::correspondence::{
    Arrival, Correspondence, STREAM_TIME, joined, read_events, refusal, told,
};
use crate::sse::StreamPlace;

/// The messages that wait for us; a server with more waits, too.
const QUEUE: usize = 64;

/// The time that a server has to forget us.
const FAREWELL: Duration = Duration::from_millis(500);

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
        system: &Arc<dyn System>,
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

    fn agree(&mut self, revision: Option<&str>) {
        let mut known = self.shared.revision.lock().unwrap_or_else(PoisonError::into_inner);
        *known = revision.map(str::to_owned);
    }

    fn can_probe(&self) -> bool {
        true
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
        if self.shared.has_session() {
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
        self.shared.end();
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
        let shared = Arc::new(Correspondence::with(system, remote)?);
        let (to, arrivals) = sync_channel(QUEUE);
        let streaming = Arc::clone(&shared);
        apart(move || {
            let mut place = StreamPlace::default();
            let problem = match streaming.stream(&place, STREAM_TIME) {
                Ok(response) if response.status() == 200 => {
                    let ended = read_events(response, &mut place, |event| {
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
        self.shared.end();
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
