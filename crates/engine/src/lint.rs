//! Checks a project, every format at once, and repairs what has only one sensible repair.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::native::{is_backup, is_elsewhere, is_test_data};
use brief_dialects::{Dialects, ProjectFiles, Strangers, is_in_dependency, portable};
use brief_syntax::diagnostic::{self, Applicability, apply_fixes};
use brief_syntax::rules::RulePage;
use brief_syntax::source::{Encoding, Source};
use brief_syntax::system::ReadError;
use brief_syntax::walk::Ignored;
use brief_syntax::{
    Diagnostic, Root, Rule, Severity, Span, System, Target, TargetKind, limits, rules,
};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::catalog::{Catalog, CatalogScope};
use crate::causes::fold_causes;
use crate::project::Project;
use crate::suppression::{self, Suppressions};

/// Findings that are reported only on request.
const PEDANTIC: [Rule; 3] = [
    rules::item::NO_LICENSE,
    rules::item::COMMAND_EXTENSION,
    rules::item::FOREIGN_SKILL,
];

/// Removes what is said to be missing, and may be in a directory that was not read.
fn drop_unknowable(found: &mut Vec<Diagnostic>) {
    if found.iter().any(|one| one.rule == rules::project::NO_PROJECT) {
        // Links were looked up one by one; these were compared with the list of all files.
        let compared = [
            rules::client::UNUSED_PATTERN,
            rules::guidance::MISSING_TARGET,
            rules::guidance::MISSING_PATH,
        ];
        found.retain(|one| !compared.contains(&one.rule));
    }
    let closed = found.iter().filter(|one| one.rule == rules::project::UNREADABLE_DIRECTORY);
    let closed: Vec<String> = closed
        .filter_map(|one| Some(one.path().file_name()?.to_string_lossy().into_owned()))
        .collect();
    if closed.is_empty() {
        return;
    }
    found.retain(|one| {
        let is_of_all =
            [rules::client::UNUSED_PATTERN, rules::guidance::MISSING_TARGET].contains(&one.rule);
        let is_of_a_path =
            [rules::client::BROKEN_LINK, rules::guidance::MISSING_PATH].contains(&one.rule);
        let names_it = |name: &String| one.message.contains(name.as_str());
        !(is_of_all || is_of_a_path && closed.iter().any(names_it))
    });
}

/// Returns whether a finding is reported only on request. A name that its client reserves and takes anyway is one.
fn is_small(found: &Diagnostic) -> bool {
    PEDANTIC.contains(&found.rule)
        || found.rule == rules::client::RESERVED_NAME && found.severity != Severity::Error
}

/// A repair can make the next one possible; more rounds than this would be a circle.
const FIX_ROUNDS: usize = 8;

/// The findings of one run.
#[derive(Debug, Default)]
pub struct Findings {
    /// The problems, by file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of guidance files that were checked.
    pub files: usize,
    /// The number of problems that were repaired.
    pub fixed: usize,
    /// The number of problems that a comment takes back.
    pub ignored: usize,
    /// The number of guidance files of the project outside of the part that is reported on.
    pub elsewhere: usize,
    /// The number of problems that a baseline records.
    pub known: usize,
    /// The numbers of safe and of suggested fixes, before the problems were grouped.
    pub fixable: Option<(usize, usize)>,
}

impl Findings {
    /// Returns how many problems have this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|found| found.severity == severity).count()
    }

    /// Makes one problem of all that have one cause. What needs each place alone, such as a baseline, comes before.
    pub fn group_causes(&mut self) {
        self.fixable.get_or_insert_with(|| count_fixable(&self.diagnostics));
        self.diagnostics = fold_causes(std::mem::take(&mut self.diagnostics));
    }

    /// Returns the numbers of safe and of suggested fixes.
    pub fn count_fixable(&self) -> (usize, usize) {
        self.fixable.unwrap_or_else(|| count_fixable(&self.diagnostics))
    }
}

fn count_fixable(found: &[Diagnostic]) -> (usize, usize) {
    let fixes = || found.iter().filter_map(|one| one.fix.as_ref());
    let count = |sure: Applicability| fixes().filter(|fix| fix.applicability == sure).count();
    (count(Applicability::Safe), count(Applicability::Suggested))
}

