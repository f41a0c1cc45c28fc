//! The record of what the user trusts: content by its hash, projects by path and identity.
//!
//! Content from a remote or installed source executes only when its exact bytes are in this record; one
//! changed byte makes it other content. A project's own texts execute when the project is in the record. The
//! record is one readable file in the user's state directory. If anything about that file is in doubt, it is
//! refused, and nothing is trusted.

mod hash;
mod place;
mod project;
mod rules;

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_syntax::text::visible_line;
use brief_system::{FileLock, ReadError, System};

pub use hash::ContentHash;
pub use project::{TrustProject, project_of, project_root};
pub use rules::RuleEntry;

/// The first line of the file.
const HEADING: &str =
    "# What `brief trust` has recorded: content, projects and rules, by SHA-256.\n";

/// The first word of a project's line.
const PROJECT: &str = "project";

/// The user's decision about content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrustVerdict {
    /// The content must never execute.
    Denied,
    Trusted,
}

impl fmt::Display for TrustVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            TrustVerdict::Denied => "denied",
            TrustVerdict::Trusted => "trusted",
        })
    }
}

/// A line of the record about content.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrustEntry {
    pub verdict: TrustVerdict,
    /// The path of the content at that time, with invisible characters escaped. Informative only.
    pub path: String,
    /// The hash of the content.
    pub hash: ContentHash,
}

impl TrustEntry {
    fn from_content(verdict: TrustVerdict, content: &[u8], path: &Path) -> TrustEntry {
        TrustEntry { verdict, path: render_path(path), hash: ContentHash::from_content(content) }
    }

    /// Returns whether the content was at `path` at the time of the decision.
    pub fn was_at(&self, path: &Path) -> bool {
        self.path == render_path(path)
    }

    fn parse(line: &str) -> Option<TrustEntry> {
        let (verdict, rest) = line.split_once(' ')?;
        let (hash, path) = rest.split_once(' ')?;
        let verdict = match verdict {
            "denied" => TrustVerdict::Denied,
            "trusted" => TrustVerdict::Trusted,
            _ => return None,
        };
        Some(TrustEntry { verdict, path: path.to_owned(), hash: ContentHash::parse(hash)? })
    }
}

impl fmt::Display for TrustEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.verdict, self.hash, self.path)
    }
}

/// A line of the record about a project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProjectEntry {
    /// The project's directory, with invisible characters escaped. Informative only.
    pub path: String,
    /// The identity of the directory and its repository.
    pub identity: ContentHash,
    place: ContentHash,
}

impl ProjectEntry {
    fn from_project(project: &TrustProject) -> ProjectEntry {
        let TrustProject { identity, place, .. } = project.clone();
        ProjectEntry { path: render_path(project.root()), identity, place }
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

/// The record's answer about a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The user trusts this project at this path.
    Trusted,
    /// The record has nothing about it.
    Unknown,
    /// Another project was trusted at this path.
    Replaced,
    /// This project was trusted at this other path.
    Moved(String),
}

/// A record that cannot be used. Nothing is trusted then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The environment names no directory for it.
    #[error("no location for the trust record: set `HOME` or `XDG_STATE_HOME`")]
    NoPlace,
    /// The record, or a directory above it, belongs to another user.
    #[error("cannot use the trust record: `{}` belongs to another user", .0.display())]
    Foreign(PathBuf),
    /// Other users could change or replace it.
    #[error("cannot use the trust record: other users may write to `{}`", .0.display())]
    Writable(PathBuf),
    /// It lies in a directory that the project could contain.
    #[error("cannot use the trust record: `{}` is inside the project", .0.display())]
    InProject(PathBuf),
    /// It has a line that this program did not write.
    #[error("cannot use the trust record: line {line} of `{}` is damaged", .path.display())]
    Damaged {
        path: PathBuf,
        /// The number of the first such line.
        line: usize,
    },
    /// It exists, but cannot be read.
    #[error("cannot read the trust record `{}`: {source}", .path.display())]
    Unreadable {
        /// The file, or a directory above it.
        path: PathBuf,
        /// The error of the read.
        source: ReadError,
    },
    #[error("cannot write the trust record `{}`: {source}", .path.display())]
    Unwritable {
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The project cannot be told from another one at the same path.
    #[error("cannot trust the project `{}`: {problem}", .path.display())]
    NoIdentity { path: PathBuf, problem: String },
    /// Trust in it would cover the user's whole home directory.
    #[error("cannot trust `{}` as a project: it contains your home directory", .0.display())]
    Home(PathBuf),
    /// It would exceed the size limit.
    #[error("the trust record is full: the limit is {} bytes", limits::TRUST_BYTES)]
    Full,
}

/// The record, as of its opening or the last change through this value.
pub struct TrustStore<'s> {
    system: &'s dyn System,
    project: PathBuf,
    path: PathBuf,
    lines: RecordLines,
}

