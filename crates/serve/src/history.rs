//! The history of a project for the checks of its texts: git's, read by the crate that calls git.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use brief_engine::System;
use brief_engine::references::{ProjectHistory, Removal, RemovedLine};
use brief_registry::history::{FileCommit, HistoryError, RemovingCommit, Repository};
use brief_syntax::paths::slashed;

/// The commits of a project's repository.
pub struct GitHistory {
    repository: Repository,
    /// The way from the top of the repository to the project, with a `/` at its end unless it is empty.
    prefix: String,
    since: Option<String>,
}

impl GitHistory {
    /// Finds the repository of a project. With `since`, only newer commits count.
    pub fn find(
        system: Arc<dyn System>,
        root: &Path,
        since: Option<&str>,
    ) -> Result<GitHistory, HistoryError> {
        let repository = Repository::find(system, root)?;
        let top = repository.top().unwrap_or(root);
        let below = root.strip_prefix(top).map(slashed).unwrap_or_default();
        let prefix = if below.is_empty() { below } else { format!("{below}/") };
        repository.commit("HEAD")?;
        let since =
            since.map(|since| repository.commit(since)).transpose()?.map(|commit| commit.id);
        Ok(GitHistory { repository, prefix, since })
    }

    /// Returns the newest commits that changed a file of the project, at most `most`, newest first.
    pub fn commits_of(&self, file: &str, most: usize) -> Result<Vec<FileCommit>, HistoryError> {
        self.repository.commits_of(&format!("{}{file}", self.prefix), most)
    }

    fn removal(&self, commit: RemovingCommit) -> Removal {
        let RemovingCommit { id, date, subject, renamed } = commit;
        let renamed = renamed.and_then(|path| Some(path.strip_prefix(&self.prefix)?.to_owned()));
        Removal { commit: id, date, subject, renamed }
    }
}

impl ProjectHistory for GitHistory {
    fn removed_paths(&self, paths: &[String]) -> BTreeMap<String, Removal> {
        let asked: Vec<String> =
            paths.iter().map(|path| format!("{}{path}", self.prefix)).collect();
        // A history that cannot be read tells nothing.
        let found =
            self.repository.removed_paths(&asked, self.since.as_deref()).unwrap_or_default();
        let own = found.into_iter().filter_map(|(path, commit)| {
            Some((path.strip_prefix(&self.prefix)?.to_owned(), self.removal(commit)))
        });
        own.collect()
    }

    fn removed_lines(&self, file: &str) -> Vec<RemovedLine> {
        let file = format!("{}{file}", self.prefix);
        let found = self.repository.removed_lines(&file, self.since.as_deref()).unwrap_or_default();
        let line = |(commit, line)| RemovedLine { removal: self.removal(commit), line };
        found.into_iter().map(line).collect()
    }

    fn file_before(&self, commit: &str, file: &str) -> Option<String> {
        let file = format!("{}{file}", self.prefix);
        self.repository.file_before(commit, &file).ok().flatten()
    }
}
