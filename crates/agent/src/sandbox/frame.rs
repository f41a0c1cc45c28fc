//! The messages between parent and worker: four bytes of length, then one JSON value.
//!
//! The parent trusts no message of a worker: every message has a size limit, and its content is data.

use std::borrow::Cow;

use brief_dialects::agents::Evaluated;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Limits;

/// The bytes before each message: its length, the most significant byte first.
pub(super) const HEADER: usize = 4;

/// The size limit of a message. Results and answers of any allowed size fit, whatever their characters.
pub(super) const MOST: usize = brief_syntax::limits::TOOL_MESSAGE_BYTES;

/// A message from the parent to the worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order<'a> {
    /// Confines the worker, runs the code and asks for its tools. The first message.
    Load {
        #[serde(borrow)]
        code: Cow<'a, str>,
        limits: Limits,
        missing_fence: MissingFence,
    },
    /// Confines the worker and parses the code, without running it. The first message, and the only one.
    Parse {
        #[serde(borrow)]
        code: Cow<'a, str>,
        limits: Limits,
    },
    /// Calls a tool, by its index in the returned tools.
    Call {
        tool: usize,
        #[serde(borrow)]
        args: &'a RawValue,
        #[serde(borrow)]
        ctx: &'a RawValue,
    },
    /// The answer to a request.
    Answer {
        #[serde(borrow)]
        value: &'a RawValue,
    },
    /// The refusal or failure of a request.
    Refuse {
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow)]
        message: Cow<'a, str>,
    },
}

/// A message from the worker to the parent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WorkerMessage<'a> {
    Ready {
        returned: Vec<Evaluated>,
        fences: Fences,
    },
    /// The code has been parsed.
    Parsed,
    /// The code cannot be used.
    Unusable(Unusable),
    /// A request of a tool. The parent answers.
    Ask {
        #[serde(borrow)]
        ability: Cow<'a, str>,
        #[serde(borrow)]
        call: Cow<'a, str>,
        #[serde(borrow)]
        args: &'a RawValue,
    },
    /// A log line of a tool, without an answer.
    Log(LogLine),
    Done {
        #[serde(borrow)]
        value: &'a RawValue,
    },
    Failed(CallFault),
    /// The worker has no realm for the call, which has not begun. Another worker has to make it.
    Spent,
}

/// The kernel's fences round a worker, besides its resource limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fences {
    /// The rules about files, network and signals.
    pub landlock: Landlock,
    /// True if the list of system calls is in force.
    pub seccomp: bool,
}

impl Fences {
    pub const NONE: Fences = Fences { landlock: Landlock::Missing, seccomp: false };

    /// Returns the usual names of the missing fences.
    pub fn missing_fences(self) -> Vec<&'static str> {
        let landlock = (self.landlock == Landlock::Missing).then_some("Landlock");
        let seccomp = (!self.seccomp).then_some("seccomp");
        landlock.into_iter().chain(seccomp).collect()
    }
}

/// The kernel's support for Landlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Landlock {
    /// It refuses files and network altogether.
    Full,
    /// It refuses files; it lacks the newer rules, whose part seccomp takes.
    Partial,
    /// The kernel has no Landlock.
    Missing,
}

/// The treatment of a missing fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingFence {
    /// The code does not run.
    #[default]
    Refuse,
    /// The operator has accepted that the code runs.
    Accept,
}

/// A log line of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// The level: `log`, `info`, `warn`, `error` or `debug`.
    pub level: String,
    pub text: String,
}

/// Code that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unusable {
    pub(super) kind: UnusableKind,
    pub(super) message: String,
    /// The line and column in the code, from 1.
    pub(super) place: Option<(u32, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum UnusableKind {
    /// It is not valid JavaScript.
    Syntax,
    /// It threw, or exceeded a limit.
    Failed(FailureKind),
    /// It returned a value that is not an object; the message names it.
    NotAnObject,
    /// It returned too many tools.
    TooMany,
    /// The worker could not be confined.
    Confinement,
    /// The system lacks the fences that the message names.
    MissingFence,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallFault {
    pub(super) kind: FailureKind,
    /// The name of the error; empty for another thrown value.
    pub(super) name: String,
    pub(super) message: String,
    /// The line and column in the code, from 1.
    pub(super) place: Option<(u32, u32)>,
    /// True if the worker cannot be used any more.
    pub(super) is_last: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FailureKind {
    /// It threw, or its promise was rejected.
    Threw,
    /// It exceeded its processor time.
    Cpu,
    Memory,
    /// Its promise can never be resolved.
    Pending,
    /// A promise without a handler was rejected.
    Unhandled,
    /// Its result is not JSON.
    NotJson,
    /// Its result is too large.
    TooLarge,
}

/// Frames a message: its length, then the JSON.
pub(super) fn frame_message(message: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = vec![0; HEADER];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - HEADER).unwrap_or(u32::MAX);
    bytes[..HEADER].copy_from_slice(&length.to_be_bytes());
    Ok(bytes)
}

/// Returns the length in a header.
pub(super) fn message_length(header: [u8; HEADER]) -> usize {
    usize::try_from(u32::from_be_bytes(header)).unwrap_or(usize::MAX)
}
