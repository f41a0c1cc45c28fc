//! What an agent file says, with defaults filled in.

use std::path::PathBuf;
use std::sync::Arc;

use brief_syntax::{Source, Span};

use super::ability::Ability;
use super::value::Value;

/// The end of an agent file's name.
pub const SUFFIX: &str = ".agent.md";

/// The directory that agent files lie in.
pub const DIRECTORY: &str = "agents";

/// An agent.
#[derive(Debug, Clone)]
pub struct Agent {
    /// The text and where it came from.
    pub source: Arc<Source>,
    /// What the file's name says.
    pub name: AgentName,
    /// The version of the definition.
    pub version: String,
    /// A single emoji.
    pub icon: String,
    /// The name for people.
    pub title: String,
    /// What it is for; may be empty.
    pub description: String,
    /// Whether it may be used.
    pub status: Status,
    /// How its texts are rendered.
    pub template_engine: TemplateEngine,
    /// What `ctx.input` is at the start.
    pub input: Value,
    /// What helps it along.
    pub recommended: Recommended,
    /// What it cannot be without.
    pub required: Required,
    /// The commands, in the order of the header; the files of a folder by name.
    pub commands: Vec<Command>,
    /// The commands that lie elsewhere and were not handed in.
    pub unresolved: Vec<Remote>,
    /// The system message, as written.
    pub system: Text,
    /// The rules, as written; may be empty.
    pub rules: Text,
    /// Where its picture is; may be empty.
    pub avatar: String,
    /// What it asks for, and what it must never have.
    pub abilities: Abilities,
    /// The code of its tools, which nothing here runs.
    pub tools: Option<Tools>,
}

impl Agent {
    /// Returns the command of a name, in any case.
    pub fn command(&self, name: &str) -> Option<&Command> {
        let name = name.to_lowercase();
        self.commands.iter().find(|command| command.name.to_lowercase() == name)
    }
}

/// What `<category>_<agent-name>.agent.md` says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentName {
    /// The part before the first `_`; `None` for a name without one.
    pub category: Option<String>,
    /// The rest.
    pub name: String,
}

impl AgentName {
    /// Takes the name of a file apart.
    pub fn of(file_name: &str) -> AgentName {
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

/// The life of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Status {
    /// In use.
    #[default]
    Active,
    /// In use, but not for long.
    Deprecated,
    /// Not to be run.
    Disabled,
}

impl Status {
    /// Every status, in the order of the document.
    pub const ALL: [Status; 3] = [Status::Active, Status::Deprecated, Status::Disabled];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Deprecated => "deprecated",
            Status::Disabled => "disabled",
        }
    }
}

/// How texts are rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TemplateEngine {
    /// With Handlebars.
    #[default]
    Handlebars,
    /// Not at all.
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

/// Guidance that is no reason to fail.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recommended {
    /// Models that work well.
    pub models: Vec<String>,
    /// What a model should be able to do.
    pub capabilities: Vec<String>,
}

/// Requirements that are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Required {
    /// Environment variables that must have a value.
    pub env: Vec<String>,
    /// The tool that must succeed before anything else is done.
    pub startup: Option<Startup>,
}

/// The tool that is run first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Startup {
    /// Its name, in any case.
    pub tool: String,
    /// Where it is written.
    pub span: Span,
}

/// A text of an agent, with where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// The text, as written.
    pub text: String,
    /// Where it came from.
    pub origin: TextOrigin,
}

/// Where a text came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextOrigin {
    /// From a section of the body, which begins here.
    Section(Span),
    /// From the header.
    Header(Span),
    /// From another field, which is never rendered, or from nowhere.
    #[default]
    Elsewhere,
}

impl TextOrigin {
    /// Returns where the text stands.
    pub fn span(self) -> Option<Span> {
        match self {
            TextOrigin::Section(span) | TextOrigin::Header(span) => Some(span),
            TextOrigin::Elsewhere => None,
        }
    }
}

/// A command that is ready to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// What it is called by, in any case.
    pub name: String,
    /// What it does; may be empty for a file.
    pub description: String,
    /// What its arguments are called.
    pub hint: Hint,
    /// The text, with `$1` and `$ARGUMENTS` in it.
    pub body: String,
    /// Where it came from.
    pub origin: CommandOrigin,
    /// The entry of `commands` that it comes from.
    pub span: Span,
}

/// Where a command came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOrigin {
    /// The header of the agent.
    Inline,
    /// A file, absolute.
    File(PathBuf),
    /// Elsewhere; its text was handed in.
    Remote(Remote),
}

/// A command on the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its address, as written.
    pub url: String,
    /// Where it is written.
    pub span: Span,
}

/// The value of `argument-hint`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Hint {
    /// There is none.
    #[default]
    None,
    /// One text for all.
    Text(String),
    /// One for each.
    List(Vec<String>),
}

impl Hint {
    /// Returns what each argument is called, without brackets.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Hint::None => Vec::new(),
            Hint::List(names) => names.iter().map(|name| bare(name)).collect(),
            Hint::Text(text) => {
                let mut names = Vec::new();
                let mut rest = text.trim();
                while let Some(first) = rest.chars().next() {
                    let close = match first {
                        '[' => rest.find(']').map(|at| at + 1),
                        '<' => rest.find('>').map(|at| at + 1),
                        '{' => rest.find('}').map(|at| at + 1),
                        _ => None,
                    };
                    let end =
                        close.or_else(|| rest.find(char::is_whitespace)).unwrap_or(rest.len());
                    names.push(bare(&rest[..end]));
                    rest = rest[end..].trim_start();
                }
                names
            }
        }
    }
}

fn bare(name: &str) -> &str {
    name.trim().trim_matches(['[', ']', '<', '>', '{', '}']).trim()
}

/// What an agent asks for, and what it must never have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Abilities {
    /// What it asks for at most; `None` when it says nothing, which is `tool` alone.
    pub allow: Option<Vec<Ability>>,
    /// What it must not have, whatever else is said.
    pub deny: Vec<Ability>,
}

/// The code of an agent's tools. Whoever runs it says what it returned ([`super::Evaluated`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// The JavaScript, as written: a function's body that returns the tools, or one expression.
    pub code: String,
    /// Where the code stands in the file.
    pub span: Span,
    /// The heading above it.
    pub heading: Span,
}

impl Tools {
    /// Returns where a line and a column of the code, both from 1, stand in the file. What lies past the
    /// end of the code is its end.
    pub fn place(&self, line: usize, column: usize) -> Span {
        let lines = self.code.split_inclusive('\n');
        let before: usize = lines.take(line.saturating_sub(1)).map(str::len).sum();
        let text = self.code[before..].lines().next().unwrap_or_default();
        let characters = text.char_indices().map(|(offset, _)| offset);
        let within = characters.chain([text.len()]).nth(column.saturating_sub(1));
        let start = self.span.start + before + within.unwrap_or(text.len());
        Span::at(start)
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
            assert_eq!(AgentName::of(file), expected);
        }
    }

    /// A32: a hint is a text or a list.
    #[test]
    fn hints_name_arguments() {
        let text = |text: &str| Hint::Text(text.to_owned()).names().join("|");
        assert_eq!(text("[target-name] [framework]"), "target-name|framework");
        assert_eq!(text("<a b> c [d"), "a b|c|d");
        assert_eq!(text(""), "");
        assert_eq!(Hint::List(vec!["[a]".to_owned(), "b".to_owned()]).names(), ["a", "b"]);
    }
}
