//! Finds the record of trust, and checks that only the user can have written it.

use std::io;
use std::path::{Path, PathBuf};

use brief_system::{FileOwner, ReadError, System, Writers, resolved_home, state_directory};

use super::TrustError;

/// The file's name in the user's state directory.
const NAME: &str = "trust";

/// Returns the path of the record, links resolved, if only the user can have written it.
pub(super) fn resolve_record_path(
    system: &dyn System,
    project: &Path,
) -> Result<PathBuf, TrustError> {
    let named = state_directory(system).ok_or(TrustError::NoPlace)?.join(NAME);
    let path = resolve_links(system, &named)?;
    check_outside_project(system, project, &path)?;
    // Both paths are checked: a user who can place a link on the way can choose another record.
    for way in [&named, &path] {
        for place in way.ancestors() {
            check_private(system, place, way)?;
        }
    }
    Ok(path)
}

/// Resolves the links in the existing part of a path.
fn resolve_links(system: &dyn System, path: &Path) -> Result<PathBuf, TrustError> {
    for ancestor in path.ancestors() {
        match system.resolve(ancestor) {
            Ok(found) => {
                let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
                // Joining an empty path would add a `/`, which a file must not have.
                return Ok(found.path.components().chain(rest.components()).collect());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable_error(ancestor, error)),
        }
    }
    Err(TrustError::NoPlace)
}

/// Refuses a record inside the project, which could contain a forged one. The home directory may hold the
/// record: its files are the user's own.
fn check_outside_project(
    system: &dyn System,
    project: &Path,
    path: &Path,
) -> Result<(), TrustError> {
    let home = resolved_home(system);
    let current = system.current_dir().ok();
    for place in current.as_deref().into_iter().chain([project]) {
        let Ok(place) = system.resolve_dir(place) else { continue };
        let is_project = Some(&place) != home.as_ref() && place.parent().is_some();
        if is_project && path.starts_with(&place) {
            return Err(TrustError::InProject(path.to_owned()));
        }
    }
    Ok(())
}

/// Checks that the record and its directory are writable by the user alone. Directories above them may belong
/// to the system or the user's group, as the home directory itself may.
fn check_private(system: &dyn System, place: &Path, record: &Path) -> Result<(), TrustError> {
    let ownership = match system.ownership(place) {
        Ok(ownership) => ownership,
        // A missing directory will be created for the user alone.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreadable_error(place, error)),
    };
    let is_ours = place == record || Some(place) == record.parent();
    let owned = match ownership.owner {
        FileOwner::User => true,
        FileOwner::Administrator => !is_ours,
        FileOwner::Other => false,
    };
    if !owned {
        return Err(TrustError::Foreign(place.to_owned()));
    }
    let most = if is_ours { Writers::Owner } else { Writers::Group };
    if ownership.writers > most {
        return Err(TrustError::Writable(place.to_owned()));
    }
    Ok(())
}

fn unreadable_error(path: &Path, error: io::Error) -> TrustError {
    TrustError::Unreadable { path: path.to_owned(), source: ReadError::from(error) }
}
