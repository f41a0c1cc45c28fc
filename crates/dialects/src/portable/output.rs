//! What items become: files of clients.
//!
//! Whoever writes files does not know clients, and whoever knows clients does not write files. Both
//! know this.

use std::collections::BTreeSet;

use brief_syntax::Diagnostic;
use serde::{Deserialize, Serialize};

use super::Item;

/// The files of an item for some clients.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compiled {
    /// The files: the item itself, then what lies beside it.
    pub files: Vec<OutputFile>,
    /// What did not get through.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// The path below the output directory, with `/`.
    pub path: String,
    /// What is in it.
    pub content: Content,
}

/// What is in a file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// This text.
    Text(String),
    /// The same as in this file beside the entrypoint, with `/`, executable or not as that is.
    Copy(String),
}

/// What turns items into files of clients.
pub trait Compile {
    /// Returns the names of all clients that exist, in order.
    fn clients(&self) -> Vec<&str>;

    /// Returns one name for everything that the files depend on but the item and the clients that are
    /// asked for.
    fn fingerprint(&self) -> &str;

    /// Compiles an item for some of the clients.
    fn compile(&self, item: &Item, clients: &[&str]) -> Compiled;

    /// Returns whether the path could be that of an output for some client, wanted or not.
    fn could_write(&self, path: &str) -> bool;

    /// Returns whether the path could be that of a file in which something has to stand for some client,
    /// wanted or not.
    fn could_share(&self, path: &str) -> bool;

    /// Returns the files of the user that decide what a shared file has to say, with `/`.
    fn watched(&self) -> Vec<String>;

    /// Returns the files that belong to the user or to several tools, and what has to stand in them so
    /// that the clients read what was written.
    fn shared(&self, project: &Outputs<'_>) -> Vec<SharedFile>;

    /// Puts what is wanted into the text of a shared file, and takes out what was there before and is no
    /// longer wanted. Everything else stays as it is, byte for byte.
    fn merge(&self, request: &Merge<'_>) -> Result<Merged, String>;
}

/// What there is in a project once everything is written.
#[derive(Debug, Clone, Copy)]
pub struct Outputs<'o> {
    /// Every file that was written for an item, with `/`.
    pub files: &'o BTreeSet<String>,
    /// The clients that are wanted.
    pub clients: &'o [&'o str],
    /// Files of the user that somebody asked about: those of [`Compile::watched`] that exist.
    pub present: &'o BTreeSet<String>,
}

/// A file that several have a say in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedFile {
    /// The path below the project, with `/`.
    pub path: String,
    /// What has to stand in it, in order.
    pub entries: Vec<SharedEntry>,
}

/// One thing that has to stand in a shared file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SharedEntry {
    /// A text in a list: `instructions` of `opencode.json`.
    Listed {
        /// The key of the list at the top of the file.
        key: String,
        /// The text.
        value: String,
    },
    /// A key in a table: a server of `.mcp.json`.
    Keyed {
        /// The key of the table at the top of the file.
        key: String,
        /// The key in the table.
        name: String,
        /// The value, as JSON on one line.
        json: String,
    },
    /// Lines between markers.
    Block {
        /// The lines, without the last line break.
        text: String,
    },
}

impl SharedEntry {
    /// Returns what tells it apart from others in its file: `instructions[.agents/rules/**]`,
    /// `mcpServers.files`, `block`.
    pub fn name(&self) -> String {
        match self {
            SharedEntry::Listed { key, value } => format!("{key}[{value}]"),
            SharedEntry::Keyed { key, name, .. } => format!("{key}.{name}"),
            SharedEntry::Block { .. } => "block".to_owned(),
        }
    }
}

/// A question about a shared file.
#[derive(Debug, Clone, Copy)]
pub struct Merge<'m> {
    /// The path below the project, with `/`: its ending tells the format.
    pub path: &'m str,
    /// What is in it; `None` when there is no such file.
    pub text: Option<&'m str>,
    /// What has to stand in it.
    pub wanted: &'m [SharedEntry],
    /// What we have put into it before; of one that was changed since, all that it may have been.
    pub before: &'m [SharedEntry],
    /// What becomes of entries that somebody else has written or changed.
    pub foreign: Foreign,
}

/// What becomes of entries of a shared file that somebody else has written or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// They stay, and are named.
    Keep,
    /// They are replaced.
    Replace,
}

/// A shared file after all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Merged {
    /// The text; `None` when nothing is left of the file but what we have put there.
    pub text: Option<String>,
    /// What stands in it because of us now.
    pub entries: Vec<SharedEntry>,
    /// Entries that stay as somebody else has written them: what they are called, and why.
    pub kept: Vec<(String, &'static str)>,
}
