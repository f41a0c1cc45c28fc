//! Plugins of Claude Code that a project's settings enable, as far as they lie in the project.
//!
//! `enabledPlugins` names a plugin and a marketplace; `extraKnownMarketplaces` says where that is. One that
//! is a directory has a list of its plugins, and each of those has skills and agents that Claude Code then
//! has by itself. What is fetched from elsewhere is not looked for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_profiles::{ClientPlace, FileNames, Form, PlaceShape, list, text};
use brief_syntax::{Diagnostic, Source, Span, limits, rules};
use brief_system::Dir;
use brief_system::paths::clean_path;
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;

use super::model::Folder;
use super::read::NativeReader;
use super::settings::{collect_strings, with_object};

/// The skills of a plugin, below its own directory.
static SKILLS: ClientPlace = ClientPlace {
    path: text("PLUGIN/skills"),
    key: text("PLUGIN/skills"),
    shape: PlaceShape::Skills,
    form: Form::Skill,
};

/// The agents of a plugin, below its own directory.
static AGENTS: ClientPlace = ClientPlace {
    path: text("PLUGIN/agents"),
    key: text("PLUGIN/agents"),
    shape: PlaceShape::Tree(FileNames {
        endings: list(const { &[text(".md")] }),
        is_deep: false,
        skipped: list(&[]),
        look_alike: None,
    }),
    form: Form::Agent,
};

/// A plugin that is enabled.
struct Enabled {
    /// The address of the marketplace, as it was written.
    market: String,
    name: String,
    span: Span,
}

/// Reads the plugins that a file of settings enables.
pub(super) fn read_plugins(
    reader: &mut NativeReader<'_>,
    root: &dyn Dir,
    source: &Arc<Source>,
    folder: &mut Folder,
) {
    if !source.text().contains("\"enabledPlugins\"") {
        return;
    }
    let enabled = with_object(source.text(), enabled_plugins).unwrap_or_default();
    let mut is_reported = false;
    for Enabled { market, name, span } in enabled.into_iter().take(limits::NATIVE_PATTERNS) {
        let found = resolve_inside(reader, &folder.path, &market).and_then(|market| {
            let list = market.join(".claude-plugin/marketplace.json");
            let Ok(bytes) = reader.read_below(root, &list) else { return Some(None) };
            let list = Source::from_bytes(list, bytes);
            let plugin = with_object(list.text(), |list| find_plugin(list, &name)).flatten();
            let Some((directory, skills)) = plugin else { return Some(None) };
            let directory = resolve_inside(reader, &market, &directory)?;
            Some(Some((directory, skills)))
        });
        let Some(found) = found else {
            if !std::mem::replace(&mut is_reported, true) {
                let message = format!(
                    "the plugin `{name}` is outside the project, so brief does not read it"
                );
                let outside = Diagnostic::new(rules::client::PLUGIN_OUTSIDE, source, span, message);
                let help = "move the plugin into the project";
                reader.diagnostics.push(outside.with_help(help));
            }
            continue;
        };
        let Some((directory, skills)) = found else { continue };
        reader.plugin_tree(&directory.join("agents"), &AGENTS, folder);
        reader.plugin_tree(&directory.join("skills"), &SKILLS, folder);
        for skill in skills {
            if let Some(path) = resolve_inside(reader, &directory, &skill) {
                reader.plugin_skill(root, &path, &SKILLS, folder);
            }
        }
    }
}

/// Returns the plugins that are enabled and whose marketplace is a directory.
fn enabled_plugins(settings: &Object<'_>) -> Vec<Enabled> {
    let Some(plugins) = settings.get_object("enabledPlugins") else { return Vec::new() };
    let markets = settings.get_object("extraKnownMarketplaces");
    let is_on = |value: &Value<'_>| matches!(value, Value::BooleanLit(flag) if flag.value);
    let enabled = plugins.properties.iter().filter(|plugin| is_on(&plugin.value));
    let enabled = enabled.filter_map(|plugin| {
        let (name, market) = plugin.name.as_str().split_once('@')?;
        let from = markets?.get_object(market)?.get_object("source")?;
        let is_directory = from.get_string("source")?.value == "directory";
        let path = from.get_string("path").filter(|_| is_directory)?;
        let range = plugin.name.range();
        Some(Enabled {
            market: path.value.to_string(),
            name: name.to_owned(),
            span: Span::new(range.start, range.end),
        })
    });
    enabled.collect()
}

/// Returns where a plugin of a marketplace lies, and the skills that the list names.
fn find_plugin(list: &Object<'_>, name: &str) -> Option<(String, Vec<String>)> {
    let plugins = list.get_array("plugins")?;
    let objects = plugins.elements.iter().filter_map(Value::as_object);
    let mut named =
        objects.filter(|plugin| plugin.get_string("name").is_some_and(|found| found.value == name));
    let plugin = named.next()?;
    // Anything but a path is fetched from elsewhere.
    let from = plugin.get_string("source")?.value.to_string();
    let metadata = list.get_object("metadata");
    let above = metadata.and_then(|metadata| metadata.get_string("pluginRoot"));
    let from = match above {
        Some(above) if !from.starts_with('.') => format!("{}/{from}", above.value),
        _ => from,
    };
    Some((
        from,
        plugin.get("skills").map(|found| collect_strings(&found.value)).unwrap_or_default(),
    ))
}

/// Finds a path by its text; `None` when it leads out of the project.
fn resolve_inside(reader: &NativeReader<'_>, base: &Path, path: &str) -> Option<PathBuf> {
    let path = clean_path(&base.join(path));
    path.starts_with(reader.root()).then_some(path)
}
