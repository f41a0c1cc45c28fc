//! The search for programs: the directories of `PATH` that no project can fill.
//!
//! A program that is named without a directory is looked up here, and never by the system: `.`, an empty
//! entry, `node_modules/.bin` or the project itself on `PATH` would let a cloned project replace `git`.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the seam that everything else goes through"
)]

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::programs::is_executable;

/// The `PATH` of a process that has none, as `execvp` has it.
const WITHOUT_PATH: &str = "/usr/bin:/bin";

/// Directories of the system. They count as outside wherever the user works: in a container that is
/// often `/`, which has a repository in it at times.
const OF_THE_SYSTEM: [&str; 9] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/opt/local/bin",
    "/run/current-system/sw/bin",
];

/// Directories that the user works in besides the current one. The list only grows: a program is avoided
/// more and never less, so that the order of calls does not matter.
static WORKED_IN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Keeps the programs of a directory from being started, for the rest of the process.
pub(super) fn avoid_directory(directory: &Path) {
    let mut known = WORKED_IN.lock().unwrap_or_else(PoisonError::into_inner);
    if !known.iter().any(|one| one == directory) {
        known.push(directory.to_owned());
    }
}

/// The directories of `PATH` that lie outside a project.
#[derive(Debug)]
pub(super) struct SearchPath {
    directories: Vec<PathBuf>,
    /// Directories whose programs are not started, links followed.
    avoided: Vec<PathBuf>,
}

impl SearchPath {
    /// Reads `path`, our own `PATH` without one. Left out are relative and empty entries, and those that
    /// lie in the current directory, in one that the user works in, in `directory`, or in the repository around
    /// one of them.
    pub(super) fn outside_project(path: Option<&OsStr>, directory: &Path) -> SearchPath {
        let current = std::env::current_dir().ok();
        let mut avoided = Vec::new();
        let worked_in = WORKED_IN.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let worked_in = worked_in.iter().map(PathBuf::as_path);
        for start in current.as_deref().into_iter().chain([directory]).chain(worked_in) {
            let Ok(start) = std::fs::canonicalize(start) else { continue };
            avoided.extend(find_repository(&start));
            avoided.push(start);
        }
        // A process that is started in the root of everything is in no project.
        avoided.retain(|directory| directory.parent().is_some());
        let own = std::env::var_os("PATH");
        let path = path.or(own.as_deref()).unwrap_or(OsStr::new(WITHOUT_PATH));
        let mut search = SearchPath { directories: Vec::new(), avoided };
        let kept = std::env::split_paths(path).filter(|entry| search.is_outside(entry)).collect();
        search.directories = kept;
        search
    }

    /// Returns the path of the program `name`.
    pub(super) fn find_program(&self, name: &OsStr) -> io::Result<PathBuf> {
        for directory in &self.directories {
            let path = directory.join(name);
            let is_program = std::fs::metadata(&path).is_ok_and(|metadata| metadata.is_file())
                && is_executable(&path).unwrap_or(false);
            // A link in a directory of the user's may lead back into the project.
            if is_program && self.leads_outside(&path) {
                return Ok(path);
            }
        }
        let name = name.display();
        let message = format!("no `{name}` in an absolute directory of `PATH` outside the project");
        Err(io::Error::new(io::ErrorKind::NotFound, message))
    }

    /// Returns it as a `PATH`, for a program that starts others by name.
    pub(super) fn to_path(&self) -> OsString {
        // No entry of a `PATH` has the letter in it that parts them.
        std::env::join_paths(&self.directories).unwrap_or_default()
    }

    fn is_outside(&self, entry: &Path) -> bool {
        if OF_THE_SYSTEM.iter().any(|directory| entry == Path::new(directory)) {
            return true;
        }
        entry.is_absolute() && !self.is_avoided(entry) && self.leads_outside(entry)
    }

    fn leads_outside(&self, path: &Path) -> bool {
        let Ok(real) = std::fs::canonicalize(path) else { return false };
        let is_of_system = real
            .parent()
            .is_some_and(|parent| OF_THE_SYSTEM.iter().any(|known| parent == Path::new(known)));
        is_of_system || !self.is_avoided(&real)
    }

    fn is_avoided(&self, path: &Path) -> bool {
        self.avoided.iter().any(|directory| path.starts_with(directory))
    }
}

