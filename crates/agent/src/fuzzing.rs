//! Parsers for messages of workers and of MCP servers, open to the targets in `fuzz/` only.

use crate::mcp_client;
use crate::sandbox::fuzzing;

/// Parses bytes as an order to a worker, and as a message of one.
pub fn worker_frames(bytes: &[u8]) {
    fuzzing::frames(bytes);
}

/// Parses bytes as the output of an MCP server, to its end.
pub fn mcp_server(bytes: &[u8]) {
    mcp_client::fuzzing::answers(bytes);
}
