//! Rules, bound to the root of a project.

use std::path::Path;
use std::sync::Arc;

use brief_dialects::Owner;
use brief_dialects::rule_check::{Demand, RuleCheck, Subject};
use brief_syntax::Span;
use brief_system::paths::to_slashed;

use super::patterns::CompiledPattern;

/// The rules that are in force together.
#[derive(Debug, Default)]
pub struct RuleSet {
    pub(super) rules: Vec<BoundRule>,
}

/// A rule in a project.
#[derive(Debug)]
pub struct BoundRule {
    pub check: Arc<RuleCheck>,
    /// The id, as exceptions and receipts name it.
    pub id: Arc<str>,
    /// The directory that the rule counts from, below the root.
    pub(super) directory: String,
    /// The patterns of each demand.
    pub(super) patterns: Vec<Vec<CompiledPattern>>,
}

impl RuleSet {
    /// Binds checks to a root. Nothing is compiled yet.
    pub fn new(root: &Path, checks: impl IntoIterator<Item = Arc<RuleCheck>>) -> RuleSet {
        RuleSet { rules: checks.into_iter().map(|check| BoundRule::new(root, check)).collect() }
    }

    /// Returns the rules, in order.
    pub fn rules(&self) -> &[BoundRule] {
        &self.rules
    }

    /// Returns the rule of a verdict.
    pub fn get(&self, rule: usize) -> Option<&BoundRule> {
        self.rules.get(rule)
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns whether a verdict may depend on the text of a file, by its path below the root.
    pub fn needs_text_of(&self, path: &str) -> bool {
        self.rules.iter().any(|rule| {
            let is_about = |demand: &Demand| match &demand.subject {
                Subject::Text { .. } => true,
                // An exception from it is in the file.
                Subject::Path { globs, .. } => {
                    globs.iter().any(|glob| glob.matches(path, &rule.directory))
                }
                Subject::Change { when, .. } => {
                    when.iter().any(|when| when.glob.matches(path, &rule.directory))
                }
                _ => false,
            };
            let mut demands = rule.check.demands.iter();
            demands.any(|demand| is_about(demand) && rule.covers_file(demand, path))
        })
    }
}

impl BoundRule {
    fn new(root: &Path, check: Arc<RuleCheck>) -> BoundRule {
        let directory = match check.owner {
            Owner::User => String::new(),
            Owner::Project => {
                check.scope.base.strip_prefix(root).map(to_slashed).unwrap_or_default()
            }
        };
        let compiled = |demand: &Demand| -> Vec<CompiledPattern> {
            let patterns = match &demand.subject {
                Subject::Command { patterns }
                | Subject::Text { patterns }
                | Subject::Message { patterns, .. }
                | Subject::Run { commands: patterns, .. } => patterns.as_slice(),
                _ => &[],
            };
            patterns.iter().map(CompiledPattern::new).collect()
        };
        let patterns = check.demands.iter().map(compiled).collect();
        let id = check.id(root).into();
        BoundRule { check, id, directory, patterns }
    }

    /// Returns the patterns that do not compile, each with its place and the reason.
    pub fn broken_patterns(&self) -> Vec<(Span, &str)> {
        let patterns = self.patterns.iter().flatten();
        patterns.filter_map(|pattern| Some((pattern.span, pattern.error()?))).collect()
    }

    /// Returns whether a demand is about a file, by its path below the root.
    pub(super) fn covers_file(&self, demand: &Demand, path: &str) -> bool {
        let below = below_directory(path, &self.directory);
        let coverage = self.check.scope.coverage.as_deref();
        below.is_some_and(|below| coverage.is_none_or(|coverage| coverage.covers_file(below)))
            && (demand.within.is_empty()
                || demand.within.iter().any(|glob| glob.matches(path, &self.directory)))
    }

    /// Returns whether a demand is about what is done in a directory; `None` if the directory is not known and that
    /// decides.
    pub(super) fn covers_directory(
        &self,
        demand: &Demand,
        directory: Option<&str>,
    ) -> Option<bool> {
        let coverage = self.check.scope.coverage.as_deref();
        let is_for_all =
            self.directory.is_empty() && coverage.is_none() && demand.within.is_empty();
        let Some(directory) = directory else { return is_for_all.then_some(true) };
        let Some(below) = below_directory(directory, &self.directory) else { return Some(false) };
        let is_covered = coverage.is_none_or(|coverage| coverage.could_cover_inside(below))
            && (demand.within.is_empty()
                || demand
                    .within
                    .iter()
                    .any(|glob| glob.could_match_inside(directory, &self.directory)));
        Some(is_covered)
    }
}

/// Returns a path as a directory sees it; `None` if it is elsewhere.
fn below_directory<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    if directory.is_empty() {
        return Some(path);
    }
    let rest = path.strip_prefix(directory)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}
