//! The search for guidance in one package: a few known names, never a walk.

use std::ffi::OsStr;

use brief_syntax::limits;
use brief_syntax::system::{Dir, DirEntry, FileKind};

use super::model::{ShippedFile, ShippedKind};
use crate::sensitive::{self, Leaf};

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
pub(super) fn look(package: &dyn Dir) -> Shipping {
    let mut shipping = Shipping::default();
    for DirEntry { name, kind } in package.first_entries(LISTED).unwrap_or_default() {
        match (name.to_str(), kind) {
            (
                Some(name @ ("AGENTS.md" | "AGENTS.yaml" | "AGENTS.yml" | "llms.txt")),
                FileKind::File,
            ) => {
                shipping.add(name.to_owned());
            }
            (Some("node_modules"), FileKind::Directory) => shipping.has_modules = true,
            (Some("skills"), FileKind::Directory) => {
                if let Ok(skills) = package.open_dir(OsStr::new("skills")) {
                    shipping.add_skills(skills.as_ref(), "skills");
                }
            }
            (Some(".agents"), FileKind::Directory) => {
                let skills = package.open_dir_below(std::path::Path::new(".agents/skills"));
                if let Ok(skills) = skills {
                    shipping.add_skills(skills.as_ref(), ".agents/skills");
                }
            }
            (Some(".context"), FileKind::Directory) => {
                if let Ok(context) = package.open_dir(OsStr::new(".context")) {
                    shipping.add_context(context.as_ref(), ".context", 0);
                }
            }
            _ => {}
        }
    }
    shipping.files.sort_unstable();
    shipping
}

impl Shipping {
    pub(super) fn add(&mut self, slashed: String) {
        let Some(kind) = ShippedKind::of(&slashed) else { return };
        if self.files.len() < limits::DEPENDENCY_FILES {
            self.files.push(ShippedFile { kind, slashed });
        } else {
            self.is_cut = true;
        }
    }

    /// Adds a file whose package begins at `root`, a directory in a directory of several packages.
    pub(super) fn add_below(&mut self, root: &str, slashed: &str) {
        let before = self.files.len();
        self.add(slashed.get(root.len() + 1..).unwrap_or_default().to_owned());
        if let Some(file) = self.files.get_mut(before) {
            slashed.clone_into(&mut file.slashed);
        }
    }

    fn add_skills(&mut self, skills: &dyn Dir, above: &str) {
        for name in sorted(skills, FileKind::Directory) {
            let entry = skills.open_dir(OsStr::new(&name));
            let entry = entry.and_then(|skill| skill.status(OsStr::new("SKILL.md")));
            if entry.is_ok_and(|entry| entry.kind == FileKind::File) {
                self.add(format!("{above}/{name}/SKILL.md"));
            }
        }
    }

    fn add_context(&mut self, context: &dyn Dir, above: &str, depth: usize) {
        for name in sorted(context, FileKind::File) {
            self.add(format!("{above}/{name}"));
        }
        if depth >= limits::HOSTED_DEPTH {
            return;
        }
        for name in sorted(context, FileKind::Directory) {
            let is_secret = sensitive::find_below(above, &name, Leaf::Directory).is_some();
            if self.is_cut || is_secret || name.starts_with('.') {
                continue;
            }
            if let Ok(child) = context.open_dir(OsStr::new(&name)) {
                self.add_context(child.as_ref(), &format!("{above}/{name}"), depth + 1);
            }
        }
    }
}

/// Returns the names of one kind in a directory, sorted.
fn sorted(directory: &dyn Dir, kind: FileKind) -> Vec<String> {
    let entries = directory.first_entries(LISTED).unwrap_or_default().into_iter();
    let names = entries.filter(|entry| entry.kind == kind);
    let mut names: Vec<String> = names.filter_map(|entry| entry.name.into_string().ok()).collect();
    names.sort_unstable();
    names
}
