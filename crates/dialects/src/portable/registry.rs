//! The reader of source registries (§2 of the document).
//!
//! It makes one walk over the directories, parents first. A directory with an entry file is an
//! item, and everything else in it belongs to the item. Trees that are written for clients are not
//! sources.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::walk::{self, Gap, Ignored, Visit};
use brief_syntax::{Diagnostic, Root, Rule, Source, Target, TargetKind, rules};
use brief_system::{Below, FileKind, ReadError, System};

use super::foreign::{ForeignCollector, OutsidePlugin, PassedOver, join_slashed};
use super::guidance::is_in;
use super::model::{Bundle, ItemId, ItemKind, Override, PortableItem, SupportFile};
use super::places::find_item_directory;
use super::{check_registry, fields, file_problem, parse};
use crate::is_in_dependency;

/// Directories that clients read, which hold only generated files.
const GENERATED: [&str; 3] = [".claude", ".github", ".opencode"];

/// The directory of our own state in outputs, and the record of a build in it.
const STATE: &str = ".brief";
const BUILD_RECORD: &str = "build.json";

/// The reasons of items that a source has and does not offer.
const PACKAGE: &str = "is in a directory of dependencies";
const NESTED: &str = "is inside another item and belongs to it";

/// The end of a bundle's file name, in this version of the format and in a later one.
const BUNDLE_SUFFIX: &str = ".bundle.md";
const YAML_BUNDLE_SUFFIX: &str = ".bundle.yaml";

/// The content of a source registry.
#[derive(Debug, Default)]
pub struct Registry {
    /// The directory that it was read from.
    pub root: PathBuf,
    /// The items, sorted by kind and name.
    pub items: Vec<PortableItem>,
    /// The bundles, sorted by name.
    pub bundles: Vec<Bundle>,
    /// The diagnostics of all other files.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that lie where items lie and are none; only of a source.
    pub left_out: Vec<PassedOver>,
    /// Plugins of its marketplaces that are somewhere else; only of a source.
    pub outside: Vec<OutsidePlugin>,
}

impl Registry {
    /// Returns the item of a kind and name; of several, the first. An item in another format is
    /// also found by the name that its author or its file gives it, if no other one has it.
    pub fn find_item(&self, id: &ItemId) -> Option<&PortableItem> {
        let first = self.items.partition_point(|item| item.id < *id);
        let named = self.items.get(first).filter(|item| item.id == *id);
        named.or_else(|| match self.items_named(id.kind, &id.name).as_slice() {
            [item] => Some(*item),
            _ => None,
        })
    }

    /// Returns the items of a kind that a name may mean.
    pub fn items_named(&self, kind: ItemKind, name: &str) -> Vec<&PortableItem> {
        let of_kind = self.items.iter().filter(|item| item.id.kind == kind);
        of_kind.filter(|item| item.answers_to(name)).collect()
    }

    /// Returns the bundle of a name; of several, the first.
    pub fn find_bundle(&self, name: &str) -> Option<&Bundle> {
        self.bundles.get(self.bundle_index(name)?)
    }

    /// Returns the index of a bundle by its name.
    pub(super) fn bundle_index(&self, name: &str) -> Option<usize> {
        let first = self.bundles.partition_point(|bundle| bundle.name.as_str() < name);
        self.bundles.get(first).filter(|bundle| bundle.name == name).map(|_| first)
    }

    pub fn all_diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        let items = self.items.iter().flat_map(|item| &item.diagnostics);
        let bundles = self.bundles.iter().flat_map(|bundle| &bundle.diagnostics);
        items.chain(bundles).chain(&self.diagnostics)
    }
}

/// Reads a whole registry and checks it; `clients` are the known clients.
pub fn read_registry(system: &dyn System, root: &Root, clients: &[&str]) -> Registry {
    read_except(system, root, clients, None)
}

