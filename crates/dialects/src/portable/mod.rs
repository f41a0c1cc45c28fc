//! The portable format: rules, skills, agents and bundles, written once for every client. Commands are an extension
//! of this project.
//!
//! A source registry holds items in directories of their own. [`Registry`] finds and reads them,
//! [`check_registry`] reports portability problems, [`directives`] selects the body for each client. This
//! module does not know the clients' files: clients are names that are passed in, so that a new one
//! is data.

pub mod arguments;
mod blocks;
pub mod bundle;
mod check;
mod command;
pub mod config;
mod constructs;
pub mod directives;
mod fields;
mod foreign;
pub mod format;
mod guidance;
mod imported;
pub mod links;
mod model;
pub mod output;
mod parse;
mod places;
mod registry;
pub mod scaffold;

use std::sync::Arc;

use brief_syntax::{Diagnostic, Rule, Source, Span};

pub use blocks::capability_of;
pub use brief_profiles::USUAL as CLIENTS;
pub use check::check_registry;
pub use fields::name_problem;
pub use foreign::{OutsidePlugin, PassedOver, Plugin, is_candidate_name, slugify_name};
pub use guidance::{Portable, SCOPE as REGISTRY_SCOPE};
pub use imported::{is_format_field, is_sound, is_taken_field};
pub use model::{
    AgentMode, Bundle, CAPABILITIES, ItemId, ItemKind, MODEL_ALIASES, NAME_LENGTH, Override,
    PortableItem, RequiredBundle, SCHEMA, SupportFile, ToolCapability,
};
pub use places::is_offered_file;
pub use registry::{ClientDirectories, Registry, read_except, read_registry, read_source};

/// The name of the dialect.
pub const NAME: &str = "items";

/// Returns a problem of a place in a file, with the advice.
fn span_problem(
    rule: Rule,
    source: &Arc<Source>,
    span: Span,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostic {
    Diagnostic::new(rule, source, span, message).with_help(help)
}

/// Returns a problem of a whole file, with the advice.
fn file_problem(
    rule: Rule,
    source: &Arc<Source>,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostic {
    span_problem(rule, source, Span::default(), message, help)
}
