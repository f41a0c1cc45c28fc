//! The links that would make git write outside of a repository.
//!
//! git opens its directories, and the log of a reference, through links. The author of a member could so have a line with a name of his
//! choice appended to any file of the user, such as `~/.bashrc`. A repository with such a link is not written.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use brief_system::{Dir, FileKind, System};

use super::head::common_dir;
use super::workshop::WorkshopError;
use crate::address::percent_decoded;

/// What git writes beside a reference and its log. A directory is checked with all that leads to it.
const WRITTEN: [&str; 7] = [
    "logs/HEAD",
    "objects/info",
    "objects/pack",
    "packed-refs",
    "reftable/tables.list",
    "refs",
    "shallow",
];

/// The most entries of `objects`: a directory for each first byte, and a few files.
const MOST_OBJECTS: usize = 1_000;

/// The limit for the bytes of a file that names a directory.
const POINTER_BYTES: u64 = 16 * 1024;

/// The forms in which git looks for a repository at a path.
const FORMS: [&str; 4] = ["", "/.git", ".git", ".git/.git"];

/// Refuses a repository in which git would write through a link: its objects, a reference, or the log of that.
pub(super) fn refuse_links(
    system: &dyn System,
    git_dir: &Path,
    reference: &str,
) -> Result<(), WorkshopError> {
    let unread = |error: io::Error| WorkshopError::Branch(format!("cannot read it: {error}"));
    let (top, _) = system.open_root(&common_dir(system, git_dir)).map_err(unread)?;
    let log = format!("logs/{reference}");
    for path in WRITTEN.into_iter().chain([reference, &log]) {
        if let Some(link) = link_on(top.as_ref(), path).map_err(unread)? {
            return Err(link_error(&link));
        }
    }
    let objects = top.open_dir(OsStr::new("objects")).map_err(unread)?;
    let entries = objects.first_entries(MOST_OBJECTS).map_err(unread)?;
    match entries.iter().find(|entry| !is_plain(entry.kind)) {
        Some(entry) => Err(link_error(&format!("objects/{}", entry.name.to_string_lossy()))),
        None => Ok(()),
    }
}

/// Does the same for the repository that a push to a path on this machine writes.
pub(super) fn refuse_links_at(
    system: &dyn System,
    path: &str,
    reference: &str,
) -> Result<(), WorkshopError> {
    let path = percent_decoded(path).unwrap_or_else(|| path.to_owned());
    let path = path.trim_end_matches('/');
    for form in FORMS {
        let place = PathBuf::from(format!("{path}{form}"));
        let git_dir = match system.read(&place, POINTER_BYTES) {
            Ok(text) => match pointed_at(&place, &text) {
                Some(git_dir) => git_dir,
                None => continue,
            },
            Err(_) => place,
        };
        // A working tree has directories of these names, too.
        if system.resolve(&git_dir.join("HEAD")).is_err() {
            continue;
        }
        refuse_links(system, &git_dir, reference)
            .map_err(|error| WorkshopError::Branch(format!("cannot push to `origin`: {error}")))?;
    }
    Ok(())
}

/// Returns the directory that a `.git` file names.
fn pointed_at(file: &Path, text: &[u8]) -> Option<PathBuf> {
    let text = std::str::from_utf8(text).ok()?;
    let place = text.strip_prefix("gitdir: ")?.trim_end_matches(['\n', '\r']);
    Some(file.parent()?.join(place))
}

/// Returns the first part of a path that is neither a file nor a directory; `None` also where the path ends before.
fn link_on(top: &dyn Dir, path: &str) -> io::Result<Option<String>> {
    let mut below: Option<Box<dyn Dir>> = None;
    let mut seen = String::new();
    for name in path.split('/') {
        let directory = below.as_deref().unwrap_or(top);
        let separator = if seen.is_empty() { "" } else { "/" };
        seen = format!("{seen}{separator}{name}");
        match directory.status(OsStr::new(name)).map(|status| status.kind) {
            Ok(FileKind::Directory) => below = Some(directory.open_dir(OsStr::new(name))?),
            Ok(FileKind::File) => return Ok(None),
            Ok(_) => return Ok(Some(seen)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn is_plain(kind: FileKind) -> bool {
    matches!(kind, FileKind::File | FileKind::Directory)
}

fn link_error(link: &str) -> WorkshopError {
    WorkshopError::Branch(format!(
        "`{link}` in the git directory is not a regular file, and git could write outside it"
    ))
}
