//! The types of this format.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::{Mapping, Node, Value};
use brief_syntax::{Diagnostic, Severity, Source, Span};

/// The newest version of the format that is understood.
pub const SCHEMA: u64 = 1;

/// Characters of a name, at most.
pub const NAME_LENGTH: usize = 64;

/// The model names that mean something for every client.
pub const MODEL_ALIASES: [&str; 3] = ["sonnet", "opus", "haiku"];

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Guidance that is always there.
    Rule,
    /// A procedure that is read when it is needed.
    Skill,
    /// A persona with its own prompt and tools.
    Agent,
}

impl Kind {
    /// All kinds, in the order of the document.
    pub const ALL: [Kind; 3] = [Kind::Rule, Kind::Skill, Kind::Agent];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Rule => "rule",
            Kind::Skill => "skill",
            Kind::Agent => "agent",
        }
    }

    /// Returns the name of the directory that holds items of the kind, and of the list in a bundle.
    pub fn folder(self) -> &'static str {
        match self {
            Kind::Rule => "rules",
            Kind::Skill => "skills",
            Kind::Agent => "agents",
        }
    }

    /// Returns the stem of the entrypoint: `RULE` of `RULE.md`.
    pub fn stem(self) -> &'static str {
        match self {
            Kind::Rule => "RULE",
            Kind::Skill => "SKILL",
            Kind::Agent => "AGENT",
        }
    }

    /// Returns the name of the entrypoint.
    pub fn entrypoint(self) -> &'static str {
        match self {
            Kind::Rule => "RULE.md",
            Kind::Skill => "SKILL.md",
            Kind::Agent => "AGENT.md",
        }
    }

    /// Finds the kind whose items lie in a directory of that name.
    pub fn of_folder(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.folder() == name)
    }

    /// Finds the kind of that name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What tells two items apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId {
    /// The kind.
    pub kind: Kind,
    /// The name.
    pub name: String,
}

impl fmt::Display for ItemId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} `{}`", self.kind, self.name)
    }
}

/// A tool by what it can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolCapability(pub &'static str);

/// The capabilities of the document, in its order.
pub const CAPABILITIES: [ToolCapability; 8] = [
    ToolCapability("read"),
    ToolCapability("write"),
    ToolCapability("edit"),
    ToolCapability("bash"),
    ToolCapability("grep"),
    ToolCapability("glob"),
    ToolCapability("web-fetch"),
    ToolCapability("web-search"),
];

impl ToolCapability {
    /// Finds the capability of that name.
    pub fn from_name(name: &str) -> Option<ToolCapability> {
        CAPABILITIES.into_iter().find(|capability| capability.0 == name)
    }
}

/// How an agent is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// By the user.
    Primary,
    /// By another agent.
    #[default]
    Subagent,
    /// By both.
    All,
}

impl Mode {
    /// All modes, in the order of the document.
    pub const ALL: [Mode; 3] = [Mode::Primary, Mode::Subagent, Mode::All];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Primary => "primary",
            Mode::Subagent => "subagent",
            Mode::All => "all",
        }
    }

    /// Finds the mode of that name.
    pub fn from_name(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

/// A file taken apart: front matter and body.
#[derive(Debug)]
pub struct Document {
    pub(super) source: Arc<Source>,
    pub(super) front: FrontMatter,
}

impl Document {
    /// Returns the text that was read.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Returns the fields of the front matter.
    pub fn fields(&self) -> Option<Mapping<'_>> {
        match self.front.header.as_ref()?.yaml.root()?.value() {
            Value::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    /// Returns a field.
    pub fn field(&self, name: &str) -> Option<Node<'_>> {
        self.fields()?.get(name)
    }

    /// Returns the text of a field that is one.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.field(name)?.as_str()
    }

    /// Returns the texts of a field that is a list.
    pub fn list(&self, name: &str) -> Option<Vec<&str>> {
        list_of(self.field(name)?)
    }

    /// Returns the version in the metadata, as written.
    pub fn version(&self) -> Option<&str> {
        match self.field("metadata")?.value() {
            Value::Mapping(metadata) => metadata.get("version")?.as_str(),
            _ => None,
        }
    }

    /// Returns the body.
    pub fn body(&self) -> &str {
        &self.source.text()[self.front.body_start..]
    }

    /// Returns where the body begins.
    pub fn body_start(&self) -> usize {
        self.front.body_start
    }

    /// Returns the front matter's text between the dashes.
    pub fn header(&self) -> Option<&str> {
        self.front.header.as_ref().map(|header| self.source.slice(header.span))
    }
}

/// Returns the texts of a list.
pub(super) fn list_of(node: Node<'_>) -> Option<Vec<&str>> {
    match node.value() {
        Value::Sequence(list) => Some(list.iter().filter_map(Node::as_str).collect()),
        _ => None,
    }
}

