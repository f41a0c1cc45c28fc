//! Work on many things, several at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Does the work for each thing, several at a time, and returns the outcomes in the order of the things. The observer is told how many are
/// done, after each.
pub fn in_parallel<T: Sync, R: Send>(
    things: &[T],
    observer: &dyn Fn(usize),
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    on_threads(thread_count(), things, observer, work)
}

/// Returns the number of threads for work that reads files and waits for processes.
pub(crate) fn thread_count() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get) * 2
}

/// Does work that may fail, on this many threads. After the first error no further work is begun.
pub(crate) fn try_in_parallel<T: Sync, R: Send, E: Send>(
    threads: usize,
    things: &[T],
    observer: &dyn Fn(usize),
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let is_over = AtomicBool::new(false);
    let outcomes = on_threads(threads, things, observer, |thing| {
        if is_over.load(Ordering::Relaxed) {
            return None;
        }
        let outcome = work(thing);
        is_over.fetch_or(outcome.is_err(), Ordering::Relaxed);
        Some(outcome)
    });
    outcomes.into_iter().flatten().collect()
}

fn on_threads<T: Sync, R: Send>(
    threads: usize,
    things: &[T],
    observer: &dyn Fn(usize),
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut outcomes: Vec<Option<R>> = things.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.min(things.len()) {
            let sender = sender.clone();
            let (next, work) = (&next, &work);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(thing) = things.get(number) else { return };
                    if sender.send((number, work(thing))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (count, (number, outcome)) in receiver.iter().enumerate() {
            outcomes[number] = Some(outcome);
            observer(count + 1);
        }
    });
    outcomes.into_iter().flatten().collect()
}
