//! Private parsers, exported for the targets in `fuzz/` only.

use crate::policy::fuzzing as policy;

/// Reads a policy file and asks it about sources and execution.
pub fn policy(bytes: &[u8]) {
    policy::read(bytes);
}
