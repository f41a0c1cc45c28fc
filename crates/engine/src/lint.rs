//! Checks a project, every format at once, and repairs what has only one sensible repair.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::{Dialects, Strangers, portable};
use brief_syntax::diagnostic::{self, Applicability, apply_safe_fixes};
use brief_syntax::rules::RulePage;
use brief_syntax::source::{Encoding, Source};
use brief_syntax::system::ReadError;
use brief_syntax::walk::Ignored;
use brief_syntax::{
    Diagnostic, Root, Rule, Severity, Span, System, Target, TargetKind, limits, rules,
};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::catalog::{self, Catalog, CatalogScope};
use crate::project::Project;
use crate::suppression::{self, Suppressions};

/// Findings that are reported only on request.
const PEDANTIC: [Rule; 2] = [rules::portable::NO_LICENSE, rules::portable::COMMAND_EXTENSION];

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
    /// The number of problems that a baseline records.
    pub known: usize,
}

impl Findings {
    /// Returns how many problems have this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|found| found.severity == severity).count()
    }
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

/// A check of a project or a part of it.
#[must_use]
pub struct Lint<'s> {
    system: &'s dyn System,
    root: Root,
    /// The directory to check, with all below it.
    directory: Target,
    /// One file in it, by the name that was asked for: findings name it, also when it is a link.
    file: Option<OsString>,
    ignored: Ignored,
    is_pedantic: bool,
    configuration: Option<&'s dyn ConfigurationCheck>,
}

impl<'s> Project<'s> {
    /// Checks a directory with all below it, or one file.
    pub fn lint(&self, path: &Path) -> Result<Lint<'s>, UncheckedPath> {
        let (system, root) = (self.system(), self.root().clone());
        let locate = |path: &Path| self.locate(path).ok_or(UncheckedPath::Outside);
        let mut directory = locate(path)?;
        if system.resolve(&self.directory().join(path)).is_err() {
            return Err(UncheckedPath::Missing);
        }
        let mut file = None;
        if directory.kind() == TargetKind::File {
            let above = path.parent().filter(|above| !above.as_os_str().is_empty());
            directory = locate(above.unwrap_or(Path::new(".")))?;
            file = path.file_name().map(OsString::from);
        }
        Ok(Lint {
            system,
            root,
            directory,
            file,
            ignored: Ignored::Skip,
            is_pedantic: false,
            configuration: None,
        })
    }
}

impl<'s> Lint<'s> {
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

    /// Checks, and also returns what was read for it: the directory with all below it, without portable items if it is a part
    /// of the project.
    pub fn check_and_keep(&self) -> (Findings, Catalog) {
        let Lint { system, directory, .. } = self;
        // A context directory is checked from the directory that it belongs to, and so are tasks.
        let owner = catalog::owner_of(*system, directory);
        let start = owner.as_ref().unwrap_or(directory);
        let is_part = !start.slashed().is_empty();
        let items = if is_part { self.check_items() } else { Findings::default() };
        let dialects = if is_part { Dialects::Except(vec![portable::NAME]) } else { Dialects::All };
        let (mut found, catalog) = self.read(start, dialects);
        found.files += items.files;
        found.diagnostics.extend(items.diagnostics);
        let found = self.judge(found, &catalog, owner.as_ref(), items.files > 0);
        (found, catalog)
    }

    /// Checks a project of which all was read, with the result of [`Catalog::check`].
    pub fn check_read(&self, catalog: &Catalog, checked: Vec<Diagnostic>) -> Findings {
        self.judge(self.look(catalog, checked), catalog, None, false)
    }

    /// Adds the configuration, and takes out what does not count. `owner` is the directory that the checked one belongs to.
    fn judge(
        &self,
        mut found: Findings,
        catalog: &Catalog,
        owner: Option<&Target>,
        has_items: bool,
    ) -> Findings {
        let Lint { system, root, directory, .. } = self;
        let is_part = !owner.unwrap_or(directory).slashed().is_empty();
        let file = self.file.as_deref();
        let is_configuration = file.is_some_and(|name| name == portable::config::FILE_NAME);
        if !is_part && (file.is_none() || is_configuration) {
            let problems = self.check_configuration();
            found.files += usize::from(!problems.is_empty());
            found.diagnostics.extend(problems);
        }
        diagnostic::sort(&mut found.diagnostics);
        found.diagnostics.dedup();
        if let Some(configuration) = self.configuration {
            configuration.settle(*system, root, &mut found.diagnostics);
        }
        if !self.is_pedantic {
            found.diagnostics.retain(|diagnostic| !PEDANTIC.contains(&diagnostic.rule));
        }
        let path = root.path().join(directory.slashed());
        if let Some(name) = file {
            let path = path.join(name);
            found.diagnostics.retain(|diagnostic| diagnostic.path() == path);
            let is_known = owner.is_some()
                || is_configuration
                || catalog::knows(directory, name)
                || has_items && portable::is_file_name(name);
            found.files = usize::from(is_known);
        } else if owner.is_some() {
            found.diagnostics.retain(|diagnostic| diagnostic.path().starts_with(&path));
        }
        self.take_back(&mut found, catalog, &path);
        found
    }

