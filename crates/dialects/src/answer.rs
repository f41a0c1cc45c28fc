//! The answer: the items that apply and those that do not, each with its reason.
//!
//! It borrows from the [`DialectGuidance`](crate::DialectGuidance), because a hook looks at thousands of entries to deliver three.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

#[cfg(doc)]
use crate::moment::Moment;
use crate::moment::{Actions, Timing};
use crate::rule_check::RuleCheck;

/// The rank of an item in an answer, general first.
///
/// The user's own items come before the project's, a directory's before those below, items for all files before others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level {
    /// The user or the project.
    pub owner: Owner,
    /// The depth of its directory, counted from the root of the file system.
    pub depth: usize,
    /// True for an item that names the files it is about.
    pub is_scoped: bool,
}

impl Level {
    /// Returns the level of an item of the user, wherever its file lies.
    pub fn of_user(is_scoped: bool) -> Level {
        Level { owner: Owner::User, depth: 0, is_scoped }
    }

    /// Returns the level of an item that holds in `directory`, an absolute and clean path, and below.
    pub fn of_directory(directory: &Path, is_scoped: bool) -> Level {
        Level { owner: Owner::Project, depth: directory_depth(directory), is_scoped }
    }
}

/// Returns the depth of a directory, an absolute and clean path.
pub(crate) fn directory_depth(directory: &Path) -> usize {
    // Ten times as fast as counting components, which matters where paths are long.
    let is_separator = |byte: &u8| std::path::is_separator(char::from(*byte));
    let bytes = directory.as_os_str().as_encoded_bytes();
    let separators = bytes.iter().filter(|byte| is_separator(byte)).count();
    // Only the root of the file system ends in a separator.
    separators + usize::from(!bytes.last().is_some_and(is_separator))
}

/// The owner of a piece of guidance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The user, for all projects.
    User,
    Project,
}

/// The guidance of one or more dialects for a moment.
#[derive(Debug, Default)]
pub struct Resolution<'s> {
    /// The items that apply, in any [`State`], general first and most specific last.
    /// [`Resolution::active_items`] returns those to deliver.
    pub items: Vec<Applied<'s>>,
    /// The decisions that bind the target, in the same order.
    pub decisions: Vec<BindingDecision<'s>>,
    /// The candidates that do not apply, in the same order.
    pub left_out: Vec<LeftOut<'s>>,
    /// The configuration and the MCP servers of client-hosted context.
    pub hosted: Option<&'s crate::hosted::HostedContext>,
    /// True where [`Resolution::left_out`] is not needed: a survey asks about every file of a project.
    /// Items that the client loads by itself are recorded all the same.
    pub skip_left_out: bool,
}

impl<'s> Resolution<'s> {
    /// Returns the items whose text is delivered, in order, without those that are only listed or manual.
    pub fn active_items(&self) -> impl Iterator<Item = &Applied<'s>> {
        self.in_state(State::Active)
    }

    /// Returns the items that an agent may ask for by their description.
    pub fn listed_items(&self) -> impl Iterator<Item = &Applied<'s>> {
        self.in_state(State::Listed)
    }

    fn in_state(&self, state: State) -> impl Iterator<Item = &Applied<'s>> {
        self.items.iter().filter(move |applied| applied.item.state == state)
    }

    /// Records a candidate that does not apply, unless the caller wants none.
    pub fn leave_out(&mut self, candidate: impl FnOnce() -> LeftOut<'s>) {
        if !self.skip_left_out {
            self.left_out.push(candidate());
        }
    }
}

#[derive(Debug, Clone)]
pub struct Item<'s> {
    /// The dialect that it is written in.
    pub dialect: &'static str,
    /// The kind, such as `context`.
    pub kind: &'static str,
    /// Its name, or its position in its file when it has none.
    pub name: Name<'s>,
    /// The file it stands in, absolute.
    pub path: &'s Path,
    /// The line it begins on, from 1.
    pub line: usize,
    /// The scope: `project`, `user` or the dialect's own word.
    pub scope: &'static str,
    /// The condition of its dialect, such as `always`; `None` where a dialect has none.
    pub trigger: Option<&'static str>,
    /// True if its author asks to hold a change back until it was read.
    pub holds: bool,
    /// The check of the rule, if it has a valid one.
    pub check: Option<&'s Arc<RuleCheck>>,
    /// True if it is for after an action alone.
    pub is_for_after: bool,
    pub state: State,
    /// The text that is delivered.
    pub content: &'s str,
    /// The description; empty where the dialect has none.
    pub description: &'s str,
    /// The file patterns that scope it.
    pub patterns: &'s [crate::structured::Pattern],
    /// The rank in the answer.
    pub level: Level,
    /// The package that ships it, if it comes from one.
    pub package: Option<&'s crate::dependencies::PackageId>,
}

