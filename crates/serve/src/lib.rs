//! Front ends for clients: the hook, and agents over MCP.

pub mod fuzzing;
pub mod hook;
pub mod mcp;
