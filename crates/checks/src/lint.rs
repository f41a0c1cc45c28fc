//! Checks a project: everything that can be wrong with its guidance, and repairs what has only one sensible repair.

mod files;
mod findings;
mod parts;
mod place;
mod quiet;
mod unused;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::native::{is_backup, is_elsewhere, is_test_data, is_translation};
use brief_dialects::{Dialects, Moment, Strangers, is_in_dependency, portable};
use brief_engine::survey::Survey;
use brief_engine::{Catalog, CatalogScope, Project, estimate_tokens};
use brief_syntax::diagnostic::{self, Applicability, apply_fixes};
use brief_syntax::rules::RulePage;
use brief_syntax::source::{Encoding, Source};
use brief_syntax::walk::Ignored;
use brief_syntax::{Diagnostic, Root, Rule, Severity, Span, Target, TargetKind, limits, rules};
use brief_system::{ReadError, System};

use crate::client_files::check_client_files;
use crate::references::ProjectHistory;
use crate::reviews::check_reviews;
use crate::rules::{RuleSet, find_flaws};
use crate::suppression::{self, Suppressions};
use crate::texts::check_texts;

use place::{Part, is_left_out};
use quiet::{PEDANTIC, drop_echoes, drop_unknowable, is_small};
use unused::UnusedOptions;

pub use findings::Findings;
pub use parts::LintPart;
pub(crate) use parts::is_dead_pattern;

/// A repair can make the next one possible; more rounds than this would be a circle.
const FIX_ROUNDS: usize = 8;

/// The checks of `brief.toml`, by the crates that read it.
pub trait ConfigurationCheck {
    /// Returns the problems of the file.
    fn check_configuration_file(
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

    /// Returns what keeps guidance of the project from its clients on this machine; `None` if that cannot be told.
    fn check_setup(&self, _system: &dyn System, _root: &Root) -> Option<Vec<Diagnostic>> {
        None
    }

    /// Removes the problems of the project that its other sources settle.
    fn remove_resolved(&self, system: &dyn System, root: &Root, diagnostics: &mut Vec<Diagnostic>);
}

/// A path that cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UncheckedPath {
    /// It lies outside the root.
    Outside,
    Missing,
}

/// A repaired file that could not be written.
#[derive(Debug)]
pub struct UnwrittenFix {
    pub path: PathBuf,
    pub error: io::Error,
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

/// Returns whether a file that no client reads is told already, by the rule about its client, which has one finding for each
/// directory.
fn is_told_unread(setup: &Diagnostic, found: &[Diagnostic]) -> bool {
    let is_same = |one: &Diagnostic| {
        one.rule == rules::client::UNREAD_FILE && one.path().parent() == setup.path().parent()
    };
    setup.rule == rules::setup::UNREAD_FILE && found.iter().any(is_same)
}

/// The formats' own rules about hidden text.
const HIDDEN_TEXT: [Rule; 3] =
    [rules::item::HIDDEN_CHARACTER, rules::client::HIDDEN_CHARACTER, rules::text::NOT_UTF8];

/// Files that fixes left alone, each with the reason.
type UnfixedFiles = Vec<(PathBuf, &'static str)>;

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
    checked: Vec<LintPart>,
    unused: UnusedOptions,
    history: Option<&'s dyn ProjectHistory>,
    changed: Option<&'s dyn Fn(&Source) -> bool>,
}

impl<'s> Lint<'s> {
    /// Checks a project, and reports on a directory with all below it, or on one file.
    pub fn new(project: &Project<'s>, path: &Path) -> Result<Lint<'s>, UncheckedPath> {
        Ok(Lint {
            system: project.system(),
            root: project.root().clone(),
            parts: vec![Part::from_path(project, path)?],
            ignored: Ignored::Skip,
            is_pedantic: false,
            configuration: None,
            checked: LintPart::ALL.to_vec(),
            unused: UnusedOptions::default(),
            history: None,
            changed: None,
        })
    }

    /// Also reports on another directory or file of the project.
    pub fn with_part(mut self, project: &Project<'_>, path: &Path) -> Result<Self, UncheckedPath> {
        self.parts.push(Part::from_path(project, path)?);
        Ok(self)
    }

    /// Reads directories that version control ignores, too.
    pub fn with_ignored(self) -> Self {
        Lint { ignored: Ignored::Visit, ..self }
    }

    pub fn pedantic(self) -> Self {
        Lint { is_pedantic: true, ..self }
    }

    pub fn configured_by(self, configuration: &'s dyn ConfigurationCheck) -> Self {
        Lint { configuration: Some(configuration), ..self }
    }

    /// Checks only these parts. Files and directories that cannot be read are reported with any of them.
    pub fn only(mut self, parts: &[LintPart]) -> Self {
        self.checked.retain(|part| parts.contains(part));
        self
    }

    /// Asks the history of the project which references are certainly out of date.
    pub fn with_history(self, history: &'s dyn ProjectHistory) -> Self {
        Lint { history: Some(history), ..self }
    }

    /// Reports only what is in texts for which `changed` returns true, and references to what the history has removed.
    pub fn changed_only(self, changed: &'s dyn Fn(&Source) -> bool) -> Self {
        Lint { changed: Some(changed), ..self }
    }

    /// Reports items for nearly every file that cost more than `tokens`.
    pub fn with_heavy(mut self, tokens: usize) -> Self {
        self.unused.heavy = Some(tokens);
        self
    }

    pub fn complete(mut self) -> Self {
        self.unused.is_complete = true;
        self
    }

    pub fn check(&self) -> Findings {
        let catalog = self.read_project();
        let survey = self.survey_project(&catalog);
        self.check_all(&catalog, survey.as_ref())
    }

    /// Reads the whole project, as [`Lint::check`] does.
    pub fn read_project(&self) -> Catalog {
        self.read_directory(&Target::from_slashed("", TargetKind::Directory))
    }

    /// Surveys a project for the parts that need it.
    fn survey_project<'c>(&self, catalog: &'c Catalog) -> Option<Survey<'c>> {
        if !self.checked.contains(&LintPart::Unused) {
            return None;
        }
        let moment = Moment { root: self.root.clone(), ..Moment::default() };
        Survey::from_catalog(catalog, self.root.path(), &moment, &|text: &str| {
            estimate_tokens(text)
        })
    }

