//! MCP servers: a project ([`project`]), and an agent file ([`agent`]).
//!
//! Both speak through one loop. The protocol has its own thread, with the only async runtime of the whole
//! program. On standard input and output, standard output belongs to the protocol; messages for people go to
//! the caller.

pub mod agent;
mod check;
pub mod configured;
mod frames;
pub(crate) mod fuzzing;
mod gateway;
mod http;
pub mod project;
#[cfg(test)]
mod test_client;

use std::io;
use std::path::Path;

use brief_engine::tasks::Library;
use brief_runtime::PromptAssembly;
use brief_runtime::assembly::SearchDirectories;
use brief_system::{Interruption, System};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolResult, ContentBlock, GetPromptResult, PaginatedRequestParams, PromptMessage, Role,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ErrorData, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

pub use check::{ServerCheck, check_servers};
use frames::Frames;
pub use gateway::{GatewayServer, GatewayTimes};
pub use http::HttpOptions;

/// The interval of checks for an interruption.
const TICK: std::time::Duration = std::time::Duration::from_millis(50);

/// The end of serving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// The client closed the connection.
    Closed,
    /// The user interrupted the server.
    Interrupted,
}

/// A server that cannot serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The system cannot start a thread.
    #[error("the server cannot be started: {0}")]
    Start(#[source] io::Error),
    /// The client does not speak MCP.
    #[error("the client does not speak MCP: {0}")]
    Protocol(String),
    /// The server ended unexpectedly, by a defect of ours.
    #[error("the server ended without a reason")]
    Died,
}

/// Speaks the protocol over a pair of streams, which are created inside the runtime, until either side ends
/// it.
fn speak<H, R, W>(
    handler: H,
    streams: impl FnOnce() -> (R, W),
    left: Interruption,
    stopped: oneshot::Receiver<()>,
) -> Result<Served, ServeError>
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let session = async {
            match handler.serve(Frames::new(streams(), left)).await {
                Ok(service) => match service.waiting().await {
                    Ok(_) => Ok(Served::Closed),
                    Err(_) => Err(ServeError::Died),
                },
                // A client that only tests whether the server starts is no error.
                Err(ServerInitializeError::ConnectionClosed(_)) => Ok(Served::Closed),
                Err(error) => Err(ServeError::Protocol(error.to_string())),
            }
        };
        tokio::select! {
            served = session => served,
            Ok(()) = stopped => Ok(Served::Interrupted),
        }
    });
    // A thread that waits for standard input cannot be woken, so the runtime does not wait for it.
    runtime.shutdown_background();
    served
}

/// The parameters of a request for a list, which is always answered whole.
type ListParams = Option<PaginatedRequestParams>;

type Context = RequestContext<RoleServer>;

type Answered<T> = Result<T, ErrorData>;

/// Returns the result of a call: a text for the model, of a success or of a failure.
fn call_result(outcome: Result<String, String>) -> CallToolResult {
    match outcome {
        Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
    }
}

/// Returns a prompt of one message of the user.
fn prompt_result(text: String, description: Option<String>) -> GetPromptResult {
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    result.description = description;
    result
}

fn invalid(message: String) -> ErrorData {
    ErrorData::invalid_params(message, None)
}

fn about_to_end() -> ErrorData {
    ErrorData::internal_error("the server is about to end", None)
}

/// Opens the tasks, rules and commands of the project and of the user, as far as they are on this machine.
fn offline_library<'s>(system: &'s dyn System, directory: &Path) -> Option<Library<'s>> {
    let assembly = PromptAssembly::open(system, directory).ok()?;
    let roots = assembly.search_roots(&offline(), &mut |_| {}).ok()?;
    Some(Library::open(system, &roots))
}

fn offline() -> SearchDirectories {
    SearchDirectories { offline: true, ..SearchDirectories::default() }
}

/// Makes the runtime of a server.
fn runtime() -> Result<tokio::runtime::Runtime, ServeError> {
    crate::http::runtime().map_err(ServeError::Start)
}