/// Reads a registry like [`read_registry`], without the output directory, given by its path below the root
/// with `/`.
pub fn read_except(
    system: &dyn System,
    root: &Root,
    clients: &[&str],
    outputs: Option<&str>,
) -> Registry {
    let collector = RefCell::new(RegistryCollector::default());
    let top = Target::from_slashed("", TargetKind::Directory);
    let is_skipped =
        |slashed: &str| outputs == Some(slashed) || collector.borrow().is_package(slashed);
    let mut visitor = |visit: &Visit<'_>| collector.borrow_mut().visit(visit);
    let gaps = walk::whole_except(system, root, &top, Ignored::Skip, &is_skipped, &mut visitor);
    let mut registry = collector.into_inner().finish(clients);
    registry.diagnostics.extend(gaps.iter().map(unvisited_problem));
    registry
}

/// The treatment of directories for clients, such as `.claude`, in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientDirectories {
    /// They hold items as any other directory does.
    Items,
    Outputs,
}

/// Reads a source of any kind: a registry, or a collection of files that were written for single clients.
///
/// The files of a repository count even if its `.gitignore` names them: they are in its commit.
pub fn read_source(
    system: &dyn System,
    root: &Root,
    clients: &[&str],
    ignored: Ignored,
    directories: ClientDirectories,
) -> Registry {
    let takes_clients = directories == ClientDirectories::Items;
    let collector = RegistryCollector { takes_clients, ..RegistryCollector::default() };
    let state = RefCell::new((collector, ForeignCollector::default()));
    let top = Target::from_slashed("", TargetKind::Directory);
    let is_skipped =
        |slashed: &str| !takes_clients && super::foreign::is_in_client_directory(slashed);
    let mut visitor = |visit: &Visit<'_>| {
        let (collector, foreign) = &mut *state.borrow_mut();
        collector.visit(visit);
        if !is_skipped(visit.slashed()) && !collector.is_in_output(visit.slashed()) {
            foreign.visit(visit, collector.has_item(visit.slashed()));
        }
    };
    let packages = RefCell::new(BTreeSet::new());
    let is_no_source = |slashed: &str| {
        let is_package = state.borrow().0.is_package(slashed);
        if is_package {
            packages.borrow_mut().extend(find_item_directory(system, root, slashed));
        }
        is_package || matches!(last_name(slashed), "__pycache__" | ".git")
    };
    let gaps = walk::whole_except(system, root, &top, ignored, &is_no_source, &mut visitor);
    let (mut collector, foreign) = state.into_inner();
    let nested = std::mem::take(&mut collector.nested);
    let packages = packages.into_inner().into_iter();
    let mut registry = Registry { root: root.path().to_owned(), ..collector.parse_registry() };
    registry.items.retain(|item| !item.is_foreign() || !foreign.is_output(&item.slashed));
    registry.left_out.extend(nested.into_iter().map(|path| PassedOver { path, reason: NESTED }));
    registry.left_out.extend(packages.map(|path| PassedOver { path, reason: PACKAGE }));
    foreign.finish(system, root, &mut registry);
    registry.left_out.sort_by(|left, right| left.path.cmp(&right.path));
    sort_and_check(&mut registry, clients);
    registry.diagnostics.extend(gaps.iter().map(unvisited_problem));
    registry
}

/// Reports a part of the registry that was not read.
fn unvisited_problem(gap: &Gap) -> Diagnostic {
    let source = Arc::new(Source::without_text(&gap.path));
    let message = format!("cannot read the directory: {}", gap.reason);
    let help = "grant yourself read permission, or add the directory to `.gitignore`";
    file_problem(rules::item::UNREADABLE, &source, message, help)
}

/// Collects the files of a registry during a walk.
#[derive(Debug, Default)]
pub(super) struct RegistryCollector {
    /// The item directories found so far, by their path below the root.
    directories: BTreeMap<String, ItemDirectory>,
    bundles: Vec<(Arc<Source>, String)>,
    diagnostics: Vec<Diagnostic>,
    /// True if skills in the directories of clients count.
    takes_clients: bool,
    /// Directories that `brief registry build` has written.
    outputs: Vec<String>,
    /// Entry files inside of items, which belong to these.
    nested: Vec<String>,
}

