//! The origin of files of a working tree: the commit, its time, and the address of the repository.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use brief_safety::policy::SourcePlace;
use brief_syntax::limits;
use brief_system::Files;

use super::{Commit, HistoryError, Repository};
use crate::git::{CHATTER, GitOutcome};

/// The commit that some files are in, unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOrigin {
    pub revision: String,
    /// The time of the commit.
    pub time: SystemTime,
    /// The address of the repository's origin, equal for all transports: `https://HOST/PATH`.
    pub address: Option<String>,
}

impl Repository {
    /// Returns the origin of files, if the newest commit has all of them with the same content. The paths are
    /// below `directory`, an absolute path without links.
    pub fn origin_of<'f>(
        &self,
        directory: &Path,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<Option<FileOrigin>, HistoryError> {
        let commit = match self.resolve_commit("HEAD") {
            Ok(commit) => commit,
            Err(HistoryError::NoCommits) => return Ok(None),
            Err(error) => return Err(error),
        };
        let tree = self.open_tree(&commit, &BTreeMap::new())?;
        for (path, bytes) in files {
            let committed = tree.read(&directory.join(path), limits::SUPPORT_FILE_BYTES);
            if committed.ok().as_deref() != Some(bytes) {
                return Ok(None);
            }
        }
        let time = self.time_of(&commit)?;
        Ok(Some(FileOrigin { revision: commit.id, time, address: self.read_origin_address()? }))
    }

    fn time_of(&self, commit: &Commit) -> Result<SystemTime, HistoryError> {
        let output = self.git.read_output(&["cat-file", "commit", &commit.id], "", CHATTER)?;
        let text = String::from_utf8_lossy(&output);
        let line = text.lines().take_while(|line| !line.is_empty());
        let line = line.into_iter().find_map(|line| line.strip_prefix("committer "));
        let seconds = line.and_then(|line| line.rsplit(' ').nth(1)?.parse().ok());
        let seconds = seconds.ok_or(HistoryError::Puzzled("cat-file"))?;
        Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
    }

    fn read_origin_address(&self) -> Result<Option<String>, HistoryError> {
        let call = self.git.build_call(&["config", "--get", "remote.origin.url"], CHATTER);
        let GitOutcome::Done(output) = self.git.run_call(&call)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&output).trim().to_owned();
        Ok(match SourcePlace::of_address(&text) {
            SourcePlace::Repository(place) if place.contains('.') && place.contains('/') => {
                Some(format!("https://{place}"))
            }
            _ => None,
        })
    }
}