/// The numbers; the problems themselves stand in the envelope.
impl Serialize for Findings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut report = serializer.serialize_struct("Findings", 6)?;
        report.serialize_field("files", &self.files)?;
        report.serialize_field("errors", &self.count(Severity::Error))?;
        report.serialize_field("warnings", &self.count(Severity::Warning))?;
        report.serialize_field("fixed", &self.fixed)?;
        report.serialize_field("ignored", &self.ignored)?;
        report.serialize_field("known", &self.known)?;
        report.end()
    }
}

/// The checks of `brief.toml`, by the crates that read it.
pub trait ConfigurationCheck {
    /// Returns the problems of the file.
    fn check(
        &self,
        system: &dyn System,
        root: &Root,
        configuration: &Arc<Source>,
    ) -> Vec<Diagnostic>;

    /// Returns the problems of files that only a crate above can check.
    fn check_files(&self, _root: &Root, _files: &[&Path]) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Returns what an installation from this directory would refuse. It is asked about a project that has items.
    fn check_source(&self, _system: &dyn System, _root: &Root) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Removes the problems of the project that its other sources settle.
    fn settle(&self, system: &dyn System, root: &Root, diagnostics: &mut Vec<Diagnostic>);
}

/// A path that cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UncheckedPath {
    /// It lies outside the root.
    Outside,
    /// Nothing is there.
    Missing,
}

/// A repaired file that could not be written.
#[derive(Debug)]
pub struct UnwrittenFix {
    /// The file.
    pub path: PathBuf,
    /// The system's error.
    pub error: io::Error,
}

/// A part of a project that is reported on.
#[derive(Debug)]
struct Part {
    /// The directory, with all below it.
    directory: Target,
    /// One file in it, by the name that was asked for: findings name it, also when it is a link.
    file: Option<OsString>,
}

impl Part {
    /// Finds the directory or file with a path, which must exist in the project.
    fn find(project: &Project<'_>, path: &Path) -> Result<Part, UncheckedPath> {
        let locate = |path: &Path| project.locate(path).ok_or(UncheckedPath::Outside);
        let directory = locate(path)?;
        if project.system().resolve(&project.directory().join(path)).is_err() {
            return Err(UncheckedPath::Missing);
        }
        if directory.kind() != TargetKind::File {
            return Ok(Part { directory, file: None });
        }
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let directory = locate(above.unwrap_or(Path::new(".")))?;
        Ok(Part { directory, file: path.file_name().map(OsString::from) })
    }

    /// Returns whether all of another part belongs to this one.
    fn holds_part(&self, other: &Part) -> bool {
        let (directory, inner) = (self.directory.slashed(), other.directory.slashed());
        match &self.file {
            Some(_) => self.file == other.file && directory == inner,
            None => Path::new(inner).starts_with(directory),
        }
    }

    /// Returns whether a path below `root` belongs to the part.
    fn holds(&self, root: &Root, path: &Path) -> bool {
        let directory = root.path().join(self.directory.slashed());
        match &self.file {
            Some(name) => path == directory.join(name),
            None => path.starts_with(directory),
        }
    }
}

/// Returns whether a reason why something cannot be installed is told already: by the same rule at the same place, or, for
/// hidden text, by a format's own rule.
fn is_told(refusal: &Diagnostic, found: &[Diagnostic]) -> bool {
    let same_file = found.iter().filter(|one| one.path() == refusal.path());
    let mut same_file = same_file.map(|one| (one.rule, one.span));
    same_file.any(|(rule, span)| {
        (rule, span) == (refusal.rule, refusal.span)
            || refusal.rule == rules::capability::HIDDEN_TEXT && HIDDEN_TEXT.contains(&rule)
    })
}

/// The formats' own rules about hidden text.
const HIDDEN_TEXT: [Rule; 3] =
    [rules::item::HIDDEN_CHARACTER, rules::client::HIDDEN_CHARACTER, rules::text::NOT_UTF8];

