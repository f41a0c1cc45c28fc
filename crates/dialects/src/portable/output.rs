//! The compiled form of items: files of clients.
//!
//! The crate `clients` compiles and the crate `registry` writes. Neither sees the other; this trait
//! connects them.

use std::collections::{BTreeMap, BTreeSet};

use brief_syntax::Diagnostic;
use serde::{Deserialize, Serialize};

use super::PortableItem;

/// The files of an item for some clients.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compiled {
    /// The files: the item itself, then its supporting files.
    pub files: Vec<OutputFile>,
    /// The problems of the compilation.
    pub diagnostics: Vec<Diagnostic>,
    /// The losses of clients that an item was not written for.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// The path below the output directory, with `/`.
    pub path: String,
    pub content: OutputContent,
}

/// The content of an output file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputContent {
    Text(String),
    /// A copy of this supporting file, with its executable bit.
    Copy(String),
}

/// The compiler of items to client files. `brief_clients` implements it for `brief_registry`: neither crate sees the other.
pub trait Compiler {
    /// Returns the names of all known clients, in order.
    fn clients(&self) -> Vec<&str>;

    /// Returns a hash of everything that the files depend on, except the item and the requested
    /// clients.
    fn fingerprint(&self) -> &str;

    /// Compiles an item for some of the clients.
    fn compile(&self, item: &PortableItem, clients: &[&str]) -> Compiled;

    /// Returns whether some client, requested or not, could have an output at this path.
    fn could_write(&self, path: &str) -> bool;

    /// Returns whether some client, requested or not, could have entries in a shared file at this
    /// path.
    fn could_share(&self, path: &str) -> bool;

    /// Returns the user's files that decide about entries in shared files, with `/`.
    fn watched_paths(&self) -> Vec<String>;

    /// Returns the shared files, owned by the user or several tools, and the entries that they need
    /// so that clients read the outputs.
    fn list_shared_files(&self, project: &Outputs<'_>) -> Vec<SharedFile>;

    /// Returns the lines that clients of the project's own add to files of the user for an item. Clients that are built in add
    /// none that the user or another tool has written.
    fn added_lines(&self, _item: &PortableItem, _clients: &[&str]) -> Vec<AddedLine> {
        Vec::new()
    }

    /// Adds the wanted entries to the text of a shared file, and removes earlier ones that are no
    /// longer wanted. The rest stays the same, byte for byte.
    fn merge_entries(&self, request: &Merge<'_>) -> Result<MergedOutput, String>;
}

/// A line that a client's file adds to a file of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedLine {
    pub client: String,
    /// The path of the user's file.
    pub file: String,
    /// The line, with the client's placeholders.
    pub line: String,
}

/// The state of a project after a build.
#[derive(Debug, Clone, Copy)]
pub struct Outputs<'o> {
    /// Every written file of an item, with `/`.
    pub files: &'o BTreeSet<String>,
    pub clients: &'o [&'o str],
    /// The existing files of [`Compiler::watched_paths`].
    pub present: &'o BTreeSet<String>,
    /// The texts of those that are Markdown.
    pub texts: &'o BTreeMap<String, String>,
    /// The patterns of written rules that are for some files, by the path of the rule.
    pub scopes: &'o BTreeMap<String, Vec<String>>,
}

/// A file with entries of several owners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedFile {
    /// The path below the project, with `/`.
    pub path: String,
    /// The entries that it needs, in order.
    pub entries: Vec<SharedEntry>,
}

/// One required entry of a shared file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SharedEntry {
    /// A string in a list: `instructions` of `opencode.json`.
    Listed {
        /// The key of the list at the top level of the file.
        key: String,
        value: String,
    },
    /// A key in a table: a server of `.mcp.json`.
    Keyed {
        /// The key of the table at the top level of the file.
        key: String,
        /// The key in the table.
        name: String,
        /// The value, as JSON on one line.
        json: String,
    },
    Block {
        /// The lines, without the last line break.
        text: String,
    },
}

impl SharedEntry {
    /// Returns the identity of the entry in its file: `instructions[.agents/rules/**]`,
    /// `mcpServers.files`, `block`.
    pub fn name(&self) -> String {
        match self {
            SharedEntry::Listed { key, value } => format!("{key}[{value}]"),
            SharedEntry::Keyed { key, name, .. } => format!("{key}.{name}"),
            SharedEntry::Block { .. } => "block".to_owned(),
        }
    }
}

/// A request to change a shared file.
#[derive(Debug, Clone, Copy)]
pub struct Merge<'m> {
    /// The path below the project, with `/`; its extension gives the format.
    pub path: &'m str,
    /// The present text; `None` when the file does not exist.
    pub text: Option<&'m str>,
    /// The entries that it needs.
    pub wanted: &'m [SharedEntry],
    /// Our earlier entries; for one that changed since, every form that it may have had.
    pub before: &'m [SharedEntry],
    /// The treatment of entries that the user or another tool wrote or changed.
    pub foreign: Foreign,
}

/// The treatment of entries that the user or another tool wrote or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// They stay, and are reported.
    Keep,
    Replace,
}

/// The result of a [`Merge`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MergedOutput {
    /// The text; `None` when the file held only our entries and none is left.
    pub text: Option<String>,
    /// The entries in the file that are ours.
    pub entries: Vec<SharedEntry>,
    /// Foreign entries that stay: their names, and the reasons.
    pub kept: Vec<(String, &'static str)>,
}
