//! Recognizes an item in one file: its kind, and the client that it was written for.
//!
//! Some endings belong to one client (`.mdc`, `.instructions.md`). A plain `.md` is an item if its
//! header has the fields of one and its directory agrees, or if the fields leave no doubt. Pages
//! about items, such as a `README.md`, and templates for items are none.

use brief_profiles::{BUILTIN, Form, PlaceShape};
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::{Node, Value};

use crate::agent_format::{AgentFormat, format_of};

use super::super::model::{ItemDocument, ItemKind};

/// Names of directories whose files are items of one kind.
const FOLDERS: [(ItemKind, &[&str]); 4] = [
    (ItemKind::Rule, &["rules", "instructions", "steering"]),
    (ItemKind::Skill, &["skills", "skill"]),
    (ItemKind::Agent, &["agents", "agent", "subagents", "chatmodes", "droids"]),
    (ItemKind::Command, &["commands", "command", "prompts", "workflows"]),
];

/// Endings that belong to one client, with the kind of the items.
const ENDINGS: [(&str, ItemKind, &str); 5] = [
    (".mdc", ItemKind::Rule, "cursor"),
    (".instructions.md", ItemKind::Rule, "copilot"),
    (".chatmode.md", ItemKind::Agent, "copilot"),
    (".agent.md", ItemKind::Agent, "copilot"),
    (".prompt.md", ItemKind::Command, "copilot-vscode"),
];

/// Names of directories whose Markdown files are pages, tests or templates.
const DOCUMENTS: [&str; 14] = [
    "docs",
    "doc",
    "documentation",
    "website",
    "site",
    "wiki",
    "blog",
    "test",
    "tests",
    "__tests__",
    "fixtures",
    "testdata",
    "template",
    "templates",
];

/// Those that are no category below a directory of a kind: `commands/docs` has commands about documentation.
const NEVER_ITEMS: [&str; 5] = ["__tests__", "fixtures", "testdata", "template", "templates"];

/// Stems of files that are about a directory, in lower case.
const PAGES: [&str; 11] = [
    "readme",
    "contributing",
    "license",
    "licence",
    "code_of_conduct",
    "code-of-conduct",
    "index",
    "notice",
    "authors",
    "template",
    "changes",
];

/// Stems of such files that are topics of items, too: `commands/todo.md` is a command, `TODO.md` and `notes/todo.md` are pages.
const TOPICS: [&str; 11] = [
    "changelog",
    "security",
    "support",
    "agents",
    "claude",
    "gemini",
    "qwen",
    "warp",
    "summary",
    "todo",
    "skill",
];

/// Fields of pages that a generator of web sites reads.
const PAGE_FIELDS: [&str; 14] = [
    "layout",
    "sidebar_position",
    "sidebar_label",
    "sidebar",
    "permalink",
    "nav_order",
    "slug",
    "toc",
    "hide_title",
    "pubdate",
    "date",
    "draft",
    "weight",
    "has_children",
];

/// Fields that only agents have, beside a name and a description.
const AGENT_FIELDS: [&str; 12] = [
    "tools",
    "model",
    "color",
    "permissionmode",
    "disallowedtools",
    "mcpservers",
    "maxturns",
    "skills",
    "memory",
    "mode",
    "handoffs",
    "temperature",
];

/// Fields that only commands have.
const COMMAND_FIELDS: [&str; 6] = [
    "argument-hint",
    "allowed-tools",
    "allowed_tools",
    "disable-model-invocation",
    "subtask",
    "args",
];

/// The reasons of files in the directories of items that are none.
const NO_HEADER: &str = "has no frontmatter, which every agent needs";
const NO_DESCRIPTION: &str = "has neither a name nor a description in its frontmatter";
const TEMPLATE: &str = "is a template: its name is a placeholder";
const PAGE: &str = "has the frontmatter of a web page";
const EMPTY: &str = "is empty";
const AGENT_FILE: &str = "is an agent file, which `brief agent` runs";
const RULESYNC: &str = "is written for rulesync, whose files `brief import` converts";
const NO_PROMPT: &str = "is a recipe without a prompt, which every command needs";
const OTHER: &str = "has no frontmatter field that a client reads in rules";

