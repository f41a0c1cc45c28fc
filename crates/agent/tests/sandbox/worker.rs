//! The worker that the tests start.

use std::process::ExitCode;

fn main() -> ExitCode {
    brief_agent::sandbox::run_worker()
}
