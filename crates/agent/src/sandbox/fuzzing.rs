//! The parsers for messages between parent and worker, for [`crate::fuzzing`].

use super::frame::{self, Order, WorkerMessage};

/// Parses bytes as a message from either side.
pub(crate) fn fuzz_frames(bytes: &[u8]) {
    if let Some(header) = bytes.first_chunk::<{ frame::HEADER }>() {
        let _ = frame::message_length(*header);
    }
    for message in [bytes, bytes.get(frame::HEADER..).unwrap_or_default()] {
        let _ = serde_json::from_slice::<Order<'_>>(message);
        let _ = serde_json::from_slice::<WorkerMessage<'_>>(message);
    }
}
