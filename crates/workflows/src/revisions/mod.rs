//! Two revisions of a project, read from git's objects: nothing is checked out.

mod skill_files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use brief_engine::diff::{
    self, ChangedFile, Cover, DiffPiece, ItemChange, ItemChangeKind, Side, slashed_below,
};
use brief_engine::{
    Catalog, CatalogScope, Dialects, Root, Strangers, System, Target, TargetKind, hosted,
};
use brief_registry::history::{Commit, HistoryError, Repository, Revisions};
use brief_syntax::render::JsonDiagnostics;
use brief_syntax::text::{format_count, group_digits};
use brief_syntax::walk::Ignored;
use brief_syntax::{Diagnostic, Severity};
use brief_system::TreeSystem;
use brief_system::paths::to_slashed;
use similar::TextDiff;

/// Returns the characters of a commit or digest that people read.
pub fn short_id(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

/// The number of paths that a line names.
const PATHS: usize = 5;

/// The time limit of the search for the smallest difference; after it a larger one is taken.
const PATIENCE: Duration = Duration::from_millis(500);

/// A state of a project's repository, and the guidance in it.
pub struct ComparedState {
    tree: TreeSystem,
    /// The commit; `None` for the working tree.
    commit: Option<Commit>,
    pub catalog: Catalog,
}

/// Two states of a project.
pub struct ComparedRevisions {
    /// The top of the repository, absolute.
    pub root: PathBuf,
    /// The directory of the question, below the root and with `/` between names.
    pub part: String,
    pub before: ComparedState,
    pub after: ComparedState,
    /// The files that differ, sorted.
    pub changed: Vec<ChangedFile>,
}

impl ComparedRevisions {
    /// Reads the guidance of two commits or trees of a repository, without that of the user.
    pub fn read_commits(
        repository: &Repository,
        before: &Commit,
        after: &Commit,
    ) -> Result<ComparedRevisions, HistoryError> {
        let root = repository.mount().to_owned();
        let before = ComparedState::read_commit(repository, before, &Dialects::default())?;
        let after = ComparedState::read_commit(repository, after, &Dialects::default())?;
        let changed =
            diff::find_changed_files(&root, &before.tree.seen_files(), &after.tree.seen_files());
        Ok(ComparedRevisions { root, part: String::new(), before, after, changed })
    }

    /// Reads the guidance of two revisions of the repository around the directory `started`, which has no links.
    pub fn read_revisions(
        system: Arc<dyn System>,
        started: &Path,
        revisions: &Revisions,
        dialects: &Dialects,
    ) -> Result<ComparedRevisions, HistoryError> {
        // The user's own files are the same on both sides, so no home directory is read.
        let name = hosted::CLIENT_PATH_VARIABLE;
        let env: BTreeMap<_, _> =
            system.env(name).map(|value| (name.to_owned(), value)).into_iter().collect();
        let repository = Repository::find_enclosing(system, started)?;
        let root = repository.mount().to_owned();
        // A bare repository has no directories besides its top.
        let part = repository.top().and_then(|top| started.strip_prefix(top).ok());
        let part = part.map(to_slashed).unwrap_or_default();
        let (from, to) = match revisions {
            Revisions::Working(from) => (repository.resolve_commit(from)?, None),
            Revisions::Two(from, to) => {
                (repository.resolve_commit(from)?, Some(repository.resolve_commit(to)?))
            }
            Revisions::SinceBase(left, right) => {
                let (left, right) =
                    (repository.resolve_commit(left)?, repository.resolve_commit(right)?);
                (repository.merge_base(&left, &right)?, Some(right))
            }
        };
        let after = match &to {
            Some(to) => repository.open_tree(to, &env)?,
            None => repository.working_tree(&env)?,
        };
        let before = repository.open_tree(&from, &env)?;
        let before = ComparedState::read_tree(before, Some(from), &root, dialects);
        let after = ComparedState::read_tree(after, to, &root, dialects);
        let changed =
            diff::find_changed_files(&root, &before.tree.seen_files(), &after.tree.seen_files());
        Ok(ComparedRevisions { root, part, before, after, changed })
    }

    /// Returns the diagnostics of both states about changed files that are not delivered or were not read.
    pub fn collect_problems(&self) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
        let problems = |state: &ComparedState| {
            let mut diagnostics = state.catalog.diagnostics();
            diagnostics.retain(|diagnostic| {
                let path = slashed_below(&self.root, diagnostic.path());
                let is_changed = || {
                    self.changed
                        .binary_search_by(|changed| changed.path.as_str().cmp(&path))
                        .is_ok()
                };
                diagnostic.code().starts_with("project/")
                    || diagnostic.severity == Severity::Error && is_changed()
            });
            diagnostics
        };
        (problems(&self.before), problems(&self.after))
    }
}

impl ComparedState {
    /// Reads the guidance of a commit, without that of the user.
    pub fn read_commit(
        repository: &Repository,
        commit: &Commit,
        dialects: &Dialects,
    ) -> Result<ComparedState, HistoryError> {
        let tree = repository.open_tree(commit, &BTreeMap::new())?;
        Ok(ComparedState::read_tree(tree, Some(commit.clone()), repository.mount(), dialects))
    }

