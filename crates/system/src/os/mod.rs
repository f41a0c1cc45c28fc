//! The real system: its files here, its processes in `programs`, the machine in `machine`.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

#[cfg(unix)]
mod companion;
#[cfg_attr(not(unix), path = "elsewhere.rs")]
mod handles;
#[cfg(unix)]
mod keeper;
mod machine;
#[cfg(unix)]
mod process;
mod programs;
mod read;
#[cfg(unix)]
mod search;
mod tree;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(unix)]
mod write;

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::time::Duration;
use std::time::SystemTime;

use self::read::{read_by_pieces, read_open};
#[cfg(target_os = "linux")]
use super::Below;
use super::{
    Access, Dir, DirEntry, DirPlace, FileKind, FileLock, Files, Identity, Ownership, Permission,
    ReadError, Resolved, StagedFile, Status, TemporaryDir, unsupported_error,
};
#[cfg(unix)]
use super::{FileContent, FileOwner, NodeStamp, Stamp, Writers};

/// The operating system that the program runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsSystem;

impl Files for OsSystem {
    fn resolve(&self, path: &Path) -> io::Result<Resolved> {
        handles::resolve(path)
    }

    #[cfg(target_os = "linux")]
    fn resolve_dir(&self, path: &Path) -> io::Result<PathBuf> {
        handles::resolve_dir(path)
    }

    fn open_dir(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        handles::open_dir(path)
    }

    #[cfg(target_os = "linux")]
    fn probe_path(&self, path: &Path) -> Below {
        handles::probe_path(path)
    }

    #[cfg(target_os = "linux")]
    fn open_root(&self, path: &Path) -> io::Result<(Box<dyn Dir>, PathBuf)> {
        handles::open_root(path)
    }

    #[cfg(unix)]
    fn open_dir_below(&self, base: &Path, below: &Path) -> io::Result<Box<dyn Dir>> {
        handles::open_dir_below(base, below)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        handles::read(path, limit)
    }

    fn is_executable(&self, path: &Path) -> io::Result<bool> {
        programs::is_executable(path)
    }

    fn ownership(&self, path: &Path) -> io::Result<Ownership> {
        ownership(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Identity> {
        let metadata = fs::metadata(path)?;
        let born = metadata.created()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        if born.is_zero() {
            // Some file systems know the field and leave it empty.
            return unsupported_error("its file system does not say when it was created");
        }
        #[cfg(unix)]
        let number = metadata.ino();
        #[cfg(not(unix))]
        let number = 0;
        Ok(Identity { number, born })
    }

    #[cfg(unix)]
    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        let own = fs::symlink_metadata(path)?;
        let target = if own.is_symlink() { fs::metadata(path).ok() } else { None };
        Ok(Stamp { own: node_stamp(&own), target: target.as_ref().map(node_stamp) })
    }

    fn lock(&self, path: &Path) -> io::Result<FileLock> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        {
            // A link could make a file anywhere.
            let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
            options.mode(0o600).custom_flags(flags.bits().cast_signed());
        }
        // A FIFO would be waited for, and a project may come with one.
        let opened = options.open(path);
        if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            let name = path.file_name().unwrap_or_default().display();
            return Err(io::Error::other(format!("`{name}` is in the way; remove it")));
        }
        let file = opened?;
        file.lock()?;
        Ok(FileLock::from_file(file))
    }

    #[cfg(target_os = "linux")]
    fn start_watcher(&self) -> io::Result<Box<dyn super::Watcher>> {
        Ok(Box::new(watch::Inotify::start()?))
    }

    #[cfg(unix)]
    fn may_others_read(&self, path: &Path) -> io::Result<bool> {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path)?.permissions());
        Ok(mode & 0o044 != 0)
    }

    fn temporary_dir(&self) -> io::Result<TemporaryDir> {
        tree::temporary_dir(&std::env::temp_dir())
    }

    fn modified_time(&self, path: &Path) -> io::Result<SystemTime> {
        fs::metadata(path)?.modified()
    }

    fn creation_time(&self, path: &Path) -> io::Result<SystemTime> {
        fs::metadata(path)?.created()
    }

    fn create_private_dir(&self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        options.mode(0o600);
        options.open(path)?.write_all(bytes)
    }

    fn create_program(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        options.mode(0o700);
        options.open(path)?.write_all(bytes)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_empty_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn create_staging_dir(&self, parent: &Path) -> io::Result<(PathBuf, FileLock)> {
        tree::create_staging_dir(parent)
    }

    fn is_abandoned(&self, path: &Path) -> bool {
        tree::is_abandoned(path)
    }

    fn create_staged_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        File::create_new(path)?.write_all(bytes)
    }

    /// Elsewhere a link needs to know what it leads to, and mostly a privilege.
    #[cfg(unix)]
    fn create_link(&self, path: &Path, target: &Path) -> io::Result<()> {
        std::os::unix::fs::symlink(target, path)
    }

    fn rename_dir(&self, from: &Path, to: &Path) -> io::Result<()> {
        tree::rename_dir(from, to)
    }

    fn remove_tree(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    #[cfg(target_os = "linux")]
    fn sync_file_system(&self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::syncfs(File::open(path)?)?)
    }
}