/// A file that is an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItemEvidence {
    pub(super) kind: ItemKind,
    /// The client that it was written for.
    pub(super) client: &'static str,
    /// False if only its neighbors can tell.
    pub(super) is_certain: bool,
}

/// Returns the kind that a directory of a name is for.
fn kind_of_folder(name: &str) -> Option<ItemKind> {
    FOLDERS.iter().find(|(_, names)| names.contains(&name)).map(|(kind, _)| *kind)
}

/// The directory of a file: the client and the kind that it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItemPlace {
    client: Option<&'static str>,
    folder: Option<ItemKind>,
    /// True below a directory of pages, tests or templates.
    is_documents: bool,
    /// True in a directory of recipes.
    is_recipes: bool,
}

impl ItemPlace {
    pub(super) fn from_directory(directory: &str) -> ItemPlace {
        let is_recipes = directory.split('/').any(|name| name == "recipes");
        let mut place = ItemPlace { client: None, folder: None, is_documents: false, is_recipes };
        for name in directory.split('/').filter(|name| !name.is_empty()) {
            if let Some(client) = client_of(name) {
                // A template of a project has the real files of a client in it.
                let folder = (name == ".clinerules").then_some(ItemKind::Rule);
                place = ItemPlace { client: Some(client), folder, is_documents: false, is_recipes };
            } else if let Some(kind) = kind_of_folder(name) {
                place.folder = Some(kind);
            } else {
                let name = name.to_ascii_lowercase();
                let is_category = place.folder.is_some() && !NEVER_ITEMS.contains(&name.as_str());
                place.is_documents |= DOCUMENTS.contains(&name.as_str()) && !is_category;
            }
        }
        // Workflows of a build server are no commands.
        let is_workflow = directory.split('/').any(|name| name == "workflows");
        if is_workflow
            && !matches!(place.client, Some("windsurf" | "cline" | "antigravity" | "kilo"))
        {
            place.folder = None;
        }
        place
    }

    /// Returns whether a file would be a command only because the name of a directory above it is `prompts` or `workflows`.
    pub(super) fn is_of_prompts(&self, directory: &str, name: &str) -> bool {
        self.folder == Some(ItemKind::Command)
            && self.client.is_none()
            && !has_own_ending(name)
            && directory.split('/').any(|name| matches!(name, "prompts" | "workflows"))
            && !directory.split('/').any(|name| matches!(name, "commands" | "command"))
    }

    /// Returns whether a file without a header may be an item here.
    pub(super) fn is_for_items(&self, name: &str) -> bool {
        match file_ending(name) {
            "toml" => self.folder == Some(ItemKind::Command),
            "yaml" => self.is_recipes,
            _ => has_own_ending(name) || self.folder.is_some_and(|kind| kind != ItemKind::Skill),
        }
    }
}

/// Returns the client of a directory such as `.claude`.
fn client_of(name: &str) -> Option<&'static str> {
    if !name.starts_with('.') {
        return None;
    }
    match name {
        ".github" | ".copilot" => return Some("copilot"),
        ".devin" => return Some("windsurf"),
        ".agent" => return Some("antigravity"),
        ".agents" => return Some("codex"),
        _ => {}
    }
    let clients: &'static [brief_profiles::Client] = &BUILTIN.clients;
    let owner = clients.iter().find(|client| client.signs.iter().any(|sign| **sign == *name))?;
    Some(&owner.id)
}

/// Returns whether a path lies in the directory of a client.
pub(in crate::portable) fn is_in_client_directory(slashed: &str) -> bool {
    slashed.split('/').any(|name| client_of(name).is_some())
}

/// Returns the directory of a kind that a file lies in, at any depth.
pub(super) fn kind_folder(slashed: &str) -> Option<&str> {
    let mut above = slashed;
    while let Some((directory, _)) = above.rsplit_once('/') {
        if kind_of_folder(directory.rsplit('/').next().unwrap_or_default()).is_some() {
            return Some(directory);
        }
        above = directory;
    }
    None
}

