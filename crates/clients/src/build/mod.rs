//! From a registry to a directory of files for clients.
//!
//! Everything that was written is recorded, and only what is recorded is ever replaced or removed. What
//! has not changed is neither compiled nor written: an item's record has one name for all that its files
//! were made from.

mod disk;
mod plan;
mod record;
mod source;

use std::fmt::Write as _;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use brief_dialects::portable::{self, Kind, Registry, config};
use brief_syntax::hash::sha256;
use brief_syntax::near_miss::nearest;
use brief_syntax::project::resolve_existing;
use brief_syntax::system::{Dir, ReadError, System};
use brief_syntax::{Diagnostic, Root, Severity, Source};

use crate::compile::compile_for;
use crate::profile::{Profile, Profiles, Settings};

use disk::Disk;
use plan::{Plan, Write};
use record::Record;

/// The output directory when nobody names one.
pub const DEFAULT_OUT: &str = "dist";

/// What to build.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// The registry, absolute.
    pub registry: &'r Path,
    /// The output directory that the user named, absolute.
    pub out: Option<&'r Path>,
    /// The clients that the user named; none for those of the configuration, or all.
    pub clients: &'r [String],
    /// Whether anything is written.
    pub mode: Mode,
    /// What becomes of outputs that were changed by hand.
    pub edited: Edited,
}

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The outputs are brought up to date.
    Write,
    /// Nothing is written, only told.
    Check,
}

/// What becomes of outputs that were changed by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    /// They stay.
    Keep,
    /// They are replaced.
    Overwrite,
}

/// What a build did, or would do.
#[derive(Debug)]
pub struct Report {
    /// The registry.
    pub registry: PathBuf,
    /// The output directory.
    pub out: PathBuf,
    /// The items that were found.
    pub items: usize,
    /// How many of them could not be built.
    pub failed: usize,
    /// The files that changed, sorted by path.
    pub changes: Vec<Change>,
    /// How many files are as they should be.
    pub unchanged: usize,
    /// How many files stand where something else should.
    pub kept: usize,
    /// What stopped an item, and what got lost on the way.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Returns how many files changed in one way.
    pub fn count(&self, kind: ChangeKind) -> usize {
        self.changes.iter().filter(|change| change.kind == kind).count()
    }

    /// Returns whether something could not be built.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The path below the output directory, with `/`.
    pub path: String,
    /// How it changed.
    pub kind: ChangeKind,
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// It has another content.
    Updated,
    /// It is gone.
    Removed,
}

