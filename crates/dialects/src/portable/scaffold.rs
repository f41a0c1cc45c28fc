//! Templates for new items.
//!
//! Their text says what to write in its place. `brief lint` finds what is left of it, so that no template is published.

use super::model::{ItemId, ItemKind};

/// The text of a template that an author replaces.
struct TemplateText {
    description: &'static str,
    /// Fields besides those of every item.
    fields: &'static str,
    /// The lines of the body.
    body: &'static [&'static str],
}

const RULE: TemplateText = TemplateText {
    description: "Use when … (say which work the rule is about)",
    fields: "",
    body: &["- Say what is always done, or never, and why."],
};

const SKILL: TemplateText = TemplateText {
    description: "Use when … (say which task calls for it)",
    fields: "",
    body: &["1. Say what to do first.", "2. Say how to see that it worked."],
};

const AGENT: TemplateText = TemplateText {
    description: "Use when … (say which work to hand over)",
    fields: "tools:\n  - read\n  - grep\n  - glob\n",
    body: &[
        "You are … When you are called:",
        "",
        "1. Say what to look at.",
        "2. Say what to report, and how.",
    ],
};

const COMMAND: TemplateText = TemplateText {
    description: "What it does, in the words of a menu",
    fields: "arguments:\n  - topic\n",
    body: &["Do … with $1.", "", "1. Say what to do first.", "2. Say what to report."],
};

const BUNDLE: TemplateText = TemplateText {
    description: "What this bundle provides, and for whom",
    fields: "",
    body: &["Say what is in it, and what changed."],
};

/// Returns the template of a kind; that of a bundle, if there is none.
fn item_template(kind: Option<ItemKind>) -> &'static TemplateText {
    match kind {
        Some(ItemKind::Rule) => &RULE,
        Some(ItemKind::Skill) => &SKILL,
        Some(ItemKind::Agent) => &AGENT,
        Some(ItemKind::Command) => &COMMAND,
        None => &BUNDLE,
    }
}

/// Returns the lines that a template has for its author, for an item of a kind, or for a bundle: the description first.
pub(super) fn template_placeholders(kind: Option<ItemKind>) -> impl Iterator<Item = &'static str> {
    let text = item_template(kind);
    let lines = text.body.iter().copied().filter(|line| !line.is_empty());
    std::iter::once(text.description).chain(lines)
}

/// Returns the entry file of a new item.
pub fn render_new_item(kind: ItemKind, name: &str) -> String {
    let TemplateText { description, fields, body } = item_template(Some(kind));
    let (title, body) = (title_from_name(name), body.join("\n"));
    format!(
        "---\nschema: 1\nname: {name}\ndescription: {description}\nlicense: proprietary\n{fields}metadata:\n  \
         version: \"0.1.0\"\n---\n\n## {title}\n\n{body}\n"
    )
}

/// Returns the file of a new bundle of these items.
pub fn render_new_bundle(name: &str, items: &[ItemId]) -> String {
    let TemplateText { description, body, .. } = item_template(None);
    let (title, body) = (title_from_name(name), body.join("\n"));
    let mut lists = String::new();
    for kind in ItemKind::ALL {
        let names: Vec<&str> =
            items.iter().filter(|id| id.kind == kind).map(|id| id.name.as_str()).collect();
        let folder = kind.folder();
        match names.as_slice() {
            [] if items.is_empty() && kind.is_of_document() => {
                lists.push_str(&format!("  {folder}: []\n"));
            }
            [] => {}
            names => {
                lists.push_str(&format!("  {folder}:\n"));
                lists.extend(names.iter().map(|name| format!("    - {name}\n")));
            }
        }
    }
    format!(
        "---\nschema: 1\nname: {name}\ndescription: {description}\nlicense: proprietary\n\
         items:\n{lists}requires: []\nmetadata:\n  version: \"0.1.0\"\n---\n\n## {title}\n\n{body}\n"
    )
}

/// Turns `api-conventions` into the heading `Api conventions`.
fn title_from_name(name: &str) -> String {
    let words = name.replace('-', " ");
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => words,
    }
}