/// Returns whether the ending of a name belongs to one client.
fn has_own_ending(name: &str) -> bool {
    ENDINGS.iter().any(|(ending, ..)| name.ends_with(ending))
}

/// Returns the part of a name after its last point.
fn file_ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Returns whether a file of this name could be an item.
pub fn is_candidate_name(name: &str) -> bool {
    matches!(file_ending(name), "md" | "mdc" | "toml" | "yaml")
}

/// Returns whether a file may be an item in its directory, by its ending.
pub(super) fn is_worth_reading(place: &ItemPlace, name: &str) -> bool {
    file_ending(name) != "yaml" || place.is_recipes
}

/// Returns whether a file is a page about its directory.
pub(super) fn is_page(place: &ItemPlace, name: &str) -> bool {
    let stem = name.strip_suffix(".md").or_else(|| name.strip_suffix(".mdc")).unwrap_or(name);
    let stem = stem.to_ascii_lowercase();
    // `README.zh-CN.md` is a translation.
    let first = stem.split('.').next().unwrap_or_default();
    let is_topic = place.folder.is_some() && !place.is_documents && name.starts_with(first);
    let is_known = PAGES.contains(&first) || TOPICS.contains(&first) && !is_topic;
    first == "readme" || is_known && !has_own_ending(name) || stem.starts_with('_')
}

/// Judges a file. The error is the reason why a file in a directory of items is none, if it has one.
pub(super) fn classify_document(place: &ItemPlace, name: &str, document: &ItemDocument) -> Verdict {
    let fields = FieldNames::from_document(document);
    if fields.contains_any(&["schema"]) {
        return Err(None);
    }
    if document.source.text().trim().is_empty() {
        return Err(Some(EMPTY));
    }
    if has_placeholder_name(document) {
        return Err((!place.is_documents).then_some(TEMPLATE));
    }
    match file_ending(name) {
        "toml" => return toml_command(place, document),
        "yaml" => return classify_recipe(place, document),
        _ => {}
    }
    if let Some(item) = by_ending(place, name, document)? {
        return Ok(item);
    }
    // rulesync has rules, agents and commands with fields of its own.
    if fields.contains_any(&["targets"]) && place.client.is_none() && place.folder.is_some() {
        return Err(Some(RULESYNC));
    }
    if fields.contains_any(&PAGE_FIELDS)
        && !fields.contains_any(&COMMAND_FIELDS)
        && !fields.contains_any(&AGENT_FIELDS)
    {
        return Err(place.folder.filter(|_| !place.is_documents).map(|_| PAGE));
    }
    match place.folder {
        Some(ItemKind::Rule) => classify_rule(place, &fields, document),
        Some(ItemKind::Agent) => classify_agent(place, &fields, document),
        Some(ItemKind::Command) => classify_command(place, &fields, document),
        Some(ItemKind::Skill) => Err(None),
        None => classify_by_fields(place, &fields),
    }
}

/// An item, or the reason why a file in a directory of items is none, if it has one.
type Verdict = Result<ItemEvidence, Option<&'static str>>;

fn certain_evidence(kind: ItemKind, client: &'static str) -> ItemEvidence {
    ItemEvidence { kind, client, is_certain: true }
}

/// Judges by an ending that belongs to one client.
fn by_ending(
    place: &ItemPlace,
    name: &str,
    document: &ItemDocument,
) -> Result<Option<ItemEvidence>, Option<&'static str>> {
    let known = ENDINGS.iter().find(|(ending, ..)| name.ends_with(ending));
    let Some(&(ending, kind, usual)) = known else { return Ok(None) };
    let client = match (ending, place.client) {
        (".mdc", Some("trae")) => "trae",
        (".agent.md", client) => {
            let is_agent_file = format_of(&document.source) == AgentFormat::AgentFile;
            if is_agent_file && client != Some("copilot") {
                return Err(Some(AGENT_FILE));
            }
            client.unwrap_or(usual)
        }
        _ => usual,
    };
    Ok(Some(certain_evidence(kind, client)))
}

