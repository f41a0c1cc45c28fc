//! Plugins and marketplaces as bundles.
//!
//! A plugin is a directory of items with a manifest, and often with hooks and servers. Its items are
//! installed like any others. Hooks and servers run code on the user's machine: they are listed, and
//! never installed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::sync::Arc;

use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, Source, Span, limits, rules};
use brief_system::Permission;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::fields::name_problem;
use super::super::file_problem;
use super::super::guidance::is_in;
use super::super::model::{Bundle, ItemId};
use super::super::parse;
use super::super::registry::Registry;
use super::join_slashed;
use super::manifests::{self, ManifestRole, PluginEntry, PluginPlace};
use super::names::{self, slugify_name};
use brief_safety::capability::{Capability, Inventory, render_facts};

/// The limit for the bytes of a manifest.
const MANIFEST_BYTES: u64 = limits::REMOTE_FILE_BYTES;

/// Directories of a plugin whose items belong to it without being listed.
const DIRECTORIES: [&str; 5] = ["agents", "skills", "commands", "rules", "prompts"];

/// Facts about a bundle that is a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plugin {
    /// The directory of the plugin below the source, with `/`; empty for the source itself.
    pub directory: String,
    pub description: Option<String>,
    pub version: Option<String>,
    /// Its hooks and servers, which are not installed: `hooks PreToolUse: …`, `mcp-servers github: …`.
    pub capabilities: Vec<String>,
}

/// A plugin of a marketplace that is not in the source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OutsidePlugin {
    pub name: String,
    /// Its place, as the marketplace gives it.
    pub place: String,
    /// The address that `brief add` takes, if it has one.
    pub address: Option<String>,
}

/// The files of a source that describe plugins.
#[derive(Debug, Default)]
pub(super) struct PluginFiles {
    manifests: Vec<(ManifestRole, String, String, Arc<Source>)>,
    /// Files with hooks and servers, by their path.
    settings: BTreeMap<String, Arc<Source>>,
    diagnostics: Vec<Diagnostic>,
}

impl PluginFiles {
    /// Returns whether a file describes a plugin or belongs to one.
    pub(super) fn is_plugin_file(directory: &str, name: &str) -> bool {
        is_settings(name) || manifests::manifest_role(directory, name).is_some()
    }

    /// Returns whether a directory is one of a plugin's own, such as `commands`.
    pub(super) fn has_folder(&self, directory: &str) -> bool {
        let (root, name) = directory.rsplit_once('/').unwrap_or(("", directory));
        DIRECTORIES.contains(&name)
            && self
                .manifests
                .iter()
                .any(|(role, base, ..)| *role == ManifestRole::Plugin && base == root)
    }

    /// Returns whether a directory is inside of a plugin that does not list prompts: those are texts for its own use.
    pub(super) fn keeps_prompts(&self, directory: &str) -> bool {
        let mut plugins = self.manifests.iter().filter(|(role, ..)| *role == ManifestRole::Plugin);
        plugins.any(|(_, base, _, source)| {
            !base.is_empty() && is_in(base, directory) && !source.text().contains("\"prompts\"")
        })
    }

    pub(super) fn read_file(&mut self, visit: &Visit<'_>, name: &str) {
        let path = visit.path_of(name);
        let slashed = join_slashed(visit.slashed(), name);
        let source = match visit.handle().read(OsStr::new(name), MANIFEST_BYTES) {
            Ok(bytes) => Arc::new(Source::from_bytes(path, bytes)),
            Err(error) => {
                let source = Arc::new(Source::without_text(path));
                self.diagnostics
                    .push(plugin_problem(&source, format!("cannot read the file: {error}")));
                return;
            }
        };
        if is_settings(name) {
            self.settings.insert(slashed, source);
        } else if let Some((role, base)) = manifests::manifest_role(visit.slashed(), name) {
            self.manifests.push((role, base, slashed, source));
        }
    }