/// A rule, skill or agent.
#[derive(Debug)]
pub struct Item {
    pub(super) id: ItemId,
    pub(super) directory: PathBuf,
    pub(super) slashed: String,
    pub(super) document: Document,
    pub(super) overrides: Vec<Override>,
    pub(super) files: Vec<SupportFile>,
    pub(super) origin: Origin,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Whether an item was written for this format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It has a `schema`.
    Portable,
    /// A skill of the open standard without one: taken as it is.
    ForeignSkill,
}

/// A body for one client.
#[derive(Debug)]
pub struct Override {
    /// The client.
    pub client: String,
    /// The file.
    pub source: Arc<Source>,
}

/// A file beside the entrypoint.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SupportFile {
    /// The path below the item's directory, with `/`.
    pub path: String,
}

impl Item {
    /// Returns the kind and name; the name is that of the directory.
    pub fn id(&self) -> &ItemId {
        &self.id
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.id.kind
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.id.name
    }

    /// Returns the item's directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the item's directory below the registry's root, with `/`.
    pub fn slashed(&self) -> &str {
        &self.slashed
    }

    /// Returns the entrypoint.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the bodies for single clients.
    pub fn overrides(&self) -> &[Override] {
        &self.overrides
    }

    /// Returns the files beside the entrypoint, sorted.
    pub fn files(&self) -> &[SupportFile] {
        &self.files
    }

    /// Returns whether it is a skill of the open standard that does not know this format.
    pub fn is_foreign(&self) -> bool {
        self.origin == Origin::ForeignSkill
    }

    /// Returns what is wrong with it.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns whether it can be compiled: nothing about it is an error.
    pub fn is_valid(&self) -> bool {
        self.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error)
    }

    /// Returns what it is for.
    pub fn description(&self) -> &str {
        self.document.text("description").unwrap_or_default()
    }

    /// Returns its version, as written.
    pub fn version(&self) -> Option<&str> {
        self.document.version()
    }

    /// Returns whether the item is for a client.
    pub fn is_for(&self, client: &str) -> bool {
        self.document.list("audience").is_none_or(|audience| audience.contains(&client))
    }

    /// Returns the patterns that a rule is scoped by; none means always.
    pub fn scope_paths(&self) -> Vec<&str> {
        let Some(Value::Mapping(scope)) = self.document.field("scope").map(Node::value) else {
            return Vec::new();
        };
        scope.get("paths").and_then(list_of).unwrap_or_default()
    }

    /// Returns how an agent is used.
    pub fn mode(&self) -> Mode {
        self.document.text("mode").and_then(Mode::from_name).unwrap_or_default()
    }

    /// Returns the model that an agent wants.
    pub fn model(&self) -> &str {
        self.document.text("model").unwrap_or(MODEL_ALIASES[0])
    }

    /// Returns the tools that an agent lists; `None` means all that a client has.
    pub fn tools(&self) -> Option<Vec<&str>> {
        self.document.list("tools")
    }

    /// Returns the skills that an agent has from the start.
    pub fn preload_skills(&self) -> Vec<&str> {
        self.document.list("preload-skills").unwrap_or_default()
    }

    /// Returns the fields that are for one client only: a mapping.
    pub fn passthrough(&self, client: &str) -> Option<Node<'_>> {
        self.document.field(client).filter(|node| matches!(node.value(), Value::Mapping(_)))
    }

    /// Returns the body for a client: its own file, as it is, or the canonical body with the
    /// directives carried out.
    pub fn body_for(&self, client: &str, clients: &[&str]) -> String {
        match self.overrides.iter().find(|own| own.client == client) {
            Some(own) => own.source.text().trim_start_matches('\u{feff}').to_owned(),
            None if self.is_foreign() => self.document.body().to_owned(),
            None => super::directives::render(self.document.body(), client, clients),
        }
    }
}

/// A list of items that belong together.
#[derive(Debug)]
pub struct Bundle {
    pub(super) name: String,
    pub(super) slashed: String,
    pub(super) document: Document,
    pub(super) items: Vec<(ItemId, Span)>,
    pub(super) requires: Vec<Required>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// A bundle that another one needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Required {
    /// Its name.
    pub name: String,
    /// The versions that will do, as written.
    pub version: Option<String>,
    /// Where it is named.
    pub span: Span,
}

impl Bundle {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file below the registry's root, with `/`.
    pub fn slashed(&self) -> &str {
        &self.slashed
    }

    /// Returns the file.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the items that it lists.
    pub fn items(&self) -> impl Iterator<Item = &ItemId> {
        self.items.iter().map(|(id, _)| id)
    }

    /// Returns the bundles that it needs.
    pub fn requires(&self) -> &[Required] {
        &self.requires
    }

    /// Returns its version, as written.
    pub fn version(&self) -> Option<&str> {
        self.document.version()
    }

    /// Returns what is wrong with it.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}
