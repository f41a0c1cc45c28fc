//! The guidance of a project, as far as it was read.
//!
//! One walk serves all dialects: along one path for a question about it, over everything for a
//! list or a check. The cost of one question depends on the depth of its path alone.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::dependencies::DependencyChoice;
use brief_dialects::installed::Installed;
use brief_dialects::{
    Candidate, CheckedClientFile, DIALECTS, Dialect, DialectGuidance, Dialects, GuidanceText,
    ItemReach, LockRole, MatchRecord, Moment, Mounted, PackageQuestion, ProjectFiles, Reader,
    Reason, Resolution, RuleCheck, Strangers, is_in_dependency, lock_role, rule_check,
};
use brief_syntax::walk::{self, Gap, GapReason, Ignored, Visit};
use brief_syntax::{
    Diagnostic, Root, Source, Span, Target, WideDirectory, diagnostic, limits, rules,
};
use brief_system::{Dir, FileKind, System, home_directory};

use crate::installed::Variants;
use crate::{installed, order, repetition, strangers};

/// The guidance that was read of a project.
pub struct Catalog {
    guidance: Vec<RankedGuidance>,
    gaps: Vec<Diagnostic>,
    files: Option<ProjectFiles>,
    /// The dialects that were asked for, when some were read only for what is installed among their
    /// files.
    only: Option<Vec<&'static str>>,
    /// The checks of `brief.toml`, for rules whose own files have no place for one.
    configured: Vec<Arc<RuleCheck>>,
}

/// The part of a project to read when no single path is asked about.
#[derive(Debug, Clone)]
pub struct CatalogScope<'t> {
    /// The directory to start at.
    pub start: &'t Target,
    /// The treatment of directories that version control ignores.
    pub ignored: Ignored,
    /// The dialects to read.
    pub dialects: Dialects,
    /// The treatment of what lies in the code of dependencies below `start`.
    pub strangers: Strangers,
}

impl CatalogScope<'_> {
    /// Returns whether guidance in a directory counts, whose path below the root has `/` between names. That of
    /// `vendor` itself does, because the project has written it.
    fn reads_directory(&self, slashed: &str) -> bool {
        let depth = self.start.directories().len();
        let below = slashed.splitn(depth + 1, '/').nth(depth).unwrap_or_default();
        self.strangers == Strangers::Counted || !is_in_dependency(below)
    }
}

/// Returns the dialects to read, each with its place in the order.
fn chosen_dialects(dialects: &Dialects) -> impl Iterator<Item = (usize, &'static dyn Dialect)> {
    DIALECTS.iter().copied().enumerate().filter(move |(_, dialect)| match dialects {
        Dialects::All => true,
        Dialects::Only(names) => {
            let is_any =
                |roles: &[LockRole]| names.iter().any(|name| roles.contains(&lock_role(name)));
            names.contains(&dialect.name())
                || match dialect.lock_role() {
                    LockRole::Holds => is_any(&[LockRole::Names]),
                    // Its locks tell which of the files are not the dialect's own.
                    LockRole::Names => is_any(&[LockRole::Holds, LockRole::Packages]),
                    LockRole::Packages | LockRole::None => false,
                }
        }
        Dialects::Except(names) => !names.contains(&dialect.name()),
    })
}

/// Returns the names to keep, when more is read.
fn names_to_keep(dialects: &Dialects) -> Option<Vec<&'static str>> {
    let Dialects::Only(names) = dialects else { return None };
    let is_wider = |name: &&str| lock_role(name) != LockRole::None;
    names.iter().any(is_wider).then(|| names.clone())
}

