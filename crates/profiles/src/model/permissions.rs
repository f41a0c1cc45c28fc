//! The place of a client's permissions, and its words for them.

use serde::Deserialize;

use super::constant::{List, Text};

/// The file of a project with a client's permissions, and the client's words for rules.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PermissionProfile {
    /// The file in a project.
    pub file: Text,
    /// Other names of that file; one that is there is used when the usual one is not.
    pub or: List<Text>,
    /// The list of what is allowed, with `/` between keys; in a table of rules, the word for it.
    pub allow: Option<Text>,
    /// The same for what the user is asked about.
    pub ask: Option<Text>,
    /// The same for what is forbidden.
    pub deny: Option<Text>,
    pub shell: Option<PermissionWords>,
    pub read: Option<PermissionWords>,
    pub edit: Option<PermissionWords>,
    pub web: Option<PermissionWords>,
    pub mcp: Option<PermissionWords>,
}

impl PermissionProfile {
    /// Returns all names of the file, the usual one first.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.file).chain(&self.or).map(|file| &**file)
    }
}

/// A client's words for rules about one thing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct PermissionWords {
    /// The table, with `/` between keys, that holds rules as keys; without one they stand in the lists.
    pub table: Option<Text>,
    /// The rule about all of it.
    pub all: Option<Text>,
    /// The rules about one command, pattern, host or server, `{}`.
    pub one: List<Text>,
    /// The rule about one tool, `{part}`, of a server, `{}`.
    pub part: Option<Text>,
    /// True if a command is told by its first word alone.
    pub is_one_word: bool,
    /// True if `*` of a pattern matches across directories, too.
    pub is_crossing: bool,
}
