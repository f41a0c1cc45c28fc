//! Reports of sessions that have not changed since the last replay, in the user's cache.
//!
//! A report is taken from here only if the file, the guidance, the receipts of the session and the release of the program are the
//! same. Whatever goes wrong here only means that a session is read again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use brief_clients::transcript::TranscriptFile;
use brief_engine::System;
use brief_engine::receipts::{Receipt, content_hash};
use brief_system::cache_directory;
use brief_system::hash::sha256;
use serde::{Deserialize, Serialize};

use super::report::SessionReport;

/// The largest index, in bytes.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// The form of the index; another one is not read.
const FORM: u32 = 1;

#[derive(Default, Serialize, Deserialize)]
struct IndexContent {
    form: u32,
    /// A hash of what all reports depend on.
    basis: String,
    files: BTreeMap<String, IndexedFile>,
}

/// What is known of a file in a certain state.
#[derive(Serialize, Deserialize)]
struct IndexedFile {
    stamp: String,
    content: IndexedContent,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) enum IndexedContent {
    Foreign,
    Unplaced,
    Sessions(Vec<IndexedSession>),
}

/// A report, with what it depends on besides its file and the guidance.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct IndexedSession {
    /// A hash of the receipts.
    pub(super) receipts: String,
    /// The ids of its calls.
    pub(super) calls: Vec<String>,
    /// The calls that another session has already had.
    pub(super) repeated: Vec<String>,
    pub(super) report: SessionReport,
}

/// The index of one project.
pub(super) struct Index {
    path: Option<PathBuf>,
    known: IndexContent,
    new: IndexContent,
    has_changed: bool,
}

impl Index {
    /// Reads the index of a project. `guidance` is a hash of its guidance.
    pub(super) fn read(system: &dyn System, root: &Path, guidance: &str) -> Index {
        let name = &sha256(root.as_os_str().as_encoded_bytes())[..16];
        let path =
            cache_directory(system).map(|cache| cache.join("replay").join(format!("{name}.json")));
        let basis = format!("{guidance} {}", env!("CARGO_PKG_VERSION"));
        let bytes = path.as_ref().and_then(|path| system.read(path, MOST_BYTES).ok());
        let known = bytes.and_then(|bytes| serde_json::from_slice::<IndexContent>(&bytes).ok());
        let mut known = known.filter(|known| known.form == FORM).unwrap_or_default();
        if known.basis != basis {
            // Which files are of other projects does not depend on the guidance.
            known.files.retain(|_, file| !matches!(file.content, IndexedContent::Sessions(_)));
        }
        let new = IndexContent { form: FORM, basis, files: BTreeMap::new() };
        Index { path, known, new, has_changed: false }
    }

    /// Returns what is known of a file, if it has not changed.
    pub(super) fn find(&self, file: &TranscriptFile<'_>) -> Option<&IndexedContent> {
        let known = self.known.files.get(file.path.to_str()?)?;
        (Some(&known.stamp) == render_stamp(file).as_ref()).then_some(&known.content)
    }

    /// Keeps what is known of a file.
    pub(super) fn add(&mut self, file: &TranscriptFile<'_>, content: IndexedContent, is_new: bool) {
        let (Some(path), Some(stamp)) = (file.path.to_str(), render_stamp(file)) else { return };
        self.has_changed |= is_new;
        self.new.files.insert(path.to_owned(), IndexedFile { stamp, content });
    }

    /// Writes the index, if it says anything new. Files that were not asked for stay.
    pub(super) fn write(mut self, system: &dyn System) {
        let Some(path) = self.path.filter(|_| self.has_changed) else { return };
        let has_same_basis = self.known.basis == self.new.basis;
        for (name, file) in self.known.files {
            let is_valid = has_same_basis || !matches!(file.content, IndexedContent::Sessions(_));
            if is_valid {
                self.new.files.entry(name).or_insert(file);
            }
        }
        let directory = path.parent().map(Path::to_owned).unwrap_or_default();
        if let Ok(bytes) = serde_json::to_vec(&self.new)
            && bytes.len() as u64 <= MOST_BYTES
            && system.create_private_dir(&directory).is_ok()
        {
            let _ = system.replace_private_file(&path, &bytes);
        }
    }
}

/// Returns the state of a file as a text.
fn render_stamp(file: &TranscriptFile<'_>) -> Option<String> {
    let stamp = file.stamp?;
    let render = |node: brief_system::NodeStamp| {
        format!("{}-{}-{}-{}", node.number.0, node.number.1, node.size, node.changed.as_nanos())
    };
    Some(format!("{} {}", render(stamp.own), stamp.target.map(render).unwrap_or_default()))
}

/// Returns a hash of what receipts say about a session.
pub(super) fn hash_receipts(receipts: &[&Receipt]) -> String {
    let lines = receipts.iter().filter_map(|receipt| serde_json::to_string(receipt).ok());
    content_hash(&lines.collect::<Vec<_>>().join("\n"))
}