impl Catalog {
    /// Reads what the dialects need to answer a question about one path.
    pub fn read_for_moment(system: &dyn System, moment: &Moment) -> Catalog {
        let Moment { root, dialects, .. } = moment;
        let mut of_root = create_readers(dialects, Dialect::create_reader);
        let mut of_mounted = create_readers(dialects, |dialect| dialect.mounted_reader(moment));
        let is_deep = !of_mounted.is_empty()
            && moment
                .mounted_target()
                .is_some_and(|target| target.directories().len() >= limits::MOUNTED_LEVELS);
        // One walk serves all dialects where everything counts from one directory, which is opened once.
        let mut gaps = Vec::new();
        let (mounted, target) = match &moment.mounted {
            None => {
                of_mounted.append(&mut of_root);
                (root, moment.located_target())
            }
            Some(Mounted { root: mounted, target, .. }) => {
                if !of_root.is_empty() {
                    let top = system.open_dir(root.path());
                    gaps = walk_along(system, root, &top, moment.located_target(), &mut of_root);
                }
                (mounted, target.as_ref())
            }
        };
        let top = system.open_dir(mounted.path());
        let more = walk_along(system, mounted, &top, target, &mut of_mounted);
        if gaps.is_empty() {
            gaps = more;
        }
        // Dialects that resolve the path themselves look at links in it.
        let top = top.ok().filter(|_| moment.mounted_path() == mounted.path());
        if is_deep && gaps.is_empty() {
            let reason = GapReason::TooDeep { limit: limits::MOUNTED_LEVELS };
            gaps.push(Gap { path: moment.mounted_path().to_owned(), reason });
        }
        let mut guidance = finish_readers(of_root);
        guidance.append(&mut finish_readers(of_mounted));
        guidance.extend(chosen_dialects(dialects).filter_map(|(rank, dialect)| {
            Some((rank, dialect.read_guidance(system, moment, top.as_deref())?))
        }));
        guidance.extend(read_packages(system, root, moment, &guidance));
        // In the order of the dialects, however each of them reads.
        guidance.sort_by_key(|(rank, _)| *rank);
        let mut catalog = Catalog::new(guidance, &gaps, None, dialects);
        if let Some(top) = &top {
            catalog.read_configured_checks(mounted, top.as_ref());
        }
        if *dialects == Dialects::All {
            catalog.gaps.extend(home_gap(system));
        }
        catalog
    }

    /// Reads the whole project, or the part of it that `scope` names.
    pub fn read_project(system: &dyn System, root: &Root, scope: CatalogScope<'_>) -> Catalog {
        let mut readers = create_readers(&scope.dialects, Dialect::whole_reader);
        let mut files = ProjectFiles::default();
        let gaps = walk::walk_whole(system, root, scope.start, scope.ignored, &mut |visit| {
            let is_read = scope.reads_directory(visit.slashed());
            for (_, reader) in &mut readers {
                if is_read {
                    reader.visit_directory(visit);
                } else {
                    reader.visit_dependency(visit);
                }
            }
            add_project_files(&mut files, visit);
        });
        files.files.sort_unstable();
        files.directories.sort_unstable();
        let mut guidance = finish_readers(readers);
        let moment = Moment { dialects: scope.dialects, ..Moment::default() };
        guidance.extend(read_packages(system, root, &moment, &guidance));
        let is_configured = files.files.iter().any(|name| name == rule_check::CONFIGURATION);
        let mut catalog = Catalog::new(guidance, &gaps, Some(files), &moment.dialects);
        if is_configured && let Ok(top) = system.open_dir(root.path()) {
            catalog.read_configured_checks(root, top.as_ref());
        }
        catalog
    }

    /// Reads the checks in the `brief.toml` of a directory, which is held open.
    fn read_configured_checks(&mut self, root: &Root, top: &dyn Dir) {
        let name = OsStr::new(rule_check::CONFIGURATION);
        let Ok(bytes) = top.read(name, limits::FILE_BYTES) else { return };
        let source = Arc::new(Source::from_bytes(root.path().join(name), bytes));
        self.configured = rule_check::parse_configured_checks(&source, &mut self.gaps);
    }

    /// Adds the packages that the user asks for to a catalog that was read with [`Catalog::whole`].
    pub(crate) fn add_packages(&mut self, system: &dyn System, moment: &Moment) {
        // The packages that locks record are read again with the others.
        self.guidance.retain(|(rank, _)| DIALECTS[*rank].lock_role() != LockRole::Packages);
        self.guidance.extend(read_packages(system, &moment.root, moment, &self.guidance));
    }

    fn new(
        guidance: Vec<RankedGuidance>,
        gaps: &[Gap],
        files: Option<ProjectFiles>,
        dialects: &Dialects,
    ) -> Catalog {
        let gaps = gaps.iter().map(gap_diagnostic).collect();
        let only = names_to_keep(dialects);
        Catalog { guidance, gaps, files, only, configured: Vec::new() }
    }

    /// Returns the guidance of all dialects that were read.
    fn all_guidance(&self) -> impl Iterator<Item = &dyn DialectGuidance> {
        self.guidance.iter().map(|(_, guidance)| guidance.as_ref())
    }

