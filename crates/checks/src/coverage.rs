//! The parts of a project's guidance that reach nothing, and those that cost much everywhere.

use std::path::Path;

use brief_dialects::{LeftOut, Name, Reason, native};
use brief_syntax::{Diagnostic, rules};

use crate::lint::is_dead_pattern;
use brief_engine::survey::{CoverageGap, Survey, SurveyedItem};

/// The cost from which an item for nearly every file is a finding, unless a user says otherwise.
pub const HEAVY: usize = 500;

/// An item that no file gets.
#[derive(Debug, Clone)]
pub struct IdleItem<'s> {
    pub dialect: &'static str,
    pub kind: &'static str,
    pub name: Name<'s>,
    /// The file it stands in, absolute.
    pub path: &'s Path,
    /// The line it begins on, from 1.
    pub line: usize,
    pub reason: String,
}

/// The findings about the reach of a project's guidance.
#[derive(Debug)]
pub struct Coverage<'s> {
    /// The patterns that match nothing here, or nowhere.
    pub dead: Vec<Diagnostic>,
    /// The items that nothing gets, by place.
    pub idle: Vec<IdleItem<'s>>,
    /// The items for nearly every file that cost much, the most expensive first.
    pub heavy: Vec<&'s SurveyedItem<'s>>,
    pub gaps: Vec<CoverageGap<'s>>,
}

impl<'s> Coverage<'s> {
    /// Looks at the directory `part` of a project, `/`-separated below the root. `checked` is the result of
    /// [`brief_engine::Catalog::check_project`]. An item that costs more than `heavy` tokens costs much.
    pub fn from_survey(
        checked: &[Diagnostic],
        root: &Path,
        part: &str,
        survey: &'s Survey<'s>,
        heavy: usize,
    ) -> Coverage<'s> {
        let top = root.join(part);
        let holds = |path: &Path| part.is_empty() || path.starts_with(&top);
        Coverage {
            dead: dead_patterns(checked, &holds),
            idle: find_idle_items(survey, checked, &holds),
            heavy: heavy_items(survey, heavy, &holds),
            gaps: survey.find_gaps(root, part),
        }
    }

    /// Returns the number of files without guidance.
    pub fn count_bare_files(&self) -> usize {
        self.gaps.iter().map(|gap| gap.files).sum()
    }

    /// Returns the number of findings, without files that have no guidance.
    pub fn count_findings(&self) -> usize {
        self.dead.len() + self.idle.len() + self.heavy.len()
    }
}

/// Returns the dialects' diagnostics of patterns that match nothing here, or nowhere.
fn dead_patterns(checked: &[Diagnostic], holds: &dyn Fn(&Path) -> bool) -> Vec<Diagnostic> {
    let is_dead =
        |diagnostic: &&Diagnostic| is_dead_pattern(diagnostic.code()) && holds(diagnostic.path());
    checked.iter().filter(is_dead).cloned().collect()
}

/// Returns the items that nothing gets. The pattern of a client's file in a directory below counts from there or from the
/// top, depending on where the client was started: it is idle only if it matches from neither.
fn find_idle_items<'s>(
    survey: &'s Survey<'s>,
    checked: &[Diagnostic],
    holds: &dyn Fn(&Path) -> bool,
) -> Vec<IdleItem<'s>> {
    let nothing = "applies to no file or directory in the project";
    let is_dead = |path: &Path| {
        checked
            .iter()
            .any(|found| found.rule == rules::client::UNUSED_PATTERN && found.path() == path)
    };
    let is_certain = |surveyed: &&SurveyedItem<'_>| {
        let is_below = surveyed.directory.as_ref().is_some_and(|directory| !directory.is_empty());
        let is_open = is_below && surveyed.item.dialect == native::NAME;
        surveyed.is_idle() && (!is_open || is_dead(surveyed.item.path))
    };
    let items = survey.items.iter().filter(is_certain).map(|surveyed| IdleItem {
        dialect: surveyed.item.dialect,
        kind: surveyed.item.kind,
        name: surveyed.item.name,
        path: surveyed.item.path,
        line: surveyed.item.line,
        reason: nothing.to_owned(),
    });
    // Other reasons depend on the client and the question.
    let is_told = |left_out: &&LeftOut<'_>| match left_out.reason {
        Reason::Invalid { .. } => true,
        Reason::NoGlob { patterns, .. } => patterns.is_empty(),
        _ => false,
    };
    let left_out = survey.left_out.iter().filter(is_told).map(|left_out| IdleItem {
        dialect: left_out.dialect,
        kind: left_out.kind,
        name: left_out.name,
        path: left_out.path,
        line: left_out.line,
        reason: match &left_out.reason {
            Reason::NoGlob { field, .. } => format!("`{field}` has no pattern"),
            reason => reason.display_with_path("").to_string(),
        },
    });
    let mut idle: Vec<_> = items.chain(left_out).filter(|idle| holds(idle.path)).collect();
    idle.sort_by(|left, right| (left.path, left.line).cmp(&(right.path, right.line)));
    idle
}

fn heavy_items<'s>(
    survey: &'s Survey<'s>,
    most: usize,
    holds: &dyn Fn(&Path) -> bool,
) -> Vec<&'s SurveyedItem<'s>> {
    let is_heavy = |surveyed: &&SurveyedItem<'_>| {
        surveyed.tokens > most && survey.is_everywhere(surveyed) && holds(surveyed.item.path)
    };
    let mut heavy: Vec<_> = survey.items.iter().filter(is_heavy).collect();
    heavy.sort_by_key(|surveyed| std::cmp::Reverse(surveyed.tokens));
    heavy
}