#[cfg(unix)]
fn ownership(path: &Path) -> io::Result<Ownership> {
    const ADMINISTRATOR: u32 = 0;
    let metadata = fs::metadata(path)?;
    let mode = metadata.mode();
    let owner = match metadata.uid() {
        user if user == rustix::process::geteuid().as_raw() => FileOwner::User,
        ADMINISTRATOR => FileOwner::Administrator,
        _ => FileOwner::Other,
    };
    let keeps_names_apart = metadata.is_dir() && mode & 0o1000 != 0;
    let writers = match mode & 0o022 {
        _ if keeps_names_apart => Writers::Owner,
        0 => Writers::Owner,
        0o020 => Writers::Group,
        _ => Writers::Everybody,
    };
    Ok(Ownership { owner, writers, sets_identity: metadata.is_file() && mode & 0o6000 != 0 })
}

#[cfg(not(unix))]
fn ownership(path: &Path) -> io::Result<Ownership> {
    fs::metadata(path).map(|_| Ownership::PRIVATE)
}

#[cfg(unix)]
fn node_stamp(metadata: &fs::Metadata) -> NodeStamp {
    let seconds = metadata.ctime().try_into().unwrap_or_default();
    NodeStamp {
        mode: metadata.mode(),
        owner: (metadata.uid(), metadata.gid()),
        number: (metadata.dev(), metadata.ino()),
        size: metadata.size(),
        changed: Duration::new(seconds, metadata.ctime_nsec().try_into().unwrap_or_default()),
    }
}

fn kind_of(file_type: fs::FileType) -> FileKind {
    if file_type.is_file() {
        FileKind::File
    } else if file_type.is_dir() {
        FileKind::Directory
    } else if file_type.is_symlink() {
        FileKind::Link
    } else {
        FileKind::Other
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn with_mode(path: &Path, mode: u32) -> Ownership {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        ownership(path).unwrap()
    }

    #[test]
    fn a_mode_says_who_may_write() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        for (mode, writers) in [
            (0o600, Writers::Owner),
            (0o644, Writers::Owner),
            (0o664, Writers::Group),
            (0o646, Writers::Everybody),
            (0o1646, Writers::Everybody),
        ] {
            let expected = Ownership { writers, ..Ownership::PRIVATE };
            assert_eq!(with_mode(&file, mode), expected, "{mode:o}");
        }
        assert!(with_mode(&file, 0o4700).sets_identity);
        assert_eq!(with_mode(directory.path(), 0o777).writers, Writers::Everybody);
        assert_eq!(with_mode(directory.path(), 0o1777).writers, Writers::Owner);
        assert!(ownership(&directory.path().join("missing")).is_err());
    }

    /// ext4 gives the number of a removed directory to the next one that is made.
    #[test]
    fn what_is_made_again_is_something_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("project");
        fs::create_dir(&path).unwrap();
        let first = OsSystem.identity(&path).unwrap();
        fs::write(path.join("file"), "").unwrap();
        assert_eq!(OsSystem.identity(&path).unwrap(), first);
        let moved = directory.path().join("moved");
        fs::rename(&path, &moved).unwrap();
        assert_eq!(OsSystem.identity(&moved).unwrap(), first);
        fs::remove_dir_all(&moved).unwrap();
        fs::create_dir(&path).unwrap();
        assert_ne!(OsSystem.identity(&path).unwrap(), first);
    }

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = OsSystem.lock(&path).unwrap();
        let other = File::open(&path).unwrap();
        assert!(other.try_lock().is_err());
        drop(held);
        assert!(other.try_lock().is_ok());
    }
}
