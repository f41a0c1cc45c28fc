//! The keys of a client's table of checks, `checks/NAME.toml`: its own files, and what may stand in them.
//!
//! A table is data about the client alone: which files it reads, which keys, values, events and tools it knows, and what
//! it does with a value that it does not know. It lies beside the client's file, because it is several times as long and
//! only `lint` needs it: the build checks it and keeps it as JSON, which is parsed when a project has such a file. So the
//! hook pays nothing for it.

pub(crate) mod expected;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model::constant::{List, Text, required};
use crate::model::{Evidence, Seen};

pub use expected::Expected;

/// The checks of one client's files.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ClientChecks {
    /// The name for people, with its verb in the singular: `Claude Code`.
    pub name: Text,
    /// The version and the day that the facts were seen in.
    pub seen: Seen,
    /// Lists of names that values are compared with: `events`, `tools`.
    #[serde(default)]
    pub lists: BTreeMap<String, List<Text>>,
    /// Names for what may stand in a place.
    #[serde(default)]
    pub types: BTreeMap<String, Text>,
    pub files: List<CheckedFile>,
    /// The tables in them, by a name of ours.
    #[serde(default)]
    pub tables: BTreeMap<String, CheckedTable>,
}

/// A file of a client, and how it is read.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CheckedFile {
    /// Its places below a directory that the client is started in: `*` is a part of a name, `**` any directories, and
    /// `PLUGIN` the directory of a plugin.
    #[serde(deserialize_with = "required")]
    pub paths: List<Text>,
    /// The words for it in a message: `the settings`.
    pub noun: Text,
    pub format: FileFormat,
    /// The value at its top.
    pub top: Text,
    /// The reaction of the client to a text that is not valid, and to values for which nothing else is said.
    pub reaction: Reaction,
    /// The evidence, where it is not the client's.
    pub seen: Option<Seen>,
}

/// The format of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileFormat {
    /// JSON, without comments and trailing commas.
    Json,
    JsonWithComments,
    /// JSON with comments and trailing commas.
    Jsonc,
    Toml,
    FrontMatter,
    /// A program that is called like the event it is for.
    Program,
}

/// A table (object, mapping) of a client's file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct CheckedTable {
    /// The words for it in a message: `a hook`.
    pub noun: Option<Text>,
    /// The keys that the client knows, and what may stand in each.
    pub keys: BTreeMap<String, CheckedKey>,
    /// The keys that it needs.
    pub required: List<Text>,
    /// The keys of which it needs one.
    pub one_of: List<Text>,
    /// Pairs of keys of which it takes one.
    pub exclusive: List<(Text, Text)>,
    /// Pairs of keys, the first of which needs the second.
    pub needs: List<(Text, Text)>,
    /// The values of keys that are missing and have one right value, for a fix.
    pub insert: BTreeMap<String, Text>,
    /// The values of every other key.
    pub each: Option<Text>,
    /// The list that holds all other keys, with `each`.
    pub names: Option<Text>,
    /// Names that may not be keys, with `each`.
    pub reserved: List<Text>,
    /// The reaction to an unknown key. Without, only a misspelt one is reported, as ignored in silence.
    pub unknown: Option<Reaction>,
    /// The reaction to everything else in the table that is wrong, where it is not the file's.
    pub reaction: Option<Reaction>,
    /// The flag with which the client takes the table, whatever else is wrong in it.
    pub excused_by: Option<Text>,
    /// Keys of other clients or formats that have no effect here, each with advice.
    pub without_effect: BTreeMap<String, Text>,
    /// The key whose value tells which of `cases` it is.
    pub by: Option<Text>,
    /// The tables for each value of `by`.
    pub cases: BTreeMap<String, Text>,
    /// The tables without `by`: pairs of a key that is there, and the table; an empty key is always there.
    pub otherwise: List<(Text, Text)>,
}

/// A key that a client knows.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "KeyEntry")]
pub struct CheckedKey {
    /// The values that may stand there.
    pub expected: Text,
    /// The reaction to anything else, where it is not the table's.
    pub reaction: Option<Reaction>,
    /// The advice, where the general one does not help.
    pub help: Option<Text>,
    /// True if the client knows the key and does nothing with it here.
    pub no_effect: bool,
}