/// The place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'s> {
    /// The dialect that it is written in.
    pub dialect: &'static str,
    /// The file, absolute.
    pub path: &'s Path,
    /// The line it begins on, from 1.
    pub line: usize,
}

/// The name of an item. It is formatted only when it is shown, which saves work on the hook's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Name<'s> {
    /// The position in a list of its file.
    Entry {
        /// The list, such as `context`.
        list: &'static str,
        index: usize,
    },
    /// A name of its own.
    Text(&'s str),
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Entry { list, index } => write!(formatter, "{list}[{index}]"),
            Name::Text(name) => formatter.write_str(name),
        }
    }
}

/// The way in which an item is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Its text is part of the briefing.
    Active,
    /// The agent sees its description and may ask for it.
    Listed,
    /// It waits until the user mentions it.
    Manual,
}

impl State {
    /// Returns the state's name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Active => "active",
            State::Listed => "listed",
            State::Manual => "manual",
        }
    }
}

/// An item that applies, or would apply when asked for.
#[derive(Debug, Clone)]
pub struct Applied<'s> {
    pub item: Item<'s>,
    /// The reason why it applies.
    pub reason: Reason<'s>,
    /// Other places of the same text, which is delivered once.
    pub also: Vec<Origin<'s>>,
}

impl<'s> Applied<'s> {
    /// Puts an item into the answer.
    pub fn new(item: Item<'s>, reason: Reason<'s>) -> Applied<'s> {
        Applied { item, reason, also: Vec::new() }
    }

    /// Returns the place of the item.
    pub fn origin(&self) -> Origin<'s> {
        let Item { dialect, path, line, .. } = self.item;
        Origin { dialect, path, line }
    }

    /// Turns it into a candidate that does not apply, with another reason.
    pub fn leave_out(self, reason: Reason<'s>) -> LeftOut<'s> {
        let Item { dialect, kind, name, path, line, content, level, .. } = self.item;
        LeftOut { dialect, kind, name, path, line, content, level, reason }
    }
}

/// A candidate that does not apply.
#[derive(Debug, Clone)]
pub struct LeftOut<'s> {
    /// The dialect that it is written in.
    pub dialect: &'static str,
    /// The kind, such as `context` or `decision`.
    pub kind: &'static str,
    /// Its name, or its position in its file.
    pub name: Name<'s>,
    /// The file it stands in, absolute.
    pub path: &'s Path,
    /// The line it begins on, from 1.
    pub line: usize,
    /// Its text, for a search in the candidates.
    pub content: &'s str,
    /// The rank in the answer.
    pub level: Level,
    /// The reason why it does not apply.
    pub reason: Reason<'s>,
}

/// A decision that binds the target.
#[derive(Debug, Clone)]
pub struct BindingDecision<'s> {
    pub decision: &'s crate::structured::Decision,
    /// The file it stands in, absolute.
    pub path: &'s Path,
    /// The reason why it binds.
    pub reason: Reason<'s>,
}

/// The part of an item that a client has without being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadedPart {
    Whole,
    /// The name and the description: the agent reads the rest when it needs it.
    Listing,
    /// The same, once the user has approved the text in the client.
    ListingOnceApproved,
}
impl LoadedPart {
    /// Returns whether it is the name and the description.
    pub fn is_listing(self) -> bool {
        self != LoadedPart::Whole
    }
}

