//! The record of what the user trusts: content by its hash, projects by place and identity.
//!
//! Content that came from a remote or installed place executes only when its exact bytes are in this
//! record; one byte changed is other content. A project's own texts execute when the project is in it.
//! The record is one readable file in the user's state directory. When anything about that file is in
//! doubt, it is refused, and nothing is trusted.

mod hash;
mod place;
mod project;

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_syntax::system::{FileLock, ReadError, System};
use brief_syntax::text::visible_line;

pub use hash::ContentHash;
pub use project::{Project, project_of, project_root};

/// The first line of the file.
const HEADING: &str = "# What `brief trust` has recorded: content and projects, by SHA-256.\n";

/// The word that a project's line begins with.
const PROJECT: &str = "project";

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

/// A project of the record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProjectEntry {
    /// The project's directory, with everything escaped that would not show. For people: it decides
    /// nothing.
    pub path: String,
    /// Which directory and repository it is.
    pub identity: ContentHash,
    place: ContentHash,
}

impl ProjectEntry {
    fn of(project: &Project) -> ProjectEntry {
        let Project { identity, place, .. } = project.clone();
        ProjectEntry { path: shown(project.root()), identity, place }
    }

    /// Returns whether the project was at `root` when the user trusted it.
    pub fn was_at(&self, root: &Path) -> bool {
        self.place == project::place_of(root)
    }

    fn parse(line: &str) -> Option<ProjectEntry> {
        let (identity, rest) = line.strip_prefix(PROJECT)?.strip_prefix(' ')?.split_once(' ')?;
        let (place, path) = rest.split_once(' ')?;
        let (identity, place) = (ContentHash::parse(identity)?, ContentHash::parse(place)?);
        Some(ProjectEntry { path: path.to_owned(), identity, place })
    }
}

impl fmt::Display for ProjectEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PROJECT} {} {} {}", self.identity, self.place, self.path)
    }
}

/// The record's word about a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The user trusts this project at this place.
    Trusted,
    /// The user has said nothing about it.
    Unknown,
    /// Another project was trusted at this place.
    Replaced,
    /// This project was trusted at this other place.
    Moved(String),
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
    /// A project cannot be told from another one in its place.
    #[error("the project `{}` cannot be trusted: {problem}", .path.display())]
    NoIdentity {
        /// The project's directory.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// It would trust all that lies in the user's home directory.
    #[error("`{}` cannot be trusted as a project: it holds your home directory", .0.display())]
    Home(PathBuf),
    /// It would grow larger than we read.
    #[error("the record of trust is full: it may have {} bytes", limits::TRUST_BYTES)]
    Full,
}

/// The record, as it was when it was opened or last changed through this value.
pub struct TrustStore<'s> {
    system: &'s dyn System,
    project: PathBuf,
    path: PathBuf,
    lines: Lines,
}

/// The lines of the record.
#[derive(Debug, Default)]
struct Lines {
    entries: BTreeSet<Entry>,
    projects: BTreeSet<ProjectEntry>,
}

impl fmt::Debug for TrustStore<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("TrustStore").field(&self.path).field(&self.lines).finish()
    }
}

impl<'s> TrustStore<'s> {
    /// Opens the user's record for work in `project`; without a file, it is empty.
    ///
    /// A record that lies in `project` or in the current directory is refused, and so is one that
    /// anybody but the user could have written.
    pub fn open(system: &'s dyn System, project: &Path) -> Result<Self, TrustError> {
        let path = place::find(system, project)?;
        let lines = match system.read(&path, limits::TRUST_BYTES) {
            Ok(bytes) => parse(&path, &bytes)?,
            Err(ReadError::Missing) => Lines::default(),
            Err(source) => return Err(TrustError::Unreadable { path, source }),
        };
        Ok(TrustStore { system, project: project.to_owned(), path, lines })
    }

    /// Returns where the record is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says whether exactly this content may execute.
    pub fn is_trusted(&self, content: &[u8]) -> Trust {
        let hash = ContentHash::of(content);
        // A denial wins, whatever else the record says.
        let verdicts = self.lines.entries.iter().filter(|entry| entry.hash == hash);
        match verdicts.map(|entry| entry.verdict).min() {
            Some(Verdict::Denied) => Trust::Denied,
            Some(Verdict::Trusted) => Trust::Trusted,
            None => Trust::Unknown,
        }
    }

    /// Says how the record stands to a project.
    pub fn standing(&self, project: &Project) -> Standing {
        let entry = ProjectEntry::of(project);
        let projects = &self.lines.projects;
        if projects.contains(&entry) {
            return Standing::Trusted;
        }
        if projects.iter().any(|known| known.place == entry.place) {
            return Standing::Replaced;
        }
        let moved = projects.iter().find(|known| known.identity == entry.identity);
        moved.map_or(Standing::Unknown, |known| Standing::Moved(known.path.clone()))
    }

