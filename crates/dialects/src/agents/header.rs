//! The header: fields in any case, each with its place.
//!
//! A value of the wrong type is an error, because an agent whose `deny` or `status` was misread
//! must not run.

mod abilities;
mod commands;

use std::collections::{BTreeMap, BTreeSet};

use brief_syntax::front_matter::Header;
use brief_syntax::near_miss::suggest_nearest;
use brief_syntax::yaml::{Field, Mapping, Node, Value as Yaml};
use brief_syntax::{Span, rules};

use super::model::{
    Abilities, AgentRequirements, AgentStatus, Command, Recommended, Remote, Startup,
    TemplateEngine,
};
use super::notes::AgentNotes;
use super::value::AgentValue;

pub(super) use commands::hint_of;

/// The document's fields in its spelling, those of the abilities, and one that is refused.
const FIELDS: [&str; 17] = [
    "version",
    "icon",
    "title",
    "description",
    "status",
    "templateEngine",
    "input",
    "recommended",
    "required",
    "commands",
    "system",
    "rules",
    "avatar",
    "abilities",
    "allow",
    "deny",
    "tools",
];

/// The limit of a header's bytes with aliases expanded; one without aliases always fits.
const HEADER_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub(super) version: Option<Given>,
    pub(super) icon: Option<Given>,
    pub(super) title: Option<Given>,
    pub(super) description: Option<Given>,
    pub(super) system: Option<Given>,
    pub(super) rules: Option<Given>,
    pub(super) avatar: Option<Given>,
    pub(super) status: AgentStatus,
    pub(super) status_span: Span,
    pub(super) template_engine: TemplateEngine,
    pub(super) input: AgentValue,
    pub(super) recommended: Recommended,
    pub(super) required: AgentRequirements,
    pub(super) abilities: Abilities,
    pub(super) abilities_span: Span,
    pub(super) commands: Vec<CommandEntry>,
}

/// A string of the header.
#[derive(Debug, Clone)]
pub(super) struct Given {
    /// The string, without white space around it; never empty.
    pub(super) text: String,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum CommandEntry {
    Inline(Command),
    Path { path: String, span: Span },
    Remote(Remote),
}

/// Subtracts the size of a value, with aliases expanded, from a number of bytes; `None` if it does
/// not fit.
fn subtract_expanded_size(node: Node<'_>, left: usize) -> Option<usize> {
    let left = left.checked_sub(1)?;
    match node.value() {
        Yaml::Null | Yaml::Broken(_) => Some(left),
        Yaml::Scalar(text) => left.checked_sub(text.len()),
        Yaml::Sequence(list) => {
            list.iter().try_fold(left, |left, item| subtract_expanded_size(item, left))
        }
        Yaml::Mapping(mapping) => mapping.fields().try_fold(left, |left, field| {
            subtract_expanded_size(field.value, subtract_expanded_size(field.key, left)?)
        }),
    }
}

/// Returns whether a name is that of a field, in any case.
pub(super) fn is_field(name: &str) -> bool {
    FIELDS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

pub(super) fn parse_header(header: &Header, notes: &mut AgentNotes<'_>) -> Metadata {
    let mut metadata = Metadata::default();
    if header.leading_blank {
        notes.report(
            rules::agent_file::HEADER_LEADING_BLANK,
            Span::empty_at(0),
            "other runtimes may miss the frontmatter: blank lines come before it",
            "begin the file with `---`",
        );
    }
    let Some(root) = header.yaml.root() else { return metadata };
    // This limits all copies from here on, with aliases expanded.
    if subtract_expanded_size(root, HEADER_BYTES).is_none() {
        let message =
            format!("the frontmatter exceeds {HEADER_BYTES} bytes once its aliases are expanded");
        notes.report(rules::agent_file::INVALID_YAML, root.span(), message, "write the values out");
        return metadata;
    }
    match root.value() {
        Yaml::Null => {}
        Yaml::Mapping(mapping) => {
            let keyed = Keyed::from_mapping(mapping, &FIELDS, "the frontmatter", notes);
            HeaderReader { notes, keyed }.parse_fields(&mut metadata);
        }
        other => notes.report(
            rules::agent_file::HEADER_NOT_A_MAPPING,
            root.span(),
            format!("the frontmatter is {}, not fields", other.noun()),
            "write `name: value` lines",
        ),
    }
    metadata
}

/// The fields of a mapping by their names in lower case.
struct Keyed<'y> {
    fields: BTreeMap<String, Field<'y>>,
}

impl<'y> Keyed<'y> {
    /// Indexes the fields, and reports duplicate and unknown ones.
    fn from_mapping(
        mapping: Mapping<'y>,
        known: &[&str],
        place: &str,
        notes: &mut AgentNotes<'_>,
    ) -> Keyed<'y> {
        let mut fields: BTreeMap<String, Field<'y>> = BTreeMap::new();
        for field in mapping.effective_fields() {
            let (name, span) = (field.name(), field.key.span());
            let lower = name.to_ascii_lowercase();
            if let Some(first) = fields.get(&lower) {
                let message = format!(
                    "`{}` and `{name}` are the same field, so its value is ambiguous",
                    first.name()
                );
                notes.report(rules::agent_file::DUPLICATE_KEY, span, message, "remove one");
                continue;
            }
            if !known.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                let help = suggest_nearest(name, known)
                    .unwrap_or_else(|| "remove it; it has no effect".to_owned());
                let message = format!("unknown field `{name}` in {place} is ignored");
                notes.report(rules::agent_file::UNKNOWN_KEY, span, message, help);
            }
            fields.insert(lower, field);
        }
        Keyed { fields }
    }

    /// Returns the value of a field, by its name in lower case; null counts as missing.
    fn get(&self, name: &str) -> Option<Node<'y>> {
        let node = self.fields.get(name)?.value;
        (!matches!(node.value(), Yaml::Null)).then_some(node)
    }
}

