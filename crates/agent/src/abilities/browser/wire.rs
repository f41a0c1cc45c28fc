//! Messages to and from a browser: JSON with a NUL after each, through two pipes.
//!
//! Chromium calls it `--remote-debugging-pipe`. No port is opened, so no other program of this machine can drive the
//! browser.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use brief_syntax::limits;
use brief_syntax::rpc::{DelimitedInput, TooLong};
use brief_system::{Companion, Interruption, System, render_io_error};
use serde_json::{Value, json};

use super::super::AbilityRefusal;

/// The interval of checks for an interruption.
const TICK: Duration = Duration::from_millis(20);

/// The size of the read buffer: what a pipe holds.
const PIECE: usize = 64 * 1024;

/// The reason why nothing came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WireFault {
    /// The browser has ended, or has sent an invalid message.
    Ended(String),
    /// It did not answer in time.
    TimedOut,
    /// The user interrupts the call.
    Interrupted,
    Refused(String),
}

impl From<WireFault> for AbilityRefusal {
    fn from(fault: WireFault) -> AbilityRefusal {
        AbilityRefusal::Failed(match fault {
            WireFault::Ended(message) => message,
            WireFault::TimedOut => "the page did not answer in time".to_owned(),
            WireFault::Interrupted => "was interrupted".to_owned(),
            WireFault::Refused(message) => format!("the browser refused: {message}"),
        })
    }
}

/// The pipes of a browser.
pub(super) struct BrowserWire {
    pub(super) companion: Box<dyn Companion>,
    pub(super) system: Arc<dyn System>,
    /// The interruption of the current call.
    pub(super) stop: Interruption,
    input: DelimitedInput,
    last: u64,
}

impl BrowserWire {
    pub(super) fn new(companion: Box<dyn Companion>, system: Arc<dyn System>) -> BrowserWire {
        let input = DelimitedInput::new(0, limits::BROWSER_MESSAGE_BYTES);
        BrowserWire { companion, system, stop: Interruption::default(), input, last: 0 }
    }

    /// Sends a command to the browser or to one of its sessions, and returns its number.
    pub(super) fn post_command(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
        deadline: Duration,
    ) -> Result<u64, WireFault> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let patience = deadline.saturating_sub(self.system.elapsed());
        self.companion.send(&bytes, patience).map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => WireFault::TimedOut,
            _ => WireFault::Ended("the browser has exited".to_owned()),
        })?;
        Ok(self.last)
    }

    pub(super) fn receive_message(&mut self, deadline: Duration) -> Result<Value, WireFault> {
        let mut piece = vec![0; PIECE];
        loop {
            match self.input.take_message() {
                Ok(None) => {}
                Ok(Some(message)) => {
                    return serde_json::from_slice(&message).map_err(|_| {
                        WireFault::Ended("the browser sent an invalid message".to_owned())
                    });
                }
                Err(TooLong) => {
                    let most = limits::BROWSER_MESSAGE_BYTES;
                    let message = format!("the browser sent a message of more than {most} bytes");
                    return Err(WireFault::Ended(message));
                }
            }
            if self.stop.is_raised() {
                return Err(WireFault::Interrupted);
            }
            let left = deadline.saturating_sub(self.system.elapsed());
            match self.companion.receive(&mut piece, TICK.min(left)) {
                Ok(0) => return Err(WireFault::Ended("the browser has exited".to_owned())),
                Ok(count) => self.input.push(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::TimedOut && !left.is_zero() => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    return Err(WireFault::TimedOut);
                }
                Err(error) => {
                    let message = format!("cannot reach the browser: {}", render_io_error(&error));
                    return Err(WireFault::Ended(message));
                }
            }
        }
    }

    /// Reads one message that is there already.
    pub(super) fn receive_at_once(&mut self) -> Result<Option<Value>, WireFault> {
        match self.receive_message(Duration::ZERO) {
            Ok(message) => Ok(Some(message)),
            Err(WireFault::TimedOut | WireFault::Interrupted) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}
