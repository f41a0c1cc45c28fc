//! Agents in a list of one file: the modes of Roo Code, in `.roomodes`.
//!
//! A mode has a text, a description and groups of tools; its file is YAML or JSON. The entries that `brief registry build` has
//! written there stand between marks, and are left out.

use std::path::Path;

use brief_dialects::portable::ItemKind;
use brief_profiles::Form;
use brief_syntax::yaml::{Node, Value, Yaml};

use crate::compile::yaml::YamlValue;

use super::header::{Header, find_yaml_field};
use super::item::{ImportedItem, Member};
use super::item_slug;

/// The file, below the project.
pub(super) const FILE: &str = ".roomodes";

const CLIENT: &str = "roo";

/// The groups of tools that have words in the format.
const GROUPS: [(&str, &[&str]); 3] =
    [("read", &["read", "grep", "glob"]), ("edit", &["write", "edit"]), ("command", &["bash"])];

/// Fields that are read. Others are named.
const READ: [&str; 7] =
    ["slug", "name", "roleDefinition", "description", "whenToUse", "customInstructions", "groups"];

/// Returns the modes of a file as agents; the error says why the file has none.
pub(super) fn parse_modes(path: &Path, text: &str) -> Result<Vec<ImportedItem>, String> {
    let text = without_ours(text);
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let document = Yaml::parse(&text);
    if let Some(problem) = document.problems().first() {
        return Err(format!("is neither YAML nor JSON: {}", problem.message));
    }
    let modes = document.root().and_then(|root| find_yaml_field(root, "customModes"));
    let Some(Value::Sequence(modes)) = modes.map(Node::value) else {
        return Err("has no `customModes` list".to_owned());
    };
    Ok(modes.iter().filter_map(|mode| of_mode(path, mode)).collect())
}

/// Returns whether a file is a rule of one mode.
pub(super) fn is_rule_of_mode(path: &str) -> bool {
    path.strip_prefix(".roo/rules-").is_some_and(|rest| rest.contains('/'))
}

/// Returns a text without the lines between our marks.
fn without_ours(text: &str) -> String {
    let mut is_ours = false;
    let mut rest = String::with_capacity(text.len());
    for line in text.trim_start_matches('\u{feff}').lines() {
        match line.trim() {
            "# brief:import" => is_ours = true,
            "# /brief:import" => is_ours = false,
            _ if is_ours => {}
            _ => {
                rest.push_str(line);
                rest.push('\n');
            }
        }
    }
    rest
}

fn of_mode(path: &Path, mode: Node<'_>) -> Option<ImportedItem> {
    let name = find_text_field(mode, "slug").or_else(|| find_text_field(mode, "name"))?;
    let texts =
        [find_text_field(mode, "roleDefinition"), find_text_field(mode, "customInstructions")];
    let texts: Vec<&str> = texts.into_iter().flatten().map(str::trim).collect();
    let body = format!("\n{}\n", texts.join("\n\n"));
    if body.trim().is_empty() {
        return None;
    }
    let mut item =
        ImportedItem::new(ItemKind::Agent, item_slug(name, ItemKind::Agent), body.clone());
    item.clients.push(CLIENT.to_owned());
    let described =
        find_text_field(mode, "description").or_else(|| find_text_field(mode, "whenToUse"));
    match described.or_else(|| find_text_field(mode, "name")) {
        Some(text) => item.set_description(text),
        None => item.set_description(name),
    }
    item.import_groups(mode);
    let Value::Mapping(fields) = mode.value() else { return None };
    let has_both = find_text_field(mode, "description").is_some()
        && find_text_field(mode, "whenToUse").is_some();
    for own in fields.fields().map(brief_syntax::yaml::Field::name) {
        if !READ.contains(&own) || own == "whenToUse" && has_both {
            item.add_note(
                Some(own),
                "the format cannot express it; only the list of Roo Code keeps it",
            );
        }
    }
    item.members.push(Member {
        path: path.join(name),
        client: Some(CLIENT.to_owned()),
        form: Form::Agent,
        about: String::new(),
        body,
        header: Header::default(),
    });
    Some(item)
}