/// Why nothing was built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The registry cannot be opened.
    #[error("the registry `{}` cannot be opened: {error}", path.display())]
    Registry {
        /// The registry.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The configuration is wrong.
    #[error("`{}` is wrong", config::FILE_NAME)]
    Configuration(Vec<Diagnostic>),
    /// There is no such client.
    #[error("unknown client `{name}`")]
    UnknownClient {
        /// The name that was typed.
        name: String,
        /// A client that may be meant.
        near: Option<String>,
        /// Those that exist.
        known: Vec<String>,
    },
    /// There is nothing to build.
    #[error("there are no items in `{}`", path.display())]
    NoItems {
        /// The registry.
        path: PathBuf,
    },
    /// The configuration names an output directory that is not in the registry.
    #[error("`build.out` leads out of the registry, to `{}`", path.display())]
    OutOutside {
        /// Where it leads.
        path: PathBuf,
    },
    /// The output directory is where the items are.
    #[error("`{}` is where items come from, and no place for outputs", path.display())]
    OutIsSource {
        /// The directory.
        path: PathBuf,
    },
    /// The output directory cannot be used.
    #[error("the directory `{}` cannot be used: {error}", path.display())]
    Out {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The record cannot be understood.
    #[error("the record of the last build, `{}`, cannot be read: {problem}", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The output directory belongs to another registry.
    #[error("`{}` was built from another registry, `{registry}`", path.display())]
    OtherRegistry {
        /// The output directory.
        path: PathBuf,
        /// The way from there to the other registry.
        registry: String,
    },
}

/// Builds a registry.
pub fn build(system: &dyn System, request: &Request<'_>) -> Result<Report, BuildError> {
    let root = Root::open(system, request.registry)
        .map_err(|error| BuildError::Registry { path: request.registry.to_owned(), error })?;
    let (profiles, settings) = configuration(system, &root)?;
    let wanted = wanted(&profiles, &settings, request.clients)?;
    let clients = profiles.ids();
    let out = out_directory(system, &root, &settings, request.out)?;
    let failed = |error| BuildError::Out { path: out.clone(), error };
    let mut disk = Disk::open(system, &out).map_err(failed)?;
    // Whatever was built before is no source.
    let is_built = disk.directory(record::DIRECTORY).map_err(failed)?.is_some();
    let outputs = out.strip_prefix(root.path()).ok().filter(|_| is_built).map(slashed);
    let registry = portable::read_except(system, &root, &clients, outputs.as_deref());
    if registry.items.is_empty() {
        return Err(BuildError::NoItems { path: root.path().to_owned() });
    }
    refuse_source(&out, &root, &registry)?;
    let work = Work { system, root: &root, out: &out, request, wanted: &wanted, clients: &clients };
    let context = context(&wanted, &clients, &settings);
    match request.mode {
        Mode::Check => {
            let (before, pending) = work.records(&disk)?;
            let plan =
                work.plan(&registry, &settings, &context, (&before, pending.as_ref()), &mut disk);
            Ok(work.report(&registry, plan))
        }
        Mode::Write => {
            disk.create().map_err(failed)?;
            let own = disk.make_directory(record::DIRECTORY).map_err(failed)?;
            let lock = out.join(record::DIRECTORY).join(record::LOCK);
            let _lock = system.lock(&lock).map_err(failed)?;
            let (before, pending) = work.records(&disk)?;
            let plan =
                work.plan(&registry, &settings, &context, (&before, pending.as_ref()), &mut disk);
            let is_same = plan.writes.is_empty() && plan.removals.is_empty();
            if !is_same || plan.after != before || pending.is_some() {
                apply(system, &out, own.as_ref(), &mut disk, &plan, pending.as_ref())
                    .map_err(failed)?;
            }
            Ok(work.report(&registry, plan))
        }
    }
}

/// Reads a project's `brief.toml`, if there is one.
fn configuration(system: &dyn System, root: &Root) -> Result<(Profiles, Settings), BuildError> {
    let opened = |error| BuildError::Registry { path: root.path().to_owned(), error };
    let handle = system.open_dir(root.path()).map_err(opened)?;
    let path = root.path().join(config::FILE_NAME);
    let source = match root.read_in(system, handle.as_ref(), Path::new(""), config::FILE_NAME) {
        Ok(bytes) => Arc::new(Source::from_bytes(path, bytes)),
        Err(ReadError::Missing) => return Ok((Profiles::builtin(), Settings::default())),
        Err(error) => {
            let source = Arc::new(Source::unread(path));
            let message = format!("the file cannot be read: {error}");
            let span = brief_syntax::Span::default();
            let problem = Diagnostic::error("portable/invalid-config", &source, span, message);
            return Err(BuildError::Configuration(vec![problem]));
        }
    };
    let profiles = Profiles::with_overrides(&source).map_err(BuildError::Configuration)?;
    let settings = Settings::read(&source, &profiles).map_err(BuildError::Configuration)?;
    Ok((profiles, settings))
}

/// Returns the clients to build for, in the order of the profiles.
fn wanted<'p>(
    profiles: &'p Profiles,
    settings: &Settings,
    named: &[String],
) -> Result<Vec<&'p Profile>, BuildError> {
    let known = profiles.ids();
    if let Some(name) = named.iter().find(|name| profiles.get(name).is_none()) {
        let near = nearest(name, &known).map(str::to_owned);
        let known = known.iter().map(|&name| name.to_owned()).collect();
        return Err(BuildError::UnknownClient { name: name.clone(), near, known });
    }
    let listed = if named.is_empty() { settings.clients.as_deref() } else { Some(named) };
    let is_wanted = |profile: &&Profile| {
        listed.is_none_or(|listed| listed.iter().any(|name| name == profile.id()))
    };
    Ok(profiles.iter().filter(is_wanted).collect())
}

