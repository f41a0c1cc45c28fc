//! The fences of a worker, tried from inside: this program enters them and makes each call that must fail.
//!
//! It has no test harness, because a process behind the fences cannot start threads.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]
#![expect(clippy::disallowed_methods, reason = "it tries what a worker must not do")]
#![expect(clippy::print_stdout, reason = "standard output is all that is left behind the fences")]

#[cfg(target_os = "linux")]
mod attempts;
#[cfg(target_os = "linux")]
mod old_kernel;

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        match args.as_slice() {
            ["attempt", name] => return attempts::make(name),
            ["worker-without", fences @ ..] => return old_kernel::run_worker(fences),
            _ => {}
        }
        for (name, test) in [
            ("x07_forbidden_calls_fail", attempts::x07_forbidden_calls_fail as fn()),
            ("x07_calls_that_a_worker_needs_work", attempts::x07_calls_that_a_worker_needs_work),
            ("x07_a_missing_fence_is_refused", old_kernel::x07_a_missing_fence_is_refused),
        ] {
            test();
            println!("test {name} ... ok");
        }
    }
    ExitCode::SUCCESS
}
