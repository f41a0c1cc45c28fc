//! Builds a registry: compiles its items to a directory of files for clients.
//!
//! A record lists every file that a build wrote, and only recorded files are ever replaced or removed. An
//! unchanged item is neither compiled nor written: its record holds one hash of everything that its files
//! were made from.

use std::io;
use std::path::{Path, PathBuf};

use brief_dialects::portable::output::Compiler;
use brief_dialects::portable::{self, ItemKind, Registry};
use brief_syntax::{Diagnostic, Root};
use brief_system::paths::{relative_path, to_slashed};
use brief_system::{Permission, System, resolve_existing};

use crate::outputs::disk::{Disk, DiskState};
use crate::outputs::item::{self, ItemFiles};
use crate::outputs::plan::{
    Advice, Chosen, ConflictPolicy, ItemToWrite, Plan, PlanReport, PlanStart,
};
use crate::outputs::record::{self, OutputRecord};
use crate::outputs::stage::{
    self, CommitError, Disks, PermissionSource, Planned, RecoverError, Stage, WriteRoot,
};
use crate::outputs::transaction::run_transaction;
use crate::outputs::{Change, ChangeKind, Durability, filter_errors};

/// The record of what was built.
const RECORD: &str = "build.json";

/// The lock file that keeps two builds at once apart.
const LOCK: &str = "lock";

/// The advice that goes with a conflict.
const ADVICE: Advice = Advice {
    edited: "make the change in the source, then build with `--force`",
    foreign: "move it away, or build into another directory",
    stale: "remove it, or build with `--force`",
};

pub const DEFAULT_OUT: &str = "dist";

#[derive(Debug, Clone, Copy)]
pub struct BuildRequest<'r> {
    /// The registry, absolute.
    pub registry: &'r Path,
    /// The output directory that the user named, absolute.
    pub out: Option<&'r Path>,
    /// The output directory of the configuration, below the registry.
    pub configured_out: Option<&'r str>,
    /// The clients to build for.
    pub clients: &'r [&'r str],
    /// The mode: write or only check.
    pub mode: BuildMode,
    /// The treatment of outputs that were edited by hand.
    pub edited: Edited,
}

/// The mode of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildMode {
    /// Brings the outputs up to date.
    Write,
    /// Reports the changes and writes nothing.
    Check,
}

/// The treatment of outputs that were edited by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    Keep,
    Overwrite,
}

/// The result of a build, or of a check.
#[derive(Debug)]
pub struct BuildOutcome {
    /// The registry, absolute.
    pub registry: PathBuf,
    /// The output directory, absolute.
    pub out: PathBuf,
    /// The number of items in the registry.
    pub items: usize,
    /// The number of items that could not be built.
    pub failed: usize,
    /// The changed files, sorted by path.
    pub changes: Vec<Change>,
    /// The number of files that are up to date.
    pub unchanged: usize,
    /// The number of outputs that another file keeps from being written.
    pub kept: usize,
    /// The problems that stopped an item, and what compiling lost.
    pub diagnostics: Vec<Diagnostic>,
}

impl BuildOutcome {
    /// Returns the number of files with this kind of change.
    pub fn count_changes(&self, kind: ChangeKind) -> usize {
        self.changes.iter().filter(|change| change.kind == kind).count()
    }

