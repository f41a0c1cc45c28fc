//! The program `brief-agent` from outside: every command, run in a directory of its own.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]
#![expect(clippy::disallowed_methods, reason = "tests make real files and start the real program")]

mod answers;
#[cfg(target_os = "linux")]
mod browser;
mod cases;
mod files;
mod gates;
mod remote;
mod run;
#[cfg(target_os = "linux")]
mod stop;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use brief_cli::Ui;
use brief_system::System;
use brief_testkit::{Sandbox, Streams};

/// An empty project on the disk, for agents by absolute paths. `run` calls the program in this process; `spawn` starts it.
fn project() -> Sandbox {
    Sandbox::on_disk(env!("CARGO_BIN_EXE_brief-agent")).in_process(brief_agent)
}

/// The program as a function.
fn brief_agent(args: Vec<OsString>, streams: Streams, system: Arc<dyn System>) -> ExitCode {
    brief_agent_cli::run(args, &mut Ui::new(streams.stdin, streams.stdout, streams.stderr), system)
}

/// The top of the workspace.
fn workspace() -> &'static Path {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    top.expect("this crate is in `crates/`")
}
