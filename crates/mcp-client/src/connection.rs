//! The client's side of one connection: requests, their answers, and what the server says unasked.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use brief_syntax::rpc::{self, InvalidRpc, RpcError, RpcErrorCode, RpcMessage};
use brief_syntax::text::visible_line;
use brief_system::{Interruption, System};
use serde_json::{Value, json};

use crate::address::{RemoteProtocol, RemoteServer, ServerAddress};
use crate::program::MessageLines;
use crate::remote::{EventStream, StreamableHttp};

/// The protocol revision in our introduction; a server answers with its own.
const REVISION: &str = "2025-06-18";

/// The revision for servers that do not know introductions any more.
const NEWEST: &str = "2026-07-28";

/// The error of a server that does not speak a revision.
const UNSUPPORTED_REVISION: i64 = -32022;

/// The longest time for the question whether a server speaks the newest revision, twice.
const PROBE: Duration = Duration::from_secs(6);

/// The limit for the notifications that are kept from one look.
const MOST_NOTICES: usize = 100;

/// The limit for the entries of a list.
const MOST_ENTRIES: usize = 500;

/// The pages of a list that are read.
const MOST_PAGES: usize = 50;

/// The interval of checks for an interruption.
const TICK: Duration = Duration::from_millis(50);

/// The limit for the characters of a server's own words in a message.
const MOST_WORDS: usize = 300;

/// A message that has not come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WireFailure {
    /// There was no time left.
    Late,
    /// The connection cannot be used any more, for this reason.
    Broken(String),
}

impl From<WireFailure> for String {
    fn from(failure: WireFailure) -> String {
        match failure {
            WireFailure::Late => "the server did not answer in time".to_owned(),
            WireFailure::Broken(reason) => reason,
        }
    }
}

/// The way that messages take.
pub(crate) trait Wire: Send {
    fn send(&mut self, message: &Value, patience: Duration) -> Result<(), WireFailure>;

    /// Returns the next message of the server.
    fn receive(&mut self, patience: Duration) -> Result<Value, WireFailure>;

    /// Notes the revision that both sides speak from now on.
    fn set_revision(&mut self, _revision: Option<&str>) {}

    /// Returns whether a request that the server does not know does no harm before the introduction. Some programs end
    /// then, or say nothing.
    fn can_probe(&self) -> bool {
        false
    }

    /// Asks for what the server says unasked, where that does not come by itself.
    fn start_listening(&mut self) {}

    /// Returns what the server has complained of since the last call.
    fn take_errors(&mut self) -> Vec<u8> {
        Vec::new()
    }
}

/// A server that runs, and the client's side of its connection. A program ends with it.
pub struct McpConnection {
    wire: Box<dyn Wire>,
    system: Arc<dyn System>,
    /// The number of the last request.
    last: u64,
    /// True for a server that knows no introduction: each request carries our part of it.
    is_newest: bool,
    /// Ends requests when it is raised.
    stop: Interruption,
}

impl McpConnection {
    /// Starts a server in a directory, or connects to one, and introduces us. `stop` ends this and every later
    /// request. The error is a message.
    pub fn start(
        system: &Arc<dyn System>,
        directory: &Path,
        (name, address): (&str, &ServerAddress),
        patience: Duration,
        stop: &Interruption,
    ) -> Result<McpConnection, String> {
        let until = system.elapsed() + patience;
        let problem = |problem: String| format!("cannot start the server `{name}`: {problem}");
        let filled = address.expand_variables(system.as_ref(), directory).map_err(problem)?;
        match &filled {
            ServerAddress::Program(program) => {
                let lines = MessageLines::start(system, directory, program).map_err(problem)?;
                McpConnection::new(Box::new(lines), Arc::clone(system), stop)
                    .into_initialized(until)
            }
            ServerAddress::Remote(remote) => {
                McpConnection::connect_remote(system, remote, until, stop)
                    .map_err(|problem| format!("cannot reach the server `{name}`: {problem}"))
            }
        }
    }

