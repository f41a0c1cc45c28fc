//! Single files of a commit, with one call of git.

use std::path::Path;
use std::sync::Arc;

use brief_system::System;

use super::HistoryError;
use super::caller::Caller;
use crate::git::CHATTER;

/// Reads files of a commit. `git_dir` is the repository itself; nothing is checked out. The contents are in the order of the paths,
/// `None` for a missing one, and have at most `limit` bytes together.
pub(crate) fn read_committed_files(
    system: &Arc<dyn System>,
    git_dir: &Path,
    commit: &str,
    paths: &[&str],
    limit: usize,
) -> Result<Vec<Option<Vec<u8>>>, HistoryError> {
    // Without the commit and its tree every file would look missing.
    let start = format!("{commit}\n{commit}^{{tree}}\n").into_bytes();
    let input = [start, object_names(commit, paths)].concat();
    let output = Caller::from_git_dir(system, git_dir).read_output(
        &["cat-file", "--batch"],
        input,
        limit,
    )?;
    let mut rest = output.as_slice();
    for kind in ["commit", "tree"] {
        if parse_next_object(&mut rest)?.is_none_or(|(found, _)| found != kind) {
            return Err(HistoryError::Git(format!("the {kind} of {commit} is missing")));
        }
    }
    let mut file = |_| {
        let found = parse_next_object(&mut rest)?.filter(|(kind, _)| kind == "blob");
        Ok(found.map(|(_, bytes)| bytes.to_vec()))
    };
    paths.iter().map(&mut file).collect()
}

/// Returns the names of files of a commit, as input for `cat-file`.
pub(super) fn object_names(commit: &str, paths: &[&str]) -> Vec<u8> {
    paths.iter().flat_map(|path| format!("{commit}:{path}\n").into_bytes()).collect()
}

/// Tells which paths a commit has, as files or directories.
pub(crate) fn paths_exist(
    system: &Arc<dyn System>,
    git_dir: &Path,
    commit: &str,
    paths: &[&str],
) -> Result<Vec<bool>, HistoryError> {
    let args = ["cat-file", "--batch-check"];
    let output = Caller::from_git_dir(system, git_dir).read_output(
        &args,
        object_names(commit, paths),
        CHATTER,
    )?;
    let is_there = |line: &[u8]| line.windows(6).any(|kind| kind == b" blob " || kind == b" tree ");
    Ok(output.split(|&byte| byte == b'\n').take(paths.len()).map(is_there).collect())
}

/// Takes the kind and the content of the next object from the output; `None` is a missing one.
fn parse_next_object<'o>(rest: &mut &'o [u8]) -> Result<Option<(String, &'o [u8])>, HistoryError> {
    let puzzled = || HistoryError::Puzzled("cat-file");
    let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(puzzled)?;
    let line = String::from_utf8_lossy(&rest[..end]).into_owned();
    let after = &rest[end + 1..];
    // A submodule is another repository.
    if line.ends_with(" missing") || line.ends_with(" submodule") || line.ends_with(" ambiguous") {
        *rest = after;
        return Ok(None);
    }
    let mut words = line.rsplitn(3, ' ');
    let size = words.next().and_then(|size| size.parse().ok());
    let (Some(size), Some(kind), Some(_)) = (size, words.next(), words.next()) else {
        return Err(puzzled());
    };
    let (content, after) = after.split_at_checked(size).ok_or_else(puzzled)?;
    *rest = after.strip_prefix(b"\n").ok_or_else(puzzled)?;
    Ok(Some((kind.to_owned(), content)))
}
