//! A system that records what an answer was read from.
//!
//! As long as nothing in the record has changed, the same question has the same answer. A check looks at each
//! path once and reads nothing.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::{
    Below, Dir, DirEntry, FileContent, Files, Identity, Machine, Ownership, Permission, Processes,
    ReadError, Resolved, Status, System,
};

/// The coarsest clock of a file system in use, that of FAT. A file that was changed less than this ago may
/// change once more and keep its time.
const COARSEST_CLOCK: Duration = Duration::from_secs(2);

/// The state of a path, links followed and not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The file, the directory or the link itself.
    pub own: NodeStamp,
    /// The target of a link.
    pub target: Option<NodeStamp>,
}

/// The state of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeStamp {
    /// The kind of file and the permissions.
    pub mode: u32,
    /// The user and the group that it belongs to.
    pub owner: (u32, u32),
    /// The file system, and the number there.
    pub number: (u64, u64),
    /// The size in bytes.
    pub size: u64,
    /// The time of the last change of content, names or permissions, since 1970.
    pub changed: Duration,
}

/// The part of a path's state that an answer depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StampPart {
    /// The kind of file, who may read it, and where a link leads.
    Kind,
    /// The content of a file or the names in a directory, too.
    Content,
}

/// The state of a path before it was read; the kind of the error where nothing could be seen.
#[derive(Debug, Clone, Copy)]
struct SeenPath {
    part: StampPart,
    stamp: Result<Stamp, io::ErrorKind>,
}

impl SeenPath {
    fn agrees_with(&self, now: &Result<Stamp, io::ErrorKind>) -> bool {
        match (self.part, &self.stamp, now) {
            (StampPart::Kind, Ok(before), Ok(now)) => before.has_kind_of(now),
            (_, before, now) => before == now,
        }
    }

    /// Returns whether a later change would give the path another time.
    fn is_settled(&self, now: Duration) -> bool {
        let Ok(Stamp { own, target }) = &self.stamp else { return true };
        let is_old = |node: &NodeStamp| node.changed + COARSEST_CLOCK < now;
        match self.part {
            StampPart::Kind => target.is_none() || is_old(own),
            StampPart::Content => is_old(own) && target.iter().all(is_old),
        }
    }
}

impl Stamp {
    /// Returns whether the answer to [`StampPart::Kind`] is the same. A link is followed, and so it counts whole.
    fn has_kind_of(&self, other: &Stamp) -> bool {
        let kind = |node: &NodeStamp| (node.mode, node.owner);
        match (&self.target, &other.target) {
            (None, None) => kind(&self.own) == kind(&other.own),
            (Some(target), Some(other_target)) => {
                self.own == other.own
                    && kind(target) == kind(other_target)
                    && target.number == other_target.number
            }
            _ => false,
        }
    }
}

#[derive(Debug, Default)]
struct SeenPaths {
    seen: BTreeMap<PathBuf, SeenPath>,
    /// True if the answer depends on more than paths.
    is_open: bool,
}

/// A system that records what is read through it. Nothing can be written or started. All clones have one record.
#[derive(Clone)]
pub struct Recorded {
    system: Arc<dyn System>,
    record: Arc<Mutex<SeenPaths>>,
}

/// The paths that an answer was read from, each with its state.
#[derive(Debug)]
pub struct ReadRecord {
    seen: Vec<(PathBuf, SeenPath)>,
}

impl ReadRecord {
    /// Returns whether every path is as it was.
    pub fn is_unchanged(&self, files: &dyn Files) -> bool {
        self.seen.iter().all(|(path, seen)| seen.agrees_with(&read_stamp(files, path)))
    }
}

fn read_stamp(files: &dyn Files, path: &Path) -> Result<Stamp, io::ErrorKind> {
    files.stamp(path).map_err(|error| error.kind())
}

impl Recorded {
    /// Starts with an empty record.
    pub fn new(system: Arc<dyn System>) -> Recorded {
        Recorded { system, record: Arc::default() }
    }

    /// Returns the record, or `None` where a change might go unseen: the answer also depends on the time, the
    /// file system does not tell, or a path has just been changed.
    pub fn finish(self) -> Option<ReadRecord> {
        let SeenPaths { seen, is_open } = std::mem::take(&mut *self.lock_record());
        let now = self.system.now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let tells = |seen: &SeenPath| seen.stamp != Err(io::ErrorKind::Unsupported);
        let is_sure = !is_open && seen.values().all(|seen| tells(seen) && seen.is_settled(now));
        is_sure.then(|| ReadRecord { seen: seen.into_iter().collect() })
    }

    fn lock_record(&self) -> MutexGuard<'_, SeenPaths> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the state of a path. This comes before the reading: a change in between is seen by the next check.
    fn record_path(&self, path: &Path, part: StampPart) {
        let mut record = self.lock_record();
        match record.seen.get_mut(path) {
            Some(seen) => seen.part = seen.part.max(part),
            None => {
                let stamp = read_stamp(self.system.as_ref(), path);
                record.seen.insert(path.to_owned(), SeenPath { part, stamp });
            }
        }
    }

