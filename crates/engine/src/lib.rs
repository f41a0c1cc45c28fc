//! One answer from all dialects, with the reason for each part.
//!
//! A [`Catalog`] is what was read; a [`Moment`] is the question; a [`Resolution`] is the answer.
//! Reading touches the [`System`] that it is given and nothing else; resolving touches nothing.
//!
//! ```
//! use brief_engine::{Catalog, Moment, Root, Action};
//! use brief_syntax::system::MemorySystem;
//! use std::path::Path;
//!
//! let system = MemorySystem::new("/shop").with_file(
//!     "AGENTS.yaml",
//!     "context:\n  - content: Prices are integers in cents.\n    match: ['**/*.py']\n    on: edit\n",
//! );
//! let root = Root::open(&system, Path::new("/shop"))?;
//! let target = root.locate(&system, root.path(), Path::new("cart.py")).expect("it is inside");
//! let catalog = Catalog::along(&system, &root, &target);
//!
//! let moment = Moment { target: Some(target), action: Some(Action::Edit), ..Moment::default() };
//! let resolution = catalog.resolve(&moment);
//! assert_eq!(resolution.items[0].item.content, "Prices are integers in cents.");
//! assert_eq!(resolution.items[0].reason.about("cart.py").to_string(), "match `**/*.py` covers cart.py");
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod budget;
mod catalog;
pub mod diff;
mod installed;
mod order;
mod prompt;
mod repetition;
mod report;
pub mod survey;
pub mod tokens;

pub use brief_dialects::{
    Action, Answer as Resolution, Applied, Candidate, Decision, FileSet, Item, LeftOut, Level,
    Moment, Name, Origin, Owner, ProjectFiles, Reached, Reason, State, Timing,
};
pub use brief_dialects::{agents, hosted, mcp, native, portable, structured, tasks};
pub use brief_syntax::{Root, System, Target, TargetKind};
pub use catalog::{Catalog, Dialects, Question, Scope};
pub use prompt::{PromptReport, RunReport};
pub use report::{McpServers, Report};
pub use tokens::estimate_tokens;
