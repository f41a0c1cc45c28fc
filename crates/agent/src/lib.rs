//! Agent files at work: tools in a sandbox, abilities that are granted to them, conversations with a model.
//!
//! The user's own explicit command starts an agent, or a server for one agent. JavaScript runs in a worker
//! process that has given up nearly everything ([`sandbox`]); what a tool may do besides computing, it asks
//! its parent for ([`abilities`]), and every question is checked there and can be logged.

pub mod abilities;
pub mod agent;
pub mod conversation;
#[doc(hidden)]
pub mod fuzzing;
pub mod gates;
pub mod remote_commands;
pub mod sandbox;
pub mod tools;

pub use abilities::{AbilityAudit, Grants, Host, McpAccess, NetworkPolicy};
pub use gates::GateError;
pub use sandbox::{Limits, WorkerProgram};
pub use tools::{CallError, Evaluation, Tool, ToolBox, ToolsError};
