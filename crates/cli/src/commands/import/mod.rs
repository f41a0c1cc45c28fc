//! `brief import`

mod report;
mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use brief_clients::import::{
    self, CollectedItem, CollectedServer, Collection, ImportLoss, ImportSearch, SkippedFile,
};
use brief_clients::mcp;
use brief_dialects::portable::ItemId;
use brief_dialects::portable::output::Compiler;
use brief_registry::install::{self, NewFile, NewFileState, ProjectPaths};
use brief_registry::manifest::ManifestEdit;
use brief_syntax::Root;
use brief_system::paths::{clean_path, to_slashed};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use report::{json_item, print_import, print_json};
use target::RegistryTarget;

use super::add::Additions;
use super::convert::{self, ConversionArgs};
use super::whole::strip_directory_prefix;
use crate::error::{CommandError, Result, refuse_if};
use crate::installation::{self, Installation, InstallationArg};
use crate::session::Session;
use crate::surroundings::refuse_no_project;
use crate::ui::Ui;

const AGENTS_YAML: &str = "AGENTS.yaml";

/// Convert client files to shared rules and skills
///
/// Reads the rules, skills, agents and commands of every known client, and those of rulesync, ruler and apm, and writes
/// items of a registry; `brief registry build` can recreate the originals. The same text in several files becomes one item.
/// Existing files are never replaced. Exits 1 if a file could not be imported; the others are.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a user can set")]
pub(crate) struct ImportArgs {
    /// Files and directories to import [default: the whole project]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Write to this registry [default: the project's registry, else guidance]
    #[arg(long, value_name = "DIR", conflicts_with = "agents_yaml")]
    to: Option<PathBuf>,

    /// Write short scoped rules to a new AGENTS.yaml instead
    #[arg(long, conflicts_with = "replace")]
    agents_yaml: bool,

    /// Show the plan without writing
    #[arg(long)]
    dry_run: bool,

    /// Replace the originals with generated files and keep backups
    #[arg(long)]
    replace: bool,

    #[command(flatten)]
    conversion: ConversionArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The state of an item in the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum ItemState {
    New,
    Unchanged,
    Taken,
}

impl ItemState {
    fn is_taken(self) -> bool {
        self == ItemState::Taken
    }
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &ImportArgs) -> Result {
    if let Some(conversion) = args.conversion.conversion(&args.paths) {
        return convert::run(ui, session, &conversion, args.json);
    }
    let mode = installation::install_mode(args.dry_run, false);
    let installation =
        Installation::find_for(ui, session, &InstallationArg { global: false }, mode)?;
    refuse_no_project(session, session.open_project()?.root())?;
    let mut collection = collect_items(session, &installation, &args.paths, None)?;
    collection.leave_declared(installation.clients.servers());
    if args.agents_yaml {
        return agents_yaml(ui, session, &installation, args, &collection);
    }
    let target = RegistryTarget::find(session, &installation, &collection, args.to.as_deref())?;
    if let Some(warning) = target.ignored_warning(session) {
        ui.print_warning(&warning)?;
    }
    let states = target.item_states(session, &collection.items)?;
    for (item, _) in collection.items.iter().zip(&states).filter(|(_, state)| state.is_taken()) {
        let reason = format!(
            "`{}/{}/{}` already exists with other content",
            target.shown,
            item.kind.folder(),
            item.name
        );
        collection.skipped.extend(item.originals.iter().map(|path| SkippedFile {
            path: path.clone(),
            reason: reason.clone(),
            loss: ImportLoss::Text,
        }));
    }
    let import = Import { args, collection: &collection, states: &states, target: &target };
    let new = import.new_items();
    let paths: Vec<Vec<String>> = new.iter().map(|item| target.item_paths(item)).collect();
    let files: Vec<NewFile<'_>> =
        new.iter().zip(&paths).flat_map(|(item, paths)| new_files(item, paths)).collect();
    let is_replacement = args.replace && !collection.items.is_empty();
    // A registry in the project comes to be in the transaction of its outputs.
    let is_one_step = is_replacement && target.project == installation.project;
    let servers: Vec<ManifestEdit> = clients_edit(&installation, &collection)
        .into_iter()
        .chain(server_edits(&collection))
        .collect();
    let mut outcome = Replacement::default();
    if !args.dry_run && !is_one_step {
        let is_same = target.project == installation.project;
        let edits = if is_same { servers.as_slice() } else { &[] };
        let others = if is_same || is_replacement { &[] } else { servers.as_slice() };
        for (project, files, edits) in
            [(&target.project, files.as_slice(), edits), (&installation.project, &[], others)]
        {
            if !files.is_empty() || !edits.is_empty() {
                install::create_files(session.system(), project, files, edits)?;
            }
        }
    }
    if is_replacement && !args.dry_run {
        let files = if is_one_step { files.as_slice() } else { &[] };
        let shared = collection.servers.iter().flat_map(|own| own.originals.iter().cloned());
        let new = Additions { files, edits: &servers, shared: &shared.collect(), exclude: &[] };
        outcome = replace_originals(ui, session, &installation, &import, &new)?;
    }
    if args.json {
        print_json(ui, &installation.project.outputs, &import, &outcome)?;
    } else {
        print_import(ui, &import, &outcome)?;
    }
    let is_whole =
        collection.skipped.iter().all(|one| one.loss != ImportLoss::Text) && outcome.is_whole;
    refuse_if(!is_whole)
}

/// Returns the edit of the manifest that names the clients that other tools write for, if it names none itself.
fn clients_edit(installation: &Installation, collection: &Collection) -> Option<ManifestEdit> {
    let has_sources = installation.manifest.as_ref().is_some_and(|own| !own.sources.is_empty());
    let is_named = has_sources || installation.clients.settings().clients.is_some();
    let (clients, signs) = (collection.clients.clone(), collection.clients_from.clone());
    (!is_named && !clients.is_empty()).then_some(ManifestEdit::FirstClients { clients, signs })
}

/// Returns the edits of the manifest that declare the servers of clients.
fn server_edits(collection: &Collection) -> Vec<ManifestEdit> {
    let edit = |own: &CollectedServer| ManifestEdit::Server {
        name: own.server.name.clone(),
        declaration: mcp::render_declaration(&own.server, &own.clients),
    };
    collection.servers.iter().map(edit).collect()
}

/// The items to import, and their target.
struct Import<'i> {
    args: &'i ImportArgs,
    collection: &'i Collection,
    /// The state of each item of the collection.
    states: &'i [ItemState],
    target: &'i RegistryTarget,
}

