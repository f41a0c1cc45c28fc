//! The parts of a check: what a user can ask for alone.

use brief_syntax::{Rule, rules};

/// A part of what is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LintPart {
    /// What is wrong in a file, whatever the rest of the project is like.
    Mistakes,
    /// What texts name and the project no longer has.
    Stale,
    /// Guidance that reaches no file, and files that no guidance reaches.
    Unused,
    /// What keeps guidance from its clients: hooks, installed files, settings of this machine.
    Setup,
}

const REFERENCES: [Rule; 8] = [
    rules::guidance::INVALID_REVIEW_DATE,
    rules::guidance::OVERDUE_REVIEW,
    rules::guidance::MISSING_PATH,
    rules::guidance::MISSING_TARGET,
    rules::guidance::OLD_VERSION,
    rules::guidance::OTHER_TOOL,
    rules::client::BROKEN_LINK,
    rules::tasks::BROKEN_LINK,
];

/// The rules about reach, besides those of the formats about patterns.
const REACH: [Rule; 3] =
    [rules::guidance::UNUSED_ITEM, rules::guidance::COSTLY_ITEM, rules::guidance::UNCOVERED_FILES];

/// The last words of the formats' rules about patterns that match nothing.
const DEAD_PATTERNS: [&str; 2] = ["unused-pattern", "never-matches"];

/// The area of the rules about the setup.
const SETUP: &str = "setup/";

impl LintPart {
    /// All parts, in the order of reports.
    pub const ALL: [LintPart; 4] =
        [LintPart::Mistakes, LintPart::Stale, LintPart::Unused, LintPart::Setup];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            LintPart::Mistakes => "mistakes",
            LintPart::Stale => "stale",
            LintPart::Unused => "unused",
            LintPart::Setup => "setup",
        }
    }

    /// Returns the part that a rule belongs to, by its code.
    pub fn from_code(code: &str) -> LintPart {
        let is_one_of = |rules: &[Rule]| rules.iter().any(|rule| rule.code() == code);
        if is_one_of(&REFERENCES) {
            LintPart::Stale
        } else if is_one_of(&REACH) || is_dead_pattern(code) {
            LintPart::Unused
        } else if code.starts_with(SETUP) {
            LintPart::Setup
        } else {
            LintPart::Mistakes
        }
    }
}

/// Returns whether a rule is about a pattern that matches nothing here, or nowhere.
pub(crate) fn is_dead_pattern(code: &str) -> bool {
    code.rsplit('/').next().is_some_and(|name| DEAD_PATTERNS.contains(&name))
}
