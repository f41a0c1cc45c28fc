//! `brief doctor`

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use brief_clients::places::{self, Duplicate};
use brief_clients::profile::{Profile, ProfileScope};
use brief_dialects::dependencies::LockedDependency;
use brief_dialects::portable::output::{Compiler, Foreign, Merge, SharedEntry};
use brief_dialects::portable::{ItemId, ItemKind};
use brief_registry::install::{self, Drift, SourceInventory};
use brief_registry::lock::Lock;
use brief_registry::manifest::WantedDependency;
use brief_syntax::system::{Dir, FileKind};
use clap::Args;
use serde::Serialize;

use super::whole::counted;
use crate::error::{Result, refuse_if};
use crate::installation::{self, Installation, Where};
use crate::session::Session;
use crate::ui::Ui;

/// The limit of clients' files.
const LOOKED_AT: usize = 10_000;

/// The depth of searched directories.
const DEPTH: usize = 4;

/// Look for problems that nothing reports: duplicates, drift, files that no client reads
///
/// Nothing is fetched and nothing is written. Exits with 1 when something should be done.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    place: Where,

    /// Print JSON: the findings
    #[arg(long)]
    json: bool,
}

/// A problem.
#[derive(Debug, Serialize)]
struct Finding {
    /// The name of the check.
    check: &'static str,
    /// `warning` or `note`.
    severity: &'static str,
    /// The file, if it concerns one.
    path: Option<String>,
    message: String,
    help: String,
}

#[derive(Debug, Serialize)]
struct Examination<'f> {
    findings: &'f [Finding],
}

impl Finding {
    fn problem(check: &'static str, path: Option<&str>, message: String, help: &str) -> Finding {
        let (path, help) = (path.map(str::to_owned), help.to_owned());
        Finding { check, severity: "warning", path, message, help }
    }

    fn note(check: &'static str, path: Option<&str>, message: String, help: &str) -> Finding {
        Finding { severity: "note", ..Finding::problem(check, path, message, help) }
    }
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &DoctorArgs) -> Result {
    let installation = Installation::find(ui, session, &args.place)?;
    let findings = examine(session, &installation)?;
    if args.json {
        let body = Examination { findings: &findings };
        let root = &installation.project.outputs;
        ui.print_json("doctor", root, &[], body)?;
    } else {
        for finding in &findings {
            let place = finding.path.as_deref().map_or(String::new(), |path| format!("{path}: "));
            let Finding { check, severity, message, help, .. } = finding;
            ui.print_line(format!("{severity}[{check}]: {place}{message}"))?;
            if !help.is_empty() {
                ui.print_line(format!("  {help}"))?;
            }
        }
        let problems = findings.iter().filter(|finding| finding.severity == "warning").count();
        ui.status(&match (problems, findings.len()) {
            (_, 0) => "no problems".to_owned(),
            (problems, all) => format!("{problems} to correct, {} to know", all - problems),
        })?;
    }
    refuse_if(findings.iter().any(|finding| finding.severity == "warning"))
}

fn examine(session: &Session, installation: &Installation) -> Result<Vec<Finding>> {
    let system = session.system();
    let mut findings = Vec::new();
    let status = install::status(system, &installation.project);
    let status = status.map_err(|error| installation::refusal(&error))?;
    if status.is_pending {
        findings.push(Finding::problem(
            "interrupted",
            None,
            "a run was ended in the middle".to_owned(),
            "`brief sync` finishes it",
        ));
    }
    let lock = status.lock.clone().unwrap_or_default();
    stale_lock(installation, status.lock.as_ref(), &mut findings);
    for (path, drift) in &status.drift {
        let (message, help) = match drift {
            Drift::Missing => ("the file is gone".to_owned(), "`brief sync` writes it again"),
            Drift::Edited => (
                "the file was changed by hand".to_owned(),
                "put the change into the source, then `brief sync --force FILE`",
            ),
            Drift::Older => (
                "the file is older than brief.lock".to_owned(),
                "`brief sync` brings it up to date",
            ),
            Drift::InTheWay(what) => {
                (format!("something else is there: it {what}"), "move it away")
            }
            _ => ("the file is not as it was written".to_owned(), "`brief sync`"),
        };
        findings.push(Finding::problem("drift", Some(path), message, help));
    }
    policies(session, installation, &lock, &mut findings)?;
    shared(session, installation, &lock, &mut findings);
    sources(session, installation, &lock, &mut findings);
    doubles(installation, &lock, &mut findings);
    same_texts(session, installation, &mut findings)?;
    unread(session, installation, &lock, &mut findings);
    servers(installation, &mut findings);
    #[cfg(feature = "agent")]
    fences(session, &mut findings);
    Ok(findings)
}

