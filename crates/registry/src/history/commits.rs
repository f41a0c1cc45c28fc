//! The commits that changed a file.

use super::removals::RemovingCommit;
use super::{HistoryError, Repository};

/// A commit that changed a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCommit {
    pub id: String,
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

impl Repository {
    /// Returns the newest commits that changed a file below the top, at most `most`, newest first.
    pub fn commits_of(&self, file: &str, most: usize) -> Result<Vec<FileCommit>, HistoryError> {
        let count = format!("--max-count={most}");
        let output = self.run_log(None, &[&count], &[file])?;
        let lines = output.split(|&byte| byte == b'\n');
        let commits = lines.filter_map(|line| {
            let RemovingCommit { id, date, subject, .. } =
                RemovingCommit::parse_line(line.strip_prefix(b"\x01")?)?;
            Some(FileCommit { id: id?, date, subject })
        });
        Ok(commits.collect())
    }
}