/// Returns the nearest directory around `start` that has a `.git`.
fn find_repository(start: &Path) -> Option<PathBuf> {
    let has_git = |directory: &&Path| std::fs::symlink_metadata(directory.join(".git")).is_ok();
    start.ancestors().find(has_git).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A project with a program `tool` in several places, and a directory beside it with another one.
    struct Scene {
        directory: tempfile::TempDir,
    }

    impl Scene {
        fn new() -> Scene {
            let scene = Scene { directory: tempfile::tempdir().unwrap() };
            for place in ["clone", "clone/node_modules/.bin", "clone/src", "beside"] {
                std::fs::create_dir_all(scene.at(place)).unwrap();
                let tool = scene.at(place).join("tool");
                std::fs::write(&tool, "#!/bin/sh\n").unwrap();
                std::fs::set_permissions(&tool, PermissionsExt::from_mode(0o755)).unwrap();
            }
            std::fs::create_dir(scene.at("clone/.git")).unwrap();
            scene
        }

        fn at(&self, path: &str) -> PathBuf {
            self.directory.path().canonicalize().unwrap().join(path)
        }

        fn find(&self, from: &str, entries: &[PathBuf]) -> io::Result<PathBuf> {
            let path = std::env::join_paths(entries).unwrap();
            SearchPath::outside_project(Some(&path), &self.at(from))
                .find_program(OsStr::new("tool"))
        }
    }

    /// X03: no entry that a project can fill has a program for us, whatever its spelling.
    #[test]
    fn x03_a_project_replaces_no_program() {
        let scene = Scene::new();
        symlink(scene.at("clone"), scene.at("link")).unwrap();
        std::fs::create_dir(scene.at("linked")).unwrap();
        symlink(scene.at("clone/tool"), scene.at("linked/tool")).unwrap();
        let inside = [
            PathBuf::from("."),
            PathBuf::from(""),
            PathBuf::from("node_modules/.bin"),
            PathBuf::from("../clone"),
            scene.at("clone"),
            scene.at("clone/"),
            scene.at("clone/node_modules/.bin"),
            scene.at("beside/../clone"),
            scene.at("link"),
            scene.at("link/src"),
            scene.at("linked"),
        ];
        for from in ["clone", "clone/src"] {
            for entry in &inside {
                let error = scene.find(from, std::slice::from_ref(entry)).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::NotFound, "{}", entry.display());
                assert_eq!(
                    error.to_string(),
                    "no `tool` in an absolute directory of `PATH` outside the project"
                );
                let found = scene.find(from, &[entry.clone(), scene.at("beside")]).unwrap();
                assert_eq!(found, scene.at("beside/tool"), "{}", entry.display());
            }
        }
    }

    /// X03: so is a project that the user works in and that neither we nor the program is started in.
    #[test]
    fn x03_a_project_that_the_user_names_replaces_no_program() {
        let scene = Scene::new();
        let entries = [scene.at("clone/node_modules/.bin"), scene.at("beside")];
        let inside = scene.at("clone/node_modules/.bin/tool");
        assert_eq!(scene.find("beside", &entries[..1]).unwrap(), inside, "no project yet");
        avoid_directory(&scene.at("clone/src"));
        assert!(scene.find("beside", &entries[..1]).is_err());
        assert!(scene.find("beside", &entries).is_err(), "`beside` is where it is started");
        assert_eq!(scene.find("clone", &entries).unwrap(), scene.at("beside/tool"));
    }

    #[test]
    fn what_cannot_be_executed_is_passed_over() {
        let scene = Scene::new();
        std::fs::create_dir_all(scene.at("first/tool")).unwrap();
        std::fs::create_dir_all(scene.at("second")).unwrap();
        std::fs::write(scene.at("second/tool"), "text").unwrap();
        let entries = [scene.at("first"), scene.at("second"), scene.at("beside")];
        assert_eq!(scene.find("clone", &entries).unwrap(), scene.at("beside/tool"));
    }

    #[test]
    fn programs_of_the_system_are_found_from_everywhere() {
        for directory in ["/", "/usr", "/usr/bin", "/bin"] {
            let search =
                SearchPath::outside_project(Some(OsStr::new("/usr/bin:/bin")), directory.as_ref());
            assert!(search.find_program(OsStr::new("sh")).is_ok(), "{directory}");
        }
    }

    #[test]
    fn what_a_program_gets_as_path_has_the_same_entries() {
        let scene = Scene::new();
        let path = std::env::join_paths([
            PathBuf::new(),
            scene.at("clone"),
            scene.at("beside"),
            PathBuf::from("."),
        ]);
        let search = SearchPath::outside_project(Some(&path.unwrap()), &scene.at("clone"));
        assert_eq!(search.to_path(), scene.at("beside"));
    }
}
