//! A project as an MCP server: questions about its guidance as tools, tasks and commands as prompts, skills,
//! listed files and agents as resources.
//!
//! A question is answered as the command line answers it: it reads along the path. An answer is kept, and given again if
//! a look at everything that it was read from finds no change, so that an answer is never older than the files. Lists are made from a `offers::Offers` of the whole project, which a thread of its own makes
//! anew when a file changes. Nothing is executed and nothing is written.

mod answers;
mod changes;
mod following;
mod handler;
mod instructions;
mod kept;
mod offers;
mod prompts;
mod question;
mod skills;
mod text;
mod tools;
mod wish;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use brief_system::{Interruption, System};
use rmcp::model::Tool;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{oneshot, watch};

use super::gateway::Gateway;
use super::http::speak_http;
use super::{GatewayServer, GatewayTimes, HttpOptions, ServeError, Served, TICK, serve_streams};
use handler::ProjectHandler;
use kept::KeptAnswers;
use offers::Offers;
use tools::ProjectTool;

use crate::frame::FrameMark;

/// The options of a project's server.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The directory that the server was started in.
    pub directory: PathBuf,
    /// The client of questions that name none: what it loads by itself is left out of the answers.
    pub client: Option<String>,
    /// Servers whose tools and prompts are listed, too.
    pub gateway: Vec<GatewayServer>,
    /// The times of these servers.
    pub times: GatewayTimes,
}

/// The parts of a server that all its connections share.
struct SharedProject {
    system: Arc<dyn System>,
    options: ServerOptions,
    /// Our own tools. Over HTTP, each request of the newest revision has a handler of its own.
    tools: Arc<[Tool]>,
    /// The lists, once they have been made.
    offers: watch::Sender<Option<Arc<Offers>>>,
    /// The servers behind this one.
    gateway: Option<Gateway>,
    kept: KeptAnswers,
    /// The mark of our own lines, for as long as the server runs.
    mark: FrameMark,
}

/// Serves the project on standard input and output until the client closes the connection or the user
/// interrupts. `log` gets messages for people about the servers behind it.
pub fn serve_stdio(
    system: Arc<dyn System>,
    options: ServerOptions,
    interruption: &Interruption,
    log: &mut dyn FnMut(&str),
) -> Result<Served, ServeError> {
    serve_over(system, options, rmcp::transport::stdio, interruption, log)
}

/// Serves the project over HTTP until the user interrupts.
pub fn serve_http(
    system: Arc<dyn System>,
    options: ServerOptions,
    http: HttpOptions,
    interruption: &Interruption,
    log: &mut dyn FnMut(&str),
) -> Result<Served, ServeError> {
    run_server(system, options, interruption, log, move |shared, stopped| {
        speak_http(http, move || ProjectHandler::new(Arc::clone(&shared)), stopped)
    })
}

/// Serves the project over a pair of streams, which are created inside the runtime.
fn serve_over<R, W>(
    system: Arc<dyn System>,
    options: ServerOptions,
    streams: impl FnOnce() -> (R, W) + Send + 'static,
    interruption: &Interruption,
    log: &mut dyn FnMut(&str),
) -> Result<Served, ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    run_server(system, options, interruption, log, move |shared, stopped| {
        serve_streams(ProjectHandler::new(shared), streams, Interruption::default(), stopped)
    })
}

/// Makes the mark of a server. Without chance it is that of the directory.
fn new_mark(system: &dyn System, directory: &Path) -> FrameMark {
    match system.random_bytes() {
        Ok(chance) => FrameMark::from_seed(&chance),
        Err(_) => FrameMark::from_seed(directory.as_os_str().as_encoded_bytes()),
    }
}

/// Runs the threads of a server: one speaks the protocol, one follows the files, this one waits.
fn run_server(
    system: Arc<dyn System>,
    options: ServerOptions,
    interruption: &Interruption,
    log: &mut dyn FnMut(&str),
    protocol: impl FnOnce(Arc<SharedProject>, oneshot::Receiver<()>) -> Result<Served, ServeError>
    + Send
    + 'static,
) -> Result<Served, ServeError> {
    let (said, messages) = channel();
    let (gateway, servers) = match options.gateway.as_slice() {
        [] => (None, None),
        servers => {
            let (directory, servers) = (&options.directory, servers.to_vec());
            let (gateway, threads) =
                Gateway::start(&system, directory, servers, options.times, &said)?;
            (Some(gateway), Some(threads))
        }
    };
    let offers = watch::Sender::new(None);
    let clock = Arc::clone(&system);
    let tools = ProjectTool::list_tools();
    let kept = KeptAnswers::default();
    let mark = new_mark(system.as_ref(), &options.directory);
    let shared = Arc::new(SharedProject { system, options, tools, offers, gateway, kept, mark });
    let ended = Interruption::default();
    let (followed, followed_until) = (Arc::clone(&shared), ended.clone());
    let following = thread::Builder::new().name("mcp-files".to_owned());
    following.spawn(move || followed.follow_files(&followed_until)).map_err(ServeError::Start)?;
    let (stop, stopped) = oneshot::channel();
    let protocol = thread::Builder::new()
        .name("mcp".to_owned())
        .spawn(move || protocol(shared, stopped))
        .map_err(ServeError::Start)?;
    while !protocol.is_finished() && !interruption.is_raised() {
        if let Ok(message) = messages.recv_timeout(TICK) {
            log(&message);
        }
    }
    // It may have ended by itself just now.
    let _ = stop.send(());
    ended.raise();
    if let Some(servers) = servers {
        servers.end_servers(clock.as_ref());
        for message in messages.try_iter() {
            log(&message);
        }
    }
    protocol.join().unwrap_or(Err(ServeError::Died))
}
