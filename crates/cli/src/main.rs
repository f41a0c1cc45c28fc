//! The `brief` program.

use std::process::ExitCode;
use std::sync::Arc;

#[cfg(feature = "agent")]
use brief_agent::sandbox;
use brief_cli::Ui;
use brief_syntax::system::OsSystem;

#[expect(clippy::disallowed_methods, reason = "this is where arguments come in")]
fn main() -> ExitCode {
    // Before anything else is read: a worker uses only its two pipes.
    #[cfg(feature = "agent")]
    if std::env::args_os().nth(1).is_some_and(|argument| argument == sandbox::WORKER_ARGUMENT) {
        return sandbox::run_worker();
    }
    brief_cli::run(std::env::args_os(), &mut Ui::of_process(), Arc::new(OsSystem))
}
