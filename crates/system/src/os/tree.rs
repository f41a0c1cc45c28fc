//! Whole directories on a real system: staged under a name of their own, then put in place.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::OsSystem;
use crate::{FileLock, FileOwner, Files, TemporaryDir};

/// The beginning of the names of staged directories.
const STAGED: &str = ".brief-";

pub(super) fn create_staging_dir(parent: &Path) -> io::Result<(PathBuf, FileLock)> {
    loop {
        // The name is ours for as long as the directory is there, which is past this call.
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let path = builder.prefix(STAGED).tempdir_in(parent)?.keep();
        // Not every system opens a directory, and not every file system has locks.
        let lock = match File::open(&path) {
            Ok(directory) if directory.lock().is_ok() => FileLock::from_file(directory),
            _ => FileLock::unlocked(),
        };
        // Before it was locked, another run may have taken it for abandoned.
        if fs::symlink_metadata(&path).is_ok() {
            return Ok((path, lock));
        }
    }
}

pub(super) fn is_abandoned(path: &Path) -> bool {
    File::open(path).is_ok_and(|directory| directory.try_lock().is_ok())
}

/// Creates a directory in `parent`, and removes what killed runs have left there.
pub(super) fn temporary_dir(parent: &Path) -> io::Result<TemporaryDir> {
    for entry in fs::read_dir(parent)?.flatten() {
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(STAGED.as_bytes())
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && OsSystem.ownership(&entry.path()).is_ok_and(|of| of.owner == FileOwner::User);
        if is_ours && is_abandoned(&entry.path()) {
            // Another run may have removed it already.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    create_staging_dir(parent).map(TemporaryDir::from_staging)
}

pub(super) fn rename_dir(from: &Path, to: &Path) -> io::Result<()> {
    // After a power cut, a name without its content would pass for a whole directory. One call for
    // all of it: to wait for thousands of files one by one takes far longer.
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(fs::File::open(from)?)?;
    fs::rename(from, to).map_err(|error| match error.kind() {
        io::ErrorKind::DirectoryNotEmpty => io::ErrorKind::AlreadyExists.into(),
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_staged_directory_goes_where_nothing_is() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("target");
        let stage = |text: &str| {
            let (staged, lock) = create_staging_dir(place.path()).unwrap();
            assert!(!is_abandoned(&staged));
            drop(lock);
            assert!(is_abandoned(&staged));
            OsSystem.create_staged_file(&staged.join("file"), text.as_bytes()).unwrap();
            staged
        };
        let (first, second) = (stage("first"), stage("second"));
        rename_dir(&first, &target).unwrap();
        let error = rename_dir(&second, &target).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(target.join("file")).unwrap(), "first");
        assert_eq!(fs::read_to_string(second.join("file")).unwrap(), "second");
        let again = OsSystem.create_staged_file(&target.join("file"), b"").unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    }

    #[cfg(unix)]
    #[test]
    fn a_temporary_directory_is_private_and_removed_with_all_in_it() {
        use std::os::unix::fs::PermissionsExt;

        let parent = tempfile::tempdir().unwrap();
        let directory = temporary_dir(parent.path()).unwrap();
        let path = directory.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(path.join("file"), "").unwrap();
        drop(directory);
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn the_temporary_directory_of_a_killed_run_goes_with_the_next() {
        let parent = tempfile::tempdir().unwrap();
        let (killed, lock) = create_staging_dir(parent.path()).unwrap();
        fs::write(killed.join("file"), "").unwrap();
        drop(lock);
        let alive = temporary_dir(parent.path()).unwrap();
        let other = temporary_dir(parent.path()).unwrap();
        assert!(!killed.exists() && alive.path().exists() && other.path().exists());
    }

    #[cfg(unix)]
    #[test]
    fn removing_a_tree_spares_what_its_links_lead_to() {
        let place = tempfile::tempdir().unwrap();
        let (kept, tree) = (place.path().join("kept"), place.path().join("tree"));
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "").unwrap();
        fs::create_dir(&tree).unwrap();
        OsSystem.create_link(&tree.join("link"), &kept).unwrap();
        OsSystem.remove_tree(&tree).unwrap();
        assert!(!tree.exists() && kept.join("file").exists());
    }
}
