//! Front ends for clients: the hook, and projects and agents over MCP.

pub mod configuration;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod fuzzing;
pub mod hook;
#[cfg(feature = "agent")]
pub mod mcp;
