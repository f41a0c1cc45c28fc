//! The question: a path, the action on it, before or after, and the client that asks.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use brief_profiles::{Attaches, BUILTIN, ClientRead, ClientVersion, find_installed_version};
use brief_syntax::{Root, Target, TargetKind};
use brief_system::System;

use crate::dependencies::DependencyChoice;
use crate::hosted;
use crate::tasks::Selectors;

/// One moment of work: the whole question. Dialects read for it and answer from it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moment {
    /// The root of the project.
    pub root: Root,
    /// The path as it was asked about, absolute; empty for the whole project. It need not exist.
    pub path: PathBuf,
    /// The file or directory below the root; `None` asks about the whole project, whatever the
    /// patterns say.
    pub target: Option<Target>,
    /// True for a path outside the root: nothing along the way to it counts. The target
    /// is then the path as the user typed it.
    pub is_outside: bool,
    /// The directory that the client has open; `None` for the root.
    pub mounted: Option<Mounted>,
    /// The action; `None` asks for all actions.
    pub action: Option<Action>,
    /// Before or after it; `None` asks for both.
    pub timing: Option<Timing>,
    /// The name of the client that asks. Items that it loads by itself are not delivered again.
    pub client: Option<String>,
    /// The installed version of that client, where what it loads by itself depends on it; `None` for the newest one.
    pub client_version: Option<ClientVersion>,
    /// The tool that does it.
    pub tool: MomentTool,
    /// The occasion of the question.
    pub occasion: Occasion,
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
    /// The tokens that the answer may cost; `None` for any number.
    pub budget: Option<usize>,
    /// The user's permissions for client-hosted context.
    pub hosted: hosted::HostedOptions,
    /// The treatment of guidance in the code of dependencies.
    pub strangers: Strangers,
    /// The packages whose guidance is listed.
    pub dependencies: DependencyChoice,
    pub dialects: Dialects,
    /// True to skip the candidates that do not apply. What the client loads by itself is kept,
    /// because it decides about the rest.
    pub skip_left_out: bool,
    /// True to deliver the same text from each place that has it.
    pub keep_repetitions: bool,
}

/// The directory that a client has open, where that is not the root of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounted {
    /// The directory as it was named, absolute.
    pub path: PathBuf,
    /// The same without links; the project's root when it cannot be opened.
    pub root: Root,
    /// The file or directory of the question, below this directory; `None` when it lies outside.
    pub target: Option<Target>,
}

impl Moment {
    /// Asks about a path, which starts at `base` if it is relative.
    pub fn from_path(system: &dyn System, root: Root, base: &Path, path: &Path) -> Moment {
        let located = root.locate_target(system, base, path);
        let is_outside = located.is_none();
        let as_typed = || Target::from_slashed(&path.to_string_lossy(), TargetKind::File);
        let target = Some(located.unwrap_or_else(as_typed));
        Moment { root, path: base.join(path), target, is_outside, ..Moment::default() }
    }

    /// Sets the client that asks, and its installed version where that counts.
    pub fn set_client(&mut self, system: &dyn System, name: Option<String>) {
        let client = name.as_deref().and_then(|name| BUILTIN.find_client(name));
        let client = client.filter(|client| client.depends_on_version());
        self.client_version = client.and_then(|client| find_installed_version(system, client));
        self.client = name;
    }

    /// Returns whether the client's version reads a place at all.
    pub(crate) fn reaches_version(&self, read: &ClientRead) -> bool {
        let (Some(since), Some(version)) = (&read.since, &self.client_version) else { return true };
        version.has_reached(since)
    }

    /// Sets the directory that the client has open.
    #[must_use]
    pub fn mounted_at(mut self, system: &dyn System, path: PathBuf) -> Moment {
        self.mounted = (self.root.path() != path).then(|| {
            let (root, target) = match Root::open(system, &path) {
                Ok(mounted) => {
                    let target = mounted.locate_target(system, self.root.path(), &self.path);
                    (mounted, target)
                }
                Err(_) => (self.root.clone(), self.located_target().cloned()),
            };
            Mounted { path, root, target }
        });
        self
    }

    /// Returns the file or directory below the root; `None` when none is asked about, or one that
    /// lies outside.
    pub fn located_target(&self) -> Option<&Target> {
        self.target.as_ref().filter(|_| !self.is_outside)
    }

    /// Returns the mounted directory as it was named.
    pub fn mounted_path(&self) -> &Path {
        self.mounted.as_ref().map_or(self.root.path(), |mounted| &mounted.path)
    }

    /// Returns the file or directory below the mounted directory; `None` when it lies outside.
    pub fn mounted_target(&self) -> Option<&Target> {
        match &self.mounted {
            Some(mounted) => mounted.target.as_ref(),
            None => self.located_target(),
        }
    }

