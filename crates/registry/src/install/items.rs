//! Plans the files of all items, and resolves the lock that goes with them.

use std::collections::{BTreeMap, BTreeSet};

use brief_dialects::installed::has_own_copy;
use brief_dialects::portable::PortableItem;
use brief_safety::capability;
use brief_syntax::{Diagnostic, limits};

use super::dependencies::PackageSelector;
use super::open::OpenedSource;
use super::run::{Run, WantedState};
use super::select::Selected;
use super::{Extent, InstallError, InstallMode, Locking, derived, frozen, gate, shared};
use crate::cache::Event;
use crate::lock::{Lock, LockedItem, LockedSource};
use crate::outputs::filter_errors;
use crate::outputs::item::{self, ItemFiles};
use crate::outputs::plan::{ItemOutcome, ItemToWrite, Plan};
use crate::outputs::stage::Disks;

/// An item, with where it comes from and whom it is for.
struct WantedItem<'w> {
    item: &'w PortableItem,
    source: &'w OpenedSource<'w>,
    selected: &'w Selected,
    clients: Vec<&'w str>,
    /// The record of it in the old lock.
    known: Option<&'w LockedItem>,
}

impl Run<'_> {
    /// Plans all items, and returns the new lock.
    pub(super) fn plan_all(
        &self,
        wanted: &WantedState<'_>,
        plan: &mut Plan<'_>,
        disks: &mut Disks<'_>,
    ) -> Result<Lock, InstallError> {
        let old = wanted.old;
        let mut problems = Vec::new();
        let dependencies = PackageSelector { run: self, old }.choose_packages(&mut problems);
        plan.report_problems(problems);
        let mut lock = Lock { dependencies, ..Lock::default() };
        lock_sources(wanted, &mut lock);
        self.plan_items(wanted, &mut lock, plan, disks)?;
        let is_read = !report_unread(wanted.sources, plan);
        if is_read {
            plan.remove_stale(&mut disks.outputs, &disks.own).map_err(InstallError::NotWritten)?;
        } else {
            plan.leave_all();
            keep_locked(&old.lock, &mut lock, plan);
        }
        lock_files(&mut lock, plan);
        // Servers are for all clients of the project, even those without items.
        let all = wanted.clients.iter().flatten().chain(self.request.clients);
        let all: BTreeSet<&str> = all.map(String::as_str).collect();
        let all: Vec<&str> =
            self.compiler.clients().into_iter().filter(|name| all.contains(name)).collect();
        let records = (old.record.as_ref(), &old.witness);
        lock.shared = shared::plan_shared_files(self.compiler, records, &all, plan, disks)
            .map_err(InstallError::NotWritten)?;
        plan.record_shared(lock.shared.clone());
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
        if self.request.mode == InstallMode::Write && is_read && plan.is_whole() {
            let mark = derived::create_lock_mark(self.system, self.project, &lock);
            plan.record_capabilities(mark.map_err(InstallError::NotWritten)?);
        }
        Ok(lock)
    }

    fn plan_items(
        &self,
        wanted: &WantedState<'_>,
        lock: &mut Lock,
        plan: &mut Plan<'_>,
        disks: &mut Disks<'_>,
    ) -> Result<(), InstallError> {
        let old = wanted.old;
        let of = wanted.selection.items.len();
        for (number, (id, selected)) in wanted.selection.items.iter().enumerate() {
            (self.observer)(Event::Item { number: number + 1, of });
            let source = &wanted.sources[selected.source];
            let Some(item) = source.registry.find_item(id) else { continue };
            let clients = wanted.clients[selected.source].iter().map(String::as_str).collect();
            let known = old.lock.items.get(item.id());
            let item = WantedItem { item, source, selected, clients, known };
            let locked = self.plan_item(wanted, &item, plan, disks)?;
            lock.items.extend(locked.map(|locked| (id.clone(), locked)));
        }
        for (number, id) in &wanted.selection.refused {
            let item = wanted.sources[*number].registry.find_item(id);
            let problems = item.map(PortableItem::diagnostics).unwrap_or_default();
            plan.refuse_item(&id.full_name(), filter_errors(problems).cloned());
            lock.items.extend(old.lock.items.get(id).map(|known| (id.clone(), known.clone())));
        }
        Ok(())
    }

    /// Plans the files of an item, and returns its place in the lock: the old one, if it is refused.
    fn plan_item(
        &self,
        wanted: &WantedState<'_>,
        item: &WantedItem<'_>,
        plan: &mut Plan<'_>,
        disks: &mut Disks<'_>,
    ) -> Result<Option<LockedItem>, InstallError> {
        let WantedItem { item, source, selected, ref clients, known } = *item;
        let key = item.id().full_name();
        let item_files = match ItemFiles::read(self.source_system(), &source.root, item) {
            Ok(item_files) => item_files,
            Err(problem) => {
                plan.refuse_item(&key, [*problem]);
                return Ok(known.cloned());
            }
        };
        let content = item::content_hash(item, &item_files);
        let capabilities =
            match self.capabilities_of(wanted, source, item, clients, &item_files, &content)? {
                Ok(capabilities) => capabilities,
                Err(problems) => {
                    plan.refuse_item(&key, problems);
                    return Ok(known.cloned());
                }
            };
        // An accepted hash is proof enough; the lock may still hold the refused content.
        let is_other =
            |known: &LockedItem| known.source == source.wanted.name && known.sha256 != content;
        let is_accepted = wanted.old.manifest.accept.contains(&content);
        if source.is_locked && !is_accepted && known.is_some_and(is_other) {
            let source_name = source.wanted.name.clone();
            return Err(InstallError::Tampered { item: item.id().clone(), source_name });
        }
        plan.note_scope(&key, &item.scope_paths());
        let fingerprint =
            item::fingerprint_item(self.compiler.fingerprint(), clients, item, &content);
        if !plan.is_unchanged(&key, &fingerprint, &mut disks.outputs) {
            let mut compiled = self.compiler.compile(item, clients);
            plan.note_losses(item.id(), std::mem::take(&mut compiled.notes));
            let from = format!("{}:{}", source.wanted.name, item.slashed());
            let write = ItemToWrite { item, source: from, fingerprint, item_files: &item_files };
            let outcome = plan.plan_item(write, compiled, &mut disks.outputs, &disks.own);
            if outcome.map_err(InstallError::NotWritten)? == ItemOutcome::Refused {
                return Ok(known.cloned());
            }
        }
        let clients = clients.iter().filter(|name| item.is_for(name));
        Ok(Some(LockedItem {
            source: source.wanted.name.clone(),
            path: item.slashed().to_owned(),
            version: item.version().map(str::to_owned),
            sha256: content,
            bundles: selected.bundles.iter().cloned().collect(),
            clients: clients.map(|&name| name.to_owned()).collect(),
            capabilities,
            files: BTreeMap::new(),
        }))
    }

    /// Returns what an item can do, or why it is refused.
    fn capabilities_of(
        &self,
        wanted: &WantedState<'_>,
        source: &OpenedSource<'_>,
        item: &PortableItem,
        clients: &[&str],
        item_files: &ItemFiles,
        content: &str,
    ) -> Result<Result<Vec<String>, Vec<Diagnostic>>, InstallError> {
        let accepted = &wanted.old.manifest.accept;
        let lines = gate::of_lines(&self.compiler.added_lines(item, clients));
        let facts = wanted.old.find_capabilities(item.id(), content).filter(|facts| {
            lines.is_empty()
                && !gate::names_lines(facts)
                && gate::allows_installation(facts, content, accepted, self.policy)
        });
        if let Some(facts) = facts {
            return Ok(Ok(facts.to_vec()));
        }
        let mut findings = match gate::derive_capabilities(item, item_files) {
            Ok(findings) => findings,
            Err(problem) => return Ok(Err(vec![*problem])),
        };
        let count = findings.len();
        if count > limits::ITEM_CAPABILITIES && !accepted.contains(content) {
            let (item, source_name) = (item.id().clone(), source.wanted.name.clone());
            return Err(InstallError::TooManyCapabilities { item, source_name, count });
        }
        let mut refused = gate::check_acceptance(&findings, content, accepted);
        refused.extend(gate::refused_lines(&lines));
        findings.extend(lines);
        refused.extend(gate::check_policy(&findings, self.policy));
        Ok(if refused.is_empty() { Ok(capability::render_facts(&findings)) } else { Err(refused) })
    }
}

