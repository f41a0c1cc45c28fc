//! The root of a project that is no repository.
//!
//! Outside of a repository nothing says where a project begins, so directories above are not read. An answer that
//! lacks their guidance is only right for a user who knows that.

use std::path::{Path, PathBuf};

use brief_syntax::{Root, WideDirectory};
use brief_system::System;

/// The kind of directory that a project's root is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootKind {
    /// The top of a working tree: of a git repository, a worktree or a submodule.
    Repository,
    /// A directory whose `.git` is a file that leads to no repository: a worktree or submodule that was moved or copied.
    LostRepository,
    /// A git repository without files to work on.
    BareRepository,
    /// The whole file system, the user's home directory, or a directory above it.
    Wide(WideDirectory),
    /// Any other directory.
    Directory,
}

impl RootKind {
    /// Returns the kind of a root.
    #[must_use]
    pub fn from_root(system: &dyn System, root: &Root) -> RootKind {
        let path = root.path();
        let has = |name: &str| system.resolve(&path.join(name)).is_ok();
        if has(".git") {
            if is_lost(system, path) { RootKind::LostRepository } else { RootKind::Repository }
        } else if ["HEAD", "objects", "refs"].into_iter().all(has) {
            RootKind::BareRepository
        } else {
            WideDirectory::from_directory(system, path).map_or(RootKind::Directory, RootKind::Wide)
        }
    }
}

/// The longest `.git` file that is read, in bytes.
const LONGEST_LINK: u64 = 10_000;

/// Returns whether the `.git` of a directory is a file that leads to no repository.
fn is_lost(system: &dyn System, root: &Path) -> bool {
    let Ok(bytes) = system.read(&root.join(".git"), LONGEST_LINK) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    let place = text.trim().strip_prefix("gitdir:").map(str::trim);
    place.is_none_or(|place| system.resolve(&root.join(place)).is_err())
}

/// Files of guidance for everything below their directory.
const GUIDANCE: [&str; 8] = [
    "AGENTS.md",
    "AGENTS.yaml",
    "AGENTS.yml",
    "CLAUDE.md",
    "GEMINI.md",
    ".cursor/rules",
    ".github/copilot-instructions.md",
    "brief.toml",
];

/// Returns the nearest file of guidance in a directory above a root.
#[must_use]
pub fn guidance_above(system: &dyn System, root: &Root) -> Option<PathBuf> {
    let above = root.path().ancestors().skip(1);
    let mut places = above.flat_map(|above| GUIDANCE.iter().map(|name| above.join(name)));
    places.find(|place| system.resolve(place).is_ok())
}

#[cfg(test)]
mod tests {
    use brief_system::MemorySystem;

    use super::*;

    fn kind(system: &MemorySystem, path: &str) -> RootKind {
        RootKind::from_root(system, &Root::open(system, Path::new(path)).unwrap())
    }

    /// Issue, "Bad input": a `.git` that is a file (worktree, submodule), a bare repository, home, and the top.
    #[test]
    fn every_kind_of_root_is_recognized() {
        let system = MemorySystem::new("/p")
            .with_env("HOME", "/home/me")
            .with_dir("/home/me")
            .with_dir("repository/.git")
            .with_dir("repository/.git/worktrees/w")
            .with_file("worktree/.git", "gitdir: /p/repository/.git/worktrees/w\n")
            .with_dir("repository/.git/modules/m")
            .with_file("submodule/.git", "gitdir: ../repository/.git/modules/m\n")
            .with_file("moved/.git", "gitdir: /gone/.git/worktrees/w\n")
            .with_file("odd/.git", "no link\n")
            .with_file("bare.git/HEAD", "ref: refs/heads/main\n")
            .with_dir("bare.git/objects")
            .with_dir("bare.git/refs")
            .with_file("notes/HEAD", "A heading.\n")
            .with_dir("notes/objects");
        assert_eq!(kind(&system, "/"), RootKind::Wide(WideDirectory::FileSystem));
        assert_eq!(kind(&system, "/home/me"), RootKind::Wide(WideDirectory::Home));
        assert_eq!(kind(&system, "/home"), RootKind::Wide(WideDirectory::AboveHome));
        assert_eq!(kind(&system, "repository"), RootKind::Repository);
        assert_eq!(kind(&system, "worktree"), RootKind::Repository);
        assert_eq!(kind(&system, "submodule"), RootKind::Repository);
        assert_eq!(kind(&system, "moved"), RootKind::LostRepository);
        assert_eq!(kind(&system, "odd"), RootKind::LostRepository);
        assert_eq!(kind(&system, "bare.git"), RootKind::BareRepository);
        assert_eq!(kind(&system, "notes"), RootKind::Directory);
        // A user who keeps the home directory in git has made it a project.
        let dotfiles = system.with_dir("/home/me/.git");
        assert_eq!(kind(&dotfiles, "/home/me"), RootKind::Repository);
    }

    #[test]
    fn the_nearest_guidance_above_is_found() {
        let system = MemorySystem::new("/p")
            .with_file("AGENTS.md", "Far.\n")
            .with_file("a/CLAUDE.md", "Near.\n")
            .with_file("a/b/CLAUDE.md", "Own.\n");
        let above = |path| guidance_above(&system, &Root::open(&system, Path::new(path)).unwrap());
        assert_eq!(above("a/b"), Some("/p/a/CLAUDE.md".into()));
        assert_eq!(above("a"), Some("/p/AGENTS.md".into()));
        assert_eq!(above("/p"), None);
    }
}
