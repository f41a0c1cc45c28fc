//! The steps of writing through a held directory, never through a link.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::{Access, STAGED, StagedFile};

pub(super) fn make_dir(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    match rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Creates a file that must not exist yet. The mode is what the user's mask leaves of it.
pub(super) fn create_file(
    directory: BorrowedFd<'_>,
    name: impl rustix::path::Arg,
    access: Access,
) -> rustix::io::Result<OwnedFd> {
    let mode = Mode::from_raw_mode(match access {
        Access::Data => 0o666,
        Access::Program => 0o777,
        Access::Private => 0o600,
    });
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, mode)
}

/// Lets two files change places.
#[cfg(target_os = "linux")]
pub(super) fn exchange_files(
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
pub(super) fn sync_directory(directory: BorrowedFd<'_>) -> io::Result<()> {
    match rustix::fs::fsync(directory) {
        // Not every file system can do it.
        Ok(()) | Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Moves a file to where nothing is.
pub(super) fn take_new(
    (from, name): (BorrowedFd<'_>, &OsStr),
    (to, target): (BorrowedFd<'_>, &OsStr),
) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::renameat_with(from, name, to, target, rustix::fs::RenameFlags::NOREPLACE) {
        // What file systems say that cannot do it, and kernels that do not have the call.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        outcome => return Ok(outcome?),
    }
    match rustix::fs::linkat(from, name, to, target, AtFlags::empty()) {
        Ok(()) => Ok(rustix::fs::unlinkat(from, name, AtFlags::empty())?),
        // A file system without second names: nothing better than to look first.
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::MLINK) => {
            match rustix::fs::statat(to, target, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => Ok(rustix::fs::renameat(from, name, to, target)?),
            }
        }
        Err(error) => Err(error.into()),
    }
}

impl StagedFile for File {
    fn sync_content(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// Creates the file under the name [`STAGED`], and locks it: a writer that is gone holds no lock.
pub(super) fn stage_file(directory: BorrowedFd<'_>, access: Access) -> io::Result<File> {
    loop {
        match create_file(directory, STAGED, access) {
            Ok(staged) => {
                lock_file(&staged)?;
                // Before it was locked, another writer may have taken it for abandoned.
                if is_staged(directory, &staged)? {
                    return Ok(File::from(staged));
                }
            }
            Err(Errno::EXIST) => clear_staged(directory)?,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Waits for the writer of the staged file, and removes what is left of it. Only the name goes: the
/// file may have another one.
fn clear_staged(directory: BorrowedFd<'_>) -> io::Result<()> {
    let in_the_way = || io::Error::other(format!("`{STAGED}` is in the way; remove it"));
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let left = match rustix::fs::openat(directory, STAGED, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        Err(_) => return Err(in_the_way()),
        Ok(left) => left,
    };
    if FileType::from_raw_mode(rustix::fs::fstat(&left)?.st_mode) != FileType::RegularFile {
        return Err(in_the_way());
    }
    lock_file(&left)?;
    if is_staged(directory, &left)? {
        rustix::fs::unlinkat(directory, STAGED, AtFlags::empty())?;
    }
    Ok(())
}

fn lock_file(file: &OwnedFd) -> io::Result<()> {
    loop {
        match rustix::fs::flock(file, rustix::fs::FlockOperation::LockExclusive) {
            Err(Errno::INTR) => {}
            // Where there are no locks, two writers at once are not kept apart.
            Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::BADF) => return Ok(()),
            outcome => return Ok(outcome?),
        }
    }
}

/// Returns whether an open file is the one under the name [`STAGED`].
fn is_staged(directory: BorrowedFd<'_>, file: &OwnedFd) -> io::Result<bool> {
    let open = rustix::fs::fstat(file)?;
    match rustix::fs::statat(directory, STAGED, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(named) => Ok((named.st_dev, named.st_ino) == (open.st_dev, open.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at real files")]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use crate::{Access, Dir, Files, OsSystem, Permission, STAGED, System};

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

    /// X10: what is there stays, also when it is a link to nothing.
    #[test]
    fn a_new_file_takes_no_place() {
        let place = tempfile::tempdir().unwrap();
        let system: &dyn System = &OsSystem;
        system.create_file(&place.path().join("new"), b"one").unwrap();
        assert_eq!(std::fs::read(place.path().join("new")).unwrap(), b"one");
        symlink("nowhere", place.path().join("link")).unwrap();
        for name in ["new", "link"] {
            let error = system.create_file(&place.path().join(name), b"two").unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{name}");
        }
        assert_eq!(std::fs::read(place.path().join("new")).unwrap(), b"one");
        assert!(!place.path().join(STAGED).exists());
    }

    /// X09: what a killed writer has left is in no listing, and goes with the next write. A second name of
    /// it keeps its content.
    #[test]
    fn what_is_left_is_not_listed_and_goes() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("other"), "mine").unwrap();
        std::fs::hard_link(place.path().join("other"), place.path().join(STAGED)).unwrap();
        let directory = held(place.path());
        let names: Vec<_> =
            directory.entries().unwrap().into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["other"]);
        directory.put_file("file".as_ref(), b"ours", Permission::Data).unwrap();
        assert!(!place.path().join(STAGED).exists());
        assert_eq!(std::fs::read(place.path().join("other")).unwrap(), b"mine");
    }

    #[test]
    fn what_is_no_file_is_in_the_way() {
        let makers: [fn(&std::path::Path) -> std::io::Result<()>; 2] =
            [|path| symlink("x", path), |path| std::fs::create_dir(path)];
        for make in makers {
            let place = tempfile::tempdir().unwrap();
            make(&place.path().join(STAGED)).unwrap();
            let error = held(place.path()).put_file("file".as_ref(), b"", Permission::Data);
            assert!(error.unwrap_err().to_string().contains("in the way; remove it"));
            assert!(!place.path().join("file").exists());
        }
    }

    /// A writer at work is waited for, and its file is not taken for one that is left.
    #[test]
    fn two_writers_do_not_meet() {
        let place = tempfile::tempdir().unwrap();
        let directory = held(place.path());
        let mut first = directory.stage_file(Access::Data).unwrap();
        let path = place.path().to_owned();
        let second = std::thread::spawn(move || {
            held(&path).put_file("second".as_ref(), b"second", Permission::Data)
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
        first.write_all(b"first").unwrap();
        directory.take_file(directory.as_ref(), STAGED.as_ref(), "first".as_ref()).unwrap();
        drop(first);
        second.join().unwrap().unwrap();
        for name in ["first", "second"] {
            assert_eq!(std::fs::read_to_string(place.path().join(name)).unwrap(), name);
        }
    }

    #[test]
    fn many_writers_of_one_file_leave_one_of_their_texts() {
        let place = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..8_u8 {
                let path = place.path().join("file");
                scope.spawn(move || {
                    let system: &dyn System = &OsSystem;
                    for _ in 0..50 {
                        system.replace_file(&path, &[b'a' + writer; 3000]).unwrap();
                    }
                });
            }
        });
        let found = std::fs::read(place.path().join("file")).unwrap();
        assert!(found.len() == 3000 && found.iter().all(|byte| *byte == found[0]));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_replaced_file_keeps_its_permissions_and_a_new_one_has_those_of_the_mask() {
        let place = tempfile::tempdir().unwrap();
        let system: &dyn System = &OsSystem;
        let mode = |name: &str| {
            std::fs::metadata(place.path().join(name)).unwrap().permissions().mode() & 0o777
        };
        std::fs::write(place.path().join("usual"), "").unwrap();
        std::fs::write(place.path().join("secret"), "").unwrap();
        let secret = std::fs::Permissions::from_mode(0o400);
        std::fs::set_permissions(place.path().join("secret"), secret).unwrap();
        system.replace_file(&place.path().join("secret"), b"new").unwrap();
        system.replace_file(&place.path().join("new"), b"new").unwrap();
        held(place.path()).put_private_file("private".as_ref(), b"new").unwrap();
        assert_eq!((mode("secret"), mode("private")), (0o400, 0o600));
        assert_eq!(mode("new"), mode("usual"));
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
