//! `brief add`

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use brief_clients::compile::ClientsInUse;
use brief_clients::import::GeneratedFile;
use brief_engine::portable::{ItemId, PortableItem, Registry, bundle};
use brief_registry::SourceAddress;
use brief_registry::install::{
    AddError, Addition, ChooseError, Elsewhere, InstallMode, InstallReport, InstallRequest,
    NewFile, NewSource, SourceItems, TypedSource,
};
use brief_registry::install::{choose, look_into};
use brief_registry::manifest::{ManifestEdit, ManifestPlace, WantedItems};
use brief_syntax::Root;
use brief_syntax::text::counted;
use brief_system::paths::cleaned;
use brief_system::{Buffers, FileContent, System};
use clap::Args;

use crate::error::{CommandError, Result};
use crate::installation::{
    self, Installation, InstallationArg, RunPurpose, WritingArgs, full_name, mention_clients, short,
};
use crate::session::Session;
use crate::surroundings::refuse_no_project;
use crate::ui::Ui;

/// Add rules, skills and agents from a registry
///
/// Without ITEM, adds the whole source, including future items. brief.toml gets an entry for the source; brief.lock
/// records its commit or digest and a hash of every written file.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Source: owner/repo, a git URL, `oci://HOST/PATH:TAG` or a directory [also
    /// gitlab:GROUP/REPO; append @REF or :SUBPATH]
    source: String,

    /// NAME or KIND/NAME of an item or bundle [default: all]
    #[arg(value_name = "ITEM")]
    items: Vec<String>,

    /// Add only items of this kind
    #[arg(long, value_name = "KIND", value_parser = ["rule", "skill", "agent", "command", "bundle"])]
    kind: Option<String>,

    /// Write only for this client [repeatable] [default: `install.clients` of brief.toml, else the
    /// clients detected in the project, else claude, copilot and opencode]
    #[arg(
        long = "client", value_name = "CLIENT",
        add = clap_complete::ArgValueCompleter::new(crate::complete::clients)
    )]
    clients: Vec<String>,

    /// Name the source in brief.toml [default: name of the repository or directory]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Show the plan without writing
    #[arg(long)]
    dry_run: bool,

    /// Use only the cache
    #[arg(long)]
    offline: bool,

    #[command(flatten)]
    writing: WritingArgs,
}

/// The advice for a source without items: the paths of items.
pub(super) const ITEMS: &str = "items are `rules/NAME/RULE.md`, `skills/NAME/SKILL.md`, `agents/NAME/AGENT.md`, and files for one client: \
     `agents/NAME.md`, `NAME.agent.md`, `NAME.instructions.md`, `NAME.mdc`";

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &AddArgs) -> Result {
    match add(ui, session, args) {
        // Files of a concurrent run are not evidence for a client. Its manifest is read instead.
        Err(error) if error.is_outrun() => add(ui, session, args),
        outcome => outcome,
    }
}

/// Refuses a place that is no project, such as the home directory.
fn ensure_project(session: &Session, installation: &Installation, is_global: bool) -> Result {
    if is_global || installation.manifest.is_some() {
        return Ok(());
    }
    let root = Root::open(session.system(), &installation.project.outputs)
        .map_err(|error| CommandError::refused(error.to_string()))?;
    refuse_no_project(session, &root)
}

