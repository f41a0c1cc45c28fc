//! The ground floor: text with places in it, the formats that guidance is written in, and the one
//! door to the outside.
//!
//! Everything here is free of any dialect's rules. Parsers are total: any bytes in, a value and
//! diagnostics out.

pub mod allocation;
pub mod diagnostic;
pub mod front_matter;
pub mod glob;
pub mod hash;
pub mod hidden;
pub mod limits;
pub mod markdown;
pub mod near_miss;
pub mod project;
pub mod render;
pub mod source;
pub mod system;
pub mod text;
pub mod walk;
pub mod yaml;

pub use diagnostic::{Diagnostic, Edit, Fix, Severity};
pub use project::{Root, Target, TargetKind};
pub use source::{Position, Source, Span};
pub use system::System;
