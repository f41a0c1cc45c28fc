//! Git repositories as directories, one per commit.
//!
//! Everything in the cache is put in place whole, by one rename, and then never changed: what is
//! there is complete. Two processes that fetch the same need no lock; the first one wins. Each
//! commit has a small repository of its own instead of one that all share, because a shared one
//! has locks, which a killed git leaves behind.
//!
//! ```text
//! ~/.cache/brief/git/github.com-org-repo-1a2b3c4d5e6f/
//!   refs/…          which commit a branch or tag was at, last time
//!   commits/…       the repository of one commit
//!   trees/…         the files of one commit, or of one directory in it
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use brief_syntax::hash::sha256;
use brief_syntax::system::FileKind;
use brief_syntax::{System, limits};

use crate::address::{Address, Setting, one_line};
use crate::error::FetchError;
use crate::extract::{Extraction, is_commit};
use crate::git::{Git, Outcome, Request};
use crate::source::GitSource;

/// What staged directories are called until they are in place.
const STAGED: &str = ".brief-";

/// When a staged directory was left behind by somebody who is no more.
const ABANDONED: Duration = Duration::from_hours(24);

/// Where git puts what we asked for.
const FETCHED: &str = "refs/brief/fetched";

/// Whether anything may be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// A branch is looked up, and what is missing is fetched.
    Online,
    /// Only what is there already.
    Offline,
}

/// A git source as a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The absolute path of the files, with the source's subpath applied. Not to be written to.
    pub directory: PathBuf,
    /// The full commit.
    pub commit: String,
    /// What the user should know: that the network could not be reached, which files were left
    /// out. The same on every run as long as it is so.
    pub notes: Vec<String>,
}

/// The git repositories that were fetched, by commit.
#[derive(Clone)]
pub struct Cache<'s> {
    system: &'s dyn System,
    directory: PathBuf,
}

impl<'s> Cache<'s> {
    /// Returns the user's cache: `$XDG_CACHE_HOME/brief/git`, or the platform's place for such
    /// things. `None` if there is no home directory.
    pub fn of_user(system: &'s dyn System) -> Option<Self> {
        let absolute = |name| system.env(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let cache = absolute("XDG_CACHE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
            .or_else(|| absolute("LOCALAPPDATA"))?;
        Some(Cache::at(system, cache.join("brief").join("git")))
    }

    /// Returns a cache in the given directory, which is created when needed.
    pub fn at(system: &'s dyn System, directory: PathBuf) -> Self {
        Cache { system, directory }
    }

    /// Returns the files of a source at the commit that its reference leads to.
    ///
    /// A branch or tag costs one question to the server; a full commit, and everything offline,
    /// costs none if it was fetched before. If the server does not answer, the commit of an earlier
    /// run is used, and a note says so.
    pub fn checkout(&self, source: &GitSource, network: Network) -> Result<Checkout, FetchError> {
        let address = source.check()?;
        let place = Place::of(self, source, &address);
        let named = source.reference.as_deref().map(str::to_ascii_lowercase);
        if let Some(commit) = named.filter(|reference| is_commit(reference)) {
            let kept = match (place.kept(&commit)?, network) {
                (Kept::Files(checkout), _) => return Ok(checkout),
                (kept, Network::Offline) => return kept.into_checkout(&place.shown),
                (kept, Network::Online) => kept,
            };
            place.prepare()?;
            place.fetch_commit(&commit, &kept)?;
            return place.extract(&commit);
        }
        if network == Network::Offline {
            return place.earlier()?.into_checkout(&place.shown);
        }
        place.prepare()?;
        match place.checkout_reference() {
            Err(error) if error.is_about_reach() => match place.earlier()? {
                Kept::Files(mut checkout) => {
                    let commit = checkout.commit.get(..12).unwrap_or_default();
                    checkout.notes.insert(
                        0,
                        format!("{error}; commit {commit} of an earlier run is used instead"),
                    );
                    Ok(checkout)
                }
                Kept::Damaged(_) | Kept::Nothing => Err(error),
            },
            other => other,
        }
    }
}

/// One source's part of the cache.
struct Place<'a> {
    system: &'a dyn System,
    /// The directory of the repository.
    directory: PathBuf,
    source: &'a GitSource,
    /// What git gets.
    address: String,
    credentials: Option<Setting>,
    /// The source as it may be shown.
    shown: String,
}

/// What the cache has of a commit.
enum Kept {
    /// Its files.
    Files(Checkout),
    /// Its repository, but git cannot read it.
    Damaged(FetchError),
    Nothing,
}

impl Kept {
    fn into_checkout(self, repository: &str) -> Result<Checkout, FetchError> {
        match self {
            Kept::Files(checkout) => Ok(checkout),
            Kept::Damaged(error) => Err(error),
            Kept::Nothing => Err(FetchError::NotCached { repository: repository.to_owned() }),
        }
    }
}

/// A branch or tag as the server has it.
struct Found {
    /// Its full name.
    name: String,
    /// The commit, if the server said so.
    commit: String,
}

impl<'a> Place<'a> {
    fn of(cache: &'a Cache<'_>, source: &'a GitSource, address: &Address) -> Self {
        let bare = address.bare();
        let name = format!("{}-{}", address.slug(), &fingerprint(&bare)[..12]);
        Place {
            system: cache.system,
            directory: cache.directory.join(name.trim_start_matches('-')),
            source,
            address: bare,
            credentials: address.setting(),
            shown: source.to_string(),
        }
    }

