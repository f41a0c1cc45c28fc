//! Writing through a held directory: never through a link, and a file is whole or not there.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::{Permission, STAGED};

pub(super) fn make_dir(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    match rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn put_file(
    directory: BorrowedFd<'_>,
    name: &OsStr,
    bytes: &[u8],
    permission: Permission,
) -> io::Result<()> {
    let written = File::from(stage(directory, permission)?).write_all(bytes);
    let outcome =
        written.and_then(|()| Ok(rustix::fs::renameat(directory, STAGED, directory, name)?));
    if outcome.is_err() {
        // What went wrong is already known.
        let _ = rustix::fs::unlinkat(directory, STAGED, AtFlags::empty());
    }
    outcome
}

/// Creates the file under its first name. The mode is what the user's mask leaves of it.
fn stage(directory: BorrowedFd<'_>, permission: Permission) -> io::Result<OwnedFd> {
    let mode = match permission {
        Permission::Data => Mode::from_raw_mode(0o666),
        Permission::Program => Mode::from_raw_mode(0o777),
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let create = || rustix::fs::openat(directory, STAGED, flags, mode);
    match create() {
        // What a run left behind that was ended in the middle.
        Err(Errno::EXIST) => {
            rustix::fs::unlinkat(directory, STAGED, AtFlags::empty())?;
            Ok(create()?)
        }
        outcome => Ok(outcome?),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at real files")]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use crate::system::{Dir, OsSystem, Permission, STAGED, System};

    fn held(path: &std::path::Path) -> Box<dyn Dir> {
        OsSystem.open_dir(path).unwrap()
    }

    #[test]
    fn a_file_is_put_in_place_whole_and_keeps_its_bit() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join(STAGED), "left behind").unwrap();
        let directory = held(place.path());
        directory.put_file("tool".as_ref(), b"one", Permission::Program).unwrap();
        directory.put_file("text".as_ref(), b"two", Permission::Data).unwrap();
        let tool = directory.read_file("tool".as_ref(), 10).unwrap();
        assert_eq!((tool.bytes.as_slice(), tool.permission), (&b"one"[..], Permission::Program));
        let text = directory.read_file("text".as_ref(), 10).unwrap();
        assert_eq!((text.bytes.as_slice(), text.permission), (&b"two"[..], Permission::Data));
        let mode = std::fs::metadata(place.path().join("tool")).unwrap().permissions().mode();
        assert_eq!(mode & 0o100, 0o100);
        assert!(!place.path().join(STAGED).exists());
    }

    #[test]
    fn no_link_is_followed() {
        let place = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("file"), "mine").unwrap();
        symlink(outside.path(), place.path().join("directory")).unwrap();
        symlink(outside.path().join("file"), place.path().join("file")).unwrap();
        let directory = held(place.path());
        assert!(directory.make_dir("directory".as_ref()).is_err());
        directory.put_file("file".as_ref(), b"ours", Permission::Data).unwrap();
        assert_eq!(std::fs::read(outside.path().join("file")).unwrap(), b"mine");
        assert_eq!(std::fs::read(place.path().join("file")).unwrap(), b"ours");
    }

    #[test]
    fn a_directory_is_made_once_and_removed_when_it_is_empty() {
        let place = tempfile::tempdir().unwrap();
        let directory = held(place.path());
        directory.make_dir("a".as_ref()).unwrap();
        let inner = directory.make_dir("a".as_ref()).unwrap();
        inner.put_file("f".as_ref(), b"", Permission::Data).unwrap();
        assert!(directory.remove_empty_dir("a".as_ref()).is_err());
        inner.remove_file("f".as_ref()).unwrap();
        directory.remove_empty_dir("a".as_ref()).unwrap();
        assert!(!place.path().join("a").exists());
    }
}
