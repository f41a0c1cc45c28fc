//! The types of `.context/`, with defaults filled in.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::{Diagnostic, Rule, Source, Span};

use crate::answer::State;
pub use crate::mcp::{Connection, McpServer, ServerKind};
use crate::rule_check::{CheckCoverage, RuleCheck};

use super::pattern::HostedPattern;

/// The source of a context file, in the order of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostedScope {
    Global,
    /// The mounted directory, if the working directory is below it.
    Mounted,
    /// A directory between the mounted and the working one.
    Ancestor,
    Working,
    Include,
}

impl HostedScope {
    /// Returns the scope's name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            HostedScope::Global => "global",
            HostedScope::Mounted => "workspace",
            HostedScope::Ancestor => "ancestor",
            HostedScope::Working => "working",
            HostedScope::Include => "include",
        }
    }
}

/// The condition under which a context file is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Trigger {
    Always,
    /// If one of the globs matches the file of the question.
    Auto,
    /// If the agent asks for it by its description.
    Agent,
    /// If the user mentions it.
    #[default]
    Manual,
}

impl Trigger {
    /// All triggers, in the order in which the document lists them.
    pub const ALL: [Trigger; 4] = [Trigger::Always, Trigger::Auto, Trigger::Agent, Trigger::Manual];

    /// Returns the trigger's name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Trigger::Always => "always",
            Trigger::Auto => "auto",
            Trigger::Agent => "agent",
            Trigger::Manual => "manual",
        }
    }

    /// Finds a trigger by its name, in any case. `pattern` is a later name of `auto`; an empty
    /// value means `manual`.
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

#[derive(Debug, Clone)]
pub struct HostedFile {
    /// The text and its path.
    pub source: Arc<Source>,
    /// The offset of the body.
    pub body_start: usize,
    /// The description; empty if missing.
    pub description: String,
    /// The files that it is for.
    pub globs: Globs,
    /// True for a file that is to be ignored.
    pub disabled: bool,
    pub trigger: Trigger,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Globs {
    /// The field is missing: all files.
    Everything,
    /// The listed globs, each with its place. An empty list matches nothing.
    Listed(Vec<(HostedPattern, Span)>),
}

impl Globs {
    /// Returns whether one of the globs matches a path.
    pub(super) fn matches_path(&self, path: &str) -> bool {
        match self {
            Globs::Everything => true,
            Globs::Listed(list) => list.iter().any(|(glob, _)| glob.matches(path)),
        }
    }
}

/// The files of a context file with a check.
impl CheckCoverage for Globs {
    fn covers_file(&self, path: &str) -> bool {
        self.matches_path(path)
    }

    /// These patterns tell nothing about directories.
    fn could_cover_inside(&self, _: &str) -> bool {
        !matches!(self, Globs::Listed(list) if list.is_empty())
    }
}

/// The place of a value in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedOrigin {
    pub source: Arc<Source>,
    pub span: Span,
    /// The scope of the file.
    pub scope: HostedScope,
    /// The directory that holds the context directory of the configuration.
    pub owner: Arc<Path>,
}

impl HostedOrigin {
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Returns the first line of the value, from 1.
    pub fn line(&self) -> usize {
        self.source.line_number(self.span.start)
    }

    /// Returns a diagnostic about the value.
    pub(super) fn problem(
        &self,
        rule: Rule,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(rule, &self.source, self.span, message).with_help(help)
    }
}

/// All configuration files merged over the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The patterns that add files, in order, each once.
    pub include_files: Vec<ConfigPattern>,
    /// The patterns that exclude files, in order, each once.
    pub exclude_files: Vec<ConfigPattern>,
    pub ignore_global_context: Flag,
    /// Leaves files of directories above the working one out.
    pub ignore_ancestor_context: Flag,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigPattern {
    pub pattern: String,
    /// Its first place; `None` for a default.
    pub origin: Option<HostedOrigin>,
    /// Further places: the text means other files next to another configuration.
    pub repeated: Vec<HostedOrigin>,
}

impl ConfigPattern {
    /// Returns all its places; later ones win.
    pub fn origins(&self) -> impl Iterator<Item = &HostedOrigin> {
        self.origin.iter().chain(&self.repeated)
    }
}

/// A switch with its origin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Flag {
    /// True if it is on.
    pub value: bool,
    /// The place of the value; `None` for the default.
    pub origin: Option<HostedOrigin>,
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
    pub name: String,
    pub server: McpServer,
    /// The place of the entry in force.
    pub origin: HostedOrigin,
    /// The configuration that disabled it, if that is another one.
    pub disabled_by: Option<PathBuf>,
}

/// A context file that counts for a question.
#[derive(Debug, Clone)]
pub struct HostedItem {
    pub file: HostedFile,
    /// Its name without directories and extension.
    pub name: String,
    pub scope: HostedScope,
    pub state: State,
    pub reason: String,
    /// The first line of the body, from 1.
    pub line: usize,
    /// The directory that its globs are relative to.
    pub anchor: Arc<Path>,
    /// The check of the rule. Our extension of the format.
    pub check: Option<Arc<RuleCheck>>,
}

impl HostedItem {
    /// Returns the absolute path.
    pub fn path(&self) -> &Path {
        self.file.source.path()
    }

    /// Returns the text that is delivered: everything after the front matter.
    pub fn content(&self) -> &str {
        self.file.source.text().get(self.file.body_start..).unwrap_or_default()
    }
}

/// A file that was left out. Its content was read only if the reason depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedFile {
    /// The absolute path.
    pub path: PathBuf,
    /// The scope that it would have.
    pub scope: HostedScope,
    pub reason: String,
}
