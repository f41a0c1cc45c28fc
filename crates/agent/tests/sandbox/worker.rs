//! The worker that the tests start, and the keeper of a browser.

use std::process::ExitCode;

#[expect(clippy::disallowed_methods, reason = "this is where arguments come in")]
fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|argument| argument == brief_agent::abilities::KEEPER_ARGUMENT)
    {
        return brief_agent::abilities::run_keeper(arguments);
    }
    brief_agent::sandbox::run_worker()
}