fn add(ui: &mut Ui, session: &Session, args: &AddArgs) -> Result {
    let mode = installation::mode(args.dry_run, false);
    let mut installation = Installation::find_for(ui, session, &args.writing.place, mode)?;
    ensure_project(session, &installation, args.writing.place.global)?;
    let system = session.system();
    let manifest = installation.manifest.clone().unwrap_or_default();
    let (text, base, name) = (&*args.source, session.directory(), args.name.as_deref());
    let typed = TypedSource { text, base, name };
    let addition =
        typed.entry(system, &installation.project, &manifest).map_err(|error| not_added(&error))?;
    let source = &addition.source;
    let lock = installation.lock(system)?.unwrap_or_default();
    let locked = addition.locked(&lock);
    let network = installation::network(args.offline);
    let known = installation.clients.profiles().ids();
    let found = installation::watched(ui, |observer| {
        look_into(system, source, locked, base, &known, network, observer)
    })?;
    let found = found.map_err(installation::refusal_of_typed)?;
    for note in &found.notes {
        ui.warning(note)?;
    }
    let new_clients = installation.take_clients(ui, session, &found.described, &args.clients)?;
    let mut clients = installation.wanted(&[])?;
    let own_clients = match args.clients.as_slice() {
        [] => None,
        named => Some(installation.wanted(named).map_err(|error| with_described(error, &found))?),
    };
    let chosen = choose(&found.registry, &args.items, args.kind.as_deref());
    if chosen.as_ref().is_err_and(ChooseError::is_of_source) {
        ui.print_diagnostics(&found.errors(&addition.name), base)?;
    }
    let lies_elsewhere = || elsewhere(source, &found.elsewhere, &args.items);
    let wanted = chosen.map_err(|error| {
        let refused = not_chosen(&addition, locked, &error);
        match (&error, lies_elsewhere()) {
            (ChooseError::Empty | ChooseError::Missing { .. }, Some(hint)) => {
                refused.with_hint(hint)
            }
            _ => refused,
        }
    })?;
    if let Some(hint) = lies_elsewhere().filter(|_| args.items.is_empty()) {
        ui.hint(&hint)?;
    }
    for note in found.not_installed(&wanted) {
        ui.warning(&note)?;
    }
    if let Some(bundle) = empty_bundle(&found.registry, &wanted) {
        let message = format!("the bundle `{bundle}` has no items, so there is nothing to add");
        return Err(CommandError::refused(message)
            .with_hint("its author lists them below `items`; `brief lint` there reports it"));
    }
    let is_new = manifest.sources.is_empty() && lock.items.is_empty();
    let is_open = installation.clients.settings().clients.is_none() && own_clients.is_none();
    let found_clients = (is_new && is_open)
        .then(|| installation.clients.in_use(system, &installation.project.outputs))
        .flatten()
        .filter(|found| found.clients != clients);
    if let Some(found) = &found_clients {
        clients.clone_from(&found.clients);
        mention_clients(ui, found)?;
    }
    let getting = own_clients.as_ref().unwrap_or(&clients);
    check_audience(ui, &found.registry, &wanted, getting)?;
    let found_clients = found_clients
        .map(|ClientsInUse { clients, signs }| ManifestEdit::FoundClients { clients, signs });
    let want = addition.edit(wanted, own_clients);
    let edits: Vec<ManifestEdit> = found_clients.into_iter().chain([want]).collect();
    let commits = found
        .commit
        .iter()
        .filter(|_| locked.is_none())
        .map(|commit| (addition.name.clone(), commit.clone()));
    let mut request = InstallRequest {
        edits: &edits,
        commits: commits.collect(),
        found: Some(&found),
        mode,
        network,
        new_clients: &new_clients,
        ..installation.request(session, &args.writing, &clients)
    };
    let generated = find_generated(session, &installation, source)?;
    for file in &generated.files {
        request.adopt.insert(file.path.clone());
    }
    request.force.extend(generated.shared.iter().cloned());
    if source.has_password() {
        ui.warning(
            "the password in the address is not kept; next time git asks its credential helper",
        )?;
    }
    let asked = RunPurpose::ToWrite;
    let report = installation.carry_out(ui, "add", session, &request, &args.writing, asked)?;
    warn_about_generated(ui, session, &installation, &generated, &report)
}

/// Returns a wanted bundle, if the wanted ones come to no items. One that needs another source is left to the installation.
fn empty_bundle<'w>(registry: &Registry, wanted: &'w WantedItems) -> Option<&'w String> {
    if wanted.all || !wanted.items.is_empty() {
        return None;
    }
    let is_empty = |name: &&String| {
        bundle::resolve(registry, name).is_ok_and(|closure| closure.items.is_empty())
    };
    let first = wanted.bundles.first()?;
    wanted.bundles.iter().all(|name| is_empty(&name)).then_some(first)
}

/// Refuses an addition of which no client gets a file, and names the items that none of them gets.
fn check_audience(
    ui: &mut Ui,
    registry: &Registry,
    wanted: &WantedItems,
    clients: &[String],
) -> Result {
    let Some((for_some, for_others)) = by_audience(registry, wanted, clients) else {
        return Ok(());
    };
    if for_some.is_empty() {
        let clients = clients.join(", ");
        let message = format!("none of these items is for a client here ({clients})");
        return Err(CommandError::refused(message).with_hint(
            "their `audience` names other clients; `--client CLIENT` adds them for one",
        ));
    }
    if !for_others.is_empty() {
        ui.status(&for_other_clients(&for_others, clients))?;
    }
    Ok(())
}

/// Returns the wanted items that a client gets, and those whose `audience` names none of the clients. `None` where another
/// source has some of them.
fn by_audience<'r>(
    registry: &'r Registry,
    wanted: &WantedItems,
    clients: &[String],
) -> Option<(Vec<&'r PortableItem>, Vec<&'r PortableItem>)> {
    let mut items = wanted.items.clone();
    for name in &wanted.bundles {
        items.extend(bundle::resolve(registry, name).ok()?.items);
    }
    let is_wanted = |item: &&PortableItem| wanted.all || items.contains(item.id());
    let wanted = registry.items.iter().filter(is_wanted);
    Some(wanted.partition(|item| clients.iter().any(|client| item.is_for(client))))
}

/// The number of items whose names are listed.
const NAMED: usize = 3;