/// Returns one name for what is the same for all items.
fn context(wanted: &[&Profile], clients: &[&str], settings: &Settings) -> String {
    let mut text = format!("brief {}\n", env!("CARGO_PKG_VERSION"));
    let _ = write!(text, "{wanted:?}\n{clients:?}\n{:?}", settings.options);
    sha256(text.as_bytes())
}

/// Finds the output directory.
fn out_directory(
    system: &dyn System,
    root: &Root,
    settings: &Settings,
    named: Option<&Path>,
) -> Result<PathBuf, BuildError> {
    if let Some(out) = named {
        return Ok(resolve_existing(system, out).path);
    }
    let inside = settings.out.as_deref().unwrap_or(DEFAULT_OUT);
    let path = resolve_existing(system, &root.path().join(inside)).path;
    // A project cannot send its outputs elsewhere; only the command line can.
    if path.starts_with(root.path()) { Ok(path) } else { Err(BuildError::OutOutside { path }) }
}

/// Refuses an output directory that is the root of some items, or lies among them.
fn refuse_source(out: &Path, root: &Root, registry: &Registry) -> Result<(), BuildError> {
    for item in &registry.items {
        let directory = root.path().join(item.slashed());
        let above = directory.parent().unwrap_or(root.path());
        let is_sorted =
            above.file_name().and_then(|name| Kind::of_folder(name.to_str()?)).is_some();
        let item_root = if is_sorted { above.parent().unwrap_or(above) } else { above };
        if out == item_root || out.starts_with(&directory) || is_sorted && out.starts_with(above) {
            return Err(BuildError::OutIsSource { path: out.to_owned() });
        }
    }
    Ok(())
}

/// What all steps of a build need.
struct Work<'w> {
    system: &'w dyn System,
    root: &'w Root,
    out: &'w Path,
    request: &'w Request<'w>,
    wanted: &'w [&'w Profile],
    clients: &'w [&'w str],
}

impl Work<'_> {
    /// Reads what was written before, and what a run that was ended in the middle was about to write.
    fn records(&self, disk: &Disk<'_>) -> Result<(Record, Option<Record>), BuildError> {
        let way = way(self.out, self.root.path());
        let own = disk
            .directory(record::DIRECTORY)
            .map_err(|error| BuildError::Out { path: self.out.join(record::DIRECTORY), error })?;
        let Some(own) = own else { return Ok((Record::new(way), None)) };
        let read = |name: &str| {
            Record::read(own.as_ref(), name).map_err(|problem| {
                let path = self.out.join(record::DIRECTORY).join(name);
                BuildError::Record { path, problem }
            })
        };
        // What was not finished writing says nothing.
        let pending = read(record::PENDING).unwrap_or_default();
        let before = read(record::RECORD)?.unwrap_or_else(|| Record::new(way.clone()));
        if before.registry != way && self.request.edited == Edited::Keep {
            let registry = before.registry;
            return Err(BuildError::OtherRegistry { path: self.out.to_owned(), registry });
        }
        Ok((before, pending))
    }

    fn plan<'p>(
        &'p self,
        registry: &Registry,
        settings: &Settings,
        context: &str,
        (before, pending): (&'p Record, Option<&'p Record>),
        disk: &mut Disk<'_>,
    ) -> Plan<'p> {
        let way = way(self.out, self.root.path());
        let mut plan = Plan::new(before, pending, self.request.edited, self.out, way);
        for item in &registry.items {
            let key = plan::key(item);
            let errors =
                item.diagnostics().iter().filter(|found| found.severity == Severity::Error);
            plan.diagnostics.extend(errors.cloned());
            if !item.is_valid() {
                plan.fail(&key);
                continue;
            }
            let files = match source::read_beside(self.system, self.root, item) {
                Ok(files) => files,
                Err(problem) => {
                    plan.diagnostics.push(*problem);
                    plan.fail(&key);
                    continue;
                }
            };
            let fingerprint = source::fingerprint(context, item, &files);
            if !plan.is_unchanged(&key, &fingerprint, disk) {
                let compiled = compile_for(item, self.wanted, &settings.options, self.clients);
                plan.add(item, fingerprint, compiled, &files, disk);
            }
        }
        // What could not be read may be an item whose files would seem to be nobody's.
        let mut unread = registry.diagnostics.clone();
        unread.retain(|found| found.severity == Severity::Error);
        if unread.is_empty() {
            plan.remove_stale(disk);
        } else {
            plan.diagnostics.append(&mut unread);
            for key in before.items.keys() {
                plan.leave(key);
            }
        }
        plan
    }

    fn report(&self, registry: &Registry, plan: Plan<'_>) -> Report {
        let mut changes = plan.removals;
        let writes = plan.writes.into_iter();
        changes.extend(writes.map(|write| Change { path: write.path, kind: write.kind }));
        changes.sort_unstable();
        Report {
            registry: self.root.path().to_owned(),
            out: self.out.to_owned(),
            items: registry.items.len(),
            failed: plan.failed,
            changes,
            unchanged: plan.unchanged,
            kept: plan.kept,
            diagnostics: plan.diagnostics,
        }
    }
}

