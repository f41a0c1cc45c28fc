//! Text with spans, the syntax that guidance files share, and the project that they lie in.
//!
//! It contains no dialect's rules. Parsers are total: any bytes give a value and diagnostics.

#![warn(missing_docs)]

pub mod allocation;
pub mod code_owners;
pub mod diagnostic;
pub mod front_matter;
mod gap;
pub mod glob;
pub mod hidden;
mod ignore_files;
pub mod limits;
pub mod markdown;
pub mod near_miss;
pub mod project;
pub mod render;
pub mod rpc;
pub mod rules;
pub mod shell;
pub mod source;
mod submodules;
pub mod text;
pub mod toml;
mod tracked;
pub mod walk;
pub mod yaml;

pub use diagnostic::{Diagnostic, Edit, Fix, Severity};
pub use project::{Root, Target, TargetKind, WideDirectory};
pub use rules::Rule;
pub use source::{Position, Source, Span};
pub use submodules::AbsentSubmodules;
