//! The cache slot of one source: its directory in the cache.
//!
//! Files are prepared in a staged directory and put in place by a rename. A file in place is never changed.

use std::io;
use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_system::System;

use crate::access::GitAccess;
use crate::address::{Address, one_line};
use crate::cache::{Cache, Checkout, Event, Network};
use crate::error::FetchError;
use crate::extract::{Extraction, is_commit};
use crate::git::{CHATTER, Git, GitOutcome, GitRequest};
use crate::latest::{self, Latest};
use crate::oci::Provenance;
use crate::source::GitSource;
use crate::staged::{RepositoryDir, StagedDir, fingerprint_text, io_error};

/// The reference that git writes for a fetched commit.
const FETCHED: &str = "refs/brief/fetched";

/// The configuration of a repository with one fetched commit, in the oldest format of git.
pub(crate) const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";

/// The same for a repository with SHA-256 object names.
pub(crate) const LONG_CONFIG: &str = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n\
                           [extensions]\n\tobjectformat = sha256\n";

/// A commit that is not known yet, in a repository with SHA-1 object names.
const NO_COMMIT: &str = "";

/// Messages of git that mean: ask the server for its references before a fetch.
const NEEDS_A_LOOK: [&str; 3] = ["find remote ref", "mismatched algorithms", "object format"];

/// The limit for the bytes of the server's tag list.
const TAGS_BYTES: usize = 16 * 1024 * 1024;

pub(crate) struct CacheSlot<'a> {
    directory: RepositoryDir<'a>,
    source: &'a GitSource,
    /// The address that git gets, without credentials.
    address: String,
    access: GitAccess,
    /// The redacted address of the source.
    pub(crate) shown: String,
}

/// The state of a commit in the cache.
pub(crate) enum CachedCommit {
    /// The files of the commit.
    Files(Checkout),
    /// A repository that git cannot read.
    Damaged(FetchError),
    Nothing,
}

impl CachedCommit {
    pub(crate) fn into_checkout(self, repository: &str) -> Result<Checkout, FetchError> {
        match self {
            CachedCommit::Files(checkout) => Ok(checkout),
            CachedCommit::Damaged(error) => Err(error),
            CachedCommit::Nothing => {
                Err(FetchError::NotCached { repository: repository.to_owned() })
            }
        }
    }
}

/// A branch or tag on the server.
struct RemoteRef {
    /// The full name of the reference.
    name: String,
    /// The commit, if the server named one.
    commit: String,
}

impl<'a> CacheSlot<'a> {
    pub(crate) fn new(cache: &'a Cache<'_>, source: &'a GitSource, address: &Address) -> Self {
        let bare = address.bare_address();
        CacheSlot {
            directory: RepositoryDir::new(cache, &cache.directory, &address.slug(), &bare),
            source,
            address: bare,
            access: GitAccess::from_address(address),
            shown: source.to_string(),
        }
    }

    fn system(&self) -> &dyn System {
        self.directory.system
    }

