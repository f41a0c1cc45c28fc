//! The question: a path, the action on it, before or after, and the client that asks.

use std::fmt;
use std::path::PathBuf;

use brief_syntax::{Target, TargetKind};

use crate::tasks::Selectors;

/// One moment of work, as a question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moment {
    /// The file or directory; `None` asks about the whole project and passes over patterns.
    pub target: Option<Target>,
    /// The action; `None` asks for all actions.
    pub action: Option<Action>,
    /// Before or after it; `None` asks for both.
    pub timing: Option<Timing>,
    /// The name of the client that asks. Items that it loads by itself are not delivered again.
    pub client: Option<String>,
    /// The directory in which this client was started, absolute and without links; `None` for the
    /// root of the question. Many clients load the files between the root and that directory by
    /// themselves.
    pub started: Option<PathBuf>,
    /// The name of the current task: some rules are for some tasks only.
    pub task: Option<String>,
    /// The selectors that choose task files.
    pub selectors: Selectors,
    /// The names that the user mentions.
    pub mentions: Vec<String>,
}

impl Moment {
    /// Returns the actions that may follow this one, and whose "before" is therefore now.
    ///
    /// Clients show a text that belongs to a call only together with its result, so guidance for
    /// before an edit would come after it. The read of the file is the last moment before the edit;
    /// for a new file it is the read of a similar one (ruling K1). Without a client the set is
    /// empty.
    pub fn ahead(&self) -> Actions {
        let is_file = self.target.as_ref().is_some_and(|target| target.kind() == TargetKind::File);
        if self.client.is_some() && self.action == Some(Action::Read) && is_file {
            Actions::NONE.with(Action::Edit).with(Action::Create)
        } else {
            Actions::NONE
        }
    }
}

/// An action on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// The file is read.
    Read,
    /// The file exists and is changed.
    Edit,
    /// The file is new.
    Create,
}

impl Action {
    /// All actions, in the order in which the document lists them.
    pub const ALL: [Action; 3] = [Action::Read, Action::Edit, Action::Create];

    /// Returns the name of the action in files and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Read => "read",
            Action::Edit => "edit",
            Action::Create => "create",
        }
    }

    /// Finds an action by its name, which is case-sensitive.
    pub fn from_name(name: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

/// A set of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Actions(u8);

impl Actions {
    /// Every action.
    pub const ALL: Actions = Actions(0b111);

    /// No action.
    pub const NONE: Actions = Actions(0);

    /// Adds an action.
    #[must_use]
    pub const fn with(self, action: Action) -> Actions {
        Actions(self.0 | 1 << action as u8)
    }

    /// Returns the actions that are in both sets.
    #[must_use]
    pub fn and(self, other: Actions) -> Actions {
        Actions(self.0 & other.0)
    }

    /// Formats the actions for a sentence, such as `an edit or a creation`.
    pub fn with_articles(self) -> String {
        let noun = |action: &Action| match action {
            Action::Read => "a read",
            Action::Edit => "an edit",
            Action::Create => "a creation",
        };
        let actions = Action::ALL.iter().filter(|action| self.contains(**action));
        actions.map(noun).collect::<Vec<_>>().join(" or ")
    }

    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether an action is in the set.
    pub const fn contains(self, action: Action) -> bool {
        self.0 & 1 << action as u8 != 0
    }
}

impl fmt::Display for Actions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Action::ALL.into_iter().filter(|&action| self.contains(action));
        formatter.write_str(&names.map(Action::as_str).collect::<Vec<_>>().join(", "))
    }
}

/// The order of guidance and action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Timing {
    /// Before the action.
    Before,
    /// After the action.
    After,
}

impl Timing {
    /// Both timings.
    pub const ALL: [Timing; 2] = [Timing::Before, Timing::After];

    /// Returns the name of the timing in files and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Timing::Before => "before",
            Timing::After => "after",
        }
    }

    /// Finds a timing by its name, which is case-sensitive.
    pub fn from_name(name: &str) -> Option<Timing> {
        Timing::ALL.into_iter().find(|timing| timing.as_str() == name)
    }
}
