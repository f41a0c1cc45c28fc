//! An agent as an MCP server on standard input and output: its tools, its commands as prompts, and its
//! texts as instructions.
//!
//! Only an agent that is [`Ready`] is served: a client that lists the tools knows that the startup tool has
//! succeeded. The protocol has a thread of its own, with the only async runtime of the whole program; the
//! thread that calls [`serve`] calls the tools, one after the other, so that a slow one holds up other calls
//! but no question about the agent. Standard output belongs to the protocol; what people should know goes to
//! the caller.

mod frames;
pub(crate) mod fuzzing;
mod handler;
mod prompts;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use brief_runtime::conversation::Ready;
use brief_syntax::system::Interruption;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use frames::Frames;
use handler::{Handler, Job};

/// How often we look whether the user wants an end.
const TICK: Duration = Duration::from_millis(50);

/// How serving came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// The client has closed its end.
    Closed,
    /// The user wanted an end.
    Interrupted,
}

/// Why an agent cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The system has no thread for it.
    #[error("the server cannot be started: {0}")]
    Start(#[source] io::Error),
    /// The client speaks something else.
    #[error("the client does not speak MCP: {0}")]
    Protocol(String),
    /// A defect of ours.
    #[error("the server ended without a reason")]
    Died,
}

/// Serves an agent on standard input and output until the client closes its end or the user wants an end.
///
/// `log` is told of every call, in words for people.
pub fn serve(
    ready: &mut Ready<'_>,
    interruption: &Interruption,
    log: &mut dyn FnMut(&str),
) -> Result<Served, ServeError> {
    serve_over(ready, rmcp::transport::stdio, interruption, log)
}

/// Serves an agent over a pair of streams, which are made where the runtime is.
fn serve_over<R, W>(
    ready: &mut Ready<'_>,
    streams: impl FnOnce() -> (R, W) + Send + 'static,
    interruption: &Interruption,
    log: &mut dyn FnMut(&str),
) -> Result<Served, ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (jobs, waiting) = channel::<Job>();
    let left = Interruption::default();
    let handler = Handler::new(ready, jobs, left.clone());
    let (stop, stopped) = oneshot::channel();
    let protocol = thread::Builder::new()
        .name("mcp".to_owned())
        .spawn(move || speak(handler, streams, left, stopped))
        .map_err(ServeError::Start)?;
    loop {
        match waiting.recv_timeout(TICK) {
            Ok(job) => job.run(ready, interruption, log),
            Err(RecvTimeoutError::Timeout) => {}
            // The protocol has ended, and nobody can ask for anything any more.
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if interruption.is_raised() {
            // It may have ended by itself just now.
            let _ = stop.send(());
            break;
        }
    }
    protocol.join().unwrap_or(Err(ServeError::Died))
}

/// Speaks the protocol until one side wants no more.
fn speak<R, W>(
    handler: Handler,
    streams: impl FnOnce() -> (R, W),
    left: Interruption,
    stopped: oneshot::Receiver<()>,
) -> Result<Served, ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::Start)?;
    let served = runtime.block_on(async {
        let session = async {
            match handler.serve(Frames::new(streams(), left)).await {
                Ok(service) => match service.waiting().await {
                    Ok(_) => Ok(Served::Closed),
                    Err(_) => Err(ServeError::Died),
                },
                // A client that only looks whether we start is no error.
                Err(ServerInitializeError::ConnectionClosed(_)) => Ok(Served::Closed),
                Err(error) => Err(ServeError::Protocol(error.to_string())),
            }
        };
        tokio::select! {
            served = session => served,
            Ok(()) = stopped => Ok(Served::Interrupted),
        }
    });
    // A thread that waits for standard input cannot be woken, and must not be waited for.
    runtime.shutdown_background();
    served
}
