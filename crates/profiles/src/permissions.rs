//! The place of a client's permissions, and its words for them. The build script includes this module, too.

use serde::Deserialize;

use crate::constant::{List, Text};

/// The file of a project with a client's permissions, and the client's words for rules.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PermissionProfile {
    /// The file in a project.
    pub file: Text,
    /// Other names of that file; one that is there is used when the usual one is not.
    #[serde(default)]
    pub or: List<Text>,
    /// The list of what is allowed, with `/` between keys; in a table of rules, the word for it.
    #[serde(default)]
    pub allow: Option<Text>,
    /// The same for what the user is asked about.
    #[serde(default)]
    pub ask: Option<Text>,
    /// The same for what is forbidden.
    #[serde(default)]
    pub deny: Option<Text>,
    /// Commands of a shell.
    #[serde(default)]
    pub shell: Option<PermissionWords>,
    /// Reading files.
    #[serde(default)]
    pub read: Option<PermissionWords>,
    /// Changing files.
    #[serde(default)]
    pub edit: Option<PermissionWords>,
    /// Fetching from hosts.
    #[serde(default)]
    pub web: Option<PermissionWords>,
    /// Tools of MCP servers.
    #[serde(default)]
    pub mcp: Option<PermissionWords>,
}

/// A client's words for rules about one thing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PermissionWords {
    /// The table, with `/` between keys, that holds rules as keys; without one they stand in the lists.
    #[serde(default)]
    pub table: Option<Text>,
    /// The rule about all of it.
    #[serde(default)]
    pub all: Option<Text>,
    /// The rules about one command, pattern, host or server, `{}`.
    #[serde(default)]
    pub one: List<Text>,
    /// The rule about one tool, `{part}`, of a server, `{}`.
    #[serde(default)]
    pub part: Option<Text>,
    /// True if a command is told by its first word alone.
    #[serde(default)]
    pub is_one_word: bool,
    /// True if `*` of a pattern matches across directories, too.
    #[serde(default)]
    pub is_crossing: bool,
}
