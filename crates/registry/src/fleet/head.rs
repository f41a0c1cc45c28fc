//! The newest commit of a repository, read from its files without a process.
//!
//! A run over many repositories that have not changed starts no git at all. Everything that is not plain (other formats of references,
//! chains of names) is left to git.

use std::path::{Path, PathBuf};

use brief_system::System;

use crate::extract::is_commit;

/// The limit for the bytes of a file with one reference.
const ONE_BYTES: u64 = 4_096;

/// The limit for the bytes of the packed references.
const PACKED_BYTES: u64 = 64 * 1024 * 1024;

/// The commit that `HEAD` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HeadState {
    Commit(String),
    Unborn,
    /// Something that only git can tell.
    Unclear,
}

/// Reads `HEAD` of a repository.
pub(super) fn read_head(system: &dyn System, git_dir: &Path) -> HeadState {
    let Some(text) = read_line(system, &git_dir.join("HEAD")) else { return HeadState::Unclear };
    if is_commit(&text) {
        return HeadState::Commit(text);
    }
    let Some(name) = text.strip_prefix("ref: ").map(str::trim).filter(|name| is_plain(name)) else {
        return HeadState::Unclear;
    };
    let common = common_dir(system, git_dir);
    // Other formats keep this file to turn older programs away.
    if system.resolve(&common.join("reftable")).is_ok() {
        return HeadState::Unclear;
    }
    match read_line(system, &common.join(name)) {
        Some(commit) if is_commit(&commit) => return HeadState::Commit(commit),
        Some(_) => return HeadState::Unclear,
        None => {}
    }
    match system.read(&common.join("packed-refs"), PACKED_BYTES) {
        Ok(bytes) => match find_packed_reference(&bytes, name) {
            Some(commit) if is_commit(&commit) => HeadState::Commit(commit),
            Some(_) => HeadState::Unclear,
            None => HeadState::Unborn,
        },
        Err(brief_system::ReadError::Missing) => HeadState::Unborn,
        Err(_) => HeadState::Unclear,
    }
}

/// Returns the directory that working trees of one repository share.
pub(super) fn common_dir(system: &dyn System, git_dir: &Path) -> PathBuf {
    match read_line(system, &git_dir.join("commondir")) {
        Some(text) => git_dir.join(text),
        None => git_dir.to_owned(),
    }
}

fn read_line(system: &dyn System, path: &Path) -> Option<String> {
    let text = String::from_utf8(system.read(path, ONE_BYTES).ok()?).ok()?;
    Some(text.trim_end().to_owned())
}

fn is_plain(name: &str) -> bool {
    name.starts_with("refs/")
        && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
        && !name.contains(['\\', '\0', '\n'])
}

/// Finds a reference in the packed ones: lines of an object, a space and a full name.
fn find_packed_reference(bytes: &[u8], name: &str) -> Option<String> {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let found = lines.find(|line| {
        line.strip_suffix(name.as_bytes()).is_some_and(|before| before.ends_with(b" "))
    })?;
    let object = found.split(|&byte| byte == b' ').next()?;
    Some(String::from_utf8_lossy(object).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use brief_system::MemorySystem;

    const ONE: &str = "0123456789abcdef0123456789abcdef01234567";
    const TWO: &str = "1123456789abcdef0123456789abcdef01234567";

    fn of(files: &[(&str, &str)]) -> HeadState {
        let mut system = MemorySystem::new("/");
        for (path, text) in files {
            system = system.with_file(path, text);
        }
        read_head(&system, Path::new("/r"))
    }

    #[test]
    fn a_head_is_read_as_git_reads_it() {
        let branch = ("/r/HEAD", "ref: refs/heads/main\n");
        let packed = format!(
            "# pack-refs with: peeled\n{TWO} refs/heads/other/main\n{ONE} refs/heads/main\n^{TWO}\n"
        );
        assert_eq!(of(&[("/r/HEAD", &format!("{ONE}\n"))]), HeadState::Commit(ONE.to_owned()));
        assert_eq!(
            of(&[branch, ("/r/refs/heads/main", TWO), ("/r/packed-refs", &packed)]),
            HeadState::Commit(TWO.to_owned())
        );
        assert_eq!(of(&[branch, ("/r/packed-refs", &packed)]), HeadState::Commit(ONE.to_owned()));
        assert_eq!(of(&[branch]), HeadState::Unborn);
        assert_eq!(of(&[branch, ("/r/packed-refs", "")]), HeadState::Unborn);
        // A working tree of its own: its branches lie in the common directory.
        assert_eq!(
            of(&[branch, ("/r/commondir", "../common\n"), ("/common/refs/heads/main", ONE)]),
            HeadState::Commit(ONE.to_owned())
        );
        // Only git knows.
        assert_eq!(of(&[]), HeadState::Unclear);
        assert_eq!(of(&[("/r/HEAD", "ref: refs/../../x\n"), ("/x", ONE)]), HeadState::Unclear);
        assert_eq!(of(&[branch, ("/r/refs/heads/main", "ref: refs/heads/x")]), HeadState::Unclear);
        assert_eq!(
            of(&[("/r/HEAD", "ref: refs/heads/.invalid\n"), ("/r/reftable/tables.list", "")]),
            HeadState::Unclear
        );
    }
}
