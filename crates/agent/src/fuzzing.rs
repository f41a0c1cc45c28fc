//! Parsers for messages of workers and of browsers, open to the targets in `fuzz/` only.

use crate::abilities::ProxyHead;
use crate::remote_commands::FolderIndex;
use crate::sandbox::fuzzing;

/// Parses bytes as an order to a worker, and as a message of one.
pub fn worker_frames(bytes: &[u8]) {
    fuzzing::fuzz_frames(bytes);
}

/// Parses bytes as a request of a browser to its proxy.
pub fn proxy_head(bytes: &[u8]) {
    let _ = ProxyHead::parse(bytes);
}

/// Parses a text as the index of a remote folder.
pub fn folder_index(bytes: &[u8]) {
    let _ = FolderIndex::parse(&String::from_utf8_lossy(bytes), "/commands/");
}
