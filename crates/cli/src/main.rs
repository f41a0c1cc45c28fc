//! The `brief` program.

use std::process::ExitCode;
use std::sync::Arc;

use brief_cli::Ui;
use brief_system::OsSystem;

#[expect(clippy::disallowed_methods, reason = "this is where arguments come in")]
fn main() -> ExitCode {
    brief_cli::run(std::env::args_os(), &mut Ui::of_process(), Arc::new(OsSystem))
}