/// Reports isolation features of the kernel that this system lacks: agents' tools need them.
#[cfg(feature = "agent")]
fn fences(session: &Session, findings: &mut Vec<Finding>) {
    let missing = match brief_agent::agent::fences_here(session.shared_system()) {
        Ok(fences) => fences.missing(),
        Err(_) => return,
    };
    if !missing.is_empty() {
        let missing = missing.join(" and ");
        let message = format!("this system has no {missing}: tools of agents are not run");
        let help = "`brief agent … --accept-missing-fence` runs them all the same";
        findings.push(Finding::note("fence", None, message, help));
    }
}

/// Reports the policies in force, and the project's wishes that they forbid.
fn policies(
    session: &Session,
    installation: &Installation,
    lock: &Lock,
    findings: &mut Vec<Finding>,
) -> Result {
    let policy = session.policy()?;
    for path in policy.files() {
        let path = path.display().to_string();
        let message = "this policy counts here".to_owned();
        findings.push(Finding::note("policy", Some(&path), message, ""));
    }
    if let Some(decision) = policy.execution() {
        let message = format!("no command of a prompt and no tool of an agent runs: {decision}");
        findings.push(Finding::note("policy", None, message, ""));
    }
    let (system, project) = (session.system(), &installation.project);
    for wanted in installation.manifest.iter().flat_map(|manifest| &manifest.sources) {
        let source = install::source_of(system, project, wanted);
        let source = source.map_err(|error| installation::refusal(&error))?;
        if let Some(decision) = source.forbidden_by(&policy, system, &project.config) {
            let message = format!("the source `{}` is forbidden: {decision}", wanted.name);
            let help = "`brief remove` takes it out";
            findings.push(Finding::problem("policy", None, message, help));
        }
    }
    for (item, decision) in policy.required() {
        if !lock.items.contains_key(item) {
            let message = format!("the {item} is missing: {decision}");
            let help = "`brief add SOURCE` adds it";
            findings.push(Finding::problem("policy", None, message, help));
        }
    }
    Ok(())
}

/// Reports files of the user that lost our entries: clients then miss the rest.
fn shared(
    session: &Session,
    installation: &Installation,
    lock: &Lock,
    findings: &mut Vec<Finding>,
) {
    for (path, entries) in &lock.shared {
        let file = installation.project.outputs.join(path);
        let bytes = session.system().read(&file, brief_syntax::limits::FILE_BYTES).ok();
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let merge = Merge {
            path,
            text: text.as_deref(),
            wanted: entries,
            before: entries,
            foreign: Foreign::Keep,
        };
        let names: Vec<String> = entries.iter().map(SharedEntry::name).collect();
        let message = match installation.clients.merge(&merge) {
            Ok(merged) if merged.text == text && merged.kept.is_empty() => continue,
            Ok(_) => format!("{} is no longer there as it was written", names.join(", ")),
            Err(problem) => problem,
        };
        let help = "`brief sync` puts it back, or says what is in the way";
        findings.push(Finding::problem("drift", Some(path), message, help));
    }
}

