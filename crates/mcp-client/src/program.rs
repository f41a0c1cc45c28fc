//! A program as a server: one message per line on its standard input and output.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use brief_syntax::limits;
use brief_syntax::rpc::{DelimitedInput, TooLong};
use brief_system::{Call, Companion, Environment, Passed, System};
use serde_json::Value;

use crate::address::ServerProgram;
use crate::connection::{Wire, WireFailure};

/// The size of the read buffer.
pub(crate) const PIECE: usize = 16 * 1024;

/// The messages of a program.
pub(crate) struct MessageLines {
    program: Box<dyn Companion>,
    system: Arc<dyn System>,
    input: DelimitedInput,
}

impl MessageLines {
    /// Starts a program in a directory. The error is a message.
    pub(crate) fn start(
        system: &Arc<dyn System>,
        directory: &Path,
        server: &ServerProgram,
    ) -> Result<MessageLines, String> {
        let env = server.env.iter().map(|(key, value)| (key.into(), value.into()));
        let limit = limits::TOOL_MESSAGE_BYTES;
        let call = Call {
            args: server.args.iter().map(Into::into).collect(),
            environment: Environment::Empty,
            env: env.collect(),
            keep_errors: true,
            ..Call::new(&server.command, directory.to_owned(), Duration::ZERO, limit)
        };
        // Tokens for a server come from its `env`.
        let call = Passed::default().apply(system.as_ref(), call);
        let program = system.start_program(&call).map_err(|error| error.to_string())?;
        Ok(MessageLines::new(program, Arc::clone(system)))
    }

    pub(crate) fn new(program: Box<dyn Companion>, system: Arc<dyn System>) -> MessageLines {
        let input = DelimitedInput::new(b'\n', limits::TOOL_MESSAGE_BYTES);
        MessageLines { program, system, input }
    }

    /// Returns the next line without its line break.
    fn read_line(&mut self, until: Duration) -> Result<Vec<u8>, WireFailure> {
        let broken = |reason: &str| Err(WireFailure::Broken(reason.to_owned()));
        let mut piece = [0; PIECE];
        loop {
            let patience = until.saturating_sub(self.system.elapsed());
            if patience.is_zero() {
                return Err(WireFailure::Late);
            }
            match self.input.take_message() {
                Ok(Some(line)) => return Ok(line),
                Ok(None) => {}
                Err(TooLong) => return broken("a message of the server is too large"),
            }
            match self.program.receive(&mut piece, patience) {
                Ok(0) => return broken("the server has ended"),
                Ok(count) => self.input.push(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    return Err(WireFailure::Late);
                }
                Err(error) => {
                    return broken(&format!("cannot read the output of the server: {error}"));
                }
            }
        }
    }
}

impl Wire for MessageLines {
    fn send(&mut self, message: &Value, patience: Duration) -> Result<(), WireFailure> {
        let line = format!("{message}\n");
        self.program.send(line.as_bytes(), patience).map_err(|error| {
            WireFailure::Broken(match error.kind() {
                io::ErrorKind::BrokenPipe => "the server has ended".to_owned(),
                _ => format!("the server does not read its input: {error}"),
            })
        })
    }

    fn receive(&mut self, patience: Duration) -> Result<Value, WireFailure> {
        let until = self.system.elapsed() + patience;
        loop {
            // What is no message is ignored: some programs talk to people there.
            if let Ok(message) = serde_json::from_slice(&self.read_line(until)?) {
                return Ok(message);
            }
        }
    }

    fn take_errors(&mut self) -> Vec<u8> {
        self.program.take_errors()
    }
}

#[cfg(test)]
mod tests {
    use brief_system::{Ending, Interruption, OsSystem};
    use serde_json::json;

    use super::*;
    use crate::McpConnection;

    /// A server that repeats its text for ever.
    struct Endless(&'static [u8]);

    impl Companion for Endless {
        fn send(&mut self, _: &[u8], _: Duration) -> io::Result<()> {
            Ok(())
        }

        fn receive(&mut self, buffer: &mut [u8], _: Duration) -> io::Result<usize> {
            buffer[..self.0.len()].copy_from_slice(self.0);
            Ok(self.0.len())
        }

        fn id(&self) -> u32 {
            0
        }

        fn wait(&mut self, _: Duration) -> io::Result<Ending> {
            Ok(Ending::Exited(0))
        }

        fn end(&mut self) {}
    }

    fn asked(server: Endless, patience: Duration) -> Result<Value, String> {
        let system: Arc<dyn System> = Arc::new(OsSystem);
        let lines = MessageLines::new(Box::new(server), Arc::clone(&system));
        let until = system.elapsed() + patience;
        let mut running = McpConnection::new(Box::new(lines), system, &Interruption::default());
        running.send_request("tools/call", &json!({}), until).and_then(|answer| answer)
    }

    /// X11: the time limit covers the whole request, not each line of a server.
    #[test]
    fn a_server_that_never_answers_and_never_stops_is_left() {
        let chatter = Endless(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n");
        let answer = asked(chatter, Duration::from_millis(50));
        assert_eq!(answer, Err("the server did not answer in time".to_owned()));
        let noise = asked(Endless(b"noise\n"), Duration::from_millis(50));
        assert_eq!(noise, Err("the server did not answer in time".to_owned()));
    }

    /// R1: a line of 16 MB in pieces of 16 bytes is searched once, not a million times.
    #[test]
    fn a_line_without_an_end_is_left_at_its_limit() {
        let answer = asked(Endless(b"0123456789abcdef"), Duration::from_mins(1));
        assert_eq!(answer, Err("a message of the server is too large".to_owned()));
    }
}
