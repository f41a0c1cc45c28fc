//! The state of many repositories: which items they have, at which commit or digest, and what has drifted.
//!
//! Only git objects of the newest commits are read. Nothing is checked out, and a server is asked only by [`newest_of`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use brief_dialects::policy::Policy;
use brief_syntax::hash::sha256;
use brief_syntax::system::{FileKind, System};
use brief_syntax::{limits, text};

use crate::cache::{Cache, Event};
use crate::history::peek;
use crate::lock::{self, Lock};
use crate::manifest::ManifestPlace;
use crate::oci::OciSource;
use crate::outputs::record::is_plain_path;
use crate::remote::RemoteSource;
use crate::source::{GitSource, SourceAddress};

/// Files of clients that are guidance, for repositories without a lock.
const GUIDANCE: [&str; 6] = [
    "AGENTS.md",
    "AGENTS.yaml",
    "CLAUDE.md",
    "GEMINI.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
];

/// The limit for the bytes of a lock and of guidance files.
const LOCK_BYTES: usize = 8 * 1024 * 1024;

/// The limit for the bytes of the outputs of one repository.
const OUTPUT_BYTES: usize = 64 * 1024 * 1024;

/// The limit for the bytes of a list of repositories.
const LIST_BYTES: u64 = 16 * 1024 * 1024;

/// The limit for repositories.
const MOST: usize = 200_000;

/// A repository of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetMember {
    /// Its path, as found.
    pub path: PathBuf,
    /// Its newest commit.
    pub commit: Option<String>,
    /// Its lock, if it has one.
    pub lock: Option<Lock>,
    /// True if it has a lock, or a file of guidance at its top.
    pub has_guidance: bool,
    /// Outputs whose committed content is not the locked one, sorted.
    pub drifted: Vec<String>,
    /// The reason why it could not be read.
    pub problem: Option<String>,
}

/// A source of repositories that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The path cannot be read.
    #[error("`{}` cannot be read: {problem}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// The path leads to no repository.
    #[error("there is no git repository in `{}`", .0.display())]
    Empty(PathBuf),
    /// There are too many.
    #[error("there are more than {MOST} repositories")]
    TooMany,
}

/// Finds repositories: each path is one, a directory of them, or a file with a path on each line. Relative paths of a file
/// start at the file's directory.
pub fn find(
    system: &dyn System,
    base: &Path,
    sources: &[PathBuf],
) -> Result<Vec<PathBuf>, FleetError> {
    let mut found = BTreeSet::new();
    for source in sources {
        let path = base.join(source);
        let before = found.len();
        match system.resolve(&path) {
            Ok(target) if target.kind == FileKind::Directory => {
                add(system, &path, &mut found).map_err(|problem| unreadable(&path, problem))?;
            }
            Ok(_) => {
                let bytes = system.read(&path, LIST_BYTES);
                let bytes = bytes.map_err(|error| unreadable(&path, error.to_string()))?;
                let list = String::from_utf8_lossy(&bytes).into_owned();
                let directory = path.parent().unwrap_or(base);
                let lines = list.lines().map(str::trim);
                for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
                    // A repository that is gone is reported with the others.
                    found.insert(directory.join(line));
                }
            }
            Err(error) => return Err(unreadable(&path, error.to_string())),
        }
        if found.len() == before {
            return Err(FleetError::Empty(path));
        }
        if found.len() > MOST {
            return Err(FleetError::TooMany);
        }
    }
    Ok(found.into_iter().collect())
}

fn unreadable(path: &Path, problem: String) -> FleetError {
    FleetError::Unreadable { path: path.to_owned(), problem }
}

/// Adds a repository, or those directly below a directory.
fn add(system: &dyn System, path: &Path, found: &mut BTreeSet<PathBuf>) -> Result<(), String> {
    if git_dir(system, path).is_some() {
        found.insert(path.to_owned());
        return Ok(());
    }
    let directory = system.open_dir(path).map_err(|error| error.to_string())?;
    let entries = directory.first_entries(MOST + 1).map_err(|error| error.to_string())?;
    for entry in entries.into_iter().filter(|entry| entry.kind == FileKind::Directory) {
        let below = path.join(entry.name);
        if git_dir(system, &below).is_some() {
            found.insert(below);
        }
    }
    Ok(())
}

/// Returns the repository of a directory: its `.git`, which may be a file that names another place, or itself.
fn git_dir(system: &dyn System, path: &Path) -> Option<PathBuf> {
    let own = path.join(".git");
    match system.resolve(&own) {
        Ok(found) if found.kind == FileKind::Directory => Some(own),
        Ok(_) => {
            let text = system.read(&own, limits::FILE_BYTES).ok()?;
            let text = String::from_utf8(text).ok()?;
            Some(path.join(text.strip_prefix("gitdir:")?.trim()))
        }
        Err(_) => {
            let is_bare = ["HEAD", "objects", "refs"]
                .iter()
                .all(|name| system.resolve(&path.join(name)).is_ok());
            is_bare.then(|| path.to_owned())
        }
    }
}