    /// Answers a question from what was read: general first, the same text once, and nothing that
    /// the client loads by itself.
    pub fn resolve_moment<'c>(&'c self, moment: &'c Moment) -> Resolution<'c> {
        let mut answer = self.collect_candidates(moment);
        if !moment.keep_repetitions {
            repetition::remove_repetitions(&mut answer, moment.client.as_deref());
        }
        answer
    }

    /// Returns whether a client may load something by itself for some files only.
    pub(crate) fn loads_by_file(&self, client: &str) -> bool {
        self.all_guidance().any(|guidance| guidance.loads_by_file(client))
    }

    /// Returns the candidates that [`Catalog::resolve_moment`] chooses from, repetitions included.
    pub fn collect_candidates(&self, moment: &Moment) -> Resolution<'_> {
        let installed = self.installed_items();
        let mut answer = order::merge_answers(self.all_guidance().map(|guidance| {
            // Where a copy of an installed item is left out, the other copies follow it.
            let skip_left_out = moment.skip_left_out && installed.is_empty();
            let mut answer = Resolution { skip_left_out, ..Resolution::default() };
            guidance.resolve_items(moment, &mut answer);
            answer
        }));
        if !installed.is_empty() {
            installed::rename_installed(installed, &mut answer, moment);
        }
        if let Some(directory) = moment.dependency_directory() {
            strangers::leave_out(&mut answer, &directory);
        }
        if moment.skip_left_out {
            let is_loaded = |reason: &Reason<'_>| matches!(reason, Reason::LoadedByClient { .. });
            answer.left_out.retain(|left_out| is_loaded(&left_out.reason));
        }
        if let Some(only) = &self.only {
            answer.items.retain(|applied| only.contains(&applied.item.dialect));
            answer.left_out.retain(|left_out| only.contains(&left_out.dialect));
        }
        answer
    }

    /// Notes what tells a file from the others in its directory, for a catalog of a whole project.
    pub(crate) fn record_matches(&self, file: &Target, record: &mut MatchRecord) {
        self.all_guidance().for_each(|guidance| guidance.record_matches(file, record));
    }

    /// Returns whether the directory that was read is no project, so that nothing below it was read.
    pub fn is_no_project(&self) -> bool {
        self.gaps.iter().any(|gap| gap.rule == rules::project::NO_PROJECT)
    }

    fn installed_items(&self) -> Vec<&Installed> {
        let installed = self.all_guidance().filter_map(DialectGuidance::installed_items);
        installed.filter(|installed| !installed.is_empty()).collect()
    }

    /// Returns every path of the project, for a catalog that was read with [`Catalog::read_project`].
    pub fn files(&self) -> Option<&ProjectFiles> {
        self.files.as_ref()
    }

    /// Tells of each item which files of the project it is for, for a catalog that was read with
    /// [`Catalog::read_project`]. Repetitions are told, too.
    pub fn collect_reach<'c>(&'c self, moment: &Moment, tell: &mut dyn FnMut(ItemReach<'c>)) {
        let Some(files) = &self.files else { return };
        let variants = self.choose_variants(moment);
        for guidance in self.all_guidance() {
            guidance.collect_reach(moment, files, &mut |mut reached| {
                let is_loaded = matches!(reached.candidate, Candidate::Loaded(_));
                let (dialect, kind, name, path) = reached.candidate.identity_mut();
                if let Some((label, other)) = variants.find_label(dialect, path) {
                    if other.is_some() && !is_loaded {
                        return;
                    }
                    (*dialect, *kind, *name) = label;
                }
                if self.is_requested(dialect) {
                    tell(reached);
                }
            });
        }
    }

    /// Returns which copy of each installed item counts, over the whole project.
    fn choose_variants(&self, moment: &Moment) -> Variants<'_> {
        let installed = self.installed_items();
        let mut listed = Resolution::default();
        if !installed.is_empty() {
            let everything = Moment { target: None, ..moment.clone() };
            self.all_guidance()
                .for_each(|guidance| guidance.resolve_items(&everything, &mut listed));
        }
        Variants::choose_copies(installed, &listed, moment.client.as_deref())
    }

    /// Returns the guidance of the dialects that were asked for: others were read only for what is
    /// installed among their files.
    fn requested_guidance(&self) -> impl Iterator<Item = &dyn DialectGuidance> {
        let asked =
            self.guidance.iter().filter(|(rank, _)| self.is_requested(DIALECTS[*rank].name()));
        asked.map(|(_, guidance)| guidance.as_ref())
    }

    /// Returns whether a dialect that was read was asked for.
    fn is_requested(&self, dialect: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&dialect))
    }

    /// Passes each text of the dialects that were asked for to `tell`.
    pub fn each_text<'c>(&'c self, tell: &mut dyn FnMut(GuidanceText<'c>)) {
        self.requested_guidance().for_each(|guidance| guidance.visit_texts(tell));
    }

    /// Returns the checks of the rules in the files that were read, general first. An editor's or a hook's catalog has those
    /// along one path, that of a whole project all.
    pub fn rule_checks(&self) -> Vec<Arc<RuleCheck>> {
        let mut checks: Vec<Arc<RuleCheck>> = Vec::new();
        let mut known = HashSet::new();
        for guidance in self.requested_guidance() {
            guidance.visit_checks(&mut |check| {
                // An installed rule has a copy for each client.
                if known.insert((Arc::clone(&check.scope.base), check.content())) {
                    checks.push(Arc::clone(check));
                }
            });
        }
        checks.extend(self.configured.iter().cloned());
        checks
    }

    /// Returns what is wrong with the files that were read, by file and place.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let in_guidance = self.requested_guidance().flat_map(DialectGuidance::diagnostics);
        let mut diagnostics: Vec<_> = self.gaps.iter().chain(in_guidance).cloned().collect();
        diagnostic::sort_diagnostics(&mut diagnostics);
        // Two dialects that read one file find the same mistakes in its front matter.
        let is_of_text = |code: &str| {
            ["frontmatter-", "yaml/", "text/"].iter().any(|area| code.starts_with(area))
        };
        diagnostics.dedup_by(|next, first| {
            is_of_text(next.code())
                && (next.path(), next.span, next.rule) == (first.path(), first.span, first.rule)
                && next.message == first.message
        });
        diagnostics
    }

    /// Returns [`Catalog::diagnostics`] and what shows only against the whole project, for a
    /// catalog that was read with [`Catalog::read_project`].
    pub fn check_project(&self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics();
        if let Some(files) = &self.files {
            diagnostics.extend(
                self.requested_guidance().flat_map(|guidance| guidance.check_against(files)),
            );
            diagnostic::sort_diagnostics(&mut diagnostics);
        }
        diagnostics
    }

    /// Passes each file that configures a client to `tell`, with the checks for it.
    pub fn each_client_file<'c>(&'c self, tell: &mut dyn FnMut(CheckedClientFile<'c>)) {
        self.requested_guidance().for_each(|guidance| guidance.client_files(tell));
    }

    /// Passes each file with texts of the project to `tell`, once for each dialect that reads it.
    pub fn each_source(&self, tell: &mut dyn FnMut(&Arc<Source>)) {
        for guidance in self.requested_guidance() {
            let mut last: Option<Arc<Source>> = None;
            guidance.visit_texts(&mut |text| {
                if last.as_ref().is_none_or(|last| !Arc::ptr_eq(last, text.source)) {
                    tell(text.source);
                    last = Some(Arc::clone(text.source));
                }
            });
        }
    }

    /// Passes each file that was read for the dialects that were asked for to `tell`, as far as it is known.
    pub fn each_known_source<'c>(&'c self, tell: &mut dyn FnMut(&'c Arc<Source>)) {
        self.each_text(&mut |text| tell(text.source));
    }

    /// Returns the entry files of skills, by their paths.
    pub fn skill_sources(&self) -> HashMap<&Path, &Arc<Source>> {
        let mut found = HashMap::new();
        self.each_text(&mut |text| {
            if text.is_skill {
                found.insert(text.source.path(), text.source);
            }
        });
        found
    }

    /// Returns whether no file of any dialect was found.
    pub fn is_empty(&self) -> bool {
        self.file_count() == 0
    }

    /// Returns how many files of any dialect were found, readable or not.
    pub fn file_count(&self) -> usize {
        match self.files {
            Some(_) => self.checked_files().len(),
            None => self.requested_guidance().map(DialectGuidance::file_count).sum(),
        }
    }

    /// Returns the paths of the files of any dialect, readable or not, each once and sorted, for a catalog that was read
    /// with [`Catalog::read_project`].
    pub fn checked_files(&self) -> Vec<&Path> {
        let mut paths = Vec::new();
        self.requested_guidance()
            .for_each(|guidance| guidance.each_file(&mut |path| paths.push(path)));
        paths.sort_unstable();
        paths.dedup();
        paths
    }
}

