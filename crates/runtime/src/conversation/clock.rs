//! Time, as a seam: a test of back-off must not wait.

use std::time::{Duration, SystemTime};

use brief_syntax::System;

/// A clock that can be waited by.
pub trait Clock {
    /// Returns the time since some moment that stays the same.
    fn now(&self) -> Duration;

    /// Waits.
    fn sleep(&self, time: Duration);
}

/// The system's clock.
pub struct SystemClock<'s> {
    system: &'s dyn System,
}

impl<'s> SystemClock<'s> {
    /// Asks this system.
    pub fn new(system: &'s dyn System) -> Self {
        SystemClock { system }
    }
}

impl Clock for SystemClock<'_> {
    fn now(&self) -> Duration {
        self.system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}
