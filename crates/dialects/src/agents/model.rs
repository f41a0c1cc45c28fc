//! The types of an agent file, with defaults filled in.

use std::path::PathBuf;
use std::sync::Arc;

use brief_syntax::{Diagnostic, Source, Span, rules};
use serde::{Deserialize, Serialize};

use super::ability::Ability;
use super::value::AgentValue;

/// The suffix of an agent file's name.
pub const SUFFIX: &str = ".agent.md";

/// The directory of agent files.
pub const DIRECTORY: &str = "agents";

#[derive(Debug, Clone)]
pub struct Agent {
    /// The text and its path.
    pub source: Arc<Source>,
    /// The parts of the file name.
    pub name: AgentName,
    /// The version of the definition.
    pub version: String,
    pub icon: String,
    pub title: String,
    /// The description; may be empty.
    pub description: String,
    pub status: AgentStatus,
    /// The rendering of its texts.
    pub template_engine: TemplateEngine,
    /// The initial value of `ctx.input`.
    pub input: AgentValue,
    /// The recommendations of its author.
    pub recommended: Recommended,
    /// The requirements of its author.
    pub required: AgentRequirements,
    /// The commands, in the order of the header; the files of a folder by name.
    pub commands: Vec<Command>,
    /// The remote commands without a supplied text.
    pub unresolved: Vec<Remote>,
    /// The system message, as written.
    pub system: AgentText,
    /// The rules, as written; may be empty.
    pub rules: AgentText,
    /// The location of its picture; may be empty.
    pub avatar: String,
    /// The abilities that it asks for, and those that it must not have.
    pub abilities: Abilities,
    /// The code of its tools, which this crate never runs.
    pub tools: Option<ToolCode>,
}

impl Agent {
    /// Returns the command of a name, in any case.
    pub fn find_command(&self, name: &str) -> Option<&Command> {
        let name = name.to_lowercase();
        self.commands.iter().find(|command| command.name.to_lowercase() == name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentName {
    /// The part before the first `_`; `None` for a name without one.
    pub category: Option<String>,
    pub name: String,
}

impl AgentName {
    pub fn from_file_name(file_name: &str) -> AgentName {
        let stem = file_name.strip_suffix(SUFFIX).or_else(|| file_name.strip_suffix(".md"));
        let stem = stem.unwrap_or(file_name);
        match stem.split_once('_') {
            Some((category, name)) => {
                AgentName { category: Some(category.to_owned()), name: name.to_owned() }
            }
            None => AgentName { category: None, name: stem.to_owned() },
        }
    }
}

/// The lifecycle state of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgentStatus {
    #[default]
    Active,
    /// In use, and to be replaced.
    Deprecated,
    Disabled,
}

impl AgentStatus {
    /// Every status, in the order of the document.
    pub const ALL: [AgentStatus; 3] =
        [AgentStatus::Active, AgentStatus::Deprecated, AgentStatus::Disabled];

    /// Returns the status' name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            AgentStatus::Active => "active",
            AgentStatus::Deprecated => "deprecated",
            AgentStatus::Disabled => "disabled",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TemplateEngine {
    #[default]
    Handlebars,
    Off,
}

impl TemplateEngine {
    /// Returns the value of `templateEngine`.
    pub fn as_str(self) -> &'static str {
        match self {
            TemplateEngine::Handlebars => "hbs",
            TemplateEngine::Off => "",
        }
    }
}

/// Recommendations, which never fail a start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Recommended {
    pub models: Vec<String>,
    /// Capabilities that a model should have.
    pub capabilities: Vec<String>,
}

/// Requirements, without which an agent does not start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AgentRequirements {
    /// Environment variables that must have a value.
    pub env: Vec<String>,
    /// The tool that must succeed before everything else.
    pub startup: Option<Startup>,
}

/// The startup tool; in JSON, its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct Startup {
    /// Its name, in any case.
    pub tool: String,
    /// The place of the value.
    pub span: Span,
}

impl From<Startup> for String {
    fn from(startup: Startup) -> String {
        startup.tool
    }
}

/// A text of an agent and its origin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentText {
    pub text: String,
    pub origin: TextOrigin,
}

/// The origin of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextOrigin {
    /// A section of the body, with its span.
    Section(Span),
    /// A field of the header.
    Header(Span),
    /// Another field, which is never rendered, or none.
    #[default]
    Elsewhere,
}

impl TextOrigin {
    /// Returns the span of the text.
    pub fn span(self) -> Option<Span> {
        match self {
            TextOrigin::Section(span) | TextOrigin::Header(span) => Some(span),
            TextOrigin::Elsewhere => None,
        }
    }
}

/// A command that can be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its name, in any case.
    pub name: String,
    /// The description; may be empty for a file.
    pub description: String,
    /// The names of its arguments.
    pub hint: Hint,
    /// The text, with `$1` and `$ARGUMENTS` in it.
    pub body: String,
    pub origin: CommandOrigin,
    pub span: Span,
}