    /// Records a path and the directories above it, any of which may be a link.
    fn record_with_parents(&self, path: &Path, part: StampPart) -> PathBuf {
        let path = match self.system.current_dir() {
            Ok(current) if path.is_relative() => current.join(path),
            _ => path.to_owned(),
        };
        for above in path.ancestors().skip(1) {
            self.record_path(above, StampPart::Kind);
        }
        self.record_path(&path, part);
        path
    }

    fn wrap_dir(&self, directory: Box<dyn Dir>, path: PathBuf) -> Box<dyn Dir> {
        Box::new(RecordedDir { directory, path, system: self.clone() })
    }
}

/// A directory held open, and where it is.
struct RecordedDir {
    directory: Box<dyn Dir>,
    path: PathBuf,
    system: Recorded,
}

impl RecordedDir {
    /// Records a path below this directory and what lies in between.
    fn record_below(&self, below: impl AsRef<Path>, part: StampPart) -> PathBuf {
        let below = below.as_ref();
        for above in below.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
            self.system.record_path(&self.path.join(above), StampPart::Kind);
        }
        let path = self.path.join(below);
        self.system.record_path(&path, part);
        path
    }
}

impl Dir for RecordedDir {
    fn open_dir(&self, name: &OsStr) -> io::Result<Box<dyn Dir>> {
        let path = self.record_below(name, StampPart::Kind);
        Ok(self.system.wrap_dir(self.directory.open_dir(name)?, path))
    }

    fn open_dir_below(&self, below: &Path) -> io::Result<Box<dyn Dir>> {
        let path = self.record_below(below, StampPart::Kind);
        Ok(self.system.wrap_dir(self.directory.open_dir_below(below)?, path))
    }

    fn read(&self, name: &OsStr, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.read_file(name, limit).map(|content| content.bytes)
    }

    fn read_below(&self, below: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.record_below(below, StampPart::Content);
        self.directory.read_below(below, limit)
    }

    fn read_file(&self, name: &OsStr, limit: u64) -> Result<FileContent, ReadError> {
        self.record_below(name, StampPart::Content);
        self.directory.read_file(name, limit)
    }

    fn read_pieces(
        &self,
        name: &OsStr,
        limit: u64,
        piece: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Permission, ReadError> {
        self.record_below(name, StampPart::Content);
        self.directory.read_pieces(name, limit, piece)
    }

    fn status(&self, name: &OsStr) -> io::Result<Status> {
        self.record_below(name, StampPart::Content);
        self.directory.status(name)
    }

    fn look_below(&self, below: &Path) -> Below {
        self.record_below(below, StampPart::Kind);
        self.directory.look_below(below)
    }

    fn first_entries(&self, limit: usize) -> io::Result<Vec<DirEntry>> {
        self.system.record_path(&self.path, StampPart::Content);
        self.directory.first_entries(limit)
    }
}

impl Files for Recorded {
    fn resolve(&self, path: &Path) -> io::Result<Resolved> {
        self.record_with_parents(path, StampPart::Kind);
        self.system.resolve(path)
    }

    fn resolve_dir(&self, path: &Path) -> io::Result<PathBuf> {
        self.record_with_parents(path, StampPart::Kind);
        self.system.resolve_dir(path)
    }

    fn probe_path(&self, path: &Path) -> Below {
        self.record_with_parents(path, StampPart::Kind);
        self.system.probe_path(path)
    }

    fn open_dir(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
        let followed = self.record_with_parents(path, StampPart::Kind);
        Ok(self.wrap_dir(self.system.open_dir(path)?, followed))
    }

    fn open_dir_below(&self, base: &Path, below: &Path) -> io::Result<Box<dyn Dir>> {
        let followed = self.record_with_parents(&base.join(below), StampPart::Kind);
        Ok(self.wrap_dir(self.system.open_dir_below(base, below)?, followed))
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.record_with_parents(path, StampPart::Content);
        self.system.read(path, limit)
    }

    fn is_executable(&self, path: &Path) -> io::Result<bool> {
        self.record_with_parents(path, StampPart::Kind);
        self.system.is_executable(path)
    }

    fn ownership(&self, path: &Path) -> io::Result<Ownership> {
        self.record_with_parents(path, StampPart::Kind);
        self.system.ownership(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Identity> {
        self.record_with_parents(path, StampPart::Content);
        self.system.identity(path)
    }

    fn modified_time(&self, path: &Path) -> io::Result<SystemTime> {
        self.record_with_parents(path, StampPart::Content);
        self.system.modified_time(path)
    }
}

impl Processes for Recorded {}

impl Machine for Recorded {
    fn current_dir(&self) -> io::Result<PathBuf> {
        self.system.current_dir()
    }

    fn env(&self, name: &str) -> Option<OsString> {
        self.system.env(name)
    }

    fn machine_directory(&self) -> Option<PathBuf> {
        self.system.machine_directory()
    }

    fn now(&self) -> SystemTime {
        self.lock_record().is_open = true;
        self.system.now()
    }

    fn elapsed(&self) -> Duration {
        self.lock_record().is_open = true;
        self.system.elapsed()
    }
}

#[cfg(test)]
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "tests look at real files")]
mod tests {
    use std::fs;

