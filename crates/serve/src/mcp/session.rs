//! One session of the protocol, and what its answers are made of: for projects, and for the agents of `brief-agent`.

use std::io;

use brief_system::Interruption;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolResult, ContentBlock, GetPromptResult, JsonObject, PaginatedRequestParams,
    PromptMessage, Role,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ErrorData, ServiceExt};
use serde_json::Value as Json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use super::frames::Frames;

/// The interval of checks for an interruption.
pub const TICK: std::time::Duration = std::time::Duration::from_millis(50);

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
    #[error("cannot start the server: {0}")]
    Start(#[source] io::Error),
    /// The client does not speak MCP.
    #[error("the client does not speak MCP: {0}")]
    Protocol(String),
    /// The server ended unexpectedly, by a defect of ours.
    #[error("the server stopped unexpectedly")]
    Died,
}

/// Speaks the protocol over a pair of streams, which are created inside the runtime, until either side ends
/// it.
pub fn serve_streams<H, R, W>(
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
    let runtime = create_runtime()?;
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
pub type ListParams = Option<PaginatedRequestParams>;

/// The context of a request.
pub type Context = RequestContext<RoleServer>;

/// The answer to a request, or an error of the protocol.
pub type Answered<T> = Result<T, ErrorData>;

/// Returns the result of a call: a text for the model, of a success or of a failure.
pub fn call_result(outcome: Result<String, String>) -> CallToolResult {
    match outcome {
        Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
    }
}

/// Returns a prompt of one message of the user.
pub fn prompt_result(text: String, description: Option<String>) -> GetPromptResult {
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    result.description = description;
    result
}

/// Returns an argument of a prompt, which is a text; the error is a message.
pub fn text_argument(given: &JsonObject, name: &str) -> Result<Option<String>, String> {
    match given.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("argument `{name}` must be a string")),
    }
}

/// Returns the error for invalid parameters.
pub fn invalid_params_error(message: String) -> ErrorData {
    ErrorData::invalid_params(message, None)
}

/// Returns the error for a request that comes too late.
pub fn about_to_end() -> ErrorData {
    ErrorData::internal_error("the server is shutting down", None)
}

/// Makes the runtime of a server.
pub(super) fn create_runtime() -> Result<tokio::runtime::Runtime, ServeError> {
    crate::http::create_runtime().map_err(ServeError::Start)
}
