//! A copy of the files that an update of a repository is about, in a temporary directory, and the objects of the result.
//!
//! An update runs there as it would in the project. Its result becomes objects, in a directory of its own for a preview, or in
//! the repository for a branch. The working tree and the index of the repository are never touched.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_profiles::BUILTIN;
use brief_syntax::limits;
use brief_system::{FileKind, ReadError, System, TemporaryDir, TreeFileKind};

use super::head::common_dir;
use super::{FleetMember, FleetSource, FleetSourceForm};
use crate::address::Address;
use crate::extract::{TreeLine, is_commit};
use crate::git::CHATTER;
use crate::history::{Caller, HistoryError, Repository, read_committed_files};
use crate::install::{InstallReport, ProjectPaths};
use crate::lock;
use crate::outputs::ChangeKind;
use crate::outputs::record::{self, is_plain_path};
use crate::source::SourceAddress;

/// The limit for the bytes of all files of a workshop.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The settings with which git would write beside the temporary index.
const QUIET: [&str; 4] = ["-c", "core.splitIndex=false", "-c", "core.untrackedCache=false"];

/// A repository that cannot be updated without its working tree.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkshopError {
    /// The repository was not read.
    #[error("cannot read the repository")]
    Unread,
    /// A source is a path on this machine. The repository only names it, so its files must not be published with an update.
    #[error("the source `{0}` is a local directory; run `brief update` in the repository")]
    Local(String),
    /// The lock has packages, whose files are in no commit.
    #[error(
        "`brief.lock` contains packages, whose files are not in the repository; run `brief update` there"
    )]
    Packages,
    /// A file is in the way of an output.
    #[error("`{0}` exists, and `brief` did not write it; run `brief update` there")]
    Taken(String),
    /// The temporary directory cannot be written.
    #[error("cannot write the temporary directory: {0}")]
    Io(#[from] std::io::Error),
    /// The repository cannot be read or written.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The branch is in the way.
    #[error("{0}")]
    Branch(String),
    /// The server cannot be reached.
    #[error(transparent)]
    Fetch(#[from] crate::error::FetchError),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectStore {
    Temporary,
    Repository,
}

/// A file of the commit.
pub(super) struct TreeFile {
    /// The kind; `None` for a submodule.
    kind: Option<TreeFileKind>,
    size: u64,
}

/// The files of a repository, ready for an update.
pub struct UpdateWorkshop {
    pub(super) system: Arc<dyn System>,
    pub(super) directory: TemporaryDir,
    pub(super) git_dir: PathBuf,
    /// The commit that the update starts from.
    pub(super) commit: String,
    files: BTreeMap<String, TreeFile>,
    /// True if the written files are in version control.
    keeps_outputs: bool,
}

impl UpdateWorkshop {
    /// Lays out the files of a member that an update can read or change.
    pub fn lay_out(
        system: &Arc<dyn System>,
        member: &FleetMember,
    ) -> Result<UpdateWorkshop, WorkshopError> {
        let (Some(git_dir), Some(commit)) = (&member.git_dir, &member.commit) else {
            return Err(WorkshopError::Unread);
        };
        let mut sources = member.facts.sources.iter();
        if let Some(source) = sources.find(|source| is_local(system.as_ref(), source)) {
            return Err(WorkshopError::Local(source.name.clone()));
        }
        let args = ["ls-tree", "-r", "-l", "-z", "--full-tree", commit];
        let text = Caller::from_git_dir(system, git_dir).read_output(
            &args,
            "",
            limits::TREE_LISTING_BYTES,
        )?;
        let mut workshop = UpdateWorkshop {
            system: Arc::clone(system),
            directory: system.temporary_dir()?,
            git_dir: git_dir.clone(),
            commit: commit.clone(),
            files: tree_files(&text),
            keeps_outputs: true,
        };
        workshop.write_project_files()?;
        Ok(workshop)
    }

    /// Returns the directories of the project in the workshop.
    pub fn project(&self) -> ProjectPaths {
        ProjectPaths::from_root(&self.directory.path().join("project"))
    }

    /// Returns the commit that the update starts from.
    pub fn commit(&self) -> &str {
        &self.commit
    }

    fn write_project_files(&mut self) -> Result<(), WorkshopError> {
        let top = self.directory.path().join("project");
        self.system.create_dir(&top)?;
        let text = read_committed_files(
            &self.system,
            &self.git_dir,
            &self.commit,
            &[lock::FILE_NAME],
            MOST_BYTES,
        )?;
        let text = text.into_iter().flatten().next().unwrap_or_default();
        let lock = lock::Lock::parse(&String::from_utf8_lossy(&text));
        let lock = lock.map_err(|error| HistoryError::Git(error.to_string()))?;
        if !lock.dependencies.is_empty() {
            return Err(WorkshopError::Packages);
        }
        let outputs: BTreeSet<&str> =
            lock.items.values().flat_map(|item| item.files.keys().map(String::as_str)).collect();
        self.keeps_outputs =
            outputs.is_empty() || outputs.iter().any(|path| self.files.contains_key(*path));
        let first = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
        let mut tops: BTreeSet<String> =
            BUILTIN.project.iter().map(|place| first(&place.path)).collect();
        tops.extend(outputs.iter().map(|path| first(path)));
        tops.extend(lock.shared.keys().map(|path| first(path)));
        tops.insert(record::DIRECTORY.to_owned());
        let is_wanted = |path: &String, file: &TreeFile| {
            let is_near = !path.contains('/') || tops.contains(&first(path));
            let is_file = matches!(file.kind, Some(TreeFileKind::File | TreeFileKind::Program));
            is_near && is_file && file.size <= limits::FILE_BYTES && is_safe(path)
        };
        let wanted = self.files.iter().filter(|(path, file)| is_wanted(path, file));
        let wanted: Vec<(&str, bool)> = wanted
            .map(|(path, file)| (path.as_str(), file.kind == Some(TreeFileKind::Program)))
            .collect();
        let paths: Vec<&str> = wanted.iter().map(|(path, _)| *path).collect();
        let contents =
            read_committed_files(&self.system, &self.git_dir, &self.commit, &paths, MOST_BYTES)?;
        for ((path, is_program), content) in wanted.into_iter().zip(contents) {
            let Some(content) = content else { continue };
            let place = top.join(path);
            if let Some(parent) = place.parent() {
                self.system.create_dir(parent)?;
            }
            if is_program {
                self.system.create_program(&place, &content)?;
            } else {
                self.system.create_staged_file(&place, &content)?;
            }
        }
        Ok(())
    }

    /// Writes the result of an update as objects, and returns the tree; `None` if nothing of the commit changes.
    pub(super) fn write_tree(
        &self,
        report: &InstallReport,
        store: ObjectStore,
    ) -> Result<Option<String>, WorkshopError> {
        let git = self.git_caller(store)?;
        let top = self.directory.path().join("project");
        let mut paths: BTreeSet<&str> = BTreeSet::from([lock::FILE_NAME, "brief.toml"]);
        if self.keeps_outputs {
            for change in &report.changes {
                if change.kind == ChangeKind::Created && self.files.contains_key(&change.path) {
                    return Err(WorkshopError::Taken(change.path.clone()));
                }
                paths.insert(&change.path);
            }
        }
        paths.retain(|path| is_safe(path));
        let mut there = Vec::new();
        let mut gone = Vec::new();
        for path in paths {
            let place = top.join(path);
            match self.system.resolve(&place) {
                Ok(found) if found.kind == FileKind::File => {
                    let is_program = self.system.is_executable(&place).unwrap_or(false);
                    there.push((path, if is_program { "100755" } else { "100644" }));
                }
                _ if self.files.contains_key(path) => gone.push(path),
                _ => {}
            }
        }
        let input: Vec<u8> = there
            .iter()
            .flat_map(|(path, _)| format!("{}\n", top.join(path).display()).into_bytes())
            .collect();
        let args = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
        let ids = self.run_git(&git, &args, input)?;
        let ids: Vec<&str> = ids.lines().collect();
        if ids.len() != there.len() || !ids.iter().all(|id| is_commit(id)) {
            return Err(HistoryError::Puzzled("hash-object").into());
        }
        let mut changes = Vec::new();
        for ((path, mode), id) in there.iter().zip(ids) {
            changes.extend_from_slice(format!("{mode} {id}\t{path}\0").as_bytes());
        }
        for path in gone {
            let none = "0".repeat(self.commit.len());
            changes.extend_from_slice(format!("0 {none}\t{path}\0").as_bytes());
        }
        self.run_git(&git, &["read-tree", &self.commit], Vec::new())?;
        self.run_git(&git, &["update-index", "-z", "--index-info"], changes)?;
        let tree = self.run_git(&git, &["write-tree"], Vec::new())?.trim().to_owned();
        let before = format!("{}^{{tree}}", self.commit);
        let before = self.run_git(&git, &["rev-parse", "--verify", &before], Vec::new())?;
        if !is_commit(&tree) {
            return Err(HistoryError::Puzzled("write-tree").into());
        }
        Ok((before.trim() != tree).then_some(tree))
    }

    /// Returns the tree of a preview, which the repository of [`UpdateWorkshop::preview_repository`] has.
    pub fn preview_tree(&self, report: &InstallReport) -> Result<Option<String>, WorkshopError> {
        self.write_tree(report, ObjectStore::Temporary)
    }

    /// Returns the repository with the objects of a preview.
    pub fn preview_repository(&self) -> Result<Repository, WorkshopError> {
        Ok(Repository::of_caller(self.git_caller(ObjectStore::Temporary)?))
    }

    /// Runs git with the temporary index.
    pub(super) fn run_git(
        &self,
        git: &Caller,
        args: &[&str],
        input: Vec<u8>,
    ) -> Result<String, HistoryError> {
        let args = [&QUIET[..], args].concat();
        let mut call = git.build_call(&args, CHATTER.max(input.len() * 2));
        call = call.with_env("GIT_INDEX_FILE", self.directory.path().join("index"));
        call.input = input;
        Ok(String::from_utf8_lossy(&git.expect_output(&call)?).into_owned())
    }

    /// Returns git for the repository, with the place for new objects.
    pub(super) fn git_caller(&self, store: ObjectStore) -> Result<Caller, WorkshopError> {
        let git = Caller::from_git_dir(&self.system, &self.git_dir);
        if store == ObjectStore::Repository {
            return Ok(git);
        }
        let objects = self.directory.path().join("objects");
        let alternates = objects.join("info").join("alternates");
        if matches!(self.system.read(&alternates, limits::FILE_BYTES), Err(ReadError::Missing)) {
            self.system.create_dir(&objects.join("info"))?;
            let own = self.objects_directory()?;
            self.system.create_staged_file(&alternates, format!("{own}\n").as_bytes())?;
        }
        Ok(Caller { objects: Some(objects), ..git })
    }

    /// Returns the directory with the repository's objects, as a line of `alternates`.
    pub(super) fn objects_directory(&self) -> Result<String, WorkshopError> {
        let own = common_dir(self.system.as_ref(), &self.git_dir).join("objects");
        let own = self.system.resolve_dir(&own)?;
        let text =
            own.to_str().filter(|text| !text.contains(['\n', '"']) && !text.starts_with('#'));
        let text = text.ok_or_else(|| {
            WorkshopError::Branch("its path has a character that git cannot handle".to_owned())
        })?;
        Ok(text.to_owned())
    }
}

/// Returns whether a source is a directory or a repository on this machine.
fn is_local(system: &dyn System, source: &FleetSource) -> bool {
    match source.form {
        FleetSourceForm::Directory => true,
        FleetSourceForm::Oci => source.address.starts_with("oci-layout:"),
        FleetSourceForm::Git => {
            match SourceAddress::parse_added(&source.address, Path::new("/"), system) {
                Ok(SourceAddress::Git(git)) => match git.parse_address() {
                    Ok(Address::Url { scheme, .. }) => scheme == "file",
                    Ok(Address::Remote(_)) => false,
                    Err(_) => true,
                },
                _ => true,
            }
        }
    }
}

/// Returns whether a path can be laid out and written down for git.
fn is_safe(path: &str) -> bool {
    let plain =
        path.strip_prefix(record::DIRECTORY).map_or(path, |rest| rest.trim_start_matches('/'));
    is_plain_path(plain) && !path.contains(['\n', '"']) && Path::new(path).is_relative()
}

/// Reads the output of `ls-tree -l -z`. Names that are not text are left out.
pub(super) fn tree_files(text: &[u8]) -> BTreeMap<String, TreeFile> {
    let file = |line: TreeLine<'_>| {
        let file = TreeFile { kind: line.kind(), size: line.size.unwrap_or(u64::MAX) };
        Some((std::str::from_utf8(line.name).ok()?.to_owned(), file))
    };
    text.split(|&byte| byte == 0).filter_map(TreeLine::parse).filter_map(file).collect()
}