impl ImportedItem {
    /// Takes the groups of a mode for tools. All three groups are all tools, which the format says by saying nothing.
    fn import_groups(&mut self, mode: Node<'_>) {
        let Some(Value::Sequence(groups)) = find_yaml_field(mode, "groups").map(Node::value) else {
            return;
        };
        let mut tools: Vec<&str> = Vec::new();
        let mut known = 0;
        for group in groups.iter() {
            let (name, is_limited) = match group.value() {
                Value::Sequence(parts) => (parts.iter().next().and_then(Node::as_str), true),
                _ => (group.as_str(), false),
            };
            let Some(name) = name else { continue };
            if is_limited {
                let message = format!(
                    "`{name}` is limited to some files in Roo Code; other clients have no such limit"
                );
                self.add_note(Some("groups"), message);
            }
            match GROUPS.iter().find(|(own, _)| *own == name) {
                Some((_, words)) => {
                    known += 1;
                    tools.extend(*words);
                }
                None if name == "mcp" => {}
                None => {
                    self.add_note(Some("groups"), format!("the format cannot express `{name}`"));
                }
            }
        }
        if known < GROUPS.len() {
            self.set_field("tools", YamlValue::from_texts(tools));
            let message =
                "a build gives Roo Code all groups, because a mode cannot name single tools";
            self.add_note(Some("groups"), message);
        }
    }
}

fn find_text_field<'y>(node: Node<'y>, name: &str) -> Option<&'y str> {
    find_yaml_field(node, name)?.as_str().filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modes(text: &str) -> Vec<ImportedItem> {
        parse_modes(Path::new(".roomodes"), text).unwrap()
    }

    /// Roo Code's own schema: slug, name, roleDefinition, whenToUse, description, customInstructions, groups.
    #[test]
    fn a_mode_is_an_agent() {
        let yaml = "customModes:\n  - slug: docs-writer\n    name: Docs\n    roleDefinition: |-\n      You write docs.\n    \
                    whenToUse: For docs\n    customInstructions: Be brief.\n    groups:\n      - read\n      - - edit\n        - \
                    fileRegex: \\.md$\n    source: project\n";
        let json = r#"{"customModes": [{"slug": "all", "name": "All", "roleDefinition": "You do all.", "groups": ["read", "edit", "command", "mcp"]}]}"#;
        let [docs] = &modes(yaml)[..] else { panic!("one") };
        assert_eq!((docs.name.as_str(), docs.description.as_str()), ("docs-writer", "For docs"));
        assert_eq!(docs.body, "\nYou write docs.\n\nBe brief.\n");
        assert!(
            docs.render_text()
                .contains("tools:\n  - read\n  - grep\n  - glob\n  - write\n  - edit\n")
        );
        let notes: Vec<String> = docs.notes.iter().map(ToString::to_string).collect();
        assert!(
            notes.iter().any(|note| note.starts_with("`groups`: `edit` is limited to some files")),
            "{notes:?}"
        );
        assert!(notes.iter().any(|note| note.starts_with("`source`:")), "{notes:?}");
        let [all] = &modes(json)[..] else { panic!("one") };
        assert_eq!((all.description.as_str(), all.find_field("tools")), ("All", None));
        assert!(all.notes.is_empty(), "{:?}", all.notes);
    }

    #[test]
    fn what_is_no_mode_is_none() {
        let ours = "# brief:import\ncustomModes:\n  - { slug: \"x\", name: \"x\", roleDefinition: \"y\", groups: [read] }\n# /brief:import\n";
        assert!(modes(ours).is_empty());
        assert!(modes("").is_empty());
        assert!(modes("customModes: []\n").is_empty());
        assert!(modes("customModes:\n  - name: [a]\n  - slug: s\n  - 5\n").is_empty());
        for broken in ["a: [", "modes: []\n", "[]", "customModes: {}\n"] {
            assert!(parse_modes(Path::new("x"), broken).is_err(), "{broken}");
        }
    }
}
