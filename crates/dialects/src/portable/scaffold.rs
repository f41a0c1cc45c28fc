//! Templates for new items.

use super::model::ItemKind;

/// Returns the entry file of a new item.
pub fn item(kind: ItemKind, name: &str) -> String {
    let title = title(name);
    let (description, extra, body) = match kind {
        ItemKind::Rule => (
            "Use when … (say which work the rule is about)",
            "",
            "- Say what is always done, or never, and why.\n",
        ),
        ItemKind::Skill => (
            "Use when … (say which task calls for it)",
            "",
            "1. Say what to do first.\n2. Say how to see that it worked.\n",
        ),
        ItemKind::Agent => (
            "Use when … (say which work to hand over)",
            "tools:\n  - read\n  - grep\n  - glob\n",
            "You are … When you are called:\n\n1. Say what to look at.\n2. Say what to report, and how.\n",
        ),
        ItemKind::Command => (
            "What it does, in the words of a menu",
            "arguments:\n  - topic\n",
            "Do … with $1.\n\n1. Say what to do first.\n2. Say what to report.\n",
        ),
    };
    format!(
        "---\nschema: 1\nname: {name}\ndescription: {description}\nlicense: proprietary\n{extra}metadata:\n  \
         version: \"0.1.0\"\n---\n\n## {title}\n\n{body}"
    )
}

/// Returns the file of a new bundle.
pub fn bundle(name: &str) -> String {
    let title = title(name);
    format!(
        "---\nschema: 1\nname: {name}\ndescription: What this bundle provides, and for whom\nlicense: proprietary\n\
         items:\n  rules: []\n  skills: []\n  agents: []\nrequires: []\nmetadata:\n  version: \"0.1.0\"\n---\n\n\
         ## {title}\n\nSay what is in it, and what changed.\n"
    )
}

/// Turns `api-conventions` into the heading `Api conventions`.
fn title(name: &str) -> String {
    let words = name.replace('-', " ");
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => words,
    }
}
