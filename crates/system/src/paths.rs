//! Paths as text. Nothing here looks at the file system, so links are not followed.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// Removes `.` and `..` from a path. A `..` at the top is dropped.
pub fn clean_path(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                cleaned.pop();
            }
            other => cleaned.push(other),
        }
    }
    cleaned
}

/// Removes `.` and `..` from a relative path; `None` if it is absolute, or leads above its start on the way.
pub fn cleaned_below(path: &Path) -> Option<PathBuf> {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => cleaned.push(name),
            Component::ParentDir if cleaned.pop() => {}
            _ => return None,
        }
    }
    Some(cleaned)
}

/// Returns a path with `/` between its names. The root of an absolute path is left out.
pub fn to_slashed(path: &Path) -> String {
    let names = path.components().filter(|part| !matches!(part, Component::RootDir));
    join_names(names.map(Component::as_os_str))
}

/// Returns the relative path from a directory to a path, with `/`: empty if they are the same. Both are
/// cleaned, and both are absolute or both are relative.
pub fn relative_path(from: &Path, to: &Path) -> String {
    let mut names = to.components().peekable();
    let mut above = from.components().peekable();
    while names.peek().is_some() && names.peek() == above.peek() {
        names.next();
        above.next();
    }
    let climbs = above.map(|_| OsStr::new(".."));
    join_names(climbs.chain(names.map(Component::as_os_str)))
}

/// Returns the names of a path, `..` among them, without its root.
pub(crate) fn path_names(path: &Path) -> Vec<OsString> {
    let name = |component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().filter_map(name).collect()
}

fn join_names<'n>(names: impl Iterator<Item = &'n OsStr>) -> String {
    let mut joined = String::new();
    for name in names {
        if !joined.is_empty() {
            joined.push('/');
        }
        joined.push_str(&name.to_string_lossy());
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_below_its_start() {
        for (path, expected) in [
            ("./b/../c", Some("c")),
            ("a/..", Some("")),
            ("../a", None),
            ("a/../../a", None),
            ("/a", None),
        ] {
            assert_eq!(
                cleaned_below(Path::new(path)).as_deref(),
                expected.map(Path::new),
                "{path}"
            );
        }
    }

    #[test]
    fn a_cleaned_path_goes_down_only() {
        for (path, expected) in
            [("/a/./b/../c", "/a/c"), ("/../a", "/a"), ("../a/..", ""), ("a//b/", "a/b")]
        {
            assert_eq!(clean_path(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn a_relative_path_climbs_to_the_shared_directory_and_goes_down() {
        for (from, to, expected) in [
            ("/a/b", "/a/b", ""),
            ("/a/b", "/a/b/c/d", "c/d"),
            ("/a/b", "/a/c", "../c"),
            ("/a/b", "/x", "../../x"),
            ("docs", "src/a", "../src/a"),
        ] {
            assert_eq!(relative_path(Path::new(from), Path::new(to)), expected, "{from} {to}");
        }
        assert_eq!(to_slashed(Path::new("/a/b")), "a/b");
    }
}
