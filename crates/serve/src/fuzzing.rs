//! The parser for messages of MCP clients, open to the targets in `fuzz/` only.

use crate::mcp;

/// Parses bytes as the messages of an MCP client, to their end.
pub fn mcp_client(bytes: &[u8]) {
    mcp::fuzzing::frames(bytes);
}
