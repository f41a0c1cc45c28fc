//! JavaScript in a process of its own.
//!
//! The tools of an agent run in a child of the same program, which has given up everything but two
//! pipes before it reads the first line of their code: no files, no network, no environment, no other
//! program. The engine in it has limits on memory, stack and time that end a call politely; some of
//! its own functions cannot be interrupted, so the parent ends the whole child when those do not
//! hold. What a tool may do besides computing, it asks the parent for, message by message.
//!
//! Nothing here decides what is granted: that is `crate::abilities`.

#[cfg(all(target_os = "linux", target_endian = "little"))]
mod calls;
#[cfg(unix)]
mod channel;
pub(crate) mod client;
#[cfg(unix)]
mod confine;
#[cfg(unix)]
mod engine;
#[cfg(unix)]
mod failure;
mod frame;
pub(crate) mod fuzzing;
#[cfg(unix)]
mod prelude;
#[cfg(unix)]
mod worker;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use brief_syntax::{System, limits};

pub use frame::{Fences, Landlock, LogLine, MissingFence, Returned};

/// The argument that turns the program into a worker. It stands in no help: nobody types it.
pub const WORKER_ARGUMENT: &str = "__js-worker";

/// How much the tools of one agent may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes of stack.
    pub stack: usize,
    /// How long one call may compute.
    pub cpu: Duration,
    /// How long one call may take, with all that it asks for.
    pub wall: Duration,
    /// Bytes of the result of one call, as JSON.
    pub result: usize,
    /// Bytes that one call may log.
    pub log: usize,
    /// How often one call may ask for something.
    pub requests: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            memory: limits::TOOL_MEMORY_BYTES,
            stack: limits::TOOL_STACK_BYTES,
            cpu: Duration::from_secs(limits::TOOL_CPU_SECONDS),
            wall: Duration::from_secs(limits::TOOL_SECONDS),
            result: limits::TOOL_RESULT_BYTES,
            log: limits::TOOL_LOG_BYTES,
            requests: limits::TOOL_REQUESTS,
        }
    }
}

/// How a worker is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The program.
    pub program: PathBuf,
    /// What makes it a worker.
    pub args: Vec<OsString>,
    /// What happens where the system lacks a fence.
    pub missing_fence: MissingFence,
}

impl WorkerProgram {
    /// This very program, with [`WORKER_ARGUMENT`].
    pub fn own(system: &dyn System) -> io::Result<WorkerProgram> {
        let program = system.own_program()?;
        let args = vec![WORKER_ARGUMENT.into()];
        Ok(WorkerProgram { program, args, missing_fence: MissingFence::Refuse })
    }

    /// Says what happens where the system lacks a fence.
    #[must_use]
    pub fn with_missing_fence(self, missing_fence: MissingFence) -> WorkerProgram {
        WorkerProgram { missing_fence, ..self }
    }
}

/// Puts this process behind the fences of a worker, for good, and says which there are. `memory` is what it
/// may use besides what the program itself takes.
#[cfg(unix)]
pub fn enter_fences(memory: usize) -> io::Result<Fences> {
    confine::enter(memory)
}

/// Is the worker: serves its parent through standard input and output until that goes away.
///
/// To be called before anything else is done, in a process that was started for it.
pub fn run_worker() -> ExitCode {
    #[cfg(unix)]
    return worker::run();
    #[cfg(not(unix))]
    ExitCode::FAILURE
}