    /// Returns whether an item could not be built.
    pub fn has_errors(&self) -> bool {
        filter_errors(&self.diagnostics).next().is_some()
    }
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The registry cannot be opened.
    #[error("cannot open the registry `{}`: {error}", path.display())]
    Registry {
        /// The registry, absolute.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The registry has no items.
    #[error("no items in `{}`", path.display())]
    NoItems {
        /// The registry, absolute.
        path: PathBuf,
    },
    /// The configuration names an output directory outside the registry.
    #[error("`build.out` points outside the registry, to `{}`", path.display())]
    OutOutside {
        /// The directory that `build.out` names.
        path: PathBuf,
    },
    /// The output directory holds items of the registry.
    #[error("`{}` contains items, so it cannot be the output directory", path.display())]
    OutIsSource { path: PathBuf },
    /// The output directory cannot be opened, created or written.
    #[error("cannot use the directory `{}`: {error}", path.display())]
    Out {
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The output directory has a journal that another machine wrote.
    #[error("`{}` is the journal of another machine or directory; nothing was changed", path.display())]
    ForeignJournal { path: PathBuf },
    /// The record of the last build is not valid.
    #[error("cannot read the record of the last build, `{}`: {problem}", path.display())]
    Record {
        path: PathBuf,
        /// The defect of the record.
        problem: String,
    },
    /// The output directory belongs to another registry.
    #[error("`{}` was built from another registry, `{registry}`", path.display())]
    OtherRegistry {
        path: PathBuf,
        /// The relative path from there to the other registry.
        registry: String,
    },
}

/// Builds a registry into its output directory. Only one build at a time writes to a directory.
pub fn build_registry(
    system: &dyn System,
    compiler: &dyn Compiler,
    request: &BuildRequest<'_>,
) -> Result<BuildOutcome, BuildError> {
    brief_syntax::allocation::expect_reuse();
    let root = Root::open(system, request.registry)
        .map_err(|error| BuildError::Registry { path: request.registry.to_owned(), error })?;
    let out = out_directory(system, &root, request)?;
    let failed = |error| BuildError::Out { path: out.clone(), error };
    let mut outputs = Disk::open(system, &out).map_err(failed)?;
    // Outputs of an earlier build are not items.
    let is_built = outputs.open_directory(record::DIRECTORY).map_err(failed)?.is_some();
    let inside = out.strip_prefix(root.path()).ok().filter(|_| is_built).map(to_slashed);
    let registry = portable::read_except(system, &root, &compiler.clients(), inside.as_deref());
    if registry.items.is_empty() {
        return Err(BuildError::NoItems { path: root.path().to_owned() });
    }
    refuse_source(&out, &root, &registry)?;
    let own = out.join(record::DIRECTORY);
    let mut lock = None;
    if request.mode == BuildMode::Write {
        outputs.create_if_missing().map_err(failed)?;
        outputs.make_directory(record::DIRECTORY).map_err(failed)?;
        lock = Some(system.lock(&own.join(LOCK)).map_err(failed)?);
        outputs.look_again(record::DIRECTORY).map_err(failed)?;
    }
    let open = |path: &Path| Disk::open(system, path).map_err(failed);
    let own = Disk::open_own(system, &own).map_err(failed)?;
    let mut disks = Disks { outputs, config: open(&out)?, own };
    let work = Work { system, compiler, root: &root, out: &out, request };
    let report = work.build_outputs(&registry, &mut disks);
    drop(lock);
    report
}

/// Returns the output directory: the one on the command line, the configured one, or the default.
fn out_directory(
    system: &dyn System,
    root: &Root,
    request: &BuildRequest<'_>,
) -> Result<PathBuf, BuildError> {
    if let Some(out) = request.out {
        return Ok(resolve_existing(system, out).path);
    }
    let inside = request.configured_out.unwrap_or(DEFAULT_OUT);
    let path = resolve_existing(system, &root.path().join(inside)).path;
    // Only the command line may name a directory outside the registry; a project's configuration may not.
    if path.starts_with(root.path()) { Ok(path) } else { Err(BuildError::OutOutside { path }) }
}

/// Refuses an output directory that is the root of items, or lies among them.
fn refuse_source(out: &Path, root: &Root, registry: &Registry) -> Result<(), BuildError> {
    for item in &registry.items {
        let directory = root.path().join(item.slashed());
        let above = directory.parent().unwrap_or(root.path());
        let is_sorted =
            above.file_name().and_then(|name| ItemKind::of_folder(name.to_str()?)).is_some();
        let item_root = if is_sorted { above.parent().unwrap_or(above) } else { above };
        if out == item_root || out.starts_with(&directory) || is_sorted && out.starts_with(above) {
            return Err(BuildError::OutIsSource { path: out.to_owned() });
        }
    }
    Ok(())
}

/// The inputs of all steps of a build.
struct Work<'w> {
    system: &'w dyn System,
    compiler: &'w dyn Compiler,
    root: &'w Root,
    out: &'w Path,
    request: &'w BuildRequest<'w>,
}

impl Work<'_> {
    fn build_outputs(
        &self,
        registry: &Registry,
        disks: &mut Disks<'_>,
    ) -> Result<BuildOutcome, BuildError> {
        let failed = |error| BuildError::Out { path: self.out.to_owned(), error };
        let is_write = self.request.mode == BuildMode::Write;
        if is_write {
            stage::replay_journal(self.system, disks).map_err(|error| match error {
                RecoverError::Foreign(path) => BuildError::ForeignJournal { path },
                RecoverError::Io(error) => failed(error),
            })?;
        }
        let before = self.read_record(disks)?;
        let edited = match self.request.edited {
            Edited::Keep => Chosen::None,
            Edited::Overwrite => Chosen::All,
        };
        let policy = ConflictPolicy { edited, advice: ADVICE, ..ConflictPolicy::default() };
        let start = PlanStart {
            records: vec![&before],
            policy: &policy,
            out: self.out,
            after: OutputRecord::new(self.way_to_root()),
            compares: false,
        };
        let planned = run_transaction(
            self.system,
            disks,
            is_write.then_some(Durability::Lasting),
            |stage, disks| {
                let mut plan = Plan::new(start, stage);
                self.plan_items(registry, &mut plan, disks)?;
                Ok::<_, CommitError>(plan.finish())
            },
            |planned, stage, disks| Ok(stage_record(&before, &planned.record, stage, disks)?),
        );
        match planned {
            Ok(planned) => Ok(self.build_outcome(registry, planned)),
            Err(CommitError::Nothing(error) | CommitError::Half(error)) => Err(failed(error)),
        }
    }