    fn git(&self) -> Git<'_> {
        Git { system: self.system, directory: &self.directory, repository: &self.shown }
    }

    fn refs(&self) -> PathBuf {
        self.directory.join("refs")
    }

    /// Where it is remembered which commit the source's reference led to.
    fn record(&self) -> PathBuf {
        let reference = self.source.reference.as_deref().unwrap_or("HEAD");
        self.refs().join(&fingerprint(reference)[..24])
    }

    fn repository(&self, commit: &str) -> PathBuf {
        self.directory.join("commits").join(commit)
    }

    fn tree(&self, commit: &str) -> PathBuf {
        let name = match &self.source.subpath {
            Some(subpath) => format!("{commit}-{}", &fingerprint(subpath)[..12]),
            None => commit.to_owned(),
        };
        self.directory.join("trees").join(name)
    }

    /// Creates the directories, and clears away what killed runs have left.
    fn prepare(&self) -> Result<(), FetchError> {
        for directory in ["refs", "commits", "trees"] {
            let path = self.directory.join(directory);
            self.system.create_private_dir(&path).map_err(|error| io_error(&path, error))?;
        }
        let handle = self
            .system
            .open_dir(&self.directory)
            .map_err(|error| io_error(&self.directory, error))?;
        for entry in handle.entries().map_err(|error| io_error(&self.directory, error))? {
            let is_staged = entry.name.to_str().is_some_and(|name| name.starts_with(STAGED));
            let path = self.directory.join(&entry.name);
            if is_staged && entry.kind == FileKind::Directory && self.is_abandoned(&path) {
                // Somebody else may be faster, which is as good.
                let _ = self.system.remove_tree(&path);
            }
        }
        Ok(())
    }

    fn is_abandoned(&self, path: &Path) -> bool {
        let age = |modified| self.system.now().duration_since(modified).unwrap_or_default();
        self.system.modified(path).is_ok_and(|modified| age(modified) > ABANDONED)
    }

    /// Looks the reference up, and fetches its commit if it is not there.
    fn checkout_reference(&self) -> Result<Checkout, FetchError> {
        let found = self.look_up()?;
        let checkout = match self.kept(&found.commit)? {
            Kept::Files(checkout) => checkout,
            kept => {
                let commit = self.fetch_reference(&found, &kept)?;
                self.extract(&commit)?
            }
        };
        self.remember(&checkout.commit)?;
        Ok(checkout)
    }

    /// Returns the files of a commit, as far as they can be had without the network.
    fn kept(&self, commit: &str) -> Result<Kept, FetchError> {
        if let Some(checkout) = self.extracted(commit)? {
            return Ok(Kept::Files(checkout));
        }
        if self.system.open_dir(&self.repository(commit)).is_err() {
            return Ok(Kept::Nothing);
        }
        match self.extract(commit) {
            Err(error @ (FetchError::Git { .. } | FetchError::Puzzled { .. })) => {
                Ok(Kept::Damaged(error))
            }
            other => other.map(Kept::Files),
        }
    }

    /// Returns the files of the commit that an earlier run has found.
    fn earlier(&self) -> Result<Kept, FetchError> {
        let Ok(bytes) = self.system.read(&self.record(), limits::FILE_BYTES) else {
            return Ok(Kept::Nothing);
        };
        let text = String::from_utf8_lossy(&bytes);
        match text.lines().next() {
            Some(commit) if is_commit(commit) => self.kept(commit),
            _ => Ok(Kept::Nothing),
        }
    }