/// Returns whether the whole project was read without a part: version control ignores it, a dependency has brought it, a
/// directory above it cannot be listed, or the whole is no project. A user who names it wants to know about it nevertheless.
fn is_left_out(part: &Part, catalog: &Catalog) -> bool {
    let directory = part.directory.slashed();
    let is_listed = |files: &ProjectFiles| {
        files.directories.binary_search_by(|known| known.as_str().cmp(directory)).is_ok()
    };
    !directory.is_empty()
        && (is_in_dependency(directory)
            || catalog.is_no_project()
            || !catalog.files().is_some_and(is_listed))
}

/// A check of a project. It is always read from its root; a part only limits what is reported.
#[must_use]
pub struct Lint<'s> {
    system: &'s dyn System,
    root: Root,
    /// The parts that are reported on.
    parts: Vec<Part>,
    ignored: Ignored,
    is_pedantic: bool,
    configuration: Option<&'s dyn ConfigurationCheck>,
}

impl<'s> Project<'s> {
    /// Checks the project, and reports on a directory with all below it, or on one file.
    pub fn lint(&self, path: &Path) -> Result<Lint<'s>, UncheckedPath> {
        Ok(Lint {
            system: self.system(),
            root: self.root().clone(),
            parts: vec![Part::find(self, path)?],
            ignored: Ignored::Skip,
            is_pedantic: false,
            configuration: None,
        })
    }
}

impl<'s> Lint<'s> {
    /// Also reports on another directory or file of the project.
    pub fn with_part(mut self, project: &Project<'_>, path: &Path) -> Result<Self, UncheckedPath> {
        self.parts.push(Part::find(project, path)?);
        Ok(self)
    }

    /// Reads directories that version control ignores, too.
    pub fn with_ignored(self) -> Self {
        Lint { ignored: Ignored::Visit, ..self }
    }

    /// Reports small things, too.
    pub fn pedantic(self) -> Self {
        Lint { is_pedantic: true, ..self }
    }

    /// Checks `brief.toml` with `configuration`.
    pub fn configured_by(self, configuration: &'s dyn ConfigurationCheck) -> Self {
        Lint { configuration: Some(configuration), ..self }
    }

    /// Checks, and changes nothing.
    pub fn check(&self) -> Findings {
        self.check_and_keep().0
    }

    /// Checks, and also returns the whole project that was read for it.
    pub fn check_and_keep(&self) -> (Findings, Catalog) {
        let catalog = self.read(&Target::from_slashed("", TargetKind::Directory));
        let mut found = self.check_read(&catalog, catalog.check());
        let mut left_out: Vec<&Part> = Vec::new();
        for part in self.parts.iter().filter(|part| is_left_out(part, &catalog)) {
            if !left_out.iter().any(|kept| kept.holds_part(part)) {
                left_out.retain(|kept| !part.holds_part(kept));
                left_out.push(part);
            }
        }
        for part in left_out {
            let alone = self.read(&part.directory);
            let of_part = self.check_read(&alone, alone.check());
            // What was not read above explains why the part is alone.
            found.diagnostics.extend(of_part.diagnostics);
            diagnostic::sort(&mut found.diagnostics);
            found.diagnostics.dedup();
            found.files += of_part.files;
            found.ignored += of_part.ignored;
        }
        (found, catalog)
    }

    /// Checks a project of which all was read, with the result of [`Catalog::check`].
    pub fn check_read(&self, catalog: &Catalog, checked: Vec<Diagnostic>) -> Findings {
        let mut found = self.look(catalog, checked);
        self.check_configurations(catalog, &mut found);
        if let Some(configuration) = self.configuration {
            let held: Vec<&Path> =
                catalog.checked_files().into_iter().filter(|path| self.holds(path)).collect();
            found.extend(configuration.check_files(&self.root, &held));
            let below =
                |path: &Path| path.strip_prefix(self.root.path()).map(portable::is_offered_file);
            if catalog.checked_files().into_iter().any(|path| below(path) == Ok(true)) {
                let refused = configuration.check_source(self.system, &self.root);
                let new = refused.into_iter().filter(|one| !is_told(one, &found));
                let new: Vec<Diagnostic> = new.collect();
                found.extend(new);
            }
        }
        diagnostic::sort(&mut found);
        found.dedup();
        if !self.is_pedantic {
            found.retain(|diagnostic| !is_small(diagnostic));
        }
        drop_unknowable(&mut found);
        found.retain(|diagnostic| self.is_reported(diagnostic) && !self.is_of_a_test(diagnostic));
        let mut files = catalog.checked_files();
        files.extend(found.iter().map(Diagnostic::path).filter(|path| {
            path.file_name().is_some_and(|name| name == portable::config::FILE_NAME)
        }));
        files.sort_unstable();
        files.dedup();
        let all = files.len();
        files.retain(|path| self.holds(path));
        let (files, elsewhere) = (files.len(), all - files.len());
        let mut found = Findings { diagnostics: found, files, elsewhere, ..Findings::default() };
        self.take_back(&mut found, catalog);
        found
    }

