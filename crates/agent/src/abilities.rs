//! The abilities of tools beyond computing, carried out on their behalf.
//!
//! A tool has no access to the outside: it sends a request, and the [`Host`] answers. Every request is
//! checked against the grants and against rules that no grant lifts, and written to the audit log before
//! anything is done. Only the operator grants abilities; a file can only ask for them (ruling A1).

mod address;
mod audit;
mod browser;
mod files;
mod grants;
mod network;
mod programs;
mod repository;
mod scope;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use brief_mcp_client::SharedServers;
use brief_system::{Interruption, System, render_io_error};
use serde_json::{Value, json};

use browser::{BrowserContext, Browsing};
use files::ToolFiles;

pub use address::is_public;
pub use audit::AbilityAudit;
pub(crate) use browser::ProxyHead;
pub use browser::{KEEPER_ARGUMENT, lacks_sandbox, run_keeper};
pub use grants::{GrantError, Grants};
pub use network::{FetchedDocument, NetworkPolicy, fetch_document};
pub use programs::{DEFAULT_PATH, PROGRAM_KEEPER_ARGUMENT, run_program_keeper};
pub use scope::{is_listed, runs_anything};

/// The interval of checks for an interruption.
const TICK: Duration = Duration::from_millis(20);

/// The MCP servers that the operator configured, for the ability `mcp`. Tests answer without starting one.
pub trait McpAccess: Send {
    /// Calls a tool of a server and returns its result. The error is a message.
    fn call_tool(
        &mut self,
        server: &str,
        tool: &str,
        args: &Value,
        time_left: Duration,
    ) -> Result<Value, String>;
}

impl McpAccess for SharedServers {
    fn call_tool(
        &mut self,
        server: &str,
        tool: &str,
        args: &Value,
        time_left: Duration,
    ) -> Result<Value, String> {
        self.lock().call_tool(server, tool, args, time_left)
    }
}

/// A refused or failed request. Its text form is the message for the tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AbilityRefusal {
    /// The ability was not granted.
    #[error(
        "ability '{0}' is not granted (the agent must list it under `allow`, and you start it with \
         `--grant {0}`)"
    )]
    Denied(String),
    /// The ability was granted, but not for this request.
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    Failed(String),
}

impl AbilityRefusal {
    /// Returns the name of the error for the tool.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            AbilityRefusal::Denied(_) => "AbilityDenied",
            AbilityRefusal::Refused(_) => "Refused",
            AbilityRefusal::Failed(_) => "Error",
        }
    }

    /// Returns the word for it in the audit log.
    fn verdict(&self) -> &'static str {
        match self {
            AbilityRefusal::Denied(_) => "denied",
            AbilityRefusal::Refused(_) => "refused",
            AbilityRefusal::Failed(_) => "failed",
        }
    }

    /// Returns whether the ability was not granted at all.
    pub(crate) fn is_denial(&self) -> bool {
        matches!(self, AbilityRefusal::Denied(_))
    }
}

/// The outcome of a request.
pub(crate) type AbilityResult<T = Value> = Result<T, AbilityRefusal>;

/// Returns the error for a request that a rule forbids.
fn create_refusal(message: impl Into<String>) -> AbilityRefusal {
    AbilityRefusal::Refused(message.into())
}

/// Returns the error for a request that could not be carried out.
fn create_failure(message: impl Into<String>) -> AbilityRefusal {
    AbilityRefusal::Failed(message.into())
}

/// A request of a tool.
pub(crate) struct AbilityRequest<'a> {
    pub(crate) tool: &'a str,
    pub(crate) ability: &'a str,
    /// The name of the call, such as `readText` of `fs`.
    pub(crate) call: &'a str,
    pub(crate) args: Vec<Value>,
    pub(crate) time_left: Duration,
}

/// Finds a tool by name, checks arguments for it, and returns its index.
pub(crate) type FindTool<'f> = &'f mut dyn FnMut(&str, &Value) -> Result<usize, String>;

/// Answers the requests of an agent's tools.
pub struct Host {
    system: Arc<dyn System>,
    grants: Grants,
    files: Option<ToolFiles>,
    env: Vec<String>,
    network: NetworkPolicy,
    path: Vec<String>,
    mcp: Option<Box<dyn McpAccess>>,
    browsing: Browsing,
    audit: AbilityAudit,
    stop: Interruption,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Host").field("grants", &self.grants).finish_non_exhaustive()
    }
}

