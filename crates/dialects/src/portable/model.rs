//! The types of this format.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_safety::policy::RequiredItem;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::{Mapping, Node, Value};
use brief_syntax::{Diagnostic, Severity, Source, Span};

use super::foreign::Plugin;

/// The newest supported version of the format.
pub const SCHEMA: u64 = 1;

/// The longest name, in characters.
pub const NAME_LENGTH: usize = 64;

/// The model names that every client understands.
pub const MODEL_ALIASES: [&str; 3] = ["sonnet", "opus", "haiku"];

/// The kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    /// Guidance that is always in force.
    Rule,
    /// A procedure that an agent reads on demand.
    Skill,
    /// A persona with its own prompt and tools.
    Agent,
    /// A prompt that the user calls by its name, with arguments. The document does not have it.
    Command,
}

/// The names of each kind, in the order of [`ItemKind::ALL`]: in options and files, of its directory, and of the entry
/// file without and with its ending.
const KIND_NAMES: [(&str, &str, &str, &str); 4] = [
    ("rule", "rules", "RULE", "RULE.md"),
    ("skill", "skills", "SKILL", "SKILL.md"),
    ("agent", "agents", "AGENT", "AGENT.md"),
    ("command", "commands", "COMMAND", "COMMAND.md"),
];

impl ItemKind {
    /// All kinds: those of the document in its order, then our own.
    pub const ALL: [ItemKind; 4] =
        [ItemKind::Rule, ItemKind::Skill, ItemKind::Agent, ItemKind::Command];

    /// Returns the kind's name in options and files.
    pub const fn as_str(self) -> &'static str {
        KIND_NAMES[self as usize].0
    }

    /// Returns whether the document has the kind.
    pub fn is_of_document(self) -> bool {
        self != ItemKind::Command
    }

    /// Returns the name of the directory for items of the kind, and of the list in a bundle.
    pub fn folder(self) -> &'static str {
        KIND_NAMES[self as usize].1
    }

    /// Returns the stem of the entry file: `RULE` of `RULE.md`.
    pub fn stem(self) -> &'static str {
        KIND_NAMES[self as usize].2
    }

    /// Returns the name of the entry file.
    pub fn entrypoint(self) -> &'static str {
        KIND_NAMES[self as usize].3
    }

    /// Finds the kind by the name of its directory.
    pub fn of_folder(name: &str) -> Option<ItemKind> {
        ItemKind::ALL.into_iter().find(|kind| kind.folder() == name)
    }

    /// Finds a kind by its name.
    pub fn from_name(name: &str) -> Option<ItemKind> {
        ItemKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The identity of an item in a registry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId {
    pub kind: ItemKind,
    pub name: String,
}

impl ItemId {
    /// Returns the name with its kind: `rule/money`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }
}

impl ItemId {
    /// Returns whether this is the item that a policy requires.
    pub fn is_required_by(&self, required: &RequiredItem) -> bool {
        (self.kind.as_str(), &self.name) == (required.kind, &required.name)
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} `{}`", self.kind, self.name)
    }
}

/// A tool named by its capability.
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
    /// Finds a capability by its name.
    pub fn from_name(name: &str) -> Option<ToolCapability> {
        CAPABILITIES.into_iter().find(|capability| capability.0 == name)
    }
}

/// The way in which an agent is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgentMode {
    Primary,
    #[default]
    Subagent,
    All,
}

impl AgentMode {
    /// All modes, in the order of the document.
    pub const ALL: [AgentMode; 3] = [AgentMode::Primary, AgentMode::Subagent, AgentMode::All];

    /// Returns the mode's name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            AgentMode::Primary => "primary",
            AgentMode::Subagent => "subagent",
            AgentMode::All => "all",
        }
    }

    /// Finds a mode by its name.
    pub fn from_name(name: &str) -> Option<AgentMode> {
        AgentMode::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

/// A file, split into front matter and body.
#[derive(Debug)]
pub struct ItemDocument {
    pub(super) source: Arc<Source>,
    pub(super) front: FrontMatter,
}

impl ItemDocument {
    /// Returns the text that was read.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Returns the fields of the front matter.
    pub fn fields(&self) -> Option<Mapping<'_>> {
        mapping_of(self.front.header.as_ref()?.yaml.root()?)
    }

    pub fn field(&self, name: &str) -> Option<Node<'_>> {
        self.fields()?.get(name)
    }

    /// Returns a field that is a string.
    pub fn field_text(&self, name: &str) -> Option<&str> {
        self.field(name)?.as_str()
    }

    /// Returns a field that is a list of strings.
    pub fn field_list(&self, name: &str) -> Option<Vec<&str>> {
        list_of(self.field(name)?)
    }

    /// Returns the version in the metadata, as written.
    pub fn version(&self) -> Option<&str> {
        mapping_of(self.field("metadata")?)?.get("version")?.as_str()
    }

    /// Returns what an import recorded about the original, in `metadata.imported`: an extension of ours.
    pub(super) fn import_record(&self) -> Option<Mapping<'_>> {
        mapping_of(mapping_of(self.field("metadata")?)?.get("imported")?)
    }

    pub fn body(&self) -> &str {
        &self.source.text()[self.front.body_start..]
    }

    /// Returns the offset of the body.
    pub fn body_start(&self) -> usize {
        self.front.body_start
    }

    /// Returns the text of the front matter between the dashes.
    pub fn header(&self) -> Option<&str> {
        self.front.header.as_ref().map(|header| self.source.slice(header.span))
    }
}