struct HeaderReader<'n, 's, 'y> {
    notes: &'n mut AgentNotes<'s>,
    keyed: Keyed<'y>,
}

impl HeaderReader<'_, '_, '_> {
    fn parse_fields(&mut self, metadata: &mut Metadata) {
        // Y50: tools in the header would be data, those in the body are code.
        if let Some(field) = self.keyed.fields.get("tools") {
            self.notes.report(
                rules::agent_file::TOOLS_IN_YAML,
                field.value.span(),
                "`tools` is in the frontmatter, but tools are defined only in the body",
                "write them in JavaScript under a heading `## Tools`",
            );
        }
        metadata.version = self.parse_text("version");
        metadata.icon = self.parse_text("icon");
        metadata.title = self.parse_text("title");
        metadata.description = self.parse_text("description");
        metadata.system = self.parse_text("system");
        metadata.rules = self.parse_text("rules");
        metadata.avatar = self.parse_text("avatar");
        self.parse_status(metadata);
        self.template_engine(metadata);
        metadata.input = self.keyed.get("input").map(AgentValue::from_yaml).unwrap_or_default();
        self.parse_recommended(metadata);
        self.parse_required(metadata);
        abilities::parse_abilities(self.notes, &self.keyed, metadata);
        if let Some(node) = self.keyed.get("commands") {
            metadata.commands = commands::parse_commands(self.notes, node);
        }
    }

    fn parse_text(&mut self, name: &str) -> Option<Given> {
        let node = self.keyed.get(name)?;
        text_of(self.notes, name, node)
    }

    fn parse_status(&mut self, metadata: &mut Metadata) {
        let Some(given) = self.parse_text("status") else { return };
        metadata.status_span = given.span;
        let found = AgentStatus::ALL
            .into_iter()
            .find(|status| status.as_str().eq_ignore_ascii_case(&given.text));
        match found {
            Some(status) => metadata.status = status,
            None => {
                let names = AgentStatus::ALL.map(AgentStatus::as_str);
                let message = format!("unknown status `{}`", given.text);
                let help = suggest_nearest(&given.text, &names)
                    .unwrap_or_else(|| format!("use one of `{}`", names.join("`, `")));
                self.notes.report(rules::agent_file::STATUS, given.span, message, help);
            }
        }
    }

    /// Reads `templateEngine`, for which an empty string is a value.
    fn template_engine(&mut self, metadata: &mut Metadata) {
        let Some(node) = self.keyed.get("templateengine") else { return };
        let engine = node.as_str().map(str::trim);
        match engine {
            Some("") => metadata.template_engine = TemplateEngine::Off,
            Some(name) if name.eq_ignore_ascii_case(TemplateEngine::Handlebars.as_str()) => {}
            _ => {
                let message = match engine {
                    Some(name) => format!("unknown template engine `{name}`"),
                    None => format!("`templateEngine` is {}", node.value().noun()),
                };
                let help = "write `hbs`, or `\"\"` to turn templates off";
                self.notes.report(rules::agent_file::TEMPLATE_ENGINE, node.span(), message, help);
            }
        }
    }

    /// A18: reads `recommended`, in which nothing is an error.
    fn parse_recommended(&mut self, metadata: &mut Metadata) {
        let Some(node) = self.keyed.get("recommended") else { return };
        let Yaml::Mapping(mapping) = node.value() else {
            let message = format!("`recommended` is {} and is ignored", node.value().noun());
            let help = "write `models:` and `capabilities:` below it";
            return self.notes.report(rules::agent_file::RECOMMENDED, node.span(), message, help);
        };
        let known = ["models", "capabilities"];
        let keyed = Keyed::from_mapping(mapping, &known, "`recommended`", self.notes);
        for (name, list) in [
            ("models", &mut metadata.recommended.models),
            ("capabilities", &mut metadata.recommended.capabilities),
        ] {
            let Some(node) = keyed.get(name) else { continue };
            match parse_text_list(node) {
                Ok(found) => list.extend(found.into_iter().map(|given| given.text)),
                Err(wrong) => {
                    let noun = wrong.value().noun();
                    let message = format!("`{name}` contains {noun} and is ignored");
                    self.notes.report(
                        rules::agent_file::RECOMMENDED,
                        wrong.span(),
                        message,
                        "use only strings in it",
                    );
                }
            }
        }
    }

    fn parse_required(&mut self, metadata: &mut Metadata) {
        let Some(node) = self.keyed.get("required") else { return };
        let Yaml::Mapping(mapping) = node.value() else {
            return wrong_type(self.notes, "required", node, "`env:` and `startup:` below it");
        };
        let keyed = Keyed::from_mapping(mapping, &["env", "startup"], "`required`", self.notes);
        if let Some(node) = keyed.get("env") {
            match parse_text_list(node) {
                Ok(names) => self.parse_environment(names, &mut metadata.required.env),
                Err(wrong) => wrong_type(self.notes, "env", wrong, "a list of names"),
            }
        }
        if let Some(node) = keyed.get("startup") {
            let startup = text_of(self.notes, "startup", node);
            metadata.required.startup =
                startup.map(|Given { text, span }| Startup { tool: text, span });
        }
    }

    fn parse_environment(&mut self, names: Vec<Given>, env: &mut Vec<String>) {
        let mut known = BTreeSet::new();
        for Given { text, span } in names {
            if text.contains(['=', '\0']) || text.contains(char::is_whitespace) {
                let message = format!("`{text}` is not a valid environment variable name");
                let help = "write only the name; agent files never contain values";
                self.notes.report(rules::agent_file::WRONG_TYPE, span, message, help);
            } else if known.insert(text.clone()) {
                env.push(text);
            }
        }
    }
}