/// The reason why an item applies or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason<'s> {
    /// The question names no path.
    Listed,
    /// The dialect's own fixed words.
    Stated(&'s str),
    /// The dialect's words, composed for this question.
    Composed(String),
    /// A pattern matches the file or directory.
    Covers {
        /// The field and the pattern in it.
        pattern: &'s str,
    },
    /// A pattern matches the file, which is being read, and the item is for before an edit or a creation: the last chance.
    Ahead {
        pattern: &'s str,
        /// The actions of the item.
        on: Actions,
    },
    /// A pattern could match a file inside the directory.
    CoversInside {
        pattern: &'s str,
    },
    NotCovered {
        patterns: &'s [crate::structured::Pattern],
    },
    Excluded {
        pattern: &'s str,
    },
    /// The `exclude` patterns match everything inside the directory.
    ExcludedInside {
        patterns: &'s [crate::structured::Pattern],
    },
    /// The item is for other actions.
    OtherAction {
        /// The actions of the item.
        on: Actions,
    },
    /// The item is for the other timing.
    OtherTiming {
        /// The timing of the item.
        when: Timing,
    },
    /// A pattern in a field of a client's own file matches.
    Glob {
        /// The field, such as `paths`.
        field: &'static str,
        pattern: &'s str,
    },
    /// No pattern in a field of a client's own file matches.
    NoGlob {
        /// The field, such as `paths`.
        field: &'static str,
        patterns: &'s [String],
    },
    /// The client that asks loads the item by itself.
    LoadedByClient {
        client: &'s str,
        /// The part that it loads.
        part: LoadedPart,
    },
    /// The answer has the same text from another place.
    SameText {
        origin: Origin<'s>,
    },
    /// The client that asks loads the same text from another place.
    SameTextLoaded {
        client: &'s str,
        origin: Origin<'s>,
    },
    /// The item is an installed one, compiled for another client.
    OtherVariant {
        /// The client of the compiled file.
        client: &'s str,
    },
    /// The file belongs to an installed item, which links to it.
    Beside {
        /// The kind of the item, such as `rule`.
        kind: &'static str,
        /// The name of the item.
        name: &'s str,
    },
    /// The token budget is used up.
    OverBudget {
        /// The cost of the item in tokens.
        tokens: usize,
        /// The budget of the whole answer in tokens.
        budget: usize,
    },
    /// The item is invalid; the diagnostics give the place.
    Invalid {
        problem: &'s str,
    },
}

impl<'s> Reason<'s> {
    /// Returns the reason in words, about `path`.
    pub fn display_with_path<'r>(&'r self, path: &'r str) -> About<'r, 's> {
        About { reason: self, path, root: None, has_end: true }
    }
}

/// The kind of a [`Reason`], for callers that branch on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReasonKind {
    /// No path was asked about.
    Listed,
    /// The dialect has a reason of its own.
    Stated,
    Matches,
    /// A pattern that is for every file matches.
    MatchesAll,
    /// A pattern matches the file that is read: guidance for before these actions is due.
    Ahead(Actions),
    NoMatch,
    Excluded,
    /// It is for other actions.
    OtherAction,
    /// It is for the other timing.
    OtherTiming,
    /// The client that asks loads its whole text by itself.
    Loaded,
    /// The client that asks loads it by itself, by name and description.
    ListedByClient,
    /// The client that asks loads the same text from another place.
    SameTextLoaded,
    /// The same text is in the answer from another place.
    SameText,
    /// It is the copy of an installed item for another client.
    OtherVariant,
    /// It is a supporting file of an installed item.
    Supporting,
    /// It does not fit into the budget.
    OverBudget,
    /// Something in it is wrong.
    Invalid,
}

impl<'s> Reason<'s> {
    /// Returns the kind, without the words.
    pub fn kind(&self) -> ReasonKind {
        match self {
            Reason::Listed => ReasonKind::Listed,
            Reason::Stated(_) | Reason::Composed(_) => ReasonKind::Stated,
            Reason::Covers { pattern }
            | Reason::CoversInside { pattern }
            | Reason::Glob { pattern, .. }
                if matches!(*pattern, "**" | "**/*" | "/**") =>
            {
                ReasonKind::MatchesAll
            }
            Reason::Covers { .. } | Reason::CoversInside { .. } | Reason::Glob { .. } => {
                ReasonKind::Matches
            }
            Reason::Ahead { on, .. } => ReasonKind::Ahead(*on),
            Reason::NotCovered { .. } | Reason::NoGlob { .. } => ReasonKind::NoMatch,
            Reason::Excluded { .. } | Reason::ExcludedInside { .. } => ReasonKind::Excluded,
            Reason::OtherAction { .. } => ReasonKind::OtherAction,
            Reason::OtherTiming { .. } => ReasonKind::OtherTiming,
            Reason::LoadedByClient { part: LoadedPart::Whole, .. } => ReasonKind::Loaded,
            Reason::LoadedByClient { .. } => ReasonKind::ListedByClient,
            Reason::SameTextLoaded { .. } => ReasonKind::SameTextLoaded,
            Reason::SameText { .. } => ReasonKind::SameText,
            Reason::OtherVariant { .. } => ReasonKind::OtherVariant,
            Reason::Beside { .. } => ReasonKind::Supporting,
            Reason::OverBudget { .. } => ReasonKind::OverBudget,
            Reason::Invalid { .. } => ReasonKind::Invalid,
        }
    }

    /// Returns what the words end in: the path that was asked about, another place, or neither.
    pub fn ends_in(&self) -> Option<ReasonEnd<'s>> {
        match self {
            Reason::SameText { origin } | Reason::SameTextLoaded { origin, .. } => {
                Some(ReasonEnd::Place(*origin))
            }
            Reason::Covers { .. }
            | Reason::Ahead { .. }
            | Reason::CoversInside { .. }
            | Reason::NotCovered { .. }
            | Reason::Excluded { .. }
            | Reason::ExcludedInside { .. }
            | Reason::Glob { .. }
            | Reason::NoGlob { .. } => Some(ReasonEnd::Path),
            _ => None,
        }
    }
}

