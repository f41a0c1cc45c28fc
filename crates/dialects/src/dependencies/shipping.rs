//! The search for guidance in one package: a few known names, never a walk.

use std::ffi::OsStr;
use std::path::Path;

use brief_syntax::limits;
use brief_system::{Dir, DirEntry, FileKind};

use super::model::{ShippedFile, ShippedKind};
use brief_safety::sensitive::{self, Leaf};

/// The guidance of a package's directory, and what else one look at it shows.
#[derive(Debug, Default)]
pub(super) struct Shipping {
    /// The files, sorted.
    pub(super) files: Vec<ShippedFile>,
    /// True if the package brings packages of its own.
    pub(super) has_modules: bool,
    /// True if there are more files than the limit.
    pub(super) is_cut: bool,
}

/// The names that the directory of an ordinary package may have. A directory with more is listed no
/// further.
const LISTED: usize = 10_000;

/// Looks into the directory of a package.
pub(super) fn collect_shipped_files(package: &dyn Dir) -> Shipping {
    let mut shipping = Shipping::default();
    for DirEntry { name, kind } in package.first_entries(LISTED).unwrap_or_default() {
        match (name.to_str(), kind) {
            (Some(name), FileKind::File) => shipping.add_path(name),
            (Some("node_modules"), FileKind::Directory) => shipping.has_modules = true,
            (Some("skills"), FileKind::Directory) => shipping.add_skills(package, "skills"),
            (Some(".agents"), FileKind::Directory) => {
                shipping.add_skills(package, ".agents/skills");
            }
            (Some(".context"), FileKind::Directory) => {
                shipping.add_context(package, ".context", ".context", 0);
            }
            _ => {}
        }
    }
    shipping.files.sort_unstable();
    shipping
}

impl Shipping {
    pub(super) fn add_file(&mut self, kind: ShippedKind, slashed: &str) {
        if self.files.len() < limits::DEPENDENCY_FILES {
            self.files.push(ShippedFile { kind, slashed: slashed.to_owned() });
        } else {
            self.is_cut = true;
        }
    }

    /// Adds a file by its path below the package, if that is one of guidance.
    fn add_path(&mut self, slashed: &str) {
        if let Some(kind) = ShippedKind::from_path(slashed) {
            self.add_file(kind, slashed);
        }
    }

    fn add_skills(&mut self, package: &dyn Dir, above: &str) {
        let Ok(skills) = package.open_dir_below(Path::new(above)) else { return };
        for name in sorted_names(skills.as_ref(), FileKind::Directory) {
            let entry = skills.open_dir(OsStr::new(&name));
            let entry = entry.and_then(|skill| skill.status(OsStr::new("SKILL.md")));
            if entry.is_ok_and(|entry| entry.kind == FileKind::File) {
                self.add_path(&format!("{above}/{name}/SKILL.md"));
            }
        }
    }

    /// Adds the files of a directory of context, `slashed` below the package.
    fn add_context(&mut self, parent: &dyn Dir, name: &str, slashed: &str, depth: usize) {
        let Ok(context) = parent.open_dir(OsStr::new(name)) else { return };
        for name in sorted_names(context.as_ref(), FileKind::File) {
            self.add_path(&format!("{slashed}/{name}"));
        }
        if depth >= limits::HOSTED_DEPTH {
            return;
        }
        for name in sorted_names(context.as_ref(), FileKind::Directory) {
            let is_secret = sensitive::find_below(slashed, &name, Leaf::Directory).is_some();
            if !self.is_cut && !is_secret && !name.starts_with('.') {
                self.add_context(context.as_ref(), &name, &format!("{slashed}/{name}"), depth + 1);
            }
        }
    }
}

/// Returns the names of one kind in a directory, sorted.
fn sorted_names(directory: &dyn Dir, kind: FileKind) -> Vec<String> {
    let entries = directory.first_entries(LISTED).unwrap_or_default().into_iter();
    let names = entries.filter(|entry| entry.kind == kind);
    let mut names: Vec<String> = names.filter_map(|entry| entry.name.into_string().ok()).collect();
    names.sort_unstable();
    names
}