    /// Reads all guidance. A missing root has none.
    fn read_tree(
        tree: TreeSystem,
        commit: Option<Commit>,
        root: &Path,
        dialects: &Dialects,
    ) -> ComparedState {
        let start = Target::from_slashed("", TargetKind::Directory);
        // Everything in a tree counts, also files in its `.gitignore`.
        let scope = CatalogScope {
            start: &start,
            ignored: Ignored::Visit,
            dialects: dialects.clone(),
            strangers: Strangers::LeftOut,
        };
        let nothing = TreeSystem::empty(root);
        let read = |tree: &TreeSystem| {
            Root::open(tree, root).map(|root| Catalog::read_project(tree, &root, scope.clone()))
        };
        let catalog = read(&tree).or_else(|_| read(&nothing)).expect("an empty tree has its top");
        ComparedState { tree, commit, catalog }
    }

    /// Returns the state as a side of a report.
    pub fn to_side<'s>(&'s self, root: &'s Path, diagnostics: &'s [Diagnostic]) -> Side<'s> {
        let commit = self.commit.as_ref();
        Side {
            revision: commit.map(|commit| commit.revision.as_str()),
            commit: commit.map(|commit| commit.id.as_str()),
            diagnostics: JsonDiagnostics { root, list: diagnostics },
        }
    }

    /// Returns the name in a sentence.
    pub fn name(&self) -> String {
        match &self.commit {
            Some(commit) if commit.id.starts_with(&commit.revision) => {
                short_id(&commit.id).to_owned()
            }
            Some(Commit { revision, id }) if revision.contains("...") => {
                let left = revision.split("...").next().unwrap_or(revision);
                format!("{left} (merge base {})", short_id(id))
            }
            Some(commit) => format!("{} ({})", commit.revision, short_id(&commit.id)),
            None => "the working tree".to_owned(),
        }
    }
}

/// Returns the lines of a change that differ, with some lines around them.
pub fn changed_lines(change: &ItemChange<'_>) -> Vec<String> {
    let text = |piece: Option<&DiffPiece<'_>>| {
        let Some(piece) = piece else { return String::new() };
        let description = match piece.description.trim() {
            "" => String::new(),
            description => format!("description: {description}\n"),
        };
        format!("{description}{}\n", piece.text.trim_end())
    };
    different_lines(&text(change.before.as_ref()), &text(change.after.as_ref()))
}

/// Returns the lines of two texts that differ, with some lines around them.
pub fn different_lines(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before, after);
    let text = diff.unified_diff().to_string();
    let is_head = |line: &&str| line.starts_with("@@");
    // A single hunk needs no position.
    let is_short = text.lines().filter(is_head).count() < 2;
    text.lines().filter(|line| !is_short || !is_head(line)).map(str::to_owned).collect()
}

fn render_location(root: &Path, piece: &DiffPiece<'_>) -> String {
    format!("{}:{}", slashed_below(root, piece.path), piece.line)
}

/// Returns a change in one line: its kind, place, name and tokens.
pub fn change_heading(root: &Path, change: &ItemChange<'_>) -> String {
    let piece = change.piece();
    let word = match change.kind {
        ItemChangeKind::Added => "added",
        ItemChangeKind::Removed => "removed",
        ItemChangeKind::Text => "changed",
        ItemChangeKind::State => piece.state.as_str(),
        ItemChangeKind::Moved => "moved",
        ItemChangeKind::Order => "reordered",
    };
    let tokens = match change.tokens() {
        (before, after) if before == after => format_count(after, "token"),
        (before, after) => format!("{before} -> {}", format_count(after, "token")),
    };
    let place = render_location(root, piece);
    format!("{word:<9} {place}  {} ({}), {tokens}", piece.name, piece.dialect)
}

/// Returns the earlier state, if the text does not show it.
pub fn change_before(root: &Path, change: &ItemChange<'_>) -> Option<String> {
    let (before, after) = (change.before.as_ref()?, change.after.as_ref()?);
    match change.kind {
        ItemChangeKind::Moved => Some(format!("was {}", render_location(root, before))),
        _ if before.state != after.state => {
            Some(format!("was {}, is {}", before.state.as_str(), after.state.as_str()))
        }
        _ => None,
    }
}

/// Describes in few words the files of a change, or the agents that it concerns instead.
pub fn describe_cover(change: &ItemChange<'_>, cover: &Cover) -> String {
    if change.is_on_demand() {
        return "agents that open it".to_owned();
    }
    let files = |count: usize| {
        if count == 1 {
            "1 file".to_owned()
        } else {
            format!("{} files", group_digits(count as u64))
        }
    };
    if cover.parts.iter().any(|part| part.path == "./") {
        return format!("all {}", files(cover.file_count));
    }
    let mut parts: Vec<String> = Vec::new();
    let mut named = 0;
    for part in cover.parts.iter().take(PATHS) {
        named += part.file_count;
        parts.push(match part.path.as_str() {
            path if path.ends_with('/') && cover.parts.len() > 1 => {
                format!("{path} ({})", files(part.file_count))
            }
            path => path.to_owned(),
        });
    }
    let more = match cover.file_count - named {
        0 => String::new(),
        more => format!(" and {} more", group_digits(more as u64)),
    };
    format!("{}: {}{more}", files(cover.file_count), parts.join(", "))
}
