//! The manifests of plugins and marketplaces, as JSON.
//!
//! Claude Code, Cursor, Codex, Copilot and Gemini CLI have one each, with the same fields but for a few.
//! A manifest is believed about names, descriptions and paths inside its own source, and about nothing else.

use serde_json::{Map, Value};

use super::join_slashed;

/// The client that a manifest is for, and whether it lists plugins or is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ManifestRole {
    Plugin,
    Marketplace,
}

/// Returns the role of a file, and the directory that its paths begin at.
pub(super) fn manifest_role(directory: &str, name: &str) -> Option<(ManifestRole, String)> {
    // The directory around one that ends in these names.
    let above = |ending: &&str| {
        let above = directory.strip_suffix(*ending)?;
        above.strip_suffix('/').or(above.is_empty().then_some(""))
    };
    let own = [
        ".claude-plugin",
        ".cursor-plugin",
        ".codex-plugin",
        ".factory-plugin",
        ".plugin",
        ".github/plugin",
    ];
    let own = own.iter().find_map(above);
    let (role, base) = match name {
        "plugin.json" => (ManifestRole::Plugin, own.unwrap_or(directory)),
        "gemini-extension.json" => (ManifestRole::Plugin, directory),
        "marketplace.json" => (ManifestRole::Marketplace, own.or(above(&".agents/plugins"))?),
        _ => return None,
    };
    Some((role, base.to_owned()))
}

/// A plugin, as a manifest describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PluginEntry {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) version: Option<String>,
    /// Paths of its agents, skills, commands and rules, as written.
    pub(super) listed: Vec<String>,
    /// Paths of files with its hooks and servers, as written.
    pub(super) settings: Vec<String>,
    /// Hooks and servers in the manifest itself: a JSON object with those fields alone.
    pub(super) inline: Option<Value>,
}

/// The place of a plugin, as a marketplace gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PluginPlace {
    /// A directory of the source, with `/`.
    Inside(String),
    /// A place that is not in the source.
    Outside {
        place: String,
        /// The address that `brief add` takes.
        address: Option<String>,
    },
}

/// Fields that list the parts of a plugin.
const PARTS: [&str; 6] = ["agents", "skills", "commands", "rules", "instructions", "prompts"];

/// Fields with hooks and servers.
const SETTINGS: [&str; 3] = ["hooks", "mcpServers", "lspServers"];

/// Returns whether an object is a plugin's: any file may be called `plugin.json`.
pub(super) fn is_plugin(manifest: &Map<String, Value>) -> bool {
    let has_schema =
        manifest.get("$schema").and_then(Value::as_str).is_some_and(|text| text.contains("plugin"));
    let has_parts = PARTS.iter().chain(&SETTINGS).any(|part| manifest.contains_key(*part));
    manifest.get("name").is_some_and(Value::is_string) && (has_schema || has_parts)
}

/// Reads a plugin from its manifest, or from its entry in a marketplace.
pub(super) fn parse_plugin_entry(manifest: &Map<String, Value>) -> Option<PluginEntry> {
    let text = |key: &str| manifest.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut plugin = PluginEntry {
        name: text("name")?,
        description: text("description"),
        version: text("version"),
        ..PluginEntry::default()
    };
    collect_parts(manifest, &mut plugin);
    // Fields of one registry lie below its name.
    if let Some(Value::Object(extensions)) = manifest.get("extensions") {
        for extension in extensions.values().filter_map(Value::as_object) {
            collect_parts(extension, &mut plugin);
        }
    }
    Some(plugin)
}

fn collect_parts(fields: &Map<String, Value>, plugin: &mut PluginEntry) {
    for part in PARTS {
        collect_paths(fields.get(part), &mut plugin.listed);
    }
    for key in SETTINGS {
        match fields.get(key) {
            Some(value @ (Value::String(_) | Value::Array(_))) => {
                collect_paths(Some(value), &mut plugin.settings);
            }
            Some(value @ Value::Object(_)) => {
                let inline = plugin.inline.get_or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(inline) = inline {
                    inline.insert(key.to_owned(), value.clone());
                }
            }
            _ => {}
        }
    }
}

fn collect_paths(value: Option<&Value>, list: &mut Vec<String>) {
    match value {
        Some(Value::String(text)) => list.push(text.clone()),
        Some(Value::Array(values)) => {
            let path = |value: &Value| {
                let own = value.as_str();
                let path = own.or_else(|| value.get("path").or(value.get("source"))?.as_str())?;
                Some(path.to_owned())
            };
            list.extend(values.iter().filter_map(path));
        }
        _ => {}
    }
}

/// Returns the place of a plugin in a marketplace; `base` is the directory that its paths begin at.
pub(super) fn resolve_plugin_place(base: &str, entry: &Map<String, Value>) -> PluginPlace {
    match entry.get("source") {
        None => PluginPlace::Inside(base.to_owned()),
        Some(Value::String(path)) => of_text(base, path),
        Some(Value::Object(source)) => of_object(base, source),
        Some(other) => PluginPlace::Outside { place: other.to_string(), address: None },
    }
}

