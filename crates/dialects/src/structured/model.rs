//! What an `AGENTS.yaml` says, with defaults filled in.

use std::sync::Arc;

use brief_syntax::{Source, Span};

use crate::answer::{Level, Name};
use crate::moment::{Actions, Timing};

use super::pattern::Pattern;

/// One context file.
#[derive(Debug, Clone)]
pub struct ContextFile {
    /// The text and where it came from.
    pub source: Arc<Source>,
    /// The directory of the file below the root, with `/` between names.
    pub directory: String,
    /// How general its entries are: every one says which files it is about, if only that it is about
    /// all.
    pub level: Level,
    /// The context entries, in file order.
    pub context: Vec<ContextEntry>,
    /// The decisions, in file order.
    pub decisions: Vec<Decision>,
    /// The entries that are not delivered, because something in them is wrong.
    pub invalid: Vec<InvalidEntry>,
}

/// Guidance for some files, actions and timings.
#[derive(Debug, Clone)]
pub struct ContextEntry {
    /// The position in the file's list, from 0.
    pub index: usize,
    /// The line that the entry begins on, from 1.
    pub line: usize,
    /// The guidance to deliver.
    pub content: String,
    /// What it applies to; never empty.
    pub patterns: Vec<Pattern>,
    /// Where each pattern is written; empty when the default holds.
    pub pattern_spans: Vec<Span>,
    /// What it does not apply to.
    pub exclude: Vec<Pattern>,
    /// The actions it is for.
    pub on: Actions,
    /// The timing it is for.
    pub when: When,
}

/// The value of `when`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// One timing.
    Only(Timing),
    /// Both.
    Always,
}

/// A decision and its reasons.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The position in the file's list, from 0.
    pub index: usize,
    /// The line that the decision begins on, from 1.
    pub line: usize,
    /// What was decided.
    pub decision: String,
    /// Why.
    pub rationale: String,
    /// What was considered and rejected.
    pub alternatives: Vec<Alternative>,
    /// When to think again.
    pub revisit_when: Option<String>,
    /// When it was decided, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// What it binds; never empty.
    pub patterns: Vec<Pattern>,
    /// Where each pattern is written; empty when the default holds.
    pub pattern_spans: Vec<Span>,
}

/// A rejected option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    /// The option.
    pub option: String,
    /// Why it was rejected.
    pub reason_rejected: String,
}

/// An entry that is not delivered.
#[derive(Debug, Clone)]
pub struct InvalidEntry {
    /// `context` or `decision`.
    pub kind: &'static str,
    /// Its place in the file.
    pub name: Name<'static>,
    /// The line that it begins on, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}
