//! The `brief-agent` program.

use std::process::ExitCode;
use std::sync::Arc;

use brief_agent::{abilities, sandbox};
use brief_cli::Ui;
use brief_system::OsSystem;

#[expect(clippy::disallowed_methods, reason = "this is where arguments come in")]
fn main() -> ExitCode {
    // Before anything else is read: a worker uses only its two pipes, and a keeper hands them on.
    match std::env::args_os().nth(1) {
        Some(argument) if argument == sandbox::WORKER_ARGUMENT => return sandbox::run_worker(),
        Some(argument) if argument == abilities::KEEPER_ARGUMENT => {
            return abilities::run_keeper(std::env::args_os().skip(2));
        }
        Some(argument) if argument == abilities::PROGRAM_KEEPER_ARGUMENT => {
            return abilities::run_program_keeper(std::env::args_os().skip(2));
        }
        _ => {}
    }
    brief_agent_cli::run(std::env::args_os(), &mut Ui::of_process(), Arc::new(OsSystem))
}
