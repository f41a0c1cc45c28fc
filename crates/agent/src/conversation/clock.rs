//! A clock as a trait, so that tests of back-off do not wait.

use std::time::{Duration, SystemTime};

use brief_system::System;

/// A clock with a timer. Tests have one that does not wait.
pub trait Clock {
    /// Returns the time since a fixed moment.
    fn now(&self) -> Duration;

    fn sleep(&self, time: Duration);
}

pub struct SystemClock<'s>(pub &'s dyn System);

impl Clock for SystemClock<'_> {
    fn now(&self) -> Duration {
        self.0.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}
