//! The types of an `AGENTS.yaml`, with defaults filled in.

use std::sync::Arc;

use brief_syntax::{Source, Span};
use serde::Serialize;

use crate::answer::{Level, Name};
use crate::moment::{Actions, Timing};
use crate::rule_check::{CheckCoverage, RuleCheck};

use super::pattern::Pattern;

#[derive(Debug, Clone)]
pub struct StructuredFile {
    /// The text and its path.
    pub source: Arc<Source>,
    /// The directory of the file below the root, with `/` between names.
    pub directory: String,
    /// The level of its entries. Each is scoped, at least by the default pattern for all files.
    pub level: Level,
    /// The context entries, in file order.
    pub context: Vec<ContextEntry>,
    /// The decisions, in file order.
    pub decisions: Vec<Decision>,
    /// The invalid entries, which are not delivered.
    pub invalid: Vec<InvalidEntry>,
}

/// Guidance for some files, actions and timings.
#[derive(Debug, Clone)]
pub struct ContextEntry {
    /// The position in the file's list, from 0.
    pub index: usize,
    /// The first line of the entry, from 1.
    pub line: usize,
    pub content: String,
    /// The files that it applies to; never empty.
    pub patterns: Vec<Pattern>,
    /// The place of each pattern; empty for the default.
    pub pattern_spans: Vec<Span>,
    /// The files that it does not apply to.
    pub exclude: Vec<Pattern>,
    /// The actions it is for.
    pub on: Actions,
    /// The timing it is for; `None` for both.
    pub when: Option<Timing>,
    /// True to hold a change back until the entry was read, where the user allows that. Our extension of the
    /// format.
    pub hold: bool,
    /// The check of the rule. Our extension of the format.
    pub check: Option<Arc<RuleCheck>>,
}

/// A decision with its rationale.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The position in the file's list, from 0.
    pub index: usize,
    /// The first line of the decision, from 1.
    pub line: usize,
    pub decision: String,
    pub rationale: String,
    pub alternatives: Vec<Alternative>,
    /// The condition under which to reconsider it.
    pub revisit_when: Option<String>,
    pub date: Option<String>,
    /// The files that it binds; never empty.
    pub patterns: Vec<Pattern>,
    /// The place of each pattern; empty for the default.
    pub pattern_spans: Vec<Span>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alternative {
    pub option: String,
    /// The reason for the rejection.
    pub reason_rejected: String,
}

/// An entry that is not delivered.
#[derive(Debug, Clone)]
pub struct InvalidEntry {
    pub kind: &'static str,
    /// Its position in the file.
    pub name: Name<'static>,
    /// Its first line, from 1.
    pub line: usize,
    pub problem: String,
}

/// The files of an entry with a check.
#[derive(Debug)]
pub(super) struct EntryCoverage {
    pub(super) patterns: Vec<Pattern>,
    pub(super) exclude: Vec<Pattern>,
}

impl CheckCoverage for EntryCoverage {
    fn covers_file(&self, path: &str) -> bool {
        let matches = |patterns: &[Pattern]| patterns.iter().any(|one| one.matches_file(path));
        matches(&self.patterns) && !matches(&self.exclude)
    }

    fn could_cover_inside(&self, directory: &str) -> bool {
        let is_inside =
            |one: &Pattern| one.could_match_inside(directory) || one.matches_directory(directory);
        self.patterns.iter().any(is_inside)
            && !self
                .exclude
                .iter()
                .any(|one| one.is_everything() || one.matches_directory(directory))
    }
}
