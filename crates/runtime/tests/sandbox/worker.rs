//! The worker that the tests start.

use std::process::ExitCode;

fn main() -> ExitCode {
    brief_runtime::sandbox::run_worker()
}
