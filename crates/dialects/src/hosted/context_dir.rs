//! One context directory: opened without following links, listed once, walked in order.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::{Diagnostic, Source, limits, rules};
use brief_system::{Dir, DirEntry, FileKind, ReadError, System};

use super::config::{self, ConfigFile};
use super::model::{CONFIG_NAME, HostedScope};
use super::place::{path_diagnostic, unreadable_diagnostic};
use super::resolve::Judge;
use brief_safety::sensitive::{self, Leaf};

pub(super) struct ContextDir {
    pub(super) scope: HostedScope,
    /// The directory that it belongs to.
    pub(super) owner: Arc<Path>,
    /// Its own absolute path.
    pub(super) path: PathBuf,
    handle: Box<dyn Dir>,
    entries: Vec<DirEntry>,
}

/// An entry of a context directory that may be a context file.
pub(super) struct ContextCandidate<'c> {
    pub(super) handle: &'c dyn Dir,
    pub(super) entry: &'c DirEntry,
    pub(super) path: PathBuf,
    /// The path below the context directory, with `/` between names.
    pub(super) inside: String,
}

/// The limit of a listing: one more than the limit of entries, to detect that there are more.
const LISTED: usize = limits::HOSTED_ENTRIES + 1;

impl ContextDir {
    /// Opens and lists `base`/`below`. `root` is the open mounted directory with its path.
    pub(super) fn open(
        system: &dyn System,
        root: Option<(&dyn Dir, &Path)>,
        (base, below): (&Path, &Path),
        (owner, scope): (Arc<Path>, HostedScope),
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<ContextDir> {
        let path = base.join(below);
        let opened = match root.and_then(|(root, top)| Some((root, path.strip_prefix(top).ok()?))) {
            Some((root, way)) if !way.as_os_str().is_empty() => root.open_dir_below(way),
            _ if below.as_os_str().is_empty() => system.open_dir(base),
            _ => system.open_dir_below(base, below),
        };
        let listed = opened.and_then(|handle| Ok((handle.first_entries(LISTED)?, handle)));
        match listed {
            Ok((mut entries, handle)) => {
                sort_entries(&mut entries);
                Some(ContextDir { scope, owner, path, handle, entries })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                diagnostics.extend(find_path_obstacle(system, base, below, &error));
                None
            }
        }
    }

    /// Reads the configuration, if there is one.
    pub(super) fn read_config(&self, diagnostics: &mut Vec<Diagnostic>) -> Option<ConfigFile> {
        let path = self.path.join(CONFIG_NAME);
        let bytes = match self.entries.iter().find(|entry| entry.name == CONFIG_NAME) {
            Some(entry) => read_dir_entry(self.handle.as_ref(), entry),
            // A truncated listing may lack it, and its exclusions must hold.
            None if self.entries.len() >= LISTED => {
                match self.handle.read(OsStr::new(CONFIG_NAME), limits::FILE_BYTES) {
                    Err(ReadError::Missing) => return None,
                    outcome => outcome,
                }
            }
            None => return None,
        };
        match bytes {
            Ok(bytes) => {
                let source = Arc::new(Source::from_bytes(path, bytes));
                let (file, problems) = config::parse_hosted_config(&source);
                diagnostics.extend(problems);
                Some(file)
            }
            Err(error) => {
                diagnostics.push(read_error_diagnostic(&path, &error));
                None
            }
        }
    }

    /// Visits everything inside, by path. `roots` are the other context directories, which are not
    /// entered.
    pub(super) fn walk_entries(&self, roots: &[PathBuf], judge: &mut Judge<'_>) {
        let above = self.path.to_string_lossy().into_owned();
        let mut walk =
            ContextWalk { context: self, roots, judge, above, seen: 0, reported_depth: false };
        walk.walk_level(self.handle.as_ref(), &self.entries, &self.path, "", 0);
    }
}

pub(super) fn read_dir_entry(handle: &dyn Dir, entry: &DirEntry) -> Result<Vec<u8>, ReadError> {
    match entry.kind {
        FileKind::File => handle.read_listed(&entry.name, limits::FILE_BYTES),
        _ => handle.read(&entry.name, limits::FILE_BYTES),
    }
}

/// Sorts entries so that the walk follows the byte order of whole paths: `a.md` before `a/b.md`.
pub(super) fn sort_entries(entries: &mut [DirEntry]) {
    let key = |entry: &DirEntry| {
        let mut name = entry.name.as_encoded_bytes().to_vec();
        if entry.kind == FileKind::Directory {
            name.push(b'/');
        }
        name
    };
    entries.sort_by_cached_key(key);
}

/// Reports that a file could not be read.
pub(super) fn read_error_diagnostic(path: &Path, error: &ReadError) -> Diagnostic {
    match error {
        ReadError::NotAFile(FileKind::Link) => link_diagnostic(path),
        ReadError::TooLarge { limit } => path_diagnostic(
            path,
            rules::context_dir::LIMIT_FILE_SIZE,
            format!("the file is larger than {limit} bytes and is not read"),
        ),
        error => unreadable_diagnostic(path, error),
    }
}

/// Reports that a link is not followed.
pub(super) fn link_diagnostic(path: &Path) -> Diagnostic {
    path_diagnostic(
        path,
        rules::context_dir::SYMLINK_SKIPPED,
        "this is a symbolic link, which is not followed",
    )
    .with_help("put the file itself here, or add it to `includeFiles`")
}

/// Reports the first obstacle on the path to a context directory.
fn find_path_obstacle(
    system: &dyn System,
    base: &Path,
    below: &Path,
    error: &io::Error,
) -> Option<Diagnostic> {
    let mut path = base.to_owned();
    let mut handle = match system.open_dir(base) {
        Ok(handle) => handle,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        // A working directory that does not exist yet may have a file in its place.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return None,
        Err(_) => return Some(unreadable_diagnostic(&path, error)),
    };
    for name in below {
        path.push(name);
        match handle.open_dir(name) {
            Ok(next) => handle = next,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                return Some(match handle.read(name, 0) {
                    Err(ReadError::NotAFile(FileKind::Link)) => link_diagnostic(&path),
                    Err(ReadError::NotAFile(FileKind::Directory)) => {
                        unreadable_diagnostic(&path, &error)
                    }
                    Err(ReadError::NotAFile(kind)) => {
                        let message = format!("this is {}, not a directory", kind.noun());
                        path_diagnostic(&path, rules::context_dir::UNREADABLE, message)
                    }
                    Ok(_) | Err(ReadError::TooLarge { .. }) => path_diagnostic(
                        &path,
                        rules::context_dir::UNREADABLE,
                        "this is a file, not a directory",
                    ),
                    Err(_) => unreadable_diagnostic(&path, &error),
                });
            }
        }
    }
    Some(unreadable_diagnostic(&path, error))
}