impl Host {
    /// Creates a host with these grants. The `with_…` methods name what the abilities work on.
    pub fn new(system: Arc<dyn System>, grants: Grants) -> Host {
        Host {
            system,
            grants,
            files: None,
            env: Vec::new(),
            network: NetworkPolicy::default(),
            path: DEFAULT_PATH.map(str::to_owned).to_vec(),
            mcp: None,
            browsing: Browsing::default(),
            audit: AbilityAudit::none(),
            stop: Interruption::default(),
        }
    }

    /// Sets the project: the root for `fs`, and the working directory of programs.
    pub fn with_root(mut self, root: &Path) -> io::Result<Host> {
        self.files = Some(ToolFiles::open(self.system.as_ref(), root)?);
        Ok(self)
    }

    /// Sets the variables that `env` may read: those of `required.env`.
    #[must_use]
    pub fn with_env(mut self, names: impl IntoIterator<Item = String>) -> Host {
        self.env = names.into_iter().collect();
        self
    }

    /// Sets the hosts that `network` may reach besides the public network.
    #[must_use]
    pub fn with_network(mut self, policy: NetworkPolicy) -> Host {
        self.network = policy;
        self
    }

    /// Sets the directories in which `sh` and `browser` find programs; the default is [`DEFAULT_PATH`].
    #[must_use]
    pub fn with_path(mut self, directories: impl IntoIterator<Item = String>) -> Host {
        self.path = directories.into_iter().collect();
        self
    }

    /// Sets the servers that `mcp` reaches.
    #[must_use]
    pub fn with_mcp(mut self, servers: Box<dyn McpAccess>) -> Host {
        self.mcp = Some(servers);
        self
    }

    #[must_use]
    pub fn with_audit(mut self, audit: AbilityAudit) -> Host {
        self.audit = audit;
        self
    }

    /// Lets `stop` end requests from now on.
    pub(crate) fn interrupt_by(&mut self, stop: &Interruption) {
        self.stop = stop.or(&self.system.interruption().unwrap_or_default());
    }

    /// Checks a request, writes it to the log, and answers it.
    pub(crate) fn answer_request(
        &mut self,
        asked: AbilityRequest<'_>,
        find_tool: FindTool<'_>,
    ) -> AbilityResult {
        let unlogged =
            |error: io::Error| create_failure(format!("cannot write the audit log: {error}"));
        let granted = self.is_granted(&asked);
        let number = self.audit.write_request(&asked, &granted).map_err(unlogged)?;
        granted?;
        let outcome = self.fulfill_request(asked, find_tool);
        let mut connections = self.browsing.take_connections().into_iter();
        let logged = connections.try_for_each(|one| self.audit.write_connection(number, &one));
        logged.and(self.audit.write_end(number, &outcome)).map_err(unlogged)?;
        outcome
    }

    fn is_granted(&self, asked: &AbilityRequest<'_>) -> AbilityResult<()> {
        let denied = |name: &str| Err(AbilityRefusal::Denied(name.to_owned()));
        match asked.ability {
            "sh" => {
                let program = asked.args.first().and_then(Value::as_str).unwrap_or_default();
                if programs::is_bare(program) {
                    let is_granted = self.grants.has_program(program);
                    if is_granted { Ok(()) } else { denied(&format!("sh:{program}")) }
                } else if self.grants.has_programs() {
                    Err(create_refusal(format!(
                        "`{program}` must be the name of a program, without a path"
                    )))
                } else {
                    denied("sh")
                }
            }
            name if self.grants.contains(name) => Ok(()),
            name => denied(name),
        }
    }