#[derive(Debug, Default)]
struct ItemDirectory {
    /// The entry files: several, where directories are not sorted by kind.
    entrypoints: Vec<(ItemKind, Arc<Source>)>,
    overrides: Vec<(ItemKind, String, Arc<Source>)>,
    files: Vec<SupportFile>,
    diagnostics: Vec<Diagnostic>,
}

impl ItemDirectory {
    /// Reports a problem of the whole directory.
    fn report_problem(&mut self, rule: Rule, message: String, help: &str) {
        if let Some((_, source)) = self.entrypoints.first() {
            self.diagnostics.push(file_problem(rule, source, message, help));
        }
    }
}

impl RegistryCollector {
    pub(super) fn visit(&mut self, visit: &Visit<'_>) {
        let slashed = visit.slashed();
        let Some(entries) = visit.entries() else { return };
        if self.is_output(visit) {
            return;
        }
        let above = self.item_above(slashed);
        let mut names: Vec<(&str, FileKind)> =
            entries.iter().filter_map(|entry| Some((entry.name.to_str()?, entry.kind))).collect();
        names.sort_unstable();
        for (name, _) in
            names.iter().filter(|(name, kind)| is_bundle(name) && *kind == FileKind::File)
        {
            self.read_bundle(visit, name);
        }
        // Directories that clients read are not sources, but a bundle may be anywhere (§2.2).
        if self.is_generated(slashed) {
            return;
        }
        let item = match above {
            Some((item, below)) => {
                let entry = ItemKind::Skill.entrypoint();
                if names.iter().any(|(name, _)| *name == entry) {
                    self.nested.push(join_slashed(slashed, entry));
                }
                self.add_files(&item, &below, &names);
                item
            }
            None => {
                self.item_directory(visit, &names);
                slashed.to_owned()
            }
        };
        if let Some(directory) = self.directories.get_mut(&item) {
            for entry in entries.iter().filter(|entry| entry.name.to_str().is_none()) {
                let name = entry.name.to_string_lossy();
                let message = format!("some systems cannot create `{name}`");
                let help = "rename the file";
                directory.report_problem(rules::item::UNPORTABLE_FILE_NAME, message, help);
            }
        }
    }

    /// Returns whether a directory holds what `brief registry build` has written, or is inside of one that does: it has the record of
    /// a build.
    fn is_output(&mut self, visit: &Visit<'_>) -> bool {
        let slashed = visit.slashed();
        if slashed.is_empty() {
            return false;
        }
        if self.outputs.iter().any(|own| is_in(own, slashed)) {
            return true;
        }
        let listed = visit.entries().into_iter().flatten();
        let has_state = listed.chain(visit.ignored_entries()).any(|entry| entry.name == *STATE);
        let record = Path::new(STATE).join(BUILD_RECORD);
        let is_output = has_state && visit.handle().look_below(&record) == Below::NotADirectory;
        if is_output {
            self.outputs.push(slashed.to_owned());
        }
        is_output
    }

    /// Returns whether a directory was found to be one that `brief registry build` has written, or inside of one.
    fn is_in_output(&self, slashed: &str) -> bool {
        self.outputs.iter().any(|own| is_in(own, slashed))
    }

    /// Returns whether a directory lies in one that tools fill with the code of dependencies, and in no item: everything
    /// in an item belongs to it (§2.4).
    pub(super) fn is_package(&self, slashed: &str) -> bool {
        is_in_dependency(slashed) && self.item_above(slashed).is_none()
    }

    /// Returns whether a directory is one of those that clients read. A directory in an item
    /// belongs to the item, with any name.
    fn is_generated(&self, slashed: &str) -> bool {
        !self.takes_clients
            && slashed.split('/').any(|name| GENERATED.contains(&name))
            && self.item_above(slashed).is_none()
    }

    /// Returns whether a directory is an item's, or lies in one.
    fn has_item(&self, slashed: &str) -> bool {
        self.directories.contains_key(slashed) || self.item_above(slashed).is_some()
    }

