//! The record of written files by item: the only proof that a file is ours.
//!
//! A record is sorted and free of times and absolute paths, so that it can be kept in version control with
//! the files.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;

use brief_dialects::portable::output::SharedEntry;
use brief_syntax::limits;
use brief_system::{Dir, Permission};
use serde::{Deserialize, Serialize};

use super::if_there;
use crate::extract::is_git_directory;

/// The directory of records and of all our own state.
pub(crate) const DIRECTORY: &str = ".brief";

/// The version of the record's format.
const VERSION: u32 = 1;

/// A record of written files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct OutputRecord {
    version: u32,
    /// The version of the program that wrote it.
    pub(crate) tool: String,
    /// The relative path from the output directory to the registry; empty when there are several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) registry: String,
    /// The items by kind and name: `rule/api-conventions`.
    pub(crate) items: BTreeMap<String, ItemRecord>,
    /// The backups of the user's files that our outputs have replaced, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) adopted: BTreeMap<String, String>,
    /// Our entries in files of the user, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) shared: BTreeMap<String, Vec<SharedEntry>>,
    /// The mark of the lock whose capability lists this machine has derived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) capabilities: Option<String>,
}

/// The written files of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub(crate) struct ItemRecord {
    /// The item's directory in the registry.
    pub(crate) source: String,
    /// The SHA-256 of all inputs of the files; empty when they have to be written again.
    pub(crate) fingerprint: String,
    /// The files by their paths.
    pub(crate) files: BTreeMap<String, FileRecord>,
}

/// A written file, as a record or the lock names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The SHA-256 of the content.
    pub sha256: String,
    /// True for an executable file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub program: bool,
}

impl FileRecord {
    pub(crate) fn permission(&self) -> Permission {
        if self.program { Permission::Program } else { Permission::Data }
    }
}

impl OutputRecord {
    pub(crate) fn new(registry: String) -> OutputRecord {
        let tool = format!("brief {}", env!("CARGO_PKG_VERSION"));
        OutputRecord { version: VERSION, tool, registry, ..OutputRecord::default() }
    }

    /// Reads a record from its directory; `None` when there is none. The error is a message.
    pub(crate) fn read(directory: &dyn Dir, name: &str) -> Result<Option<OutputRecord>, String> {
        let bytes = directory.read(OsStr::new(name), limits::BUILD_RECORD_BYTES);
        let Some(bytes) = if_there(bytes).map_err(|error| error.to_string())? else {
            return Ok(None);
        };
        let record: OutputRecord =
            serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        if record.version != VERSION {
            return Err(format!(
                "has version {}, but brief supports only version {VERSION}",
                record.version
            ));
        }
        // A later run removes files by these paths.
        let paths = record.items.values().flat_map(|item| item.files.keys());
        let adopted = record.adopted.iter().flat_map(|(path, copy)| [path, copy]);
        let shared = record.shared.keys().find(|path| !is_plain_path(path));
        let wrong = paths.chain(adopted).find(|path| !is_output_path(path)).or(shared);
        match wrong {
            Some(path) => Err(format!("`{path}` is not the path of an output")),
            None => Ok(Some(record)),
        }
    }

    /// Returns the record as JSON.
    pub(crate) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Returns all files, each with its item and path.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str, &FileRecord)> {
        self.items.iter().flat_map(|(item, record)| {
            record.files.iter().map(move |(path, file)| (item.as_str(), path.as_str(), file))
        })
    }
}

/// Returns whether an item's output could have this path.
pub(crate) fn is_output_path(path: &str) -> bool {
    path.starts_with('.') && is_plain_path(path)
}

/// Returns whether a path lies below the project, and outside our own directory and git's, from which
/// programs run files.
pub(crate) fn is_plain_path(path: &str) -> bool {
    let is_plain = |name: &str| !matches!(name, "" | "." | "..") && !is_git_directory(name);
    let is_own = |name: &str| name.eq_ignore_ascii_case(DIRECTORY);
    !path.contains(['\\', '\0'])
        && path.split('/').all(is_plain)
        && !path.split('/').next().is_some_and(is_own)
}
