//! An agent as an MCP server on standard input and output: its tools, its commands as prompts, and its texts
//! as instructions.
//!
//! Only an agent that is [`Ready`] is served: a client that lists the tools knows that the startup tool has
//! succeeded. The protocol has its own thread, with the only async runtime of the whole program. The thread
//! that calls [`serve`] calls the tools, one after the other, so that a slow tool delays other calls but no
//! other request. Standard output belongs to the protocol; messages for people go to the caller.

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

use brief_agent::conversation::Ready;
use brief_syntax::system::Interruption;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use frames::Frames;
use handler::{Handler, Job};

/// The interval of checks for an interruption.
const TICK: Duration = Duration::from_millis(50);

/// The end of serving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// The client closed the connection.
    Closed,
    /// The user interrupted the server.
    Interrupted,
}

/// An agent that cannot be served.
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

/// Serves an agent on standard input and output until the client closes the connection or the user
/// interrupts.
///
/// `log` gets a message for people about every call.
pub fn serve(
    ready: &mut Ready<'_>,
    interruption: &Interruption,
    log: &mut dyn FnMut(&str),
) -> Result<Served, ServeError> {
    serve_over(ready, rmcp::transport::stdio, interruption, log)
}

/// Serves an agent over a pair of streams, which are created inside the runtime.
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
            // The protocol has ended, so no more requests can come.
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

/// Speaks the protocol until either side ends it.
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
