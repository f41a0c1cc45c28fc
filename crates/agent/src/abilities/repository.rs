//! The repository that `sh:git` may work in: the one of the project, and what is stored in it.
//!
//! A `.git` that is a file or a link, a `commondir`, alternates, and links among git's own files lead to other repositories, or make git read any file.
//! An unpacked archive may have all of them. The one `.git` file that is allowed is that of a working tree that the other repository knows.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_system::{Dir, DirEntry, FileKind, ReadError, System};

/// The limit for the depth of git's own directories.
const MOST_DEPTH: usize = 64;

/// The limit for the bytes of a file that names a directory.
const POINTER_BYTES: u64 = 16 * 1024;

/// Refuses to start git where its repository is not that of the project alone. The error is a reason.
pub(super) fn refuse_others(
    system: &dyn System,
    root: &Path,
    args: &[String],
) -> Result<(), String> {
    let (top, root) = system.open_root(root).map_err(|error| error.to_string())?;
    match top.status(OsStr::new(".git")).map(|status| status.kind) {
        Ok(FileKind::Directory) => {
            let git = top.open_dir(OsStr::new(".git")).map_err(|error| error.to_string())?;
            check_directory(git.as_ref())
        }
        Ok(FileKind::File) => check_pointer(system, top.as_ref(), &root),
        Ok(_) => Err("`sh:git` does not cover a `.git` that points outside the project".to_owned()),
        // Without a repository, `git diff` compares any files.
        Err(_) if args.iter().any(|word| word == "diff") => {
            Err("the project is not a git repository".to_owned())
        }
        Err(_) => Ok(()),
    }
}

/// Checks a directory of git's: no other common directory, no alternates outside, no link.
fn check_directory(git: &dyn Dir) -> Result<(), String> {
    if git.status(OsStr::new("commondir")).is_ok() {
        return Err(render_refusal("commondir"));
    }
    for name in ["objects/info/alternates", "objects/info/http-alternates"] {
        match git.read_below(Path::new(name), POINTER_BYTES) {
            Ok(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => {}
            Err(ReadError::Missing) => {}
            _ => return Err(render_refusal(name)),
        }
    }
    let mut seen = 0;
    refuse_links(git, "", 0, &mut seen)
}

fn render_refusal(name: &str) -> String {
    format!("`sh:git` does not cover a `.git/{name}` that points to another repository")
}

fn refuse_links(
    directory: &dyn Dir,
    above: &str,
    depth: usize,
    seen: &mut usize,
) -> Result<(), String> {
    let entries = directory.first_entries(limits::WALK_ENTRIES.saturating_sub(*seen) + 1);
    let entries = entries.map_err(|error| format!("`.git/{above}`: {error}"))?;
    *seen += entries.len();
    if *seen > limits::WALK_ENTRIES || depth > MOST_DEPTH {
        return Err("`.git` has too many files to check".to_owned());
    }
    for DirEntry { name, kind } in entries {
        let shown = match above {
            "" => name.to_string_lossy().into_owned(),
            above => format!("{above}/{}", name.to_string_lossy()),
        };
        // Hooks do not run, and other working trees are those of others.
        if matches!(shown.as_str(), "hooks" | "modules" | "lfs" | "annex") {
            continue;
        }
        match kind {
            FileKind::File | FileKind::Other => {}
            FileKind::Directory => {
                if let Ok(below) = directory.open_dir(&name) {
                    refuse_links(below.as_ref(), &shown, depth + 1, seen)?;
                }
            }
            FileKind::Link => return Err(render_refusal(&shown)),
        }
    }
    Ok(())
}

/// Checks the `.git` file of a working tree: the repository that it names has this tree among its own.
fn check_pointer(system: &dyn System, top: &dyn Dir, root: &Path) -> Result<(), String> {
    let other =
        || "`.git` points to another repository, which does not list this directory".to_owned();
    let read = |directory: &dyn Dir, name: &str| -> Option<String> {
        let bytes = directory.read(OsStr::new(name), POINTER_BYTES).ok()?;
        Some(String::from_utf8(bytes).ok()?.trim_end_matches(['\n', '\r']).to_owned())
    };
    let text = read(top, ".git").ok_or_else(other)?;
    let place = text.strip_prefix("gitdir: ").ok_or_else(other)?;
    let resolve = |base: &Path, path: &str| -> Option<PathBuf> {
        Some(system.resolve(&base.join(path)).ok()?.path)
    };
    let own = resolve(root, place).ok_or_else(other)?;
    // What lies in the project came with it, and vouches for nothing.
    if own.starts_with(root) {
        return Err(other());
    }
    let (git, own) = system.open_root(&own).map_err(|_| other())?;
    let back = read(git.as_ref(), "gitdir").and_then(|back| resolve(&own, &back));
    let common = read(git.as_ref(), "commondir").and_then(|common| resolve(&own, &common));
    let is_listed = own.parent().is_some_and(|above| above.ends_with("worktrees"))
        && common.is_some_and(|common| own.parent().and_then(Path::parent) == Some(&common));
    if back == Some(root.join(".git")) && is_listed { Ok(()) } else { Err(other()) }
}