    /// Returns the item directory around a directory, and the path from there.
    fn item_above(&self, slashed: &str) -> Option<(String, String)> {
        let mut above = slashed;
        while let Some((parent, _)) = above.rsplit_once('/') {
            if self.directories.contains_key(parent) {
                return Some((parent.to_owned(), format!("{}/", &slashed[parent.len() + 1..])));
            }
            above = parent;
        }
        None
    }

    fn item_directory(&mut self, visit: &Visit<'_>, names: &[(&str, FileKind)]) {
        let slashed = visit.slashed();
        let mut found = ItemDirectory::default();
        let is_in_folder =
            slashed.rsplit('/').nth(1).and_then(ItemKind::of_folder).is_some_and(|kind| {
                let is_own = |name: &str| name.starts_with(kind.stem());
                kind.is_of_document() || names.iter().any(|(name, _)| is_own(name))
            });
        for kind in ItemKind::ALL {
            let entry = names.iter().find(|(name, _)| *name == kind.entrypoint());
            let Some((name, of)) = entry else { continue };
            if matches!(of, FileKind::Directory | FileKind::Other) && !is_in_folder {
                continue;
            }
            match visit.read_file(name) {
                Ok(bytes) => {
                    let source = Arc::new(Source::from_bytes(visit.path_of(name), bytes));
                    match entry_role(slashed, kind, &source, self.takes_clients) {
                        EntryRole::Item => found.entrypoints.push((kind, source)),
                        EntryRole::Misplaced => {
                            self.diagnostics.push(misplaced_problem(kind, &source));
                        }
                        EntryRole::Other => {}
                    }
                }
                Err(ReadError::Missing) => {}
                Err(error) => {
                    found.diagnostics.push(unreadable_problem(&visit.path_of(name), &error));
                }
            }
        }
        if found.entrypoints.is_empty() && !is_in_folder {
            self.diagnostics.append(&mut found.diagnostics);
            return;
        }
        for (name, _) in names {
            let own = ItemKind::ALL.into_iter().find_map(|kind| {
                let client =
                    name.strip_prefix(kind.stem())?.strip_prefix('.')?.strip_suffix(".md")?;
                Some((kind, client.to_owned()))
            });
            let Some((kind, client)) = own else { continue };
            match visit.read_file(name) {
                Ok(bytes) => {
                    let source = Arc::new(Source::from_bytes(visit.path_of(name), bytes));
                    if names.iter().any(|(name, _)| *name == kind.entrypoint()) {
                        found.overrides.push((kind, client, source));
                    } else {
                        found.diagnostics.push(without_entrypoint(kind, &source));
                    }
                }
                Err(error) => {
                    found.diagnostics.push(unreadable_problem(&visit.path_of(name), &error));
                }
            }
        }
        if found.entrypoints.is_empty() {
            self.diagnostics.append(&mut found.diagnostics);
            return;
        }
        self.directories.insert(slashed.to_owned(), found);
        self.add_files(slashed, "", names);
    }

    /// Adds the files of an item's directory to it, except entry files and overrides.
    fn add_files(&mut self, item: &str, below: &str, names: &[(&str, FileKind)]) {
        let Some(directory) = self.directories.get_mut(item) else { return };
        for (name, kind) in names {
            // A bundle belongs to the registry, wherever it is.
            if below.is_empty() && is_part_of_format(name) || is_bundle(name) {
                continue;
            }
            let path = format!("{below}{name}");
            match kind {
                FileKind::File => directory.files.push(SupportFile { path }),
                FileKind::Directory => {}
                FileKind::Link | FileKind::Other => {
                    let message = format!("`{path}` is {}, which is not installed", kind.noun());
                    let help = "replace it with the file itself";
                    directory.report_problem(rules::item::NOT_A_FILE, message, help);
                }
            }
        }
    }

    fn read_bundle(&mut self, visit: &Visit<'_>, name: &str) {
        let path = visit.path_of(name);
        match visit.read_file(name) {
            Ok(bytes) => {
                let source = Arc::new(Source::from_bytes(path, bytes));
                self.bundles.push((source, join_slashed(visit.slashed(), name)));
            }
            Err(error) => self.diagnostics.push(unreadable_problem(&path, &error)),
        }
    }

