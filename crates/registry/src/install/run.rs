//! One run: selects the wanted items, plans their files, stages them and puts them in place.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use brief_dialects::installed::has_own_copy;
use brief_dialects::portable::PortableItem;
use brief_dialects::portable::output::Compiler;
use brief_safety::capability;
use brief_safety::policy::Policy;
use brief_syntax::limits;
use brief_system::{Permission, ReadError, System};

use super::create::stage_new;
use super::dependencies::PackageSelector;
use super::finish::{failed, finish_in, lock, open_disks, open_own};
use super::open::{OpenedSource, Opener, name_places};
use super::own_files::{client_file, stage_clients, stage_own};
use super::select::{Selected, Selection, select};
use super::state::{ProjectState, needs_manifest};
use super::{
    Extent, InstallError, InstallMode, InstallReport, InstallRequest, Locking, ProjectPaths,
    SourceReport, Unresolved, dependencies, derived, frozen, gate, shared,
};
use crate::cache::Event;
use crate::lock::{Lock, LockedItem, LockedSource};
use crate::manifest::ManifestEdit;
use crate::outputs::backup;
use crate::outputs::disk::Disk;
use crate::outputs::item::{self, ItemFiles};
use crate::outputs::plan::{Advice, Backup, Chosen, ConflictPolicy, ItemToWrite, Plan};
use crate::outputs::record::OutputRecord;
use crate::outputs::stage::{self, CommitError, Disks, Stage};
use crate::outputs::{Change, ChangeKind, errors};

/// The record of the files that this machine has written.
pub(super) const RECORD: &str = "installed.json";

/// The advice that goes with a conflict.
const ADVICE: Advice = Advice {
    edited: "put the change into the source; `brief sync --force FILE` replaces the file and keeps a copy",
    foreign: "move it away; `brief sync --adopt FILE` takes its place and keeps a copy",
    stale: "remove it; `brief sync --force FILE` does and keeps a copy",
};

/// Brings a project to the state that its manifest names.
pub fn sync(
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
    if needs_manifest(request) && !has(&project.manifest()) && !has(&project.own) {
        // Nothing was ever installed here, so nothing is created either.
        return Err(InstallError::NoManifest { directory: project.config.clone() });
    }
    if is_write {
        for directory in [&project.config, &project.own] {
            system.create_dir(directory).map_err(failed(directory))?;
        }
    }
    let own = open_own(system, project)?;
    let _lock = if is_write {
        let lock = lock(system, project)?;
        ignore_own(&own).map_err(failed(&project.own))?;
        Some(lock)
    } else {
        None
    };
    let mut disks = open_disks(system, project, own)?;
    let mut report = InstallReport::default();
    if is_write {
        report.notes = finish_in(system, project, &mut disks)?.notes;
    } else if stage::is_pending(&disks.own) {
        report.notes.push("a run was interrupted; `brief sync` finishes it".to_owned());
    }
    let old = ProjectState::read(system, compiler, project, request, &mut disks)?;
    let run = Run { system, compiler, project, request, observer, policy: &policy };
    run.go(&old, &mut disks, report)
}

/// The `.gitignore` of our own state: the project's clients are for everybody.
const IGNORED: &str =
    "# Only for this machine, except for the project's own clients.\n/*\n!/clients/\n";

/// Adds a `.gitignore` to the directory of our own state.
pub(super) fn ignore_own(own: &Disk<'_>) -> io::Result<()> {
    let Some(top) = own.top() else { return Ok(()) };
    let name = OsStr::new(".gitignore");
    match top.read(name, limits::FILE_BYTES) {
        Err(ReadError::Missing) => top.put_file(name, IGNORED.as_bytes(), Permission::Data),
        _ => Ok(()),
    }
}

/// The inputs of all steps.
pub(super) struct Run<'r> {
    pub(super) system: &'r dyn System,
    compiler: &'r dyn Compiler,
    pub(super) project: &'r ProjectPaths,
    pub(super) request: &'r InstallRequest<'r>,
    pub(super) observer: &'r dyn Fn(Event<'_>),
    /// The policies of the machine and of the user.
    pub(super) policy: &'r Policy,
}

