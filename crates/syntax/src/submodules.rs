//! Parts of a repository that are repositories of their own.

use std::path::{Path, PathBuf};

use crate::limits;
use crate::project::Root;
use brief_system::System;
use brief_system::paths::cleaned_below;

/// The limit for submodules of one project.
const MOST_SUBMODULES: usize = 1_000;

/// The submodules of a project whose files are not here: git leaves their directories empty until it is asked for them.
#[derive(Debug, Default)]
pub struct AbsentSubmodules {
    /// Their directories, below the root.
    directories: Vec<PathBuf>,
}

impl AbsentSubmodules {
    /// Reads `.gitmodules`, and looks which of its directories are empty or absent.
    pub fn read(system: &dyn System, root: &Root) -> AbsentSubmodules {
        let modules = root.path().join(".gitmodules");
        let Ok(bytes) = system.read(&modules, limits::FILE_BYTES) else {
            return AbsentSubmodules::default();
        };
        let is_absent = |below: &PathBuf| {
            let directory = system.open_dir(&root.path().join(below));
            directory.is_err()
                || directory
                    .is_ok_and(|held| held.first_entries(1).is_ok_and(|entries| entries.is_empty()))
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let paths = text.lines().filter_map(submodule_path).take(MOST_SUBMODULES);
        AbsentSubmodules { directories: paths.filter(is_absent).collect() }
    }

    /// Returns whether a path below the root is, or lies in, a submodule whose files are not here.
    pub fn may_hold(&self, below: &Path) -> bool {
        self.directories.iter().any(|directory| below.starts_with(directory))
    }
}

/// Reads `path = docs/internal`.
fn submodule_path(line: &str) -> Option<PathBuf> {
    let (key, value) = line.split_once('=')?;
    let path = cleaned_below(Path::new(value.trim().trim_matches('"')))?;
    (key.trim() == "path" && !path.as_os_str().is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use brief_system::MemorySystem;

    use super::*;

    #[test]
    fn only_submodules_without_files_may_hold_anything() {
        let system = MemorySystem::new("/p")
            .with_file(
                ".gitmodules",
                "[submodule \"a\"]\n\tpath = libs/a\n\turl = x\n[submodule \"b\"]\n\tpath = \"b\"\n\
                 [submodule \"c\"]\n\tpath = c\n[submodule \"d\"]\n\tpath = ../d\n",
            )
            .with_dir("libs/a")
            .with_file("c/f", "");
        let root = Root::open(&system, Path::new("/p")).unwrap();
        let absent = AbsentSubmodules::read(&system, &root);
        for (path, expected) in [
            ("libs/a", true),
            ("libs/a/x.md", true),
            ("b/x.md", true),
            ("c/x.md", false),
            ("libs/ab", false),
            ("d", false),
        ] {
            assert_eq!(absent.may_hold(Path::new(path)), expected, "{path}");
        }
    }
}
