//! Directories of the cache while they are prepared: put in place whole, by one rename.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use brief_syntax::System;
use brief_syntax::hash::sha256;
use brief_syntax::system::{FileKind, FileLock};

use crate::error::FetchError;

/// The prefix of staged directories.
const STAGED: &str = ".brief-";

/// The age from which a staged directory counts as left behind by a killed run.
const ABANDONED: Duration = Duration::from_hours(24);

/// A directory that is removed on drop unless it was put in place.
pub(crate) struct StagedDir<'a> {
    system: &'a dyn System,
    pub(crate) path: PathBuf,
    /// Marks the directory as in use by a running process.
    _lock: FileLock,
}

impl<'a> StagedDir<'a> {
    /// Creates an empty directory in `parent`.
    pub(crate) fn new(system: &'a dyn System, parent: &Path) -> Result<StagedDir<'a>, FetchError> {
        let staged = system.create_staging_dir(parent);
        let (path, lock) = staged.map_err(|error| io_error(parent, error))?;
        Ok(StagedDir { system, path, _lock: lock })
    }

    /// Puts the directory in place. If another process was faster, its directory stays.
    pub(crate) fn put(self, target: &Path) -> Result<(), FetchError> {
        match self.system.rename_dir(&self.path, target) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(io_error(target, error))
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
pub(crate) fn clear_abandoned(system: &dyn System, directory: &Path) -> Result<(), FetchError> {
    let failed = |error| io_error(directory, error);
    let handle = system.open_dir(directory).map_err(failed)?;
    for entry in handle.entries().map_err(failed)? {
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
        || system.modified(path).is_ok_and(|modified| age(modified) > ABANDONED)
}

pub(crate) fn io_error(path: &Path, error: io::Error) -> FetchError {
    FetchError::Io { path: path.to_owned(), error }
}

/// Returns the first digits of a text's SHA-256, in hexadecimal.
pub(crate) fn fingerprint(text: &str) -> String {
    sha256(text.as_bytes())[..32].to_owned()
}
