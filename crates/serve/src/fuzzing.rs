//! The parsers for messages of clients and editors, open to the targets in `fuzz/` only.

use crate::{hook, lsp, mcp, view};

/// Parses bytes as the messages of an MCP client, to their end.
pub fn mcp_client(bytes: &[u8]) {
    mcp::fuzzing::fuzz_frames(bytes);
}

/// Answers lines as the messages of an editor, to their end.
pub fn lsp_editor(bytes: &[u8]) {
    lsp::fuzzing::fuzz_session(bytes);
}

/// Reads bytes as the memory of a session, and goes on with it.
pub fn session_file(bytes: &[u8]) {
    hook::fuzzing::session_file(bytes);
}

/// Reads bytes as the receipts of a day.
pub fn fuzz_receipts(bytes: &[u8]) {
    hook::fuzzing::fuzz_receipts(bytes);
}

/// Reads a line as the path and query of a page.
pub fn view_address(line: &str) {
    view::fuzzing::fuzz_address(line);
}
