//! Front ends for clients: the hook, and agents over MCP.

#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod fuzzing;
pub mod hook;
#[cfg(feature = "agent")]
pub mod mcp;