/// The origin of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOrigin {
    /// The header of the agent.
    Inline,
    /// A file, absolute.
    File(PathBuf),
    /// A remote address; the text was supplied.
    Remote(Remote),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    pub url: String,
    /// The place of the address in the agent.
    pub span: Span,
    /// The place that its text comes from.
    pub state: RemoteState,
}

/// The place that the text of a remote command comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteState {
    /// None: it was not fetched.
    Unresolved,
    Fetched,
    /// The cache of an earlier fetch.
    Kept,
}

impl RemoteState {
    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            RemoteState::Unresolved => "unresolved",
            RemoteState::Fetched => "fetched",
            RemoteState::Kept => "cached",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(untagged)]
pub enum Hint {
    #[default]
    None,
    /// One string for all arguments.
    Text(String),
    /// One string for each argument.
    List(Vec<String>),
}

impl Hint {
    /// Returns the names of the arguments, without brackets.
    pub fn argument_names(&self) -> Vec<&str> {
        match self {
            Hint::None => Vec::new(),
            Hint::List(names) => names.iter().map(|name| strip_brackets(name)).collect(),
            Hint::Text(text) => {
                let mut names = Vec::new();
                let mut rest = text.trim();
                while let Some(first) = rest.chars().next() {
                    let close = match first {
                        '[' => Some(']'),
                        '<' => Some('>'),
                        '{' => Some('}'),
                        _ => None,
                    };
                    let close = close.and_then(|close| Some(rest.find(close)? + 1));
                    let end =
                        close.or_else(|| rest.find(char::is_whitespace)).unwrap_or(rest.len());
                    names.push(strip_brackets(&rest[..end]));
                    rest = rest[end..].trim_start();
                }
                names
            }
        }
    }
}

fn strip_brackets(name: &str) -> &str {
    name.trim().trim_matches(['[', ']', '<', '>', '{', '}']).trim()
}

/// The abilities that an agent asks for, and those that it must not have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Abilities {
    /// The upper bound of its abilities; `None` if it names none, which means `tool` alone.
    pub allow: Option<Vec<Ability>>,
    /// The abilities that it must not have in any case.
    pub deny: Vec<Ability>,
}

/// The code of an agent's tools. The runtime reports the result as [`super::Evaluated`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCode {
    /// The JavaScript, as written: a function body that returns the tools, or one expression.
    pub code: String,
    /// The span of the code in the file.
    pub span: Span,
    pub heading: Span,
}

/// A problem of an agent's code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeProblem {
    /// The message, without the place.
    pub message: String,
    /// The line and the column in the code, from 1.
    pub place: Option<(u32, u32)>,
    /// Advice, if there is any.
    pub help: Option<String>,
}

impl Agent {
    /// Returns the diagnostic of a problem of the code. A place in the code is a place in the file.
    pub fn diagnose_code(&self, problem: CodeProblem) -> Diagnostic {
        let span = match (&self.tools, problem.place) {
            (Some(tools), Some((line, column))) => tools.span_at(line as usize, column as usize),
            (Some(tools), None) => tools.heading,
            (None, _) => Span::empty_at(0),
        };
        let rule = rules::agent_file::TOOLS_CODE;
        let diagnostic = Diagnostic::new(rule, &self.source, span, problem.message);
        match problem.help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        }
    }
}

impl ToolCode {
    /// Returns the place in the file of a line and a column of the code, both from 1. A place
    /// beyond the code is its end.
    pub fn span_at(&self, line: usize, column: usize) -> Span {
        let lines = self.code.split_inclusive('\n');
        let before: usize = lines.take(line.saturating_sub(1)).map(str::len).sum();
        let text = self.code[before..].lines().next().unwrap_or_default();
        let characters = text.char_indices().map(|(offset, _)| offset);
        let within = characters.chain([text.len()]).nth(column.saturating_sub(1));
        let start = self.span.start + before + within.unwrap_or(text.len());
        Span::empty_at(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A1, Y1: the first `_` ends the category.
    #[test]
    fn a_file_name_has_a_category_and_a_name() {
        for (file, category, name) in [
            ("dev_x.agent.md", Some("dev"), "x"),
            ("dev_my_agent.agent.md", Some("dev"), "my_agent"),
            ("policy.agent.md", None, "policy"),
            ("notes.md", None, "notes"),
        ] {
            let expected =
                AgentName { category: category.map(str::to_owned), name: name.to_owned() };
            assert_eq!(AgentName::from_file_name(file), expected);
        }
    }

    /// A32: a hint is a string or a list.
    #[test]
    fn hints_name_arguments() {
        let text = |text: &str| Hint::Text(text.to_owned()).argument_names().join("|");
        assert_eq!(text("[target-name] [framework]"), "target-name|framework");
        assert_eq!(text("<a b> c [d"), "a b|c|d");
        assert_eq!(text(""), "");
        assert_eq!(Hint::List(vec!["[a]".to_owned(), "b".to_owned()]).argument_names(), ["a", "b"]);
    }
}