fn mapping_of(node: Node<'_>) -> Option<Mapping<'_>> {
    match node.value() {
        Value::Mapping(mapping) => Some(mapping),
        _ => None,
    }
}

/// Returns the strings of a list.
pub(super) fn list_of(node: Node<'_>) -> Option<Vec<&str>> {
    match node.value() {
        Value::Sequence(list) => Some(list.iter().filter_map(Node::as_str).collect()),
        _ => None,
    }
}

/// A rule, skill, agent or command.
#[derive(Debug)]
pub struct PortableItem {
    pub(super) id: ItemId,
    pub(super) directory: PathBuf,
    pub(super) slashed: String,
    pub(super) document: ItemDocument,
    pub(super) overrides: Vec<Override>,
    pub(super) files: Vec<SupportFile>,
    pub(super) origin: ItemOrigin,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The format that an item was written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemOrigin {
    /// This format: it has a `schema`.
    Portable,
    /// The open standard for skills: it has none, and is taken as it is.
    ForeignSkill,
    /// One file for one client.
    ClientFile(&'static str),
}

/// A body for one client.
#[derive(Debug)]
pub struct Override {
    pub client: String,
    pub source: Arc<Source>,
}

/// A supporting file of an item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SupportFile {
    /// The path below the item's directory, with `/`.
    pub path: String,
}

impl PortableItem {
    /// Reads an item that has no directory: its entry file, and bodies for single clients. Its fields are not
    /// checked.
    pub fn from_source(
        id: ItemId,
        source: &Arc<Source>,
        overrides: Vec<Override>,
        files: Vec<SupportFile>,
    ) -> PortableItem {
        let (document, diagnostics) = super::parse::parse_document(source);
        let origin = super::parse::detect_origin(id.kind, &document);
        let (directory, slashed) = (PathBuf::new(), format!("{}/{}", id.kind.folder(), id.name));
        PortableItem { id, directory, slashed, document, overrides, files, origin, diagnostics }
    }

    /// Returns the kind and name. The name of a portable item is that of its directory.
    pub fn id(&self) -> &ItemId {
        &self.id
    }

    pub fn kind(&self) -> ItemKind {
        self.id.kind
    }

    pub fn name(&self) -> &str {
        &self.id.name
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the item's directory below the registry's root, with `/`, or its file if it has only one.
    pub fn slashed(&self) -> &str {
        &self.slashed
    }

    pub fn document(&self) -> &ItemDocument {
        &self.document
    }

    /// Returns the bodies for single clients.
    pub fn overrides(&self) -> &[Override] {
        &self.overrides
    }

    /// Returns the supporting files, sorted.
    pub fn files(&self) -> &[SupportFile] {
        &self.files
    }

    /// Returns whether it was written in another format: a skill of the open standard, or a file for one client.
    pub fn is_foreign(&self) -> bool {
        self.origin != ItemOrigin::Portable
    }

    /// Returns the client that it was written for, if it is one file for one client.
    pub fn written_for(&self) -> Option<&'static str> {
        match self.origin {
            ItemOrigin::ClientFile(client) => Some(client),
            ItemOrigin::Portable | ItemOrigin::ForeignSkill => None,
        }
    }

    /// Returns whether a name that a user typed means this item: its own, that of its author, or that of its
    /// file or directory.
    pub fn answers_to(&self, name: &str) -> bool {
        let own = self.slashed.rsplit('/').next().unwrap_or_default();
        self.id.name == name
            || self.is_foreign()
                && (own == name
                    || self.document.field_text("name") == Some(name)
                    || self.written_for().is_some() && super::foreign::file_stem(own) == name
                    || self.slashed == name)
    }

    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns whether it can be compiled: it has no errors.
    pub fn is_valid(&self) -> bool {
        self.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error)
    }

    pub fn description(&self) -> &str {
        self.document.field_text("description").unwrap_or_default()
    }

    /// Returns its version, as written.
    pub fn version(&self) -> Option<&str> {
        self.document.version()
    }

    /// Returns whether the item is for a client.
    pub fn is_for(&self, client: &str) -> bool {
        self.document.field_list("audience").is_none_or(|audience| audience.contains(&client))
    }

    /// Returns the path patterns of a rule; without any it always applies.
    pub fn scope_paths(&self) -> Vec<&str> {
        let scope = self.document.field("scope").and_then(mapping_of);
        scope.and_then(|scope| list_of(scope.get("paths")?)).unwrap_or_default()
    }

    /// Returns whether bodies are written as they stand, as those of an imported file are.
    pub fn is_verbatim(&self) -> bool {
        let imported = self.document.import_record();
        imported.and_then(|imported| imported.get("body")?.as_str()) == Some("verbatim")
    }

    /// Returns whether a field that the format requires was not in the original, so that no client gets it.
    pub fn is_unsaid(&self, field: &str) -> bool {
        let imported = self.document.import_record();
        let fields = imported.and_then(|imported| list_of(imported.get("unsaid")?));
        fields.is_some_and(|fields| fields.contains(&field))
    }

    /// Returns the fields of a client as the original has them. They count as long as they mean what the item says.
    pub fn original_fields(&self, client: &str) -> Option<Mapping<'_>> {
        mapping_of(mapping_of(self.document.import_record()?.get("written")?)?.get(client)?)
    }

    /// Returns the mode of an agent.
    pub fn mode(&self) -> AgentMode {
        self.document.field_text("mode").and_then(AgentMode::from_name).unwrap_or_default()
    }

    /// Returns the model of an agent.
    pub fn model(&self) -> &str {
        self.document.field_text("model").unwrap_or(MODEL_ALIASES[0])
    }

    /// Returns the tools of an agent; `None` means all tools of a client.
    pub fn tools(&self) -> Option<Vec<&str>> {
        self.document.field_list("tools")
    }

    /// Returns the skills that are loaded when an agent starts.
    pub fn preload_skills(&self) -> Vec<&str> {
        self.document.field_list("preload-skills").unwrap_or_default()
    }

    /// Returns the names of a command's arguments, in order.
    pub fn arguments(&self) -> Vec<&str> {
        self.document.field_list("arguments").unwrap_or_default()
    }

    /// Returns the hint about a command's arguments: the author's, else one of their names.
    pub fn argument_hint(&self) -> Option<String> {
        let own = self.document.field_text("argument-hint").map(str::to_owned);
        own.or_else(|| {
            let names: Vec<String> =
                self.arguments().iter().map(|name| format!("[{name}]")).collect();
            (!names.is_empty()).then(|| names.join(" "))
        })
    }

    /// Returns the fields for one client only: a mapping.
    pub fn passthrough(&self, client: &str) -> Option<Node<'_>> {
        self.document.field(client).filter(|node| matches!(node.value(), Value::Mapping(_)))
    }

    /// Returns the body for a client: its own file unchanged, or the canonical body with the
    /// directives applied.
    pub fn body_for(&self, client: &str, clients: &[&str]) -> String {
        match self.overrides.iter().find(|own| own.client == client) {
            Some(own) => own.source.text().trim_start_matches('\u{feff}').to_owned(),
            None if self.is_foreign() => self.document.body().to_owned(),
            None => super::directives::render_client_body(self.document.body(), client, clients),
        }
    }
}