/// Locks the sources at what was read of them.
fn lock_sources(wanted: &WantedState<'_>, lock: &mut Lock) {
    for (number, source) in wanted.sources.iter().enumerate() {
        let bundles = wanted.selection.bundles.iter().filter(|(place, _)| *place == number);
        let bundles = bundles.map(|(_, name)| {
            let version = source.registry.find_bundle(name).and_then(|bundle| bundle.version());
            (name.clone(), version.map(str::to_owned))
        });
        let locked = LockedSource {
            place: source.wanted.place.clone(),
            commit: source.commit.clone(),
            signer: source.pinned.signer.clone(),
            created: source.pinned.created.clone(),
            bundles: bundles.collect(),
        };
        lock.sources.insert(source.wanted.name.clone(), locked);
    }
}

/// Keeps items whose files stay because their source could not be read.
fn keep_locked(old: &Lock, lock: &mut Lock, plan: &Plan<'_>) {
    for (id, known) in &old.items {
        if plan.has_item(&id.full_name()) {
            lock.items.entry(id.clone()).or_insert_with(|| known.clone());
        }
    }
    // An item whose source is gone cannot stay.
    lock.items.retain(|_, item| lock.sources.contains_key(&item.source));
}

/// Locks the files of each item.
fn lock_files(lock: &mut Lock, plan: &Plan<'_>) {
    for (id, item) in &mut lock.items {
        if let Some(files) = plan.outputs_of(&id.full_name()) {
            item.files.clone_from(files);
        }
        // If every client has its own copy, the paths are enough.
        let paths: Vec<&str> = item.files.keys().map(String::as_str).collect();
        let has_copy = |client: &String| has_own_copy(id, client, &paths);
        if item.clients.iter().all(has_copy) {
            item.clients.clear();
        }
    }
}

/// Reports unreadable files of sources of which every item is wanted, and returns whether there are any. They may be
/// items, whose outputs would look stale.
fn report_unread(sources: &[OpenedSource<'_>], plan: &mut Plan<'_>) -> bool {
    let whole = sources.iter().filter(|source| source.wanted.wanted.all);
    plan.report_problems(
        whole.flat_map(|source| filter_errors(&source.registry.diagnostics)).cloned(),
    )
}