/// Reads a string; an empty one counts as missing.
pub(super) fn text_of(notes: &mut AgentNotes<'_>, name: &str, node: Node<'_>) -> Option<Given> {
    match node.value() {
        Yaml::Scalar(text) => {
            let text = text.trim();
            (!text.is_empty()).then(|| Given { text: text.to_owned(), span: node.span() })
        }
        Yaml::Null => None,
        _ => {
            wrong_type(notes, name, node, "a string");
            None
        }
    }
}

/// Reads a list of strings, or a string with commas. Returns any other value as the error.
fn parse_text_list(node: Node<'_>) -> Result<Vec<Given>, Node<'_>> {
    let given = |text: &str, span| {
        let text = text.trim();
        (!text.is_empty()).then(|| Given { text: text.to_owned(), span })
    };
    match node.value() {
        Yaml::Null => Ok(Vec::new()),
        Yaml::Scalar(text) => {
            Ok(text.split(',').filter_map(|part| given(part, node.span())).collect())
        }
        Yaml::Sequence(list) => {
            let mut found = Vec::with_capacity(list.len());
            for item in list.iter() {
                match item.value() {
                    Yaml::Scalar(text) => found.extend(given(text, item.span())),
                    Yaml::Null => {}
                    _ => return Err(item),
                }
            }
            Ok(found)
        }
        _ => Err(node),
    }
}

fn wrong_type(notes: &mut AgentNotes<'_>, name: &str, node: Node<'_>, wanted: &str) {
    let message = format!("`{name}` is {}", node.value().noun());
    notes.report(rules::agent_file::WRONG_TYPE, node.span(), message, format!("write {wanted}"));
}
