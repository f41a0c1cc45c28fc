//! The MCP servers of a project behind ours: their tools and prompts, under our names.
//!
//! Each server has a thread and a short queue of its own, so one that hangs or floods hurts only itself: a call
//! has a time limit, a line has a size limit, and a server that breaks either is ended and started again, later
//! each time. Their messages are passed on as they are; their instructions are not, because we cannot vouch
//! for them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use brief_agent::mcp_client::{McpConnection, ServerProgram};
use brief_syntax::System;
use rmcp::model::{Prompt, Tool};
use serde_json::{Value as Json, json};
use tokio::sync::{oneshot, watch};

use super::ServeError;

/// The separator of a server's label and the name of its tool or prompt.
const SEPARATOR: &str = "__";

/// The limit for the characters of a tool's name.
const LONGEST_NAME: usize = 128;

/// The limit for the characters of a server's label.
const LONGEST_LABEL: usize = 40;

/// The calls that wait for one server.
const QUEUE: usize = 32;

/// The limit for the tools, and for the prompts, of one server.
const MOST_OFFERS: usize = 500;

/// The pages of a list that are read.
const MOST_PAGES: usize = 50;

/// The limit for the bytes of a tool's description and schemas.
const LARGEST_OFFER: usize = 64 * 1024;

/// The interval of looks at a server that has nothing to do.
const LOOK: Duration = Duration::from_millis(200);

/// The times of a gateway.
#[derive(Debug, Clone, Copy)]
pub struct GatewayTimes {
    /// The limit for the start of a server, and for each of its lists.
    pub start: Duration,
    /// The limit for a call.
    pub call: Duration,
    /// The pause before a server that has ended is started again; it doubles with each time.
    pub pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
}

impl Default for GatewayTimes {
    fn default() -> GatewayTimes {
        GatewayTimes {
            start: Duration::from_secs(30),
            call: Duration::from_mins(2),
            pause: Duration::from_secs(1),
            longest_pause: Duration::from_mins(1),
        }
    }
}

/// A server to start.
#[derive(Debug, Clone)]
pub struct GatewayServer {
    /// Its name in the configuration.
    pub name: String,
    /// The program.
    pub program: ServerProgram,
}

/// The tools and prompts of all servers, under our names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct GatewayLists {
    pub(super) tools: Vec<Tool>,
    pub(super) prompts: Vec<Prompt>,
}

/// The running servers.
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
    ) -> Result<Gateway, ServeError> {
        let (told, lists) = watch::channel(GatewayLists::default());
        let told = Arc::new(told);
        let offered: OfferedLists =
            Arc::new(Mutex::new(vec![GatewayLists::default(); configured.len()]));
        let mut labels = BTreeSet::new();
        let mut servers = Vec::new();
        for (place, GatewayServer { name, program }) in configured.into_iter().enumerate() {
            let label = label(&name, &mut labels);
            let (jobs, waiting) = sync_channel(QUEUE);
            let worker = Worker {
                system: Arc::clone(system),
                directory: directory.to_owned(),
                label: label.clone(),
                name,
                program,
                times,
                waiting,
                place,
                offered: Arc::clone(&offered),
                told: Arc::clone(&told),
                log: log.clone(),
            };
            let builder = thread::Builder::new().name(format!("mcp-{label}"));
            builder.spawn(move || worker.run()).map_err(ServeError::Start)?;
            servers.push(Downstream { label, jobs });
        }
        Ok(Gateway { servers, lists })
    }

    /// Returns the lists as they are now, and later ones.
    pub(super) fn lists(&self) -> watch::Receiver<GatewayLists> {
        self.lists.clone()
    }

    /// Returns whether a name is one of a server's.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find<'n>(&self, name: &'n str) -> Option<(&Downstream, &'n str)> {
        self.servers.iter().find_map(|server| {
            let rest = name.strip_prefix(&server.label)?.strip_prefix(SEPARATOR)?;
            Some((server, rest))
        })
    }

    /// Passes a call or a prompt on to its server, and its result back. The error is a message.
    pub(super) async fn pass(
        &self,
        method: &'static str,
        name: &str,
        arguments: Json,
    ) -> Result<Json, String> {
        let (server, rest) = self.find(name).ok_or_else(|| format!("there is no `{name}`"))?;
        let (answer, answered) = oneshot::channel();
        let params = json!({"name": rest, "arguments": arguments});
        let label = &server.label;
        server.jobs.try_send(GatewayJob { method, params, answer }).map_err(
            |error| match error {
                TrySendError::Full(_) => {
                    format!("the server `{label}` is busy: {QUEUE} calls wait for it")
                }
                TrySendError::Disconnected(_) => format!("the server `{label}` has ended"),
            },
        )?;
        answered.await.unwrap_or_else(|_| Err(format!("the server `{label}` has ended")))
    }
}

/// Makes a label of a name: letters, digits, `-` and `_`, and no two alike.
fn label(name: &str, taken: &mut BTreeSet<String>) -> String {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let fit = |letter: char| if is_fit(letter) { letter } else { '_' };
    let base: String = name.chars().take(LONGEST_LABEL).map(fit).collect();
    // Two underscores in a row would be taken for the separator.
    let mut base = base.trim_matches('_').to_owned();
    while base.contains(SEPARATOR) {
        base = base.replace(SEPARATOR, "_");
    }
    if base.is_empty() {
        base.push_str("server");
    }
    let mut label = base.clone();
    let mut number = 2;
    while !taken.insert(label.clone()) {
        label = format!("{base}-{number}");
        number += 1;
    }
    label
}

