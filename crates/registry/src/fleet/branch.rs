//! The branch with an update of a repository: objects and one reference, and nothing else.
//!
//! A branch is ours if its last commit names its own tree in its message. A commit that was added or amended by others has another tree
//! or no such line, so their work is never replaced.

use std::path::PathBuf;

use brief_syntax::text::visible_line;

use super::find::FleetPlace;
use super::head::common_dir;
use super::links::refuse_links;
use super::push::BranchPush;
use super::workshop::{ObjectStore, UpdateWorkshop, WorkshopError};
use crate::cache::Cache;
use crate::cache_slot::{CONFIG, LONG_CONFIG};
use crate::error::FetchError;
use crate::extract::is_commit;
use crate::git::CHATTER;
use crate::history::{Caller, HistoryError};
use crate::install::InstallReport;
use crate::source::{GitSource, SourceAddress, check_reference};

/// The line of a message by which a branch is known as ours.
const MARK: &str = "Brief-Tree: ";

/// The limit for the bytes of a commit that is looked at.
const COMMIT_BYTES: usize = 1024 * 1024;

/// A branch with an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateBranch {
    pub name: String,
    /// The message of the commit, without the line by which it is known.
    pub message: String,
}

/// The end of writing a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchState {
    /// The branch is written: the commit.
    Written(String),
    /// The branch had this content already: the commit.
    Current(String),
    Nothing,
}

impl BranchState {
    /// Returns the commit, if there is one.
    pub fn commit(&self) -> Option<&str> {
        match self {
            BranchState::Written(commit) | BranchState::Current(commit) => Some(commit),
            BranchState::Nothing => None,
        }
    }
}

impl UpdateBranch {
    /// Creates a branch for the update of a name.
    pub fn new(name: &str, message: String) -> UpdateBranch {
        let plain = |sign: char| {
            if sign.is_ascii_alphanumeric() || "-_.".contains(sign) { sign } else { '-' }
        };
        let name: String = name.chars().map(plain).collect();
        let name = format!("brief/update-{}", name.trim_matches(['-', '.']));
        let is_right = check_reference(&name).is_ok();
        let name = if is_right { name } else { "brief/update-guidance".to_owned() };
        UpdateBranch { name, message }
    }

    fn reference_name(&self) -> String {
        format!("refs/heads/{}", self.name)
    }

    /// Writes the branch into the repository, from the commit that the workshop started with. A branch of others is refused.
    pub fn write_branch(
        &self,
        workshop: &UpdateWorkshop,
        report: &InstallReport,
    ) -> Result<BranchState, WorkshopError> {
        refuse_links(workshop.system.as_ref(), &workshop.git_dir, &self.reference_name())?;
        let git = workshop.git_caller(ObjectStore::Repository)?;
        let known = known_commit(&git, &self.reference_name())?;
        if known.as_ref().is_some_and(|known| !known.is_ours) {
            return Err(self.taken_error("the repository"));
        }
        self.refuse_if_checked_out(workshop, &git)?;
        let Some(tree) = workshop.write_tree(report, ObjectStore::Repository)? else {
            return Ok(BranchState::Nothing);
        };
        if let Some(known) =
            known.as_ref().filter(|known| known.matches_tree(&tree, &workshop.commit))
        {
            return Ok(BranchState::Current(known.id.clone()));
        }
        let commit = self.commit_tree(workshop, &git, &tree)?;
        let none = "0".repeat(commit.len());
        let old = known.map_or(none, |known| known.id);
        // The branch is replaced only while it is what was looked at; a name that leads to another branch is not followed.
        let args = ["update-ref", "--no-deref", &self.reference_name(), &commit, &old];
        let outcome = workshop.run_git(&git, &args, Vec::new());
        // A run that was interrupted may have written it all the same.
        if outcome.is_err() && !self.leads_to(workshop, &commit) {
            outcome?;
        }
        Ok(BranchState::Written(commit))
    }

    /// Returns whether the branch is at a commit, by its file.
    fn leads_to(&self, workshop: &UpdateWorkshop, commit: &str) -> bool {
        let system = workshop.system.as_ref();
        let file = common_dir(system, &workshop.git_dir).join(self.reference_name());
        system
            .read(&file, CHATTER as u64)
            .is_ok_and(|bytes| bytes.trim_ascii() == commit.as_bytes())
    }

    fn taken_error(&self, place: &str) -> WorkshopError {
        WorkshopError::Branch(format!(
            "{place} has a branch `{}` with commits that brief did not make; rename or remove it",
            self.name
        ))
    }

