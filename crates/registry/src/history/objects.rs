//! The contents of a repository, read one after the other from a single `git cat-file` process.
//!
//! Two revisions have most contents in common, so contents stay in memory for the other one.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use brief_syntax::limits;
use brief_system::{Companion, ReadError, TreeContents, TreeFile};

use super::caller::Caller;
use crate::extract::path_from;
use crate::git::GitOutcome;

/// The time limit for one object.
const PATIENCE: Duration = Duration::from_secs(limits::REMOTE_SECONDS);

/// The limit for the bytes of a link, the same as on Linux.
const LINK_BYTES: u64 = 4095;

/// The limit for the bytes of an object's header: its name, kind and size.
const HEADER: usize = 256;

/// The limit for the bytes that are kept in memory.
const KEPT: usize = 64 * 1024 * 1024;

/// The reader for the contents of a repository.
pub(super) struct Objects {
    git: Caller,
    state: Mutex<ObjectsState>,
}

#[derive(Default)]
struct ObjectsState {
    git: Option<Box<dyn Companion>>,
    kept: HashMap<Vec<u8>, Arc<[u8]>>,
    bytes: usize,
}

impl Objects {
    pub(super) fn new(git: Caller) -> Objects {
        Objects { git, state: Mutex::default() }
    }

    fn read_object(&self, object: &[u8], limit: u64) -> Result<Arc<[u8]>, ReadError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = state.kept.get(object) {
            let fits = kept.len() as u64 <= limit;
            return fits.then(|| Arc::clone(kept)).ok_or(ReadError::TooLarge { limit });
        }
        let content = match self.query_object(&mut state, object, limit) {
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::Unsupported => {
                self.ask_alone(object, limit)
            }
            content => content,
        };
        if content.is_err() {
            // Unread output would be taken for the next answer.
            state.git = None;
        }
        let content: Arc<[u8]> = content?.into();
        if state.bytes + content.len() <= KEPT {
            state.bytes += content.len();
            state.kept.insert(object.to_vec(), Arc::clone(&content));
        }
        Ok(content)
    }

    fn query_object(
        &self,
        state: &mut ObjectsState,
        object: &[u8],
        limit: u64,
    ) -> Result<Vec<u8>, ReadError> {
        let git = match &mut state.git {
            Some(git) => git,
            none => {
                let call = self.git.build_call(&["cat-file", "--batch"], 0);
                none.insert(self.git.system.start_program(&call)?)
            }
        };
        git.send(&[object, b"\n"].concat(), PATIENCE)?;
        let mut answer = Vec::new();
        let mut buffer = [0; 16 * 1024];
        let mut receive = |answer: &mut Vec<u8>| match git.receive(&mut buffer, PATIENCE)? {
            0 => Err(unexpected_answer()),
            count => {
                answer.extend_from_slice(&buffer[..count]);
                Ok(())
            }
        };
        let header = loop {
            match answer.iter().position(|&byte| byte == b'\n') {
                Some(end) => break end,
                None if answer.len() > HEADER => return Err(unexpected_answer()),
                None => receive(&mut answer)?,
            }
        };
        let size = parse_blob_size(&answer[..header], object, limit)?;
        while answer.len() < header + 1 + size + 1 {
            receive(&mut answer)?;
        }
        Ok(answer[header + 1..][..size].to_vec())
    }

    /// Starts one process per object, on systems without a companion process.
    fn ask_alone(&self, object: &[u8], limit: u64) -> Result<Vec<u8>, ReadError> {
        let most = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(HEADER);
        let mut call = self.git.build_call(&["cat-file", "--batch"], most);
        call.input = [object, b"\n"].concat();
        match self.git.run_call(&call) {
            Ok(GitOutcome::Done(answer)) => {
                let end =
                    answer.iter().position(|&byte| byte == b'\n').ok_or_else(unexpected_answer)?;
                let size = parse_blob_size(&answer[..end], object, limit)?;
                let is_whole = answer.len() == end + 1 + size + 1;
                if is_whole {
                    Ok(answer[end + 1..][..size].to_vec())
                } else {
                    Err(unexpected_answer())
                }
            }
            Ok(GitOutcome::TooMuch) => Err(ReadError::TooLarge { limit }),
            Ok(GitOutcome::Failed(said)) => Err(ReadError::Io(io::Error::other(said))),
            Err(error) => Err(ReadError::Io(io::Error::other(error))),
        }
    }
}

/// Parses the size from a header such as `1a2b… blob 12`.
fn parse_blob_size(header: &[u8], object: &[u8], limit: u64) -> Result<usize, ReadError> {
    let header = std::str::from_utf8(header).map_err(|_| unexpected_answer())?;
    let words: Vec<&str> = header.split(' ').collect();
    match words.as_slice() {
        [name, "blob", size] if name.as_bytes() == object => {
            let size: u64 = size.parse().map_err(|_| unexpected_answer())?;
            if size > limit {
                return Err(ReadError::TooLarge { limit });
            }
            usize::try_from(size).map_err(|_| ReadError::TooLarge { limit })
        }
        [_, "missing"] => Err(ReadError::Io(io::Error::other(
            "is missing from this clone; run `git fetch` to get it",
        ))),
        _ => Err(unexpected_answer()),
    }
}

fn unexpected_answer() -> ReadError {
    ReadError::Io(io::Error::other("unexpected git output"))
}

/// The contents of the files of a commit.
pub(super) struct Committed(pub(super) Arc<Objects>);

impl TreeContents for Committed {
    fn read_file(&self, file: &TreeFile<'_>, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.0.read_object(file.object, limit).map(|content| content.to_vec())
    }

    fn link_target(&self, link: &TreeFile<'_>) -> io::Result<PathBuf> {
        let target = self.0.read_object(link.object, LINK_BYTES).map_err(io::Error::other)?;
        path_from(&target)
            .filter(|target| target != Path::new(""))
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
