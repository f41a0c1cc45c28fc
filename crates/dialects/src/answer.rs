//! The answer: what applies and what does not, each with its reason.
//!
//! Everything is borrowed from the shelf that it stands on, because a question on a hook's path
//! looks at thousands of entries to deliver three.

use std::fmt;
use std::path::Path;

use crate::moment::{Actions, Timing};

/// How general something is: whose it is, how deep its directory lies, whether it names files.
///
/// The order of an answer, general first: the user's own before the project's, a directory before
/// those in it, what is for all files before what is for some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level {
    /// Whose it is.
    pub owner: Owner,
    /// How many names the path of its directory has, counted from the root of the file system.
    pub depth: usize,
    /// Whether it says for itself which files it is about.
    pub is_scoped: bool,
}

impl Level {
    /// Returns the level of something of the user, wherever it lies.
    pub fn of_user(is_scoped: bool) -> Level {
        Level { owner: Owner::User, depth: 0, is_scoped }
    }

    /// Returns the level of something that holds in `directory` and below.
    pub fn of_directory(directory: &Path, is_scoped: bool) -> Level {
        Level { owner: Owner::Project, depth: directory.components().count(), is_scoped }
    }
}

/// Whose guidance it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The user's, for all projects.
    User,
    /// The project's.
    Project,
}

/// What one or more dialects have to say about a moment.
#[derive(Debug, Default)]
pub struct Answer<'s> {
    /// What applies, whatever its [`State`]: general first, most specific last. What to deliver is
    /// [`Answer::active`].
    pub items: Vec<Applied<'s>>,
    /// The decisions that bind the target, in the same order.
    pub decisions: Vec<Decision<'s>>,
    /// What does not apply, in the same order.
    pub left_out: Vec<LeftOut<'s>>,
    /// What only client-hosted context has: its configuration and MCP servers.
    pub hosted: Option<&'s crate::hosted::Resolution>,
    /// Whether what does not apply is not wanted, for those who ask about every file of a project.
    /// What the client loads by itself is wanted always.
    pub is_short: bool,
}

impl<'s> Answer<'s> {
    /// Returns the items whose text is to be delivered, in order. What is only offered, and what
    /// waits until it is mentioned, is not among them.
    pub fn active(&self) -> impl Iterator<Item = &Applied<'s>> {
        self.in_state(State::Active)
    }

    /// Returns the items that an agent may ask for by their description.
    pub fn offered(&self) -> impl Iterator<Item = &Applied<'s>> {
        self.in_state(State::Offered)
    }

    /// Returns the items that wait until they are mentioned.
    pub fn manual(&self) -> impl Iterator<Item = &Applied<'s>> {
        self.in_state(State::Manual)
    }

    fn in_state(&self, state: State) -> impl Iterator<Item = &Applied<'s>> {
        self.items.iter().filter(move |applied| applied.item.state == state)
    }

    /// Takes note of a candidate that does not apply, if anybody wants to know.
    pub fn leave_out(&mut self, candidate: impl FnOnce() -> LeftOut<'s>) {
        if !self.is_short {
            self.left_out.push(candidate());
        }
    }
}

/// One piece of guidance.
#[derive(Debug, Clone)]
pub struct Item<'s> {
    /// The dialect that it is written in.
    pub dialect: &'static str,
    /// What it is, such as `context`.
    pub kind: &'static str,
    /// Its name, or its place in its file when it has none.
    pub name: Name<'s>,
    /// The file it stands in, absolute.
    pub path: &'s Path,
    /// The line it begins on, from 1.
    pub line: usize,
    /// Where it is valid: `project` or `user`, or what the dialect calls it.
    pub scope: &'static str,
    /// When its dialect uses it, such as `always`; `None` where a dialect has no such thing.
    pub trigger: Option<&'static str>,
    /// Whether it is in the briefing.
    pub state: State,
    /// The text to deliver.
    pub content: &'s str,
    /// What it is about, where the dialect has such a field.
    pub description: &'s str,
    /// The file patterns that scope it.
    pub patterns: &'s [crate::structured::Pattern],
    /// How general it is.
    pub level: Level,
}

