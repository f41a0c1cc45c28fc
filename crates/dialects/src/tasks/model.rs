//! The types of this format.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_profiles::{BUILTIN, TaskRules};
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::source::Encoding;
use brief_syntax::yaml::{Mapping, Node, Value};
use brief_syntax::{Diagnostic, Rule, Source, Span};

use super::expand::{self, TextPart};
use super::mcp;
use crate::mcp::McpServer;

/// The limit for the parameters of a text that are listed.
const PARAMETERS: usize = 64;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum TaskFileKind {
    /// The work of the agent.
    #[default]
    Task,
    /// A text that tasks call by `/name`.
    Command,
    Rule,
    /// A capability that the agent may read about.
    Skill,
}

impl TaskFileKind {
    /// All kinds, in the order of the document.
    pub const ALL: [TaskFileKind; 4] =
        [TaskFileKind::Task, TaskFileKind::Command, TaskFileKind::Rule, TaskFileKind::Skill];

    /// Returns the kind's name in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskFileKind::Task => "task",
            TaskFileKind::Command => "command",
            TaskFileKind::Rule => "rule",
            TaskFileKind::Skill => "skill",
        }
    }
}

/// An agent that rules can be for: a client with `[task]` in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodingAgent {
    name: &'static str,
    rules: &'static TaskRules,
}

impl CodingAgent {
    /// Returns the agents that the document names, in its order.
    pub fn list_all() -> Vec<CodingAgent> {
        let mut agents: Vec<CodingAgent> = CodingAgent::iter_unsorted().collect();
        agents.sort_by_key(|agent| agent.rules.order);
        agents
    }

    fn iter_unsorted() -> impl Iterator<Item = CodingAgent> {
        BUILTIN.clients.iter().filter_map(|client| {
            client.task.as_ref().map(|rules| CodingAgent { name: &client.id, rules })
        })
    }

    /// Returns the name that users write.
    pub fn as_str(self) -> &'static str {
        self.name
    }

    /// Finds an agent by its name, which is case-sensitive.
    pub fn from_name(name: &str) -> Option<CodingAgent> {
        CodingAgent::iter_unsorted().find(|agent| agent.name == name)
    }

    /// Returns the names of all agents, in the order of the document.
    pub fn list_names() -> Vec<&'static str> {
        CodingAgent::list_all().into_iter().map(CodingAgent::as_str).collect()
    }

    /// Returns the file below a project from which the agent always reads rules, and the start of a
    /// new one.
    pub fn project_rules(self) -> (&'static str, &'static str) {
        (&self.rules.rules, &self.rules.begins)
    }

    /// Returns the file below the home directory from which the agent reads the user's rules.
    pub fn user_rules(self) -> &'static str {
        &self.rules.home_rules
    }
}

/// The name of a task as typed: `fix-bug`, `/fix-bug` or `team/fix-bug`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskName {
    namespace: Option<String>,
    base: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid task name {text:?}: {problem}")]
pub struct TaskNameError {
    text: String,
    problem: &'static str,
}

impl TaskName {
    /// Parses a name. One leading `/` is accepted, because commands are called that way.
    pub fn parse(text: &str) -> Result<TaskName, TaskNameError> {
        let error = |problem| TaskNameError { text: text.to_owned(), problem };
        let name = text.strip_prefix('/').unwrap_or(text);
        let (namespace, base) = match name.split_once('/') {
            None => (None, name),
            Some((_, rest)) if rest.contains('/') => {
                return Err(error(
                    "only one level of namespacing is supported (expected \"namespace/task\")",
                ));
            }
            Some(("", _)) => return Err(error("namespace must not be empty")),
            Some((namespace, base)) => (Some(namespace), base),
        };
        if base.is_empty() {
            return Err(error("task base name must not be empty"));
        }
        let leads_away = |name: &str| matches!(name, "." | "..") || name.contains(['\\', '\0']);
        if leads_away(base) || namespace.is_some_and(leads_away) {
            return Err(error("a name cannot lead to another directory"));
        }
        Ok(TaskName { namespace: namespace.map(str::to_owned), base: base.to_owned() })
    }

    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Returns the name without the namespace: the file's stem.
    pub fn base(&self) -> &str {
        &self.base
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(formatter, "{namespace}/{}", self.base),
            None => formatter.write_str(&self.base),
        }
    }
}