    /// Checks a project of which all was read, and the parts that it lacks.
    pub fn check_all(&self, catalog: &Catalog, survey: Option<&Survey<'_>>) -> Findings {
        let mut found = self.check_read(catalog, catalog.check_project(), survey);
        let mut left_out: Vec<&Part> = Vec::new();
        for part in self.parts.iter().filter(|part| is_left_out(part, catalog)) {
            if !left_out.iter().any(|kept| kept.holds_part(part)) {
                left_out.retain(|kept| !part.holds_part(kept));
                left_out.push(part);
            }
        }
        for part in left_out {
            let alone = self.read_directory(&part.directory);
            let of_part = self.check_read(
                &alone,
                alone.check_project(),
                self.survey_project(&alone).as_ref(),
            );
            // What was not read above explains why the part is alone.
            found.diagnostics.extend(of_part.diagnostics);
            diagnostic::sort_diagnostics(&mut found.diagnostics);
            found.diagnostics.dedup();
            found.files += of_part.files;
            found.ignored += of_part.ignored;
        }
        if self.checked.contains(&LintPart::Setup) && self.covers_all() {
            let setup = self.configuration.and_then(|one| one.check_setup(self.system, &self.root));
            if let Some(mut setup) = setup {
                setup.retain(|one| self.is_asked(one) && !is_told_unread(one, &found.diagnostics));
                found.ignored += Suppressions::default().take_back(&mut setup);
                found.diagnostics.append(&mut setup);
                diagnostic::sort_diagnostics(&mut found.diagnostics);
                found.checked.push(LintPart::Setup);
            }
        }
        found
    }

