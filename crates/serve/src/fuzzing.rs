//! The parsers for messages of clients and editors, open to the targets in `fuzz/` only.

use crate::{lsp, mcp};

/// Parses bytes as the messages of an MCP client, to their end.
pub fn mcp_client(bytes: &[u8]) {
    mcp::fuzzing::frames(bytes);
}

/// Answers lines as the messages of an editor, to their end.
pub fn lsp_editor(bytes: &[u8]) {
    lsp::fuzzing::session(bytes);
}