/// The lines of the record.
#[derive(Debug, Default)]
struct RecordLines {
    entries: BTreeSet<TrustEntry>,
    projects: BTreeSet<ProjectEntry>,
    rules: BTreeSet<RuleEntry>,
}

impl fmt::Debug for TrustStore<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("TrustStore").field(&self.path).field(&self.lines).finish()
    }
}

impl<'s> TrustStore<'s> {
    /// Opens the user's record for work in `project`. A missing file is an empty record.
    ///
    /// A record that lies in `project` or in the current directory is refused, and so is one that another
    /// user could have written.
    pub fn open(system: &'s dyn System, project: &Path) -> Result<Self, TrustError> {
        let path = place::resolve_record_path(system, project)?;
        let lines = match system.read(&path, limits::TRUST_BYTES) {
            Ok(bytes) => parse_record(&path, &bytes)?,
            Err(ReadError::Missing) => RecordLines::default(),
            Err(source) => return Err(TrustError::Unreadable { path, source }),
        };
        Ok(TrustStore { system, project: project.to_owned(), path, lines })
    }

    /// Returns the path of the record.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the user's decision about exactly this content, if there is one. A denial overrides trust.
    pub fn verdict_on(&self, content: &[u8]) -> Option<TrustVerdict> {
        let hash = ContentHash::from_content(content);
        let verdicts = self.lines.entries.iter().filter(|entry| entry.hash == hash);
        verdicts.map(|entry| entry.verdict).min()
    }

    /// Returns the record's answer about a project.
    pub fn project_standing(&self, project: &TrustProject) -> Standing {
        let entry = ProjectEntry::from_project(project);
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

    /// Returns the lines about content: denials first, then by path.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &TrustEntry> {
        self.lines.entries.iter()
    }

    /// Returns the recorded projects, by path.
    pub fn projects(&self) -> impl ExactSizeIterator<Item = &ProjectEntry> {
        self.lines.projects.iter()
    }

    /// Records that the user trusts a project at its current path. Removes another project at the same path.
    pub fn record_project(&mut self, project: &TrustProject) -> Result<(), TrustError> {
        let entry = ProjectEntry::from_project(project);
        self.update_record(|lines| {
            lines.projects.retain(|known| known.place != entry.place);
            lines.projects.insert(entry);
        })
    }

    /// Removes the matching projects, and returns their number.
    pub fn remove_projects(
        &mut self,
        matches: impl Fn(&ProjectEntry) -> bool,
    ) -> Result<usize, TrustError> {
        self.remove_from(|lines| &mut lines.projects, matches)
    }

    /// Records that the user trusts exactly this content, which is at `path` now. A denial of the same
    /// content stays and overrides it.
    pub fn record_content(&mut self, content: &[u8], path: &Path) -> Result<(), TrustError> {
        self.record_all(&[(content.to_vec(), path.to_owned())])
    }

