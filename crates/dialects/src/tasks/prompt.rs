//! What is asked for, and what comes of it.

use std::fmt;
use std::path::{Path, PathBuf};

use brief_syntax::Diagnostic;
use brief_syntax::yaml::{Node, Value};

use crate::mcp::McpServer;

use super::mcp;
use super::model::{Agent, Document, TaskName};
use super::parameters::Parameters;
use super::selectors::{Selectors, Verdict};
use super::skill::Skill;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// The task.
    pub name: &'r TaskName,
    /// What the user adds to it.
    pub prompt: Option<&'r [u8]>,
    /// The values of `${name}`.
    pub parameters: &'r Parameters,
    /// What the user selects, besides what the task does.
    pub selectors: &'r Selectors,
    /// The agent that the prompt is for; the task's own wins.
    pub agent: Option<Agent>,
    /// How much of it.
    pub amount: Amount,
    /// Where relative paths start, all links followed.
    pub directory: &'r Path,
    /// The project that the directory belongs to, all links followed. Its texts read nothing outside.
    pub project: &'r Path,
}

/// How much is assembled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Rules, skills and the task.
    Everything,
    /// The task alone: the agent has the rest already.
    TaskAlone,
}

/// An assembled prompt.
#[derive(Debug)]
pub struct Prompt {
    /// The task, and its text with everything put in.
    pub task: Included,
    /// The rules, in order.
    pub rules: Vec<Included>,
    /// The commands, one for each call, in the order of the calls.
    pub commands: Vec<Included>,
    /// The skills that are offered.
    pub skills: Vec<Skill>,
    /// What was found and is not used, in the order of the search.
    pub left_out: Vec<LeftOut>,
    /// The agent that the prompt is for.
    pub agent: Option<Agent>,
    /// What there is to say about it.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file that is part of a prompt.
#[derive(Debug)]
pub struct Included {
    /// The file.
    pub document: Document,
    /// Why it is in.
    pub reason: Reason,
    /// Its text, with everything put in.
    pub text: Vec<u8>,
}

/// A file that is no part of a prompt.
#[derive(Debug)]
pub struct LeftOut {
    /// The file.
    pub document: Document,
    /// Why it is out.
    pub reason: Reason,
}

/// Why a file is in or out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It was asked for by name.
    Asked,
    /// The task calls it.
    Called {
        /// The line of the call.
        line: usize,
        /// What stands there.
        call: String,
    },
    /// Selectors say so.
    Selected(Verdict),
    /// Another file of the same name comes first.
    Shadowed {
        /// That file.
        by: PathBuf,
    },
    /// It is an installed item as another agent gets it.
    OtherVariant {
        /// The client that it was compiled for.
        client: String,
    },
    /// It lies beside an installed item.
    Beside {
        /// The item.
        item: String,
    },
    /// It is not valid, in these words.
    Invalid(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Asked => formatter.write_str("it was asked for"),
            Reason::Called { line, call } => write!(formatter, "line {line} calls it: {call}"),
            Reason::Selected(verdict) => verdict.fmt(formatter),
            Reason::Shadowed { by } => {
                write!(formatter, "{} has the same name and comes first", by.display())
            }
            Reason::OtherVariant { client } => {
                write!(formatter, "it is the copy of the item for {client}")
            }
            Reason::Beside { item } => {
                write!(formatter, "it lies beside the installed item `{item}`")
            }
            Reason::Invalid(problem) => formatter.write_str(problem),
        }
    }
}

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// No file has the name, or none that the selectors allow.
    #[error("no task found: {name}")]
    NotFound {
        /// The name.
        name: String,
        /// Names that are like it.
        nearest: Vec<String>,
        /// Files that have the name, and why they are out.
        excluded: Vec<(PathBuf, Verdict)>,
    },
    /// More than one file has the name.
    #[error("multiple tasks found with task_name: {name}")]
    Ambiguous {
        /// The name.
        name: String,
        /// The files.
        files: Vec<PathBuf>,
    },
    /// The task is for an agent that nobody knows.
    #[error("unknown agent: {agent} (supported: {})", Agent::names())]
    UnknownAgent {
        /// What the task says.
        agent: String,
        /// The task.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// The prompt would be larger than anybody can use.
    #[error("the prompt would be larger than {limit} bytes")]
    TooLarge {
        /// What is allowed.
        limit: usize,
    },
    /// The header of the task is not YAML, so nobody knows what it says.
    #[error("the front matter of the task is not YAML: {problem}")]
    Header {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Prompt {
    /// Returns the MCP servers that the task and its rules ask for, by name: that of the file.
    pub fn mcp_servers(&self) -> Vec<(String, Node<'_>)> {
        let mut servers: Vec<(String, Node<'_>)> = Vec::new();
        for included in std::iter::once(&self.task).chain(&self.rules) {
            let document = &included.document;
            let Some(node) = document.field("mcp_server") else { continue };
            if !matches!(node.value(), Value::Mapping(_)) {
                continue;
            }
            // Two files can have one name, and a server that is lost is missed later.
            let name = document.stem();
            let is_taken = |name: &str| servers.iter().any(|(known, _)| known == name);
            let numbered = (2..).map(|number| format!("{name}-{number}"));
            let mut names = std::iter::once(name.to_owned()).chain(numbered);
            let name = names.find(|name| !is_taken(name)).unwrap_or_else(|| name.to_owned());
            servers.push((name, node));
        }
        servers
    }

    /// Returns the same servers as clients understand them; what has neither a program nor an
    /// address is left out.
    pub fn known_mcp_servers(&self) -> Vec<(String, McpServer)> {
        let servers = self.mcp_servers().into_iter();
        servers.filter_map(|(name, node)| Some((name, mcp::server(node)?))).collect()
    }
}
