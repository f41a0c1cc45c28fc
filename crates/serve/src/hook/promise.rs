//! One answer of another thread, waited for until it is too late.
//!
//! A channel would do the same, but it brings a queue, a list of those who wait and their contexts: a
//! quarter of a megabyte of code that a hook touches for one message.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Returns the two ends of a promise.
pub(super) fn promise<T>() -> (Promise<T>, Expectation<T>) {
    let shared = Arc::new(Shared { state: Mutex::new(State::Open), changed: Condvar::new() });
    (Promise(Arc::clone(&shared)), Expectation(shared))
}

/// Who has to answer. Without an answer, it is broken when it goes.
pub(super) struct Promise<T>(Arc<Shared<T>>);

/// Who waits for the answer.
pub(super) struct Expectation<T>(Arc<Shared<T>>);

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// Not yet.
    Late,
    /// And there will be none.
    Broken,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

enum State<T> {
    Open,
    Kept(T),
    Broken,
}

impl<T> Shared<T> {
    fn settle(&self, settled: State<T>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Open) {
            *state = settled;
            self.changed.notify_one();
        }
    }
}

impl<T> Promise<T> {
    /// Answers.
    pub(super) fn keep(self, answer: T) {
        self.0.settle(State::Kept(answer));
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.0.settle(State::Broken);
    }
}

impl<T> Expectation<T> {
    /// Waits for the answer.
    pub(super) fn wait(self, patience: Duration) -> Result<T, NoAnswer> {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .0
            .changed
            .wait_timeout_while(state, patience, |state| matches!(state, State::Open));
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Broken) {
            State::Kept(answer) => Ok(answer),
            State::Open => Err(NoAnswer::Late),
            State::Broken => Err(NoAnswer::Broken),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_promise_is_kept_late_or_broken() {
        let (one, two) = promise();
        let thread = thread::spawn(move || one.keep(1));
        assert_eq!(two.wait(Duration::from_mins(1)), Ok(1));
        thread.join().unwrap();

        let (one, two) = promise::<u8>();
        assert_eq!(two.wait(Duration::from_millis(1)), Err(NoAnswer::Late));
        one.keep(1);

        let (one, two) = promise::<u8>();
        let thread = thread::spawn(move || {
            let _one = one;
            panic!("a defect");
        });
        assert_eq!(two.wait(Duration::from_mins(1)), Err(NoAnswer::Broken));
        thread.join().unwrap_err();
    }
}
