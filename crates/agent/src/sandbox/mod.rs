//! JavaScript in a separate, confined process.
//!
//! The tools of an agent run in a child of the same program, which has given up everything but two pipes
//! before it reads the first line of their code: no files, no network, no environment, no other program. The
//! engine in it has limits on memory, stack and time that end a call with an error. Some of its own functions
//! cannot be interrupted, so the parent kills the child when these limits do not hold. For everything besides
//! computing, a tool sends a request to the parent.
//!
//! This module does not decide about grants: that is `crate::abilities`.

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

use brief_syntax::limits;
use brief_system::System;
use serde::{Deserialize, Serialize};

pub(crate) use client::Worker;
pub use frame::{Fences, Landlock, LogLine, MissingFence};

/// The argument that turns the program into a worker. It is not part of the help, because users do not type
/// it.
pub const WORKER_ARGUMENT: &str = "__js-worker";

/// The limits for the tools of one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The memory in bytes.
    pub memory: usize,
    /// The stack in bytes.
    pub stack: usize,
    /// The processor time of one call.
    pub cpu: Duration,
    /// The time of one call, including its requests.
    pub wall: Duration,
    /// The time that a worker may compute without a word [default: derived from `cpu`]. Processor time passes slowly on a busy
    /// machine, so tests allow more.
    pub silence: Option<Duration>,
    /// The bytes of the result of one call, as JSON.
    pub result: usize,
    /// The bytes that one call may log.
    pub log: usize,
    /// The number of requests of one call.
    pub requests: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            memory: limits::TOOL_MEMORY_BYTES,
            stack: limits::TOOL_STACK_BYTES,
            cpu: Duration::from_secs(limits::TOOL_CPU_SECONDS),
            wall: Duration::from_secs(limits::TOOL_SECONDS),
            silence: None,
            result: limits::TOOL_RESULT_BYTES,
            log: limits::TOOL_LOG_BYTES,
            requests: limits::TOOL_REQUESTS,
        }
    }
}

/// The program to start as a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The path of the program.
    pub program: PathBuf,
    /// The arguments that make it a worker.
    pub args: Vec<OsString>,
    /// The treatment of a missing fence.
    pub missing_fence: MissingFence,
}

impl WorkerProgram {
    /// Returns this very program, with [`WORKER_ARGUMENT`].
    pub fn from_own_program(system: &dyn System) -> io::Result<WorkerProgram> {
        let program = system.own_program()?;
        let args = vec![WORKER_ARGUMENT.into()];
        Ok(WorkerProgram { program, args, missing_fence: MissingFence::Refuse })
    }
}

/// Confines this process as a worker, permanently, and returns the fences in force. `memory` is its limit
/// besides the memory of the program itself.
#[cfg(unix)]
pub fn enter_fences(memory: usize) -> io::Result<Fences> {
    confine::confine_process(memory)
}

/// Runs the worker: serves its parent through standard input and output until the parent ends.
///
/// It has to be the first call in a process that was started for it.
pub fn run_worker() -> ExitCode {
    #[cfg(unix)]
    return worker::run_worker();
    #[cfg(not(unix))]
    ExitCode::FAILURE
}
