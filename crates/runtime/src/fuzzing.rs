//! Messages of workers and of MCP servers, open to the targets in `fuzz/` and to nothing else.

use crate::mcp_client;
use crate::sandbox::fuzzing;

/// Reads bytes as an order to a worker, and as a word of one.
pub fn worker_frames(bytes: &[u8]) {
    fuzzing::frames(bytes);
}

/// Reads bytes as what an MCP server says, until it has no more to say.
pub fn mcp_server(bytes: &[u8]) {
    mcp_client::fuzzing::answers(bytes);
}
