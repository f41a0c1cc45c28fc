//! Client-hosted context: files in `.context/` directories, global and along the path to the work.
//!
//! A question has a mounted directory (the project) and a path in it. Every `.context/` from the
//! mounted directory down to the path's own directory is sourced, and the user's in front of them.
//! Their configurations are merged, the nearest last, and decide which files count; each file's own
//! front matter says when.
//!
//! [`resolve`] answers one question from a [`System`], reads nothing that it does not need, follows
//! no link below the two directories, starts nothing and writes nothing:
//!
//! ```
//! use std::path::Path;
//!
//! use brief_dialects::hosted::{Query, State, resolve};
//! use brief_syntax::system::MemorySystem;
//!
//! let system = MemorySystem::new("/shop")
//!     .with_file(".context/style.md", "---\ntrigger: auto\nglobs: '**/*.ts'\n---\nUse tabs.\n")
//!     .with_file("src/.context/api.md", "---\ntrigger: manual\n---\nThe API.\n");
//! let answer = resolve(
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
mod include;
mod mcp;
mod model;
mod parse;
mod pattern;
mod place;
mod resolve;
mod shelf;
mod sources;
mod whole;

use std::path::{Path, PathBuf};

use brief_syntax::{Diagnostic, System};

pub use crate::answer::State;
pub use config::{ConfigFile, Layer, Merged, merge, parse as parse_config};
pub use mcp::Entry;
pub use model::{
    CONFIG_NAME, Config, ConfigPattern, ConfiguredServer, Connection, ContextFile, Flag, Globs,
    Item, LeftOut, McpServer, Origin, Scope, ServerKind, Trigger,
};
pub use parse::{Format, Parsed, parse};
pub use pattern::Pattern;
pub use shelf::{Hosted, owner_of};

/// The name of the dialect.
pub const NAME: &str = "hosted";

/// The JSON Schema of a configuration file.
pub const CONFIG_SCHEMA: &str = include_str!("context-config.schema.json");

/// The client context path when the environment does not set one.
pub const DEFAULT_CLIENT_PATH: &str = ".context";

/// The variable that replaces [`DEFAULT_CLIENT_PATH`]: a relative path.
pub const CLIENT_PATH_VARIABLE: &str = "CLIENT_CONTEXT_PATH";

/// The variable that replaces the home directory as the place of global context: an absolute path.
pub const GLOBAL_PATH_VARIABLE: &str = "GLOBAL_CONTEXT_PATH";

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Query<'q> {
    /// The directory that the whole work is in.
    pub mounted: &'q Path,
    /// The file or directory that is worked on. It need not exist; it is then a directory when it
    /// ends in a separator, else a file.
    pub path: &'q Path,
    /// Context files that somebody asks for: by stem, by name, or by path.
    pub mentions: &'q [String],
}

/// What the user allows. None of it can be set by a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// What `includeFiles` patterns are relative to.
    pub anchor: Anchor,
    /// Whether a project's `includeFiles` may leave the mounted directory.
    pub outside: Outside,
    /// Whether [`crate::sensitive::EXTRA`] is in force; [`crate::sensitive::PATTERNS`] always is.
    pub extra_names: ExtraNames,
}

/// What `includeFiles` patterns are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anchor {
    /// The working directory, as the document says.
    #[default]
    WorkingDirectory,
    /// The directory that owns the configuration.
    ConfigDirectory,
}

/// Whether a project's `includeFiles` may leave the mounted directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outside {
    /// They may not.
    #[default]
    Refuse,
    /// They may.
    Allow,
}

/// Whether our own list of sensitive names is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExtraNames {
    /// It is.
    #[default]
    Exclude,
    /// It is not.
    Allow,
}

/// The answer. The same files give the same answer, in the same order.
#[derive(Debug)]
pub struct Resolution {
    /// The mounted directory without links.
    pub mounted: PathBuf,
    /// The working directory without links.
    pub working: PathBuf,
    /// The files in reach: global, mounted, ancestors from the top down, working, included; within
    /// one directory by path.
    pub items: Vec<Item>,
    /// What is in reach but left out, each with the reason.
    pub left_out: Vec<LeftOut>,
    /// The merged configuration, defaults included.
    pub config: Config,
    /// The merged servers, those that were named first in front. None is started.
    pub mcp_servers: Vec<ConfiguredServer>,
    /// What is wrong with what was read, by file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// How deep the mounted and the working directory lie.
    pub(crate) depths: (usize, usize),
}

/// Answers a question about a path.
pub fn resolve(system: &dyn System, query: &Query<'_>) -> Resolution {
    resolve_with(system, query, Options::default())
}

/// Answers a question about a path, with what the user allows.
pub fn resolve_with(system: &dyn System, query: &Query<'_>, options: Options) -> Resolution {
    resolve::resolve(system, query, options)
}