    fn git(&self) -> Git<'_> {
        Git { system: self.system(), directory: &self.directory.path, repository: &self.shown }
    }

    fn reference(&self) -> &str {
        self.source.reference.as_deref().unwrap_or("HEAD")
    }

    /// Returns the commit that the source names with all its digits, if it does.
    pub(crate) fn named_commit(&self) -> Option<String> {
        let reference = self.source.reference.as_deref().map(str::to_ascii_lowercase);
        reference.filter(|reference| is_commit(reference))
    }

    fn repository_path(&self, commit: &str) -> PathBuf {
        self.directory.path.join("commits").join(commit)
    }

    fn tree_path(&self, commit: &str) -> PathBuf {
        let name = match &self.source.subpath {
            Some(subpath) => format!("{commit}-{}", &fingerprint_text(subpath)[..12]),
            None => commit.to_owned(),
        };
        self.directory.path.join("trees").join(name)
    }

    pub(crate) fn prepare_directories(&self) -> Result<(), FetchError> {
        self.directory.prepare_directories(&["refs", "commits", "trees"])
    }

    /// Refuses an unencrypted address that the user's git settings rewrite to another machine.
    fn stay_here(&self) -> Result<(), FetchError> {
        if !self.access.is_open() {
            return Ok(());
        }
        let request = GitRequest::new("ls-remote").args(["--get-url", "--", &self.address]);
        let output = self.git().expect_output(request)?;
        let url = String::from_utf8_lossy(&output).trim().to_owned();
        let led = GitSource { url, reference: None, subpath: None };
        led.address().map(drop).map_err(FetchError::from)
    }

    /// Returns the files of one commit. Fetches it if it is not in the cache.
    pub(crate) fn checkout_commit(
        &self,
        commit: &str,
        network: Network,
    ) -> Result<Checkout, FetchError> {
        let kept = match (self.find_cached_commit(commit)?, network) {
            (CachedCommit::Files(checkout), _) => return Ok(checkout),
            (kept, Network::Offline) => return kept.into_checkout(&self.shown),
            (kept, Network::Online) => kept,
        };
        self.prepare_directories()?;
        self.fetch_commit(commit, &kept)?;
        self.extract_commit(commit)
    }

    /// Returns the repository of the reference's commit. Fetches it if it is not in the cache.
    pub(crate) fn bare_repository(&self) -> Result<(PathBuf, String), FetchError> {
        self.prepare_directories()?;
        let has = |commit: &str| self.system().open_dir(&self.repository_path(commit)).is_ok();
        let commit = if let Some(commit) = self.named_commit() {
            if !has(&commit) {
                self.fetch_commit(&commit, &CachedCommit::Nothing)?;
            }
            commit
        } else {
            let found = self.look_up()?;
            if has(&found.commit) {
                found.commit
            } else {
                self.fetch_reference(&found, &CachedCommit::Nothing)?
            }
        };
        Ok((self.repository_path(&commit), commit))
    }

    /// Looks the reference up, and fetches its commit if it is not in the cache.
    pub(crate) fn checkout_reference(&self) -> Result<Checkout, FetchError> {
        if let Some(checkout) = self.checkout_head()? {
            return Ok(checkout);
        }
        let found = self.look_up()?;
        let checkout = match self.find_cached_commit(&found.commit)? {
            CachedCommit::Files(checkout) => checkout,
            kept => {
                let commit = self.fetch_reference(&found, &kept)?;
                self.extract_commit(&commit)?
            }
        };
        self.directory.record_commit(self.reference(), &checkout.commit)?;
        Ok(checkout)
    }

    /// Fetches the server's default branch when the cache has nothing of the source yet, which saves a
    /// request for its commit. Returns `None` when that request is needed after all.
    fn checkout_head(&self) -> Result<Option<Checkout>, FetchError> {
        if self.source.reference.is_some()
            || !matches!(self.find_earlier_commit()?, CachedCommit::Nothing)
        {
            return Ok(None);
        }
        self.stay_here()?;
        self.directory.notify_observer(Event::Asking { repository: &self.shown });
        let staged = self.new_repository(NO_COMMIT)?;
        let fetched = self.git().expect_output(self.build_fetch_request(
            &staged.path,
            &[&format!("+HEAD:{FETCHED}")],
            true,
        ));
        match fetched {
            Ok(_) => {}
            // The repository has no commits, or SHA-256 object names; the server says which.
            Err(error) if NEEDS_A_LOOK.iter().any(|said| error.to_string().contains(said)) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        let Some(commit) = self.read_fetched_object(&staged.path) else { return Ok(None) };
        let commit = commit.as_str();
        self.directory.notify_observer(Event::Fetching { repository: &self.shown, commit });
        let checkout = match self.find_cached_commit(commit)? {
            CachedCommit::Files(checkout) => checkout,
            kept => {
                self.store_repository(staged, commit, &kept)?;
                self.extract_commit(commit)?
            }
        };
        self.directory.record_commit(self.reference(), &checkout.commit)?;
        Ok(Some(checkout))
    }

    /// Returns the files of a commit as far as the cache has them.
    fn find_cached_commit(&self, commit: &str) -> Result<CachedCommit, FetchError> {
        if let Some(checkout) = self.find_cached_checkout(commit)? {
            return Ok(CachedCommit::Files(checkout));
        }
        if self.system().open_dir(&self.repository_path(commit)).is_err() {
            return Ok(CachedCommit::Nothing);
        }
        match self.extract_commit(commit) {
            Err(error @ (FetchError::Git { .. } | FetchError::Puzzled { .. })) => {
                Ok(CachedCommit::Damaged(error))
            }
            other => other.map(CachedCommit::Files),
        }
    }

    /// Returns the files of the commit that an earlier run resolved.
    pub(crate) fn find_earlier_commit(&self) -> Result<CachedCommit, FetchError> {
        match self.directory.find_recorded_commit(self.reference()) {
            Some(commit) if is_commit(&commit) => self.find_cached_commit(&commit),
            _ => Ok(CachedCommit::Nothing),
        }
    }

    /// Asks the server for the commit of the reference.
    fn look_up(&self) -> Result<RemoteRef, FetchError> {
        let names = self.reference_names();
        self.resolve_reference(&self.list_remote_references(&names, CHATTER)?)
    }

    /// Asks the server for the commit of the reference and for all tags.
    pub(crate) fn query_latest(&self) -> Result<Latest, FetchError> {
        let fixed = self.named_commit();
        let mut names = if fixed.is_some() { Vec::new() } else { self.reference_names() };
        names.push("refs/tags/*".to_owned());
        let answer = self.list_remote_references(&names, TAGS_BYTES)?;
        let commit = match fixed {
            Some(commit) => commit,
            None => self.resolve_reference(&answer)?.commit,
        };
        Ok(Latest { commit, tags: latest::parse_tags(&answer) })
    }

    /// Returns the full names that the reference can mean. A tag precedes a branch of the same name, as in
    /// gitrevisions(7).
    fn reference_names(&self) -> Vec<String> {
        let reference = self.reference();
        if reference == "HEAD" || reference.starts_with("refs/") {
            return vec![reference.to_owned()];
        }
        let under = ["refs/tags/", "refs/heads/", "refs/"];
        under.iter().map(|under| format!("{under}{reference}")).collect()
    }

    /// Returns the server's answer for some names: lines of an object, a tab and a full name.
    fn list_remote_references(&self, names: &[String], bytes: usize) -> Result<String, FetchError> {
        self.stay_here()?;
        self.directory.notify_observer(Event::Asking { repository: &self.shown });
        let mut request = GitRequest::new("ls-remote")
            .args(["--quiet", "--", &self.address])
            .args(names.iter().map(String::as_str))
            .with_access(&self.access)
            .with_output_limit(bytes);
        for name in names {
            request = request.arg(format!("{name}^{{}}"));
        }
        let output = self.git().expect_output(request)?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// Finds the reference in the server's answer.
    fn resolve_reference(&self, answer: &str) -> Result<RemoteRef, FetchError> {
        // The server matches patterns at the end of longer names too.
        let lines = || answer.lines().filter_map(|line| line.split_once('\t'));
        for name in self.reference_names() {
            let of =
                |name: &str| lines().find(|(_, other)| *other == name).map(|(commit, _)| commit);
            // The commit of an annotated tag is listed beside the tag itself.
            let Some(commit) = of(&format!("{name}^{{}}")).or_else(|| of(&name)) else { continue };
            if !is_commit(commit) {
                return Err(self.puzzled_error("ls-remote"));
            }
            return Ok(RemoteRef { commit: commit.to_owned(), name });
        }
        Err(match &self.source.reference {
            None => FetchError::Empty { repository: self.shown.clone() },
            Some(reference) => self.missing_reference(reference),
        })
    }

    fn missing_reference(&self, reference: &str) -> FetchError {
        let is_short =
            reference.len() < 40 && reference.bytes().all(|byte| byte.is_ascii_hexdigit());
        FetchError::ReferenceMissing {
            repository: self.shown.clone(),
            reference: one_line(reference),
            help: if is_short {
                "write all digits of a commit"
            } else {
                "run `git ls-remote` to list them"
            },
        }
    }

    fn puzzled_error(&self, what: &'static str) -> FetchError {
        FetchError::Puzzled { repository: self.shown.clone(), what }
    }

    /// Fetches a branch or tag, and returns its commit, which may have moved on.
    fn fetch_reference(
        &self,
        found: &RemoteRef,
        kept: &CachedCommit,
    ) -> Result<String, FetchError> {
        self.directory
            .notify_observer(Event::Fetching { repository: &self.shown, commit: &found.commit });
        let staged = self.new_repository(&found.commit)?;
        self.git().expect_output(self.build_fetch_request(
            &staged.path,
            &[&format!("+{}:{FETCHED}", found.name)],
            true,
        ))?;
        let commit = if self.is_fetched(&staged.path, found) {
            found.commit.clone()
        } else {
            let commit = self.commit_at(&staged.path, FETCHED)?;
            commit.ok_or_else(|| self.missing_reference(self.reference()))?
        };
        self.store_repository(staged, &commit, kept)?;
        Ok(commit)
    }

    /// Returns whether a branch was fetched at the commit that the server named. Then its type needs no
    /// check: branches lead to commits only, and listing the files fails for anything else.
    fn is_fetched(&self, repository: &Path, found: &RemoteRef) -> bool {
        let is_branch = found.name == "HEAD" || found.name.starts_with("refs/heads/");
        is_branch && self.read_fetched_object(repository).as_ref() == Some(&found.commit)
    }

    /// Returns the object that git wrote for the fetched reference, as its full name.
    fn read_fetched_object(&self, repository: &Path) -> Option<String> {
        let bytes = self.system().read(&repository.join(FETCHED), limits::FILE_BYTES).ok()?;
        let name = String::from_utf8(bytes).ok()?.trim_end().to_owned();
        is_commit(&name).then_some(name)
    }

    /// Fetches a commit by its full name.
    fn fetch_commit(&self, commit: &str, kept: &CachedCommit) -> Result<(), FetchError> {
        self.stay_here()?;
        self.directory.notify_observer(Event::Fetching { repository: &self.shown, commit });
        let staged = self.new_repository(commit)?;
        let refspec = format!("+{commit}:{FETCHED}");
        match self.git().run_request(self.build_fetch_request(&staged.path, &[&refspec], true))? {
            GitOutcome::Done(_) => {}
            // Some servers refuse a commit by name; then it is in the history of a branch or tag.
            GitOutcome::Failed(_) | GitOutcome::TooMuch => {
                let all = ["+refs/heads/*:refs/brief/heads/*", "+refs/tags/*:refs/brief/tags/*"];
                self.git().expect_output(self.build_fetch_request(&staged.path, &all, false))?;
            }
        }
        if self.commit_at(&staged.path, commit)?.as_deref() != Some(commit) {
            return Err(self.missing_reference(commit));
        }
        self.store_repository(staged, commit, kept)
    }

    /// Puts a fetched repository in place, and removes a damaged one. The removal waits for the new copy: git
    /// itself may be at fault, and then the old copy still works offline.
    fn store_repository(
        &self,
        staged: StagedDir<'_>,
        commit: &str,
        kept: &CachedCommit,
    ) -> Result<(), FetchError> {
        let target = self.repository_path(commit);
        if matches!(kept, CachedCommit::Damaged(_)) {
            self.system().remove_tree(&target).map_err(io_error(&target))?;
        }
        staged.move_into_place(&target)
    }

    fn build_fetch_request(
        &self,
        repository: &Path,
        refspecs: &[&str],
        shallow: bool,
    ) -> GitRequest<'_> {
        let request = GitRequest::for_repository(repository, "fetch").args([
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-gc",
        ]);
        let request = if shallow { request.arg("--depth=1") } else { request };
        request.args(["--", &self.address]).args(refspecs.iter().copied()).with_access(&self.access)
    }

    /// Creates an empty repository with the object format of the commit. Writes the files of `git init
    /// --bare` itself: that process would take as long as unpacking a small fetch.
    fn new_repository(&self, commit: &str) -> Result<StagedDir<'_>, FetchError> {
        let staged = self.directory.create_staged_dir()?;
        staged.create_dir("objects")?;
        staged.create_dir("refs")?;
        let config = if commit.len() == 64 { LONG_CONFIG } else { CONFIG };
        staged.write_file("HEAD", b"ref: refs/heads/main\n")?;
        staged.write_file("config", config.as_bytes())?;
        Ok(staged)
    }

    /// Returns the commit that a reference in a repository of the cache leads to, if there is one.
    fn commit_at(&self, repository: &Path, name: &str) -> Result<Option<String>, FetchError> {
        let request = GitRequest::for_repository(repository, "cat-file")
            .arg("--batch-check")
            .with_input(format!("{name}^{{commit}}\n"));
        let output = self.git().expect_output(request)?;
        let output = String::from_utf8_lossy(&output);
        let mut words = output.split_whitespace();
        match (words.next(), words.next()) {
            (Some(commit), Some("commit")) if is_commit(commit) => Ok(Some(commit.to_owned())),
            _ => Ok(None),
        }
    }

    /// Returns the files of a commit if the cache has them.
    fn find_cached_checkout(&self, commit: &str) -> Result<Option<Checkout>, FetchError> {
        let tree = self.tree_path(commit);
        if self.system().open_dir(&tree).is_err() {
            return Ok(None);
        }
        let notes = self.directory.read_file(&tree.join("notes"), limits::FILE_BYTES)?;
        let notes = String::from_utf8_lossy(&notes).lines().map(str::to_owned).collect();
        let mut directory = tree.join("tree");
        directory.extend(self.source.subpath.iter().flat_map(|subpath| subpath.split('/')));
        let provenance = Provenance::default();
        Ok(Some(Checkout { directory, commit: commit.to_owned(), notes, provenance }))
    }

    /// Writes the files of a commit whose repository is in the cache.
    fn extract_commit(&self, commit: &str) -> Result<Checkout, FetchError> {
        if let Some(checkout) = self.find_cached_checkout(commit)? {
            return Ok(checkout);
        }
        let staged = self.directory.create_staged_dir()?;
        let mut root = staged.path.join("tree");
        root.extend(self.source.subpath.iter().flat_map(|subpath| subpath.split('/')));
        let extraction = Extraction {
            git: self.git(),
            repository: &self.repository_path(commit),
            commit,
            subpath: self.source.subpath.as_deref(),
            root: &root,
        };
        staged.write_file("notes", extraction.write_files()?.join("\n").as_bytes())?;
        staged.move_into_place(&self.tree_path(commit))?;
        let checkout = self.find_cached_checkout(commit)?;
        checkout.ok_or_else(|| io_error(&self.tree_path(commit))(io::ErrorKind::NotFound.into()))
    }
}