    /// Ends the walk: parses and checks the items and bundles.
    pub(super) fn finish(self, clients: &[&str]) -> Registry {
        let mut registry = self.parse_registry();
        name_as_people_do(&mut registry.items);
        sort_and_check(&mut registry, clients);
        registry
    }

    /// Parses the items and bundles.
    fn parse_registry(self) -> Registry {
        let mut registry = Registry { diagnostics: self.diagnostics, ..Registry::default() };
        for (slashed, mut directory) in self.directories {
            for (kind, source) in std::mem::take(&mut directory.entrypoints) {
                let item = parse_item(&slashed, kind, &source, &mut directory);
                registry.items.push(item);
            }
            registry.diagnostics.append(&mut directory.diagnostics);
        }
        let bundles = self.bundles.into_iter();
        registry
            .bundles
            .extend(bundles.map(|(source, slashed)| parse_bundle_file(&source, slashed)));
        registry
    }
}

fn sort_and_check(registry: &mut Registry, clients: &[&str]) {
    registry
        .items
        .sort_by(|left, right| (&left.id, &left.slashed).cmp(&(&right.id, &right.slashed)));
    registry
        .bundles
        .sort_by(|left, right| (&left.name, &left.slashed).cmp(&(&right.name, &right.slashed)));
    check_registry(registry, clients);
}

/// Gives each item in another format the name in its front matter, which its users know. It
/// keeps the directory's or the file's name if that one is invalid or if another item has it.
pub(super) fn name_as_people_do(items: &mut [PortableItem]) {
    let own_name = |item: &PortableItem| {
        let name = item.document.field_text("name").filter(|_| item.is_foreign())?;
        fields::name_problem(name).is_none().then(|| name.to_owned())
    };
    let mut wanted: BTreeMap<ItemId, usize> = BTreeMap::new();
    for item in items.iter() {
        let mut ids = vec![item.id.clone()];
        if let Some(name) = own_name(item).filter(|name| *name != item.id.name) {
            ids.push(ItemId { kind: item.id.kind, name });
        }
        for id in ids {
            *wanted.entry(id).or_default() += 1;
        }
    }
    for item in items {
        if let Some(name) = own_name(item) {
            let id = ItemId { kind: item.id.kind, name };
            if wanted.get(&id) == Some(&1) {
                item.id = id;
            }
        }
    }
}

pub(super) fn last_name(slashed: &str) -> &str {
    slashed.rsplit('/').next().unwrap_or_default()
}

fn parse_item(
    slashed: &str,
    kind: ItemKind,
    source: &Arc<Source>,
    directory: &mut ItemDirectory,
) -> PortableItem {
    let name = last_name(slashed).to_owned();
    let (document, mut diagnostics) = parse::parse_document(source);
    diagnostics.append(&mut directory.diagnostics);
    let origin = parse::detect_origin(kind, &document);
    let mut overrides = Vec::new();
    directory.overrides.retain(|(of, client, source)| {
        let is_own = *of == kind;
        if is_own {
            overrides.push(Override { client: client.clone(), source: Arc::clone(source) });
        }
        !is_own
    });
    PortableItem {
        id: ItemId { kind, name },
        directory: source.path().parent().unwrap_or(Path::new("")).to_owned(),
        slashed: slashed.to_owned(),
        document,
        overrides,
        files: directory.files.clone(),
        origin,
        diagnostics,
    }
}

fn parse_bundle_file(source: &Arc<Source>, slashed: String) -> Bundle {
    let name = last_name(&slashed).to_owned();
    let (stem, parsed) = match name.strip_suffix(YAML_BUNDLE_SUFFIX) {
        Some(stem) => (stem, parse::yaml_document(source)),
        None => (name.strip_suffix(BUNDLE_SUFFIX).unwrap_or(&name), parse::parse_document(source)),
    };
    parse::parse_bundle(slashed, stem, parsed)
}