/// A place where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'s> {
    /// The dialect that it is written in.
    pub dialect: &'static str,
    /// The file, absolute.
    pub path: &'s Path,
    /// The line it begins on, from 1.
    pub line: usize,
}

/// What a piece of guidance is called. A name is put into words only when somebody reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Name<'s> {
    /// Its place in a list of its file.
    Entry {
        /// The list, such as `context`.
        list: &'static str,
        /// The position, from 0.
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

/// Whether an item is in the briefing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// It is.
    Active,
    /// The agent may ask for it by its description.
    Offered,
    /// Only when somebody mentions it.
    Manual,
}

impl State {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Active => "active",
            State::Offered => "offered",
            State::Manual => "manual",
        }
    }
}

/// An item that applies, or would when asked for.
#[derive(Debug, Clone)]
pub struct Applied<'s> {
    /// The item.
    pub item: Item<'s>,
    /// Why it applies.
    pub reason: Reason<'s>,
    /// Where else the same text stands, which is delivered once.
    pub also: Vec<Origin<'s>>,
}

impl<'s> Applied<'s> {
    /// Puts an item into the answer.
    pub fn new(item: Item<'s>, reason: Reason<'s>) -> Applied<'s> {
        Applied { item, reason, also: Vec::new() }
    }

    /// Returns where it stands.
    pub fn origin(&self) -> Origin<'s> {
        let Item { dialect, path, line, .. } = self.item;
        Origin { dialect, path, line }
    }

    /// Takes it out of the answer for another reason.
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
    /// What it is, such as `context` or `decision`.
    pub kind: &'static str,
    /// Its name, or its place in its file.
    pub name: Name<'s>,
    /// The file it stands in, absolute.
    pub path: &'s Path,
    /// The line it begins on, from 1.
    pub line: usize,
    /// Its text, for people who look for it.
    pub content: &'s str,
    /// How general it is.
    pub level: Level,
    /// Why it does not apply.
    pub reason: Reason<'s>,
}

/// A decision that binds the target.
#[derive(Debug, Clone)]
pub struct Decision<'s> {
    /// The decision itself.
    pub decision: &'s crate::structured::Decision,
    /// The file it stands in, absolute.
    pub path: &'s Path,
    /// Why it binds.
    pub reason: Reason<'s>,
}

/// Why something applies, or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason<'s> {
    /// No path was asked about.
    Listed,
    /// Its dialect says so in these words.
    Stated(&'s str),
    /// Its dialect says so in words made for this question.
    Composed(String),
    /// A pattern matches the file or directory.
    Covers {
        /// The field and the pattern in it.
        pattern: &'s str,
    },
    /// A pattern matches the file, which is read: what is for before an edit or a creation is due.
    Ahead {
        /// The pattern.
        pattern: &'s str,
        /// The actions that it is for.
        on: Actions,
    },
    /// A pattern could match a file inside the directory.
    CoversInside {
        /// The pattern.
        pattern: &'s str,
    },
    /// No pattern matches.
    NotCovered {
        /// The patterns, joined.
        patterns: &'s [crate::structured::Pattern],
    },
    /// An `exclude` pattern matches.
    Excluded {
        /// The pattern.
        pattern: &'s str,
    },
    /// The `exclude` patterns match everything inside the directory.
    ExcludedInside {
        /// The patterns.
        patterns: &'s [crate::structured::Pattern],
    },
    /// It is for other actions.
    OtherAction {
        /// The actions that it is for.
        on: Actions,
    },
    /// It is for the other timing.
    OtherTiming {
        /// The timing that it is for.
        when: Timing,
    },
    /// A pattern in a field of a client's own file matches.
    Glob {
        /// The field, such as `paths`.
        field: &'static str,
        /// The pattern.
        pattern: &'s str,
    },
    /// No pattern in a field of a client's own file matches.
    NoGlob {
        /// The field, such as `paths`.
        field: &'static str,
        /// The patterns.
        patterns: &'s [String],
    },
    /// The client that asks reads it anyway.
    LoadedByClient {
        /// The client.
        client: &'s str,
    },
    /// The same text is in the answer from another place.
    SameText {
        /// That place.
        origin: Origin<'s>,
    },
    /// The client that asks reads the same text from another place.
    SameTextLoaded {
        /// The client.
        client: &'s str,
        /// That place.
        origin: Origin<'s>,
    },
    /// It is an installed item as another client gets it.
    OtherVariant {
        /// The client that it was compiled for.
        client: &'s str,
    },
    /// It lies beside an installed item, which links to it where it is needed.
    Beside {
        /// What the item is, such as `rule`.
        kind: &'static str,
        /// The item.
        name: &'s str,
    },
    /// There is no room for it.
    OverBudget {
        /// What it costs.
        tokens: usize,
        /// What all may cost together.
        budget: usize,
    },
    /// It is broken, and the diagnostics say where.
    Invalid {
        /// What is wrong.
        problem: &'s str,
    },
}

