//! The worker that the tests start, and the keeper of a browser or a program.

use std::process::ExitCode;

use brief_agent::abilities::{
    KEEPER_ARGUMENT, PROGRAM_KEEPER_ARGUMENT, run_keeper, run_program_keeper,
};

#[expect(clippy::disallowed_methods, reason = "this is where arguments come in")]
fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(argument) if argument == KEEPER_ARGUMENT => run_keeper(arguments),
        Some(argument) if argument == PROGRAM_KEEPER_ARGUMENT => run_program_keeper(arguments),
        _ => brief_agent::sandbox::run_worker(),
    }
}
