//! What was written, by which item: the only proof that a file is ours.
//!
//! The record lies in the output directory, sorted and free of clocks and places, so that it can be kept
//! in version control with the files. A second file of the same shape is there while a run writes; a run
//! that finds it knows that another one was ended in the middle, and what that one was about to write.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;

use brief_syntax::limits;
use brief_syntax::system::{Dir, Permission, ReadError};
use serde::{Deserialize, Serialize};

/// The directory of the record, in the output directory.
pub(super) const DIRECTORY: &str = ".brief";

/// The record.
pub(super) const RECORD: &str = "build.json";

/// What a run is about to write.
pub(super) const PENDING: &str = "pending.json";

/// The file that two runs at once are kept apart with.
pub(super) const LOCK: &str = "lock";

/// The shape of the record.
const VERSION: u32 = 1;

/// The record of a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    /// The program that wrote it.
    pub(super) tool: String,
    /// The way from the output directory to the registry.
    pub(super) registry: String,
    /// The items by kind and name: `rule/api-conventions`.
    pub(super) items: BTreeMap<String, ItemRecord>,
}

/// What was written for an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub(super) struct ItemRecord {
    /// The item's directory in the registry.
    pub(super) source: String,
    /// The SHA-256 of everything that the files were made from; empty when they have to be made again.
    pub(super) fingerprint: String,
    /// The files by their path.
    pub(super) files: BTreeMap<String, FileRecord>,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileRecord {
    /// The SHA-256 of its content.
    pub(super) sha256: String,
    /// Whether it may be started.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) program: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl FileRecord {
    pub(super) fn permission(&self) -> Permission {
        if self.program { Permission::Program } else { Permission::Data }
    }
}

impl Record {
    pub(super) fn new(registry: String) -> Record {
        let tool = format!("brief {}", env!("CARGO_PKG_VERSION"));
        Record { version: VERSION, tool, registry, items: BTreeMap::new() }
    }

    /// Reads a record from its directory; `None` when there is none. The error is in words.
    pub(super) fn read(directory: &dyn Dir, name: &str) -> Result<Option<Record>, String> {
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
        let mut paths = record.items.values().flat_map(|item| item.files.keys());
        match paths.find(|path| !is_output_path(path)) {
            Some(path) => Err(format!("`{path}` is no path of an output")),
            None => Ok(Some(record)),
        }
    }

    pub(super) fn write(&self, directory: &dyn Dir, name: &str) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        directory.put_file(OsStr::new(name), &text, Permission::Data)
    }

    /// Returns the file at a path, and whose it is.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &str, &FileRecord)> {
        self.items.iter().flat_map(|(item, record)| {
            record.files.iter().map(move |(path, file)| (item.as_str(), path.as_str(), file))
        })
    }
}

/// Returns whether a path is one that a build could have written.
fn is_output_path(path: &str) -> bool {
    let is_plain = |name: &str| !matches!(name, "" | "." | "..");
    path.starts_with('.')
        && !path.contains(['\\', '\0'])
        && path.split('/').all(is_plain)
        && path.split('/').next() != Some(DIRECTORY)
}
