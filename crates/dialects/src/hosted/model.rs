//! What `.context/` says, with defaults filled in.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::{Source, Span};

use crate::answer::State;
pub use crate::mcp::{Connection, McpServer, ServerKind};

use super::pattern::Pattern;

/// Where a context file comes from. The order is that of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The user's own, valid everywhere.
    Global,
    /// The mounted directory, when work goes on below it.
    Mounted,
    /// A directory between the mounted and the working one.
    Ancestor,
    /// The working directory.
    Working,
    /// Named by an `includeFiles` pattern.
    Include,
}

impl Scope {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Global => "global",
            Scope::Mounted => "mounted",
            Scope::Ancestor => "ancestor",
            Scope::Working => "working",
            Scope::Include => "include",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// When a context file is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Trigger {
    /// Always.
    Always,
    /// When a file that one of the globs matches is asked about.
    Auto,
    /// When the agent decides so by the description.
    Agent,
    /// When somebody mentions it.
    #[default]
    Manual,
}

impl Trigger {
    /// All triggers, in the order in which the document lists them.
    pub const ALL: [Trigger; 4] = [Trigger::Always, Trigger::Auto, Trigger::Agent, Trigger::Manual];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Trigger::Always => "always",
            Trigger::Auto => "auto",
            Trigger::Agent => "agent",
            Trigger::Manual => "manual",
        }
    }

    /// Finds the trigger of that name, in any case. `pattern` is a later name of `auto`; nothing
    /// at all means `manual`.
    pub fn from_name(name: &str) -> Option<Trigger> {
        let name = name.trim();
        if name.is_empty() {
            return Some(Trigger::Manual);
        }
        if name.eq_ignore_ascii_case("pattern") {
            return Some(Trigger::Auto);
        }
        Trigger::ALL.into_iter().find(|trigger| name.eq_ignore_ascii_case(trigger.as_str()))
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One context file.
#[derive(Debug, Clone)]
pub struct ContextFile {
    /// The text and where it came from.
    pub source: Arc<Source>,
    /// Where the body begins in the text.
    pub body_start: usize,
    /// What it is about; empty when it does not say.
    pub description: String,
    /// The files that it is for.
    pub globs: Globs,
    /// Whether it asks to be ignored.
    pub disabled: bool,
    /// When it is used.
    pub trigger: Trigger,
}

/// The value of `globs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Globs {
    /// Not set: all files.
    Everything,
    /// These, each with its place in the file. None at all matches nothing.
    Listed(Vec<(Pattern, Span)>),
}

impl Globs {
    /// Returns whether one of them covers a path.
    pub(super) fn cover(&self, path: &str) -> bool {
        match self {
            Globs::Everything => true,
            Globs::Listed(list) => list.iter().any(|(glob, _)| glob.matches(path)),
        }
    }
}

/// The place in a configuration file that a value stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The configuration file.
    pub source: Arc<Source>,
    /// The value in it.
    pub span: Span,
    /// The scope of the file.
    pub scope: Scope,
    /// The directory whose configuration it is: the one that holds the context directory.
    pub owner: Arc<Path>,
}

impl Origin {
    /// Returns the configuration file.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Returns the line that the value begins on, from 1.
    pub fn line(&self) -> usize {
        self.source.line(self.span.start)
    }
}

/// All configuration files merged over the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The patterns that add files, in order, each once.
    pub include_files: Vec<ConfigPattern>,
    /// The patterns that take files out, in order, each once.
    pub exclude_files: Vec<ConfigPattern>,
    /// Whether global files are left out.
    pub ignore_global_context: Flag,
    /// Whether files of directories above the working one are left out.
    pub ignore_ancestor_context: Flag,
}

/// A pattern as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigPattern {
    /// The text.
    pub pattern: String,
    /// Where it stands; `None` for a default.
    pub origin: Option<Origin>,
    /// Where else it stands: the same text means something else next to another configuration.
    pub repeated: Vec<Origin>,
}

impl ConfigPattern {
    /// Returns every place that it stands in, the least important first.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.origin.iter().chain(&self.repeated)
    }
}

/// A switch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Flag {
    /// Whether it is on.
    pub value: bool,
    /// Who says so; `None` for the default.
    pub origin: Option<Origin>,
}

/// The name of the configuration file in a context directory.
pub const CONFIG_NAME: &str = "context-config.json";

impl Default for Config {
    fn default() -> Self {
        let default = |pattern: &str| ConfigPattern {
            pattern: pattern.to_owned(),
            origin: None,
            repeated: Vec::new(),
        };
        Config {
            include_files: vec![default("*")],
            exclude_files: vec![default(CONFIG_NAME)],
            ignore_global_context: Flag::default(),
            ignore_ancestor_context: Flag::default(),
        }
    }
}

/// A server of the merged configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredServer {
    /// Its name.
    pub name: String,
    /// How to reach it.
    pub server: McpServer,
    /// Where the entry stands that counts.
    pub origin: Origin,
    /// The configuration that turned it off, when that is another one.
    pub disabled_by: Option<PathBuf>,
}

/// A context file in reach.
#[derive(Debug, Clone)]
pub struct Item {
    /// The file.
    pub file: ContextFile,
    /// Its name without directories and extension.
    pub name: String,
    /// Where it comes from.
    pub scope: Scope,
    /// Whether it is in the briefing.
    pub state: State,
    /// Why, in words.
    pub reason: String,
    /// The line that the body begins on, from 1.
    pub line: usize,
    /// The directory that its globs are relative to.
    pub anchor: Arc<Path>,
}

impl Item {
    /// Returns the absolute path.
    pub fn path(&self) -> &Path {
        self.file.source.path()
    }

    /// Returns the text to deliver: what follows the front matter.
    pub fn content(&self) -> &str {
        self.file.source.text().get(self.file.body_start..).unwrap_or_default()
    }

    /// Returns when it is used.
    pub fn trigger(&self) -> Trigger {
        self.file.trigger
    }

    /// Returns what it is about; empty when it does not say.
    pub fn description(&self) -> &str {
        &self.file.description
    }
}

/// A file that is in reach but not in the answer. Its content was not read unless the reason is in
/// there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The absolute path.
    pub path: PathBuf,
    /// The scope that it would have.
    pub scope: Scope,
    /// Why, in words.
    pub reason: String,
}