    /// Adds a bundle for each plugin; `copies` maps the items that are gone to those that are the same.
    pub(super) fn finish(mut self, copies: &BTreeMap<String, String>, registry: &mut Registry) {
        let mut plugins = Vec::new();
        // A plugin's own manifest knows more than the list that it is in.
        self.manifests.sort_by(|left, right| (left.0, &left.2).cmp(&(right.0, &right.2)));
        for (role, base, slashed, source) in &self.manifests {
            let is_named = !slashed.ends_with("/plugin.json") || slashed.contains("plugin/");
            match serde_json::from_str::<Value>(source.text().trim_start_matches('\u{feff}')) {
                Ok(Value::Object(manifest)) => match role {
                    ManifestRole::Plugin if is_named || manifests::is_plugin(&manifest) => {
                        let entry = manifests::parse_plugin_entry(&manifest).unwrap_or_default();
                        plugins.push(FoundPlugin::new(entry, base.clone(), slashed, source, true));
                    }
                    ManifestRole::Plugin => {}
                    ManifestRole::Marketplace => {
                        let file = (slashed.as_str(), source);
                        let problems =
                            parse_marketplace(&manifest, base, file, &mut plugins, registry);
                        self.diagnostics.extend(problems);
                    }
                },
                Ok(_) => {
                    self.diagnostics.push(plugin_problem(source, "the manifest is not an object"));
                }
                Err(error) => {
                    self.diagnostics
                        .push(plugin_problem(source, format!("the manifest is not JSON: {error}")));
                }
            }
        }
        let is_same = |left: &mut OutsidePlugin, right: &mut OutsidePlugin| {
            left.name == right.name && left.place == right.place
        };
        registry.outside.sort_unstable();
        registry.outside.dedup_by(is_same);
        let finder = Finder { copies, registry };
        let bundles = merge_manifests(plugins).into_iter();
        let mut bundles: Vec<Bundle> =
            bundles.map(|plugin| plugin.into_bundle(&finder, &self.settings)).collect();
        name_apart(&mut bundles, registry);
        registry.bundles.append(&mut bundles);
        registry.diagnostics.append(&mut self.diagnostics);
    }
}

fn is_settings(name: &str) -> bool {
    matches!(name, ".mcp.json" | "mcp.json" | "hooks.json")
}

fn plugin_problem(source: &Arc<Source>, message: impl Into<String>) -> Diagnostic {
    let help = "ask the author to fix it; brief finds its items anyway";
    file_problem(rules::item::INVALID_PLUGIN, source, message, help)
}

/// Reads the plugins of a marketplace. Returns its problems.
fn parse_marketplace(
    manifest: &Map<String, Value>,
    base: &str,
    (slashed, source): (&str, &Arc<Source>),
    plugins: &mut Vec<FoundPlugin>,
    registry: &mut Registry,
) -> Vec<Diagnostic> {
    let metadata = manifest.get("metadata").and_then(Value::as_object);
    let root = metadata.and_then(|metadata| metadata.get("pluginRoot")).and_then(Value::as_str);
    let base = match root.map(|root| manifests::resolve_path_below(base, root)) {
        None => base.to_owned(),
        Some(Some(root)) => root,
        Some(None) => {
            return vec![plugin_problem(source, "`pluginRoot` points outside the source")];
        }
    };
    let Some(Value::Array(entries)) = manifest.get("plugins") else {
        return vec![plugin_problem(source, "the list `plugins` is missing")];
    };
    let mut problems = Vec::new();
    for (number, entry) in entries.iter().take(limits::ENTRIES_PER_FILE).enumerate() {
        let Some((fields, plugin)) = entry
            .as_object()
            .and_then(|fields| Some((fields, manifests::parse_plugin_entry(fields)?)))
        else {
            problems.push(plugin_problem(source, format!("the plugin {} has no name", number + 1)));
            continue;
        };
        match manifests::resolve_plugin_place(&base, fields) {
            PluginPlace::Inside(directory) => {
                plugins.push(FoundPlugin::new(plugin, directory, slashed, source, false));
            }
            PluginPlace::Outside { place, address } => {
                registry.outside.push(OutsidePlugin { name: plugin.name, place, address });
            }
        }
    }
    problems
}

