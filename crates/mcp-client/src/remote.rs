//! Servers elsewhere: streamable HTTP, and the event stream that was before it.
//!
//! Each request has a thread of its own, which ends with the time for it, and with the connection; what comes is handed
//! over by a short queue, so that a server that floods waits for us.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use brief_outgoing::sse::StreamPlace;
use brief_system::System;
use serde_json::Value;
use ureq::http::Uri;

use crate::address::RemoteServer;
use crate::connection::{Wire, WireFailure};
use crate::correspondence::{
    Correspondence, RemoteEvent, STREAM_TIME, join_address, read_events, render_refusal,
};

/// The messages that wait for us; a server with more waits, too.
const QUEUE: usize = 64;

/// The time that a server has to forget us.
const FAREWELL: Duration = Duration::from_millis(500);

/// Starts a thread for work that a server can hold up.
fn spawn_thread(work: impl FnOnce() + Send + 'static) -> Result<(), WireFailure> {
    let builder = thread::Builder::new().name("mcp-http".to_owned());
    let started = builder.spawn(work);
    started.map(drop).map_err(|error| WireFailure::Broken(error.to_string()))
}

/// Does work on a thread of its own, and waits for it.
fn run_within(
    patience: Duration,
    work: impl FnOnce() -> Result<(), String> + Send + 'static,
) -> Result<(), WireFailure> {
    let (done, outcome) = channel();
    spawn_thread(move || drop(done.send(work())))?;
    match outcome.recv_timeout(patience) {
        Ok(outcome) => outcome.map_err(WireFailure::Broken),
        Err(_) => Err(WireFailure::Late),
    }
}

fn next(events: &Receiver<RemoteEvent>, patience: Duration) -> Result<RemoteEvent, WireFailure> {
    match events.recv_timeout(patience) {
        Ok(RemoteEvent::Failed(reason)) => Err(WireFailure::Broken(reason)),
        Ok(event) => Ok(event),
        Err(RecvTimeoutError::Timeout) => Err(WireFailure::Late),
        Err(RecvTimeoutError::Disconnected) => {
            Err(WireFailure::Broken("the connection has ended".to_owned()))
        }
    }
}

/// Returns the next message; an address in between means nothing.
fn next_message(events: &Receiver<RemoteEvent>, patience: Duration) -> Result<Value, WireFailure> {
    match next(events, patience)? {
        RemoteEvent::Message(message) => Ok(message),
        _ => Err(WireFailure::Broken("the server sent a different address".to_owned())),
    }
}

/// Returns whether a message waits for an answer.
fn is_request(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some()
}

/// Streamable HTTP: every message is a request, and its answer comes with the response.
pub(crate) struct StreamableHttp {
    shared: Arc<Correspondence>,
    events: Receiver<RemoteEvent>,
    to: SyncSender<RemoteEvent>,
    is_following: bool,
}

impl StreamableHttp {
    /// Prepares a connection. Sends nothing yet.
    pub(crate) fn new(
        system: &Arc<dyn System>,
        remote: &RemoteServer,
    ) -> Result<StreamableHttp, String> {
        let shared = Arc::new(Correspondence::new(system, remote)?);
        let (to, events) = sync_channel(QUEUE);
        Ok(StreamableHttp { shared, events, to, is_following: false })
    }
}

impl Wire for StreamableHttp {
    fn send(&mut self, message: &Value, patience: Duration) -> Result<(), WireFailure> {
        let (shared, message) = (Arc::clone(&self.shared), message.clone());
        if is_request(&message) {
            let to = self.to.clone();
            return spawn_thread(move || shared.send_request(&message, patience, &to));
        }
        run_within(patience, move || shared.post_notification(&shared.address, &message, patience))
    }

    fn receive(&mut self, patience: Duration) -> Result<Value, WireFailure> {
        next_message(&self.events, patience)
    }

    fn set_revision(&mut self, revision: Option<&str>) {
        self.shared.set_revision(revision);
    }

    fn can_probe(&self) -> bool {
        true
    }

    fn start_listening(&mut self) {
        if !std::mem::replace(&mut self.is_following, true) {
            let (shared, to) = (Arc::clone(&self.shared), self.to.clone());
            // Without a thread, changes are seen at the next start.
            let _ = spawn_thread(move || shared.follow_stream(&to));
        }
    }
}

impl Drop for StreamableHttp {
    fn drop(&mut self) {
        if self.shared.has_session() {
            let shared = Arc::clone(&self.shared);
            let _ = run_within(FAREWELL, move || shared.end_session(FAREWELL));
        }
        self.shared.end();
    }
}

/// The older event stream: messages of the server come by one long response, ours go to the address that it names.
pub(crate) struct EventStream {
    shared: Arc<Correspondence>,
    events: Receiver<RemoteEvent>,
    endpoint: Uri,
}

impl EventStream {
    /// Connects, and waits for the address. The error is a message.
    pub(crate) fn open(
        system: &Arc<dyn System>,
        remote: &RemoteServer,
        patience: Duration,
    ) -> Result<EventStream, String> {
        let until = system.elapsed() + patience;
        let shared = Arc::new(Correspondence::new(system, remote)?);
        let (to, events) = sync_channel(QUEUE);
        let streaming = Arc::clone(&shared);
        spawn_thread(move || {
            let mut place = StreamPlace::default();
            let problem = match streaming.open_stream(&place, STREAM_TIME) {
                Ok(response) if response.status() == 200 => {
                    let ended = read_events(response, &mut place, |event| {
                        let event = match event.kind.as_str() {
                            "endpoint" => Some(RemoteEvent::Endpoint(event.data)),
                            _ => serde_json::from_str(&event.data).ok().map(RemoteEvent::Message),
                        };
                        let is_taken = event.is_none_or(|event| to.send(event).is_ok());
                        is_taken && !streaming.is_over()
                    });
                    ended.err().unwrap_or_else(|| "the server has ended".to_owned())
                }
                Ok(response) => render_refusal(response.status().as_u16()),
                Err(problem) => problem,
            };
            let _ = to.send(RemoteEvent::Failed(problem));
        })?;
        loop {
            let patience = until.saturating_sub(system.elapsed());
            if let RemoteEvent::Endpoint(named) = next(&events, patience)? {
                let endpoint = join_address(&shared.address, &named)?;
                return Ok(EventStream { shared, events, endpoint });
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
        run_within(patience, move || shared.post_notification(&endpoint, &message, patience))
    }

    fn receive(&mut self, patience: Duration) -> Result<Value, WireFailure> {
        next_message(&self.events, patience)
    }
}
