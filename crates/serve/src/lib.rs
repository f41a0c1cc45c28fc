//! Front ends for clients, editors and people: the hook, projects and agents over MCP, the language server, pages in a browser.

mod frame;
#[doc(hidden)]
pub mod fuzzing;
pub mod hook;
mod http;
pub mod lsp;
pub mod mcp;
pub mod view;
