//! A project's files for the evaluator, on a system.

use std::path::Path;

use brief_syntax::{Root, TargetKind, limits};
use brief_system::{Below, System};

use super::call::{ProjectTree, TreePath};

/// The files below a root, links followed.
pub struct SystemTree<'s> {
    system: &'s dyn System,
    root: &'s Root,
}

impl<'s> SystemTree<'s> {
    pub fn new(system: &'s dyn System, root: &'s Root) -> SystemTree<'s> {
        SystemTree { system, root }
    }
}

impl ProjectTree for SystemTree<'_> {
    fn locate(&self, directory: Option<&Path>, path: &Path) -> Option<TreePath> {
        let base = directory.unwrap_or(self.root.path());
        let target = self.root.locate_target(self.system, base, path)?;
        let absolute = self.root.path().join(target.slashed());
        let exists = match self.system.probe_path(&absolute) {
            Below::Missing => false,
            Below::Directory | Below::NotADirectory => true,
            Below::Unsure => self.system.resolve(&absolute).is_ok(),
        };
        let is_directory = exists && target.kind() == TargetKind::Directory;
        Some(TreePath { path: target.slashed().into(), exists, is_directory })
    }

    fn read_text(&self, path: &str) -> Option<String> {
        let top = self.system.open_dir(self.root.path()).ok()?;
        let bytes = top.read_below(Path::new(path), limits::FILE_BYTES).ok()?;
        String::from_utf8(bytes).ok()
    }
}
