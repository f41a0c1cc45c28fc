//! MCP servers from a client's side: programs, and servers elsewhere.
//!
//! An [`McpConnection`] speaks to one server, over whatever way its [`ServerAddress`] names. [`ConfiguredServers`] are
//! those that an operator has configured for an agent: each starts when it is asked for the first time, and ends with
//! the agent. Servers are untrusted: their messages are bounded, and messages that do not answer our
//! request are ignored.

mod address;
mod connection;
mod correspondence;
mod decisions;
#[doc(hidden)]
pub mod fuzzing;
mod listed;
mod program;
mod remote;
mod servers;

pub use address::{RemoteProtocol, RemoteServer, ServerAddress, ServerProgram};
pub use connection::McpConnection;
pub use decisions::{ListedTools, ToolDecisions};
pub use listed::{LARGEST_OFFER, SEPARATOR, ServerTool, held_back_note, server_label};
pub use servers::{ConfiguredServers, SharedServers};
