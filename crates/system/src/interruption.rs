//! A request to stop, as a shared flag.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that ^C raises, a client that takes its question back, or both. All copies are one flag, and
/// nothing lowers it again.
#[derive(Debug, Clone, Default)]
pub struct Interruption {
    flag: Arc<AtomicBool>,
    /// Flags of others that count, too.
    others: Vec<Arc<AtomicBool>>,
}

impl Interruption {
    /// Returns whether an end is wanted.
    pub fn is_raised(&self) -> bool {
        let is_raised = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        is_raised(&self.flag) || self.others.iter().any(is_raised)
    }

    /// Asks for an end.
    pub fn raise(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Returns this flag, which counts as raised when `other` is, too.
    #[must_use]
    pub fn or(&self, other: &Interruption) -> Interruption {
        let mut both = self.clone();
        both.others.push(Arc::clone(&other.flag));
        both.others.extend(other.others.iter().map(Arc::clone));
        both
    }

    /// Shares a flag that a signal raises.
    #[cfg(unix)]
    pub(super) fn from_flag(flag: Arc<AtomicBool>) -> Interruption {
        Interruption { flag, others: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_flag_counts_and_only_one_is_raised() {
        let (call, server) = (Interruption::default(), Interruption::default());
        let both = call.or(&server);
        assert!(!both.is_raised());
        server.raise();
        assert!(both.is_raised() && !call.is_raised());
        let other = Interruption::default().or(&call);
        other.raise();
        assert!(other.is_raised() && !call.is_raised());
    }
}
