//! What parent and worker read from each other, open to the targets in `fuzz/` and to nothing else.

use crate::sandbox::fuzzing;

/// Reads bytes as an order to a worker, and as a word of one.
pub fn worker_frames(bytes: &[u8]) {
    fuzzing::frames(bytes);
}
