//! The repositories that a user names: paths, directories of them, lists, addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_syntax::text::visible_text;
use brief_system::{FileKind, System};

use crate::address::redact_credentials;
use crate::source::{GitSource, SourceAddress, is_bare_repository};

/// The limit for the bytes of a list of repositories.
const LIST_BYTES: u64 = 16 * 1024 * 1024;

const MOST: usize = 200_000;

/// The place of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetPlace {
    /// A directory: a clone or a bare repository.
    Path(PathBuf),
    /// An address, which is fetched into the user's cache.
    Address(GitSource),
    /// A line of a list that means no repository, with the reason.
    Wrong { line: String, problem: String },
}

impl fmt::Display for FleetPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FleetPlace::Path(path) => write!(formatter, "{}", path.display()),
            FleetPlace::Address(source) => source.fmt(formatter),
            FleetPlace::Wrong { line, .. } => formatter.write_str(line),
        }
    }
}

impl FleetPlace {
    /// Returns the name for people and programs: an address, or a path, relative to `base` where it is below.
    pub fn name(&self, base: &Path) -> String {
        match self {
            FleetPlace::Path(path) => path.strip_prefix(base).unwrap_or(path).display().to_string(),
            other => other.to_string(),
        }
    }
}

/// A source of repositories that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The path cannot be read.
    #[error("cannot read `{}`: {problem}", path.display())]
    Unreadable { path: PathBuf, problem: String },
    /// The path leads to no repository.
    #[error("no git repository in `{}`", .0.display())]
    Empty(PathBuf),
    #[error("more than {MOST} repositories")]
    TooMany,
    /// The revision cannot be one.
    #[error("invalid branch, tag or commit `{revision}`: {reason}")]
    Revision { revision: String, reason: &'static str },
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
}

/// Finds repositories: each source is one, a directory of them, an address, or a file with a path or an address on each
/// line. Relative paths of a file start at the file's directory. Each is found once, sorted by name.
pub fn find_repositories(
    system: &dyn System,
    base: &Path,
    sources: &[PathBuf],
) -> Result<Vec<FleetPlace>, FleetError> {
    let mut found = FleetPlaces::default();
    for source in sources {
        let path = base.join(source);
        let before = found.met;
        match system.resolve(&path) {
            Ok(target) if target.kind == FileKind::Directory => {
                add_repositories(system, &path, &mut found)
                    .map_err(|problem| unreadable_error(&path, problem))?;
            }
            Ok(_) => {
                let bytes = system.read(&path, LIST_BYTES);
                let bytes = bytes.map_err(|error| unreadable_error(&path, error.to_string()))?;
                let list = String::from_utf8_lossy(&bytes).into_owned();
                let directory = path.parent().unwrap_or(base);
                let lines = list.lines().map(str::trim);
                for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
                    // A repository that is gone is reported with the others.
                    found.add_place(parse_place(system, directory, line));
                }
            }
            Err(error) => match source.to_str().map(|text| parse_place(system, base, text)) {
                Some(found_place @ FleetPlace::Address(_)) => found.add_place(found_place),
                Some(FleetPlace::Wrong { problem, .. }) => {
                    return Err(unreadable_error(&path, problem));
                }
                _ => return Err(unreadable_error(&path, error.to_string())),
            },
        }
        if found.met == before {
            return Err(FleetError::Empty(path));
        }
        if found.met > MOST {
            return Err(FleetError::TooMany);
        }
    }
    Ok(found.places.into_values().collect())
}

/// The repositories so far, by name.
#[derive(Default)]
struct FleetPlaces {
    places: BTreeMap<String, FleetPlace>,
    /// Every name that was met, so that one that is named twice is no empty source.
    met: usize,
    paths: BTreeSet<PathBuf>,
}

impl FleetPlaces {
    fn add_place(&mut self, place: FleetPlace) {
        self.met += 1;
        if let FleetPlace::Path(path) = &place
            && !self.paths.insert(path.clone())
        {
            return;
        }
        // Names that are no text may look alike.
        let mut name = place.to_string();
        while self.places.get(&name).is_some_and(|known| *known != place) {
            name.push('\u{0}');
        }
        self.places.insert(name, place);
    }
}

/// Reads a line of a list: an address by its form, otherwise a path.
fn parse_place(system: &dyn System, directory: &Path, line: &str) -> FleetPlace {
    let wrong = |line: &dyn fmt::Display, problem: &str| FleetPlace::Wrong {
        line: line.to_string(),
        problem: problem.to_owned(),
    };
    let path = directory.join(line);
    if system.resolve(&path).is_ok() {
        return FleetPlace::Path(path);
    }
    match SourceAddress::parse(line, directory, system) {
        Ok(SourceAddress::Git(source)) if source.subpath.is_none() => FleetPlace::Address(source),
        Ok(SourceAddress::Git(source)) => {
            wrong(&source, "a fleet contains whole repositories, not directories in them")
        }
        Ok(SourceAddress::Oci(source)) => wrong(&source, "an artifact is not a git repository"),
        Ok(SourceAddress::Directory(_)) => FleetPlace::Path(path),
        Err(error) => wrong(&visible_text(&redact_credentials(line)), &error.to_string()),
    }
}

fn unreadable_error(path: &Path, problem: String) -> FleetError {
    FleetError::Unreadable { path: path.to_owned(), problem }
}

/// Adds a repository, or those directly below a directory.
fn add_repositories(
    system: &dyn System,
    path: &Path,
    found: &mut FleetPlaces,
) -> Result<(), String> {
    if git_dir(system, path).is_some() {
        found.add_place(FleetPlace::Path(path.to_owned()));
        return Ok(());
    }
    let directory = system.open_dir(path).map_err(|error| error.to_string())?;
    let entries = directory.first_entries(MOST + 1).map_err(|error| error.to_string())?;
    for entry in entries.into_iter().filter(|entry| entry.kind == FileKind::Directory) {
        let below = path.join(entry.name);
        if git_dir(system, &below).is_some() {
            found.add_place(FleetPlace::Path(below));
        }
    }
    Ok(())
}

/// Returns the repository of a directory: its `.git`, which may be a file that names another place, or itself.
pub(super) fn git_dir(system: &dyn System, path: &Path) -> Option<PathBuf> {
    let own = path.join(".git");
    match system.resolve(&own) {
        Ok(found) if found.kind == FileKind::Directory => Some(own),
        Ok(_) => {
            let text = system.read(&own, limits::FILE_BYTES).ok()?;
            let text = String::from_utf8(text).ok()?;
            Some(path.join(text.strip_prefix("gitdir:")?.trim()))
        }
        Err(_) => is_bare_repository(path, system).then(|| path.to_owned()),
    }
}
