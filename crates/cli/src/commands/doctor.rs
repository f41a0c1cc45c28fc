//! `brief doctor`

mod hooks;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use brief_checks::uses::UsingTexts;
use brief_clients::import::pointed_at;
use brief_clients::places::{self, Duplicate};
use brief_clients::profile::{Profile, ProfileScope};
use brief_dialects::dependencies::LockedDependency;
use brief_dialects::native::is_elsewhere;
use brief_dialects::portable::output::{Compiler, Foreign, Merge, SharedEntry};
use brief_dialects::portable::{ItemId, ItemKind};
use brief_engine::Dialects;
use brief_registry::install::{self, Drift, InstallStatus, SourceInventory};
use brief_registry::lock::Lock;
use brief_registry::manifest::WantedDependency;
use brief_syntax::limits::FILE_BYTES;
use brief_system::{Dir, FileKind};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::whole::{format_count, is_unread};
use crate::agent_program;
use crate::clock::with_clock;
use crate::error::{Result, refuse_if};
use crate::installation::{Installation, InstallationArg};
use crate::session::Session;
use crate::surroundings::warn_of_whole_root;
use crate::ui::Ui;

/// The limit of clients' files.
const LOOKED_AT: usize = 10_000;
/// The depth of searched directories.
const DEPTH: usize = 4;

/// Find silent problems: duplicates, edited files, files that no client reads
///
/// Read-only, without the network. Exits 1 if there is a problem.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    place: InstallationArg,
    /// Print JSON: the findings
    #[arg(long)]
    json: bool,
}

/// A finding about the setup.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) severity: &'static str,
    /// The path of the file, relative to the installation; one in the home directory begins with `~/`.
    pub(super) path: Option<String>,
    pub(super) message: String,
    pub(super) help: String,
    /// The paths of the other files with the same problem.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) also: Vec<String>,
}

/// The extent of an examination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    All,
    /// What other checks of the project leave out, without notes that read all items.
    Warnings,
    /// The same, with what only the user can do.
    Own,
    /// What other checks of the project leave out, with what only the user can do.
    OwnRest,
    /// What other checks of the project leave out.
    Rest,
}

/// Examines an installation. Nothing is fetched and nothing is written.
pub(super) fn examine_installation(
    session: &Session,
    installation: &Installation,
    extent: Extent,
) -> Result<Vec<Finding>> {
    let status = install::read_install_status(session.system(), &installation.project)?;
    let lock = &status.lock.clone().unwrap_or_default();
    let mut examination = Examination { session, installation, lock, findings: Vec::new() };
    examination.run_checks(&status, extent)?;
    Ok(examination.findings)
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &DoctorArgs) -> Result {
    let installation = &Installation::find(ui, session, &args.place)?;
    let root = &installation.project.outputs;
    if installation.clients.scope() == ProfileScope::Project {
        warn_of_whole_root(ui, session, session.open_project()?.root())?;
    }
    let findings = with_clock(ui, "checking the setup", || {
        examine_installation(session, installation, Extent::All)
    })?;
    let problems = findings.iter().filter(|finding| finding.severity == "warning").count();
    if args.json {
        ui.print_json("doctor", root, &[], json!({ "findings": findings }))?;
        return refuse_if(problems > 0);
    }
    for Finding { check, severity, path, message, help, .. } in &findings {
        let place = path.as_deref().map_or(String::new(), |path| format!("{path}: "));
        ui.print_line(format!("{severity}[{check}]: {place}{message}"))?;
        if !help.is_empty() {
            ui.print_line(format!("  {help}"))?;
        }
    }
    ui.print_status(&render_doctor_summary(problems, findings.len() - problems))?;
    refuse_if(problems > 0)
}

fn render_doctor_summary(problems: usize, notes: usize) -> String {
    match (problems, notes) {
        (0, 0) => "no problems".to_owned(),
        (0, notes) => format_count(notes, "note"),
        (problems, 0) => format_count(problems, "problem"),
        (problems, notes) => {
            format!("{}, {}", format_count(problems, "problem"), format_count(notes, "note"))
        }
    }
}

