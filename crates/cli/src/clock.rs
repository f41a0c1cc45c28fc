//! A line at the terminal about work that takes long.
//!
//! Most answers are there at once. A walk over a large tree may take seconds, and a blank terminal does not tell work from
//! a program that hangs.

use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::ui::Ui;

/// The time after which the line appears, and after which it changes.
const TICK: Duration = Duration::from_secs(1);

/// Does some work. At a terminal, says on standard error every second what is being done, and since when.
pub(crate) fn with_clock<T>(ui: &Ui, doing: &str, work: impl FnOnce() -> T) -> T {
    if !ui.shows_progress() {
        return work();
    }
    run_beside(TICK, work, |seconds| {
        let line = match seconds {
            Some(seconds) => format!("\r\x1b[2K{doing}: {seconds} s"),
            None => "\r\x1b[2K".to_owned(),
        };
        let mut screen = io::stderr();
        // Without a screen there is no reader.
        let _ = screen.write_all(line.as_bytes()).and_then(|()| screen.flush());
    })
}

/// Does some work, and calls `tell` on another thread with the number of ticks since the start, once each tick; and with `None` at
/// the end, if it was called.
fn run_beside<T>(tick: Duration, work: impl FnOnce() -> T, tell: impl Fn(Option<u64>) + Send) -> T {
    let (end, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        // Where no thread can be started, the work is done without the line.
        let clock = thread::Builder::new().name("clock".to_owned());
        let _ = clock.spawn_scoped(scope, move || tick_until(&ended, tick, tell));
        let result = work();
        drop(end);
        result
    })
}

fn tick_until(ended: &Receiver<()>, tick: Duration, tell: impl Fn(Option<u64>)) {
    let mut ticks = 0;
    while ended.recv_timeout(tick) == Err(RecvTimeoutError::Timeout) {
        ticks += 1;
        tell(Some(ticks));
    }
    if ticks > 0 {
        tell(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// N33: work that lasts is told of, and the line is gone at the end.
    #[test]
    fn long_work_is_told_of_until_it_ends() {
        let (told, heard) = mpsc::channel();
        let again = run_beside(
            Duration::from_millis(1),
            || heard.iter().take(2).collect::<Vec<Option<u64>>>(),
            move |seconds| told.send(seconds).unwrap_or_default(),
        );
        assert!(again.iter().all(Option::is_some), "{again:?}");
        assert_eq!(heard.iter().last(), Some(None));
    }

    /// Work that ends at once prints nothing.
    #[test]
    fn short_work_is_silent() {
        let (told, heard) = mpsc::channel();
        let result =
            run_beside(Duration::MAX, || 7, |seconds| told.send(seconds).unwrap_or_default());
        drop(told);
        assert_eq!((result, heard.recv().is_err()), (7, true));
    }
}