    fn remember(&self, commit: &str) -> Result<(), FetchError> {
        // The second line is for people who look into the cache.
        let reference = self.source.reference.as_deref().unwrap_or("HEAD");
        let text = format!("{commit}\n{reference}\n");
        let path = self.record();
        if self.system.read(&path, limits::FILE_BYTES).is_ok_and(|old| old == text.as_bytes()) {
            return Ok(());
        }
        self.system.replace_file(&path, text.as_bytes()).map_err(|error| io_error(&path, error))
    }

    /// Asks the server where the reference is. A tag goes before a branch of the same name, as in
    /// gitrevisions(7).
    fn look_up(&self) -> Result<Found, FetchError> {
        let reference = self.source.reference.as_deref().unwrap_or("HEAD");
        let names = if reference == "HEAD" || reference.starts_with("refs/") {
            vec![reference.to_owned()]
        } else {
            let under = ["refs/tags/", "refs/heads/", "refs/"];
            under.iter().map(|under| format!("{under}{reference}")).collect()
        };
        let request = Request::new("ls-remote")
            .args(["--quiet", "--", &self.address])
            .args(names.iter().map(String::as_str));
        let mut request = request.setting(self.credentials.as_ref());
        for name in &names {
            request = request.arg(format!("{name}^{{}}"));
        }
        let output = self.git().expect(request)?;
        let output = String::from_utf8_lossy(&output);
        // Patterns also match the end of longer names.
        let lines = || output.lines().filter_map(|line| line.split_once('\t'));
        for name in names {
            let of =
                |name: &str| lines().find(|(_, other)| *other == name).map(|(commit, _)| commit);
            // What an annotated tag leads to stands beside the tag itself.
            let Some(commit) = of(&format!("{name}^{{}}")).or_else(|| of(&name)) else { continue };
            if !is_commit(commit) {
                return Err(self.puzzled("ls-remote"));
            }
            return Ok(Found { commit: commit.to_owned(), name });
        }
        Err(match &self.source.reference {
            None => FetchError::Empty { repository: self.shown.clone() },
            Some(reference) => self.missing(reference),
        })
    }

    fn missing(&self, reference: &str) -> FetchError {
        let is_short =
            reference.len() < 40 && reference.bytes().all(|byte| byte.is_ascii_hexdigit());
        FetchError::ReferenceMissing {
            repository: self.shown.clone(),
            reference: one_line(reference),
            help: if is_short {
                "a commit has to be written with all its digits"
            } else {
                "list them with `git ls-remote`"
            },
        }
    }

    fn puzzled(&self, what: &'static str) -> FetchError {
        FetchError::Puzzled { repository: self.shown.clone(), what }
    }

    /// Fetches a branch or tag, and returns the commit that it is at by now.
    fn fetch_reference(&self, found: &Found, kept: &Kept) -> Result<String, FetchError> {
        let staged = self.new_repository(&found.commit)?;
        self.git().expect(self.fetch(
            &staged.path,
            &[&format!("+{}:{FETCHED}", found.name)],
            true,
        ))?;
        let commit = self.commit_at(&staged.path, FETCHED)?;
        let reference = self.source.reference.as_deref().unwrap_or("HEAD");
        let commit = commit.ok_or_else(|| self.missing(reference))?;
        self.keep(staged, &commit, kept)?;
        Ok(commit)
    }

    /// Fetches a commit by its name.
    fn fetch_commit(&self, commit: &str, kept: &Kept) -> Result<(), FetchError> {
        let staged = self.new_repository(commit)?;
        let refspec = format!("+{commit}:{FETCHED}");
        match self.git().run(self.fetch(&staged.path, &[&refspec], true))? {
            Outcome::Done(_) => {}
            // Not every server hands out a commit by name; it is in the history of some branch then.
            Outcome::Failed(_) | Outcome::TooMuch => {
                let all = ["+refs/heads/*:refs/brief/heads/*", "+refs/tags/*:refs/brief/tags/*"];
                self.git().expect(self.fetch(&staged.path, &all, false))?;
            }
        }
        if self.commit_at(&staged.path, commit)?.as_deref() != Some(commit) {
            return Err(self.missing(commit));
        }
        self.keep(staged, commit, kept)
    }

    /// Puts a fetched repository in place, and away with one that git cannot read. Only now: it may
    /// have been git that was at fault, and then offline all is still there.
    fn keep(&self, staged: Staged<'_>, commit: &str, kept: &Kept) -> Result<(), FetchError> {
        let target = self.repository(commit);
        if matches!(kept, Kept::Damaged(_)) {
            self.system.remove_tree(&target).map_err(|error| io_error(&target, error))?;
        }
        staged.put(&target)
    }