pub(super) fn is_bundle(name: &str) -> bool {
    [BUNDLE_SUFFIX, YAML_BUNDLE_SUFFIX]
        .iter()
        .any(|suffix| name.strip_suffix(suffix).is_some_and(|stem| !stem.is_empty()))
}

/// Returns whether a file is an entry file or an override.
fn is_part_of_format(name: &str) -> bool {
    ItemKind::ALL.into_iter().any(|kind| {
        let rest = name.strip_prefix(kind.stem()).and_then(|rest| rest.strip_suffix(".md"));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The role of a file with the name of an entry file.
enum EntryRole {
    /// The entry file of an item.
    Item,
    /// The entry file of an item in a directory that cannot be an item's.
    Misplaced,
    Other,
}

/// Returns the role of a file with the name of an entry file.
///
/// It is an entry file in a directory of its kind, or if it has a `schema`. A file called
/// `AGENT.md` may be something else. A `SKILL.md` with front matter is a skill anywhere, except in a hidden directory
/// such as `.agents`, where it was written for a client; without, it is a text for another purpose. The root and the directories for items of
/// a kind are no items: all other items would be their files.
fn entry_role(slashed: &str, kind: ItemKind, source: &Source, takes_clients: bool) -> EntryRole {
    let header = source.text().trim_start_matches('\u{feff}').strip_prefix("---");
    let has_schema = || {
        header.is_some_and(|header| {
            let mut lines = header.lines().skip(1).take_while(|line| line.trim_end() != "---");
            lines.any(|line| line.starts_with("schema:"))
        })
    };
    let mut names = slashed.rsplit('/');
    let (own, parent) = (names.next().unwrap_or_default(), names.next());
    // Only a skill is the same for a client as in a source: a rule or an agent there without `schema` was compiled.
    let takes_hidden = takes_clients && kind == ItemKind::Skill;
    let is_hidden = !takes_hidden && is_hidden(slashed);
    // The document does not have `commands`, so that only a command has a place there.
    let of_folder =
        |name| ItemKind::of_folder(name).filter(|of| of.is_of_document() || *of == kind);
    let is_in_folder = parent.and_then(of_folder).is_some();
    let is_folder = own.is_empty() || !is_in_folder && of_folder(own).is_some();
    let is_meant =
        match (is_hidden || is_folder, is_in_folder || kind == ItemKind::Skill && header.is_some())
        {
            (false, true) => true,
            _ => has_schema(),
        };
    match (is_meant, is_folder) {
        (false, _) => EntryRole::Other,
        (true, false) => EntryRole::Item,
        (true, true) => EntryRole::Misplaced,
    }
}

/// Returns whether a path has a hidden directory. Some are no client's and sort a collection: `skills/.curated`.
fn is_hidden(slashed: &str) -> bool {
    let mut above = "";
    slashed.split('/').any(|name| {
        let is_shelf =
            ItemKind::of_folder(above).is_some() && !super::foreign::is_in_client_directory(name);
        above = name;
        name.starts_with('.') && !is_shelf
    })
}

fn misplaced_problem(kind: ItemKind, source: &Arc<Source>) -> Diagnostic {
    let message = format!("the {kind} has no directory of its own");
    let help = format!("move it to `{}/<name>/{}`", kind.folder(), kind.entrypoint());
    file_problem(rules::item::MISPLACED_ITEM, source, message, help)
}

fn without_entrypoint(kind: ItemKind, source: &Arc<Source>) -> Diagnostic {
    let message = format!("this file belongs to an item without `{}`", kind.entrypoint());
    let help = "add the entrypoint, or rename this file";
    file_problem(rules::item::MISSING_ENTRYPOINT, source, message, help)
}

fn unreadable_problem(path: &Path, error: &ReadError) -> Diagnostic {
    let source = Arc::new(Source::without_text(path));
    let message = format!("cannot read the file: {error}");
    let help = "items consist of text files of at most 1 MiB";
    file_problem(rules::item::UNREADABLE, &source, message, help)
}
