//! The one evaluator of rules' checks: for a hook's call, a change set, an editor's buffer and a recorded session.
//!
//! A caller describes what is about to happen, or has happened, as [`Work`]; [`RuleSet::evaluate`] says for each rule
//! whether it is broken, kept, has no occasion, or cannot be judged, with the places. It reads nothing and runs
//! nothing. The work that it does is counted, and what does not fit into the [`Budget`] is *unknown*: a verdict depends
//! on the input alone, never on a clock.
//!
//! `patterns` compiles texts and regular expressions, `commands` compares programs with command lines, `call` turns a
//! tool's call into work, and `examples` runs the examples of a check.

mod bind;
mod call;
mod commands;
mod evaluate;
mod examples;
mod exceptions;
mod flaws;
mod lines;
mod messages;
mod patterns;
mod propose;
mod shell_files;
mod tree;
mod work;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use brief_dialects::rule_check::RuleCheck;
use serde::Serialize;

pub use bind::{BoundRule, RuleSet};
pub use call::{Operation, ProjectTree, Replacement, TreePath};
pub use commands::{CommandCall, read_command_line};
pub use evaluate::Budget;
pub use examples::{ExampleFailure, ExampleProblem, run_examples};
pub use exceptions::{ExceptionState, RuleException, find_exception, find_exceptions};
pub use flaws::find_flaws;
pub use lines::added_runs;
pub use propose::{ProposedCheck, propose_check};
pub use tree::SystemTree;
pub use work::{
    AddedRun, AddedText, FileChange, FileChangeKind, PastEvent, Work, WorkKind, WorkMessage,
};

/// What the evaluator says about one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The rule is not about this work.
    NoOccasion,
    /// The rule is about it, and it is kept.
    Kept,
    /// The work does not show it, or it would take too long.
    Unknown,
    /// The rule is broken.
    Broken,
}

impl Verdict {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::NoOccasion => "no_occasion",
            Verdict::Kept => "kept",
            Verdict::Unknown => "unknown",
            Verdict::Broken => "broken",
        }
    }
}

/// The verdict about one rule.
#[derive(Debug, Clone)]
pub struct RuleVerdict {
    /// The place of the rule in its [`RuleSet`].
    pub rule: usize,
    pub verdict: Verdict,
    /// What breaks the rule, in the order of the work; the first ones if there are many.
    pub findings: Vec<Finding>,
    /// The number of findings, also of those that are not listed.
    pub count: usize,
    /// Why the rule cannot be judged, if it cannot.
    pub unknown: Option<&'static str>,
}

/// One place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub place: FindingPlace,
    /// The number of the demand in the rule's check.
    pub demand: usize,
    /// What is wrong, without the place: ``runs `npm` ``.
    pub message: String,
}

/// The place of a [`Finding`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindingPlace {
    /// A line of a file.
    Line {
        /// The path below the root, with `/` between names.
        path: Arc<str>,
        /// The line, from 1; `None` if the call does not tell.
        line: Option<usize>,
        /// The column in bytes, from 1.
        column: usize,
        /// The bytes that match.
        length: usize,
        /// The line's text, cut if it is long.
        text: String,
    },
    /// A file as a whole.
    File { path: Arc<str> },
    /// A command, as it is written.
    Command { text: String },
    /// A message of a commit or a pull request: its first line.
    Message { text: String },
    /// The turn as a whole.
    Turn,
}

impl FindingPlace {
    /// Returns the path of the place, if it is in a file.
    pub fn path(&self) -> Option<&str> {
        match self {
            FindingPlace::Line { path, .. } | FindingPlace::File { path } => Some(path),
            _ => None,
        }
    }

    /// Returns the line of the place, if it is known.
    pub fn line(&self) -> Option<usize> {
        match self {
            FindingPlace::Line { line, .. } => *line,
            _ => None,
        }
    }
}

impl fmt::Display for FindingPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FindingPlace::Line { path, line: Some(line), .. } => write!(formatter, "{path}:{line}"),
            FindingPlace::Line { path, .. } | FindingPlace::File { path } => {
                formatter.write_str(path)
            }
            FindingPlace::Command { text } => write!(formatter, "`{text}`"),
            FindingPlace::Message { text } => write!(formatter, "message `{text}`"),
            FindingPlace::Turn => formatter.write_str("this turn"),
        }
    }
}

/// Returns a text for a message: one line, cut if it is long.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 200;
    let line = text.trim().lines().next().unwrap_or_default();
    if line.len() <= LONGEST {
        return line.to_owned();
    }
    format!("{}…", &line[..line.floor_char_boundary(LONGEST)])
}

/// Makes a set of the checks that were read, for tests and callers with one rule.
impl FromIterator<Arc<RuleCheck>> for RuleSet {
    fn from_iter<T: IntoIterator<Item = Arc<RuleCheck>>>(checks: T) -> RuleSet {
        RuleSet::new(Path::new(""), checks)
    }
}