    /// Returns the directory of dependencies that the path lies in: `/p/node_modules` for
    /// `/p/node_modules/x/a.js`. A mounted directory does not count as a dependency.
    pub fn dependency_directory(&self) -> Option<PathBuf> {
        let target = self.mounted_target().filter(|_| self.strangers == Strangers::LeftOut)?;
        let base = self.mounted.as_ref().map_or(self.root.path(), |mounted| mounted.root.path());
        let names = target.directories();
        let first = names.iter().position(|name| is_for_dependencies(name))?;
        Some(base.join(names[..=first].iter().collect::<PathBuf>()))
    }

    /// Returns the path below the root for people and reasons; empty for the root and for the whole
    /// project.
    pub fn slashed_path(&self) -> &str {
        self.target.as_ref().map(Target::slashed).unwrap_or_default()
    }

    /// Returns whether the client now loads files that no other action, or no shell command, brings: a later call must
    /// not repeat them.
    pub fn loads_with_tool(&self) -> bool {
        let client = self.client.as_deref().and_then(|name| BUILTIN.find_client(name));
        client.is_some_and(|client| {
            let mut others = client.reads.iter().filter_map(|read| read.attaches);
            self.attaches_files(client.loading.attaches)
                || others.any(|attaches| self.attaches_files(attaches))
        })
    }

    /// Returns whether a client that attaches files in this way does it now; without an action, some action may.
    pub(crate) fn attaches_files(&self, attaches: Attaches) -> bool {
        let reads = || self.action.is_none_or(|action| action == Action::Read);
        match (attaches, self.tool) {
            (_, MomentTool::Shell) | (Attaches::WithOwnRead, MomentTool::ShellRead) => false,
            (Attaches::OnAnyAction, _) => true,
            (Attaches::OnRead | Attaches::WithOwnRead, _) => reads(),
        }
    }

    /// Returns the actions that may follow this one, and whose "before" is therefore now.
    ///
    /// Clients show a text that belongs to a call only together with its result, so guidance for
    /// before an edit would come after it. The read of the file is the last moment before the edit;
    /// for a new file it is the read of a similar one (ruling K1); for every file it is the start of
    /// the conversation. Without a client the set is empty.
    pub fn actions_ahead(&self) -> Actions {
        self.ahead_at(self.target.as_ref().map(Target::kind))
    }

    /// Returns the same for a question about something of that kind.
    pub fn ahead_at(&self, kind: Option<TargetKind>) -> Actions {
        let is_file = kind == Some(TargetKind::File);
        if self.client.is_some()
            && self.action == Some(Action::Read)
            && (is_file || self.occasion == Occasion::Start)
        {
            Actions::NONE.with(Action::Edit).with(Action::Create)
        } else {
            Actions::NONE
        }
    }
}

/// The tool that an action is done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MomentTool {
    /// One of the client's own, or not known.
    #[default]
    Own,
    /// A shell command: a client attaches no files to it.
    Shell,
    /// A shell command that reads, in a client that attaches files to it as to its own tool.
    ShellRead,
}

/// The occasion of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Occasion {
    #[default]
    Work,
    /// The start of a conversation: only items that apply to the whole project count.
    Start,
}

/// Returns whether a path with `/` between names lies in a directory that tools fill with the code of dependencies (ruling X34).
pub fn is_in_dependency(slashed: &str) -> bool {
    slashed.split('/').rev().skip(1).any(|name| is_for_dependencies(OsStr::new(name)))
}

/// Directories that tools fill with the code of dependencies.
pub(crate) const DEPENDENCIES: [&str; 5] =
    ["node_modules", "bower_components", "site-packages", ".venv", "vendor"];

/// Returns whether tools fill a directory of this name with the code of dependencies.
fn is_for_dependencies(name: &OsStr) -> bool {
    DEPENDENCIES.iter().any(|known| name == *known)
}

/// The treatment of guidance in the code of dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strangers {
    /// It is left out (ruling X34).
    #[default]
    LeftOut,
    /// It counts, as the published rules of `AGENTS.yaml` have it.
    Counted,
}

/// The dialects to ask, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Dialects {
    #[default]
    All,
    Only(Vec<&'static str>),
    Except(Vec<&'static str>),
}

/// An action on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    Read,
    /// The file exists and is changed.
    Edit,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Actions(u8);

impl Actions {
    pub const ALL: Actions = Actions(0b111);

    pub const NONE: Actions = Actions(0);

    #[must_use]
    pub const fn with(self, action: Action) -> Actions {
        Actions(self.0 | 1 << action as u8)
    }

    /// Returns the actions that are in both sets.
    #[must_use]
    pub fn and(self, other: Actions) -> Actions {
        Actions(self.0 & other.0)
    }

    /// Returns the actions that are in either set.
    #[must_use]
    pub fn or(self, other: Actions) -> Actions {
        Actions(self.0 | other.0)
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
    Before,
    After,
}

impl Timing {
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
