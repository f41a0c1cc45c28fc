//! A project as the record of trust identifies it: by its path and by its identity.
//!
//! The identity is the inode number and the creation time of the project's directory and of its `.git`. A
//! repository that was deleted and cloned again is another one, even with the same path and inode number:
//! file systems reuse inode numbers, but not with the same creation time. Commits and git settings are not
//! part of it, because the project's authors choose both. The device number is left out: it changes when a
//! disk is mounted again.

use std::io;
use std::path::{Path, PathBuf};

use brief_syntax::project::repository_around;
use brief_system::{System, render_io_error, resolved_home};

use super::{ContentHash, TrustError};

/// The directory or file that makes a directory a repository.
const REPOSITORY: &str = ".git";

/// A project that can be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustProject {
    pub(super) root: PathBuf,
    pub(super) identity: ContentHash,
    pub(super) place: ContentHash,
}

impl TrustProject {
    /// Identifies the project whose root is `root`, as [`project_root`] returns it.
    pub fn identify(system: &dyn System, root: &Path) -> Result<TrustProject, TrustError> {
        let unknown = |error: &io::Error| TrustError::NoIdentity {
            path: root.to_owned(),
            problem: render_io_error(error),
        };
        if resolved_home(system).is_some_and(|home| home.starts_with(root)) {
            return Err(TrustError::Home(root.to_owned()));
        }
        let mut text = String::new();
        for (name, path) in [("root", root.to_owned()), (REPOSITORY, root.join(REPOSITORY))] {
            match system.identity(&path) {
                Ok(found) => {
                    text.push_str(&format!("{name} {} {}\n", found.number, found.born.as_nanos()));
                }
                Err(error) if name == REPOSITORY && error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(unknown(&error)),
            }
        }
        Ok(TrustProject {
            root: root.to_owned(),
            identity: ContentHash::from_content(text.as_bytes()),
            place: place_of(root),
        })
    }

    /// Returns the project's directory, all links followed.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// Returns the hash of a path.
pub(super) fn place_of(root: &Path) -> ContentHash {
    ContentHash::from_content(root.as_os_str().as_encoded_bytes())
}

/// Returns the root of the project that a directory belongs to: the nearest repository, or else the directory
/// itself. The user's home and the directories above it are never a project, even with a `.git`: the project
/// would cover everything at home.
pub fn project_root(system: &dyn System, directory: &Path) -> io::Result<PathBuf> {
    let directory = system.resolve_dir(directory)?;
    let home = resolved_home(system);
    let is_below_home = |place: &&Path| home.as_ref().is_none_or(|home| !home.starts_with(place));
    let root = repository_around(system, &directory).filter(is_below_home);
    Ok(root.unwrap_or(&directory).to_owned())
}

/// Returns the root of the project that a file of a run in `directory` belongs to. `None` for a file outside
/// that directory and outside any repository: it is the user's own.
pub fn project_of(
    system: &dyn System,
    directory: &Path,
    file: &Path,
) -> io::Result<Option<PathBuf>> {
    let file = system.resolve(file)?.path;
    let root = project_root(system, file.parent().unwrap_or(&file))?;
    let directory = system.resolve_dir(directory)?;
    let is_home = resolved_home(system).as_ref() == Some(&directory);
    let is_inside = file.starts_with(&directory) && !is_home;
    let is_repository = system.resolve(&root.join(REPOSITORY)).is_ok();
    Ok(match (is_repository, is_inside) {
        (true, _) => Some(root),
        (false, true) => Some(project_root(system, &directory)?),
        (false, false) => None,
    })
}