/// Reads the packages that locks record, or that the user asks for. It costs nothing where there are none.
fn read_packages(
    system: &dyn System,
    root: &Root,
    moment: &Moment,
    read: &[RankedGuidance],
) -> Option<RankedGuidance> {
    let mut chosen = chosen_dialects(&moment.dialects);
    let (rank, dialect) = chosen.find(|(_, dialect)| dialect.lock_role() == LockRole::Packages)?;
    let installed = read.iter().filter_map(|(_, guidance)| guidance.installed_items());
    let mut recorded = installed.flat_map(Installed::dependencies).peekable();
    if moment.dependencies == DependencyChoice::Recorded && recorded.peek().is_none() {
        return None;
    }
    let target = moment.located_target().map(Target::directories).unwrap_or_default();
    let directory = root.path().join(target.iter().collect::<PathBuf>());
    let (root, choice) = (root.path(), &moment.dependencies);
    let asked = PackageQuestion { root, directory: &directory, recorded: &mut recorded, choice };
    Some((rank, dialect.read_packages(system, asked)?))
}

/// A reader with the place of its dialect.
type RankedReader = (usize, Box<dyn Reader>);

/// The guidance of a dialect, with the place of the dialect.
type RankedGuidance = (usize, Box<dyn DialectGuidance>);