impl Run<'_> {
    fn go(
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
        let selection = select(&sources).map_err(InstallError::Unresolved)?;
        let mut required = self.policy.required();
        if let Some((item, decision)) =
            required.find(|(item, _)| !selection.items.keys().any(|id| id.is_required_by(item)))
        {
            return Err(InstallError::Required { item: item.clone(), decision });
        }
        let is_write = request.mode == InstallMode::Write;
        let policy = ConflictPolicy {
            edited: Chosen::Paths(request.force.clone()),
            foreign: Chosen::Paths(request.adopt.clone()),
            backup: Backup::Copy,
            advice: ADVICE,
        };
        let stage = if is_write { Some(self.begin(disks)?) } else { None };
        // The record comes first: it knows better than the lock which files were edited by hand.
        let records = old.record.iter().chain([&old.witness]).collect();
        let after = OutputRecord::new(String::new());
        let mut plan = Plan::new(records, &policy, &self.project.outputs, after, stage);
        plan.differences = (request.mode == InstallMode::Diff).then(Vec::new);
        let outcome = self.plan_all(old, &sources, &clients, &selection, &mut plan, disks);
        let lock = match outcome {
            Ok(lock) => lock,
            Err(error) => {
                if let Some(stage) = plan.stage.take() {
                    // The first error is the one to report.
                    let _ = stage.abandon(&disks.own);
                }
                return Err(error);
            }
        };
        for source in sources.iter().filter(|source| source.commit.is_some()) {
            name_places(&source.wanted.name, source.root.path(), &mut plan.diagnostics);
        }
        let lock_text = lock.to_text();
        self.tell(old, &sources, &selection, (&lock, &lock_text), &mut report);
        let stage = plan.stage.take();
        self.take_from(plan, &mut report);
        report.changes.extend(request.new_clients.iter().filter_map(|client| {
            let path = client_file(client)?;
            Some(Change { path, kind: ChangeKind::Created })
        }));
        if let Some(mut stage) = stage {
            stage.note_asked(request.edits.iter().filter_map(ManifestEdit::removed).collect());
            let outcome = stage_own(old, &lock_text, &report, &mut stage, disks)
                .and_then(|()| stage_clients(request.new_clients, &mut stage, disks));
            if let Err(error) = outcome {
                let _ = stage.abandon(&disks.own);
                return Err(InstallError::NotWritten(error));
            }
            stage.commit(self.system, disks).map_err(|error| match error {
                CommitError::Nothing(error) => InstallError::NotWritten(error),
                CommitError::Half(error) => InstallError::HalfWritten(error),
            })?;
        }
        report.record = None;
        Ok(report)
    }

    /// Begins the stage, with the new files of a source.
    fn begin(&self, disks: &mut Disks<'_>) -> Result<Stage, InstallError> {
        let mut stage =
            Stage::begin(&disks.own, self.request.durability).map_err(InstallError::NotWritten)?;
        let files = self.request.new.map_or(&[][..], |new| new.files);
        if let Err(error) = stage_new(&mut stage, files, disks) {
            // The first error is the one to report.
            let _ = stage.abandon(&disks.own);
            return Err(InstallError::NotWritten(error));
        }
        Ok(stage)
    }

    /// Returns the system through which sources are read.
    pub(super) fn sources(&self) -> &dyn System {
        self.request.new.map_or(self.system, |new| new.shown_by)
    }

    fn open_all<'s>(&self, old: &'s ProjectState) -> Result<Vec<OpenedSource<'s>>, InstallError> {
        let opener = Opener { run: self, lock: &old.lock, clients: &self.compiler.clients() };
        old.manifest.sources.iter().map(|source| opener.open(source)).collect()
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

    /// Plans all items, and returns the new lock.
    fn plan_all(
        &self,
        old: &ProjectState,
        sources: &[OpenedSource<'_>],
        clients: &[Vec<String>],
        selection: &Selection,
        plan: &mut Plan<'_>,
        disks: &mut Disks<'_>,
    ) -> Result<Lock, InstallError> {
        let mut lock = Lock::default();
        let packages = PackageSelector { run: self, old };
        lock.dependencies = packages.choose(&mut plan.diagnostics);
        for (number, source) in sources.iter().enumerate() {
            let bundles = selection.bundles.iter().filter(|(place, _)| *place == number);
            let bundles = bundles.map(|(_, name)| {
                let version = source.registry.bundle(name).and_then(|bundle| bundle.version());
                (name.clone(), version.map(str::to_owned))
            });
            let place = source.wanted.place.clone();
            let locked = LockedSource {
                place,
                commit: source.commit.clone(),
                signer: source.pinned.signer.clone(),
                created: source.pinned.created.clone(),
                bundles: bundles.collect(),
            };
            lock.sources.insert(source.wanted.name.clone(), locked);
        }
        let of = selection.items.len();
        for (number, (id, selected)) in selection.items.iter().enumerate() {
            (self.observer)(Event::Item { number: number + 1, of });
            let source = &sources[selected.source];
            let Some(item) = source.registry.item(id) else { continue };
            let clients = &clients[selected.source];
            let locked = self.plan_item(old, source, item, selected, clients, plan, disks)?;
            lock.items.extend(locked.map(|locked| (id.clone(), locked)));
        }
        for (number, id) in &selection.refused {
            let source = &sources[*number];
            if let Some(item) = source.registry.item(id) {
                plan.diagnostics.extend(errors(item.diagnostics()).cloned());
            }
            plan.fail(&id.full_name());
            lock.items.extend(old.lock.items.get(id).map(|known| (id.clone(), known.clone())));
        }
        let is_read = report_unread(sources, plan);
        if is_read {
            plan.remove_stale(&mut disks.outputs, &disks.own).map_err(InstallError::NotWritten)?;
        } else {
            plan.leave_all();
            for (id, known) in &old.lock.items {
                if plan.after.items.contains_key(&id.full_name()) {
                    lock.items.entry(id.clone()).or_insert_with(|| known.clone());
                }
            }
            // An item whose source is gone cannot stay.
            lock.items.retain(|_, item| lock.sources.contains_key(&item.source));
        }
        for (id, item) in &mut lock.items {
            if let Some(files) = plan.made.get(&id.full_name()) {
                item.files.clone_from(files);
            }
            // If every client has its own copy, the paths are enough.
            let paths: Vec<&str> = item.files.keys().map(String::as_str).collect();
            let has_copy = |client: &String| has_own_copy(id, client, &paths);
            if item.clients.iter().all(has_copy) {
                item.clients.clear();
            }
        }
        // Servers are for all clients of the project, even those without items.
        let all = clients.iter().flatten().chain(self.request.clients);
        let all: BTreeSet<&str> = all.map(String::as_str).collect();
        let all: Vec<&str> =
            self.compiler.clients().into_iter().filter(|name| all.contains(name)).collect();
        let records = (old.record.as_ref(), &old.witness);
        lock.shared = shared::plan(self.compiler, records, &all, plan, disks)
            .map_err(InstallError::NotWritten)?;
        plan.after.shared = lock.shared.clone();
        if self.request.extent == Extent::Nothing {
            plan.remember_adopted();
            // The lock keeps the resolved sources, so that they can be restored.
            return Ok(old.lock.clone());
        }
        if self.request.locking == Locking::Frozen {
            // Sharing a copy changes no file, and older locks do not record it.
            for (id, item) in &mut lock.items {
                if let Some(known) = old.lock.items.get(id) {
                    item.clients.clone_from(&known.clients);
                }
            }
            frozen::refuse_difference(&old.lock, &lock)?;
        }
        // A failed item keeps the list of the old lock, which may not match its content.
        if self.request.mode == InstallMode::Write && is_read && plan.failed == 0 {
            plan.after.capabilities = derived::mark(self.system, self.project, &lock)
                .map_err(InstallError::NotWritten)?;
        }
        Ok(lock)
    }

    #[expect(clippy::too_many_arguments, reason = "all of it is about one item")]
    fn plan_item(
        &self,
        old: &ProjectState,
        source: &OpenedSource<'_>,
        item: &PortableItem,
        selected: &Selected,
        clients: &[String],
        plan: &mut Plan<'_>,
        disks: &mut Disks<'_>,
    ) -> Result<Option<LockedItem>, InstallError> {
        let key = item.id().full_name();
        let known = old.lock.items.get(item.id());
        let item_files = match ItemFiles::read(self.sources(), &source.root, item) {
            Ok(item_files) => item_files,
            Err(problem) => {
                plan.diagnostics.push(*problem);
                plan.fail(&key);
                return Ok(known.cloned());
            }
        };
        let content = item::content_hash(item, &item_files);
        let accepted = &old.manifest.accept;
        let clients: Vec<&str> = clients.iter().map(String::as_str).collect();
        let lines = gate::of_lines(&self.compiler.added_lines(item, &clients));
        let facts = old.facts(item.id(), &content);
        let facts = facts.filter(|facts| {
            lines.is_empty()
                && !gate::names_lines(facts)
                && gate::pass(facts, &content, accepted, self.policy)
        });
        let capabilities = match facts {
            Some(facts) => facts.to_vec(),
            None => {
                let mut findings = match gate::inventory(item, &item_files) {
                    Ok(findings) => findings,
                    Err(problem) => {
                        plan.diagnostics.push(*problem);
                        plan.fail(&key);
                        return Ok(known.cloned());
                    }
                };
                let count = findings.len();
                if count > limits::ITEM_CAPABILITIES && !accepted.contains(&content) {
                    let (item, source_name) = (item.id().clone(), source.wanted.name.clone());
                    return Err(InstallError::TooManyCapabilities { item, source_name, count });
                }
                let mut refused = gate::refused(&findings, &content, accepted);
                refused.extend(gate::refused_lines(&lines));
                findings.extend(lines);
                refused.extend(gate::forbidden(&findings, self.policy));
                if !refused.is_empty() {
                    plan.diagnostics.extend(refused);
                    plan.fail(&key);
                    return Ok(known.cloned());
                }
                capability::facts(&findings)
            }
        };
        // An accepted hash is proof enough; the lock may still hold the refused content.
        if source.is_locked
            && !accepted.contains(&content)
            && let Some(known) = known
            && known.source == source.wanted.name
            && known.sha256 != content
        {
            let source_name = source.wanted.name.clone();
            return Err(InstallError::Tampered { item: item.id().clone(), source_name });
        }
        plan.scopes.extend(shared::scope_of(&key, item));
        let fingerprint = item::fingerprint(self.compiler.fingerprint(), &clients, item, &content);
        if !plan.is_unchanged(&key, &fingerprint, &mut disks.outputs) {
            let mut compiled = self.compiler.compile(item, &clients);
            let notes = std::mem::take(&mut compiled.notes);
            if !notes.is_empty() {
                plan.notes.insert(item.id().clone(), notes);
            }
            let from = format!("{}:{}", source.wanted.name, item.slashed());
            let wanted = ItemToWrite { item, source: from, fingerprint, item_files: &item_files };
            let failed = plan.failed;
            plan.add(wanted, compiled, &mut disks.outputs, &disks.own)
                .map_err(InstallError::NotWritten)?;
            if plan.failed != failed {
                return Ok(known.cloned());
            }
        }
        Ok(Some(LockedItem {
            source: source.wanted.name.clone(),
            path: item.slashed().to_owned(),
            version: item.version().map(str::to_owned),
            sha256: content,
            bundles: selected.bundles.iter().cloned().collect(),
            clients: clients
                .into_iter()
                .filter(|name| item.is_for(name))
                .map(str::to_owned)
                .collect(),
            capabilities,
            files: BTreeMap::new(),
        }))
    }

    /// Reports the new, changed and removed sources and items.
    fn tell(
        &self,
        old: &ProjectState,
        sources: &[OpenedSource<'_>],
        selection: &Selection,
        (lock, lock_text): (&Lock, &str),
        report: &mut InstallReport,
    ) {
        for source in sources {
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
        report.capabilities = gate::told(&old.lock, lock);
        report.dependencies = dependencies::told(&old.lock, lock);
        if old.lock.is_old {
            let what = match self.request.mode {
                InstallMode::Write => "says now what every item can do",
                _ => "`brief sync` adds what every item can do",
            };
            report.notes.push(format!("`brief.lock` is of an older version; {what}"));
        }
        report.notes.extend(gate::forged(&old.lock, lock));
        report.notes.extend(gate::unused(&self.request.accept, lock));
        // Those are the new and changed items.
        let changed = report.capabilities.keys().map(|id| match before.get(id) {
            None => (id.clone(), ChangeKind::Created),
            Some(_) => (id.clone(), ChangeKind::Updated),
        });
        report.items = changed.collect();
        let removed = before.keys().filter(|id| !lock.items.contains_key(id));
        report.items.extend(removed.map(|id| (id.clone(), ChangeKind::Removed)));
        report.count = selection.items.len() + selection.refused.len();
        // An empty file is removed, and never created.
        let change = |before: &Option<String>, after: Option<&str>| match (before, after) {
            (None, Some(_)) => Some(ChangeKind::Created),
            (Some(before), Some(after)) if before != after => Some(ChangeKind::Updated),
            (Some(_), None) => Some(ChangeKind::Removed),
            _ => None,
        };
        if self.request.extent == Extent::Manifest {
            let text = (!lock.is_empty()).then_some(lock_text);
            report.lock = change(&old.lock_before, text);
        }
        if !self.request.edits.is_empty() || !self.request.accept.is_empty() {
            let text = Some(old.manifest_text.as_str()).filter(|text| !text.trim().is_empty());
            report.manifest = change(&old.manifest_before, text);
        }
    }

    fn take_from(&self, plan: Plan<'_>, report: &mut InstallReport) {
        report.changes = plan.changes;
        report.changes.sort_unstable();
        report.differences = plan.differences.unwrap_or_default();
        report.differences.sort_by(|left, right| left.path.cmp(&right.path));
        report.failed = plan.failed;
        report.unchanged = plan.unchanged;
        report.kept = plan.kept;
        report.diagnostics = plan.diagnostics;
        report.lost = plan.notes;
        let copies = plan.backups.into_iter();
        let place = self.project.own.join(backup::BACKUPS);
        report.backups = copies.map(|(path, copy)| (path, place.join(copy))).collect();
        report.record = Some(plan.after);
    }
}

/// Reports unreadable files of sources of which every item is wanted. They may be items, whose outputs would
/// look stale.
fn report_unread(sources: &[OpenedSource<'_>], plan: &mut Plan<'_>) -> bool {
    let before = plan.diagnostics.len();
    for source in sources.iter().filter(|source| source.wanted.wanted.all) {
        plan.diagnostics.extend(errors(&source.registry.diagnostics).cloned());
    }
    plan.diagnostics.len() == before
}