/// Reports a lock without an entry of the manifest.
fn stale_lock(installation: &Installation, lock: Option<&Lock>, findings: &mut Vec<Finding>) {
    let manifest = installation.manifest.clone().unwrap_or_default();
    let mut stale = |message: String| {
        let help = "`brief sync` brings brief.lock up to date";
        findings.push(Finding::problem("stale-lock", Some("brief.lock"), message, help));
    };
    let Some(lock) = lock else {
        if !(manifest.sources.is_empty() && manifest.dependencies.is_empty()) {
            stale("there is no lock".to_owned());
        }
        return;
    };
    for source in &manifest.sources {
        let name = &source.name;
        match lock.sources.get(name) {
            None => stale(format!("the source `{name}` is not locked")),
            Some(locked) if locked.place != source.place => {
                stale(format!("the source `{name}` is locked at another place or version"));
            }
            Some(locked) => {
                for bundle in &source.wanted.bundles {
                    if !locked.bundles.contains_key(bundle) {
                        stale(format!("the bundle `{bundle}` is not locked"));
                    }
                }
                for id in &source.wanted.items {
                    if lock.items.get(id).is_none_or(|item| item.source != *name) {
                        stale(format!("the {id} is not locked"));
                    }
                }
            }
        }
    }
    for name in lock.sources.keys().filter(|name| manifest.source(name).is_none()) {
        stale(format!("the source `{name}` is locked, but no longer wanted"));
    }
    for WantedDependency { name, .. } in &manifest.dependencies {
        if !lock.dependencies.iter().any(|locked| name.matches(&locked.id)) {
            stale(format!("the package `{name}` is not recorded, so it is not offered"));
        }
    }
    for LockedDependency { id, .. } in &lock.dependencies {
        if !manifest.dependencies.iter().any(|wanted| wanted.name.matches(id)) {
            stale(format!("the package {id} is recorded, but no longer wanted"));
        }
    }
}

fn sources(
    session: &Session,
    installation: &Installation,
    lock: &Lock,
    findings: &mut Vec<Finding>,
) {
    let manifest = installation.manifest.clone().unwrap_or_default();
    let known = installation.clients.profiles().ids();
    let (system, project) = (session.system(), &installation.project);
    let inventory = SourceInventory::read(system, project, &manifest, lock, &known);
    for (name, outcome) in &inventory.sources {
        match outcome {
            Err(problem) => findings.push(Finding::problem(
                "unreadable-source",
                None,
                format!("the source `{name}`: {problem}"),
                "`brief sync` fetches what is missing; `brief.toml` says where it is",
            )),
            Ok(registry) => {
                for item in registry.items.iter().filter(|item| !item.is_valid()) {
                    let message = format!("the {} of `{name}` cannot be used", item.id());
                    let help = "`brief lint` in the source shows why";
                    findings.push(Finding::note("invalid-item", None, message, help));
                }
            }
        }
    }
}

/// Reports hand-written files of several clients that say the same.
fn same_texts(
    session: &Session,
    installation: &Installation,
    findings: &mut Vec<Finding>,
) -> Result {
    if installation.clients.scope() == ProfileScope::Home {
        return Ok(());
    }
    let collection = super::import::collect(session, installation, &[], None)?;
    for item in collection.items.iter().filter(|item| item.originals.len() > 1) {
        let files = item.originals.join(", ");
        let message = format!("the same text, or nearly, is in {files}");
        let help =
            format!("`brief import {}` makes one {} of them", item.originals.join(" "), item.kind);
        findings.push(Finding::note("same-text", None, message, &help));
    }
    Ok(())
}