    /// Returns whether a path belongs to a part that is reported on.
    pub fn holds(&self, path: &Path) -> bool {
        self.parts.iter().any(|part| part.holds(&self.root, path))
    }

    /// Returns whether a problem is one of the input of a test, which may be there on purpose. What is hidden from a reader
    /// is told anywhere.
    fn is_of_a_test(&self, diagnostic: &Diagnostic) -> bool {
        const AREAS: [&str; 6] =
            ["client/", "frontmatter", "guidance/", "item/", "text/", "yaml/"];
        let code = diagnostic.code();
        AREAS.iter().any(|area| code.starts_with(area))
            && !code.contains("hidden-character")
            && diagnostic
                .path()
                .strip_prefix(self.root.path())
                .is_ok_and(|below| is_test_data(below) || is_backup(below))
    }

    /// Returns whether a problem is one of the part, or the reason why the part is not read as a whole.
    fn is_reported(&self, diagnostic: &Diagnostic) -> bool {
        let is_cut_off = |part: &Part| {
            let directory = self.root.path().join(part.directory.slashed());
            diagnostic.rule == rules::project::TOO_MANY_ENTRIES
                || [rules::project::UNREADABLE_DIRECTORY, rules::project::TOO_DEEP]
                    .contains(&diagnostic.rule)
                    && directory.starts_with(diagnostic.path())
        };
        self.holds(diagnostic.path()) || self.parts.iter().any(is_cut_off)
    }

    /// Removes what comments take back, and reports the comments that take nothing back.
    fn take_back(&self, found: &mut Findings, catalog: &Catalog) {
        let mut suppressions = Suppressions::default();
        catalog.each_source(&mut |source| {
            if source.text().contains(suppression::WORD) && self.holds(source.path()) {
                suppressions.read(source);
            }
        });
        found.ignored = suppressions.take_back(&mut found.diagnostics);
        // Other commands report other rules.
        let is_checked = |code: &str| {
            let is_of_lint =
                |page: RulePage| page.field("run").is_none_or(|run| run.starts_with("brief lint"));
            let is_small = PEDANTIC.iter().any(|rule| rule.code() == code);
            (self.is_pedantic || !is_small) && RulePage::find(code).is_some_and(is_of_lint)
        };
        found.diagnostics.extend(suppressions.unused(is_checked));
        diagnostic::sort(&mut found.diagnostics);
    }

    /// Checks, applies the fixes that are at least as sure as `least`, and checks again until there is none left.
    pub fn fix(&self, least: Applicability) -> Result<Findings, UnwrittenFix> {
        let mut found = self.check();
        let mut fixed = 0;
        for _ in 0..FIX_ROUNDS {
            let applied = self.apply(&found.diagnostics, least)?;
            if applied == 0 {
                break;
            }
            fixed += applied;
            found = self.check();
        }
        Ok(Findings { fixed, ..found })
    }

    /// Reads a directory with all below it.
    fn read(&self, start: &Target) -> Catalog {
        let (dialects, strangers) = (Dialects::All, Strangers::LeftOut);
        let scope = CatalogScope { start, ignored: self.ignored, dialects, strangers };
        Catalog::whole(self.system, &self.root, scope)
    }