/// The client whose fields a rule has.
fn rule_client(fields: &FieldNames) -> Option<&'static str> {
    [
        ("alwaysapply", "cursor"),
        ("globs", "cursor"),
        ("applyto", "copilot"),
        ("trigger", "windsurf"),
        ("inclusion", "kiro"),
        ("paths", "claude"),
    ]
    .into_iter()
    .find_map(|(field, client)| fields.contains_any(&[field]).then_some(client))
}

fn classify_rule(place: &ItemPlace, fields: &FieldNames, document: &ItemDocument) -> Verdict {
    // Claude Code takes a rule without fields for all files; nearly any text could be one.
    let is_plain = document.header().is_none()
        || !fields.0.is_empty() && fields.contains_only(&["name", "description"]);
    match (place.client, rule_client(fields)) {
        (Some(client), _) if reads_rules(client) => Ok(certain_evidence(ItemKind::Rule, client)),
        (_, Some(client)) if !place.is_documents => Ok(certain_evidence(ItemKind::Rule, client)),
        _ if place.is_documents => Err(None),
        (None, _) if is_plain => {
            Ok(ItemEvidence { kind: ItemKind::Rule, client: "claude", is_certain: false })
        }
        _ => Err(Some(OTHER)),
    }
}

/// Returns whether a client reads rules of a directory of its own, with the ending `.md`.
fn reads_rules(client: &str) -> bool {
    let is_rules =
        |form: Form| !matches!(form, Form::Skill | Form::Agent | Form::Instructions | Form::Legacy);
    BUILTIN.find_client(client).is_some_and(|client| {
        client.reads.iter().any(|read| {
            BUILTIN.project.iter().any(|place| {
                place.key == read.path
                    && is_rules(place.form)
                    && matches!(&place.shape, PlaceShape::Tree(names)
                        if names.endings.is_empty() || names.endings.iter().any(|ending| **ending == *".md"))
            })
        })
    })
}

fn classify_agent(place: &ItemPlace, fields: &FieldNames, document: &ItemDocument) -> Verdict {
    if document.header().is_none() {
        return Err((!place.is_documents).then_some(NO_HEADER));
    }
    if !fields.contains_any(&["name", "description"]) {
        return Err((!place.is_documents).then_some(NO_DESCRIPTION));
    }
    if place.is_documents && !fields.contains_any(&AGENT_FIELDS) {
        return Err(None);
    }
    let client = place.client.filter(|client| *client != "codex");
    Ok(certain_evidence(ItemKind::Agent, client.unwrap_or(agent_client(fields))))
}

/// The client whose fields an agent has.
fn agent_client(fields: &FieldNames) -> &'static str {
    if fields.contains_any(&["mode", "permission", "temperature", "steps"])
        && !fields.contains_any(&["name"])
    {
        "opencode"
    } else if fields.contains_any(&["handoffs", "mcp-servers", "target", "infer", "argument-hint"])
    {
        "copilot"
    } else {
        "claude"
    }
}

fn classify_command(place: &ItemPlace, fields: &FieldNames, document: &ItemDocument) -> Verdict {
    let client = match place.client {
        None | Some("codex") => "claude",
        Some("copilot") => "copilot-vscode",
        Some(client) => client,
    };
    let body = document.body();
    let takes_arguments =
        ["$ARGUMENTS", "${input:", "{{args}}", "$1"].iter().any(|mark| body.contains(mark));
    if fields.contains_any(&COMMAND_FIELDS) || takes_arguments || place.client.is_some() {
        return Ok(certain_evidence(ItemKind::Command, client));
    }
    if place.is_documents {
        return Err(None);
    }
    let is_certain = fields.contains_any(&["description"]);
    Ok(ItemEvidence { kind: ItemKind::Command, client, is_certain })
}