/// The thread of a server.
struct Worker {
    system: Arc<dyn System>,
    directory: PathBuf,
    label: String,
    name: String,
    program: ServerProgram,
    times: GatewayTimes,
    waiting: Receiver<GatewayJob>,
    place: usize,
    offered: OfferedLists,
    told: Arc<watch::Sender<GatewayLists>>,
    log: Sender<String>,
}

/// The end of a server's run.
enum RunEnd {
    /// The gateway has ended.
    Closed,
    /// The server has failed, for this reason.
    Failed(String),
}

impl Worker {
    /// Keeps the server running until the gateway ends.
    fn run(self) {
        let mut pause = self.times.pause;
        loop {
            let started = self.system.elapsed();
            let problem = match self.run_once() {
                RunEnd::Closed => return,
                RunEnd::Failed(problem) => problem,
            };
            // A server that ran for a while is started again soon.
            if self.system.elapsed().saturating_sub(started) > self.times.longest_pause {
                pause = self.times.pause;
            }
            self.tell(format!(
                "the server `{}` failed: {problem}; it is started again in {} ms",
                self.label,
                pause.as_millis()
            ));
            if !self.refuse_for(pause, &problem) {
                return;
            }
            pause = (pause * 2).min(self.times.longest_pause);
        }
    }

    fn tell(&self, message: String) {
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
            match self.waiting.recv_timeout(left) {
                Ok(job) => {
                    let message = format!("the server `{}` does not run: {problem}", self.label);
                    let _ = job.answer.send(Err(message));
                }
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    fn run_once(&self) -> RunEnd {
        let Worker { system, directory, program, times, .. } = self;
        let started = McpConnection::start(system, directory, &self.name, program, times.start);
        let mut server = match started {
            Ok(server) => server,
            Err(problem) => return RunEnd::Failed(problem),
        };
        if let Err(problem) = self.list(&mut server) {
            return RunEnd::Failed(problem);
        }
        self.tell(format!("started the server `{}`", self.label));
        loop {
            match self.waiting.recv_timeout(LOOK) {
                Ok(GatewayJob { method, params, answer }) => {
                    if answer.is_closed() {
                        continue;
                    }
                    let until = system.elapsed() + times.call;
                    let result = server.ask_raw(method, &params, until);
                    let problem = result.as_ref().err().cloned();
                    let told = result.unwrap_or_else(|problem| {
                        Err(format!("the server `{}` failed: {problem}", self.label))
                    });
                    let _ = answer.send(told);
                    // What it still says would be taken for the answer to the next call.
                    if let Some(problem) = problem {
                        return RunEnd::Failed(problem);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return RunEnd::Closed,
                Err(RecvTimeoutError::Timeout) => match server.listen(Duration::from_millis(1)) {
                    Ok(methods)
                        if methods.iter().any(|method| method.ends_with("/list_changed")) =>
                    {
                        if let Err(problem) = self.list(&mut server) {
                            return RunEnd::Failed(problem);
                        }
                    }
                    Ok(_) => {}
                    Err(problem) => return RunEnd::Failed(problem),
                },
            }
        }
    }

    /// Reads the lists of the server, and tells of them.
    fn list(&self, server: &mut McpConnection) -> Result<(), String> {
        let tools = self.pages(server, "tools/list", "tools")?;
        let prompts = self.pages(server, "prompts/list", "prompts")?;
        let lists = GatewayLists {
            tools: tools.into_iter().filter_map(|tool| self.renamed(tool)).collect(),
            prompts: prompts.into_iter().filter_map(|prompt| self.renamed(prompt)).collect(),
        };
        let mut offered = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = offered.get_mut(self.place) {
            *place = lists;
        }
        let mut all = GatewayLists::default();
        for lists in offered.iter() {
            all.tools.extend(lists.tools.iter().cloned());
            all.prompts.extend(lists.prompts.iter().cloned());
        }
        self.told.send_if_modified(|known| {
            let is_new = *known != all;
            *known = all;
            is_new
        });
        Ok(())
    }

    /// Reads all pages of a list. A server without such a list has none.
    fn pages(
        &self,
        server: &mut McpConnection,
        method: &str,
        key: &str,
    ) -> Result<Vec<Json>, String> {
        let until = self.system.elapsed() + self.times.start;
        let (mut all, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..MOST_PAGES {
            let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            let Ok(mut page) = server.ask_raw(method, &params, until)? else { break };
            if let Json::Array(list) = page[key].take() {
                all.extend(list);
            }
            cursor = page["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() || all.len() >= MOST_OFFERS {
                break;
            }
        }
        all.truncate(MOST_OFFERS);
        Ok(all)
    }

    /// Puts the label in front of a name; `None` for an offer that no client could use.
    fn renamed<T: serde::de::DeserializeOwned>(&self, mut offer: Json) -> Option<T> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_fit_for_names_and_differ() {
        let mut taken = BTreeSet::new();
        let names = ["files", "files", "my server", "__x__y__", "größe", "///"];
        let labels: Vec<String> = names.iter().map(|name| label(name, &mut taken)).collect();
        assert_eq!(labels, ["files", "files-2", "my_server", "x_y", "gr_e", "server"]);
    }
}