/// A plugin of some manifest.
struct FoundPlugin {
    entry: PluginEntry,
    directory: String,
    slashed: String,
    source: Arc<Source>,
    /// True if the plugin has a manifest of its own, so that its directories count.
    has_manifest: bool,
}

impl FoundPlugin {
    fn new(
        mut entry: PluginEntry,
        directory: String,
        slashed: &str,
        source: &Arc<Source>,
        has_manifest: bool,
    ) -> FoundPlugin {
        if entry.name.is_empty() {
            // Without a name the directory is the name, as in the clients.
            directory.rsplit('/').next().unwrap_or_default().clone_into(&mut entry.name);
        }
        FoundPlugin {
            entry,
            directory,
            slashed: slashed.to_owned(),
            source: Arc::clone(source),
            has_manifest,
        }
    }

    fn into_bundle(self, finder: &Finder<'_>, settings: &BTreeMap<String, Arc<Source>>) -> Bundle {
        let FoundPlugin { entry, directory, slashed, source, has_manifest } = self;
        let mut diagnostics = Vec::new();
        let mut lists = |path: &str, problem: &str| {
            let message = format!("the plugin `{}` lists `{path}`, {problem}", entry.name);
            diagnostics.push(plugin_problem(&source, message));
        };
        let mut items: BTreeSet<ItemId> = BTreeSet::new();
        if has_manifest || entry.listed.is_empty() {
            items.extend(finder.in_directories(&directory));
        }
        for path in &entry.listed {
            match manifests::resolve_path_below(&directory, path) {
                None => lists(path, "which points outside it"),
                Some(listed) => {
                    let found = finder.find_listed_items(&listed, path);
                    if found.is_empty() && !DIRECTORIES.contains(&path.trim_matches(['.', '/'])) {
                        lists(path, "which contains no item");
                    }
                    items.extend(found);
                }
            }
        }
        let capabilities = plugin_capabilities(&entry, &directory, &source, settings);
        let (document, _) = parse::parse_document(&source);
        let PluginEntry { description, version, .. } = entry;
        Bundle {
            name: names::find_valid_name(&entry.name).unwrap_or_else(|| names::of_file(&slashed)),
            slashed,
            document,
            items: items.into_iter().map(|id| (id, Span::default())).collect(),
            requires: Vec::new(),
            diagnostics,
            plugin: Some(Plugin { directory, description, version, capabilities }),
        }
    }
}

/// Unites the manifests of one plugin: one for each client, and the marketplace's entry.
fn merge_manifests(found: Vec<FoundPlugin>) -> Vec<FoundPlugin> {
    let mut plugins: Vec<FoundPlugin> = Vec::new();
    let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
    for plugin in found {
        let key = (plugin.entry.name.clone(), plugin.directory.clone());
        let Some(first) = known.get(&key).and_then(|&number| plugins.get_mut(number)) else {
            known.insert(key, plugins.len());
            plugins.push(plugin);
            continue;
        };
        let PluginEntry { description, version, listed, settings, inline, .. } = plugin.entry;
        first.entry.description = first.entry.description.take().or(description);
        first.entry.version = first.entry.version.take().or(version);
        for (list, more) in
            [(&mut first.entry.listed, listed), (&mut first.entry.settings, settings)]
        {
            for text in more {
                if !list.contains(&text) {
                    list.push(text);
                }
            }
        }
        first.entry.inline = first.entry.inline.take().or(inline);
        first.has_manifest |= plugin.has_manifest;
    }
    plugins
}

/// Gives bundles of one name others: that of the directory around a plugin goes before it.
fn name_apart(bundles: &mut [Bundle], registry: &Registry) {
    let mut taken: BTreeSet<String> =
        registry.bundles.iter().map(|bundle| bundle.name.clone()).collect();
    for bundle in bundles {
        let directory = bundle.plugin.as_ref().map_or("", |plugin| &plugin.directory);
        let mut above =
            directory.rsplit('/').skip(1).map(slugify_name).filter(|name| !name.is_empty());
        let mut number = 1;
        while taken.contains(&bundle.name) || name_problem(&bundle.name).is_some() {
            bundle.name = match above.next() {
                Some(above) => format!("{above}-{}", bundle.name),
                None => {
                    number += 1;
                    let base: String = bundle.name.chars().take(50).collect();
                    let is_number = |letter: char| letter == '-' || letter.is_ascii_digit();
                    format!("{}-{number}", base.trim_end_matches(is_number))
                }
            };
        }
        taken.insert(bundle.name.clone());
    }
}

