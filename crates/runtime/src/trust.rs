//! What the user has trusted, by content.
//!
//! Content that came from a remote or installed place executes only when its exact bytes are in this
//! record; one byte changed is other content. The record is one readable file in the user's state
//! directory. When anything about that file is in doubt, it is refused, and nothing is trusted.

mod hash;
mod place;

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_syntax::system::{FileLock, ReadError, System};
use brief_syntax::text::visible_line;

pub use hash::ContentHash;

/// The first line of the file.
const HEADING: &str = "# What `brief trust` has recorded, by SHA-256 of the content.\n";

/// Whether content may execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The user has trusted exactly this content.
    Trusted,
    /// The user has denied exactly this content, which wins over trust.
    Denied,
    /// The user has said nothing about it.
    Unknown,
}

/// What the user has said about content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It must never execute.
    Denied,
    /// It may execute.
    Trusted,
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Verdict::Denied => "denied",
            Verdict::Trusted => "trusted",
        })
    }
}

/// One line of the record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// What the user said.
    pub verdict: Verdict,
    /// Where the content was at that time, with everything escaped that would not show. For
    /// people: it decides nothing.
    pub path: String,
    /// The content.
    pub hash: ContentHash,
}

impl Entry {
    /// Returns whether the content was at `path` when the user spoke about it.
    pub fn was_at(&self, path: &Path) -> bool {
        self.path == shown(path)
    }

    fn parse(line: &str) -> Option<Entry> {
        let (verdict, rest) = line.split_once(' ')?;
        let (hash, path) = rest.split_once(' ')?;
        let verdict = match verdict {
            "denied" => Verdict::Denied,
            "trusted" => Verdict::Trusted,
            _ => return None,
        };
        Some(Entry { verdict, path: path.to_owned(), hash: ContentHash::parse(hash)? })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.verdict, self.hash, self.path)
    }
}

/// Why the record cannot be used. Nothing is trusted then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The environment names no place for it.
    #[error(
        "there is no place for the record of trust: neither `XDG_STATE_HOME` nor `HOME` is set"
    )]
    NoPlace,
    /// It, or a directory above it, belongs to somebody else.
    #[error("the record of trust is refused: `{}` belongs to another user", .0.display())]
    Foreign(PathBuf),
    /// Others could change it, or put something in its place.
    #[error("the record of trust is refused: other users may write to `{}`", .0.display())]
    Writable(PathBuf),
    /// It lies where a project could bring it along.
    #[error("the record of trust is refused: `{}` lies inside the project", .0.display())]
    InProject(PathBuf),
    /// It holds something that we did not write.
    #[error("the record of trust is refused: line {line} of `{}` is damaged", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first such line.
        line: usize,
    },
    /// It is there, but cannot be read.
    #[error("the record of trust `{}` cannot be read: {source}", .path.display())]
    Unreadable {
        /// The file, or a directory above it.
        path: PathBuf,
        /// Why.
        source: ReadError,
    },
    /// It cannot be written.
    #[error("the record of trust `{}` cannot be written: {source}", .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It would grow larger than we read.
    #[error("the record of trust is full: it may have {} bytes", limits::TRUST_BYTES)]
    Full,
}

/// The record, as it was when it was opened or last changed through this value.
pub struct TrustStore<'s> {
    system: &'s dyn System,
    project: PathBuf,
    path: PathBuf,
    entries: BTreeSet<Entry>,
}

impl fmt::Debug for TrustStore<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("TrustStore").field(&self.path).field(&self.entries).finish()
    }
}

impl<'s> TrustStore<'s> {
    /// Opens the user's record for work in `project`; without a file, it is empty.
    ///
    /// A record that lies in `project` or in the current directory is refused, and so is one that
    /// anybody but the user could have written.
    pub fn open(system: &'s dyn System, project: &Path) -> Result<Self, TrustError> {
        let path = place::find(system, project)?;
        let entries = match system.read(&path, limits::TRUST_BYTES) {
            Ok(bytes) => parse(&path, &bytes)?,
            Err(ReadError::Missing) => BTreeSet::new(),
            Err(source) => return Err(TrustError::Unreadable { path, source }),
        };
        Ok(TrustStore { system, project: project.to_owned(), path, entries })
    }

