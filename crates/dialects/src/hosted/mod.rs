//! Client-hosted context: files in `.context/` directories, global and above the path.
//!
//! A question has a mounted directory (the project) and a path in it. Every `.context/` from the
//! mounted directory down to the path's own directory counts, after the user's global one. Their
//! configurations are merged, the nearest last, and decide which files count; the front matter of
//! each file gives its trigger.
//!
//! [`resolve_hosted_context`] answers one question from a [`System`]. It reads only the needed files, follows no
//! link below the two directories, starts nothing and writes nothing:
//!
//! ```
//! use std::path::Path;
//!
//! use brief_dialects::hosted::{Query, State, resolve_hosted_context};
//! use brief_system::MemorySystem;
//!
//! let system = MemorySystem::new("/shop")
//!     .with_file(".context/style.md", "---\ntrigger: auto\nglobs: '**/*.ts'\n---\nUse tabs.\n")
//!     .with_file("src/.context/api.md", "---\ntrigger: manual\n---\nThe API.\n");
//! let answer = resolve_hosted_context(
//!     &system,
//!     &Query { mounted: Path::new("/shop"), path: Path::new("/shop/src/a.ts"), mentions: &[] },
//! );
//! let style = &answer.items[0];
//! assert_eq!((style.name.as_str(), style.state), ("style", State::Active));
//! assert_eq!(style.content(), "Use tabs.\n");
//! assert_eq!(style.reason, "glob `**/*.ts` matches src/a.ts");
//! assert_eq!(answer.items[1].reason, "only when mentioned");
//! ```

mod check;
mod config;
mod context_dir;
mod exclude;
mod guidance;
mod include;
mod mcp;
mod model;
mod parse;
mod pattern;
mod place;
mod resolve;
mod sources;
mod whole;

use std::path::{Path, PathBuf};

use brief_syntax::Diagnostic;
use brief_system::System;

pub use crate::answer::State;
pub use config::{
    ConfigFile, Layer, MergedConfig, merge_layers, parse_hosted_config as parse_config,
};
pub use guidance::Hosted;
pub use mcp::McpEntry;
pub use model::{
    CONFIG_NAME, Config, ConfigPattern, ConfiguredServer, Connection, Flag, Globs, HostedFile,
    HostedItem, HostedOrigin, HostedScope, McpServer, OmittedFile, ServerKind, Trigger,
};
pub use parse::{ContextFormat, parse_hosted_file};
pub use pattern::HostedPattern;

/// The name of the dialect.
pub const NAME: &str = "context-dir";

/// The JSON Schema of a configuration file.
pub const CONFIG_SCHEMA: &str = include_str!("context-config.schema.json");

/// The client context path when the environment does not set one.
pub const DEFAULT_CLIENT_PATH: &str = ".context";

/// The variable that replaces [`DEFAULT_CLIENT_PATH`]: a relative path.
pub const CLIENT_PATH_VARIABLE: &str = "CLIENT_CONTEXT_PATH";

/// The variable that replaces the home directory for global context: an absolute path.
pub const GLOBAL_PATH_VARIABLE: &str = "GLOBAL_CONTEXT_PATH";

/// A question about one path.
#[derive(Debug, Clone, Copy)]
pub struct Query<'q> {
    /// The directory open in the client.
    pub mounted: &'q Path,
    /// The file or directory of the question. It need not exist; it is then a directory if it ends
    /// in a separator, else a file.
    pub path: &'q Path,
    /// The mentioned context files: by stem, by name, or by path.
    pub mentions: &'q [String],
}

/// The user's options. A project cannot set them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostedOptions {
    /// The base of `includeFiles` patterns.
    pub anchor: Anchor,
    /// The rule for `includeFiles` of a project that leave the mounted directory.
    pub outside: Outside,
    /// The use of [`brief_safety::sensitive::EXTRA`]; [`brief_safety::sensitive::PATTERNS`] are always in force.
    pub extra_names: ExtraNames,
}

/// The directory that `includeFiles` patterns are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anchor {
    /// The working directory, as the document says.
    #[default]
    WorkingDirectory,
    /// The directory that owns the configuration.
    ConfigDirectory,
}

/// The rule for `includeFiles` of a project that leave the mounted directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outside {
    #[default]
    Refuse,
    Allow,
}

/// The use of our own list of sensitive names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExtraNames {
    #[default]
    Exclude,
    Allow,
}

/// The answer for one path. It is deterministic, with its order.
#[derive(Debug)]
pub struct HostedContext {
    /// The mounted directory without links.
    pub mounted: PathBuf,
    /// The working directory without links.
    pub working: PathBuf,
    /// The context files: global, mounted, ancestors from the top down, working, included; within
    /// one directory by path.
    pub items: Vec<HostedItem>,
    /// The files that were left out, each with the reason.
    pub left_out: Vec<OmittedFile>,
    /// The merged configuration, defaults included.
    pub config: Config,
    /// The merged servers, in the order of their first declaration. None is started.
    pub mcp_servers: Vec<ConfiguredServer>,
    /// The diagnostics, by file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// The depths of the mounted and the working directory.
    pub(crate) depths: (usize, usize),
    /// The `includeFiles` patterns that match no file from the working directory. Without those that were not
    /// searched to the end.
    pub(crate) unmatched: std::collections::BTreeSet<String>,
}

/// Answers a question about a path.
pub fn resolve_hosted_context(system: &dyn System, query: &Query<'_>) -> HostedContext {
    resolve_with(system, query, HostedOptions::default())
}

/// Answers a question about a path, with the user's options.
pub fn resolve_with(
    system: &dyn System,
    query: &Query<'_>,
    options: HostedOptions,
) -> HostedContext {
    resolve::resolve_query(system, query, options, None)
}