    /// Removes what comments take back, and reports the comments that take nothing back. `path` is the file or directory that
    /// is checked.
    fn take_back(&self, found: &mut Findings, catalog: &Catalog, path: &Path) {
        let mut suppressions = Suppressions::default();
        catalog.each_source(&mut |source| {
            if source.path().starts_with(path) && source.text().contains(suppression::WORD) {
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

    /// Checks, repairs, and checks again until there is nothing left to repair.
    pub fn fix(&self) -> Result<Findings, UnwrittenFix> {
        let mut found = self.check();
        let mut fixed = 0;
        for _ in 0..FIX_ROUNDS {
            let repaired = self.repair(&found.diagnostics)?;
            if repaired == 0 {
                break;
            }
            fixed += repaired;
            found = self.check();
        }
        Ok(Findings { fixed, ..found })
    }

    fn read(&self, start: &Target, dialects: Dialects) -> (Findings, Catalog) {
        let strangers = Strangers::LeftOut;
        let scope = CatalogScope { start, ignored: self.ignored, dialects, strangers };
        let catalog = Catalog::whole(self.system, &self.root, scope);
        (self.look(&catalog, catalog.check()), catalog)
    }

    /// Adds what texts, links and clients' files have wrong to the problems of the dialects.
    fn look(&self, catalog: &Catalog, mut diagnostics: Vec<Diagnostic>) -> Findings {
        diagnostics.extend(catalog.broken_links(self.system, &self.root));
        diagnostics.extend(catalog.check_texts(self.system, &self.root));
        let mut problems = catalog.client_problems(self.system);
        // One place, one finding: what is said of the form of a file is not said of its client again.
        problems.retain(|problem| {
            let is_same = |told: &Diagnostic| {
                told.span == problem.span
                    && told.path() == problem.path()
                    && told.code().starts_with("native/")
            };
            !diagnostics.iter().any(is_same)
        });
        diagnostics.extend(problems);
        Findings { diagnostics, files: catalog.file_count(), ..Findings::default() }
    }

    /// Checks the portable items in a part of a project. They refer to each other, so the registry is
    /// read from its top, if there is anything of it in that part.
    fn check_items(&self) -> Findings {
        let dialects = || Dialects::Only(vec![portable::NAME]);
        // What cannot be walked is reported with the other dialects.
        let of_items = |found: &Diagnostic| !found.code().starts_with("project/");
        let (here, catalog) = self.read(&self.directory, dialects());
        if here.files == 0 && !catalog.diagnostics().iter().any(of_items) {
            return Findings::default();
        }
        let below = self.root.path().join(self.directory.slashed());
        let top = Target::from_slashed("", TargetKind::Directory);
        let mut all = self.read(&top, dialects()).0;
        all.diagnostics.retain(|found| of_items(found) && found.path().starts_with(&below));
        Findings { files: here.files, ..all }
    }

    /// Returns the problems of the project's `brief.toml`, if there is one.
    fn check_configuration(&self) -> Vec<Diagnostic> {
        let Some(configuration) = self.configuration else { return Vec::new() };
        let path = self.root.path().join(portable::config::FILE_NAME);
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
        let mut found = configuration.check(
            self.system,
            &self.root,
            &Arc::new(Source::from_bytes(path, bytes)),
        );
        diagnostic::sort(&mut found);
        found.dedup();
        found
    }

    /// Applies the safe fixes, file by file, and returns how many there were.
    fn repair(&self, diagnostics: &[Diagnostic]) -> Result<usize, UnwrittenFix> {
        let mut by_file: BTreeMap<&Path, (&Arc<Source>, Vec<&Diagnostic>)> = BTreeMap::new();
        for diagnostic in diagnostics {
            let is_safe =
                diagnostic.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Safe);
            // What was not UTF-8 would not survive being written back.
            if is_safe && diagnostic.source.encoding() == Encoding::Utf8 {
                let entry = by_file.entry(diagnostic.path());
                entry.or_insert((&diagnostic.source, Vec::new())).1.push(diagnostic);
            }
        }
        let mut applied = 0;
        for (path, (source, diagnostics)) in by_file {
            let fixed = apply_safe_fixes(source.text(), diagnostics);
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