/// Reports an item at two places that one client reads.
fn doubles(installation: &Installation, lock: &Lock, findings: &mut Vec<Finding>) {
    let files: BTreeSet<String> =
        lock.items.values().flat_map(|item| item.files.keys().cloned()).collect();
    let items: Vec<ItemId> = lock.items.keys().cloned().collect();
    let wanted = installation.clients.wanted(&[]).unwrap_or_default();
    let profiles: Vec<&Profile> = installation
        .clients
        .profiles()
        .iter()
        .filter(|profile| wanted.iter().any(|id| id == profile.id()))
        .collect();
    let scope = installation.clients.scope();
    let doubles = places::duplicates(&files, &items, &profiles, scope);
    let mut seen: BTreeMap<(&str, ItemKind), Vec<&Duplicate>> = BTreeMap::new();
    for double in &doubles {
        // Of skills and agents with one name a client keeps one (seen in Copilot CLI 1.0.102 and
        // opencode 1.18.33 on 2026-11-16), but copies of a skill are useless where one is enough.
        let client = if double.item.kind == ItemKind::Rule { double.client.as_str() } else { "" };
        seen.entry((client, double.item.kind)).or_default().push(double);
    }
    for ((client, kind), doubles) in seen {
        let names: BTreeSet<&str> =
            doubles.iter().map(|double| double.item.name.as_str()).collect();
        let (count, example) = (counted(names.len(), kind.as_str()), doubles[0]);
        let places = example.paths.join(", ");
        let finding = match kind {
            ItemKind::Rule => (
                format!("{client} reads {count} from several places, such as {places}"),
                "name fewer `clients` in `[install]`, or in `audience` of the rule",
            ),
            ItemKind::Skill => (
                format!("several clients could share {count}, which they have copies of: {places}"),
                "`layout = \"shared\"` in `[install]` writes each once",
            ),
            ItemKind::Agent | ItemKind::Command => continue,
        };
        findings.push(Finding::note("double", None, finding.0, finding.1));
    }
}

/// Reports files in clients' directories that no client reads.
fn unread(
    session: &Session,
    installation: &Installation,
    lock: &Lock,
    findings: &mut Vec<Finding>,
) {
    // Our own files are at their places; other checks report their problems.
    let is_ours = |path: &str| lock.items.values().any(|item| item.files.contains_key(path));
    let top = &installation.project.outputs;
    let mut paths = Vec::new();
    let Ok(handle) = session.system().open_dir(top) else { return };
    for directory in places::directories() {
        if let Ok(below) = handle.open_dir_below(Path::new(directory)) {
            collect(below.as_ref(), directory, DEPTH, &mut paths);
        }
    }
    paths.sort_unstable();
    let found = places::unread(paths.iter().map(String::as_str));
    for found in found.into_iter().filter(|found| !is_ours(&found.path)) {
        let message = format!("no client reads this file: {}", found.why);
        findings.push(Finding::problem("unread", Some(&found.path), message, found.help));
    }
}

fn collect(directory: &dyn Dir, path: &str, depth: usize, paths: &mut Vec<String>) {
    let Ok(entries) = directory.first_entries(LOOKED_AT) else { return };
    for entry in entries {
        let Some(name) = entry.name.to_str() else { continue };
        if paths.len() >= LOOKED_AT {
            return;
        }
        let below = format!("{path}/{name}");
        match entry.kind {
            FileKind::File => paths.push(below),
            FileKind::Directory if depth > 0 => {
                if let Ok(handle) = directory.open_dir(&entry.name) {
                    collect(handle.as_ref(), &below, depth - 1, paths);
                }
            }
            _ => {}
        }
    }
}

/// Reports servers of the manifest that a client does not get.
fn servers(installation: &Installation, findings: &mut Vec<Finding>) {
    let wanted = installation.clients.wanted(&[]).unwrap_or_default();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    for left in installation.clients.left_out(&wanted) {
        let message =
            format!("{} does not get the server `{}`: {}", left.client, left.server, left.why);
        findings.push(Finding::note("server-left-out", None, message, ""));
    }
    for left in installation.clients.unsaid_rules(&wanted) {
        findings.push(Finding::note("rule-left-out", None, left.to_string(), ""));
    }
}
