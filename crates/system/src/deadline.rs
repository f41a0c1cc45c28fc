//! A time limit for the whole process.
//!
//! A client waits for its hook, so a hook must end in time whatever it is doing. A second thread waits and
//! ends the process. A signal would be cheaper, and would not arrive: a program that reads from a network
//! file system without an answer wakes up for its own end only, and that is what ending the process is.
//! The work stays on the main thread, because a thread that allocates gets a heap of its own.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The stack of the thread, which sleeps, and writes a few lines at the end. Only what it uses takes memory.
const STACK_BYTES: usize = 256 * 1024;

/// The last words of a process whose time is up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LastWords {
    /// The text for standard output.
    pub stdout: String,
    /// The text for standard error.
    pub stderr: String,
    /// The exit code.
    pub code: u8,
}

/// Ends this process when its time is up, unless it is lifted before.
///
/// What was not written by then is lost.
#[derive(Debug)]
pub struct Deadline {
    is_armed: Arc<AtomicBool>,
}

impl Deadline {
    /// Starts the clock. When time is up, another thread asks for the last words, prints them and ends the process; the first
    /// thread may hang by then, so the answer must not wait for it.
    pub fn start(
        limit: Duration,
        last_words: impl FnOnce() -> LastWords + Send + 'static,
    ) -> Deadline {
        let is_armed = Arc::new(AtomicBool::new(true));
        let shared = Arc::clone(&is_armed);
        let wait = move || {
            thread::sleep(limit);
            // The main thread may wait for the system and cannot return.
            if shared.swap(false, Ordering::SeqCst) {
                let LastWords { stdout, stderr, code } = last_words();
                // A reader that went away does not matter any more.
                let _ = std::io::stderr().write_all(stderr.as_bytes());
                let mut out = std::io::stdout();
                let _ = out.write_all(stdout.as_bytes()).and_then(|()| out.flush());
                std::process::exit(code.into());
            }
        };
        // Without a thread there is no limit, and still an answer.
        let _ = thread::Builder::new().stack_size(STACK_BYTES).spawn(wait);
        Deadline { is_armed }
    }

    /// Lifts the limit. If time is up already, this waits for the end of the process, so that nothing follows its last words.
    pub fn lift(self) {
        while !self.is_armed.swap(false, Ordering::SeqCst) {
            thread::park();
        }
    }
}
