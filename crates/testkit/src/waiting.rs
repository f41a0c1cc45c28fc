//! Waits for events. A test that waits for a time is wrong on a busy machine.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time limit of a wait. It ends a wait that would never end, and is out of reach on a busy machine.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// Waits until something is so. Fails with its description after [`PATIENCE`].
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    wait_for(what, || is_so().then_some(()));
}

/// Waits for a value. Fails with its description after [`PATIENCE`].
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: not within {} s", PATIENCE.as_secs());
        sleep(LOOK);
    }
}

/// A named pipe that processes hold open: it tells when the last of them has ended.
pub struct Lifeline {
    keeper: File,
    ended: Receiver<()>,
}

impl Lifeline {
    /// Creates the pipe. A process holds it with `exec 3>PATH`, and so do the processes that it starts.
    pub fn create(path: &Path) -> Lifeline {
        crate::make_fifo(path);
        // It has a writer from the start, so that no open waits for one.
        let keeper = OpenOptions::new().read(true).write(true).open(path);
        let keeper = keeper.expect("a pipe can be opened");
        let mut reader = File::open(path).expect("a pipe can be opened");
        let (sender, ended) = channel();
        std::thread::spawn(move || {
            let _ = io::copy(&mut reader, &mut io::sink());
            let _ = sender.send(());
        });
        Lifeline { keeper, ended }
    }

    /// Waits until no process holds the pipe.
    pub fn wait_for_end(self) {
        drop(self.keeper);
        assert_eq!(self.ended.recv_timeout(PATIENCE), Ok(()), "a process still runs");
    }
}