    fn fetch(&self, repository: &Path, refspecs: &[&str], shallow: bool) -> Request<'_> {
        let request = Request::within(repository, "fetch").args([
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-gc",
        ]);
        let request = if shallow { request.arg("--depth=1") } else { request };
        request
            .args(["--", &self.address])
            .args(refspecs.iter().copied())
            .setting(self.credentials.as_ref())
    }

    /// Creates an empty repository of the kind that the commit is from.
    fn new_repository(&self, commit: &str) -> Result<Staged<'_>, FetchError> {
        let staged = self.stage()?;
        let format = if commit.len() == 64 { "sha256" } else { "sha1" };
        let request = Request::new("init")
            .args(["--quiet", "--bare", "--template="])
            .arg(format!("--object-format={format}"))
            .arg("--")
            .arg(&staged.path);
        self.git().expect(request)?;
        Ok(staged)
    }

    /// Returns the commit that a name in a repository of ours leads to, if there is one.
    fn commit_at(&self, repository: &Path, name: &str) -> Result<Option<String>, FetchError> {
        let request = Request::within(repository, "cat-file")
            .arg("--batch-check")
            .input(format!("{name}^{{commit}}\n"));
        let output = self.git().expect(request)?;
        let output = String::from_utf8_lossy(&output);
        let mut words = output.split_whitespace();
        match (words.next(), words.next()) {
            (Some(commit), Some("commit")) if is_commit(commit) => Ok(Some(commit.to_owned())),
            _ => Ok(None),
        }
    }

    /// Returns the files of a commit if they were written before.
    fn extracted(&self, commit: &str) -> Result<Option<Checkout>, FetchError> {
        let tree = self.tree(commit);
        if self.system.open_dir(&tree).is_err() {
            return Ok(None);
        }
        let path = tree.join("notes");
        let notes = match self.system.read(&path, limits::FILE_BYTES) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect(),
            Err(error) => return Err(io_error(&path, io::Error::other(error))),
        };
        let mut directory = tree.join("tree");
        directory.extend(self.source.subpath.iter().flat_map(|subpath| subpath.split('/')));
        Ok(Some(Checkout { directory, commit: commit.to_owned(), notes }))
    }

    /// Writes the files of a commit whose repository is there.
    fn extract(&self, commit: &str) -> Result<Checkout, FetchError> {
        if let Some(checkout) = self.extracted(commit)? {
            return Ok(checkout);
        }
        let staged = self.stage()?;
        let mut root = staged.path.join("tree");
        root.extend(self.source.subpath.iter().flat_map(|subpath| subpath.split('/')));
        let extraction = Extraction {
            git: self.git(),
            repository: &self.repository(commit),
            commit,
            subpath: self.source.subpath.as_deref(),
            root: &root,
        };
        let notes = extraction.write()?.join("\n");
        let path = staged.path.join("notes");
        self.system
            .create_staged_file(&path, notes.as_bytes())
            .map_err(|error| io_error(&path, error))?;
        staged.put(&self.tree(commit))?;
        let checkout = self.extracted(commit)?;
        checkout.ok_or_else(|| io_error(&self.tree(commit), io::ErrorKind::NotFound.into()))
    }

    fn stage(&self) -> Result<Staged<'_>, FetchError> {
        let path = self.system.create_staging_dir(&self.directory);
        let path = path.map_err(|error| io_error(&self.directory, error))?;
        Ok(Staged { system: self.system, path })
    }
}

/// A directory that is removed again unless it is put in place.
struct Staged<'a> {
    system: &'a dyn System,
    path: PathBuf,
}

impl Staged<'_> {
    /// Puts the directory in place; if somebody was faster, theirs stays.
    fn put(self, target: &Path) -> Result<(), FetchError> {
        match self.system.rename_dir(&self.path, target) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(io_error(target, error))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        // Mostly it is in place and no longer here. What cannot be removed now is abandoned, and a
        // later run tries again.
        let _ = self.system.remove_tree(&self.path);
    }
}

pub(crate) fn io_error(path: &Path, error: io::Error) -> FetchError {
    FetchError::Io { path: path.to_owned(), error }
}

/// Names a text: the beginning of its SHA-256, in hexadecimal.
fn fingerprint(text: &str) -> String {
    sha256(text.as_bytes())[..32].to_owned()
}
