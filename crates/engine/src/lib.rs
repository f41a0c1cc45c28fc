//! One answer from all dialects, with the reason for each part.
//!
//! A [`Catalog`] is what was read; a [`Moment`] is the question; a [`Resolution`] is the answer.
//! Reading touches the [`System`] that it is given and nothing else; resolving touches nothing.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use brief_engine::{Action, Catalog, Dialects, Moment, Question, Root, hosted};
//! use brief_syntax::system::{Buffers, MemorySystem};
//!
//! // A project; `OsSystem` is the one on disk.
//! let project = MemorySystem::new("/shop")
//!     .with_file("CLAUDE.md", "Answer in one paragraph.\n")
//!     .with_file("AGENTS.yaml", "context:\n  - content: Prices are cents.\n    match: ['**/*.py']\n");
//! // What the user has typed and not saved counts, too.
//! let style = b"---\ntrigger: always\n---\nType hints everywhere.\n".to_vec();
//! let unsaved = [(".context/style.md".into(), style)];
//! let system = Buffers::new(Arc::new(project), unsaved)?;
//!
//! let root = Root::open(&system, Path::new("/shop"))?;
//! let target = root.locate(&system, root.path(), Path::new("cart.py")).expect("it is inside");
//! let question = Question {
//!     root: &root,
//!     target: Some(&target),
//!     path: Path::new("/shop/cart.py"),
//!     mounted: root.path(),
//!     mentions: &[],
//!     hosted: hosted::Options::default(),
//! };
//! let catalog = Catalog::about(&system, &question, Dialects::All);
//!
//! let moment = Moment {
//!     target: Some(target.clone()),
//!     action: Some(Action::Edit),
//!     client: Some("claude".to_owned()),
//!     ..Moment::default()
//! };
//! let resolution = catalog.resolve(&moment);
//! let active: Vec<_> = resolution.active().collect();
//! let texts: Vec<&str> = active.iter().map(|applied| applied.item.content.trim()).collect();
//! assert_eq!(texts, ["Type hints everywhere.", "Prices are cents."]);
//! assert_eq!(active[1].reason.about("cart.py").to_string(), "match `**/*.py` covers cart.py");
//! // Claude Code has read its own file already.
//! assert_eq!(resolution.left_out[0].reason.about("cart.py").to_string(), "claude loads it by itself");
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod audit;
pub mod budget;
mod catalog;
pub mod diff;
mod installed;
mod links;
mod order;
mod prompt;
mod repetition;
mod report;
pub mod sees;
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
