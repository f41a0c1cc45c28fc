//! A time limit for the whole process.
//!
//! A client waits for its hook, so a hook must end in time whatever it is doing. A second thread waits and
//! ends the process. A signal would be cheaper, and would not arrive: a program that reads from a network
//! file system without an answer wakes up for its own end only, and that is what ending the process is.
//! The work stays on the main thread, because a thread that allocates gets a heap of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The stack of a thread that only sleeps.
const STACK_BYTES: usize = 16 * 1024;

/// Ends this process with exit code 0 when its time is up, unless it is lifted before.
///
/// What was not written by then is lost.
#[derive(Debug)]
pub struct Deadline {
    is_armed: Arc<AtomicBool>,
}

impl Deadline {
    /// Starts the clock.
    pub fn start(limit: Duration) -> Deadline {
        let is_armed = Arc::new(AtomicBool::new(true));
        let shared = Arc::clone(&is_armed);
        let wait = move || {
            thread::sleep(limit);
            // The main thread may wait for the system and cannot return.
            if shared.load(Ordering::SeqCst) {
                std::process::exit(0);
            }
        };
        // Without a thread there is no limit, and still an answer.
        let _ = thread::Builder::new().stack_size(STACK_BYTES).spawn(wait);
        Deadline { is_armed }
    }

    /// Lifts the limit.
    pub fn lift(self) {
        self.is_armed.store(false, Ordering::SeqCst);
    }
}