    /// Returns where the record is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says whether exactly this content may execute.
    pub fn is_trusted(&self, content: &[u8]) -> Trust {
        let hash = ContentHash::of(content);
        // A denial wins, whatever else the record says.
        let verdicts = self.entries.iter().filter(|entry| entry.hash == hash);
        match verdicts.map(|entry| entry.verdict).min() {
            Some(Verdict::Denied) => Trust::Denied,
            Some(Verdict::Trusted) => Trust::Trusted,
            None => Trust::Unknown,
        }
    }

    /// Returns what is recorded: denials first, then by path.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Records that the user trusts exactly this content, which is at `path` now. A denial of the
    /// same content stays, and wins.
    pub fn record(&mut self, content: &[u8], path: &Path) -> Result<(), TrustError> {
        let hash = ContentHash::of(content);
        let entry = Entry { verdict: Verdict::Trusted, path: shown(path), hash };
        self.update(|entries| {
            entries.insert(entry);
        })
    }

    /// Records that exactly this content, which is at `path` now, must never execute, and forgets
    /// any trust in it.
    pub fn deny(&mut self, content: &[u8], path: &Path) -> Result<(), TrustError> {
        let hash = ContentHash::of(content);
        self.update(|entries| {
            entries.retain(|entry| entry.hash != hash || entry.verdict == Verdict::Denied);
            entries.insert(Entry { verdict: Verdict::Denied, path: shown(path), hash });
        })
    }

    /// Forgets the entries that match, trusted or denied, and returns how many there were.
    pub fn remove(&mut self, matches: impl Fn(&Entry) -> bool) -> Result<usize, TrustError> {
        if !self.entries.iter().any(&matches) {
            return Ok(0);
        }
        let mut removed = 0;
        self.update(|entries| {
            let before = entries.len();
            entries.retain(|entry| !matches(entry));
            removed = before - entries.len();
        })?;
        Ok(removed)
    }

    /// Changes the file, not our picture of it: what others have recorded meanwhile stays.
    fn update(&mut self, change: impl FnOnce(&mut BTreeSet<Entry>)) -> Result<(), TrustError> {
        let path = self.path.clone();
        let unwritable = |source| TrustError::Unwritable { path: path.clone(), source };
        let _lock = self.prepare().map_err(&unwritable)?;
        let mut fresh = TrustStore::open(self.system, &self.project)?;
        let mut text = String::from(HEADING);
        change(&mut fresh.entries);
        for entry in &fresh.entries {
            text.push_str(&format!("{entry}\n"));
        }
        if text.len() as u64 > limits::TRUST_BYTES {
            return Err(TrustError::Full);
        }
        self.system.replace_file(&fresh.path, text.as_bytes()).map_err(unwritable)?;
        self.path = fresh.path;
        self.entries = fresh.entries;
        Ok(())
    }

    /// Makes a private file to be replaced, which keeps its permissions, and locks it.
    fn prepare(&self) -> io::Result<FileLock> {
        if let Some(directory) = self.path.parent() {
            self.system.create_private_dir(directory)?;
        }
        let lock = self.system.lock(&self.path.with_extension("lock"))?;
        self.system.append(&self.path, b"")?;
        Ok(lock)
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<BTreeSet<Entry>, TrustError> {
    let mut entries = BTreeSet::new();
    // Text that is not UTF-8 only harms the line that it stands in, and that line is refused.
    for (index, line) in String::from_utf8_lossy(bytes).lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // A line left out could be a denial.
        let damaged = || TrustError::Damaged { path: path.to_owned(), line: index + 1 };
        let entry = Entry::parse(line).filter(|entry| !entry.path.contains('\u{fffd}'));
        entries.insert(entry.ok_or_else(damaged)?);
    }
    Ok(entries)
}

/// One line, whatever the path holds: a line break in it must not write an entry of its own.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\u{fffd}', "?");
    visible_line(&text).into_owned()
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
