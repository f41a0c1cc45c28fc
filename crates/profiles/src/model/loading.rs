//! The loading of a client: its actions and modes, and the files that it passes over.

use serde::Deserialize;

use super::Seen;
use super::constant::{List, Text};

/// The way in which a client loads its files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Loading {
    /// The action on a file that loads what is nested or scoped.
    pub attaches: Attaches,
    /// The skills that it passes over.
    pub skills_passed_over: Option<PassedOverFacts>,
    /// The agents that it passes over.
    pub agents_passed_over: Option<PassedOverFacts>,
    /// The setting that changes what it loads.
    pub modes: Option<LoadingModes>,
    /// The evidence that a shell command that reads a file attaches as a read does; `None` if it does not.
    pub shell_reads: Option<Seen>,
    /// The evidence that a file that was attached before a compaction is not attached again after it.
    pub not_after_compaction: Option<Seen>,
    /// The evidence that a file that was attached for another agent of the session is not attached again for a subagent.
    pub not_in_subagents: Option<Seen>,
    /// The evidence that an agent is there only after the user has approved its text in the client.
    pub agents_need_approval: Option<Seen>,
    /// The evidence that it lists commands to the model, beside skills.
    pub lists_commands: Option<Seen>,
    /// True if scoped files are loaded only for files below the start directory.
    pub scoped_below_start: bool,
    /// The names of the files in which it follows `@path`.
    pub imports: List<Text>,
    /// True if it follows a project's imports only to files below the start directory.
    pub imports_below_start: bool,
    /// The bytes of a project's instructions that it loads; the rest is cut.
    pub most_bytes: Option<usize>,
}

/// The action on a file that loads what is nested or scoped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum Attaches {
    /// A read, an edit or a creation.
    #[default]
    #[serde(rename = "any")]
    OnAnyAction,
    #[serde(rename = "read")]
    OnRead,
    /// A read with the client's own tool, and no shell command.
    #[serde(rename = "own-read")]
    WithOwnRead,
}

/// A setting that changes what a client loads.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LoadingModes {
    /// The version and the day.
    pub seen: Seen,
    /// The files below the home directory that have it. Those of a project do not count.
    pub home: List<Text>,
    /// The file of the machine that has it, which counts before the user's.
    pub machine: Option<MachineFile>,
    /// The keys on the way to the options.
    pub table: List<Text>,
    pub key: Text,
    /// Its earlier name, with its words.
    pub former: Option<FormerOption>,
    /// The entry that switches the option off.
    pub switch: Option<ModeSwitch>,
    /// The mode without a setting, and for a word that is no mode.
    pub usual: Text,
    pub modes: List<LoadingMode>,
}

/// The earlier name of an option.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FormerOption {
    pub key: Text,
    /// The mode for a word that is not listed.
    pub usual: Text,
    pub words: List<FormerWord>,
}

/// A word of an option's earlier name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FormerWord {
    pub word: Text,
    /// The mode that it stands for.
    pub mode: Text,
}

/// A file of a client's settings for all users of a machine: its absolute path on each system.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MachineFile {
    pub linux: Text,
    pub macos: Text,
    pub windows: Text,
}

/// A key that switches an option off where it is `false`, in the settings of a project, too.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ModeSwitch {
    pub table: Text,
    pub key: Text,
    /// The mode that is then in force.
    pub mode: Text,
}

/// A mode in which a client loads its files.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LoadingMode {
    /// Its name in the settings.
    pub name: Text,
    /// The places that it does not read in this mode.
    pub never: List<Text>,
    /// The places that it reads whatever lies beside them.
    pub always: List<Text>,
    /// True if it loads no instructions and no rules before a file is worked on.
    #[serde(default)]
    pub nothing_at_start: bool,
}

/// The files of a place that a client passes over, most of them without a word.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct PassedOverFacts {
    /// The version and the day.
    pub seen: Option<Seen>,
    #[serde(rename = "without-header")]
    pub needs_header: bool,
    /// Those without one of these keys, or with an empty text there.
    pub without: List<Text>,
    /// Those without one of these keys; an empty text counts.
    pub without_key: List<Text>,
    /// Those with a key that is none of these; no keys stand for all.
    pub keys: List<Text>,
    /// Those whose text has fewer characters.
    pub shorter_than: usize,
    /// Those whose name has a blank.
    #[serde(rename = "blank-in-name")]
    pub has_blank_in_name: bool,
    /// Those in a directory of the place.
    pub nested: bool,
    /// Those whose file name stands in one of these places of the same directory, too.
    pub named_as_in: List<Text>,
    /// The same for names without their endings, in which case does not count.
    pub called_as_in: List<Text>,
}
