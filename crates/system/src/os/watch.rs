//! Watching directories with inotify.
//!
//! Each directory is watched by itself: a project's ignored directories hold most of its files, and no recursive
//! watch leaves them out.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{
    CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch,
};
use rustix::io::Errno;

use crate::{WatchReport, WatchedChange, Watcher};

/// The room for events of one read.
const BUFFER: usize = 16 * 1024;

/// The directories that inotify watches.
pub(super) struct Inotify {
    handle: OwnedFd,
    by_number: HashMap<i32, PathBuf>,
    by_path: HashMap<PathBuf, i32>,
}

impl Inotify {
    pub(super) fn start() -> io::Result<Inotify> {
        let handle = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(Inotify { handle, by_number: HashMap::new(), by_path: HashMap::new() })
    }

    fn forget_directory(&mut self, number: i32) {
        if let Some(path) = self.by_number.remove(&number) {
            self.by_path.remove(&path);
        }
    }
}

impl Watcher for Inotify {
    fn follow_directories(&mut self, directories: &[PathBuf]) -> Vec<PathBuf> {
        let wanted: HashSet<&PathBuf> = directories.iter().collect();
        let gone = self.by_path.iter().filter(|(path, _)| !wanted.contains(path));
        let gone: Vec<i32> = gone.map(|(_, number)| *number).collect();
        for number in gone {
            // It may have ended by itself, with its directory.
            let _ = remove_watch(&self.handle, number);
            self.forget_directory(number);
        }
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVE_SELF
            | WatchFlags::DELETE_SELF
            | WatchFlags::ONLYDIR;
        let mut unwatched = Vec::new();
        for directory in directories {
            if self.by_path.contains_key(directory) {
                continue;
            }
            match add_watch(&self.handle, directory.as_path(), flags) {
                Ok(number) => {
                    self.by_number.insert(number, directory.clone());
                    self.by_path.insert(directory.clone(), number);
                }
                Err(_) => unwatched.push(directory.clone()),
            }
        }
        unwatched
    }

    fn wait(&mut self, patience: Duration) -> io::Result<WatchReport> {
        let timeout = Timespec::try_from(patience).unwrap_or_default();
        let mut waiting = [PollFd::new(&self.handle, PollFlags::IN)];
        match poll(&mut waiting, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(WatchReport::Quiet),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut changes = Vec::new();
        let (mut overflowed, mut ended) = (false, Vec::new());
        let mut reader = Reader::new(&self.handle, &mut buffer);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN | Errno::INTR) => break,
                Err(error) => return Err(error.into()),
            };
            let events = event.events();
            overflowed |= events.contains(ReadFlags::QUEUE_OVERFLOW);
            if events.contains(ReadFlags::IGNORED) {
                ended.push(event.wd());
                continue;
            }
            let Some(directory) = self.by_number.get(&event.wd()) else { continue };
            let is_itself = events.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF);
            let path = match event.file_name() {
                Some(name) => directory.join(OsStr::from_bytes(name.to_bytes())),
                None => directory.clone(),
            };
            let is_directory = is_itself || events.contains(ReadFlags::ISDIR);
            changes.push(WatchedChange { path, is_directory });
        }
        for number in ended {
            self.forget_directory(number);
        }
        Ok(match (overflowed, changes.is_empty()) {
            (true, _) => WatchReport::Overflowed,
            (false, true) => WatchReport::Quiet,
            (false, false) => WatchReport::Changed(changes),
        })
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests change real files")]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(5);

    fn paths(report: WatchReport) -> Vec<(String, bool)> {
        let WatchReport::Changed(changes) = report else { panic!("{report:?}") };
        let name = |change: WatchedChange| {
            (change.path.file_name().unwrap().to_string_lossy().into_owned(), change.is_directory)
        };
        changes.into_iter().map(name).collect()
    }

    #[test]
    fn a_change_is_told_with_its_path() {
        let top = tempfile::tempdir().unwrap();
        let inner = top.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let mut watcher = Inotify::start().unwrap();
        let missing = top.path().join("missing");
        let named = [top.path().to_owned(), missing.clone()];
        assert_eq!(watcher.follow_directories(&named), [missing]);
        assert_eq!(watcher.wait(Duration::ZERO).unwrap(), WatchReport::Quiet);
        std::fs::write(top.path().join("a.md"), "x").unwrap();
        std::fs::create_dir(top.path().join("new")).unwrap();
        let told = paths(watcher.wait(LONG).unwrap());
        assert!(
            told.contains(&("a.md".to_owned(), false)) && told.contains(&("new".to_owned(), true))
        );
        // A directory that is not named is not watched, and one that is no longer named neither.
        std::fs::write(inner.join("b.md"), "x").unwrap();
        assert_eq!(watcher.wait(Duration::ZERO).unwrap(), WatchReport::Quiet);
        assert!(watcher.follow_directories(std::slice::from_ref(&inner)).is_empty());
        std::fs::write(inner.join("b.md"), "y").unwrap();
        std::fs::write(top.path().join("a.md"), "y").unwrap();
        let told = paths(watcher.wait(LONG).unwrap());
        assert!(told.iter().all(|(name, _)| name == "b.md"), "{told:?}");
        std::fs::remove_dir_all(&inner).unwrap();
        assert!(paths(watcher.wait(LONG).unwrap()).contains(&("inner".to_owned(), true)));
        std::fs::create_dir(&inner).unwrap();
        assert!(watcher.follow_directories(std::slice::from_ref(&inner)).is_empty());
        std::fs::write(inner.join("c.md"), "x").unwrap();
        assert!(paths(watcher.wait(LONG).unwrap()).contains(&("c.md".to_owned(), false)));
    }
}
