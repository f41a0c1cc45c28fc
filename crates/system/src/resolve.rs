//! Paths of which a part may not exist yet.

use std::path::{Component, Path, PathBuf};

use crate::{Below, FileKind, Files, Resolved};

/// Resolves the existing part of an absolute path; the rest is appended as text.
///
/// A missing path counts as a directory if it ends in a separator, else as a file.
pub fn resolve_existing(system: &dyn Files, absolute: &Path) -> Resolved {
    let ends_in_separator =
        absolute.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
    let missing = if ends_in_separator { FileKind::Directory } else { FileKind::File };
    let is_plain = |component| matches!(component, Component::RootDir | Component::Normal(_));
    if absolute.components().all(is_plain) {
        // Usually the path has no links and resolves to itself.
        let kind = match system.probe_path(absolute) {
            Below::Directory => Some(FileKind::Directory),
            Below::NotADirectory => Some(FileKind::File),
            Below::Missing => Some(missing),
            Below::Unsure => None,
        };
        if let Some(kind) = kind {
            return Resolved { path: absolute.components().collect(), kind };
        }
    }
    if let Ok(resolved) = system.resolve(absolute) {
        return resolved;
    }
    let components: Vec<Component<'_>> = absolute.components().collect();
    let Some((existing, mut path)) = longest_existing(system, &components) else {
        return Resolved { path: absolute.to_owned(), kind: FileKind::File };
    };
    for component in &components[existing..] {
        match component {
            Component::Normal(name) => path.push(name),
            Component::ParentDir => {
                path.pop();
            }
            _ => {}
        }
    }
    Resolved { path, kind: missing }
}

/// The number of new directories that are checked one by one.
const NEW_LEVELS: usize = 4;

/// Returns how many of the components exist, and their resolved path. The last one is known not to
/// exist.
///
/// A path exists only if every shorter one does, so a binary search finds the longest.
fn longest_existing(system: &dyn Files, components: &[Component<'_>]) -> Option<(usize, PathBuf)> {
    let resolve = |count: usize| {
        let prefix: PathBuf = components[..count].iter().collect();
        system.resolve_dir(&prefix).ok().map(|path| (count, path))
    };
    // Usually only the file is new, or a directory or two with it.
    let mut missing = components.len();
    for _ in 0..NEW_LEVELS {
        missing = missing.checked_sub(1)?;
        let found = resolve(missing);
        if found.is_some() {
            return found;
        }
    }
    let mut found = None;
    let mut exists = 0;
    while missing - exists > 1 {
        let middle = exists + (missing - exists) / 2;
        match resolve(middle) {
            Some(resolved) => {
                found = Some(resolved);
                exists = middle;
            }
            None => missing = middle,
        }
    }
    found
}
