//! The request for a prompt, and the prompt.

use std::fmt;
use std::path::{Path, PathBuf};

use brief_syntax::yaml::{Node, Value};
use brief_syntax::{Diagnostic, Rule, rules};

use crate::mcp::McpServer;

use super::mcp;
use super::model::{CodingAgent, TaskDocument, TaskFileKind, TaskName};
use super::parameters::Parameters;
use super::selectors::{SelectorVerdict, Selectors};
use super::skill::Skill;

/// The request for a prompt.
#[derive(Debug, Clone, Copy)]
pub struct PromptRequest<'r> {
    /// The task, or the command.
    pub name: &'r TaskName,
    /// [`TaskFileKind::Task`], or [`TaskFileKind::Command`] for a command that is called alone: its arguments
    /// are among the parameters.
    pub kind: TaskFileKind,
    pub prompt: Option<&'r [u8]>,
    pub parameters: &'r Parameters,
    /// The user's selectors, in addition to the task's.
    pub selectors: &'r Selectors,
    /// The agent of the prompt; the task's own wins.
    pub agent: Option<CodingAgent>,
    pub amount: Amount,
    /// The treatment of hidden text.
    pub hidden: HiddenInPrompt,
    /// The treatment of rules that a client limits to some files.
    pub limited: LimitedRules,
    /// The base of relative paths, without links.
    pub directory: &'r Path,
    /// The project around the directory, without links. Its texts read nothing outside.
    pub project: &'r Path,
}

/// The treatment of rules in clients' directories that their client does not load at once: those with patterns or a
/// description, and those that have to be mentioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LimitedRules {
    /// They are left out: a task names no file. A selector that matches takes them in.
    #[default]
    LeftOut,
    /// They are rules like all others, as the document says.
    Included,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Amount {
    /// Rules, skills and the task.
    #[default]
    Everything,
    /// The task alone: the agent already has the rest.
    TaskAlone,
}

/// The treatment of characters that show nothing and can carry a message. They are reported either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HiddenInPrompt {
    /// They are left out: a model would read what no person has seen (attack case UNI-016).
    LeftOut,
    /// They stay, as the document says of every text.
    Kept,
}

#[derive(Debug)]
pub struct Prompt {
    /// The task and its expanded text.
    pub task: Included,
    pub rules: Vec<Included>,
    /// The commands, one for each call, in the order of the calls.
    pub commands: Vec<Included>,
    /// The skills that are listed.
    pub skills: Vec<Skill>,
    /// The files that were found and not used, in the order of the search.
    pub left_out: Vec<OmittedDocument>,
    /// The agent of the prompt.
    pub agent: Option<CodingAgent>,
    pub diagnostics: Vec<Diagnostic>,
}

/// A file in a prompt.
#[derive(Debug)]
pub struct Included {
    pub document: TaskDocument,
    /// The reason why it is used.
    pub reason: PromptReason,
    pub text: Vec<u8>,
}

/// A file that is not used.
#[derive(Debug)]
pub struct OmittedDocument {
    pub document: TaskDocument,
    /// The reason why it is not used.
    pub reason: PromptReason,
}

/// The reason why a file is used or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptReason {
    Asked,
    Called {
        /// The line of the call.
        line: usize,
        /// The text of the call.
        call: String,
    },
    Selected(SelectorVerdict),
    /// Another file of the same name comes first.
    Shadowed {
        by: PathBuf,
    },
    /// It is the copy of an installed item for another agent.
    OtherVariant {
        /// The client of the copy.
        client: String,
    },
    /// It is a supporting file of an installed item.
    Beside {
        item: String,
    },
    /// Its client limits it, in these words.
    Limited(&'static str),
    /// It is invalid, for this reason.
    Invalid(String),
}

impl fmt::Display for PromptReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PromptReason::Asked => formatter.write_str("was requested"),
            PromptReason::Called { line, call } => {
                write!(formatter, "is called on line {line}: {call}")
            }
            PromptReason::Selected(verdict) => verdict.fmt(formatter),
            PromptReason::Shadowed { by } => {
                write!(formatter, "is overridden by {}, which has the same name", by.display())
            }
            PromptReason::OtherVariant { client } => {
                write!(formatter, "is the copy for {client}")
            }
            PromptReason::Beside { item } => {
                write!(formatter, "belongs to the installed item `{item}`")
            }
            PromptReason::Limited(reason) => formatter.write_str(reason),
            PromptReason::Invalid(problem) => formatter.write_str(problem),
        }
    }
}

/// A failure to build a prompt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// No file has the name, or none that the selectors allow.
    #[error("no task found: {name}")]
    NotFound {
        name: String,
        nearest: Vec<String>,
        /// Files with the name, each with the reason why the selectors exclude it.
        excluded: Vec<(PathBuf, SelectorVerdict)>,
    },
    /// More than one file has the name.
    #[error("multiple tasks found with task_name: {name}")]
    Ambiguous { name: String, files: Vec<PathBuf> },
    /// The task is for an unknown agent.
    #[error("unknown agent: {agent} (supported: {})", CodingAgent::list_names().join(", "))]
    UnknownAgent {
        /// The agent that the task names.
        agent: String,
        path: PathBuf,
        line: usize,
    },
    /// The prompt would exceed the limit.
    #[error("the prompt would be larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The front matter of the task is invalid YAML.
    #[error("the frontmatter of the task is not valid YAML: {problem}")]
    Header { path: PathBuf, line: usize, problem: String },
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
}

impl Prompt {
    /// Counts the placeholders that stay as written because their value is missing or failed (ruling
    /// T13).
    pub fn missing_parts(&self) -> usize {
        const RULES: [Rule; 10] = [
            rules::tasks::BOOTSTRAP_FAILED,
            rules::tasks::COMMAND_FAILED,
            rules::tasks::MISSING_FILE,
            rules::tasks::MISSING_PARAMETER,
            rules::tasks::OUTSIDE_PROJECT,
            rules::tasks::SENSITIVE_FILE,
            rules::tasks::SYSTEM_FILE,
            rules::tasks::UNKNOWN_COMMAND,
            rules::tasks::UNREADABLE_FILE,
            rules::tasks::UNTRUSTED,
        ];
        self.diagnostics.iter().filter(|found| RULES.contains(&found.rule)).count()
    }

    /// Returns the MCP servers of the task and its rules, each under the name of its file.
    pub fn mcp_servers(&self) -> Vec<(String, Node<'_>)> {
        let mut servers: Vec<(String, Node<'_>)> = Vec::new();
        for included in std::iter::once(&self.task).chain(&self.rules) {
            let document = &included.document;
            let Some(node) = document.field("mcp_server") else { continue };
            if !matches!(node.value(), Value::Mapping(_)) {
                continue;
            }
            // Two files can have one name, and both servers must be kept.
            let name = document.stem.as_str();
            let is_taken = |name: &str| servers.iter().any(|(known, _)| known == name);
            let numbered = (2..).map(|number| format!("{name}-{number}"));
            let mut names = std::iter::once(name.to_owned()).chain(numbered);
            let name = names.find(|name| !is_taken(name)).unwrap_or_else(|| name.to_owned());
            servers.push((name, node));
        }
        servers
    }

    /// Returns the same servers in the model of all clients, without those that have neither a
    /// program nor an address.
    pub fn known_mcp_servers(&self) -> Vec<(String, McpServer)> {
        let servers = self.mcp_servers().into_iter();
        servers.filter_map(|(name, node)| Some((name, mcp::parse_server(node)?))).collect()
    }
}
