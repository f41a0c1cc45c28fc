//! Walks over the directories of a project: along one path, or all of them.
//!
//! Both go from handle to handle and never follow a link, so that a directory is the one that was
//! listed, and a path may be longer than the system allows in one call. Unreadable parts are
//! reported and skipped.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ignore::gitignore::Gitignore;

use crate::ignore_files::{find_ignore_verdict, parse_rules};
use crate::limits;
use crate::project::{Root, Target, WideDirectory, repository_around};
use crate::tracked::{TrackedNames, may_be_guidance};
use brief_system::{Below, Dir, DirEntry, FileKind, ReadError, System};

pub use crate::gap::{Gap, GapReason, unreadable_gap};
pub use crate::ignore_files::IgnoreFiles;

/// Directories of version control itself.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// A directory during a walk.
pub struct Visit<'v> {
    system: &'v dyn System,
    root: &'v Root,
    top: &'v dyn Dir,
    handle: &'v dyn Dir,
    path: &'v Path,
    slashed: &'v str,
    entries: Option<&'v [DirEntry]>,
    ignored: &'v [DirEntry],
}

impl Visit<'_> {
    /// Returns the path below the root with `/` between names; empty for the root itself.
    pub fn slashed(&self) -> &str {
        self.slashed
    }

    /// Returns the system that is walked.
    pub fn system(&self) -> &dyn System {
        self.system
    }

    /// Returns the absolute path of the root.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Returns the root itself, held open.
    pub fn top(&self) -> &dyn Dir {
        self.top
    }

    /// Returns the absolute path of this directory.
    pub fn path(&self) -> PathBuf {
        self.root.path().components().chain(self.path.components()).collect()
    }

    /// Returns the absolute path of a name in this directory.
    pub fn path_of(&self, name: &str) -> PathBuf {
        let mut path = self.root.path().to_owned();
        path.push(self.path);
        path.push(name);
        path
    }

    /// Returns the entries of the directory, sorted by name; `None` in a walk along one path, which
    /// lists nothing.
    pub fn entries(&self) -> Option<&[DirEntry]> {
        self.entries
    }

    /// Looks at a name in this directory without opening it.
    pub fn look_up(&self, name: &str) -> Below {
        if self.is_unlisted(name) {
            return Below::Missing;
        }
        self.handle.look_below(Path::new(name))
    }

    /// Returns the entries that version control ignores and [`Visit::entries`] lacks. Some clients
    /// read them: a `CLAUDE.local.md` is not meant for the repository.
    pub fn ignored_entries(&self) -> &[DirEntry] {
        self.ignored
    }

    /// Returns the directory itself, held open.
    pub fn handle(&self) -> &dyn Dir {
        self.handle
    }

    /// Reads a file in this directory; a missing one costs nothing after a listing.
    pub fn read_file(&self, name: &str) -> Result<Vec<u8>, ReadError> {
        if self.is_unlisted(name) {
            return Err(ReadError::Missing);
        }
        self.root.read_in(self.system, self.handle, self.path, name)
    }

    /// Returns whether a listing lacks the name.
    fn is_unlisted(&self, name: &str) -> bool {
        self.entries.is_some_and(|entries| {
            entries.binary_search_by(|entry| entry.name.as_os_str().cmp(OsStr::new(name))).is_err()
        })
    }
}

