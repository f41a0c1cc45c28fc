//! Waits for changes of files: with the watcher of the system, or by looking from time to time.
//!
//! Guidance is Markdown, YAML, JSON and TOML. A change of such a file, of a named file or of a directory counts at once;
//! any other file matters in rare ways only (a pattern, an import), and so it waits for a pause. A
//! build that writes thousands of files costs one look.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Interruption, System, WatchReport, WatchedChange, Watcher};

/// The pause after a change of guidance: editors write a file in several steps.
const PAUSE: Duration = Duration::from_millis(20);

/// The longest time that further changes put a new look off.
const LONGEST_PAUSE: Duration = Duration::from_millis(80);

/// The pause after a change of another file.
const LONG_PAUSE: Duration = Duration::from_secs(2);

/// The interval of checks for the end of the server.
const TICK: Duration = Duration::from_millis(250);

/// The interval of looks at directories that the system cannot watch.
const LOOK: Duration = Duration::from_millis(100);

/// The paths that one look takes; of more, each look takes a part.
const LOOKED_AT: usize = 2_000;

/// The endings of names of guidance files.
const ENDINGS: [&str; 9] = ["md", "mdc", "yaml", "yml", "json", "jsonc", "toml", "lock", "txt"];

/// The directories that are followed.
pub struct FileWatch<'s> {
    system: &'s dyn System,
    watcher: Option<Box<dyn Watcher>>,
    followed: Vec<PathBuf>,
    /// Files that count whatever their names are.
    files: Vec<PathBuf>,
    /// Paths that the system cannot watch, each with the time of its last change.
    looked_at: HashMap<PathBuf, Option<SystemTime>>,
    /// The order of looks, and the place of the next one.
    order: Vec<PathBuf>,
    next: usize,
    ignored: Box<dyn Fn(&Path) -> bool + 's>,
}

impl<'s> FileWatch<'s> {
    /// Starts to watch; nothing is followed yet.
    pub fn start(system: &'s dyn System) -> FileWatch<'s> {
        FileWatch {
            system,
            watcher: system.start_watcher().ok(),
            followed: Vec::new(),
            files: Vec::new(),
            looked_at: HashMap::new(),
            order: Vec::new(),
            next: 0,
            ignored: Box::new(|_| false),
        }
    }

    /// Ignores changes of paths for which `ignored` returns true, such as those of our own outputs.
    pub fn ignore_changes(&mut self, ignored: impl Fn(&Path) -> bool + 's) {
        self.ignored = Box::new(ignored);
    }

    /// Follows these directories and no others, and returns how many of them are new. Both lists are sorted;
    /// the files count whatever their names are.
    pub fn follow_paths(&mut self, directories: &[PathBuf], files: &[PathBuf]) -> usize {
        let is_new = |path: &&PathBuf| self.followed.binary_search(path).is_err();
        let new = directories.iter().filter(is_new).count();
        directories.clone_into(&mut self.followed);
        files.clone_into(&mut self.files);
        let unwatched = match &mut self.watcher {
            Some(watcher) => watcher.follow_directories(directories),
            None => directories.to_vec(),
        };
        // The content of a file changes without its directory.
        let is_alone = |file: &&PathBuf| {
            file.parent().is_some_and(|parent| unwatched.iter().any(|path| path == parent))
        };
        let files = self.files.iter().filter(is_alone).cloned();
        self.order = unwatched.iter().cloned().chain(files).collect();
        let mut looked_at = HashMap::with_capacity(self.order.len());
        for path in &self.order {
            let known = self.looked_at.get(path).copied();
            let time = known.unwrap_or_else(|| self.system.modified_time(path).ok());
            looked_at.insert(path.clone(), time);
        }
        self.looked_at = looked_at;
        new
    }

    /// Waits until something has changed, and then for a pause; at most until the interruption.
    pub fn wait_for_change(&mut self, ended: &Interruption) {
        let mut due: Option<(Duration, Duration)> = None;
        while !ended.is_raised() {
            let now = self.system.elapsed();
            if due.is_some_and(|(due, latest)| now >= due.min(latest)) {
                return;
            }
            let patience = match due {
                Some((due, latest)) => due.min(latest).saturating_sub(now),
                None if self.order.is_empty() => TICK,
                None => LOOK,
            };
            let found = self.poll_changes(patience);
            let now = self.system.elapsed();
            due = match (found, due) {
                (ChangeKind::Nothing, due) => due,
                (ChangeKind::Everything, _) => return,
                (ChangeKind::Guidance, due) => {
                    let latest = now + LONGEST_PAUSE;
                    let latest = due.map_or(latest, |(_, earlier)| latest.min(earlier));
                    Some((now + PAUSE, latest))
                }
                (ChangeKind::Other, Some(due)) => Some(due),
                (ChangeKind::Other, None) => Some((now + LONG_PAUSE, now + LONG_PAUSE)),
            };
        }
    }

    /// Looks for changes, and waits for them at most so long.
    fn poll_changes(&mut self, patience: Duration) -> ChangeKind {
        let mut found = match &mut self.watcher {
            None => {
                std::thread::sleep(patience.min(LOOK));
                ChangeKind::Nothing
            }
            Some(watcher) => match watcher.wait(patience) {
                Ok(WatchReport::Quiet) => ChangeKind::Nothing,
                Ok(WatchReport::Overflowed) => ChangeKind::Everything,
                Ok(WatchReport::Changed(mut changes)) => {
                    changes.retain(|change| !(self.ignored)(&change.path));
                    if changes.is_empty() {
                        return ChangeKind::Nothing;
                    }
                    let counts = changes.iter().any(|change| self.is_relevant(change));
                    if counts { ChangeKind::Guidance } else { ChangeKind::Other }
                }
                Err(_) => {
                    // From now on, the files are looked at from time to time.
                    self.watcher = None;
                    ChangeKind::Everything
                }
            },
        };
        for _ in 0..self.order.len().min(LOOKED_AT) {
            let path = &self.order[self.next % self.order.len()];
            self.next = (self.next + 1) % self.order.len();
            let time = self.system.modified_time(path).ok();
            if let Some(known) = self.looked_at.get_mut(path)
                && *known != time
            {
                *known = time;
                found = ChangeKind::Guidance;
            }
        }
        found
    }

    /// Returns whether a change may be one of guidance.
    fn is_relevant(&self, change: &WatchedChange) -> bool {
        let path = change.path.as_path();
        change.is_directory
            || is_guidance_name(path)
            || self.files.binary_search(&change.path).is_ok()
    }
}

/// Returns whether a file may hold guidance by its name. A name that begins with a point has no ending.
fn is_guidance_name(path: &Path) -> bool {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some(ending) => ENDINGS.contains(&ending),
        None => true,
    }
}

/// The most important change that a look has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeKind {
    Nothing,
    /// A change of a file that is hardly guidance.
    Other,
    Guidance,
    /// The system has lost count.
    Everything,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_guidance() {
        for name in ["CLAUDE.md", ".cursorrules", "AGENTS.yaml", "brief.lock", "setup-bootstrap"] {
            assert!(is_guidance_name(Path::new(name)), "{name}");
        }
        for name in ["a.py", "target.o", "x.tmp"] {
            assert!(!is_guidance_name(Path::new(name)), "{name}");
        }
    }
}