    use super::*;
    use crate::OsSystem;

    /// A system that runs two seconds ahead, so that files of now are old enough.
    struct Ahead;

    impl Files for Ahead {
        fn resolve(&self, path: &Path) -> io::Result<Resolved> {
            OsSystem.resolve(path)
        }

        fn open_dir(&self, path: &Path) -> io::Result<Box<dyn Dir>> {
            OsSystem.open_dir(path)
        }

        fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
            OsSystem.read(path, limit)
        }

        fn modified_time(&self, path: &Path) -> io::Result<SystemTime> {
            OsSystem.modified_time(path)
        }

        fn stamp(&self, path: &Path) -> io::Result<Stamp> {
            OsSystem.stamp(path)
        }
    }

    impl Processes for Ahead {}

    impl Machine for Ahead {
        fn current_dir(&self) -> io::Result<PathBuf> {
            OsSystem.current_dir()
        }

        fn env(&self, name: &str) -> Option<OsString> {
            OsSystem.env(name)
        }

        fn now(&self) -> SystemTime {
            OsSystem.now() + 2 * COARSEST_CLOCK
        }
    }

    fn project() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().join("p");
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::write(top.join("a/one.md"), "one").unwrap();
        fs::write(top.join("a/b/two.md"), "two").unwrap();
        std::os::unix::fs::symlink("a", top.join("link")).unwrap();
        (directory, top)
    }

    /// Reads as the engine does: a walk, a file, a listing, a look at what is not there.
    fn record(top: &Path) -> ReadRecord {
        let system = Recorded::new(Arc::new(Ahead));
        let held = system.open_dir(top).unwrap();
        let below = held.open_dir(OsStr::new("a")).unwrap();
        below.read(OsStr::new("one.md"), 100).unwrap();
        below.read(OsStr::new("none.md"), 100).unwrap_err();
        below.open_dir(OsStr::new("b")).unwrap().entries().unwrap();
        assert_eq!(held.look_below(Path::new("x/y")), Below::Missing);
        system.resolve(&top.join("link/b")).unwrap();
        system.finish().unwrap()
    }

    #[test]
    fn a_record_holds_until_something_in_it_changes() {
        type Change = fn(&Path);
        let harmless: [Change; 4] = [
            |_| {},
            // Only its kind counts, and nothing has listed the directory.
            |top| fs::write(top.join("a/other.md"), "new").unwrap(),
            |top| fs::write(top.join("a/b/two.md"), "2").unwrap(),
            |top| fs::create_dir(top.join("z")).unwrap(),
        ];
        for change in harmless {
            let (_directory, top) = project();
            let record = record(&top);
            change(&top);
            assert!(record.is_unchanged(&OsSystem));
        }
        let harmful: [Change; 9] = [
            |top| fs::write(top.join("a/one.md"), "ONE").unwrap(),
            |top| fs::remove_file(top.join("a/one.md")).unwrap(),
            |top| {
                fs::write(top.join("a/new"), "one").unwrap();
                fs::rename(top.join("a/new"), top.join("a/one.md")).unwrap();
            },
            |top| fs::write(top.join("a/none.md"), "").unwrap(),
            |top| fs::write(top.join("a/b/three.md"), "").unwrap(),
            |top| fs::create_dir_all(top.join("x/y")).unwrap(),
            |top| {
                fs::rename(top.join("a"), top.join("moved")).unwrap();
                std::os::unix::fs::symlink("moved", top.join("a")).unwrap();
            },
            |top| {
                fs::create_dir_all(top.join("c/b")).unwrap();
                fs::remove_file(top.join("link")).unwrap();
                std::os::unix::fs::symlink("c", top.join("link")).unwrap();
            },
            |top| {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(top.join("a"), fs::Permissions::from_mode(0o700)).unwrap();
            },
        ];
        for (number, change) in harmful.into_iter().enumerate() {
            let (_directory, top) = project();
            let record = record(&top);
            change(&top);
            assert!(!record.is_unchanged(&OsSystem), "change {number}");
        }
    }

    /// A second change in the same tick of the file system's clock would go unseen.
    #[test]
    fn what_was_just_changed_is_not_recorded() {
        let (_directory, top) = project();
        let system = Recorded::new(Arc::new(OsSystem));
        system.read(&top.join("a/one.md"), 100).unwrap();
        assert!(system.finish().is_none());
    }

    #[test]
    fn an_answer_that_depends_on_the_time_is_not_recorded() {
        let system = Recorded::new(Arc::new(Ahead));
        system.now();
        assert!(system.finish().is_none());
    }

    /// A tree of a revision has no stamps.
    #[test]
    fn a_system_that_does_not_tell_has_no_record() {
        let system = Recorded::new(Arc::new(crate::TreeSystem::empty("/p")));
        system.read(Path::new("/p/a"), 10).unwrap_err();
        assert!(system.finish().is_none());
    }
}