impl<'s> Reason<'s> {
    /// Returns the reason in words, about `path`.
    pub fn about<'r>(&'r self, path: &'r str) -> About<'r, 's> {
        About { reason: self, path, root: None }
    }
}

/// A reason in words. Other places are named by their absolute paths, unless a root is given.
#[derive(Debug, Clone, Copy)]
pub struct About<'r, 's> {
    reason: &'r Reason<'s>,
    path: &'r str,
    root: Option<&'r Path>,
}

impl<'r> About<'r, '_> {
    /// Names places in `root` relative to it, as people like to read them.
    #[must_use]
    pub fn seen_from(self, root: &'r Path) -> Self {
        About { root: Some(root), ..self }
    }

    fn place<'s>(&self, origin: &Origin<'s>) -> Origin<'s> {
        let below = self.root.and_then(|root| origin.path.strip_prefix(root).ok());
        Origin { path: below.unwrap_or(origin.path), ..*origin }
    }
}

impl fmt::Display for About<'_, '_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "." } else { self.path };
        match self.reason {
            Reason::Listed => write!(formatter, "listed without a path"),
            Reason::Stated(words) => formatter.write_str(words),
            Reason::Composed(words) => formatter.write_str(words),
            Reason::Covers { pattern } => write!(formatter, "match `{pattern}` covers {path}"),
            Reason::Ahead { pattern, on } => write!(
                formatter,
                "match `{pattern}` covers {path}; what is for before {on} is due with the read"
            ),
            Reason::CoversInside { pattern } => {
                write!(formatter, "match `{pattern}` can cover files in {path}")
            }
            Reason::NotCovered { patterns } => {
                let verb = if patterns.len() == 1 { "does" } else { "do" };
                write!(formatter, "match {} {verb} not cover {path}", Quoted(patterns))
            }
            Reason::Excluded { pattern } => write!(formatter, "exclude `{pattern}` covers {path}"),
            Reason::ExcludedInside { patterns } => {
                let verb = if patterns.len() == 1 { "covers" } else { "cover" };
                write!(formatter, "exclude {} {verb} everything in {path}", Quoted(patterns))
            }
            Reason::OtherAction { on } => write!(formatter, "it is for: on {on}"),
            Reason::OtherTiming { when } => write!(formatter, "it is for: when {}", when.as_str()),
            Reason::Glob { field, pattern } => {
                write!(formatter, "{field} `{pattern}` covers {path}")
            }
            Reason::NoGlob { field, patterns } => {
                let verb = if patterns.len() == 1 { "does" } else { "do" };
                write!(formatter, "{field} {} {verb} not cover {path}", Quoted(patterns))
            }
            Reason::LoadedByClient { client } => write!(formatter, "{client} loads it by itself"),
            Reason::SameText { origin } => {
                write!(formatter, "the same text as {}", self.place(origin))
            }
            Reason::SameTextLoaded { client, origin } => {
                write!(formatter, "{client} loads the same text from {}", self.place(origin))
            }
            Reason::OtherVariant { client } => {
                write!(formatter, "it is the copy of the item for {client}")
            }
            Reason::Beside { kind, name } => {
                write!(formatter, "a supporting file of the {kind} `{name}`")
            }
            Reason::OverBudget { tokens, budget } => {
                write!(formatter, "its {tokens} tokens do not fit into the budget of {budget}")
            }
            Reason::Invalid { problem } => write!(formatter, "it is not valid: {problem}"),
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
