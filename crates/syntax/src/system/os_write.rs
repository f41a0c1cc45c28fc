//! Writing through a held directory: never through a link, and a file is whole or not there.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
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

/// Creates a file that must not exist yet. The mode is what the user's mask leaves of it.
pub(super) fn create(
    directory: BorrowedFd<'_>,
    name: impl rustix::path::Arg,
    permission: Permission,
) -> rustix::io::Result<OwnedFd> {
    let mode = match permission {
        Permission::Data => Mode::from_raw_mode(0o666),
        Permission::Program => Mode::from_raw_mode(0o777),
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, mode)
}

/// Lets two files change places.
#[cfg(target_os = "linux")]
pub(super) fn exchange(
    (from, name): (BorrowedFd<'_>, &OsStr),
    (to, target): (BorrowedFd<'_>, &OsStr),
) -> io::Result<()> {
    match rustix::fs::renameat_with(from, name, to, target, rustix::fs::RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        // What file systems say that cannot do it, and kernels that do not have the call.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            Err(io::ErrorKind::Unsupported.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Gives a file the permissions of another one, if that is a regular file.
pub(super) fn share_permissions(
    (from, model): (BorrowedFd<'_>, &OsStr),
    (to, name): (BorrowedFd<'_>, &OsStr),
) -> io::Result<()> {
    let status = rustix::fs::statat(from, model, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(status.st_mode) == FileType::RegularFile {
        let bits = Mode::from_raw_mode(status.st_mode & 0o777);
        rustix::fs::chmodat(to, name, bits, AtFlags::empty())?;
    }
    Ok(())
}

/// Waits until the names in a directory are safe on disk.
pub(super) fn settle(directory: BorrowedFd<'_>) -> io::Result<()> {
    match rustix::fs::fsync(directory) {
        // Not every file system can do it.
        Ok(()) | Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Creates the file under its first name.
fn stage(directory: BorrowedFd<'_>, permission: Permission) -> io::Result<OwnedFd> {
    let create = || create(directory, STAGED, permission);
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
    use std::io::Write;
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
    fn a_file_moves_from_one_directory_to_another() {
        let place = tempfile::tempdir().unwrap();
        let top = held(place.path());
        let (from, to) = (top.make_dir("from".as_ref()), top.make_dir("to".as_ref()));
        let (from, to) = (from.unwrap(), to.unwrap());
        let stage = |bytes: &[u8]| {
            let mut file = from.create_file("1".as_ref(), Permission::Data).unwrap();
            file.write_all(bytes).unwrap();
        };
        stage(b"one");
        assert!(from.create_file("1".as_ref(), Permission::Data).is_err());
        to.take_file(from.as_ref(), "1".as_ref(), "file".as_ref()).unwrap();
        let target = place.path().join("to/file");
        assert_eq!(std::fs::read(&target).unwrap(), b"one");
        assert!(!place.path().join("from/1").exists());

        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600)).unwrap();
        stage(b"two");
        to.share_permissions(from.as_ref(), "1".as_ref(), "file".as_ref()).unwrap();
        to.take_file(from.as_ref(), "1".as_ref(), "file".as_ref()).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"two");
        assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);

        symlink(&target, place.path().join("to/link")).unwrap();
        stage(b"three");
        to.take_file(from.as_ref(), "1".as_ref(), "link".as_ref()).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"two");
    }

    #[test]
    fn two_files_change_places() {
        let place = tempfile::tempdir().unwrap();
        let top = held(place.path());
        let from = top.make_dir("from".as_ref()).unwrap();
        top.put_file("a".as_ref(), b"old", Permission::Data).unwrap();
        from.put_file("b".as_ref(), b"new", Permission::Program).unwrap();
        match top.exchange_file(from.as_ref(), "b".as_ref(), "a".as_ref()) {
            Ok(()) => {
                assert_eq!(std::fs::read(place.path().join("a")).unwrap(), b"new");
                assert_eq!(std::fs::read(place.path().join("from/b")).unwrap(), b"old");
            }
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::Unsupported),
        }
    }

    #[test]
    fn a_file_is_read_by_pieces_up_to_its_limit() {
        let place = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..700_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        std::fs::write(place.path().join("large"), &bytes).unwrap();
        std::fs::write(place.path().join("empty"), b"").unwrap();
        let directory = held(place.path());
        let read = |name: &str, limit| {
            let (mut all, mut most) = (Vec::new(), 0);
            let outcome = directory.read_pieces(name.as_ref(), limit, &mut |piece| {
                all.extend_from_slice(piece);
                most = most.max(piece.len());
                Ok(())
            });
            outcome.map(|_| (all, most))
        };
        let (all, most) = read("large", 1 << 20).unwrap();
        assert_eq!(all, bytes);
        assert!(most < 300_000, "{most}");
        assert_eq!(read("empty", 10).unwrap().0, b"");
        assert!(read("large", 1000).is_err());
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
