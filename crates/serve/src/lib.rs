//! Front ends for clients, editors and people: the hook, projects and agents over MCP, the language server, pages in a browser.

mod frame;
#[cfg(feature = "agent")]
#[doc(hidden)]
pub mod fuzzing;
pub mod hook;
#[cfg(feature = "agent")]
mod http;
pub mod lsp;
#[cfg(feature = "agent")]
pub mod mcp;
#[cfg(feature = "agent")]
pub mod view;