    /// Returns what is recorded about content: denials first, then by path.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.lines.entries.iter()
    }

    /// Returns the projects that are recorded, by path.
    pub fn projects(&self) -> impl ExactSizeIterator<Item = &ProjectEntry> {
        self.lines.projects.iter()
    }

    /// Records that the user trusts a project where it is now. Another one that was trusted at the same
    /// place is forgotten.
    pub fn record_project(&mut self, project: &Project) -> Result<(), TrustError> {
        let entry = ProjectEntry::of(project);
        self.update(|lines| {
            lines.projects.retain(|known| known.place != entry.place);
            lines.projects.insert(entry);
        })
    }

    /// Forgets the projects that match, and returns how many there were.
    pub fn remove_projects(
        &mut self,
        matches: impl Fn(&ProjectEntry) -> bool,
    ) -> Result<usize, TrustError> {
        if !self.lines.projects.iter().any(&matches) {
            return Ok(0);
        }
        let mut removed = 0;
        self.update(|lines| {
            let before = lines.projects.len();
            lines.projects.retain(|entry| !matches(entry));
            removed = before - lines.projects.len();
        })?;
        Ok(removed)
    }

    /// Records that the user trusts exactly this content, which is at `path` now. A denial of the
    /// same content stays, and wins.
    pub fn record(&mut self, content: &[u8], path: &Path) -> Result<(), TrustError> {
        let hash = ContentHash::of(content);
        let entry = Entry { verdict: Verdict::Trusted, path: shown(path), hash };
        self.update(|lines| {
            lines.entries.insert(entry);
        })
    }

    /// Records that exactly this content, which is at `path` now, must never execute, and forgets
    /// any trust in it.
    pub fn deny(&mut self, content: &[u8], path: &Path) -> Result<(), TrustError> {
        let hash = ContentHash::of(content);
        self.update(|lines| {
            lines.entries.retain(|entry| entry.hash != hash || entry.verdict == Verdict::Denied);
            lines.entries.insert(Entry { verdict: Verdict::Denied, path: shown(path), hash });
        })
    }

    /// Forgets the entries that match, trusted or denied, and returns how many there were.
    pub fn remove(&mut self, matches: impl Fn(&Entry) -> bool) -> Result<usize, TrustError> {
        if !self.lines.entries.iter().any(&matches) {
            return Ok(0);
        }
        let mut removed = 0;
        self.update(|lines| {
            let before = lines.entries.len();
            lines.entries.retain(|entry| !matches(entry));
            removed = before - lines.entries.len();
        })?;
        Ok(removed)
    }

    /// Changes the file, not our picture of it: what others have recorded meanwhile stays.
    fn update(&mut self, change: impl FnOnce(&mut Lines)) -> Result<(), TrustError> {
        let path = self.path.clone();
        let unwritable = |source| TrustError::Unwritable { path: path.clone(), source };
        let _lock = self.prepare().map_err(&unwritable)?;
        let mut fresh = TrustStore::open(self.system, &self.project)?;
        let mut text = String::from(HEADING);
        change(&mut fresh.lines);
        for entry in &fresh.lines.entries {
            text.push_str(&format!("{entry}\n"));
        }
        for project in &fresh.lines.projects {
            text.push_str(&format!("{project}\n"));
        }
        if text.len() as u64 > limits::TRUST_BYTES {
            return Err(TrustError::Full);
        }
        self.system.replace_private_file(&fresh.path, text.as_bytes()).map_err(unwritable)?;
        self.path = fresh.path;
        self.lines = fresh.lines;
        Ok(())
    }

    /// Keeps other writers out.
    fn prepare(&self) -> io::Result<FileLock> {
        if let Some(directory) = self.path.parent() {
            self.system.create_private_dir(directory)?;
        }
        self.system.lock(&self.path.with_extension("lock"))
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Lines, TrustError> {
    let mut lines = Lines::default();
    // Text that is not UTF-8 only harms the line that it stands in, and that line is refused.
    for (index, line) in String::from_utf8_lossy(bytes).lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let is_text = !line.contains('\u{fffd}');
        match (Entry::parse(line), ProjectEntry::parse(line)) {
            (Some(entry), _) if is_text => lines.entries.insert(entry),
            (None, Some(project)) if is_text => lines.projects.insert(project),
            // A line left out could be a denial.
            _ => return Err(TrustError::Damaged { path: path.to_owned(), line: index + 1 }),
        };
    }
    Ok(lines)
}

/// One line, whatever the path holds: a line break in it must not write an entry of its own.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\u{fffd}', "?");
    visible_line(&text).into_owned()
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
