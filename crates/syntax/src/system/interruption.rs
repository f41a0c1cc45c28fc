//! The user's wish that everything ends, as a flag that anybody can look at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that ^C raises. All copies are one flag, and nothing lowers it again.
#[derive(Debug, Clone, Default)]
pub struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Returns whether the user wants an end.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Asks for an end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Shares a flag that a signal raises.
    #[cfg(unix)]
    pub(super) fn of(flag: Arc<AtomicBool>) -> Interruption {
        Interruption(flag)
    }
}
