//! What was written, by which item: the only proof that a file is ours.
//!
//! A record is sorted and free of clocks and places, so that it can be kept in version control with the
//! files.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;

use brief_dialects::portable::output::SharedEntry;
use brief_syntax::limits;
use brief_syntax::system::{Dir, Permission, ReadError};
use serde::{Deserialize, Serialize};

use crate::extract::is_git_directory;

/// The directory that records lie in, and everything else that is only for us.
pub(crate) const DIRECTORY: &str = ".brief";

/// The shape of the record.
const VERSION: u32 = 1;

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    version: u32,
    /// The program that wrote it.
    pub(crate) tool: String,
    /// The way from the output directory to the registry; nothing when there are several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) registry: String,
    /// The items by kind and name: `rule/api-conventions`.
    pub(crate) items: BTreeMap<String, ItemRecord>,
    /// Files of the user that one of ours has taken the place of, by path: the name of the copy.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) adopted: BTreeMap<String, String>,
    /// What stands in files of the user because of us, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) shared: BTreeMap<String, Vec<SharedEntry>>,
    /// The mark of the lock whose capability lists this machine has derived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) capabilities: Option<String>,
}

/// What was written for an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub(crate) struct ItemRecord {
    /// The item's directory in the registry.
    pub(crate) source: String,
    /// The SHA-256 of everything that the files were made from; empty when they have to be made again.
    pub(crate) fingerprint: String,
    /// The files by their path.
    pub(crate) files: BTreeMap<String, FileRecord>,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    /// The SHA-256 of its content.
    pub(crate) sha256: String,
    /// Whether it may be started.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) program: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl FileRecord {
    pub(crate) fn permission(&self) -> Permission {
        if self.program { Permission::Program } else { Permission::Data }
    }
}

impl Record {
    pub(crate) fn new(registry: String) -> Record {
        let tool = format!("brief {}", env!("CARGO_PKG_VERSION"));
        Record {
            version: VERSION,
            tool,
            registry,
            items: BTreeMap::new(),
            adopted: BTreeMap::new(),
            shared: BTreeMap::new(),
            capabilities: None,
        }
    }

    /// Reads a record from its directory; `None` when there is none. The error is in words.
    pub(crate) fn read(directory: &dyn Dir, name: &str) -> Result<Option<Record>, String> {
        let bytes = match directory.read(OsStr::new(name), limits::BUILD_RECORD_BYTES) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let record: Record = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        if record.version != VERSION {
            return Err(format!("it has version {}, and only {VERSION} is known", record.version));
        }
        // Files are removed by what stands here.
        let paths = record.items.values().flat_map(|item| item.files.keys());
        let adopted = record.adopted.iter().flat_map(|(path, copy)| [path, copy]);
        let shared = record.shared.keys().find(|path| !is_plain_path(path));
        let wrong = paths.chain(adopted).find(|path| !is_output_path(path)).or(shared);
        match wrong {
            Some(path) => Err(format!("`{path}` is no path of an output")),
            None => Ok(Some(record)),
        }
    }

    /// Returns the record as a text.
    pub(crate) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Returns the file at a path, and whose it is.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str, &FileRecord)> {
        self.items.iter().flat_map(|(item, record)| {
            record.files.iter().map(move |(path, file)| (item.as_str(), path.as_str(), file))
        })
    }
}

/// Returns whether a path is one that could have been written for an item.
pub(crate) fn is_output_path(path: &str) -> bool {
    path.starts_with('.') && is_plain_path(path)
}

/// Returns whether a path is one below the project, and neither in our own directory nor in one of git's:
/// what lies there is run.
pub(crate) fn is_plain_path(path: &str) -> bool {
    let is_plain = |name: &str| !matches!(name, "" | "." | "..") && !is_git_directory(name);
    let is_own = |name: &str| name.eq_ignore_ascii_case(DIRECTORY);
    !path.contains(['\\', '\0'])
        && path.split('/').all(is_plain)
        && !path.split('/').next().is_some_and(is_own)
}