    /// Checks a project of which all was read, with the result of [`Catalog::check_project`].
    pub fn check_read(
        &self,
        catalog: &Catalog,
        checked: Vec<Diagnostic>,
        survey: Option<&Survey<'_>>,
    ) -> Findings {
        let (mut found, removed) = self.add_text_problems(catalog, checked);
        if let Some(survey) = survey.filter(|_| self.checked.contains(&LintPart::Unused)) {
            let root = self.root.path();
            let unused = unused::check_reach(catalog, root, survey, &found, self.unused);
            found.extend(unused);
        }
        self.check_configurations(catalog, &mut found);
        found.extend(find_flaws(&RuleSet::new(self.root.path(), catalog.rule_checks())));
        if let Some(configuration) = self.configuration {
            let held: Vec<&Path> = catalog
                .checked_files()
                .into_iter()
                .filter(|path| self.contains_path(path))
                .collect();
            found.extend(configuration.check_files(&self.root, &held));
            let below =
                |path: &Path| path.strip_prefix(self.root.path()).map(portable::is_offered_file);
            if catalog.checked_files().into_iter().any(|path| below(path) == Ok(true)) {
                let refused = configuration.check_source(self.system, &self.root);
                let new = refused.into_iter().filter(|one| !is_told(one, &found));
                // The author of a file in Git LFS has its content: it cannot be installed, and is no mistake of the file.
                let new = new.map(|one| {
                    if files::is_large_file(&one) {
                        one.with_severity(Severity::Warning)
                    } else {
                        one
                    }
                });
                let new: Vec<Diagnostic> = new.collect();
                found.extend(new);
            }
        }
        self.lower_links(catalog, &mut found);
        diagnostic::sort_diagnostics(&mut found);
        found.dedup();
        let is_new = |one: &Diagnostic| removed.contains(&(one.path().to_owned(), one.span));
        found.retain(|one| self.is_asked(one) || is_new(one) && self.is_checked(one.code()));
        drop_unknowable(&mut found);
        drop_echoes(&mut found);
        self.drop_used_files(catalog, &mut found);
        self.drop_ignored_imports(&mut found);
        found.retain(|diagnostic| self.is_reported(diagnostic) && !self.is_of_a_test(diagnostic));
        let mut files = catalog.checked_files();
        files.extend(found.iter().map(Diagnostic::path).filter(|path| {
            path.file_name().is_some_and(|name| name == portable::config::FILE_NAME)
        }));
        files.sort_unstable();
        files.dedup();
        let all = files.len();
        files.retain(|path| self.contains_path(path));
        let (files, elsewhere) = (files.len(), all - files.len());
        let mut checked = self.checked.clone();
        checked.retain(|part| match part {
            LintPart::Mistakes | LintPart::Stale => true,
            LintPart::Unused => survey.is_some(),
            LintPart::Setup => false,
        });
        let mut found =
            Findings { diagnostics: found, files, elsewhere, checked, ..Findings::default() };
        self.take_back(&mut found, catalog);
        found
    }

    /// Returns whether a rule belongs to what is checked. What cannot be read is missing in each part.
    fn is_checked(&self, code: &str) -> bool {
        self.checked.contains(&LintPart::from_code(code)) || code.starts_with("project/")
    }

    /// Returns whether a problem is one that was asked for, wherever it is.
    fn is_asked(&self, found: &Diagnostic) -> bool {
        self.is_checked(found.code())
            && (self.is_pedantic || !is_small(found))
            && self.changed.is_none_or(|changed| changed(&found.source))
    }

    /// Returns whether the whole project is reported on.
    fn covers_all(&self) -> bool {
        self.parts.iter().any(|part| part.file.is_none() && part.directory.slashed().is_empty())
    }

    /// Returns whether a path belongs to a part that is reported on.
    pub fn contains_path(&self, path: &Path) -> bool {
        self.parts.iter().any(|part| part.contains_path(&self.root, path))
    }

    /// Returns whether a problem is one of the input of a test, which may be there on purpose. What is hidden from a reader
    /// is told anywhere.
    fn is_of_a_test(&self, diagnostic: &Diagnostic) -> bool {
        const AREAS: [&str; 6] = ["client/", "frontmatter", "guidance/", "item/", "text/", "yaml/"];
        let code = diagnostic.code();
        AREAS.iter().any(|area| code.starts_with(area))
            && !code.contains("hidden-character")
            && diagnostic
                .path()
                .strip_prefix(self.root.path())
                .is_ok_and(|below| is_test_data(below) || is_backup(below) || is_translation(below))
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
        self.contains_path(diagnostic.path()) || self.parts.iter().any(is_cut_off)
    }

    /// Removes what comments take back, and reports the comments that take nothing back.
    fn take_back(&self, found: &mut Findings, catalog: &Catalog) {
        let mut suppressions = Suppressions::default();
        catalog.each_source(&mut |source| {
            if source.text().contains(suppression::WORD) && self.contains_path(source.path()) {
                suppressions.read_comments(source);
            }
        });
        found.ignored = suppressions.take_back(&mut found.diagnostics);
        // Other commands report other rules.
        let is_checked = |code: &str| {
            let is_of_lint = |page: RulePage| {
                page.find_field("run").is_none_or(|run| run.starts_with("brief lint"))
            };
            let is_small = PEDANTIC.iter().any(|rule| rule.code() == code);
            // A part that is not checked, and files that did not change, may have what a comment takes back.
            let is_part =
                self.checked.contains(&LintPart::from_code(code)) && self.changed.is_none();
            is_part
                && LintPart::from_code(code) != LintPart::Setup
                && (self.is_pedantic || !is_small)
                && RulePage::find_by_code(code).is_some_and(is_of_lint)
        };
        if self.is_checked(rules::guidance::UNUSED_IGNORE.code()) {
            found.diagnostics.extend(suppressions.unused_diagnostics(is_checked));
        }
        diagnostic::sort_diagnostics(&mut found.diagnostics);
    }

