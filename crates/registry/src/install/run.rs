//! One run: selects the wanted items, plans their files, stages them and puts them in place.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use brief_dialects::portable::output::Compiler;
use brief_safety::policy::Policy;
use brief_syntax::limits;
use brief_system::{Permission, ReadError, System};

use super::create::stage_new;
use super::finish::{finish_in, lock_project, open_disks, open_own, to_io_error};
use super::open::{OpenedSource, Opener, name_places};
use super::own_files::{OwnFiles, client_file, stage_clients, stage_own};
use super::select::{Selection, select_items};
use super::state::{ProjectState, needs_manifest};
use super::{
    Extent, InstallError, InstallMode, InstallReport, InstallRequest, Locking, ProjectPaths,
    SourceReport, Unresolved, dependencies, frozen, gate,
};
use crate::cache::Event;
use crate::lock::Lock;
use crate::manifest::ManifestEdit;
use crate::outputs::backup;
use crate::outputs::disk::Disk;
use crate::outputs::plan::{Advice, Backup, Chosen, ConflictPolicy, Plan, PlanReport, PlanStart};
use crate::outputs::record::OutputRecord;
use crate::outputs::stage::{self, Disks, Stage};
use crate::outputs::transaction::run_transaction;
use crate::outputs::{Change, ChangeKind};

/// The record of the files that this machine has written.
pub(super) const RECORD: &str = "installed.json";

/// The advice that goes with a conflict.
const ADVICE: Advice = Advice {
    edited: "make the change in the source, or run `brief sync --force FILE` to replace the file and keep a backup",
    foreign: "move it away, or run `brief sync --adopt FILE` to replace it and keep a backup",
    stale: "remove it, or run `brief sync --force FILE` to remove it and keep a backup",
};

/// Brings a project to the state that its manifest names.
pub fn sync_project(
    system: &dyn System,
    compiler: &dyn Compiler,
    project: &ProjectPaths,
    request: &InstallRequest<'_>,
    observer: &dyn Fn(Event<'_>),
) -> Result<InstallReport, InstallError> {
    brief_syntax::allocation::expect_reuse();
    // A policy does not limit removals.
    let policy = match request.extent {
        Extent::Manifest => Policy::load(system)?,
        Extent::Nothing => Policy::default(),
    };
    let is_write = request.mode == InstallMode::Write;
    let has = |path: &Path| system.resolve(path).is_ok();
    if needs_manifest(request) && !has(&project.manifest_path()) && !has(&project.own) {
        // Nothing was ever installed here, so nothing is created either.
        return Err(InstallError::NoManifest { directory: project.config.clone() });
    }
    if is_write {
        for directory in [&project.config, &project.own] {
            system.create_dir(directory).map_err(to_io_error(directory))?;
        }
    }
    let own = open_own(system, project)?;
    let _lock = if is_write {
        let lock = lock_project(system, project)?;
        ignore_own(&own).map_err(to_io_error(&project.own))?;
        Some(lock)
    } else {
        None
    };
    let mut disks = open_disks(system, project, own)?;
    let mut report = InstallReport::default();
    if is_write {
        report.notes = finish_in(system, project, &mut disks)?.notes;
    } else if stage::is_pending(&disks.own) {
        report.notes.push("a run was interrupted; run `brief sync` to finish it".to_owned());
    }
    let old = ProjectState::read(system, compiler, project, request, &mut disks)?;
    let run = Run { system, compiler, project, request, observer, policy: &policy };
    run.run_install(&old, &mut disks, report)
}

/// The `.gitignore` of our own state: the project's clients are for everybody.
pub(super) const IGNORED: &str =
    "# Only for this machine, except for the project's own clients.\n/*\n!/clients/\n";

/// The name of that file.
pub(super) const IGNORE_FILE: &str = ".gitignore";

/// Adds a `.gitignore` to the directory of our own state.
pub(super) fn ignore_own(own: &Disk<'_>) -> io::Result<()> {
    let Some(top) = own.top() else { return Ok(()) };
    let name = OsStr::new(IGNORE_FILE);
    match top.read(name, limits::FILE_BYTES) {
        Err(ReadError::Missing) => top.put_file(name, IGNORED.as_bytes(), Permission::Data),
        _ => Ok(()),
    }
}

/// What a run is to bring about.
pub(super) struct WantedState<'w> {
    pub(super) old: &'w ProjectState,
    pub(super) sources: &'w [OpenedSource<'w>],
    /// The clients of each source.
    pub(super) clients: &'w [Vec<String>],
    pub(super) selection: Selection,
}

/// The outcome of the first step.
struct PlannedRun {
    plan: PlanReport,
    lock: Lock,
    lock_text: String,
}

