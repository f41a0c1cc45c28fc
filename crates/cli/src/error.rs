//! The conversion of every error to a message and an exit code.
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | done; also when the reader of our output went away |
//! | 1 | findings, not found, refused |
//! | 2 | usage or configuration |
//! | 3 | a defect of ours |
//! | 130 | interrupted |

use std::fmt;
use std::io;
use std::process::ExitCode;

use brief_safety::policy::PolicyError;
use brief_workflows::refusal::{RefusalKind, RequestRefusal};

use crate::ui::Ui;

/// The outcome of a command, or of a part of one.
pub type Result<T = (), E = CommandError> = std::result::Result<T, E>;

/// The kind of an error, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request cannot be fulfilled.
    Refused,
    /// The call or the configuration is wrong.
    Usage,
    /// A concurrent run was faster, so that the request has to be checked again.
    Outrun,
    /// The program that we handed over to has ended with this code, where a process cannot become another program.
    Program(u8),
    /// A client's call is refused with this code, which is the answer.
    CallRefused(u8),
    Interrupted,
    /// The reader of the output went away.
    BrokenPipe,
    /// A defect of this program.
    Internal,
}

impl ErrorKind {
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            ErrorKind::BrokenPipe => 0,
            ErrorKind::Refused | ErrorKind::Outrun => 1,
            ErrorKind::Usage => 2,
            ErrorKind::Internal => 3,
            ErrorKind::Program(code) | ErrorKind::CallRefused(code) => code,
            // The shell's code for a program that ^C ended.
            ErrorKind::Interrupted => 130,
        })
    }
}

/// An error of a command, with its exit code.
#[derive(Debug)]
pub struct CommandError {
    kind: ErrorKind,
    /// Empty if everything was printed before, and only the exit code is left.
    message: String,
    hint: Option<String>,
}

impl CommandError {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        CommandError { kind, message: message.into(), hint: None }
    }

    /// Returns the error of a request that cannot be fulfilled.
    pub fn refused(message: impl Into<String>) -> Self {
        CommandError::new(ErrorKind::Refused, message)
    }

    /// Returns the error of a wrong call or configuration.
    pub fn usage(message: impl Into<String>) -> Self {
        CommandError::new(ErrorKind::Usage, message)
    }

    /// Ends a command with the code of a program that it has handed over to.
    pub(crate) fn of_program(code: u8) -> Self {
        CommandError::reported(ErrorKind::Program(code))
    }

    /// Answers a client's call with the code that refuses it.
    pub(crate) fn of_refused_call(code: u8) -> Self {
        CommandError::reported(ErrorKind::CallRefused(code))
    }

    pub(crate) fn is_refused_call(&self) -> bool {
        matches!(self.kind, ErrorKind::CallRefused(_))
    }

    /// Ends a command that has printed its problems itself.
    pub fn reported(kind: ErrorKind) -> Self {
        CommandError::new(kind, "")
    }

    pub(crate) fn is_reported(&self) -> bool {
        self.message.is_empty()
    }

    /// Turns a refusal into an error of usage, for a command whose exit code 1 means something else.
    pub(crate) fn into_usage(self) -> Self {
        match self.kind {
            ErrorKind::Refused => CommandError { kind: ErrorKind::Usage, ..self },
            _ => self,
        }
    }

    pub(crate) fn is_outrun(&self) -> bool {
        self.kind == ErrorKind::Outrun
    }

    /// Returns whether it is not about the user's files, so that another try cannot succeed.
    pub(crate) fn ends_everything(&self) -> bool {
        matches!(self.kind, ErrorKind::Interrupted | ErrorKind::BrokenPipe | ErrorKind::Internal)
    }

    /// Returns the error of a command that the user interrupted.
    pub fn interrupted() -> Self {
        CommandError::new(ErrorKind::Interrupted, "interrupted")
    }

    /// Adds what the user can do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints the error and returns its exit code.
    pub fn print_error(self, ui: &mut Ui) -> ExitCode {
        if self.kind != ErrorKind::BrokenPipe && !self.is_reported() {
            // If standard error is closed, only the exit code is left.
            let _ = ui.print_error(&self.message);
            if let Some(hint) = &self.hint {
                let _ = ui.print_hint(hint);
            }
        }
        self.kind.exit_code()
    }
}

/// Prints the error of a command, if there is one, and returns the exit code.
pub(crate) fn exit_code(outcome: Result, ui: &mut Ui) -> ExitCode {
    outcome.map_or_else(|error| error.print_error(ui), |()| ExitCode::SUCCESS)
}

/// Ends a command with exit code 1 if there are findings, which it has printed.
pub fn refuse_if(has_findings: bool) -> Result {
    if has_findings { Err(CommandError::reported(ErrorKind::Refused)) } else { Ok(()) }
}

/// The message alone; the advice is for people.
impl fmt::Display for CommandError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// A policy that cannot be followed stops the command.
impl From<PolicyError> for CommandError {
    fn from(error: PolicyError) -> Self {
        RequestRefusal::from(error).into()
    }
}

impl From<RequestRefusal> for CommandError {
    fn from(RequestRefusal { kind, message, hint }: RequestRefusal) -> Self {
        let kind = match kind {
            RefusalKind::Refused => ErrorKind::Refused,
            RefusalKind::Usage => ErrorKind::Usage,
            RefusalKind::Outrun => ErrorKind::Outrun,
        };
        CommandError { kind, message, hint }
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::BrokenPipe => ErrorKind::BrokenPipe,
            _ => ErrorKind::Internal,
        };
        CommandError::new(kind, format!("failed to write the output: {error}"))
    }
}
