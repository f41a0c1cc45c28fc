//! The MCP servers of a project behind ours: their tools and prompts, under our names.
//!
//! Each server has a thread and a short queue of its own, so one that hangs or floods hurts only itself: a call
//! has a time limit, a line has a size limit, and a server that breaks either is ended and started again, later
//! each time. What a program writes to its standard error goes to the log under its name, up to a limit. Their messages
//! are passed on as they are; their instructions are not, because we cannot vouch
//! for them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use brief_mcp_client::{
    LARGEST_OFFER, ListedTools, McpConnection, SEPARATOR, ServerAddress, ToolDecisions,
    held_back_note, server_label,
};
use brief_syntax::text::visible_line;
use brief_system::{Interruption, System};
use rmcp::model::{Prompt, Tool};
use serde_json::{Value as Json, json};
use tokio::sync::{oneshot, watch};

use super::ServeError;

/// The limit for the characters of a tool's name.
const LONGEST_NAME: usize = 128;

/// The calls that wait for one server.
const QUEUE: usize = 32;

/// The interval of looks at a server that has nothing to do.
const LOOK: Duration = Duration::from_millis(200);

/// The lines of a server's standard error that go to the log at one look, and the characters of each.
const MOST_LINES: usize = 10;
const LONGEST_LINE: usize = 1_000;

/// The time that the threads have to end their servers.
const LAST_PATIENCE: Duration = Duration::from_secs(3);

/// The times of a gateway.
#[derive(Debug, Clone, Copy)]
pub struct GatewayTimes {
    /// The limit for the start of a server, and for each of its lists.
    pub start: Duration,
    /// The limit for a call.
    pub call: Duration,
    /// The pause before a server that has ended is started again; it doubles with each time.
    pub pause: Duration,
    pub longest_pause: Duration,
}

impl Default for GatewayTimes {
    fn default() -> GatewayTimes {
        GatewayTimes {
            start: Duration::from_secs(30),
            call: Duration::from_mins(1),
            pause: Duration::from_secs(1),
            longest_pause: Duration::from_mins(1),
        }
    }
}

#[derive(Debug, Clone)]
pub struct GatewayServer {
    /// Its name in the configuration.
    pub name: String,
    /// The place of that configuration, for people.
    pub place: String,
    pub address: ServerAddress,
    /// The user's decisions about its tools.
    pub decisions: ToolDecisions,
}

/// The tools and prompts of all servers, under our names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct GatewayLists {
    pub(super) tools: Vec<Tool>,
    pub(super) prompts: Vec<Prompt>,
    /// The names of tools that the user has not accepted.
    held_back: BTreeSet<String>,
}

pub(super) struct Gateway {
    servers: Vec<Downstream>,
    lists: watch::Receiver<GatewayLists>,
}

/// A server, seen from the handlers of requests.
struct Downstream {
    label: String,
    jobs: SyncSender<GatewayJob>,
}

struct GatewayJob {
    method: &'static str,
    params: Json,
    answer: oneshot::Sender<Result<Json, String>>,
}

/// The threads of the running servers.
pub(super) struct GatewayThreads {
    ended: Interruption,
    threads: Vec<JoinHandle<()>>,
}