    fn connect_remote(
        system: &Arc<dyn System>,
        remote: &RemoteServer,
        until: Duration,
        stop: &Interruption,
    ) -> Result<McpConnection, String> {
        let introduced = |wire: Box<dyn Wire>| {
            McpConnection::new(wire, Arc::clone(system), stop).into_initialized(until)
        };
        let http = || {
            let http = StreamableHttp::new(system, remote)?;
            introduced(Box::new(http))
        };
        let stream = || {
            let patience = until.saturating_sub(system.elapsed());
            let stream = EventStream::open(system, remote, patience)?;
            introduced(Box::new(stream))
        };
        match remote.protocol {
            RemoteProtocol::Http => http(),
            RemoteProtocol::Sse => stream(),
            RemoteProtocol::Either => http().or_else(|problem| stream().map_err(|_| problem)),
        }
    }

    /// Introduces us. The error has the server's last words, if it has any.
    fn into_initialized(mut self, until: Duration) -> Result<McpConnection, String> {
        match self.initialize(until) {
            Ok(()) => Ok(self),
            Err(problem) => {
                // Words of a program that has just ended are still on the way.
                std::thread::sleep(TICK);
                let said = String::from_utf8_lossy(&self.take_errors()).into_owned();
                let last = said.lines().rev().find(|line| !line.trim().is_empty());
                Err(last.map_or(problem.clone(), |last| {
                    let words: String = last.trim().chars().take(MOST_WORDS).collect();
                    format!("{problem}; server output: {}", visible_line(&words))
                }))
            }
        }
    }

