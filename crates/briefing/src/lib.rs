//! The library of Briefing. This crate re-exports; the code stands in the crates below it.
//!
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub use brief_checks::lint;
pub use brief_engine::survey;
pub use brief_engine::tokens;
pub use brief_engine::{
    Action, Actions, BriefedDecision, BriefedItem, Briefing, BriefingRequest, Catalog, Dialects,
    Explanation, ItemPlace, Moment, Mounted, OmittedItem, Project, ReasonKind, Root, State, Target,
    TargetKind, Timing,
};
pub use brief_syntax::{Diagnostic, Severity, Source, Span};

/// The door to files, environment and clock: real, in memory, or with unsaved buffers in front.
pub mod system {
    pub use brief_system::{Buffers, MemorySystem, OsSystem, Remembered, System};
}