/// Visits the directories from the root to `target`, the root first.
///
/// It costs one call per directory, at any size of the project. A directory that does not exist yet
/// ends the walk.
pub fn walk_along(
    system: &dyn System,
    root: &Root,
    target: &Target,
    visitor: &mut dyn FnMut(&Visit<'_>),
) -> Vec<Gap> {
    match system.open_dir(root.path()) {
        Ok(top) => along_from(system, root, top.as_ref(), target, visitor),
        Err(error) => vec![unreadable_gap(root.path(), &error)],
    }
}

/// As [`walk_along`], from a root that is held open as `top`.
pub fn along_from(
    system: &dyn System,
    root: &Root,
    top: &dyn Dir,
    target: &Target,
    visitor: &mut dyn FnMut(&Visit<'_>),
) -> Vec<Gap> {
    let names = target.directories();
    // On a very deep path, the directories nearest to the target matter most.
    let skipped = (names.len() + 1).saturating_sub(limits::PATH_DEPTH);
    let mut gaps = Vec::new();
    if skipped > 0 {
        let reason = GapReason::TooDeep { limit: limits::PATH_DEPTH };
        gaps.push(Gap { path: root.path().to_owned(), reason });
    }
    let mut below: Option<Box<dyn Dir>> = None;
    let mut path = PathBuf::new();
    let mut slashed = String::new();
    let mut is_closed = false;
    for depth in 0..=names.len() {
        let handle = below.as_deref().unwrap_or(top);
        if depth >= skipped && !is_closed {
            let (path, slashed) = (path.as_path(), slashed.as_str());
            let (entries, ignored) = (None, [].as_slice());
            visitor(&Visit { system, root, top, handle, path, slashed, entries, ignored });
        }
        let Some(name) = names.get(depth) else { break };
        push_name(&mut path, &mut slashed, name);
        match open_next(top, handle, &path, name, is_closed) {
            Ok(next) => {
                below = Some(next);
                is_closed = false;
            }
            Err(error) => {
                let absent = [ErrorKind::NotFound, ErrorKind::NotADirectory];
                if !absent.contains(&error.kind()) && !is_closed {
                    gaps.push(unreadable_gap(&root.path().join(&path), &error));
                }
                if error.kind() != ErrorKind::PermissionDenied {
                    break;
                }
                is_closed = true;
            }
        }
    }
    gaps
}

/// Opens the next directory on a way, at `path` below `top`. Behind a directory that may be passed and not listed, it is
/// opened from the top.
fn open_next(
    top: &dyn Dir,
    handle: &dyn Dir,
    path: &Path,
    name: &OsStr,
    is_closed: bool,
) -> io::Result<Box<dyn Dir>> {
    if is_closed { top.open_dir_below(path) } else { handle.open_dir(name) }
}

/// The treatment of files that version control ignores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// Skips `.git` and the like, and everything in `.gitignore`.
    Skip,
    /// Visits everything.
    Visit,
}

/// Visits the directory `start` of the root and all below it: parents first, names in order. Of a directory that is no
/// project ([`WideDirectory`]), it visits only its own guidance below: the rest are the files of a whole machine or user.
pub fn walk_whole(
    system: &dyn System,
    root: &Root,
    start: &Target,
    ignored: Ignored,
    visitor: &mut dyn FnMut(&Visit<'_>),
) -> Vec<Gap> {
    whole_except(system, root, start, ignored, &|_| false, visitor)
}

/// Like [`walk_whole`], without the directories for which `skipped` returns true. Its argument is their
/// path below the root, with `/` between names.
pub fn whole_except(
    system: &dyn System,
    root: &Root,
    start: &Target,
    ignored: Ignored,
    skipped: &dyn Fn(&str) -> bool,
    visitor: &mut dyn FnMut(&Visit<'_>),
) -> Vec<Gap> {
    let top = match system.open_dir(root.path()) {
        Ok(top) => top,
        Err(error) => return vec![unreadable_gap(root.path(), &error)],
    };
    let mut path = root.path().to_owned();
    path.extend(start.directories());
    let wide = WideDirectory::from_directory(system, &path);
    let (top, rules, left) = (top.as_ref(), Vec::new(), Some(limits::WALK_ENTRIES));
    let is_shallow = wide.is_some();
    let gap = wide.map(|wide| Gap { path, reason: GapReason::NoProject(wide) });
    let gaps = gap.into_iter().collect();
    let (tracked, only_tracked) = (OnceCell::new(), false);
    WholeWalk {
        system,
        root,
        top,
        ignored,
        is_shallow,
        skipped,
        visitor,
        rules,
        tracked,
        only_tracked,
        left,
        gaps,
    }
    .from(start)
}

struct WholeWalk<'w> {
    system: &'w dyn System,
    root: &'w Root,
    top: &'w dyn Dir,
    ignored: Ignored,
    /// True if only directories of guidance are visited below the start.
    is_shallow: bool,
    skipped: &'w dyn Fn(&str) -> bool,
    visitor: &'w mut dyn FnMut(&Visit<'_>),
    /// The `.gitignore` files in force, outermost first.
    rules: Vec<Gitignore>,
    /// The names that git tracks, once something is ignored.
    tracked: OnceCell<TrackedNames>,
    /// True in an ignored directory of which git tracks something.
    only_tracked: bool,
    /// The number of entries it may still look at; `None` once there were more.
    left: Option<usize>,
    gaps: Vec<Gap>,
}

impl WholeWalk<'_> {
    fn from(mut self, start: &Target) -> Vec<Gap> {
        let mut below: Option<Box<dyn Dir>> = None;
        if self.ignored == Ignored::Skip {
            self.add_rules_above();
        }
        let mut path = PathBuf::new();
        let mut slashed = String::new();
        let mut is_closed = false;
        for name in start.directories() {
            let handle = below.as_deref().unwrap_or(self.top);
            if !is_closed {
                self.add_rules(handle, &path);
            }
            // Rules that ignore the way to the start would ignore all below it: a user who names the start wants it.
            let entry = DirEntry { name: name.to_owned(), kind: FileKind::Directory };
            if self.is_ignored(&path, &entry) {
                self.rules.clear();
            }
            push_name(&mut path, &mut slashed, name);
            match open_next(self.top, handle, &path, name, is_closed) {
                Ok(next) => {
                    below = Some(next);
                    is_closed = false;
                }
                Err(error) => {
                    if !is_closed {
                        self.gaps.push(unreadable_gap(&self.root.path().join(&path), &error));
                    }
                    if error.kind() != ErrorKind::PermissionDenied {
                        return self.gaps;
                    }
                    is_closed = true;
                    let rules = self.top.read_below(&path.join(".gitignore"), limits::FILE_BYTES);
                    let directory = self.root.path().join(&path);
                    self.rules.extend(rules.ok().and_then(|bytes| parse_rules(&directory, &bytes)));
                }
            }
        }
        if !is_closed {
            self.visit_directory(below.as_deref().unwrap_or(self.top), &path, &slashed, 0);
        }
        self.gaps
    }

    fn visit_directory(&mut self, handle: &dyn Dir, path: &Path, slashed: &str, depth: usize) {
        let mut entries = match handle.entries() {
            Ok(entries) => entries,
            Err(error) => {
                self.gaps.push(unreadable_gap(&self.root.path().join(path), &error));
                return;
            }
        };
        self.left = self.left.and_then(|left| left.checked_sub(entries.len()));
        if self.left.is_none() {
            let reason = GapReason::TooMany { limit: limits::WALK_ENTRIES };
            self.gaps.push(Gap { path: self.root.path().join(path), reason });
            return;
        }
        entries.sort_unstable();
        let rules = self.rules.len();
        let (mut ignored, mut tracked) = (Vec::new(), Vec::new());
        if self.ignored == Ignored::Skip {
            if entries.iter().any(|entry| entry.name == ".gitignore") {
                self.add_rules(handle, path);
            }
            entries.retain(|entry| {
                if !self.only_tracked && !self.is_ignored(path, entry) {
                    return true;
                }
                // Git ignores nothing that is in its index.
                let is_tracked = self.is_tracked(slashed, entry);
                let list = if is_tracked { &mut tracked } else { &mut ignored };
                list.push(entry.clone());
                is_tracked
            });
        }
        let (system, root, top) = (self.system, self.root, self.top);
        let (listed, ignored) = (Some(entries.as_slice()), ignored.as_slice());
        let visit = Visit { system, root, top, handle, path, slashed, entries: listed, ignored };
        (self.visitor)(&visit);
        for entry in entries.iter().filter(|entry| entry.kind == FileKind::Directory) {
            if !self.is_shallow || is_own_guidance(depth, slashed, &entry.name) {
                let only_tracked = self.only_tracked;
                self.only_tracked |= tracked.contains(entry);
                self.visit_child(handle, path, slashed, &entry.name, depth);
                self.only_tracked = only_tracked;
            }
        }
        self.rules.truncate(rules);
    }

    fn visit_child(
        &mut self,
        handle: &dyn Dir,
        path: &Path,
        slashed: &str,
        name: &OsStr,
        depth: usize,
    ) {
        // The limit was reported where it was reached; what comes after it is not even opened.
        if self.left.is_none() {
            return;
        }
        let (mut path, mut slashed) = (path.to_owned(), slashed.to_owned());
        push_name(&mut path, &mut slashed, name);
        if (self.skipped)(&slashed) {
            return;
        }
        if depth >= limits::WALK_DEPTH {
            let reason = GapReason::TooDeep { limit: limits::WALK_DEPTH };
            self.gaps.push(Gap { path: self.root.path().join(path), reason });
            return;
        }
        match handle.open_dir(name) {
            Ok(child) => self.visit_directory(child.as_ref(), &path, &slashed, depth + 1),
            Err(error) => self.gaps.push(unreadable_gap(&self.root.path().join(path), &error)),
        }
    }

    fn add_rules(&mut self, handle: &dyn Dir, path: &Path) {
        if let Ok(bytes) = handle.read(OsStr::new(".gitignore"), limits::FILE_BYTES) {
            self.rules.extend(parse_rules(&self.root.path().join(path), &bytes));
        }
    }

    /// Adds the `.gitignore` files above a root that is inside a repository.
    fn add_rules_above(&mut self) {
        let root = self.root.path();
        let Some(top) = repository_around(self.system, root) else { return };
        let mut above: Vec<&Path> =
            root.ancestors().skip(1).take_while(|directory| directory.starts_with(top)).collect();
        above.reverse();
        for directory in above {
            let rules = self.system.read(&directory.join(".gitignore"), limits::FILE_BYTES);
            if let Ok(bytes) = rules {
                self.rules.extend(parse_rules(directory, &bytes));
            }
        }
    }

    /// Returns whether git tracks an entry of the directory `slashed` that may be guidance, or something in it that may be.
    fn is_tracked(&self, slashed: &str, entry: &DirEntry) -> bool {
        let Some(name) = entry.name.to_str().filter(|name| !VERSION_CONTROL.contains(name)) else {
            return false;
        };
        let path = if slashed.is_empty() { name.to_owned() } else { format!("{slashed}/{name}") };
        if entry.kind != FileKind::Directory && !may_be_guidance(&path) {
            return false;
        }
        self.tracked.get_or_init(|| TrackedNames::read(self.system, self.root)).has(&path)
    }

    fn is_ignored(&self, path: &Path, entry: &DirEntry) -> bool {
        let is_directory = entry.kind == FileKind::Directory;
        if entry.name.to_str().is_some_and(|name| VERSION_CONTROL.contains(&name)) {
            return true;
        }
        if self.rules.is_empty() {
            return false;
        }
        let absolute = self.root.path().join(path).join(&entry.name);
        // The innermost file with a matching rule decides.
        let mut rules = self.rules.iter().rev();
        rules.find_map(|rules| find_ignore_verdict(rules, &absolute, is_directory)).unwrap_or(false)
    }
}

/// Returns whether a directory belongs to the guidance of a directory that is no project: `.agents` and `.context` with all below
/// them, and `agents` itself.
fn is_own_guidance(depth: usize, above: &str, name: &OsStr) -> bool {
    match depth {
        0 => [".agents", ".context", "agents"].iter().any(|own| name == *own),
        _ => above != "agents" && !above.ends_with("/agents"),
    }
}

fn push_name(path: &mut PathBuf, slashed: &mut String, name: &OsStr) {
    path.push(name);
    if !slashed.is_empty() {
        slashed.push('/');
    }
    slashed.push_str(&OsString::from(name).to_string_lossy());
}

#[cfg(test)]
mod tests;