    /// Introduces us. The newest revision has no introduction: a server elsewhere is asked first who it is, and a program
    /// when it refuses.
    fn initialize(&mut self, until: Duration) -> Result<(), String> {
        if self.wire.can_probe() && self.is_of_newest_revision(until) {
            return Ok(());
        }
        let hello =
            json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client_info()});
        match self.send_request("initialize", &hello, until)? {
            Ok(result) => {
                let revision = result["protocolVersion"].as_str().unwrap_or(REVISION);
                self.wire.set_revision(Some(revision));
                let notice = rpc::build_notification("notifications/initialized", None);
                self.send_message(&notice, until)?;
            }
            Err(refusal) => {
                self.speak_newest(true);
                let found = self.send_request("server/discover", &json!({}), until);
                found.map_err(|_| refusal.clone())?.map_err(|_| refusal)?;
            }
        }
        Ok(())
    }

    fn speak_newest(&mut self, is_newest: bool) {
        self.is_newest = is_newest;
        self.wire.set_revision(is_newest.then_some(NEWEST));
    }

    /// Asks a server for what it knows of the newest revision. One that wants another request of that revision is asked
    /// again; any other refusal, and silence, is that of an older server.
    fn is_of_newest_revision(&mut self, until: Duration) -> bool {
        let until = until.min(self.system.elapsed() + self.remaining_time(until).min(PROBE) / 2);
        self.speak_newest(true);
        for _ in 0..2 {
            match self.exchange_messages("server/discover", &json!({}), until) {
                // A server that knows no such request may answer anything.
                Ok(Ok(found)) => {
                    let known = found["supportedVersions"].as_array();
                    if known.is_some_and(|known| known.contains(&json!(NEWEST))) {
                        return true;
                    }
                    break;
                }
                Ok(Err(error)) if error.code == UNSUPPORTED_REVISION => {
                    let data = error.data.unwrap_or_default();
                    let supported = data["supported"].as_array();
                    if !supported.is_some_and(|known| known.contains(&json!(NEWEST))) {
                        break;
                    }
                }
                _ => break,
            }
        }
        self.speak_newest(false);
        false
    }

    pub(crate) fn new(
        wire: Box<dyn Wire>,
        system: Arc<dyn System>,
        stop: &Interruption,
    ) -> McpConnection {
        McpConnection { wire, system, last: 0, is_newest: false, stop: stop.clone() }
    }

    fn remaining_time(&self, until: Duration) -> Duration {
        until.saturating_sub(self.system.elapsed())
    }

    fn send_message(&mut self, message: &Value, until: Duration) -> Result<(), WireFailure> {
        self.wire.send(message, self.remaining_time(until))
    }

    /// Returns the next message, unless we are stopped.
    fn receive_message(&mut self, until: Duration) -> Result<Value, WireFailure> {
        loop {
            if self.stop.is_raised() {
                return Err(WireFailure::Broken("was interrupted".to_owned()));
            }
            match self.wire.receive(self.remaining_time(until).min(TICK)) {
                Err(WireFailure::Late) if !self.remaining_time(until).is_zero() => {}
                outcome => return outcome,
            }
        }
    }

    /// Reads what the server says unasked, for so long, and returns the methods of its notifications. The
    /// error is a message: the server has ended, or says too much.
    pub fn collect_notifications(&mut self, patience: Duration) -> Result<Vec<String>, String> {
        let until = self.system.elapsed() + patience;
        let mut methods = Vec::new();
        self.wire.start_listening();
        loop {
            match self.wire.receive(self.remaining_time(until)) {
                Ok(message) => {
                    let method = message["method"].as_str().map(str::to_owned);
                    if methods.len() < MOST_NOTICES {
                        methods.extend(method);
                    }
                }
                Err(WireFailure::Late) => return Ok(methods),
                Err(failure) => return Err(failure.into()),
            }
        }
    }

    /// Returns what the server has written to its standard error since the last call: the newest part of it, if
    /// that is much.
    pub fn take_errors(&mut self) -> Vec<u8> {
        self.wire.take_errors()
    }

    /// Sends a request and waits for its answer, until the given time at most. Other messages of the server
    /// do not extend that time. The inner error is the server's own, the outer one that of the connection, which
    /// cannot be used any more; both are messages.
    pub fn send_request(
        &mut self,
        method: &str,
        params: &Value,
        until: Duration,
    ) -> Result<Result<Value, String>, String> {
        let answer = self.exchange_messages(method, params, until)?;
        Ok(answer.map_err(|error| match error.message.as_str() {
            "" => "the server refused the request".to_owned(),
            message => message.to_owned(),
        }))
    }

    /// Does the same, with the server's error as it is.
    fn exchange_messages(
        &mut self,
        method: &str,
        params: &Value,
        until: Duration,
    ) -> Result<Result<Value, RpcError>, String> {
        self.last += 1;
        let id = self.last;
        let mut params = params.clone();
        if self.is_newest {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": NEWEST,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": client_info(),
            });
        }
        self.send_message(&rpc::build_request(&id.into(), method, Some(params)), until)?;
        loop {
            match RpcMessage::from_json(self.receive_message(until)?) {
                // A server may send requests too; none is supported.
                Ok(RpcMessage::Request { id: asked, .. }) => {
                    let refused = RpcError::new(RpcErrorCode::UnknownMethod, "not supported");
                    self.send_message(&rpc::build_response(&asked, Err(refused)), until)?;
                }
                Ok(RpcMessage::Response { id: answered, outcome }) if answered == id => {
                    return Ok(outcome);
                }
                // An answer without a result.
                Err(InvalidRpc { id: Some(answered), .. }) if answered == id => {
                    return Ok(Ok(Value::Null));
                }
                _ => {}
            }
        }
    }

    /// Reads all pages of a list. A server without such a list has none. The error is a message.
    pub fn read_list(
        &mut self,
        method: &str,
        key: &str,
        patience: Duration,
    ) -> Result<Vec<Value>, String> {
        let until = self.system.elapsed() + patience;
        let (mut all, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..MOST_PAGES {
            let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            let Ok(mut page) = self.send_request(method, &params, until)? else { break };
            if let Some(Value::Array(list)) = page.get_mut(key).map(Value::take) {
                all.extend(list);
            }
            cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() || all.len() >= MOST_ENTRIES {
                break;
            }
        }
        all.truncate(MOST_ENTRIES);
        Ok(all)
    }
}

fn client_info() -> Value {
    json!({"name": "brief", "version": env!("CARGO_PKG_VERSION")})
}