    /// Returns the path from the outputs to the registry, for the record.
    fn way_to_root(&self) -> String {
        let way = relative_path(self.out, self.root.path());
        if way.is_empty() { ".".to_owned() } else { way }
    }

    /// Reads the record of the last build.
    fn read_record(&self, disks: &Disks<'_>) -> Result<OutputRecord, BuildError> {
        let way = self.way_to_root();
        let Some(own) = disks.own.top() else { return Ok(OutputRecord::new(way)) };
        let before = OutputRecord::read(own, RECORD).map_err(|problem| BuildError::Record {
            path: self.out.join(record::DIRECTORY).join(RECORD),
            problem,
        })?;
        let before = before.unwrap_or_else(|| OutputRecord::new(way.clone()));
        if before.registry != way && self.request.edited == Edited::Keep {
            let registry = before.registry;
            return Err(BuildError::OtherRegistry { path: self.out.to_owned(), registry });
        }
        Ok(before)
    }

    fn plan_items(
        &self,
        registry: &Registry,
        plan: &mut Plan<'_>,
        disks: &mut Disks<'_>,
    ) -> io::Result<()> {
        let context = self.compiler.fingerprint();
        for item in &registry.items {
            let key = item.id().full_name();
            let problems = filter_errors(item.diagnostics()).cloned();
            if !item.is_valid() {
                plan.refuse_item(&key, problems);
                continue;
            }
            plan.report_problems(problems);
            let item_files = match ItemFiles::read(self.system, self.root, item) {
                Ok(item_files) => item_files,
                Err(problem) => {
                    plan.refuse_item(&key, [*problem]);
                    continue;
                }
            };
            let hash = item::content_hash(item, &item_files);
            let fingerprint = item::fingerprint_item(context, self.request.clients, item, &hash);
            if !plan.is_unchanged(&key, &fingerprint, &mut disks.outputs) {
                let compiled = self.compiler.compile(item, self.request.clients);
                let source = item.slashed().to_owned();
                let wanted = ItemToWrite { item, source, fingerprint, item_files: &item_files };
                plan.plan_item(wanted, compiled, &mut disks.outputs, &disks.own)?;
            }
        }
        // An unreadable file may be an item, whose outputs would look stale.
        if plan.report_problems(filter_errors(&registry.diagnostics).cloned()) {
            plan.leave_all();
            return Ok(());
        }
        plan.remove_stale(&mut disks.outputs, &disks.own)
    }

    fn build_outcome(&self, registry: &Registry, plan: PlanReport) -> BuildOutcome {
        BuildOutcome {
            registry: self.root.path().to_owned(),
            out: self.out.to_owned(),
            items: registry.items.len(),
            failed: plan.failed,
            changes: plan.changes,
            unchanged: plan.unchanged,
            kept: plan.kept,
            diagnostics: plan.diagnostics,
        }
    }
}

/// Stages the record of a build, if it has changed.
fn stage_record(
    before: &OutputRecord,
    after: &OutputRecord,
    stage: &mut Stage,
    disks: &mut Disks<'_>,
) -> io::Result<()> {
    if after == before {
        return Ok(());
    }
    let found = match disks.own.read_state(RECORD) {
        DiskState::File(found) => Some(found.sha256),
        _ => None,
    };
    let (at, mode, permission) = (WriteRoot::Own, PermissionSource::Own, Permission::Data);
    let file = Planned { at, path: RECORD, mode, permission, before: found };
    stage.put_bytes(file, &after.to_bytes()?)
}
