//! Front ends for clients, editors and people: the hook, projects and agents over MCP, the language server, pages in a browser.

pub mod configuration;
pub mod delivery;
pub mod fleet;
mod frame;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod fuzzing;
pub mod history;
pub mod hook;
#[cfg(feature = "agent")]
mod http;
pub mod lsp;
#[cfg(feature = "agent")]
pub mod mcp;
pub mod picture;
pub mod revisions;
pub mod schemas;
#[cfg(feature = "agent")]
pub mod view;
