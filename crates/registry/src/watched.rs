//! The files that a build or an installation reads, for commands that repeat it when one of them changes.

use std::path::{Path, PathBuf};

use brief_syntax::walk::{self, Ignored, Visit};
use brief_syntax::{Root, Target, TargetKind};
use brief_system::System;

use crate::install::ProjectPaths;
use crate::manifest::{Manifest, ManifestPlace};

/// The files that a command reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WatchedFiles {
    /// The directories with the files, sorted.
    pub directories: Vec<PathBuf>,
    /// Files that are never ignored, sorted.
    pub files: Vec<PathBuf>,
    /// Directories in which every change counts.
    roots: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
}

impl WatchedFiles {
    /// Returns the files of a registry that is built into the directory `out`.
    pub fn of_build(system: &dyn System, registry: &Path, out: &Path) -> WatchedFiles {
        let mut watched = WatchedFiles { outputs: vec![out.to_owned()], ..WatchedFiles::default() };
        watched.add_directory(system, registry);
        watched.into_sorted()
    }

    /// Returns the files of a project's installation: its manifest, and its sources that are directories.
    pub fn of_project(
        system: &dyn System,
        project: &ProjectPaths,
        manifest: Option<&Manifest>,
    ) -> WatchedFiles {
        let mut watched =
            WatchedFiles { files: vec![project.manifest_path()], ..WatchedFiles::default() };
        watched.directories.push(project.config.clone());
        for source in manifest.into_iter().flat_map(|manifest| &manifest.sources) {
            if let ManifestPlace::Directory(path) = &source.place {
                watched.add_directory(system, &project.config.join(path));
            }
        }
        watched.outputs.push(project.own.clone());
        watched.into_sorted()
    }

    /// Returns whether a change of a file does not count: it is an output, or lies beside what is read.
    pub fn is_ignored(&self, path: &Path) -> bool {
        if self.files.iter().any(|file| file == path) {
            return false;
        }
        let is_read = self.roots.iter().any(|root| path.starts_with(root));
        !is_read
            || self.outputs.iter().any(|out| path.starts_with(out))
            || is_for_clients(&self.roots, path)
    }

    fn add_directory(&mut self, system: &dyn System, directory: &Path) {
        let Ok(root) = Root::open(system, directory) else {
            // It may appear.
            self.directories.extend(directory.parent().map(Path::to_owned));
            self.roots.push(directory.to_owned());
            return;
        };
        let top = Target::from_slashed("", TargetKind::Directory);
        let is_skipped = |slashed: &str| {
            let path = root.path().join(slashed);
            self.outputs.iter().any(|out| path.starts_with(out))
                || is_for_clients(&[root.path().to_owned()], &path)
        };
        let mut directories = Vec::new();
        let mut visitor = |visit: &Visit<'_>| directories.push(visit.path());
        let _gaps =
            walk::whole_except(system, &root, &top, Ignored::Skip, &is_skipped, &mut visitor);
        self.directories.append(&mut directories);
        self.roots.push(root.path().to_owned());
    }

    fn into_sorted(mut self) -> WatchedFiles {
        self.directories.sort_unstable();
        self.directories.dedup();
        self.files.sort_unstable();
        self
    }
}

/// Returns whether a path lies in a hidden directory of a root. Clients read those, and outputs lie there.
fn is_for_clients(roots: &[PathBuf], path: &Path) -> bool {
    let below = roots.iter().find_map(|root| path.strip_prefix(root).ok());
    below.is_some_and(|below| {
        let hidden = below.iter().any(|name| name.to_string_lossy().starts_with('.'));
        hidden && !below.starts_with(".brief/clients")
    })
}

#[cfg(test)]
mod tests {
    use brief_system::MemorySystem;

    use super::*;

    #[test]
    fn outputs_do_not_count_and_sources_do() {
        let system = MemorySystem::new("/r")
            .with_file("rules/a/RULE.md", "")
            .with_file("dist/.claude/rules/a.md", "")
            .with_file(".claude/rules/a.md", "");
        let watched = WatchedFiles::of_build(&system, Path::new("/r"), Path::new("/r/dist"));
        let expected = ["/r", "/r/rules", "/r/rules/a"].map(PathBuf::from);
        assert_eq!(watched.directories, expected);
        for (path, ignored) in [
            ("/r/rules/a/RULE.md", false),
            ("/r/rules/new", false),
            ("/r/brief.toml", false),
            ("/r/dist", true),
            ("/r/dist/.claude/rules/a.md", true),
            ("/r/.claude/rules/a.md", true),
            ("/elsewhere/x.md", true),
        ] {
            assert_eq!(watched.is_ignored(Path::new(path)), ignored, "{path}");
        }
    }
}