impl GatewayThreads {
    /// Ends the servers, and waits for that no longer than a few seconds.
    pub(super) fn end_servers(self, system: &dyn System) {
        self.ended.raise();
        let until = system.elapsed() + LAST_PATIENCE;
        while self.threads.iter().any(|thread| !thread.is_finished()) && system.elapsed() < until {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The lists of one server, by its place.
type OfferedLists = Arc<Mutex<Vec<GatewayLists>>>;

impl Gateway {
    /// Starts a thread for each server. `log` gets a message for people when one starts, fails or ends.
    pub(super) fn start(
        system: &Arc<dyn System>,
        directory: &std::path::Path,
        configured: Vec<GatewayServer>,
        times: GatewayTimes,
        log: &Sender<String>,
    ) -> Result<(Gateway, GatewayThreads), ServeError> {
        let (told, lists) = watch::channel(GatewayLists::default());
        let told = Arc::new(told);
        let listed: OfferedLists =
            Arc::new(Mutex::new(vec![GatewayLists::default(); configured.len()]));
        let mut labels = BTreeSet::new();
        let (mut servers, mut threads) = (Vec::new(), Vec::new());
        let ended = Interruption::default();
        for (place, server) in configured.into_iter().enumerate() {
            let GatewayServer { name, address, decisions, .. } = server;
            let label = server_label(&name, &mut labels);
            let (jobs, waiting) = sync_channel(QUEUE);
            let worker = ServerThread {
                system: Arc::clone(system),
                directory: directory.to_owned(),
                label: label.clone(),
                name,
                address,
                decisions,
                times,
                waiting,
                ended: ended.clone(),
                place,
                listed: Arc::clone(&listed),
                told: Arc::clone(&told),
                log: log.clone(),
            };
            let builder = thread::Builder::new().name(format!("mcp-{label}"));
            threads.push(builder.spawn(move || worker.run()).map_err(ServeError::Start)?);
            servers.push(Downstream { label, jobs });
        }
        Ok((Gateway { servers, lists }, GatewayThreads { ended, threads }))
    }

    /// Returns the lists as they are now, and later ones.
    pub(super) fn lists(&self) -> watch::Receiver<GatewayLists> {
        self.lists.clone()
    }

    /// Returns whether a name is one of a server's.
    pub(super) fn contains_name(&self, name: &str) -> bool {
        self.find_server(name).is_some()
    }

    fn find_server<'n>(&self, name: &'n str) -> Option<(&Downstream, &'n str)> {
        self.servers.iter().find_map(|server| {
            let rest = name.strip_prefix(&server.label)?.strip_prefix(SEPARATOR)?;
            Some((server, rest))
        })
    }

    /// Passes a call or a prompt on to its server, and its result back. The error is a message.
    pub(super) async fn pass_request(
        &self,
        method: &'static str,
        name: &str,
        arguments: Json,
    ) -> Result<Json, String> {
        let (server, rest) =
            self.find_server(name).ok_or_else(|| format!("unknown tool or prompt `{name}`"))?;
        if method == "tools/call" && self.lists.borrow().held_back.contains(name) {
            return Err(held_back_note(&server.label, rest));
        }
        let (answer, answered) = oneshot::channel();
        let params = json!({"name": rest, "arguments": arguments});
        let label = &server.label;
        server.jobs.try_send(GatewayJob { method, params, answer }).map_err(
            |error| match error {
                TrySendError::Full(_) => {
                    format!("the server `{label}` is busy: {QUEUE} calls are waiting")
                }
                TrySendError::Disconnected(_) => format!("the server `{label}` has ended"),
            },
        )?;
        answered.await.unwrap_or_else(|_| Err(format!("the server `{label}` has ended")))
    }
}

/// The thread of a server.
struct ServerThread {
    system: Arc<dyn System>,
    directory: PathBuf,
    label: String,
    name: String,
    address: ServerAddress,
    decisions: ToolDecisions,
    times: GatewayTimes,
    waiting: Receiver<GatewayJob>,
    ended: Interruption,
    place: usize,
    listed: OfferedLists,
    told: Arc<watch::Sender<GatewayLists>>,
    log: Sender<String>,
}

impl ServerThread {
    /// Keeps the server running until the gateway ends.
    fn run(self) {
        let mut pause = self.times.pause;
        loop {
            let started = self.system.elapsed();
            let Err(problem) = self.run_once() else { return };
            if self.ended.is_raised() {
                return;
            }
            // A server that ran for a while is started again soon.
            if self.system.elapsed().saturating_sub(started) > self.times.longest_pause {
                pause = self.times.pause;
            }
            self.log_message(format!(
                "the server `{}` failed: {problem}; restarting in {} ms",
                self.label,
                pause.as_millis()
            ));
            if !self.refuse_for(pause, &problem) {
                return;
            }
            pause = (pause * 2).min(self.times.longest_pause);
        }
    }

    fn log_message(&self, message: String) {
        // Without a reader there are no people.
        let _ = self.log.send(message);
    }

    /// Answers calls with the problem while the server is down; false when the gateway has ended.
    fn refuse_for(&self, pause: Duration, problem: &str) -> bool {
        let until = self.system.elapsed() + pause;
        loop {
            let left = until.saturating_sub(self.system.elapsed());
            if left.is_zero() {
                return true;
            }
            if self.ended.is_raised() {
                return false;
            }
            match self.waiting.recv_timeout(left.min(LOOK)) {
                Ok(job) => {
                    let message = format!("the server `{}` is not running: {problem}", self.label);
                    let _ = job.answer.send(Err(message));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    /// Runs the server until the gateway has ended. The error is the reason why the server has ended before.
    fn run_once(&self) -> Result<(), String> {
        let ServerThread { system, directory, times, .. } = self;
        let named = (self.name.as_str(), &self.address);
        let mut server = McpConnection::start(system, directory, named, times.start, &self.ended)?;
        let ending = self.read_lists(&mut server).and_then(|()| self.serve_calls(&mut server));
        self.pass_errors_on(&mut server);
        ending
    }

    /// Passes on what a server writes to its standard error, up to a limit.
    fn pass_errors_on(&self, server: &mut McpConnection) {
        let said = server.take_errors();
        let said = String::from_utf8_lossy(&said);
        let mut lines = said.lines().filter(|line| !line.trim().is_empty());
        for line in lines.by_ref().take(MOST_LINES) {
            let line: String = line.chars().take(LONGEST_LINE).collect();
            self.log_message(format!("[{}] {}", self.label, visible_line(&line)));
        }
        match lines.count() {
            0 => {}
            more => self.log_message(format!("[{}] … {more} more lines", self.label)),
        }
    }

    /// Answers calls until the server fails or the gateway ends.
    fn serve_calls(&self, server: &mut McpConnection) -> Result<(), String> {
        self.log_message(format!("started the server `{}`", self.label));
        loop {
            self.pass_errors_on(server);
            if self.ended.is_raised() {
                return Ok(());
            }
            match self.waiting.recv_timeout(LOOK) {
                Ok(job) if job.answer.is_closed() => {}
                Ok(GatewayJob { method, params, answer }) => {
                    let until = self.system.elapsed() + self.times.call;
                    let result = server.send_request(method, &params, until);
                    let problem = result.as_ref().err().cloned();
                    let told = result.unwrap_or_else(|problem| {
                        Err(format!("the server `{}` failed: {problem}", self.label))
                    });
                    let _ = answer.send(told);
                    // What it still says would be taken for the answer to the next call.
                    problem.map_or(Ok(()), Err)?;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    let methods = server.collect_notifications(Duration::from_millis(1))?;
                    if methods.iter().any(|method| method.ends_with("/list_changed")) {
                        self.read_lists(server)?;
                    }
                }
            }
        }
    }

    /// Reads the lists of the server, and tells of them.
    fn read_lists(&self, server: &mut McpConnection) -> Result<(), String> {
        let tools =
            self.drop_repeated(server.read_list("tools/list", "tools", self.times.start)?);
        let prompts = server.read_list("prompts/list", "prompts", self.times.start)?;
        let prompts = self.drop_repeated(prompts);
        let ListedTools { tools, held_back } = self.decisions.divide_tools(tools);
        for tool in &held_back {
            self.log_message(held_back_note(&self.label, tool));
        }
        let named = |tool: String| format!("{}{SEPARATOR}{tool}", self.label);
        let lists = GatewayLists {
            held_back: held_back.into_iter().map(named).collect(),
            tools: tools.into_iter().filter_map(|tool| self.label_offer(tool)).collect(),
            prompts: prompts.into_iter().filter_map(|prompt| self.label_offer(prompt)).collect(),
        };
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = listed.get_mut(self.place) {
            *place = lists;
        }
        let mut all = GatewayLists::default();
        for lists in listed.iter() {
            all.tools.extend(lists.tools.iter().cloned());
            all.prompts.extend(lists.prompts.iter().cloned());
            all.held_back.extend(lists.held_back.iter().cloned());
        }
        self.told.send_if_modified(|known| {
            let is_new = *known != all;
            *known = all;
            is_new
        });
        Ok(())
    }

    /// Drops offers without a name, and those whose name an earlier one has: a call could mean either.
    fn drop_repeated(&self, mut offers: Vec<Json>) -> Vec<Json> {
        let mut names = BTreeSet::new();
        offers.retain(|offer| {
            let name = offer["name"].as_str().unwrap_or_default();
            let is_new = !name.is_empty() && names.insert(name.to_owned());
            if !is_new {
                let name = visible_line(name);
                self.log_message(format!(
                    "[{}] skipped `{name}`: missing or duplicate name",
                    self.label
                ));
            }
            is_new
        });
        offers
    }

    /// Puts the label in front of a name; `None` for an offer that no client could use.
    fn label_offer<T: serde::de::DeserializeOwned>(&self, mut offer: Json) -> Option<T> {
        let name = offer["name"].as_str()?;
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-/".contains(&byte);
        let name = format!("{}{SEPARATOR}{name}", self.label);
        if name.len() > LONGEST_NAME
            || !name.bytes().all(is_fit)
            || offer.to_string().len() > LARGEST_OFFER
        {
            return None;
        }
        let about = offer["description"].as_str().unwrap_or_default();
        let about = format!("[{}] {about}", self.label);
        offer["name"] = Json::String(name);
        offer["description"] = Json::String(about.trim_end().to_owned());
        serde_json::from_value(offer).ok()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;
    use std::sync::mpsc::channel;

    use brief_mcp_client::ServerProgram;
    use brief_system::OsSystem;

    use super::*;

    /// A server that is a script: it lists one tool, and goes on as `rest` says when it is called.
    fn server(name: &str, rest: &str) -> GatewayServer {
        let script = format!(
            r#"read a; echo '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"2025-06-18","capabilities":{{}},"serverInfo":{{"name":"x","version":"1"}}}}}}'; read b
            read c; echo '{{"jsonrpc":"2.0","id":2,"result":{{"tools":[{{"name":"t","inputSchema":{{"type":"object"}}}}]}}}}'
            read d; echo '{{"jsonrpc":"2.0","id":3,"error":{{"code":-32601,"message":"none"}}}}'
            read e; {rest}"#
        );
        let args = vec!["-c".to_owned(), script];
        let program = ServerProgram { command: "sh".to_owned(), args, ..ServerProgram::default() };
        GatewayServer {
            name: name.to_owned(),
            place: ".mcp.json:1".to_owned(),
            address: ServerAddress::Program(program),
            decisions: ToolDecisions::default(),
        }
    }

    /// A call that its server never answers ends with a message when its time is over. The server is started again, and the others go on.
    #[test]
    fn a_call_without_an_answer_ends() {
        let system: Arc<dyn System> = Arc::new(OsSystem);
        let answer = r#"echo '{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"called"}]}}'; read f"#;
        let servers = vec![server("mute", "sleep 1000"), server("good", answer)];
        let call = Duration::from_secs(3);
        let times = GatewayTimes { call, ..GatewayTimes::default() };
        let (log, said) = channel();
        let (gateway, threads) =
            Gateway::start(&system, Path::new("/"), servers, times, &log).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (unanswered, answered) = runtime.block_on(async {
            let mut lists = gateway.lists();
            lists.wait_for(|lists| lists.tools.len() == 2).await.unwrap();
            let ask = |name: &'static str| gateway.pass_request("tools/call", name, json!({}));
            tokio::join!(ask("mute__t"), ask("good__t"))
        });
        assert_eq!(answered.unwrap()["content"][0]["text"], "called");
        let problem = unanswered.unwrap_err();
        assert!(problem.starts_with("the server `mute` failed: "), "{problem}");
        assert!(problem.contains("did not answer in time"), "{problem}");
        let restart = said.iter().find(|line| line.contains("restarting")).unwrap();
        assert!(restart.contains("`mute` failed"), "{restart}");
        threads.end_servers(system.as_ref());
    }
}