/// Judges a command of Gemini CLI or Qwen Code, which is TOML with a prompt.
fn toml_command(place: &ItemPlace, document: &ItemDocument) -> Verdict {
    let client = match place.client {
        Some(client @ ("gemini" | "qwen")) => client,
        Some(_) => return Err(None),
        None => "gemini",
    };
    let is_command = toml_edit::Document::parse(document.source.text()).is_ok_and(|table| {
        let prompt = table.get("prompt").and_then(toml_edit::Item::as_str);
        prompt.is_some_and(|prompt| !prompt.trim().is_empty())
    });
    if is_command { Ok(certain_evidence(ItemKind::Command, client)) } else { Err(None) }
}

/// Judges a recipe of Goose, which is YAML with a title, a description and a prompt.
fn classify_recipe(place: &ItemPlace, document: &ItemDocument) -> Verdict {
    let whole = FrontMatter::from_yaml_source(&document.source);
    let root = whole.header.as_ref().and_then(|header| header.yaml.root());
    let Some(Value::Mapping(fields)) = root.map(Node::value) else { return Err(None) };
    let says = |key: &str| {
        fields.get(key).and_then(Node::as_str).is_some_and(|text| !text.trim().is_empty())
    };
    match place.client {
        None | Some("goose" | "codex") if says("title") && says("description") => {}
        _ => return Err(None),
    }
    if says("prompt") {
        Ok(certain_evidence(ItemKind::Command, "goose"))
    } else {
        Err(says("instructions").then_some(NO_PROMPT))
    }
}

/// Judges a file in a directory of no kind, such as `categories/NAME`.
fn classify_by_fields(place: &ItemPlace, fields: &FieldNames) -> Verdict {
    if place.is_documents {
        return Err(None);
    }
    if fields.contains_any(&["name"]) && fields.contains_any(&["description"]) {
        let client = agent_client(fields);
        // Skills have `allowed-tools` and no tools or color; their entry files have names of their own.
        let is_certain =
            fields.contains_any(&["tools", "model", "color", "permissionmode", "disallowedtools"]);
        let may_be = is_certain || fields.0.len() == 2;
        return if may_be && !fields.contains_any(&["allowed-tools", "metadata", "license"]) {
            Ok(ItemEvidence { kind: ItemKind::Agent, client, is_certain })
        } else {
            Err(None)
        };
    }
    if fields.contains_any(&["alwaysapply"])
        || fields.contains_any(&["globs"]) && fields.contains_any(&["description"])
    {
        return Ok(certain_evidence(ItemKind::Rule, "cursor"));
    }
    if fields.contains_any(&["applyto"]) {
        return Ok(certain_evidence(ItemKind::Rule, "copilot"));
    }
    if fields.contains_any(&["description"])
        && fields.contains_any(&["argument-hint", "allowed-tools"])
    {
        return Ok(certain_evidence(ItemKind::Command, "claude"));
    }
    Err(None)
}

/// The names of the fields of a header, in lower case.
struct FieldNames(Vec<String>);

impl FieldNames {
    fn from_document(document: &ItemDocument) -> FieldNames {
        FieldNames(match document.fields() {
            Some(fields) => {
                fields.fields().map(|field| field.name().to_ascii_lowercase()).collect()
            }
            // A header that no parser takes still shows what the file is.
            None => document.header().unwrap_or_default().lines().filter_map(parse_key).collect(),
        })
    }

    /// Returns whether there are no others than these.
    fn contains_only(&self, wanted: &[&str]) -> bool {
        self.0.iter().all(|name| wanted.contains(&name.as_str()))
    }

    fn contains_any(&self, wanted: &[&str]) -> bool {
        self.0.iter().any(|name| wanted.contains(&name.as_str()))
    }
}

/// Returns whether the name is a placeholder. YAML reads one in braces as a mapping.
fn has_placeholder_name(document: &ItemDocument) -> bool {
    let header = document.header().unwrap_or_default();
    let line = header.lines().find_map(|line| line.strip_prefix("name:"));
    line.is_some_and(|name| name.contains(['{', '<', '[', '$']) || name.contains("your-"))
}

/// Returns the key of a line such as `name: value`.
fn parse_key(line: &str) -> Option<String> {
    let (key, _) = line.split_once(':')?;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (!key.is_empty() && key.bytes().all(is_part)).then(|| key.to_ascii_lowercase())
}