fn of_text(base: &str, path: &str) -> PluginPlace {
    match resolve_path_below(base, path) {
        Some(directory) => PluginPlace::Inside(directory),
        None => {
            let address = is_address(path).then(|| path.to_owned());
            PluginPlace::Outside { place: path.to_owned(), address }
        }
    }
}

fn of_object(base: &str, source: &Map<String, Value>) -> PluginPlace {
    let text = |key: &str| source.get(key).and_then(Value::as_str);
    let kind = text("source").or_else(|| text("type")).unwrap_or_default();
    let path = text("path");
    if matches!(kind, "local" | "directory" | "path") {
        return of_text(base, path.unwrap_or_default());
    }
    let repository = text("repo").or_else(|| text("url"));
    let at = text("sha").or_else(|| text("commit")).or_else(|| text("ref"));
    match repository {
        Some(repository) => {
            let mut address = repository.to_owned();
            address.extend(at.into_iter().flat_map(|at| ["@", at]));
            address.extend(path.into_iter().flat_map(|path| [":", path.trim_start_matches("./")]));
            PluginPlace::Outside { place: repository.to_owned(), address: Some(address) }
        }
        None => {
            let place = format!("{kind} {}", text("package").unwrap_or_default());
            PluginPlace::Outside { place: place.trim().to_owned(), address: None }
        }
    }
}

fn is_address(text: &str) -> bool {
    text.contains("://") || text.starts_with("git@")
}

/// Returns a path below a directory of the source with `/`, or `None` if it leads out of the source.
pub(super) fn resolve_path_below(base: &str, path: &str) -> Option<String> {
    if path.starts_with(['/', '~', '\\']) || path.contains(':') || path.contains('\0') {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for name in path.split(['/', '\\']) {
        match name {
            "" | "." => {}
            // Steps upwards never lead out of the directory that the manifest is in.
            ".." => _ = names.pop()?,
            name => names.push(name),
        }
    }
    Some(if names.is_empty() { base.to_owned() } else { join_slashed(base, &names.join("/")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_inside_or_named() {
        let place = |text: &str| {
            let entry: Map<String, Value> = serde_json::from_str(text).expect("JSON");
            resolve_plugin_place("base", &entry)
        };
        let inside = |path: &str| PluginPlace::Inside(path.to_owned());
        let outside = |place: &str, address: Option<&str>| PluginPlace::Outside {
            place: place.to_owned(),
            address: address.map(str::to_owned),
        };
        assert_eq!(place(r#"{"source": "./plugins/a"}"#), inside("base/plugins/a"));
        assert_eq!(place(r#"{"source": "./"}"#), inside("base"));
        assert_eq!(
            place(r#"{"source": {"source": "local", "path": "./a/../b/"}}"#),
            inside("base/b")
        );
        for path in ["../x", "./a/../../x", "/etc", "~/x", "C:\\x", "\\\\host\\x"] {
            let entry = serde_json::json!({ "source": path });
            let Value::Object(entry) = entry else { unreachable!() };
            assert_eq!(super::resolve_plugin_place("base", &entry), outside(path, None), "{path}");
        }
        let url = "https://example.org/x.git";
        assert_eq!(place(r#"{"source": "https://example.org/x.git"}"#), outside(url, Some(url)));
        assert_eq!(
            place(r#"{"source": {"source": "github", "repo": "o/r", "ref": "v1"}}"#),
            outside("o/r", Some("o/r@v1"))
        );
        assert_eq!(
            place(
                r#"{"source": {"source": "git-subdir", "url": "https://example.org/x.git", "path": "p/q", "sha": "aa"}}"#
            ),
            outside(url, Some("https://example.org/x.git@aa:p/q"))
        );
        assert_eq!(
            place(r#"{"source": {"source": "npm", "package": "x"}}"#),
            outside("npm x", None)
        );
        assert_eq!(place(r#"{"source": 7}"#), outside("7", None));
    }

    #[test]
    fn a_role_is_told_by_the_path() {
        for (directory, name, expected) in [
            (".claude-plugin", "marketplace.json", Some((ManifestRole::Marketplace, ""))),
            ("a/.cursor-plugin", "plugin.json", Some((ManifestRole::Plugin, "a"))),
            ("a/.github/plugin", "plugin.json", Some((ManifestRole::Plugin, "a"))),
            (".agents/plugins", "marketplace.json", Some((ManifestRole::Marketplace, ""))),
            ("x", "gemini-extension.json", Some((ManifestRole::Plugin, "x"))),
            ("x", "plugin.json", Some((ManifestRole::Plugin, "x"))),
            ("x", "marketplace.json", None),
        ] {
            let found = manifest_role(directory, name);
            assert_eq!(
                found.as_ref().map(|(role, base)| (*role, base.as_str())),
                expected,
                "{directory}/{name}"
            );
        }
    }
}