/// Says which items have a file for no client.
fn for_other_clients(items: &[&PortableItem], clients: &[String]) -> String {
    let named = items.iter().take(NAMED).map(|item| full_name(item.id()));
    let more = match items.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (named, clients) = (named.collect::<Vec<_>>().join(", "), clients.join(", "));
    format!("no file for {clients}, because `audience` names other clients: {named}{more}")
}

/// The files that another tool has written from sources that are items of the project's own registry now.
#[derive(Default)]
struct GeneratedFiles {
    files: Vec<GeneratedFile>,
    /// Files of servers with entries of the tool.
    shared: BTreeSet<String>,
}

/// Directories of tools that write files of clients.
const TOOLS: [&str; 3] = [".rulesync", ".ruler", ".apm"];

/// Finds what another tool has written, where a registry in the project takes its place.
fn find_generated(
    session: &Session,
    installation: &Installation,
    source: &SourceAddress,
) -> Result<GeneratedFiles> {
    let SourceAddress::Directory(path) = source else { return Ok(GeneratedFiles::default()) };
    let project = &installation.project.outputs;
    let is_inside = cleaned(&session.directory().join(path)).starts_with(cleaned(project));
    let has = |name: &str| session.system().resolve_dir(&project.join(name)).is_ok();
    if !is_inside || !TOOLS.iter().any(|name| has(name)) {
        return Ok(GeneratedFiles::default());
    }
    let collection = super::import::collect(session, installation, &[], None)?;
    Ok(GeneratedFiles { files: collection.generated, shared: collection.shared })
}

/// Names the files of another tool that stay, because `brief` writes their text elsewhere: a client would read it twice.
fn warn_about_generated(
    ui: &mut Ui,
    session: &Session,
    installation: &Installation,
    generated: &GeneratedFiles,
    report: &InstallReport,
) -> Result {
    let is_written = |path: &str| {
        let is_same = |own: &str| {
            own.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mut changes = report.changes.iter().map(|change| &change.path);
        changes.any(|own| is_same(own)) || report.backups.iter().any(|(own, _)| is_same(own))
    };
    let mut left: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for GeneratedFile { path, tool } in &generated.files {
        let place = installation.project.outputs.join(path);
        if !is_written(path) && session.system().resolve(&place).is_ok() {
            left.entry(tool).or_default().push(path);
        }
    }
    for (tool, paths) in left {
        ui.warning(&format!(
            "{tool} has written `{}`, and clients read this besides the new files",
            paths.join("`, `")
        ))?;
        let is_plain = |path: &&str| {
            path.chars().all(|sign| sign.is_ascii_alphanumeric() || "./_-".contains(sign))
        };
        if paths.iter().all(is_plain) {
            ui.hint(&format!("`rm -r {}` removes it; do not run {tool} again", paths.join(" ")))?;
        }
    }
    Ok(())
}

/// Adds the clients that the source describes to an error about an unknown one.
fn with_described(error: CommandError, found: &SourceItems) -> CommandError {
    let names: Vec<String> =
        found.described.clients.iter().map(|client| format!("`{}`", client.id)).collect();
    match names.as_slice() {
        [] => error,
        names => error.with_hint(format!("the source describes {}", names.join(", "))),
    }
}

/// Files of a source in the project and edits of the manifest that come to be with an installation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Additions<'a> {
    pub(super) files: &'a [NewFile<'a>],
    pub(super) edits: &'a [ManifestEdit],
    /// Files that are shared with the user, in which entries are ours from now on.
    pub(super) shared: &'a BTreeSet<String>,
    /// Items of the source that are not installed.
    pub(super) exclude: &'a [ItemId],
}

