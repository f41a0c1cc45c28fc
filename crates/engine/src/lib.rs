//! One answer from all dialects, with the reason for each part.
//!
//! A [`Project`] is asked; a [`Moment`] is the question; a [`Briefing`] is the answer. Asking reads
//! from the [`System`] that it is given and touches nothing else.
//!
//! ```
//! use std::sync::Arc;
//!
//! use brief_engine::{Action, Project, ReasonKind};
//! use brief_system::{Buffers, MemorySystem};
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
//! let briefing =
//!     Project::open(&system, "/shop")?.briefing("cart.py").client("claude").action(Action::Edit).resolve();
//!
//! let texts: Vec<&str> = briefing.active.iter().map(|item| item.content.trim()).collect();
//! assert_eq!(texts, ["Type hints everywhere.", "Prices are cents."]);
//! assert_eq!(briefing.active[1].reason.to_string(), "match `**/*.py` covers cart.py");
//! // Claude Code has read its own file already.
//! assert_eq!(briefing.left_out[0].reason.kind, ReasonKind::Loaded);
//! assert_eq!(briefing.left_out[0].reason.to_string(), "claude loads it by itself");
//! # Ok::<(), std::io::Error>(())
//! ```

#![warn(missing_docs)]

pub mod audit;
mod briefing;
pub mod budget;
mod catalog;
pub mod diff;
mod installed;
mod order;
mod project;
mod prompt;
pub mod receipts;
pub mod repetition;
pub mod search;
pub mod sees;
pub mod shipped;
mod strangers;
mod surroundings;
pub mod survey;
pub mod tokens;

pub use brief_dialects::{
    Action, Actions, Applied, BindingDecision, Candidate, Dialects, FileSet, Item, ItemReach,
    LeftOut, Level, LoadedPart, Moment, MomentTool, Mounted, Name, Occasion, Origin, Owner,
    ProjectFiles, Reason, ReasonKind, Resolution, State, Strangers, Timing,
};
pub use brief_dialects::{agents, dependencies, hosted, mcp, native, portable, structured, tasks};
pub use brief_syntax::{Root, Target, TargetKind};
pub use brief_system::System;
pub use briefing::{
    BriefedCandidate, BriefedDecision, BriefedItem, Briefing, CandidateState, Explanation,
    ItemPlace, McpServersReport, OmittedItem, PlaceReport, first_line, place_below,
};
pub use catalog::{Catalog, CatalogScope};
pub use project::{BriefingRequest, Project};
pub use prompt::{PromptReport, RunReport};
pub use surroundings::{RootKind, guidance_above};
pub use tokens::estimate_tokens;
