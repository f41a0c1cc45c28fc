//! The history of a project for the checks of its texts: git's, read by the crate that calls git.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_checks::references::{ProjectHistory, Removal, RemovedLine};
use brief_engine::System;
use brief_registry::history::{FileCommit, HistoryError, RemovingCommit, Repository};
use brief_syntax::Source;
use brief_system::paths::to_slashed;

/// The commits of a project's repository.
pub struct GitHistory {
    repository: Repository,
    /// The way from the top of the repository to the project, with a `/` at its end unless it is empty.
    prefix: String,
    since: Option<String>,
    /// The commit in which the changes since then begin.
    base: Option<String>,
    /// The files that were compared with it, and whether they differ.
    compared: RefCell<BTreeMap<PathBuf, bool>>,
}

impl GitHistory {
    /// Finds the repository of a project. With `since`, only newer commits count.
    pub fn open_project(
        system: Arc<dyn System>,
        root: &Path,
        since: Option<&str>,
    ) -> Result<GitHistory, HistoryError> {
        let repository = Repository::find_enclosing(system, root)?;
        let top = repository.top().unwrap_or(root);
        let below = root.strip_prefix(top).map(to_slashed).unwrap_or_default();
        let prefix = if below.is_empty() { below } else { format!("{below}/") };
        let head = repository.resolve_commit("HEAD")?;
        let since = since.map(|since| repository.resolve_commit(since)).transpose()?;
        let base = since.as_ref().map(|since| repository.merge_base(since, &head)).transpose()?;
        let (since, base) = (since.map(|commit| commit.id), base.map(|commit| commit.id));
        Ok(GitHistory { repository, prefix, since, base, compared: RefCell::default() })
    }

    /// Returns whether a text of the project is new or differs since the commit that [`GitHistory::open_project`] was given: by
    /// commits that only `HEAD` has, or in the working tree.
    pub fn has_changed(&self, root: &Path, source: &Source) -> bool {
        let Some(base) = &self.base else { return true };
        let Ok(below) = source.path().strip_prefix(root) else { return true };
        *self.compared.borrow_mut().entry(below.to_owned()).or_insert_with(|| {
            let file = format!("{}{}", self.prefix, to_slashed(below));
            let before = self.repository.file_at(base, &file).ok().flatten();
            // git ends what it prints with a line break of its own.
            let same =
                |before: String| before.strip_suffix('\n').unwrap_or(&before).replace("\r\n", "\n");
            before.map(same) != Some(source.text().replace("\r\n", "\n"))
        })
    }

    /// Returns the newest commits that changed a file of the project, at most `most`, newest first.
    pub fn commits_of(&self, file: &str, most: usize) -> Result<Vec<FileCommit>, HistoryError> {
        self.repository.commits_of(&format!("{}{file}", self.prefix), most)
    }

    fn to_removal(&self, commit: RemovingCommit) -> Removal {
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
            Some((path.strip_prefix(&self.prefix)?.to_owned(), self.to_removal(commit)))
        });
        own.collect()
    }

    fn removed_lines(&self, file: &str) -> Vec<RemovedLine> {
        let file = format!("{}{file}", self.prefix);
        let found = self.repository.removed_lines(&file, self.since.as_deref()).unwrap_or_default();
        let line = |(commit, line)| RemovedLine { removal: self.to_removal(commit), line };
        found.into_iter().map(line).collect()
    }

    fn file_before(&self, commit: &str, file: &str) -> Option<String> {
        let file = format!("{}{file}", self.prefix);
        self.repository.file_before(commit, &file).ok().flatten()
    }
}

/// The number of commits, along first parents, that a check looks at without being asked for more: a walk over ten
/// thousand takes longer than the rest of the check.
const RECENT: usize = 1_000;

/// The history of a project that is opened with the first question. A project where nothing is in doubt starts no git.
pub struct LazyHistory {
    system: Arc<dyn System>,
    root: PathBuf,
    is_recent: bool,
    opened: OnceCell<Option<GitHistory>>,
}

impl LazyHistory {
    /// Makes the history of the project at `root`, which may have none.
    pub fn with_all_commits(system: Arc<dyn System>, root: &Path) -> LazyHistory {
        LazyHistory { system, root: root.to_owned(), is_recent: false, opened: OnceCell::new() }
    }

    /// Makes the newest part of the history: what the last thousand commits have done.
    pub fn with_recent_commits(system: Arc<dyn System>, root: &Path) -> LazyHistory {
        LazyHistory { is_recent: true, ..LazyHistory::with_all_commits(system, root) }
    }

    fn open_history(&self) -> Option<&GitHistory> {
        let open = || {
            let mut history =
                GitHistory::open_project(Arc::clone(&self.system), &self.root, None).ok()?;
            if self.is_recent {
                // A shorter history has no such commit, and is whole.
                let before = history.repository.resolve_commit(&format!("HEAD~{RECENT}")).ok();
                history.since = before.map(|commit| commit.id);
            }
            Some(history)
        };
        self.opened.get_or_init(open).as_ref()
    }
}

impl ProjectHistory for LazyHistory {
    fn removed_paths(&self, paths: &[String]) -> BTreeMap<String, Removal> {
        self.open_history().map(|history| history.removed_paths(paths)).unwrap_or_default()
    }

    fn removed_lines(&self, file: &str) -> Vec<RemovedLine> {
        self.open_history().map(|history| history.removed_lines(file)).unwrap_or_default()
    }

    fn file_before(&self, commit: &str, file: &str) -> Option<String> {
        self.open_history()?.file_before(commit, file)
    }
}