/// Finds the items of a plugin.
struct Finder<'f> {
    copies: &'f BTreeMap<String, String>,
    registry: &'f Registry,
}

impl Finder<'_> {
    /// Returns the items at and below a path.
    fn items_below(&self, path: &str) -> Vec<ItemId> {
        let is_below = |slashed: &str| path.is_empty() || is_in(path, slashed);
        let items = &self.registry.items;
        let own = items.iter().filter(|item| is_below(&item.slashed));
        let gone = self.copies.iter().filter(|(slashed, _)| is_below(slashed));
        let gone = gone.filter_map(|(_, other)| items.iter().find(|item| item.slashed == *other));
        own.chain(gone).map(|item| item.id.clone()).collect()
    }

    /// Returns the items in the usual directories of a plugin.
    fn in_directories(&self, directory: &str) -> Vec<ItemId> {
        DIRECTORIES
            .iter()
            .flat_map(|name| self.items_below(&join_slashed(directory, name)))
            .collect()
    }

    /// Returns the items at a listed path. A collection that puts plugins together from its own items
    /// lists them as if they were in the plugin.
    fn find_listed_items(&self, listed: &str, path: &str) -> Vec<ItemId> {
        let found = self.items_below(listed);
        if !found.is_empty() {
            return found;
        }
        let Some(path) = manifests::resolve_path_below("", path) else { return Vec::new() };
        let found = self.items_below(&path);
        if !found.is_empty() || path.is_empty() {
            return found;
        }
        let Some((folder, file)) = path.rsplit_once('/') else { return Vec::new() };
        let stem = names::file_stem(file);
        let items = self.registry.items.iter().filter(|item| {
            let (above, own) = item.slashed.rsplit_once('/').unwrap_or(("", &item.slashed));
            above == folder && names::file_stem(own) == stem
        });
        items.map(|item| item.id.clone()).collect()
    }
}

/// Returns the hooks and servers of a plugin.
fn plugin_capabilities(
    entry: &PluginEntry,
    directory: &str,
    source: &Arc<Source>,
    settings: &BTreeMap<String, Arc<Source>>,
) -> Vec<String> {
    let mut inventory = Inventory::new("plugin");
    let usual = [
        ".mcp.json",
        "mcp.json",
        "hooks.json",
        "hooks/hooks.json",
        ".cursor/mcp.json",
        ".cursor/hooks.json",
    ];
    let usual = usual.iter().map(|path| join_slashed(directory, path));
    let listed =
        entry.settings.iter().filter_map(|path| manifests::resolve_path_below(directory, path));
    let mut read = BTreeSet::new();
    for path in usual.chain(listed) {
        if let Some(found) = settings.get(&path)
            && read.insert(path.clone())
        {
            // Servers may be the whole file, without a field around them.
            let name = if path.ends_with("hooks.json") { "hooks" } else { "mcpServers" };
            let text = found.text().trim_start_matches('\u{feff}');
            let is_bare = serde_json::from_str::<Map<String, Value>>(text)
                .is_ok_and(|fields| !fields.contains_key(name) && !fields.contains_key("servers"));
            let content = if is_bare { format!("{{\"{name}\": {text}}}") } else { text.to_owned() };
            inventory.scan_file(&path, found.path(), content.into_bytes(), Permission::Data);
        }
    }
    if let Some(inline) = &entry.inline {
        let content = inline.to_string().into_bytes();
        inventory.scan_file("plugin.json", source.path(), content, Permission::Data);
    }
    let wanted =
        [Capability::Hooks, Capability::McpServers, Capability::Commands, Capability::Permissions];
    let found: Vec<_> =
        inventory.finish().into_iter().filter(|found| wanted.contains(&found.capability)).collect();
    render_facts(&found)
}
