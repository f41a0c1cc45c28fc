//! Private parsers, exported for the targets in `fuzz/` only.

use crate::policy::fuzzing as policy;

/// Reads a policy file and asks it about sources and execution.
pub fn fuzz_policy(bytes: &[u8]) {
    policy::fuzz_policy(bytes);
}