impl<'i> Import<'i> {
    fn items(&self) -> impl Iterator<Item = (&'i CollectedItem, ItemState)> {
        self.collection.items.iter().zip(self.states.iter().copied())
    }

    fn new_items(&self) -> Vec<&'i CollectedItem> {
        let items = self.items().filter(|(_, state)| *state == ItemState::New);
        items.map(|(item, _)| item).collect()
    }
}

/// Reads the clients' files of the project, or those that the user names; of one client, if it is given.
pub(super) fn collect_items(
    session: &Session,
    installation: &Installation,
    paths: &[PathBuf],
    only: Option<&str>,
) -> Result<Collection> {
    let system = session.system();
    let project = &installation.project.outputs;
    let root = Root::open(system, project).map_err(|error| {
        CommandError::refused(format!("cannot open `{}`: {error}", project.display()))
    })?;
    let mut wanted: BTreeSet<String> = BTreeSet::new();
    for path in paths {
        let whole = clean_path(&session.directory().join(path));
        let below = whole.strip_prefix(root.path()).map_err(|_| {
            CommandError::usage(format!(
                "`{}` is outside the project `{}`",
                path.display(),
                root.path().display()
            ))
        })?;
        if system.resolve(&whole).is_err() {
            return Err(CommandError::usage(format!("file not found: `{}`", path.display())));
        }
        wanted.insert(to_slashed(below));
    }
    let profiles = installation.clients.profiles();
    let looking = if paths.is_empty() { ImportSearch::AtPlaces } else { ImportSearch::Anywhere };
    let is_wanted = |path: &str| {
        let is_other = |only: &str| {
            let found =
                import::recognize_file(path, profiles, looking).and_then(|found| found.client);
            found.is_some_and(|client| client != only)
        };
        let is_named = wanted.is_empty()
            || wanted.iter().any(|own| strip_directory_prefix(own, path).is_some());
        is_named && !only.is_some_and(is_other)
    };
    let mut ours: BTreeMap<String, String> = BTreeMap::new();
    // Our outputs can be converted, too.
    if let Some(lock) = installation.read_lock(system)?.filter(|_| only.is_none()) {
        let files = lock.items.values().flat_map(|item| &item.files);
        ours.extend(files.map(|(path, file)| (path.clone(), file.sha256.clone())));
    }
    Ok(import::collect_project_files(system, &root, profiles, looking, &is_wanted, &ours))
}

fn new_files<'f>(item: &'f CollectedItem, paths: &'f [String]) -> Vec<NewFile<'f>> {
    let files = item.files.iter().zip(paths);
    files
        .map(|(file, path)| NewFile { path, bytes: &file.bytes, permission: file.permission })
        .collect()
}

#[derive(Debug)]
struct Replacement {
    /// Originals that are outputs now, with the copies.
    replaced: Vec<(String, PathBuf)>,
    /// Originals that stay, because `brief` does not write such files; their items are not installed.
    left: Vec<String>,
    is_whole: bool,
}

impl Default for Replacement {
    fn default() -> Replacement {
        Replacement { replaced: Vec::new(), left: Vec::new(), is_whole: true }
    }
}

/// Returns whether an item is written over all of its originals. If it is not, a client would read both.
fn is_in_place(installation: &Installation, item: &CollectedItem, clients: &[String]) -> bool {
    // Each client has skills in one directory.
    let Some(imported) = &item.item else { return true };
    let clients: Vec<&str> = clients.iter().map(String::as_str).collect();
    let compiled = installation.clients.compile(&imported.to_portable_item(), &clients);
    let written: BTreeSet<&str> = compiled.files.iter().map(|file| file.path.as_str()).collect();
    item.originals
        .iter()
        .all(|path| is_tools_source(installation, path) || written.contains(path.as_str()))
}