    /// Adds what texts, links and clients' files have wrong to the problems of the dialects.
    fn look(&self, catalog: &Catalog, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        diagnostics.extend(catalog.broken_links(self.system, &self.root));
        diagnostics.extend(catalog.check_texts(self.system, &self.root));
        let mut problems = catalog.client_problems(self.system, &self.root);
        // One place, one finding: what is said of the form of a file is not said of its client again.
        problems.retain(|problem| {
            let is_same = |told: &Diagnostic| {
                told.span == problem.span
                    && told.path() == problem.path()
                    && told.code().starts_with("client/")
            };
            !diagnostics.iter().any(is_same)
        });
        diagnostics.extend(problems);
        diagnostics
    }

    /// Adds the problems of each `brief.toml`, and removes those that its sources settle. A part of a repository may be a
    /// project of its own, with the configuration that is nearest to it.
    fn check_configurations(&self, catalog: &Catalog, found: &mut Vec<Diagnostic>) {
        let Some(configuration) = self.configuration else { return };
        let name = portable::config::FILE_NAME;
        let paths = catalog.files().into_iter().flat_map(|files| &files.files);
        let nested = paths.filter_map(|path| path.strip_suffix(name)?.strip_suffix('/'));
        let is_read = |directory: &&str| {
            !is_elsewhere(&Path::new(directory).join(name))
                && !is_in_dependency(&format!("{directory}/{name}"))
        };
        // The root's counts also where version control ignores it.
        for directory in std::iter::once("").chain(nested.filter(is_read)) {
            let directory = self.root.path().join(directory);
            let Ok(project) = Root::open(self.system, &directory) else { continue };
            found.extend(self.check_configuration(configuration, &project));
            let (mut own, others): (Vec<_>, Vec<_>) = std::mem::take(found)
                .into_iter()
                .partition(|diagnostic| diagnostic.path().starts_with(&directory));
            configuration.settle(self.system, &project, &mut own);
            own.extend(others);
            *found = own;
        }
    }

    /// Returns the problems of the `brief.toml` in a directory, if there is one.
    fn check_configuration(
        &self,
        configuration: &dyn ConfigurationCheck,
        project: &Root,
    ) -> Vec<Diagnostic> {
        let path = project.path().join(portable::config::FILE_NAME);
        let bytes = match self.system.read(&path, limits::FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => return Vec::new(),
            Err(error) => {
                let source = Arc::new(Source::unread(path));
                let message = format!("the file cannot be read: {error}");
                let rule = rules::project::UNREADABLE_CONFIGURATION;
                return vec![Diagnostic::new(rule, &source, Span::default(), message)];
            }
        };
        configuration.check(self.system, project, &Arc::new(Source::from_bytes(path, bytes)))
    }

    /// Applies fixes, file by file, and returns how many there were.
    fn apply(
        &self,
        diagnostics: &[Diagnostic],
        least: Applicability,
    ) -> Result<usize, UnwrittenFix> {
        let mut by_file: BTreeMap<&Path, (&Arc<Source>, Vec<&Diagnostic>)> = BTreeMap::new();
        for diagnostic in diagnostics {
            let is_sure = diagnostic.fix.as_ref().is_some_and(|fix| fix.applicability <= least);
            // What was not UTF-8 would not survive being written back.
            if is_sure && diagnostic.source.encoding() == Encoding::Utf8 {
                let entry = by_file.entry(diagnostic.path());
                entry.or_insert((&diagnostic.source, Vec::new())).1.push(diagnostic);
            }
        }
        let mut applied = 0;
        for (path, (source, diagnostics)) in by_file {
            let fixed = apply_fixes(source.text(), diagnostics, least);
            if fixed.applied == 0 {
                continue;
            }
            // A link was followed because it stays inside the root; the file behind it is what changes.
            let resolved = self.system.resolve(path).map(|resolved| resolved.path);
            let target = resolved.unwrap_or_else(|_| path.to_owned());
            if !target.starts_with(self.root.path()) {
                continue;
            }
            self.system
                .replace_file(&target, fixed.text.as_bytes())
                .map_err(|error| UnwrittenFix { path: path.to_owned(), error })?;
            applied += fixed.applied;
        }
        Ok(applied)
    }
}