/// The end of a [`Reason`] in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasonEnd<'s> {
    /// The path that was asked about.
    Path,
    Place(Origin<'s>),
}

/// A reason in words. It names other places by their absolute paths, unless a root is given.
#[derive(Debug, Clone, Copy)]
pub struct About<'r, 's> {
    reason: &'r Reason<'s>,
    path: &'r str,
    root: Option<&'r Path>,
    has_end: bool,
}

impl<'r> About<'r, '_> {
    /// Leaves out the path or the place that the words end in ([`Reason::ends_in`]).
    #[must_use]
    pub fn without_end(self) -> Self {
        About { has_end: false, ..self }
    }

    /// Names places below `root` relative to it.
    #[must_use]
    pub fn seen_from(self, root: &'r Path) -> Self {
        About { root: Some(root), ..self }
    }

    /// Writes the reason without the path or place that it ends in.
    fn write_words(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let does = |count| if count == 1 { "does" } else { "do" };
        match self.reason {
            Reason::Listed => formatter.write_str("is listed because no path was given"),
            Reason::Stated(words) => formatter.write_str(words),
            Reason::Composed(words) => formatter.write_str(words),
            Reason::Covers { pattern } => write!(formatter, "match `{pattern}` covers"),
            Reason::Ahead { pattern, on } => {
                write!(formatter, "delivered on read, before {on}: ")?;
                write!(formatter, "match `{pattern}` covers")
            }
            Reason::CoversInside { pattern } => {
                write!(formatter, "match `{pattern}` can cover files in")
            }
            Reason::NotCovered { patterns } => {
                let verb = does(patterns.len());
                write!(formatter, "match {} {verb} not cover", Quoted(patterns))
            }
            Reason::Excluded { pattern } => write!(formatter, "exclude `{pattern}` covers"),
            Reason::ExcludedInside { patterns } => {
                let verb = if patterns.len() == 1 { "covers" } else { "cover" };
                write!(formatter, "exclude {} {verb} everything in", Quoted(patterns))
            }
            Reason::OtherAction { on } => write!(formatter, "applies only on {on}"),
            Reason::OtherTiming { when } => {
                write!(formatter, "applies only {} the action", when.as_str())
            }
            Reason::Glob { field, pattern } => write!(formatter, "{field} `{pattern}` covers"),
            Reason::NoGlob { field, patterns } => {
                let verb = does(patterns.len());
                write!(formatter, "{field} {} {verb} not cover", Quoted(patterns))
            }
            Reason::LoadedByClient { client, part: LoadedPart::Whole } => {
                write!(formatter, "{client} loads it by itself")
            }
            Reason::LoadedByClient { client, part: LoadedPart::Listing } => {
                write!(formatter, "{client} loads it by itself, by name and description")
            }
            Reason::LoadedByClient { client, part: LoadedPart::ListingOnceApproved } => {
                write!(formatter, "{client} lists it once you approve its text in {client}")
            }
            Reason::SameText { .. } => formatter.write_str("has the same text as"),
            Reason::SameTextLoaded { client, .. } => {
                write!(formatter, "{client} loads the same text from")
            }
            Reason::OtherVariant { client } => {
                write!(formatter, "is the copy for {client}")
            }
            Reason::Beside { kind, name } => {
                write!(formatter, "is a supporting file of the {kind} `{name}`")
            }
            Reason::OverBudget { tokens, budget } => {
                write!(formatter, "its {tokens} tokens do not fit in the budget of {budget}")
            }
            Reason::Invalid { problem } => write!(formatter, "invalid: {problem}"),
        }
    }
}

impl fmt::Display for About<'_, '_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_words(formatter)?;
        match self.reason.ends_in().filter(|_| self.has_end) {
            None => Ok(()),
            Some(ReasonEnd::Path) => {
                let path = if self.path.is_empty() { "." } else { self.path };
                write!(formatter, " {path}")
            }
            Some(ReasonEnd::Place(origin)) => {
                let below = self.root.and_then(|root| origin.path.strip_prefix(root).ok());
                write!(formatter, " {}", Origin { path: below.unwrap_or(origin.path), ..origin })
            }
        }
    }
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.path.display(), self.line)
    }
}

struct Quoted<'s, P>(&'s [P]);

impl<P: AsRef<str>> fmt::Display for Quoted<'_, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, pattern) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(formatter, "{comma}`{}`", pattern.as_ref())?;
        }
        Ok(())
    }
}
