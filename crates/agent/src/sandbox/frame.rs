//! What parent and worker say to each other: four bytes of length, then one JSON value.
//!
//! The parent believes nothing of what a worker says: every message has a largest size, and what is in
//! it is data.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Bytes before each message: its length, the most significant byte first.
pub(super) const HEADER: usize = 4;

/// The largest message. A result or an answer of any allowed size fits in, whatever its letters.
pub(super) const MOST: usize = brief_syntax::limits::TOOL_MESSAGE_BYTES;

/// From the parent to the worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order<'a> {
    /// Give up everything, then run the code and say what it returned. The first message.
    Load {
        #[serde(borrow)]
        code: Cow<'a, str>,
        limits: WorkerLimits,
        missing_fence: MissingFence,
    },
    /// Call a tool, by its place in what was returned.
    Call {
        tool: usize,
        #[serde(borrow)]
        args: &'a RawValue,
        #[serde(borrow)]
        ctx: &'a RawValue,
    },
    /// What was asked for.
    Answer {
        #[serde(borrow)]
        value: &'a RawValue,
    },
    /// What was asked for is refused or did not work.
    Refuse {
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow)]
        message: Cow<'a, str>,
    },
}

/// From the worker to the parent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word<'a> {
    /// The code has run.
    Ready { returned: Vec<Returned>, fences: Fences },
    /// The code cannot be used.
    Unusable(Unusable),
    /// A tool asks for something. The parent answers.
    Ask {
        #[serde(borrow)]
        ability: Cow<'a, str>,
        #[serde(borrow)]
        call: Cow<'a, str>,
        #[serde(borrow)]
        args: &'a RawValue,
    },
    /// A tool logs something. Nobody answers.
    Log(LogLine),
    /// A call has ended well.
    Done {
        #[serde(borrow)]
        value: &'a RawValue,
    },
    /// A call has ended badly.
    Failed(Failure),
    /// There is no realm for the call, which has not begun. Another worker has to do it.
    Spent,
}

/// What the worker has to know of its limits.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct WorkerLimits {
    pub(super) memory: usize,
    pub(super) stack: usize,
    pub(super) cpu_micros: u64,
    pub(super) result: usize,
    pub(super) log: usize,
}

/// One field of the object that the code returned, as it is: nothing of it is checked yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Returned {
    /// The key.
    pub key: String,
    /// Whether `fn` is something that can be called.
    pub has_function: bool,
    /// `scheme` as JSON; `None` when it is not there or cannot be JSON.
    pub scheme: Option<serde_json::Value>,
    /// The names of all fields of the tool, for hints.
    pub fields: Vec<String>,
}

/// The fences of the kernel round a worker, besides the limits on what it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fences {
    /// Rules about files, network, signals.
    pub landlock: Landlock,
    /// Whether the list of system calls is in force.
    pub seccomp: bool,
}

impl Fences {
    /// No fence at all.
    pub const NONE: Fences = Fences { landlock: Landlock::Missing, seccomp: false };

    /// Returns the fences that are not there, by their usual names.
    pub fn missing(self) -> Vec<&'static str> {
        let landlock = (self.landlock == Landlock::Missing).then_some("Landlock");
        let seccomp = (!self.seccomp).then_some("seccomp");
        landlock.into_iter().chain(seccomp).collect()
    }
}

/// How much of Landlock the kernel has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Landlock {
    /// It refuses files and network altogether.
    Full,
    /// It refuses files; it is older than the rules about the rest, which seccomp refuses, too.
    Partial,
    /// It has none.
    Missing,
}

/// What happens where a fence is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingFence {
    /// The code does not run.
    #[default]
    Refuse,
    /// The user has said that it runs all the same.
    Accept,
}

/// Something that a tool has logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// `log`, `info`, `warn`, `error` or `debug`.
    pub level: String,
    /// The text.
    pub text: String,
}

/// Why code cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unusable {
    pub(super) kind: UnusableKind,
    pub(super) message: String,
    /// Line and column in the code, from 1.
    pub(super) place: Option<(u32, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum UnusableKind {
    /// It is no JavaScript.
    Syntax,
    /// It ended badly.
    Failed(FailureKind),
    /// It returned something else; the message says what.
    NotAnObject,
    /// It returned more tools than there may be.
    TooMany,
    /// The worker could not be kept in.
    Confinement,
    /// The system lacks the fences that the message names.
    MissingFence,
}

/// Why a call ended badly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failure {
    pub(super) kind: FailureKind,
    /// The name of the error; empty when something else was thrown.
    pub(super) name: String,
    pub(super) message: String,
    /// Line and column in the code, from 1.
    pub(super) place: Option<(u32, u32)>,
    /// Whether the worker is of no use any more.
    pub(super) is_last: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FailureKind {
    /// It threw, or its promise was rejected.
    Threw,
    /// It computed for too long.
    Cpu,
    /// It used too much memory.
    Memory,
    /// Its promise can never be resolved.
    Pending,
    /// A promise that nobody waits for was rejected.
    Unhandled,
    /// Its result is no JSON.
    NotJson,
    /// Its result is too large.
    TooLarge,
}

/// Makes a message whole: its length, then the JSON.
pub(super) fn framed(message: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = vec![0; HEADER];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - HEADER).unwrap_or(u32::MAX);
    bytes[..HEADER].copy_from_slice(&length.to_be_bytes());
    Ok(bytes)
}

/// Returns the length that a header tells.
pub(super) fn length(header: [u8; HEADER]) -> usize {
    usize::try_from(u32::from_be_bytes(header)).unwrap_or(usize::MAX)
}
