//! The names that git tracks, as far as they may be guidance: git never ignores what is in its index.

use crate::project::{Root, repository_around};
use brief_system::System;
use brief_system::paths::to_slashed;

/// The limit for the bytes of an index that is read. The index of a repository with 300,000 files is smaller.
const INDEX_BYTES: u64 = 64 * 1024 * 1024;

/// The limit for the bytes of a `.git` file, which leads to the directory of a worktree.
const LINK_BYTES: u64 = 10_000;

/// The bytes of an entry before its object: times, device, mode, owner and size.
const STATUS_BYTES: usize = 40;

/// The bytes of an object's name, by the hash of the repository.
const OBJECT_BYTES: [usize; 2] = [20, 32];

/// The flag of an entry that has further flags.
const EXTENDED: u16 = 0x4000;

/// Hidden directories that tools fill, which are no guidance of a project.
const MADE: [&str; 12] = [
    ".cache",
    ".direnv",
    ".gradle",
    ".idea",
    ".next",
    ".nuxt",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".vs",
    ".yarn",
];

/// Names of tracked files that may be guidance.
#[derive(Debug, Default)]
pub(crate) struct TrackedNames {
    /// Below the root, with `/`, in the order of their bytes.
    names: Vec<String>,
}

impl TrackedNames {
    /// Reads the index of the repository around a root. Without one, or if it cannot be read, nothing is tracked.
    pub(crate) fn read(system: &dyn System, root: &Root) -> TrackedNames {
        Self::read_index(system, root).unwrap_or_default()
    }

    fn read_index(system: &dyn System, root: &Root) -> Option<TrackedNames> {
        let top = repository_around(system, root.path())?;
        let git = top.join(".git");
        let directory = match system.read(&git, LINK_BYTES) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                top.join(text.trim().strip_prefix("gitdir:")?.trim())
            }
            Err(_) => git,
        };
        let bytes = system.read(&directory.join("index"), INDEX_BYTES).ok()?;
        let below = root.path().strip_prefix(top).ok()?;
        let below = to_slashed(below);
        let mut names = Vec::new();
        OBJECT_BYTES.into_iter().find(|object| {
            names.clear();
            let mut keep = |name: &[u8]| {
                let Ok(name) = std::str::from_utf8(name) else { return };
                let name = match below.as_str() {
                    "" => Some(name),
                    below => name.strip_prefix(below).and_then(|rest| rest.strip_prefix('/')),
                };
                names.extend(name.filter(|name| may_be_guidance(name)).map(str::to_owned));
            };
            each_name(&bytes, *object, &mut keep).is_some()
        })?;
        names.sort_unstable();
        Some(TrackedNames { names })
    }

    /// Returns whether git tracks a file, or something in a directory.
    pub(crate) fn has(&self, slashed: &str) -> bool {
        let find = |name: &str| self.names.binary_search_by(|known| known.as_str().cmp(name));
        let below = format!("{slashed}/");
        let first = find(&below).unwrap_or_else(|place| place);
        find(slashed).is_ok() || self.names.get(first).is_some_and(|name| name.starts_with(&below))
    }
}

/// Returns whether a path may be that of guidance: in a hidden directory, or with a name in capitals.
pub(crate) fn may_be_guidance(slashed: &str) -> bool {
    let is_hidden = |name: &str| name.starts_with('.') && !MADE.contains(&name);
    let name = slashed.rsplit('/').next().unwrap_or(slashed);
    let is_loud = name.strip_suffix(".md").is_some_and(|stem| {
        let stem = stem.split('.').next().unwrap_or(stem);
        !stem.is_empty() && !stem.bytes().any(|byte| byte.is_ascii_lowercase())
    });
    is_loud || slashed.split('/').any(is_hidden)
}

/// Tells each name of an index; `None` if it is none, or has objects of another length.
fn each_name(bytes: &[u8], object: usize, tell: &mut dyn FnMut(&[u8])) -> Option<()> {
    let word = |at: usize| -> Option<u32> {
        Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    };
    let version =
        word(4).filter(|version| bytes.starts_with(b"DIRC") && (2..=4).contains(version))?;
    let count = word(8)?;
    let mut at = 12;
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..count {
        let start = at;
        at += STATUS_BYTES + object;
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        at += if flags & EXTENDED == 0 { 2 } else { 4 };
        if version == 4 {
            let (removed, length) = read_number(bytes.get(at..)?)?;
            at += length;
            name.truncate(name.len().checked_sub(removed)?);
        } else {
            name.clear();
        }
        let rest = bytes.get(at..)?;
        let length = memchr::memchr(0, rest)?;
        name.extend_from_slice(&rest[..length]);
        // A wrong length of objects shows in the length that the flags repeat.
        let told = usize::from(flags & 0x0fff);
        if name.is_empty() || told < 0x0fff && told != name.len() {
            return None;
        }
        tell(&name);
        at += length + 1;
        if version < 4 {
            // Entries are padded to a multiple of eight bytes.
            at = start + (at - start).next_multiple_of(8);
        }
    }
    Some(())
}

/// Reads a number of git's variable length, and returns it with its length.
fn read_number(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut number = 0_usize;
    for (index, byte) in bytes.iter().take(5).enumerate() {
        number = number.checked_shl(7)? | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, index + 1));
        }
        number = number.checked_add(1)?;
    }
    None
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use brief_system::MemorySystem;

    use super::*;

    /// Writes an index as git does.
    pub(crate) fn build_index(version: u8, names: &[&str]) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0".to_vec();
        bytes.push(version);
        bytes.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
        let mut last = "";
        for name in names {
            let start = bytes.len();
            bytes.extend([1; STATUS_BYTES + 20]);
            bytes.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
            if version == 4 {
                let same = name.bytes().zip(last.bytes()).take_while(|(left, right)| left == right);
                let same = same.count();
                bytes.push(u8::try_from(last.len() - same).unwrap());
                bytes.extend(&name.as_bytes()[same..]);
                bytes.push(0);
            } else {
                bytes.extend(name.as_bytes());
                bytes.push(0);
                while !(bytes.len() - start).is_multiple_of(8) {
                    bytes.push(0);
                }
            }
            last = name;
        }
        bytes
    }

    #[test]
    fn names_of_all_versions_are_read() {
        let names =
            [".claude/commands/pr.md", ".claude/skills/x/SKILL.md", "AGENTS.md", "src/a.rs"];
        for version in [2, 3, 4] {
            let index = build_index(version, &names);
            let system = MemorySystem::new("/p").with_file(".git/index", index);
            let root = Root::open(&system, Path::new("/p")).unwrap();
            let tracked = TrackedNames::read(&system, &root);
            for (path, expected) in [
                (".claude", true),
                (".claude/commands/pr.md", true),
                (".claude/commands/p", false),
                (".claude/settings.local.json", false),
                ("AGENTS.md", true),
                // What is no guidance is not kept.
                ("src/a.rs", false),
            ] {
                assert_eq!(tracked.has(path), expected, "{version} {path}");
            }
        }
    }

    #[test]
    fn what_is_no_index_tracks_nothing() {
        arbtest::arbtest(|bytes| {
            let mut content = build_index(bytes.int_in_range(2..=4)?, &[".a/b", ".a/c/d"]);
            let cut = bytes.int_in_range(0..=content.len() - 1)?;
            let change = bytes.int_in_range(0..=content.len() - 1)?;
            content[change] = bytes.arbitrary()?;
            content.truncate(cut);
            for object in OBJECT_BYTES {
                let _ = each_name(&content, object, &mut |_| {});
            }
            Ok(())
        });
    }
}