    fn commit_tree(
        &self,
        workshop: &UpdateWorkshop,
        git: &Caller,
        tree: &str,
    ) -> Result<String, WorkshopError> {
        let message = format!("{}\n\n{MARK}{tree}\n", self.message.trim_end());
        let args = ["commit-tree", "--no-gpg-sign", "-p", &workshop.commit, tree];
        let commit = workshop.run_git(git, &args, message.into_bytes())?.trim().to_owned();
        if !is_commit(&commit) {
            return Err(HistoryError::Puzzled("commit-tree").into());
        }
        Ok(commit)
    }

    /// Refuses a branch that a working tree has checked out: its files would look changed.
    fn refuse_if_checked_out(
        &self,
        workshop: &UpdateWorkshop,
        git: &Caller,
    ) -> Result<(), WorkshopError> {
        let list = workshop.run_git(git, &["worktree", "list", "--porcelain"], Vec::new())?;
        let line = format!("branch {}", self.reference_name());
        if list.lines().any(|found| found == line) {
            let name = &self.name;
            let problem = format!("the branch `{name}` is checked out; switch to another one");
            return Err(WorkshopError::Branch(problem));
        }
        Ok(())
    }

    /// Pushes the branch to the server of the repository: an address, or `origin` of a clone. Without a branch in the repository (an
    /// address has none), its commit is made for this.
    ///
    /// The settings of the repository do not count, only those of the user, and no hook or program of a repository on this machine runs. A branch of others on the server is refused, and one that moves meanwhile
    /// stays.
    pub fn push_branch(
        &self,
        workshop: &UpdateWorkshop,
        report: &InstallReport,
        place: &FleetPlace,
        written: Option<&str>,
    ) -> Result<BranchState, WorkshopError> {
        let source = resolve_push_target(workshop, place)?;
        let address = source.check().map_err(FetchError::from)?;
        let shown = source.to_string();
        let cache = Cache::of_user(workshop.system.as_ref());
        let cache =
            cache.ok_or_else(|| WorkshopError::Branch("no directory for the cache".to_owned()))?;
        let there = GitSource { reference: Some(self.reference_name()), ..source.clone() };
        let known = match cache.fetch_repository(&there) {
            Ok((git_dir, commit)) => {
                let known =
                    known_commit(&Caller::from_git_dir(&workshop.system, &git_dir), &commit)?;
                let known = known.filter(|known| known.is_ours);
                Some(known.ok_or_else(|| self.taken_error("the server"))?)
            }
            Err(FetchError::ReferenceMissing { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let commit = match written {
            Some(written) => written.to_owned(),
            None => {
                let git = workshop.git_caller(ObjectStore::Temporary)?;
                let Some(tree) = workshop.write_tree(report, ObjectStore::Temporary)? else {
                    return Ok(BranchState::Nothing);
                };
                match &known {
                    Some(known) if known.matches_tree(&tree, &workshop.commit) => {
                        return Ok(BranchState::Current(known.id.clone()));
                    }
                    _ => self.commit_tree(workshop, &git, &tree)?,
                }
            }
        };
        if known.as_ref().is_some_and(|known| known.id == commit) {
            return Ok(BranchState::Current(commit));
        }
        let expected = known.map_or(String::new(), |known| known.id);
        let reference = self.reference_name();
        let push = BranchPush {
            pusher: create_push_repository(workshop)?,
            reference: reference.clone(),
            lease: format!("--force-with-lease={reference}:{expected}"),
            update: format!("{commit}:{reference}"),
        };
        push.push_to_address(workshop, &shown, &address)?;
        Ok(BranchState::Written(commit))
    }
}

/// Returns the address to push to.
fn resolve_push_target(
    workshop: &UpdateWorkshop,
    place: &FleetPlace,
) -> Result<GitSource, WorkshopError> {
    let path = match place {
        FleetPlace::Address(source) => {
            return Ok(GitSource { reference: None, ..source.clone() });
        }
        FleetPlace::Path(path) => path,
        FleetPlace::Wrong { .. } => return Err(WorkshopError::Unread),
    };
    let git = workshop.git_caller(ObjectStore::Repository)?;
    let config = common_dir(workshop.system.as_ref(), &workshop.git_dir).join("config");
    let config = config.to_string_lossy().into_owned();
    let ask = |key: &str| {
        let args = ["config", "--file", &config, "--no-includes", "--get", key];
        workshop.run_git(&git, &args, Vec::new()).ok()
    };
    let found = ask("remote.origin.pushurl").or_else(|| ask("remote.origin.url"));
    let url = found.map(|found| found.trim().to_owned()).filter(|url| !url.is_empty());
    let url =
        url.ok_or_else(|| WorkshopError::Branch("has no remote `origin` to push to".to_owned()))?;
    let parsed = SourceAddress::parse(&url, path, workshop.system.as_ref());
    match parsed.map_err(FetchError::from)? {
        SourceAddress::Git(source) => Ok(GitSource { reference: None, ..source }),
        SourceAddress::Directory(directory) => {
            let found = workshop.system.resolve_dir(&path.join(&directory));
            let directory = found.map_err(|error| {
                let (directory, reason) = (directory.display().to_string(), error.to_string());
                WorkshopError::Branch(format!(
                    "cannot push to `origin`, `{}`: {}",
                    visible_line(&directory),
                    visible_line(&reason)
                ))
            })?;
            let url = format!("file://{}", directory.display());
            Ok(GitSource { url, reference: None, subpath: None })
        }
        SourceAddress::Oci(source) => Err(WorkshopError::Branch(format!(
            "`{}` is not a git repository",
            visible_line(&source.to_string())
        ))),
    }
}

/// Makes the repository that pushes, with none of the settings of the member, and with the objects of the member and of the workshop.
fn create_push_repository(workshop: &UpdateWorkshop) -> Result<PathBuf, WorkshopError> {
    let system = workshop.system.as_ref();
    let pusher = workshop.directory.path().join("pusher");
    let own = workshop.objects_directory()?;
    let temporary = workshop.directory.path().join("objects");
    let alternates = match system.resolve_dir(&temporary) {
        Ok(temporary) => format!("{own}\n{}\n", temporary.display()),
        Err(_) => format!("{own}\n"),
    };
    system.create_dir(&pusher.join("refs"))?;
    system.create_dir(&pusher.join("objects/info"))?;
    let config = if workshop.commit.len() == 64 { LONG_CONFIG } else { CONFIG };
    let mut files = vec![
        ("HEAD", b"ref: refs/heads/main\n".to_vec()),
        ("config", config.as_bytes().to_vec()),
        ("objects/info/alternates", alternates.into_bytes()),
    ];
    let shallow = common_dir(system, &workshop.git_dir).join("shallow");
    // A clone without its history pushes what it has on top of it.
    files.extend(system.read(&shallow, CHATTER as u64).ok().map(|bytes| ("shallow", bytes)));
    for (name, bytes) in files {
        system.create_staged_file(&pusher.join(name), &bytes)?;
    }
    Ok(pusher)
}

/// The tip of a branch.
struct KnownCommit {
    id: String,
    tree: String,
    parents: Vec<String>,
    is_ours: bool,
}

impl KnownCommit {
    /// Returns whether the commit has this tree and this parent alone.
    fn matches_tree(&self, tree: &str, parent: &str) -> bool {
        self.tree == tree && self.parents == [parent]
    }
}

/// Reads the commit of a branch; `None` if there is none.
fn known_commit(git: &Caller, name: &str) -> Result<Option<KnownCommit>, WorkshopError> {
    let output = git.read_output(&["cat-file", "--batch"], format!("{name}\n"), COMMIT_BYTES)?;
    let output = String::from_utf8_lossy(&output);
    let Some((header, body)) = output.split_once('\n') else {
        return Err(HistoryError::Puzzled("cat-file").into());
    };
    let mut words = header.split(' ');
    let (Some(id), Some("commit")) = (words.next(), words.next()) else {
        // A tag or a blob under the name of a branch is nothing of ours.
        if header.ends_with(" missing") {
            return Ok(None);
        }
        return Err(WorkshopError::Branch("the branch does not point to a commit".to_owned()));
    };
    let (head, message) = body.split_once("\n\n").unwrap_or((body, ""));
    let of = |key: &str| {
        let values = head.lines().filter_map(|line| line.strip_prefix(key));
        values.map(str::to_owned).collect::<Vec<_>>()
    };
    let tree = of("tree ").into_iter().next().unwrap_or_default();
    let is_ours = message.lines().any(|line| line.strip_prefix(MARK) == Some(tree.as_str()));
    let (id, parents) = (id.to_owned(), of("parent "));
    let is_ours = is_ours && parents.len() == 1;
    Ok(Some(KnownCommit { id, tree, parents, is_ours }))
}
