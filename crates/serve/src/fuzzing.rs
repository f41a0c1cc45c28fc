//! Messages of MCP clients, open to the targets in `fuzz/` and to nothing else.

use crate::mcp;

/// Reads bytes as what an MCP client sends, up to its end.
pub fn mcp_client(bytes: &[u8]) {
    mcp::fuzzing::frames(bytes);
}
