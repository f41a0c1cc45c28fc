//! An agent as an MCP server on standard input and output: its tools, its commands as prompts, and its texts
//! as instructions.
//!
//! Only an agent that is [`Ready`] is served: a client that lists the tools knows that the startup tool has
//! succeeded. The thread that calls [`serve`] calls the tools, one after the other, so that a slow tool delays
//! other calls but no other request.

mod handler;
mod prompts;
#[cfg(test)]
mod tests;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

use brief_agent::conversation::Ready;
use brief_serve::mcp::session::{TICK, serve_streams};
use brief_serve::mcp::{ServeError, Served};
use brief_system::Interruption;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use handler::{Handler, Job};

/// Serves an agent on standard input and output until the client closes the connection or the user
/// interrupts.
///
/// `log` gets a message for people about every call.
pub(crate) fn serve_agent(
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
        .spawn(move || serve_streams(handler, streams, left, stopped))
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
