//! The directory of one repository in the cache. Directories in it are prepared under another name, and put in place whole, by
//! one rename.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use brief_syntax::limits;
use brief_system::hash::sha256;
use brief_system::{FileKind, FileLock, System};

use crate::cache::{Cache, Event};
use crate::error::FetchError;

/// The prefix of staged directories.
const STAGED: &str = ".brief-";

/// The age from which a staged directory counts as left behind by a killed run.
const ABANDONED: Duration = Duration::from_hours(24);

/// The directory of one repository in the cache.
pub(crate) struct RepositoryDir<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) path: PathBuf,
    observer: Option<&'a dyn Fn(Event<'_>)>,
}

impl<'a> RepositoryDir<'a> {
    /// Returns the directory in `parent` for a repository with this address. The slug is for people.
    pub(crate) fn new(cache: &'a Cache<'_>, parent: &Path, slug: &str, address: &str) -> Self {
        let name = format!("{slug}-{}", &fingerprint_text(address)[..12]);
        let path = parent.join(name.trim_start_matches('-'));
        RepositoryDir { system: cache.system, path, observer: cache.observer }
    }

    pub(crate) fn notify_observer(&self, event: Event<'_>) {
        if let Some(observer) = self.observer {
            observer(event);
        }
    }

    /// Creates the directories, and removes leftovers of killed runs.
    pub(crate) fn prepare_directories(&self, names: &[&str]) -> Result<(), FetchError> {
        for name in names {
            let path = self.path.join(name);
            self.system.create_private_dir(&path).map_err(io_error(&path))?;
        }
        clear_abandoned(self.system, &self.path)
    }

    /// Creates an empty directory, which is removed on drop unless it is put in place.
    pub(crate) fn create_staged_dir(&self) -> Result<StagedDir<'a>, FetchError> {
        let staged = self.system.create_staging_dir(&self.path).map_err(io_error(&self.path))?;
        Ok(StagedDir { system: self.system, path: staged.0, _lock: staged.1 })
    }

    pub(crate) fn read_file(&self, path: &Path, limit: u64) -> Result<Vec<u8>, FetchError> {
        let bytes = self.system.read(path, limit);
        bytes.map_err(|error| io_error(path)(io::Error::other(error)))
    }

    /// Returns the file with the last known commit or digest of a reference.
    fn record_path(&self, reference: &str) -> PathBuf {
        self.path.join("refs").join(&fingerprint_text(reference)[..24])
    }

    /// Returns the commit or digest that a reference had in an earlier run.
    pub(crate) fn find_recorded_commit(&self, reference: &str) -> Option<String> {
        let bytes = self.system.read(&self.record_path(reference), limits::FILE_BYTES).ok()?;
        String::from_utf8_lossy(&bytes).lines().next().map(str::to_owned)
    }

    pub(crate) fn record_commit(&self, reference: &str, commit: &str) -> Result<(), FetchError> {
        // The second line is for people who look into the cache.
        let text = format!("{commit}\n{reference}\n");
        let path = self.record_path(reference);
        if self.system.read(&path, limits::FILE_BYTES).is_ok_and(|old| old == text.as_bytes()) {
            return Ok(());
        }
        self.system.replace_file(&path, text.as_bytes()).map_err(io_error(&path))
    }
}

/// A directory that is removed on drop unless it was put in place.
pub(crate) struct StagedDir<'a> {
    system: &'a dyn System,
    pub(crate) path: PathBuf,
    /// Marks the directory as in use by a running process.
    _lock: FileLock,
}

impl StagedDir<'_> {
    pub(crate) fn create_dir(&self, name: &str) -> Result<PathBuf, FetchError> {
        let path = self.path.join(name);
        self.system.create_dir(&path).map_err(io_error(&path))?;
        Ok(path)
    }

    pub(crate) fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), FetchError> {
        let path = self.path.join(name);
        self.system.create_staged_file(&path, bytes).map_err(io_error(&path))
    }

    /// Puts the directory in place. If another process was faster, its directory stays.
    pub(crate) fn move_into_place(self, target: &Path) -> Result<(), FetchError> {
        match self.system.rename_dir(&self.path, target) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(io_error(target)(error))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for StagedDir<'_> {
    fn drop(&mut self) {
        // Usually it is in place and no longer here. If the removal fails, a later run tries again.
        let _ = self.system.remove_tree(&self.path);
    }
}

/// Removes what killed runs left in a directory of the cache.
fn clear_abandoned(system: &dyn System, directory: &Path) -> Result<(), FetchError> {
    let handle = system.open_dir(directory).map_err(io_error(directory))?;
    for entry in handle.entries().map_err(io_error(directory))? {
        let is_staged = entry.name.to_str().is_some_and(|name| name.starts_with(STAGED));
        let path = directory.join(&entry.name);
        if is_staged && entry.kind == FileKind::Directory && is_abandoned(system, &path) {
            // Another process may have removed it already.
            let _ = system.remove_tree(&path);
        }
    }
    Ok(())
}

fn is_abandoned(system: &dyn System, path: &Path) -> bool {
    let age = |modified| system.now().duration_since(modified).unwrap_or_default();
    system.is_abandoned(path)
        || system.modified_time(path).is_ok_and(|modified| age(modified) > ABANDONED)
}

/// Returns a function that adds the path to an error of the system.
pub(crate) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> FetchError {
    move |error| FetchError::Io { path: path.to_owned(), error }
}

/// Returns the first digits of a text's SHA-256, in hexadecimal.
pub(crate) fn fingerprint_text(text: &str) -> String {
    sha256(text.as_bytes())[..32].to_owned()
}
