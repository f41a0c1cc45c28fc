//! The check of a rule: what a change, a command or a message must not have, or must have.
//!
//! A rule of any format may carry one. The formats say where it stands and for which files the rule is
//! ([`CheckPlace`]); [`parse`](self) reads all of them in one way, and `brief_checks::rules` is the one evaluator.
//! A check holds patterns as they are written: regular expressions are compiled by the evaluator, because a hook
//! reads many rules and evaluates few.

mod header;
mod parse;
mod pattern;
mod toml;
mod tree;

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use brief_syntax::{Source, Span};
use serde::Serialize;

use crate::answer::Owner;

pub(crate) use header::parse_header_check;
pub use header::{CONFIGURATION, parse_configured_checks};
pub use parse::{CheckFields, parse_rule_check};
pub use pattern::{CheckGlob, CheckPattern};
pub use tree::{CheckNode, CheckValue};

/// The keys of a rule that belong to its check.
pub const CHECK_FIELDS: [&str; 4] = ["check", "enforce", "examples", "id"];

/// The check of one rule.
#[derive(Debug, Clone)]
pub struct RuleCheck {
    /// The id that its author gave it.
    pub own_id: Option<Arc<str>>,
    /// Everything that is forbidden or required. A rule is broken if one of them is.
    pub demands: Vec<Demand>,
    pub enforce: Enforcement,
    /// What to do instead, in the author's words.
    pub instead: Option<Arc<str>>,
    pub examples: Examples,
    /// The text of the rule, as agents read it.
    pub text: Arc<str>,
    /// The files that the rule is for.
    pub scope: CheckScope,
    /// The one who wrote the rule: the user or the project.
    pub owner: Owner,
    pub source: Arc<Source>,
    /// The place of the check.
    pub span: Span,
}

/// How strongly a check is enforced, where a client can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Enforcement {
    /// Verdicts are recorded; nobody is told while work goes on.
    #[default]
    Observe,
    /// The agent is told after the call.
    Warn,
    /// The user is asked before the call.
    Ask,
    /// The call is refused.
    Deny,
}

impl Enforcement {
    /// All of them, the weakest first.
    pub const ALL: [Enforcement; 4] =
        [Enforcement::Observe, Enforcement::Warn, Enforcement::Ask, Enforcement::Deny];

    /// Returns the word in files and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Enforcement::Observe => "observe",
            Enforcement::Warn => "warn",
            Enforcement::Ask => "ask",
            Enforcement::Deny => "deny",
        }
    }
}

/// One thing that is forbidden or required.
#[derive(Debug, Clone)]
pub struct Demand {
    pub verb: Verb,
    pub subject: Subject,
    /// The files that it is narrowed to; empty for all of the rule.
    pub within: Vec<CheckGlob>,
    /// The place of its value.
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    Forbid,
    Require,
}

impl Verb {
    /// Returns the word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Forbid => "forbid",
            Verb::Require => "require",
        }
    }
}

/// What a demand is about. Lists are alternatives.
#[derive(Debug, Clone)]
pub enum Subject {
    /// Forbidden: a shell call runs it.
    Command { patterns: Vec<CheckPattern> },
    /// Forbidden in an added line; required in the final text of a touched file.
    Text { patterns: Vec<CheckPattern> },
    /// Forbidden: a path is created, changed or deleted.
    Path { change: PathChange, globs: Vec<CheckGlob> },
    /// Required: one of these paths is touched, if one of `when` is.
    Change { globs: Vec<CheckGlob>, when: Vec<PathCondition> },
    /// Required: one of the commands has run and not failed between `after` and `before`.
    Run { commands: Vec<CheckPattern>, after: Vec<CheckGlob>, before: RunLimit },
    /// Required: one of the skills was loaded before an edit.
    Skill { names: Vec<Arc<str>> },
    /// Forbidden or required in a message.
    Message { patterns: Vec<CheckPattern>, on: MessageKinds },
}

