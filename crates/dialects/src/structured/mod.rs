//! Structured context: `AGENTS.yaml` files in any directory.
//!
//! Each file holds context entries and decisions, scoped by patterns relative to its directory. For
//! a path, every context file from the root down to its directory counts; the nearest one comes
//! last and is closest to the agent's attention.

mod check;
mod guidance;
mod model;
mod parse;
mod pattern;
mod resolve;

pub use guidance::Structured;
pub use model::{Alternative, ContextEntry, Decision, InvalidEntry, StructuredFile};
pub use parse::parse_structured_file;
pub use pattern::{Pattern, PatternCache};

/// The name of the dialect.
pub const NAME: &str = "agents-yaml";

/// The names of context files, in the order in which they are merged.
pub const FILE_NAMES: [&str; 2] = ["AGENTS.yaml", "AGENTS.yml"];