    fn fulfill_request(
        &mut self,
        asked: AbilityRequest<'_>,
        find_tool: FindTool<'_>,
    ) -> AbilityResult {
        let AbilityRequest { ability, call, args, time_left, .. } = asked;
        let none = json!({});
        match (ability, call) {
            ("fs", call) => self.files.as_ref().ok_or_else(no_project)?.answer_call(call, &args),
            ("network", "fetch") => {
                let request = network::HttpRequest::from_arguments(&args)?;
                let (system, policy) = (Arc::clone(&self.system), self.network.clone());
                let fetch =
                    move || network::fetch_url(system.as_ref(), &policy, request, time_left);
                until_stopped(&self.stop, fetch)
            }
            ("sh", "exec") => {
                let root = self.files.as_ref().ok_or_else(no_project)?.root();
                let is_scoped = !self.grants.contains("sh");
                let keeper = self.system.own_program().map_err(|error| {
                    create_failure(format!("cannot start programs: {}", render_io_error(&error)))
                })?;
                let place = programs::ProgramContext {
                    system: self.system.as_ref(),
                    root,
                    path: &self.path,
                    stop: &self.stop,
                    keeper: Some(&keeper),
                };
                programs::run_program(&place, &args, is_scoped, time_left)
            }
            ("env", "get") => self.read_variable(&args),
            ("mcp", "call") => {
                let server = text_argument(&args, 0, "a server")?;
                let tool = text_argument(&args, 1, "a tool")?;
                let servers = self
                    .mcp
                    .as_mut()
                    .ok_or_else(|| create_failure("no MCP server is configured for this run"))?;
                let args = args.get(2).unwrap_or(&none);
                servers.call_tool(server, tool, args, time_left).map_err(AbilityRefusal::Failed)
            }
            ("tool", "call") => {
                let name = text_argument(&args, 0, "a tool")?;
                let place = find_tool(name, args.get(1).unwrap_or(&none));
                place.map(|place| json!(place)).map_err(AbilityRefusal::Failed)
            }
            ("browser", call) => {
                let context = BrowserContext {
                    system: &self.system,
                    policy: &self.network,
                    path: &self.path,
                    stop: &self.stop,
                    files: self.files.as_ref().filter(|_| self.grants.contains("fs")),
                };
                self.browsing.answer_call(&context, call, &args, time_left)
            }
            _ => Err(create_refusal(format!("unknown function `host.{ability}.{call}`"))),
        }
    }

    fn read_variable(&mut self, args: &[Value]) -> AbilityResult {
        let name = text_argument(args, 0, "a variable")?;
        if !self.env.iter().any(|known| known == name) {
            return Err(create_refusal(format!("`{name}` is not in the agent's `required.env`")));
        }
        let Some(value) = self.system.env(name) else { return Ok(Value::Null) };
        let value = value
            .into_string()
            .map_err(|_| create_failure(format!("`{name}` is not Unicode text")))?;
        // From now on the tool can write it anywhere.
        self.audit.hide_secret(&value);
        Ok(Value::String(value))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let number = self.audit.last_number();
        for connection in self.browsing.end_browser() {
            // The run is over: a log that cannot be written stops nothing any more.
            let _ = self.audit.write_connection(number, &connection);
        }
    }
}

/// Runs a function on its own thread. Returns early when an interruption is requested.
fn until_stopped(
    stop: &Interruption,
    work: impl FnOnce() -> AbilityResult + Send + 'static,
) -> AbilityResult {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::Builder::new().spawn(move || drop(sender.send(work())));
    thread.map_err(|error| create_failure(format!("cannot start a thread: {error}")))?;
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Timeout) if !stop.is_raised() => {}
            Err(RecvTimeoutError::Timeout) => {
                return Err(create_failure("was interrupted"));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(create_failure("the call ended without a result"));
            }
        }
    }
}

fn no_project() -> AbilityRefusal {
    create_failure("no project to work in")
}

/// Returns an argument that must be a string.
fn text_argument<'a>(args: &'a [Value], place: usize, what: &str) -> AbilityResult<&'a str> {
    let text = args.get(place).and_then(Value::as_str);
    text.ok_or_else(|| create_refusal(format!("argument {} must name {what}", place + 1)))
}

/// Returns the subject of a request for the log: never a content, a header or a body.
fn request_subject(asked: &AbilityRequest<'_>) -> Value {
    let first = asked.args.first().and_then(Value::as_str);
    match asked.ability {
        "network" => {
            json!(network::render_request_target(first.unwrap_or_default(), asked.args.get(1)))
        }
        "sh" => {
            let args = asked.args.get(1).and_then(Value::as_array);
            let args = args.into_iter().flatten().filter_map(Value::as_str);
            json!(first.into_iter().chain(args).collect::<Vec<_>>())
        }
        "browser" => browser::call_subject(asked.call, &asked.args),
        "mcp" => json!(asked.args.iter().take(2).filter_map(Value::as_str).collect::<Vec<_>>()),
        _ => json!(first),
    }
}