    /// Checks, applies the fixes that are at least as sure as `least`, and checks again until there is none left.
    pub fn check_and_fix(&self, least: Applicability) -> Result<Findings, UnwrittenFix> {
        let mut found = self.check();
        let mut fixed = 0;
        for _ in 0..FIX_ROUNDS {
            let (applied, unfixed) = self.apply_fixes(&found.diagnostics, least)?;
            if applied == 0 {
                found.unfixed = unfixed;
                break;
            }
            fixed += applied;
            found = self.check();
        }
        Ok(Findings { fixed, ..found })
    }

    /// Reads a directory with all below it.
    fn read_directory(&self, start: &Target) -> Catalog {
        let (dialects, strangers) = (Dialects::All, Strangers::LeftOut);
        let scope = CatalogScope { start, ignored: self.ignored, dialects, strangers };
        Catalog::read_project(self.system, &self.root, scope)
    }

    /// Adds what texts, links and clients' files have wrong to the problems of the dialects. Also returns the places
    /// that name something which the history has removed.
    fn add_text_problems(
        &self,
        catalog: &Catalog,
        mut diagnostics: Vec<Diagnostic>,
    ) -> (Vec<Diagnostic>, Vec<(PathBuf, Span)>) {
        let history = self.history.filter(|_| self.checked.contains(&LintPart::Stale));
        let (demands, references) = check_texts(catalog, self.system, &self.root, history);
        diagnostics.extend(demands);
        let mut removed = Vec::new();
        for reference in &references {
            if self.changed.is_some() && reference.removal.is_some() {
                removed.push((reference.source.path().to_owned(), reference.span));
            }
            diagnostics.push(reference.to_diagnostic());
        }
        if self.checked.contains(&LintPart::Stale) {
            diagnostics.extend(check_reviews(self.system, self.root.path(), catalog));
        }
        let mut problems = check_client_files(catalog, self.system, &self.root);
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
        (diagnostics, removed)
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
            configuration.remove_resolved(self.system, &project, &mut own);
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
                let source = Arc::new(Source::without_text(path));
                let message = format!("cannot read the file: {error}");
                let rule = rules::project::UNREADABLE_CONFIGURATION;
                return vec![Diagnostic::new(rule, &source, Span::default(), message)];
            }
        };
        configuration.check_configuration_file(
            self.system,
            project,
            &Arc::new(Source::from_bytes(path, bytes)),
        )
    }

    /// Applies fixes, file by file, and returns how many there were, and the files that were left alone.
    fn apply_fixes(
        &self,
        diagnostics: &[Diagnostic],
        least: Applicability,
    ) -> Result<(usize, UnfixedFiles), UnwrittenFix> {
        let mut unfixed = UnfixedFiles::new();
        let mut leave = |path: &Path, reason| {
            if unfixed.iter().all(|(known, _)| known != path) {
                unfixed.push((path.to_owned(), reason));
            }
        };
        let mut by_file: BTreeMap<&Path, (&Arc<Source>, Vec<&Diagnostic>)> = BTreeMap::new();
        for diagnostic in diagnostics {
            let is_sure = diagnostic.fix.as_ref().is_some_and(|fix| fix.applicability <= least);
            if !is_sure {
                continue;
            }
            if diagnostic.source.encoding() != Encoding::Utf8 {
                // It would not survive being written back.
                leave(diagnostic.path(), "is not UTF-8");
                continue;
            }
            let entry = by_file.entry(diagnostic.path());
            entry.or_insert((&diagnostic.source, Vec::new())).1.push(diagnostic);
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
                leave(path, "is a link to a file outside the project");
                continue;
            }
            self.system
                .replace_file(&target, fixed.text.as_bytes())
                .map_err(|error| UnwrittenFix { path: path.to_owned(), error })?;
            applied += fixed.applied;
        }
        Ok((applied, unfixed))
    }
}