/// A named list of items.
#[derive(Debug)]
pub struct Bundle {
    pub(super) name: String,
    pub(super) slashed: String,
    pub(super) document: ItemDocument,
    pub(super) items: Vec<(ItemId, Span)>,
    pub(super) requires: Vec<RequiredBundle>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) plugin: Option<Plugin>,
}

/// A bundle that another one requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredBundle {
    pub name: String,
    /// The accepted versions, as written.
    pub version: Option<String>,
    /// The place of the requirement.
    pub span: Span,
}

impl Bundle {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file below the registry's root, with `/`.
    pub fn slashed(&self) -> &str {
        &self.slashed
    }

    pub fn document(&self) -> &ItemDocument {
        &self.document
    }

    /// Returns the items that it lists.
    pub fn items(&self) -> impl Iterator<Item = &ItemId> {
        self.items.iter().map(|(id, _)| id)
    }

    /// Returns the items that it lists, each with its place.
    pub fn listed_items(&self) -> &[(ItemId, Span)] {
        &self.items
    }

    /// Returns the bundles that it requires.
    pub fn requires(&self) -> &[RequiredBundle] {
        &self.requires
    }

    /// Returns its version, as written.
    pub fn version(&self) -> Option<&str> {
        match &self.plugin {
            Some(plugin) => plugin.version.as_deref(),
            None => self.document.version(),
        }
    }

    pub fn description(&self) -> Option<&str> {
        match &self.plugin {
            Some(plugin) => plugin.description.as_deref(),
            None => self.document.field_text("description"),
        }
    }

    /// Returns the facts about it if it is a plugin.
    pub fn plugin(&self) -> Option<&Plugin> {
        self.plugin.as_ref()
    }

    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}