/// The inputs of all steps.
pub(super) struct Run<'r> {
    pub(super) system: &'r dyn System,
    pub(super) compiler: &'r dyn Compiler,
    pub(super) project: &'r ProjectPaths,
    pub(super) request: &'r InstallRequest<'r>,
    pub(super) observer: &'r dyn Fn(Event<'_>),
    /// The policies of the machine and of the user.
    pub(super) policy: &'r Policy,
}

impl Run<'_> {
    fn run_install(
        &self,
        old: &ProjectState,
        disks: &mut Disks<'_>,
        mut report: InstallReport,
    ) -> Result<InstallReport, InstallError> {
        let request = self.request;
        if request.locking == Locking::Frozen {
            frozen::check_lock(&old.manifest, old.lock_before.is_some().then_some(&old.lock))?;
        }
        let sources = self.open_all(old)?;
        let clients = self.clients_of(&sources)?;
        let selection = select_items(&sources).map_err(InstallError::Unresolved)?;
        self.check_required(&selection)?;
        let wanted = WantedState { old, sources: &sources, clients: &clients, selection };
        let durability = (request.mode == InstallMode::Write).then_some(request.durability);
        let planned = run_transaction(
            self.system,
            disks,
            durability,
            |stage, disks| self.plan_files(&wanted, stage, disks),
            |planned, stage, disks| self.stage_own_files(old, planned, stage, disks),
        )?;
        let PlannedRun { plan, lock, lock_text } = planned;
        self.report_changes(&wanted, (&lock, &lock_text), &mut report);
        self.take_from(plan, &mut report);
        Ok(report)
    }

    /// Checks that the items which a policy requires are selected.
    fn check_required(&self, selection: &Selection) -> Result<(), InstallError> {
        let mut required = self.policy.required_items();
        let missing =
            required.find(|(item, _)| !selection.items.keys().any(|id| id.is_required_by(item)));
        match missing {
            Some((item, decision)) => Err(InstallError::Required { item: item.clone(), decision }),
            None => Ok(()),
        }
    }

    /// The first step: plans all files, and resolves the new lock.
    fn plan_files(
        &self,
        wanted: &WantedState<'_>,
        mut stage: Option<&mut Stage>,
        disks: &mut Disks<'_>,
    ) -> Result<PlannedRun, InstallError> {
        if let (Some(stage), Some(new)) = (&mut stage, self.request.new) {
            stage_new(stage, new.files, disks).map_err(InstallError::NotWritten)?;
        }
        let policy = ConflictPolicy {
            edited: Chosen::Paths(self.request.force.clone()),
            foreign: Chosen::Paths(self.request.adopt.clone()),
            backup: Backup::Copy,
            advice: ADVICE,
        };
        let old = wanted.old;
        let start = PlanStart {
            // The record comes first: it knows better than the lock which files were edited by hand.
            records: old.record.iter().chain([&old.witness]).collect(),
            policy: &policy,
            out: &self.project.outputs,
            after: OutputRecord::new(String::new()),
            compares: self.request.mode == InstallMode::Diff,
        };
        let mut plan = Plan::new(start, stage);
        let lock = self.plan_all(wanted, &mut plan, disks)?;
        let mut plan = plan.finish();
        for source in wanted.sources.iter().filter(|source| source.commit.is_some()) {
            name_places(&source.wanted.name, source.root.path(), &mut plan.diagnostics);
        }
        let lock_text = lock.to_text();
        Ok(PlannedRun { plan, lock, lock_text })
    }

    /// The second step: stages the files that describe the outputs.
    fn stage_own_files(
        &self,
        old: &ProjectState,
        planned: &PlannedRun,
        stage: &mut Stage,
        disks: &mut Disks<'_>,
    ) -> Result<(), InstallError> {
        stage
            .note_asked(self.request.edits.iter().filter_map(ManifestEdit::removed_name).collect());
        let PlannedRun { plan, lock, lock_text } = planned;
        let own = OwnFiles {
            record: &plan.record,
            lock: self.lock_change(old, lock, lock_text),
            lock_text,
            manifest: self.manifest_change(old),
        };
        stage_own(old, &own, stage, disks)
            .and_then(|()| stage_clients(self.request.new_clients, stage, disks))
            .map_err(InstallError::NotWritten)
    }

    /// Returns the system through which sources are read.
    pub(super) fn source_system(&self) -> &dyn System {
        self.request.new.map_or(self.system, |new| new.shown_by)
    }

    fn open_all<'s>(&self, old: &'s ProjectState) -> Result<Vec<OpenedSource<'s>>, InstallError> {
        let opener = Opener { run: self, lock: &old.lock, clients: &self.compiler.clients() };
        old.manifest.sources.iter().map(|source| opener.open_wanted(source)).collect()
    }

    /// Returns the clients of each source.
    fn clients_of(&self, sources: &[OpenedSource<'_>]) -> Result<Vec<Vec<String>>, InstallError> {
        let known = self.compiler.clients();
        let mut problems = Vec::new();
        let mut all = Vec::new();
        for source in sources {
            let listed = source.wanted.clients.as_deref().unwrap_or(self.request.clients);
            for client in listed.iter().filter(|client| !known.contains(&client.as_str())) {
                problems.push(Unresolved::Client {
                    source_name: source.wanted.name.clone(),
                    client: client.clone(),
                    known: known.iter().map(|&name| name.to_owned()).collect(),
                });
            }
            // The order of the profiles counts, not that of the manifest.
            let wanted = known.iter().filter(|name| listed.iter().any(|listed| listed == **name));
            all.push(wanted.map(|&name| name.to_owned()).collect());
        }
        if problems.is_empty() { Ok(all) } else { Err(InstallError::Unresolved(problems)) }
    }

    /// Reports the new, changed and removed sources and items.
    fn report_changes(
        &self,
        wanted: &WantedState<'_>,
        (lock, lock_text): (&Lock, &str),
        report: &mut InstallReport,
    ) {
        let WantedState { old, sources, selection, .. } = wanted;
        for source in *sources {
            let name = &source.wanted.name;
            let before = old.lock.sources.get(name).and_then(|locked| locked.commit.clone());
            report.sources.push(SourceReport {
                name: name.clone(),
                place: source.wanted.place.clone(),
                before,
                commit: source.commit.clone(),
                directory: source.root.path().to_owned(),
            });
            report.notes.extend(source.notes.iter().map(|note| format!("{name}: {note}")));
        }
        let before = &old.lock.items;
        report.capabilities = gate::collect_changed_capabilities(&old.lock, lock);
        report.dependencies = dependencies::compare_dependencies(&old.lock, lock);
        if old.lock.is_old {
            let what = match self.request.mode {
                InstallMode::Write => "brief added the capabilities of every item",
                _ => "run `brief sync` to add the capabilities of every item",
            };
            report.notes.push(format!("`brief.lock` had an older version; {what}"));
        }
        report.notes.extend(gate::describe_forged_lists(&old.lock, lock));
        report.notes.extend(gate::describe_unused_accepts(&self.request.accept, lock));
        // Those are the new and changed items.
        let changed = report.capabilities.keys().map(|id| match before.get(id) {
            None => (id.clone(), ChangeKind::Created),
            Some(_) => (id.clone(), ChangeKind::Updated),
        });
        report.items = changed.collect();
        let removed = before.keys().filter(|id| !lock.items.contains_key(id));
        report.items.extend(removed.map(|id| (id.clone(), ChangeKind::Removed)));
        report.count = selection.items.len() + selection.refused.len();
        report.lock = self.lock_change(old, lock, lock_text);
        report.manifest = self.manifest_change(old);
    }

    /// Returns the change of the lock.
    fn lock_change(&self, old: &ProjectState, lock: &Lock, text: &str) -> Option<ChangeKind> {
        let text = (!lock.is_empty()).then_some(text);
        let is_locked = self.request.extent == Extent::Manifest;
        is_locked.then(|| change_of(old.lock_before.as_deref(), text)).flatten()
    }

    /// Returns the change of the manifest.
    fn manifest_change(&self, old: &ProjectState) -> Option<ChangeKind> {
        let text = Some(old.manifest_text.as_str()).filter(|text| !text.trim().is_empty());
        let is_edited = !self.request.edits.is_empty() || !self.request.accept.is_empty();
        is_edited.then(|| change_of(old.manifest_before.as_deref(), text)).flatten()
    }

    /// Moves what the plan has come to into the report.
    fn take_from(&self, plan: PlanReport, report: &mut InstallReport) {
        let place = self.project.own.join(backup::BACKUPS);
        let copies = plan.backups.into_iter();
        report.backups = copies.map(|(path, copy)| (path, place.join(copy))).collect();
        report.changes = plan.changes;
        report.changes.extend(self.request.new_clients.iter().filter_map(|client| {
            let path = client_file(client)?;
            Some(Change { path, kind: ChangeKind::Created })
        }));
        report.differences = plan.differences;
        report.failed = plan.failed;
        report.unchanged = plan.unchanged;
        report.kept = plan.kept;
        report.diagnostics = plan.diagnostics;
        report.lost = plan.losses;
    }
}

/// Returns the change of a file. An empty file is removed, and never created.
fn change_of(before: Option<&str>, after: Option<&str>) -> Option<ChangeKind> {
    match (before, after) {
        (None, Some(_)) => Some(ChangeKind::Created),
        (Some(before), Some(after)) if before != after => Some(ChangeKind::Updated),
        (Some(_), None) => Some(ChangeKind::Removed),
        _ => None,
    }
}