#[derive(Deserialize)]
#[serde(untagged, rename_all_fields = "kebab-case", deny_unknown_fields)]
enum KeyEntry {
    Expected(Text),
    Full {
        is: Text,
        reaction: Option<Reaction>,
        help: Option<Text>,
        #[serde(default)]
        no_effect: bool,
    },
}

impl From<KeyEntry> for CheckedKey {
    fn from(entry: KeyEntry) -> CheckedKey {
        match entry {
            KeyEntry::Expected(expected) => {
                CheckedKey { expected, reaction: None, help: None, no_effect: false }
            }
            KeyEntry::Full { is, reaction, help, no_effect } => {
                CheckedKey { expected: is, reaction, help, no_effect }
            }
        }
    }
}

/// The reaction of a client to a value that it does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reaction {
    Stops,
    /// It reads nothing of the file.
    RefusesFile,
    /// It leaves the entry out, and says so.
    DropsEntry,
    /// It leaves the entry out, and says nothing.
    DropsEntrySilently,
    /// It reports the value as wrong.
    Rejects,
    /// It ignores the value, and says so.
    Ignores,
    /// It ignores the value, and says nothing.
    IgnoresSilently,
    /// It takes the value, and warns.
    Warns,
    /// It says nothing, and the value does nothing good.
    Accepts,
    /// The open standard says otherwise; clients differ.
    Standard,
}

impl Reaction {
    /// Returns the words after the client's name.
    pub fn phrase(self) -> &'static str {
        match self {
            Reaction::Stops => "does not start with it",
            Reaction::RefusesFile => "ignores the whole file",
            Reaction::DropsEntry => "skips the entry",
            Reaction::DropsEntrySilently => "silently skips the entry",
            Reaction::Rejects => "reports it as invalid",
            Reaction::Ignores => "ignores it",
            Reaction::IgnoresSilently => "silently ignores it",
            Reaction::Warns => "warns about it",
            Reaction::Accepts => "accepts it without a message",
            Reaction::Standard => "requires it, but some clients do not",
        }
    }

    /// Returns whether something is lost for sure, and the client says so.
    pub fn is_refusal(self) -> bool {
        matches!(
            self,
            Reaction::Stops
                | Reaction::RefusesFile
                | Reaction::DropsEntry
                | Reaction::Rejects
                | Reaction::Ignores
        )
    }
}

impl ClientChecks {
    /// Returns the evidence for a file.
    pub fn seen_in<'s>(&'s self, file: &'s CheckedFile) -> &'s Seen {
        file.seen.as_ref().unwrap_or(&self.seen)
    }

    /// Returns the name with the version, for a message about a file.
    pub fn versioned_name(&self, file: &CheckedFile) -> String {
        let seen = self.seen_in(file);
        match (&seen.version, seen.how) {
            (Some(version), Evidence::Run) => format!("{} {version}", self.name),
            (_, Evidence::Documents) | (None, _) => self.name.to_string(),
        }
    }

    /// Returns a problem of the table itself: an expression that cannot be read, or a name that nothing bears.
    pub fn find_problem(&self) -> Option<String> {
        let tables = self.tables.values();
        let of_tables = tables.flat_map(|table| {
            let cases = table.cases.values().chain(table.otherwise.iter().map(|(_, case)| case));
            let keys = table.keys.values().map(|key| &key.expected);
            keys.chain(cases).chain(&table.each)
        });
        let files = self.files.iter().map(|file| &file.top);
        for text in of_tables.chain(self.types.values()).chain(files) {
            match Expected::parse(text) {
                Ok(expected) => {
                    let is_known = |name: &str| {
                        self.tables.contains_key(name) || self.types.contains_key(name)
                    };
                    let mut names = expected.names();
                    if let Some(missing) = names.find(|name| !is_known(name)) {
                        return Some(format!("`{text}`: there is no `{missing}`"));
                    }
                }
                Err(problem) => return Some(format!("`{text}`: {problem}")),
            }
        }
        let mut lists = self.tables.values().filter_map(|table| table.names.as_deref());
        lists
            .find(|list| !self.lists.contains_key(*list))
            .map(|missing| format!("there is no list `{missing}`"))
    }
}