/// The checks of one installation, and what they have found so far.
struct Examination<'e> {
    session: &'e Session,
    installation: &'e Installation,
    lock: &'e Lock,
    findings: Vec<Finding>,
}

impl Examination<'_> {
    fn report_problem(
        &mut self,
        check: &'static str,
        path: Option<&str>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add_finding("warning", check, path, message.into(), help.into());
    }

    fn report_note(
        &mut self,
        check: &'static str,
        path: Option<&str>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add_finding("note", check, path, message.into(), help.into());
    }

    fn add_finding(
        &mut self,
        severity: &'static str,
        check: &'static str,
        path: Option<&str>,
        message: String,
        help: String,
    ) {
        let path = path.map(str::to_owned);
        self.findings.push(Finding { check, severity, path, message, help, also: Vec::new() });
    }

    fn run_checks(&mut self, status: &InstallStatus, extent: Extent) -> Result {
        if status.is_pending {
            let help = "run `brief sync` to finish it";
            self.report_problem("interrupted", None, "the last run was interrupted", help);
        }
        self.stale_lock(status.lock.is_some());
        self.report_missing_files(status);
        for (path, drift) in &status.drift {
            let (message, help) = match drift {
                Drift::Missing => continue,
                Drift::Edited => (
                    "the file was edited",
                    "move the change to the source, then run `brief sync --force FILE`",
                ),
                Drift::Older => {
                    ("the file is older than brief.lock", "run `brief sync` to update it")
                }
                Drift::InTheWay(what) => {
                    let message = format!("something else is at this path: it {what}");
                    self.report_problem("drift", Some(path), message, "move or delete it");
                    continue;
                }
                _ => {
                    ("the file differs from the one brief wrote", "run `brief sync` to restore it")
                }
            };
            self.report_problem("drift", Some(path), message, help);
        }
        self.report_policies()?;
        self.report_shared_files();
        self.report_sources();
        self.report_duplicates();
        if matches!(extent, Extent::All | Extent::Rest | Extent::OwnRest) {
            self.same_texts()?;
        }
        self.report_unread_files();
        if extent == Extent::All {
            self.report_unreadable_guidance()?;
        }
        self.report_left_out_servers();
        self.report_hooks(matches!(extent, Extent::Own | Extent::OwnRest))?;
        // Notes are not asked for here, and this starts a program.
        if matches!(extent, Extent::All | Extent::Rest | Extent::OwnRest) {
            self.report_missing_fences();
        }
        Ok(())
    }

    /// Reports missing files in one finding: a fresh clone lacks all that version control ignores.
    fn report_missing_files(&mut self, status: &InstallStatus) {
        let missing = status.drift.iter().filter(|(_, drift)| **drift == Drift::Missing);
        let mut paths = missing.map(|(path, _)| path.clone());
        let Some(first) = paths.next() else { return };
        let also: Vec<String> = paths.collect();
        let (message, help) = match also.len() {
            0 => ("the file is missing".to_owned(), "run `brief sync` to restore it"),
            more => (
                format!("the file and {more} more are missing"),
                "run `brief sync` to restore them",
            ),
        };
        self.findings.push(Finding {
            check: "drift",
            severity: "warning",
            path: Some(first),
            message,
            help: help.to_owned(),
            also,
        });
    }

    /// Reports isolation features of the kernel that this system lacks: agents' tools need them.
    fn report_missing_fences(&mut self) {
        let Ok(missing) = agent_program::missing_fences(self.session) else { return };
        if !missing.is_empty() {
            let missing = missing.join(" and ");
            let message = format!("agent tools do not run: this system lacks {missing}");
            let help = "pass `--allow-weaker-sandbox` to `brief agent` to run them anyway";
            self.report_note("fence", None, message, help);
        }
    }

    /// Reports the policies in force, and the project's wishes that they forbid.
    fn report_policies(&mut self) -> Result {
        let policy = self.session.load_policy()?;
        for path in policy.files() {
            let path = path.display().to_string();
            self.report_note("policy", Some(&path), "policy in effect", "");
        }
        if let Some(decision) = policy.find_execution_rule() {
            let message = format!("commands in prompts and agent tools do not run: {decision}");
            self.report_note("policy", None, message, "");
        }
        let (system, project) = (self.session.system(), &self.installation.project);
        for wanted in self.installation.manifest.iter().flat_map(|manifest| &manifest.sources) {
            let source = install::source_of(system, project, wanted)?;
            if let Some(decision) = source.forbidden_by(&policy, system, &project.config) {
                let message = format!("the source `{}` is forbidden: {decision}", wanted.name);
                self.report_problem("policy", None, message, "run `brief remove` to remove it");
            }
        }
        for (item, decision) in policy.required_items() {
            if !self.lock.items.keys().any(|id| id.is_required_by(item)) {
                let message = format!("the {item} is missing: {decision}");
                self.report_problem("policy", None, message, "run `brief add SOURCE` to add it");
            }
        }
        Ok(())
    }

    /// Reports files of the user that lost our entries: clients then miss the rest.
    fn report_shared_files(&mut self) {
        for (path, entries) in &self.lock.shared {
            let file = self.installation.project.outputs.join(path);
            let bytes = self.session.system().read(&file, FILE_BYTES).ok();
            let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let merge = Merge {
                path,
                text: text.as_deref(),
                wanted: entries,
                before: entries,
                foreign: Foreign::Keep,
            };
            let names: Vec<String> = entries.iter().map(SharedEntry::name).collect();
            let message = match self.installation.clients.merge_entries(&merge) {
                Ok(merged) if merged.text == text && merged.kept.is_empty() => continue,
                Ok(_) => format!("{} was changed or removed", names.join(", ")),
                Err(problem) => problem,
            };
            let help = "run `brief sync` to restore it, or to see what prevents that";
            self.report_problem("drift", Some(path), message, help);
        }
    }

    /// Reports differences between the manifest and the lock.
    fn stale_lock(&mut self, has_lock: bool) {
        let (manifest, lock) = (self.installation.manifest.clone().unwrap_or_default(), self.lock);
        let mut stale = |message: String| {
            let help = "run `brief sync` to update brief.lock";
            self.report_problem("stale-lock", Some("brief.lock"), message, help);
        };
        if !has_lock {
            if !(manifest.sources.is_empty() && manifest.dependencies.is_empty()) {
                stale("the lockfile is missing".to_owned());
            }
            return;
        }
        for source in &manifest.sources {
            let name = &source.name;
            let Some(locked) = lock.sources.get(name) else {
                stale(format!("the source `{name}` is not locked"));
                continue;
            };
            if locked.place != source.place {
                stale(format!("the source `{name}` is locked at another location or version"));
                continue;
            }
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
        for name in lock.sources.keys().filter(|name| manifest.find_source(name).is_none()) {
            stale(format!("the source `{name}` is locked, but not in brief.toml"));
        }
        for WantedDependency { name, .. } in &manifest.dependencies {
            if !lock.dependencies.iter().any(|locked| name.matches(&locked.id)) {
                stale(format!(
                    "the package `{name}` is not listed for agents: brief.lock does not record it"
                ));
            }
        }
        for LockedDependency { id, .. } in &lock.dependencies {
            if !manifest.dependencies.iter().any(|wanted| wanted.name.matches(id)) {
                stale(format!("the package {id} is recorded, but not in brief.toml"));
            }
        }
    }

    fn report_sources(&mut self) {
        let manifest = self.installation.manifest.clone().unwrap_or_default();
        let known = self.installation.clients.profiles().ids();
        let (system, project) = (self.session.system(), &self.installation.project);
        let inventory = SourceInventory::read(system, project, &manifest, self.lock, &known);
        for (name, outcome) in &inventory.sources {
            match outcome {
                Err(problem) => self.report_problem(
                    "unreadable-source",
                    None,
                    format!("the source `{name}`: {problem}"),
                    "run `brief sync` to fetch it, or correct its location in brief.toml",
                ),
                Ok(registry) => {
                    for item in registry.items.iter().filter(|item| !item.is_valid()) {
                        let message = format!("cannot use the {} of `{name}`", item.id());
                        let help = "run `brief lint` in the source to see why";
                        self.report_note("invalid-item", None, message, help);
                    }
                }
            }
        }
    }

    /// Reports hand-written files of several clients that say the same.
    fn same_texts(&mut self) -> Result {
        if self.installation.clients.scope() == ProfileScope::Home {
            return Ok(());
        }
        let collection = super::import::collect_items(self.session, self.installation, &[], None)?;
        for item in &collection.items {
            let (files, kind) = (self.distinct_files(&item.originals), item.kind);
            if files.len() < 2 {
                continue;
            }
            let message = format!("same or similar text in {}", files.join(", "));
            let help =
                format!("run `brief import {}` to merge them into one {kind}", files.join(" "));
            self.report_note("same-text", None, message, help);
        }
        Ok(())
    }

    /// Returns the files without those that are a link to another one, or import it and say nothing else.
    fn distinct_files<'p>(&self, paths: &'p [String]) -> Vec<&'p str> {
        let (system, root) = (self.session.system(), &self.installation.project.outputs);
        let real = |path: &str| Some(system.resolve(&root.join(path)).ok()?.path);
        let mut seen = BTreeSet::new();
        let is_pointer = |path: &str| {
            let bytes = system.read(&root.join(path), FILE_BYTES).ok();
            bytes.and_then(|bytes| pointed_at(path, &bytes)).is_some()
        };
        let own =
            |path: &&String| !is_pointer(path) && real(path).is_none_or(|real| seen.insert(real));
        paths.iter().filter(own).map(String::as_str).collect()
    }

    /// Reports an item at two places that one client reads.
    fn report_duplicates(&mut self) {
        let (clients, lock) = (&self.installation.clients, self.lock);
        let files: BTreeSet<String> =
            lock.items.values().flat_map(|item| item.files.keys().cloned()).collect();
        let items: Vec<ItemId> = lock.items.keys().cloned().collect();
        let wanted = clients.resolve_clients(&[]).unwrap_or_default();
        let is_wanted = |profile: &&Profile| wanted.iter().any(|id| id == profile.id());
        let profiles: Vec<&Profile> = clients.profiles().iter().filter(is_wanted).collect();
        let duplicates = places::collect_duplicates(&files, &items, &profiles, clients.scope());
        let mut seen: BTreeMap<(&str, ItemKind), Vec<&Duplicate>> = BTreeMap::new();
        for duplicate in &duplicates {
            // Of skills and agents with one name a client keeps one (seen in Copilot CLI 1.0.102 and
            // opencode 1.18.33 on 2026-11-16), but copies of a skill are useless where one is enough.
            let kind = duplicate.item.kind;
            let client = if kind == ItemKind::Rule { duplicate.client.as_str() } else { "" };
            seen.entry((client, kind)).or_default().push(duplicate);
        }
        for ((client, kind), duplicates) in seen {
            let names: BTreeSet<&str> =
                duplicates.iter().map(|duplicate| duplicate.item.name.as_str()).collect();
            let count = format_count(names.len(), kind.as_str());
            let places = duplicates[0].paths.join(", ");
            let (message, help) = match kind {
                ItemKind::Rule => (
                    format!("{client} reads {count} from several locations, such as {places}"),
                    "list fewer `clients` in `[install]`, or fewer in `audience` of the rule",
                ),
                ItemKind::Skill => (
                    format!("several clients have their own copies of {count}: {places}"),
                    "set `layout = \"shared\"` in `[install]` to write each once",
                ),
                ItemKind::Agent | ItemKind::Command => continue,
            };
            self.report_note("double", None, message, help);
        }
    }

    /// Reports files in clients' directories that no client reads.
    fn report_unread_files(&mut self) {
        // Our own files are at their places; other checks report their problems.
        let lock = self.lock;
        let is_ours = |path: &str| lock.items.values().any(|item| item.files.contains_key(path));
        let mut paths = Vec::new();
        let Ok(top) = self.session.system().open_dir(&self.installation.project.outputs) else {
            return;
        };
        for directory in places::client_directories() {
            if let Ok(below) = top.open_dir_below(Path::new(directory)) {
                collect_paths(below.as_ref(), directory, DEPTH, &mut paths);
            }
        }
        paths.sort_unstable();
        let mut unread = places::collect_unread_files(paths.iter().map(String::as_str));
        // A template is copied, and no file of the client itself.
        unread.retain(|file| !is_ours(&file.path) && !is_elsewhere(Path::new(&file.path)));
        if unread.is_empty() {
            return;
        }
        let system = self.session.system();
        let root = &self.installation.project.outputs;
        let resolve = |path: &str| system.resolve(&root.join(path)).ok().map(|found| found.path);
        let is_unread = |path: &str| unread.iter().any(|file| file.path == path);
        let others: Vec<&str> =
            paths.iter().map(String::as_str).filter(|path| !is_unread(path)).collect();
        // A client reads it by another link, or a file that a client reads leads to it.
        let read: BTreeSet<PathBuf> = others.iter().filter_map(|path| resolve(path)).collect();
        let mut texts = UsingTexts::read(system, root);
        for path in others {
            if let Ok(bytes) = top.read_below(Path::new(path), FILE_BYTES) {
                texts.add_text(path, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        unread.retain(|file| {
            let is_read = resolve(&file.path).is_some_and(|path| read.contains(&path));
            !is_read && !texts.name_file(&file.path)
        });
        let mut causes: BTreeMap<(String, String), Vec<places::UnreadFile>> = BTreeMap::new();
        for file in unread {
            let directory = file.path.rsplit_once('/').map_or("", |(directory, _)| directory);
            causes.entry((directory.to_owned(), file.why.clone())).or_default().push(file);
        }
        for files in causes.into_values() {
            let mut files = files.into_iter();
            let Some(first) = files.next() else { continue };
            let also: Vec<String> = files.map(|file| file.path).collect();
            let more = match also.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let message = format!("no client reads this file{more}: {}", first.why);
            let path = Some(first.path);
            self.findings.push(Finding {
                check: "unread",
                severity: "warning",
                path,
                message,
                help: first.help.to_owned(),
                also,
            });
        }
    }

    /// Reports guidance that cannot be read: neither a client nor we know what it says.
    fn report_unreadable_guidance(&mut self) -> Result {
        if self.installation.clients.scope() == ProfileScope::Home {
            return Ok(());
        }
        let project = self.session.open_project()?;
        let found = project.read_project(Dialects::All).check_project();
        for one in found.iter().filter(|found| is_unread(found)) {
            let path = one.shown_path(project.root().path());
            let help = one.help.as_deref().unwrap_or("check its permissions");
            self.report_problem("unreadable", Some(&path), one.message.as_str(), help);
        }
        Ok(())
    }

    /// Reports servers of the manifest that a client does not get.
    fn report_left_out_servers(&mut self) {
        let clients = &self.installation.clients;
        let wanted = clients.resolve_clients(&[]).unwrap_or_default();
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        for left in clients.left_out(&wanted) {
            let message =
                format!("{} does not get the server `{}`: {}", left.client, left.server, left.why);
            self.report_note("server-left-out", None, message, "");
        }
        for left in clients.unsaid_rules(&wanted) {
            self.report_note("rule-left-out", None, left.to_string(), "");
        }
    }
}

fn collect_paths(directory: &dyn Dir, path: &str, depth: usize, paths: &mut Vec<String>) {
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
                    collect_paths(handle.as_ref(), &below, depth - 1, paths);
                }
            }
            _ => {}
        }
    }
}
