//! `brief add`

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use brief_clients::import::GeneratedFile;
use brief_engine::portable::ItemId;
use brief_registry::SourceAddress;
use brief_registry::install::{
    InstallMode, InstallReport, InstallRequest, NewFile, NewSource, TypedSource,
};
use brief_registry::manifest::ManifestEdit;
use brief_syntax::Root;
use brief_system::paths::clean_path;
use brief_system::{Buffers, FileContent, System};
use brief_workflows::add::{LocatedSource, WantedAddition, prepare_addition, prepare_whole};
use clap::Args;

use crate::error::{CommandError, Result};
use crate::installation::{
    self, Installation, InstallationArg, RunPurpose, WritingArgs, print_remarks,
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
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_clients)
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

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &AddArgs) -> Result {
    match add_source(ui, session, args) {
        // Files of a concurrent run are not evidence for a client. Its manifest is read instead.
        Err(error) if error.is_outrun() => add_source(ui, session, args),
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

fn add_source(ui: &mut Ui, session: &Session, args: &AddArgs) -> Result {
    let mode = installation::install_mode(args.dry_run, false);
    let mut installation = Installation::find_for(ui, session, &args.writing.place, mode)?;
    ensure_project(session, &installation, args.writing.place.global)?;
    let (system, base) = (session.system(), session.directory());
    let typed = TypedSource { text: &args.source, base, name: args.name.as_deref() };
    let located = LocatedSource::locate_typed(system, &installation, typed)?;
    let lock = installation.read_lock(system)?.unwrap_or_default();
    let located = located.locked_by(&lock);
    let network = installation::network_mode(args.offline);
    let found = installation::with_progress(ui, |observer| {
        located.read_items(system, &installation, base, network, observer)
    })??;
    let kind = args.kind.as_deref();
    let wanted =
        WantedAddition { items: &args.items, kind, clients: &args.clients, base, lock: &lock };
    let mut remarks = Vec::new();
    let prepared =
        prepare_addition(system, &mut installation, &located, &found, wanted, &mut remarks);
    print_remarks(ui, &remarks)?;
    let prepared = prepared?;
    let mut request = InstallRequest {
        edits: &prepared.edits,
        commits: located.new_commits(&found),
        found: Some(&found),
        mode,
        network,
        new_clients: &prepared.new_clients,
        ..installation.create_request(session, &args.writing, &prepared.clients)
    };
    let source = &located.addition.source;
    let generated = find_generated(session, &installation, source)?;
    for file in &generated.files {
        request.adopt.insert(file.path.clone());
    }
    request.force.extend(generated.shared.iter().cloned());
    if source.has_password() {
        ui.print_warning(
            "brief does not store the password in the URL; git asks its credential helper next time",
        )?;
    }
    let asked = RunPurpose::ToWrite;
    let report = installation.carry_out(ui, "add", session, &request, &args.writing, asked)?;
    warn_about_generated(ui, session, &installation, &generated, &report)
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
    let is_inside = clean_path(&session.directory().join(path)).starts_with(clean_path(project));
    let has = |name: &str| session.system().resolve_dir(&project.join(name)).is_ok();
    if !is_inside || !TOOLS.iter().any(|name| has(name)) {
        return Ok(GeneratedFiles::default());
    }
    let collection = super::import::collect_items(session, installation, &[], None)?;
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
        ui.print_warning(&format!(
            "clients also read `{}`, written by {tool}, in addition to the new files",
            paths.join("`, `")
        ))?;
        let is_plain = |path: &&str| {
            path.chars().all(|sign| sign.is_ascii_alphanumeric() || "./_-".contains(sign))
        };
        if paths.iter().all(is_plain) {
            ui.print_hint(&format!(
                "run `rm -r {}` to remove it, and stop using {tool} here",
                paths.join(" ")
            ))?;
        }
    }
    Ok(())
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
pub(super) fn install_directory(
    ui: &mut Ui,
    session: &Session,
    source: &Path,
    new: &Additions<'_>,
    adopt: &BTreeSet<String>,
    used: &[String],
) -> Result<InstallReport> {
    let place = InstallationArg { global: false };
    let mut installation = Installation::find_for(ui, session, &place, InstallMode::Write)?;
    installation.declare_servers(session.system(), new.edits)?;
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
    let text = source.display().to_string();
    let typed = TypedSource { text: &text, base: session.directory(), name: None };
    let located = LocatedSource::locate_typed(system, &installation, typed)?;
    let found = installation::with_progress(ui, |observer| {
        let (base, network) = (session.directory(), installation::network_mode(true));
        located.read_items(system, &installation, base, network, observer)
    })??;
    let prepared = prepare_whole(&installation, &located, &found, used, exclude, declared)?;
    let request = InstallRequest {
        edits: &prepared.edits,
        found: Some(&found),
        new,
        adopt: adopt.clone(),
        force: shared.clone(),
        ..InstallRequest::new(&prepared.clients)
    };
    installation.sync(ui, session, &request)
}