/// Returns whether a file is a source of another tool, which no client reads.
fn is_tools_source(installation: &Installation, path: &str) -> bool {
    let found =
        import::recognize_file(path, installation.clients.profiles(), ImportSearch::AtPlaces);
    found.is_some_and(|found| found.peer.is_some())
}

/// Installs the items from the registry, over the originals.
fn replace_originals(
    ui: &mut Ui,
    session: &Session,
    installation: &Installation,
    import: &Import<'_>,
    new: &Additions<'_>,
) -> Result<Replacement> {
    let (mut originals, mut clients) = (BTreeSet::new(), BTreeSet::new());
    for (item, _) in import.items().filter(|(_, state)| !state.is_taken()) {
        originals.extend(item.originals.iter().cloned());
        clients.extend(item.clients.iter().cloned());
    }
    let skills = originals.iter().filter_map(|path| path.strip_suffix("/SKILL.md"));
    let generated = import.collection.generated.iter().map(|file| file.path.clone());
    let adopt: BTreeSet<String> =
        skills.map(str::to_owned).chain(originals.iter().cloned()).chain(generated).collect();
    let source = import.target.typed_path(session);
    let clients: Vec<String> = match import.collection.clients.as_slice() {
        [] => clients.into_iter().collect(),
        named => named.to_vec(),
    };
    let used = match &installation.clients.settings().clients {
        Some(_) => installation.wanted_clients(&[])?,
        None => clients.clone(),
    };
    let exclude: Vec<ItemId> = import
        .items()
        .filter(|(item, state)| !state.is_taken() && !is_in_place(installation, item, &used))
        .map(|(item, _)| ItemId { kind: item.kind, name: item.name.clone() })
        .collect();
    let new = &Additions { exclude: &exclude, ..*new };
    let report = super::add::install_directory(ui, session, &source, new, &adopt, &clients)?;
    let root = &import.target.project.outputs;
    let lock = ProjectPaths::from_root(root).read_lock(session.system()).ok().flatten();
    let lock = lock.unwrap_or_default();
    let changed = report.changes.iter().map(|change| &change.path);
    let mut written: BTreeSet<&String> = changed.collect();
    written.extend(report.backups.iter().map(|(path, _)| path));
    written.extend(lock.items.values().flat_map(|item| item.files.keys()));
    let is_left = |path: &String| !written.contains(path) && !is_tools_source(installation, path);
    let left = originals.into_iter().filter(is_left).collect();
    ui.print_diagnostics(&report.diagnostics, root)?;
    Ok(Replacement { replaced: report.backups.clone(), left, is_whole: !report.has_errors() })
}

/// Writes scoped rules that are short as entries of a new `AGENTS.yaml`.
fn agents_yaml(
    ui: &mut Ui,
    session: &Session,
    installation: &Installation,
    args: &ImportArgs,
    collection: &Collection,
) -> Result {
    let (text, taken) = collection.agents_yaml();
    let left: Vec<&CollectedItem> =
        collection.items.iter().filter(|item| !taken.contains(&item.name)).collect();
    let root = &installation.project.outputs;
    let file = NewFile {
        path: AGENTS_YAML,
        bytes: text.as_bytes(),
        permission: brief_system::Permission::Data,
    };
    if taken.is_empty() {
        return Err(CommandError::refused("no scoped rule is short enough for AGENTS.yaml")
            .with_hint("run `brief import` to create registry items instead"));
    }
    let states = install::inspect_new_files(session.system(), &installation.project, &[file])?;
    if let [NewFileState::Taken(what)] = &states[..] {
        return Err(CommandError::refused(format!("`AGENTS.yaml` {what}"))
            .with_hint("run `brief import --agents-yaml --dry-run` to print the entries"));
    }
    if !args.dry_run {
        install::create_files(session.system(), &installation.project, &[file], &[])?;
    }
    if args.json {
        let entries = collection.items.iter().filter(|item| taken.contains(&item.name));
        let files = [AGENTS_YAML.to_owned()];
        let items = entries.map(|item| json_item(item, ItemState::New, &files));
        let left = left.iter().map(|item| format!("{}/{}", item.kind, item.name));
        let body = json!({
            "to": AGENTS_YAML,
            "files": collection.files,
            "items": items.collect::<Vec<_>>(),
            "servers": [],
            "skipped": collection.skipped,
            "written": if args.dry_run { 0 } else { taken.len() },
            "replaced": [],
            "left": left.collect::<Vec<_>>(),
        });
        return ui.print_json("import", root, &[], body);
    }
    if args.dry_run {
        ui.print_text(text.as_bytes())?;
    }
    for item in left {
        ui.print_warning(&format!(
            "skipped {} `{}`: not a rule, not scoped, or too long",
            item.kind, item.name
        ))?;
    }
    let entries = if taken.len() == 1 { "entry" } else { "entries" };
    ui.print_status(&format!("{} {entries} in AGENTS.yaml", taken.len()))
}
