//! Single files of a repository's newest commit, with one call of git.

use std::path::Path;
use std::sync::Arc;

use brief_syntax::System;

use super::HistoryError;
use super::caller::Caller;
use crate::extract::is_commit;

/// The newest commit of a repository, and some of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peek {
    /// The full commit; `None` in a repository without commits.
    pub(crate) commit: Option<String>,
    /// The contents of the files in the order of the paths; `None` for a missing one.
    pub(crate) files: Vec<Option<Vec<u8>>>,
}

/// Reads files of the newest commit. `git_dir` is the repository itself; nothing is checked out. The contents have at
/// most `limit` bytes together.
pub(crate) fn peek(
    system: &Arc<dyn System>,
    git_dir: &Path,
    paths: &[&str],
    limit: usize,
) -> Result<Peek, HistoryError> {
    let git = Caller {
        system: Arc::clone(system),
        directory: git_dir.to_owned(),
        git_dir: Some(git_dir.to_owned()),
    };
    let mut call = git.call(&["cat-file", "--batch"], limit);
    call.input = b"HEAD\n".to_vec();
    for path in paths {
        call.input.extend_from_slice(format!("HEAD:{path}\n").as_bytes());
    }
    let output = git.expect(&call)?;
    let mut rest = output.as_slice();
    let puzzled = || HistoryError::Puzzled("cat-file");
    let head = object(&mut rest)?;
    let commit = match head {
        Some((name, kind, _)) if kind == "commit" && is_commit(&name) => Some(name),
        Some(_) => return Err(puzzled()),
        None => None,
    };
    let mut files = Vec::with_capacity(paths.len());
    for _ in paths {
        let found = object(&mut rest)?;
        files.push(found.filter(|(_, kind, _)| kind == "blob").map(|(_, _, bytes)| bytes));
    }
    Ok(Peek { commit, files })
}

/// A name, a kind and a content.
type Object = (String, String, Vec<u8>);

/// Takes the next object from the output; `None` is a missing one.
fn object(rest: &mut &[u8]) -> Result<Option<Object>, HistoryError> {
    let puzzled = || HistoryError::Puzzled("cat-file");
    let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(puzzled)?;
    let line = String::from_utf8_lossy(&rest[..end]).into_owned();
    let after = &rest[end + 1..];
    if line.ends_with(" missing") {
        *rest = after;
        return Ok(None);
    }
    let mut words = line.rsplitn(3, ' ');
    let size = words.next().and_then(|size| size.parse().ok());
    let (Some(size), Some(kind), Some(name)) = (size, words.next(), words.next()) else {
        return Err(puzzled());
    };
    let (content, after) = after.split_at_checked(size).ok_or_else(puzzled)?;
    *rest = after.strip_prefix(b"\n").ok_or_else(puzzled)?;
    Ok(Some((name.to_owned(), kind.to_owned(), content.to_vec())))
}