/// The source of a search root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SearchOrigin {
    /// The command line, before all others.
    Given,
    Project,
    Home,
    /// The command line, after all others.
    Fallback,
    /// A line of a manifest.
    Manifest,
}

impl SearchOrigin {
    /// Returns the name in the `scope` of an item.
    pub fn scope(self) -> &'static str {
        match self {
            SearchOrigin::Project => "project",
            SearchOrigin::Home => "user",
            SearchOrigin::Given | SearchOrigin::Fallback | SearchOrigin::Manifest => "directory",
        }
    }
}

/// The author of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The user: typed, or in the home directory. Its commands run, and it reads files anywhere.
    User,
    /// The project. Its commands run if the user trusts the project, and it reads files of the
    /// project only.
    Project,
    /// Another author: it came over a network, or was installed. Its commands run only if their
    /// exact content is trusted, and it reads files of the project only.
    Remote,
}

impl Author {
    /// Returns the author of a directory on this machine: the user at home, a project everywhere
    /// else.
    pub fn from_origin(origin: SearchOrigin) -> Author {
        if origin == SearchOrigin::Home { Author::User } else { Author::Project }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRoot {
    pub path: PathBuf,
    pub origin: SearchOrigin,
    /// The author of its files.
    pub author: Author,
}

#[derive(Debug, Clone)]
pub struct TaskDocument {
    pub kind: TaskFileKind,
    /// The text that was read, with its path.
    pub source: Arc<Source>,
    pub(super) front: FrontMatter,
    /// The file name without extension; for a skill, the name of its directory.
    pub stem: String,
    /// The source of its search root.
    pub origin: SearchOrigin,
    /// The author, who decides what may run.
    pub author: Author,
    /// Its search root, without links.
    pub root: Arc<Path>,
    pub(super) namespace: Option<String>,
    /// The script beside a rule, by its name; it may be any kind of file.
    pub script: Option<PathBuf>,
    /// The real path, without links: two paths to one file are one file.
    pub(super) real_path: PathBuf,
    /// The setting of expansion for a text without front matter.
    pub(super) expands: Option<bool>,
}

impl TaskDocument {
    /// Returns the full name: with its namespace.
    pub fn name(&self) -> String {
        let name = match self.kind {
            TaskFileKind::Skill => self.text("name").unwrap_or(&self.stem),
            _ => &self.stem,
        };
        match &self.namespace {
            Some(namespace) => format!("{namespace}/{name}"),
            None => name.to_owned(),
        }
    }

    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Returns the fields of the front matter.
    pub fn fields(&self) -> Option<Mapping<'_>> {
        match self.front.header.as_ref()?.yaml.root()?.value() {
            Value::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    /// Returns the front matter as a tree, if it has fields.
    pub fn front_matter(&self) -> Option<Node<'_>> {
        self.fields()?;
        self.front.header.as_ref()?.yaml.root()
    }

    /// Returns a field of the front matter.
    pub fn field(&self, name: &str) -> Option<Node<'_>> {
        self.fields()?.get(name)
    }

    /// Returns a field that is a string.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.field(name)?.as_str()
    }

    /// Returns its MCP server, and the line of that; `None` for one that has neither a program nor an address.
    pub fn mcp_server(&self) -> Option<(McpServer, usize)> {
        let node = self.field("mcp_server")?;
        Some((mcp::parse_server(node)?, self.source.line_number(node.span().start)))
    }