impl Subject {
    /// Returns the key in files.
    pub fn key(&self) -> &'static str {
        match self {
            Subject::Command { .. } => "command",
            Subject::Text { .. } => "text",
            Subject::Path { change, .. } => change.as_str(),
            Subject::Change { .. } => "change",
            Subject::Run { .. } => "run",
            Subject::Skill { .. } => "skill",
            Subject::Message { .. } => "message",
        }
    }
}

/// What happens to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PathChange {
    Create,
    Change,
    Delete,
}

impl PathChange {
    pub const ALL: [PathChange; 3] = [PathChange::Create, PathChange::Change, PathChange::Delete];

    /// Returns the word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            PathChange::Create => "create",
            PathChange::Change => "change",
            PathChange::Delete => "delete",
        }
    }
}

/// A condition about a path.
#[derive(Debug, Clone)]
pub struct PathCondition {
    /// What happens to the path; `None` for anything.
    pub change: Option<PathChange>,
    pub glob: CheckGlob,
}

/// The moment by which a command must have run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunLimit {
    /// The end of the agent's turn.
    Stop,
    /// A commit.
    Commit,
}

/// The messages that a demand is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageKinds {
    pub commit: bool,
    pub pull_request: bool,
}

impl MessageKinds {
    /// Returns whether a kind of message is among them.
    pub fn contains(self, kind: MessageKind) -> bool {
        match kind {
            MessageKind::Commit => self.commit,
            MessageKind::PullRequest => self.pull_request,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum MessageKind {
    #[serde(rename = "commit")]
    Commit,
    #[serde(rename = "pr")]
    PullRequest,
}

/// What shows that a check means what its author thinks.
#[derive(Debug, Clone, Default)]
pub struct Examples {
    /// Each breaks the rule.
    pub broken: Vec<CheckExample>,
    /// Each keeps the rule.
    pub kept: Vec<CheckExample>,
}

/// One example.
#[derive(Debug, Clone)]
pub struct CheckExample {
    pub kind: ExampleKind,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum ExampleKind {
    /// A text that is read as what the check is about: a command line, an added line, a path or a message.
    Plain(Arc<str>),
    /// The parts by their names.
    Parts(ExampleParts),
}

/// The parts of an example. All of them belong to one change.
#[derive(Debug, Clone, Default)]
pub struct ExampleParts {
    pub commands: Vec<Arc<str>>,
    /// The text of the file `within`, all of it added.
    pub text: Option<Arc<str>>,
    /// The file that the text is in.
    pub within: Option<Arc<str>>,
    pub create: Vec<Arc<str>>,
    pub change: Vec<Arc<str>>,
    pub delete: Vec<Arc<str>>,
    pub skills: Vec<Arc<str>>,
    pub message: Option<Arc<str>>,
    /// The kind of the message; `None` for a commit.
    pub on: Option<MessageKind>,
}

/// The files that a rule is for.
#[derive(Debug, Clone)]
pub struct CheckScope {
    /// The directory that the rule and its globs count from, absolute. A rule of the user counts from the root of the
    /// project.
    pub base: Arc<Path>,
    /// The files below it; `None` for all.
    pub coverage: Option<Arc<dyn CheckCoverage>>,
}

/// The patterns of a format that say which files a rule is for.
pub trait CheckCoverage: fmt::Debug + Send + Sync {
    /// Returns whether a file is covered, by its path relative to the base, with `/` between names.
    fn covers_file(&self, path: &str) -> bool;

    /// Returns whether a file below a directory could be covered.
    fn could_cover_inside(&self, directory: &str) -> bool;
}

/// The place of a check, which its format knows.
#[derive(Debug, Clone, Copy)]
pub struct CheckPlace<'p> {
    pub source: &'p Arc<Source>,
    pub scope: &'p CheckScope,
    pub owner: Owner,
    /// The text of the rule.
    pub text: &'p str,
}

impl RuleCheck {
    /// Returns the id: the author's own, or the path below the root with a hash of the content.
    pub fn id(&self, root: &Path) -> Cow<'_, str> {
        if let Some(id) = &self.own_id {
            return Cow::Borrowed(id);
        }
        let path = self.source.path();
        let path = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
        let path = if cfg!(windows) { path.replace('\\', "/") } else { path.into_owned() };
        Cow::Owned(format!("{path}#{:08x}", self.content_hash() & 0xffff_ffff))
    }

    /// Returns a number that differs between checks with different content. It is stable, and no protection: whoever
    /// records consent hashes [`RuleCheck::content`].
    pub fn content_hash(&self) -> u64 {
        // FNV-1a: short, and the same on every machine and in every version.
        let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.content().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, hash)
    }

    /// Returns everything that decides a verdict or what a reader of it sees, in one text.
    pub fn content(&self) -> String {
        let RuleCheck { demands, enforce, instead, text, scope, .. } = self;
        let demands: Vec<_> = demands.iter().map(Demand::content).collect();
        format!("{enforce:?}\n{demands:?}\n{instead:?}\n{:?}\n{text}", scope.coverage)
    }

    /// Returns the first line of the rule's text, without the signs of a heading or a list.
    pub fn title(&self) -> &str {
        let lines =
            self.text.lines().map(|line| line.trim().trim_start_matches(['#', '-', '*', ' ']));
        lines.into_iter().find(|line| !line.is_empty()).unwrap_or_default()
    }

    /// Returns the line of the check in its file, from 1.
    pub fn line(&self) -> usize {
        self.source.line_number(self.span.start)
    }

    /// Returns whether a verdict needs the lines that a change adds, or the text of a file.
    pub fn needs_text(&self) -> bool {
        self.demands.iter().any(|demand| matches!(demand.subject, Subject::Text { .. }))
    }

    /// Returns whether a verdict needs the paths that a change touches.
    pub fn needs_paths(&self) -> bool {
        let is_about_paths = |demand: &Demand| {
            matches!(
                demand.subject,
                Subject::Text { .. }
                    | Subject::Path { .. }
                    | Subject::Change { .. }
                    | Subject::Run { .. }
                    | Subject::Skill { .. }
            )
        };
        self.demands.iter().any(is_about_paths)
    }

    /// Returns whether the check is about what happened in a turn, which only its end shows.
    pub fn is_about_turns(&self) -> bool {
        let is_at_end = |demand: &Demand| match &demand.subject {
            Subject::Run { before, .. } => *before == RunLimit::Stop,
            Subject::Change { .. } => true,
            Subject::Text { .. } => demand.verb == Verb::Require,
            _ => false,
        };
        self.demands.iter().any(is_at_end)
    }
}

impl Demand {
    /// Returns what decides, without places.
    fn content(&self) -> String {
        let globs = |globs: &[CheckGlob]| -> Vec<String> {
            globs.iter().map(|glob| glob.written().to_owned()).collect()
        };
        let texts = |patterns: &[CheckPattern]| -> Vec<String> {
            patterns.iter().map(ToString::to_string).collect()
        };
        let subject = match &self.subject {
            Subject::Command { patterns } | Subject::Text { patterns } => {
                format!("{:?}", texts(patterns))
            }
            Subject::Path { globs: list, .. } => format!("{:?}", globs(list)),
            Subject::Change { globs: list, when } => {
                let when: Vec<_> =
                    when.iter().map(|when| (when.change, when.glob.written())).collect();
                format!("{:?} {when:?}", globs(list))
            }
            Subject::Run { commands, after, before } => {
                format!("{:?} {:?} {before:?}", texts(commands), globs(after))
            }
            Subject::Skill { names } => format!("{names:?}"),
            Subject::Message { patterns, on } => format!("{:?} {on:?}", texts(patterns)),
        };
        let (verb, key) = (self.verb.as_str(), self.subject.key());
        format!("{verb} {key} {subject} {:?}", globs(&self.within))
    }
}
