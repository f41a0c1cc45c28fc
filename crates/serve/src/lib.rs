//! Front ends for clients and editors: the hook, projects and agents over MCP, the language server.

pub mod configuration;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod fuzzing;
pub mod history;
pub mod hook;
pub mod lsp;
#[cfg(feature = "agent")]
pub mod mcp;
pub mod schemas;