fn create_readers(
    dialects: &Dialects,
    start: impl Fn(&'static dyn Dialect) -> Option<Box<dyn Reader>>,
) -> Vec<RankedReader> {
    chosen_dialects(dialects).filter_map(|(rank, dialect)| Some((rank, start(dialect)?))).collect()
}

fn finish_readers(readers: Vec<RankedReader>) -> Vec<RankedGuidance> {
    readers.into_iter().map(|(rank, reader)| (rank, reader.finish())).collect()
}

fn walk_along(
    system: &dyn System,
    root: &Root,
    top: &io::Result<Box<dyn Dir>>,
    target: Option<&Target>,
    readers: &mut [RankedReader],
) -> Vec<Gap> {
    let Some(target) = target.filter(|_| !readers.is_empty()) else { return Vec::new() };
    let top = match top {
        Ok(top) => top.as_ref(),
        Err(error) => return vec![walk::unreadable_gap(root.path(), error)],
    };
    walk::along_from(system, root, top, target, &mut |visit| {
        for (_, reader) in readers.iter_mut() {
            reader.visit_directory(visit);
        }
    })
}

fn add_project_files(files: &mut ProjectFiles, visit: &Visit<'_>) {
    for entry in visit.entries().unwrap_or_default() {
        let name = entry.name.to_string_lossy();
        let path = match visit.slashed() {
            "" => name.into_owned(),
            directory => format!("{directory}/{name}"),
        };
        match entry.kind {
            FileKind::Directory => files.directories.push(path),
            // A link is a name that a pattern can match, wherever it leads.
            FileKind::File | FileKind::Link => files.files.push(path),
            FileKind::Other => {}
        }
    }
}

/// Reports a home directory that is there and cannot be read: what the user has for all projects is
/// missing then.
fn home_gap(system: &dyn System) -> Option<Diagnostic> {
    let home = home_directory(system)?;
    let error = system.open_dir(&home).err().filter(|error| error.kind() != ErrorKind::NotFound)?;
    let source = Arc::new(Source::without_text(&home));
    let message = format!("cannot read the home directory: {error}");
    Some(Diagnostic::new(rules::project::UNREADABLE_HOME, &source, Span::empty_at(0), message))
}

pub(crate) fn gap_diagnostic(gap: &Gap) -> Diagnostic {
    let source = Arc::new(Source::without_text(&gap.path));
    let (rule, message) = match &gap.reason {
        GapReason::Unreadable(error) => {
            (rules::project::UNREADABLE_DIRECTORY, format!("cannot read the directory: {error}"))
        }
        GapReason::TooDeep { limit } => (
            rules::project::TOO_DEEP,
            format!("more than {limit} directories deep; brief did not read everything here"),
        ),
        GapReason::TooMany { limit } => (
            rules::project::TOO_MANY_ENTRIES,
            format!("the project has more than {limit} entries; brief did not read the rest"),
        ),
        GapReason::NoProject(wide) => {
            let (path, wide) = (gap.path.display(), wide.as_str());
            let message = format!("`{path}` is {wide}, {}", WideDirectory::UNREAD);
            return Diagnostic::new(
                rules::project::NO_PROJECT,
                &source,
                Span::empty_at(0),
                message,
            )
            .with_help(WideDirectory::HELP);
        }
    };
    Diagnostic::new(rule, &source, Span::empty_at(0), message)
}