/// Installs everything of a directory over files that are not ours yet, with copies of them. `new` is written in the
/// same step.
pub(super) fn install(
    ui: &mut Ui,
    session: &Session,
    source: &Path,
    new: &Additions<'_>,
    adopt: &BTreeSet<String>,
    used: &[String],
) -> Result<InstallReport> {
    let place = InstallationArg { global: false };
    let mut installation = Installation::find_for(ui, session, &place, InstallMode::Write)?;
    installation.declare(session, new.edits)?;
    let (top, Additions { files: new, edits: declared, shared, exclude }) =
        (&installation.project.outputs, *new);
    let shown = new.iter().map(|NewFile { path, bytes, permission }| {
        let content = FileContent { bytes: bytes.to_vec(), permission: *permission };
        (top.join(path), content)
    });
    let buffers = Buffers::new(session.shared_system(), shown)
        .map_err(|error| CommandError::refused(format!("`{}`: {error}", top.display())))?;
    let system: &dyn System = if new.is_empty() { session.system() } else { &buffers };
    let new = (!new.is_empty()).then_some(NewSource { files: new, shown_by: &buffers });
    let manifest = installation.manifest.clone().unwrap_or_default();
    let text = source.display().to_string();
    let typed = TypedSource { text: &text, base: session.directory(), name: None };
    let addition =
        typed.entry(system, &installation.project, &manifest).map_err(|error| not_added(&error))?;
    let known = installation.clients.profiles().ids();
    let found = installation::watched(ui, |observer| {
        let (base, network) = (session.directory(), installation::network(true));
        look_into(system, &addition.source, None, base, &known, network, observer)
    })?;
    let found = found.map_err(installation::refusal_of_typed)?;
    let wanted =
        choose(&found.registry, &[], None).map_err(|error| not_chosen(&addition, None, &error))?;
    let is_open = installation.clients.settings().clients.is_none() && !used.is_empty();
    let clients = if is_open { used.to_vec() } else { installation.wanted(&[])? };
    let named = is_open.then(|| ManifestEdit::FoundClients {
        clients: clients.clone(),
        signs: vec!["the imported files".to_owned()],
    });
    let wanted = addition.edit(wanted, None);
    let excluded = exclude
        .iter()
        .map(|item| ManifestEdit::Exclude { source: addition.name.clone(), item: item.clone() });
    let edits: Vec<ManifestEdit> =
        named.into_iter().chain([wanted]).chain(excluded).chain(declared.iter().cloned()).collect();
    let request = InstallRequest {
        edits: &edits,
        found: Some(&found),
        new,
        adopt: adopt.clone(),
        force: shared.clone(),
        ..InstallRequest::new(&clients)
    };
    installation.sync(ui, session, &request)
}

fn not_added(error: &AddError) -> CommandError {
    let message = error.to_string();
    match error {
        AddError::Name(_) => CommandError::usage(format!("`--name`: {message}")),
        AddError::Known(_) => CommandError::refused(message).with_hint("leave `--name` away"),
        AddError::NameTaken(_) => {
            CommandError::refused(message).with_hint("choose another `--name`")
        }
        _ => CommandError::usage(message),
    }
}

fn not_chosen(addition: &Addition, locked: Option<&str>, error: &ChooseError) -> CommandError {
    let at = locked.map_or(String::new(), |commit| format!(" at {}", short(commit)));
    let refused = CommandError::refused(format!("`{}`{at}: {error}", addition.source.typed()));
    match error {
        ChooseError::Missing { near, .. } if !near.is_empty() => {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            refused.with_hint(format!("did you mean {}?", near.join(" or ")))
        }
        ChooseError::Missing { .. } if locked.is_some() => {
            let version = match &addition.place {
                ManifestPlace::Git { reference: Some(_), .. }
                | ManifestPlace::Oci { reference: Some(_), .. } => "@VERSION",
                _ => "",
            };
            let name = &addition.name;
            refused.with_hint(format!(
                "if it is newer than what is locked, `brief update {name}{version}` comes first"
            ))
        }
        ChooseError::Missing { .. } => {
            let typed = addition.source.typed();
            refused.with_hint(format!("`brief list {typed}` shows what there is"))
        }
        ChooseError::Empty => refused.with_hint(ITEMS),
        ChooseError::Invalid { is_newer: true, .. } | ChooseError::Unusable { is_newer: true } => {
            refused.with_hint("upgrade brief; nothing was changed")
        }
        ChooseError::Unusable { .. } | ChooseError::Invalid { .. } => refused
            .with_hint("until it is corrected in the source, do without it; nothing was changed"),
        ChooseError::Outside { address: Some(address), .. } => {
            refused.with_hint(format!("`brief add {address}` adds it from there"))
        }
        ChooseError::Several { which, .. } => {
            refused.with_hint(format!("write {}", which.join(" or ")))
        }
        _ => refused,
    }
}

/// Describes the directory in which the source has all named skills, although they are not its items, and the
/// command that adds them.
pub(super) fn elsewhere(
    source: &SourceAddress,
    found: &[Elsewhere],
    names: &[String],
) -> Option<String> {
    let fitting = Elsewhere::with_all(found, names);
    let (found, more) = fitting.split_first()?;
    let more: Vec<String> = more.iter().map(|found| format!("`{}`", found.directory)).collect();
    let more = match more.join(", ") {
        more if more.is_empty() => more,
        more => format!(", and more in {more}"),
    };
    let names = names.iter().map(|name| name.rsplit('/').next().unwrap_or_default().to_owned());
    let (directory, typed) = (&found.directory, source.below(&found.directory).typed());
    let count = counted(found.skills.len(), "skill");
    let typed = std::iter::once(typed).chain(names).collect::<Vec<_>>().join(" ");
    let is = if found.skills.len() == 1 { "is" } else { "are" };
    Some(format!(
        "there {is} {count} in `{directory}`, where a client of the source itself reads them{more}; \
         `brief add {typed}` adds them"
    ))
}
