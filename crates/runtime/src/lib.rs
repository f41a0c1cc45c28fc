//! Execution: commands and scripts, agents' tools in a sandbox, and agents in conversation.
//!
//! The user's explicit command decides *that* something runs. This crate decides *how*, with limits on time,
//! output and number, and it keeps the record of what the user has trusted. It never runs anything on behalf
//! of a hook, lint or an editor; the only server that it works for is an agent's own, which the user starts
//! for that.

pub mod abilities;
pub mod agent;
pub mod consent;
pub mod conversation;
pub mod execution;
#[doc(hidden)]
pub mod fuzzing;
pub mod gates;
pub mod mcp_client;
mod names;
pub mod prompt;
pub mod remote_commands;
pub mod review;
pub mod sandbox;
pub mod shell;
pub mod tools;
pub mod trust;

pub use abilities::{Audit, Grants, Host, McpServers, NetworkPolicy};
pub use consent::{Consent, ProjectRefusal};
pub use execution::{Execution, Off, Wish};
pub use gates::GateError;
pub use prompt::{Asked, AskedKind, Outcome, PromptRunner};
pub use review::Review;
pub use sandbox::{Limits, WorkerProgram};
pub use shell::{RunFailure, Shell, ShellLimits};
pub use tools::{CallError, Evaluation, Tool, ToolBox, ToolsError};
pub use trust::{
    ContentHash, Project, Standing, Trust, TrustError, TrustStore, project_of, project_root,
};