struct ContextWalk<'w, 'j> {
    context: &'w ContextDir,
    roots: &'w [PathBuf],
    judge: &'w mut Judge<'j>,
    /// The path of the context directory, for the check of sensitive names.
    above: String,
    /// The number of entries so far.
    seen: usize,
    /// True after the first directory that is too deep was reported.
    reported_depth: bool,
}

impl<'j> ContextWalk<'_, 'j> {
    fn walk_level(
        &mut self,
        handle: &dyn Dir,
        entries: &[DirEntry],
        path: &Path,
        inside: &str,
        depth: usize,
    ) {
        for entry in entries {
            if self.judge.is_full {
                return;
            }
            self.seen += 1;
            if self.seen > limits::HOSTED_ENTRIES {
                let limit = limits::HOSTED_ENTRIES;
                let message = format!("more than {limit} names: the rest is skipped");
                self.judge.is_full = true;
                self.judge.diagnostics.push(path_diagnostic(
                    path,
                    rules::context_dir::LIMIT_ENTRIES,
                    message,
                ));
                return;
            }
            let name = entry.name.to_string_lossy();
            let inside =
                if inside.is_empty() { name.into_owned() } else { format!("{inside}/{name}") };
            let path = path.join(&entry.name);
            if entry.kind == FileKind::Directory {
                self.enter_directory(handle, &entry.name, &path, &inside, depth + 1);
                continue;
            }
            self.judge
                .visit_candidate(self.context, &ContextCandidate { handle, entry, path, inside });
        }
    }

    fn enter_directory(
        &mut self,
        handle: &dyn Dir,
        name: &OsStr,
        path: &Path,
        inside: &str,
        depth: usize,
    ) {
        if self.roots.iter().any(|root| root == path) {
            return;
        }
        let scope = self.context.scope;
        if let Some(found) = sensitive::find_below(&self.above, inside, Leaf::Directory) {
            return self
                .skip_directory(path, |judge| judge.leave_out_sensitive(path, scope, found));
        }
        if name.as_encoded_bytes().starts_with(b".") {
            return self.skip_directory(path, |judge| {
                judge.leave_out(path, scope, "has a name that begins with a dot");
            });
        }
        if depth > limits::HOSTED_DEPTH {
            self.skip_directory(path, |judge| judge.leave_out(path, scope, "is nested too deeply"));
            if !std::mem::replace(&mut self.reported_depth, true) {
                let limit = limits::HOSTED_DEPTH;
                let message = format!(
                    "more than {limit} levels below the context directory, so brief does not read it"
                );
                self.judge.diagnostics.push(path_diagnostic(
                    path,
                    rules::context_dir::LIMIT_DEPTH,
                    message,
                ));
            }
            return;
        }
        let listed =
            handle.open_dir(name).and_then(|child| Ok((child.first_entries(LISTED)?, child)));
        match listed {
            Ok((mut entries, child)) => {
                sort_entries(&mut entries);
                self.walk_level(child.as_ref(), &entries, path, inside, depth);
            }
            Err(error) => self.skip_directory(path, |judge| {
                judge.leave_out(path, scope, format!("cannot be read: {error}"));
                judge.diagnostics.push(unreadable_diagnostic(path, error));
            }),
        }
    }

    /// Leaves out a directory: because its whole scope is ignored, or else for a reason of its own.
    fn skip_directory(&mut self, path: &Path, leave_out: impl FnOnce(&mut Judge<'j>)) {
        match self.judge.find_ignore_reason(self.context.scope) {
            Some(reason) => self.judge.leave_out(path, self.context.scope, reason),
            None => leave_out(self.judge),
        }
    }
}