    /// Records several contents at once.
    pub fn record_all(&mut self, contents: &[(Vec<u8>, PathBuf)]) -> Result<(), TrustError> {
        let entry = |(content, path): &(Vec<u8>, PathBuf)| {
            TrustEntry::from_content(TrustVerdict::Trusted, content, path)
        };
        self.update_record(|lines| lines.entries.extend(contents.iter().map(entry)))
    }

    /// Records that exactly this content, which is at `path` now, must never execute. Removes any trust in
    /// it.
    pub fn deny_content(&mut self, content: &[u8], path: &Path) -> Result<(), TrustError> {
        let denial = TrustEntry::from_content(TrustVerdict::Denied, content, path);
        self.update_record(|lines| {
            let is_kept = |entry: &TrustEntry| {
                entry.hash != denial.hash || entry.verdict == TrustVerdict::Denied
            };
            lines.entries.retain(is_kept);
            lines.entries.insert(denial);
        })
    }

    /// Removes the matching entries, trusted or denied, and returns their number.
    pub fn remove_entries(
        &mut self,
        matches: impl Fn(&TrustEntry) -> bool,
    ) -> Result<usize, TrustError> {
        self.remove_from(|lines| &mut lines.entries, matches)
    }

    fn remove_from<T: Ord>(
        &mut self,
        list: impl Fn(&mut RecordLines) -> &mut BTreeSet<T>,
        matches: impl Fn(&T) -> bool,
    ) -> Result<usize, TrustError> {
        if !list(&mut self.lines).iter().any(&matches) {
            return Ok(0);
        }
        let mut removed = 0;
        self.update_record(|lines| {
            removed = list(lines).extract_if(.., |entry| matches(entry)).count();
        })?;
        Ok(removed)
    }

    /// Changes the file as it is now, not the copy in memory: entries of other processes stay.
    fn update_record(&mut self, change: impl FnOnce(&mut RecordLines)) -> Result<(), TrustError> {
        let path = self.path.clone();
        let unwritable = |source| TrustError::Unwritable { path: path.clone(), source };
        let _lock = self.lock_record().map_err(&unwritable)?;
        let mut fresh = TrustStore::open(self.system, &self.project)?;
        let mut text = String::from(HEADING);
        change(&mut fresh.lines);
        for entry in &fresh.lines.entries {
            text.push_str(&format!("{entry}\n"));
        }
        for project in &fresh.lines.projects {
            text.push_str(&format!("{project}\n"));
        }
        for rule in &fresh.lines.rules {
            text.push_str(&format!("{rule}\n"));
        }
        if text.len() as u64 > limits::TRUST_BYTES {
            return Err(TrustError::Full);
        }
        self.system.replace_private_file(&fresh.path, text.as_bytes()).map_err(unwritable)?;
        self.path = fresh.path;
        self.lines = fresh.lines;
        Ok(())
    }

    /// Locks the record against other writers.
    fn lock_record(&self) -> io::Result<FileLock> {
        if let Some(directory) = self.path.parent() {
            self.system.create_private_dir(directory)?;
        }
        self.system.lock(&self.path.with_extension("lock"))
    }
}

fn parse_record(path: &Path, bytes: &[u8]) -> Result<RecordLines, TrustError> {
    let mut lines = RecordLines::default();
    // Invalid UTF-8 damages only its own line, and that line is refused.
    for (index, line) in String::from_utf8_lossy(bytes).lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let is_text = !line.contains('\u{fffd}');
        match (TrustEntry::parse(line), ProjectEntry::parse(line)) {
            (Some(entry), _) if is_text => lines.entries.insert(entry),
            (None, Some(project)) if is_text => lines.projects.insert(project),
            (None, None) if is_text && let Some(rule) = RuleEntry::parse(line) => {
                lines.rules.insert(rule)
            }
            // A skipped line could be a denial.
            _ => return Err(TrustError::Damaged { path: path.to_owned(), line: index + 1 }),
        };
    }
    Ok(lines)
}

/// Returns a path as one line: a line break in it must not create another entry.
fn render_path(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\u{fffd}', "?");
    visible_line(&text).into_owned()
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
