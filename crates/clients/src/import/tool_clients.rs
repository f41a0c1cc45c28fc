//! The clients that another tool writes for, by its settings: they become `install.clients`.
//!
//! `targets` of rulesync 17, `default_agents` of ruler 0.3, and `target` of apm 0.35.

use brief_syntax::yaml::{Node, Value as YamlNode, Yaml};
use jsonc_parser::ast::Value as Setting;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::header::find_yaml_field;
use super::peers;

/// The settings of a tool, and the reader of the names in them.
type ToolSettings = (&'static str, fn(&str) -> Vec<String>);

const SETTINGS: [ToolSettings; 4] = [
    ("rulesync.jsonc", read_rulesync),
    ("rulesync.json", read_rulesync),
    (".ruler/ruler.toml", read_ruler),
    ("apm.yml", read_apm),
];

/// Returns whether a file of the project may name clients.
pub(super) fn is_one(path: &str) -> bool {
    SETTINGS.iter().any(|(name, _)| *name == path)
}

/// Returns the clients that a tool's settings name, and the names that are unknown.
pub(super) fn parse_tool_clients(
    path: &str,
    text: &str,
    clients: &[&str],
) -> (Vec<String>, Vec<String>) {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    let read = SETTINGS.iter().find(|(name, _)| *name == path);
    for name in read.map(|(_, read)| read(text)).unwrap_or_default() {
        match peers::resolve_client_name(&name, clients) {
            _ if matches!(name.as_str(), "*" | "all" | "minimal") => {}
            Some(client) if known.contains(&client) => {}
            Some(client) => known.push(client),
            None => unknown.push(name),
        }
    }
    (known, unknown)
}

fn read_rulesync(text: &str) -> Vec<String> {
    let text = text.trim_start_matches('\u{feff}');
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let Ok(Some(Setting::Object(settings))) = parsed.map(|parsed| parsed.value) else {
        return Vec::new();
    };
    match settings.get("targets").map(|property| &property.value) {
        Some(Setting::Array(list)) => {
            let names = list.elements.iter().filter_map(|element| element.as_string_lit());
            names.map(|name| name.value.to_string()).collect()
        }
        // Newer settings have the features of each target.
        Some(Setting::Object(targets)) => {
            targets.properties.iter().map(|own| own.name.as_str().to_owned()).collect()
        }
        _ => Vec::new(),
    }
}

fn read_ruler(text: &str) -> Vec<String> {
    let Ok(document) = toml_edit::Document::parse(text) else { return Vec::new() };
    let agents = document.get("default_agents").and_then(toml_edit::Item::as_array);
    let names =
        agents.into_iter().flat_map(|list| list.iter().filter_map(toml_edit::Value::as_str));
    names.map(str::to_owned).collect()
}

fn read_apm(text: &str) -> Vec<String> {
    let document = Yaml::parse(text);
    let found =
        ["target", "targets"].into_iter().find_map(|key| find_yaml_field(document.root()?, key));
    match found.map(Node::value) {
        Some(YamlNode::Scalar(text)) => {
            text.split(',').map(|name| name.trim().to_owned()).collect()
        }
        Some(YamlNode::Sequence(list)) => {
            list.iter().filter_map(Node::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profiles;

    #[test]
    fn each_tool_names_its_clients() {
        for (path, text, known, unknown) in [
            (
                "rulesync.jsonc",
                "{// mine\n\"targets\": [\"claudecode\", \"copilot\", \"unknown\"], \"features\": [\"*\"]}",
                &["claude", "copilot"][..],
                &["unknown"][..],
            ),
            ("rulesync.jsonc", "{\"targets\": [\"*\"]}", &[], &[]),
            ("rulesync.json", "{\"targets\": {\"cursor\": [\"rules\"]}}", &["cursor"], &[]),
            (
                ".ruler/ruler.toml",
                "default_agents = [\"claude\", \"gemini-cli\"]\n[agents.codex]\nenabled = true\n",
                &["claude", "gemini"],
                &[],
            ),
            ("apm.yml", "name: x\ntarget: vscode, claude\n", &["copilot", "claude"], &[]),
            ("apm.yml", "targets: [all]\n", &[], &[]),
            ("apm.yml", "name: [\n", &[], &[]),
            ("rulesync.jsonc", "nothing", &[], &[]),
            (".ruler/ruler.toml", "= x", &[], &[]),
        ] {
            assert!(is_one(path));
            let found = parse_tool_clients(path, text, &Profiles::builtin().ids());
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(found, (owned(known), owned(unknown)), "{text}");
        }
    }
}