/// Does what was planned: removals first, so that a file may take the place of a directory.
fn apply(
    system: &dyn System,
    out: &Path,
    own: &dyn Dir,
    disk: &mut Disk<'_>,
    plan: &Plan<'_>,
    pending: Option<&Record>,
) -> io::Result<()> {
    for (_, path, _) in pending.into_iter().flat_map(Record::files) {
        disk.sweep(path);
    }
    if plan.writes.is_empty() && plan.removals.is_empty() {
        return finish(own, plan);
    }
    // Until the run is over both records count: the files of either are ours.
    let mut about = plan.after.clone();
    for (key, item) in pending.into_iter().flat_map(|pending| &pending.items) {
        about.items.entry(key.clone()).or_insert_with(|| item.clone());
    }
    about.write(own, record::PENDING)?;
    let outcome = carry_out(disk, plan);
    system.settle(out)?;
    // After a failure both records stay: the next run finds out what was done.
    outcome.and_then(|()| finish(own, plan))
}

fn carry_out(disk: &mut Disk<'_>, plan: &Plan<'_>) -> io::Result<()> {
    let named =
        |path: &str, error: io::Error| io::Error::new(error.kind(), format!("`{path}`: {error}"));
    for Change { path, .. } in &plan.removals {
        disk.remove(path).map_err(|error| named(path, error))?;
    }
    // By path, so that each directory is opened once.
    let mut writes: Vec<_> = plan.writes.iter().collect();
    writes.sort_by(|left, right| left.path.cmp(&right.path));
    for Write { path, bytes, permission, .. } in writes {
        let outcome = disk.put(path, bytes.as_slice(), *permission);
        outcome.map_err(|error| named(path, error))?;
    }
    Ok(())
}

/// Writes the record; what was pending is done.
fn finish(own: &dyn Dir, plan: &Plan<'_>) -> io::Result<()> {
    plan.after.write(own, record::RECORD)?;
    match own.remove_file(record::PENDING.as_ref()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn names(path: &Path) -> Vec<String> {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_)));
    names.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
}

fn slashed(path: &Path) -> String {
    names(path).join("/")
}

/// Returns the way from one directory to another, with `/`.
fn way(from: &Path, to: &Path) -> String {
    let (from, to) = (names(from), names(to));
    let shared = from.iter().zip(&to).take_while(|(left, right)| left == right).count();
    let up = std::iter::repeat_n("..", from.len() - shared);
    let way: Vec<&str> = up.chain(to[shared..].iter().map(String::as_str)).collect();
    if way.is_empty() { ".".to_owned() } else { way.join("/") }
}