    /// Returns the names of the parameters in its text, `${name}`, in the order of their first use.
    pub fn parameter_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        if self.expands_body() {
            for placed in expand::split_text_parts(self.body()) {
                let TextPart::Parameter { name } = placed.part else { continue };
                let Ok(name) = str::from_utf8(name) else { continue };
                if names.len() < PARAMETERS && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// Returns the description; empty if missing.
    pub fn description(&self) -> &str {
        self.text("description").unwrap_or_default()
    }

    /// Returns the front matter as written, without the dashes; `None` without fields.
    pub fn header(&self) -> Option<&str> {
        self.fields()?.fields().next()?;
        self.front.header.as_ref().map(|header| self.source.slice(header.span))
    }

    /// Returns [`TaskDocument::header`] byte for byte.
    pub(super) fn header_bytes(&self) -> Option<&[u8]> {
        self.header()?;
        let span = self.front.header.as_ref()?.span;
        let from = self.source.bytes_from_line(span.start);
        from.get(..from.len() - self.source.bytes_from_line(span.end).len())
    }

    /// Returns the text after the front matter, byte for byte.
    pub fn body(&self) -> &[u8] {
        self.source.bytes_from_line(self.front.body_start)
    }

    /// Returns the first line of the body, from 1.
    pub fn body_line(&self) -> usize {
        self.source.line_number(self.front.body_start)
    }

    /// Returns the span of a part of the body.
    pub(super) fn body_span(&self, start: usize, length: usize) -> Span {
        let at = self.front.body_start + start;
        if self.source.encoding() == Encoding::Utf8 {
            return Span::new(at, at + length);
        }
        // Offsets of the bytes are not those of the decoded text; the lines are equal.
        let before = &self.body()[..start.min(self.body().len())];
        let line = self.body_line() + memchr::memchr_iter(b'\n', before).count();
        self.source.line_span(line)
    }

    /// Returns a diagnostic about a part of the file.
    pub(super) fn problem(&self, rule: Rule, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(rule, &self.source, span, message)
    }

    /// Returns whether it is an identical file in another tool's directory: both then count as one.
    pub(super) fn is_copy_of(&self, other: &TaskDocument) -> bool {
        let place = |document: &TaskDocument| {
            let below = document.path().strip_prefix(&document.root);
            below.unwrap_or(document.path()).iter().take(2).collect::<PathBuf>()
        };
        place(self) != place(other)
            && self.source.bytes_from_line(0) == other.source.bytes_from_line(0)
    }

    pub(super) fn has_bootstrap(&self) -> bool {
        self.script.is_some() || self.field("bootstrap").is_some()
    }

    /// Returns a text that the user typed, with this document's settings. Its author is the user.
    pub(super) fn with_body(&self, name: &str, body: &[u8]) -> TaskDocument {
        TaskDocument {
            source: Arc::new(Source::from_bytes(name, body.to_vec())),
            front: FrontMatter { header: None, body_start: 0, diagnostics: Vec::new() },
            expands: Some(self.expands_body()),
            author: Author::User,
            script: None,
            real_path: PathBuf::from(name),
            ..self.clone()
        }
    }

    /// Returns whether the body is expanded. In doubt it is not, because unexpanded text does
    /// nothing.
    pub fn expands_body(&self) -> bool {
        match self.field("expand").map(Node::value) {
            None | Some(Value::Null) => self.expands.unwrap_or(true),
            Some(Value::Scalar(text)) => matches!(text, "true" | "True" | "TRUE"),
            Some(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_namespace_at_most() {
        let parse = |text: &str| TaskName::parse(text).map(|name| name.to_string());
        assert_eq!(parse("fix-bug").unwrap(), "fix-bug");
        assert_eq!(parse("/fix-bug").unwrap(), "fix-bug");
        assert_eq!(parse("team/fix-bug").unwrap(), "team/fix-bug");
        for (text, problem) in [
            ("", "task base name must not be empty"),
            ("/", "task base name must not be empty"),
            ("team/", "task base name must not be empty"),
            ("//x", "namespace must not be empty"),
            ("a/b/c", "only one level of namespacing is supported (expected \"namespace/task\")"),
            ("../x", "a name cannot lead to another directory"),
            ("a/..", "a name cannot lead to another directory"),
        ] {
            assert_eq!(parse(text).unwrap_err().problem, problem, "{text}");
        }
    }
}
