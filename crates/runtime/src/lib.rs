//! Everything that executes.
//!
//! Nothing here decides *that* something runs: that is the user's own explicit command. This crate
//! decides *how*, with limits on time, output and number, and it keeps the record of what the user
//! has trusted. It never runs anything on behalf of a hook, a server, lint or an editor.

pub mod conversation;
pub mod policy;
pub mod prompt;
pub mod review;
pub mod shell;
pub mod trust;

pub use policy::{Execution, Off};
pub use prompt::{Asked, AskedKind, Outcome, PromptRunner};
pub use review::Review;
pub use shell::{RunFailure, Shell, ShellLimits};
pub use trust::{ContentHash, Trust, TrustError, TrustStore};