/// Reads repositories, several at a time, in the order of the paths.
pub fn read(system: &Arc<dyn System>, paths: &[PathBuf]) -> Vec<FleetMember> {
    let next = AtomicUsize::new(0);
    let members = Mutex::new(Vec::with_capacity(paths.len()));
    let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get) * 2;
    std::thread::scope(|scope| {
        for _ in 0..threads.min(paths.len()) {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let member = read_one(system, path);
                    members.lock().unwrap_or_else(PoisonError::into_inner).push(member);
                }
            });
        }
    });
    let mut members = members.into_inner().unwrap_or_else(PoisonError::into_inner);
    members.sort_by(|one, other| one.path.cmp(&other.path));
    members
}

fn read_one(system: &Arc<dyn System>, path: &Path) -> FleetMember {
    let mut member = FleetMember {
        path: path.to_owned(),
        commit: None,
        lock: None,
        has_guidance: false,
        drifted: Vec::new(),
        problem: None,
    };
    if let Err(problem) = fill(system, &mut member) {
        member.problem = Some(problem);
    }
    member
}

fn fill(system: &Arc<dyn System>, member: &mut FleetMember) -> Result<(), String> {
    let git_dir = git_dir(system.as_ref(), &member.path).ok_or("there is no git repository")?;
    let names: Vec<&str> = std::iter::once(lock::FILE_NAME).chain(GUIDANCE).collect();
    let found = peek(system, &git_dir, &names, LOCK_BYTES).map_err(|error| error.to_string())?;
    member.commit = found.commit;
    member.has_guidance = found.files.iter().any(Option::is_some);
    let Some(Some(bytes)) = found.files.into_iter().next() else { return Ok(()) };
    let text = String::from_utf8_lossy(&bytes);
    let lock = Lock::parse(&text)
        .map_err(|error| text::visible(&format!("`brief.lock`, {error}")).into_owned())?;
    member.drifted = drifted(system, &git_dir, &lock)?;
    member.lock = Some(lock);
    Ok(())
}

/// Returns the outputs whose committed content is not the locked one. A repository that has none of them keeps its outputs
/// out of version control.
fn drifted(system: &Arc<dyn System>, git_dir: &Path, lock: &Lock) -> Result<Vec<String>, String> {
    let files = lock.items.values().flat_map(|item| &item.files);
    let files: Vec<(&str, &str)> = files
        .map(|(path, file)| (path.as_str(), file.sha256.as_str()))
        .filter(|(path, _)| is_plain_path(path) && !path.contains('\n'))
        .collect();
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let found = peek(system, git_dir, &paths, OUTPUT_BYTES).map_err(|error| error.to_string())?;
    if found.files.iter().all(Option::is_none) {
        return Ok(Vec::new());
    }
    let mut drifted: Vec<String> = files
        .iter()
        .zip(&found.files)
        .filter(|((_, locked), found)| found.as_deref().map(sha256).as_deref() != Some(*locked))
        .map(|((path, _), _)| (*path).to_owned())
        .collect();
    drifted.sort();
    drifted.dedup();
    Ok(drifted)
}

/// Asks for the commit or digest that a locked source has now. `None` for a directory, and for an address that is relative to
/// its own repository. The error is a message.
pub fn newest_of(
    system: &dyn System,
    place: &ManifestPlace,
    observer: &dyn Fn(Event<'_>),
) -> Option<Result<String, String>> {
    let base = Path::new("/");
    let source = match place {
        ManifestPlace::Directory(_) => return None,
        ManifestPlace::Git { git, .. } if git.starts_with('.') => return None,
        ManifestPlace::Oci { oci, .. } if oci.starts_with("oci-layout:.") => return None,
        ManifestPlace::Git { git, reference, .. } => {
            match SourceAddress::parse_added(git, base, system) {
                Ok(SourceAddress::Git(source)) => {
                    let reference = reference.clone().or(source.reference);
                    SourceAddress::Git(GitSource { reference, ..source })
                }
                Ok(_) => return None,
                Err(error) => return Some(Err(error.to_string())),
            }
        }
        ManifestPlace::Oci { oci, reference } => {
            let source = OciSource::parse(oci, base).and_then(|source| match reference {
                Some(reference) => source.at(reference),
                None => Ok(source),
            });
            match source {
                Ok(source) => SourceAddress::Oci(source),
                Err(error) => return Some(Err(error.to_string())),
            }
        }
    };
    let policy = match Policy::load(system) {
        Ok(policy) => policy,
        Err(error) => return Some(Err(error.to_string())),
    };
    if let Some(decision) = source.forbidden_by(&policy, system, base) {
        return Some(Err(decision.to_string()));
    }
    let remote = RemoteSource::of(&source)?;
    let cache = Cache::of_user(system)?.observed(observer);
    Some(remote.newest(&cache).map_err(|error| error.to_string()))
}
