//! Reads the commits of a fleet, several repositories at a time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::locked::LOCK_VERSION;
use brief_dialects::structured;
use brief_profiles::BUILTIN;
use brief_syntax::code_owners::{CODE_OWNERS_PATHS, CodeOwners};
use brief_syntax::text;
use brief_system::System;
use brief_system::hash::sha256;

use super::find::git_dir;
use super::head::{HeadState, read_head};
use super::known::KnownMembers;
use super::{FleetError, FleetFacts, FleetMember, FleetPlace};
use crate::cache::Cache;
use crate::error::FetchError;
use crate::history::{Commit, HistoryError, Repository, paths_exist, read_committed_files};
use crate::lock::{self, Lock};
use crate::outputs::record::is_plain_path;
use crate::parallel::{thread_count, try_in_parallel};
use crate::source::{GitSource, check_reference};

/// The limit for the bytes of a lock.
const LOCK_BYTES: usize = 8 * 1024 * 1024;

/// The limit for the bytes of the outputs of one repository.
const OUTPUT_BYTES: usize = 64 * 1024 * 1024;

/// Counts the tokens of the file that gets most guidance at a commit.
pub type Measure<'m> = &'m (dyn Fn(&Repository, &Commit) -> Result<usize, HistoryError> + Sync);

/// The way in which a fleet is read.
pub struct FleetReading<'r> {
    /// The branch, tag or commit to read instead of `HEAD`.
    pub revision: Option<&'r str>,
    /// The count of tokens, if it is wanted.
    pub measure: Option<Measure<'r>>,
    /// The members that earlier runs have read.
    pub known: &'r KnownMembers,
    /// Is told the number of repositories that were read, after each.
    pub observer: &'r dyn Fn(usize),
}

/// Reads repositories, in the order of the places. One that cannot be read has its reason. Each that was read is remembered
/// at once, so that an interrupted run goes on.
pub fn read_members(
    system: &Arc<dyn System>,
    places: &[FleetPlace],
    reading: &FleetReading<'_>,
) -> Result<Vec<FleetMember>, FleetError> {
    if let Some(revision) = reading.revision {
        check_reference(revision).map_err(|reason| FleetError::Revision {
            revision: text::visible_text(revision).into_owned(),
            reason,
        })?;
    }
    let reader = MemberReader { system, revision: reading.revision, measure: reading.measure };
    try_in_parallel(thread_count(), places, reading.observer, |place| {
        reader.read_member(place, reading.known)
    })
}

/// The reason why one repository has no facts.
enum MemberError {
    Problem(String),
    Interrupted,
}

impl MemberError {
    fn from_problem(problem: &str) -> MemberError {
        MemberError::Problem(text::visible_line(problem).into_owned())
    }
}

impl From<HistoryError> for MemberError {
    fn from(error: HistoryError) -> MemberError {
        match error {
            HistoryError::Interrupted => MemberError::Interrupted,
            HistoryError::TooLarge => {
                MemberError::from_problem("its files are too large for a fleet")
            }
            error => MemberError::from_problem(&error.to_string()),
        }
    }
}

struct MemberReader<'r> {
    system: &'r Arc<dyn System>,
    revision: Option<&'r str>,
    measure: Option<Measure<'r>>,
}

impl MemberReader<'_> {
    fn read_member(
        &self,
        place: &FleetPlace,
        known: &KnownMembers,
    ) -> Result<FleetMember, FleetError> {
        let mut member = FleetMember {
            place: place.clone(),
            git_dir: None,
            commit: None,
            facts: FleetFacts::default(),
            problem: None,
        };
        match self.fill_member(&mut member, known) {
            Ok(()) => {}
            Err(MemberError::Problem(problem)) => member.problem = Some(problem),
            Err(MemberError::Interrupted) => return Err(FleetError::Interrupted),
        }
        Ok(member)
    }

    fn fill_member(
        &self,
        member: &mut FleetMember,
        known: &KnownMembers,
    ) -> Result<(), MemberError> {
        let (git_dir, commit) = self.locate_commit(&member.place)?;
        member.git_dir = Some(git_dir.clone());
        let Some(commit) = commit else { return Ok(()) };
        member.commit = Some(commit.clone());
        let name = member.place.to_string();
        let mut facts = match known.take_facts(&name, &commit) {
            Some(facts) if facts.tokens.is_some() || self.measure.is_none() => {
                member.facts = facts;
                return Ok(());
            }
            Some(facts) => facts,
            None => self.read_facts(&git_dir, &commit)?,
        };
        if let Some(measure) = self.measure {
            let repository = Repository::from_git_dir(self.system, &git_dir);
            let of = Commit { revision: commit.clone(), id: commit.clone() };
            let tokens = measure(&repository, &of)?;
            facts.tokens = Some(tokens);
            // Guidance may lie further down.
            facts.has_guidance |= tokens > 0;
        }
        known.append_facts(self.system.as_ref(), &name, &commit, &facts);
        member.facts = facts;
        Ok(())
    }

    /// Finds the git directory of a repository and the commit to read; an address is fetched.
    fn locate_commit(&self, place: &FleetPlace) -> Result<(PathBuf, Option<String>), MemberError> {
        let system = self.system.as_ref();
        match place {
            FleetPlace::Wrong { problem, .. } => Err(MemberError::Problem(problem.clone())),
            FleetPlace::Address(source) => {
                let reference = source.reference.clone();
                let reference = reference.or_else(|| self.revision.map(str::to_owned));
                let source = GitSource { reference, ..source.clone() };
                fetch_repository(system, &source).map(|(git_dir, commit)| (git_dir, Some(commit)))
            }
            FleetPlace::Path(path) => {
                let git_dir = git_dir(system, path)
                    .ok_or_else(|| MemberError::from_problem("not a git repository"))?;
                let commit = match (self.revision, read_head(system, &git_dir)) {
                    (None, HeadState::Commit(commit)) => Some(commit),
                    (None, HeadState::Unborn) => None,
                    (revision, _) => {
                        let repository = Repository::from_git_dir(self.system, &git_dir);
                        match repository.resolve_commit(revision.unwrap_or("HEAD")) {
                            Ok(commit) => Some(commit.id),
                            Err(HistoryError::NoCommits) => None,
                            Err(error) => return Err(error.into()),
                        }
                    }
                };
                Ok((git_dir, commit))
            }
        }
    }

    fn read_facts(&self, git_dir: &Path, commit: &str) -> Result<FleetFacts, MemberError> {
        let [first, second, third] = CODE_OWNERS_PATHS;
        let paths = [lock::FILE_NAME, first, second, third];
        let mut found =
            read_committed_files(self.system, git_dir, commit, &paths, LOCK_BYTES)?.into_iter();
        let locked = found.next().flatten();
        let code_owners = found.flatten().next();
        let code_owners =
            code_owners.map(|bytes| CodeOwners::parse(&String::from_utf8_lossy(&bytes)));
        let guided = if locked.is_some() { lock::FILE_NAME } else { structured::FILE_NAMES[0] };
        let owners = code_owners.map(|owners| owners.find_owners(guided).to_vec());
        let owners = owners.unwrap_or_default();
        let Some(bytes) = locked else {
            let guidance = guidance_paths();
            let found = paths_exist(self.system, git_dir, commit, &guidance)?;
            let has_guidance = found.contains(&true);
            return Ok(FleetFacts { has_guidance, owners, ..FleetFacts::default() });
        };
        let text = String::from_utf8_lossy(&bytes);
        let lock = Lock::parse(&text)
            .map_err(|error| MemberError::from_problem(&format!("`brief.lock`, {error}")))?;
        let mut facts = FleetFacts { owners, ..FleetFacts::of_lock(&lock) };
        facts.drifted = self.collect_drifted_outputs(git_dir, commit, &lock)?;
        for (item, locked) in facts.items.iter_mut().zip(lock.items.values()) {
            let is_drifted = |path: &String| facts.drifted.binary_search(path).is_ok();
            item.is_drifted = locked.files.keys().any(is_drifted);
        }
        Ok(facts)
    }

    /// Returns the outputs whose committed content is not the locked one. A repository that has none of them keeps its
    /// outputs out of version control.
    fn collect_drifted_outputs(
        &self,
        git_dir: &Path,
        commit: &str,
        lock: &Lock,
    ) -> Result<Vec<String>, MemberError> {
        let files = lock.items.values().flat_map(|item| &item.files);
        let files: Vec<(&str, &str)> = files
            .map(|(path, file)| (path.as_str(), file.sha256.as_str()))
            .filter(|(path, _)| is_plain_path(path) && !path.contains('\n'))
            .collect();
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        let found = read_committed_files(self.system, git_dir, commit, &paths, OUTPUT_BYTES)?;
        if found.iter().all(Option::is_none) {
            return Ok(Vec::new());
        }
        let mut drifted: Vec<String> = files
            .iter()
            .zip(&found)
            .filter(|((_, locked), found)| found.as_deref().map(sha256).as_deref() != Some(*locked))
            .map(|((path, _), _)| (*path).to_owned())
            .collect();
        drifted.sort();
        drifted.dedup();
        Ok(drifted)
    }
}

/// Fetches the repository of an address into the user's cache, without its files.
fn fetch_repository(
    system: &dyn System,
    source: &GitSource,
) -> Result<(PathBuf, String), MemberError> {
    let cache = Cache::of_user(system)
        .ok_or_else(|| MemberError::from_problem("no directory for the cache"))?;
    cache.fetch_repository(source).map_err(|error| match error {
        FetchError::Interrupted { .. } => MemberError::Interrupted,
        error => MemberError::from_problem(&error.to_string()),
    })
}

/// Returns a text that is another one whenever this program reads other facts from the same commit.
pub(super) fn reading_version() -> String {
    let own = env!("CARGO_PKG_VERSION");
    format!("{own} {LOCK_VERSION} owners {}", guidance_paths().join(" "))
}

/// Returns the places of guidance at the top of a repository: those that clients read, and our own.
fn guidance_paths() -> Vec<&'static str> {
    let mut paths: Vec<&str> = BUILTIN.project.iter().map(|place| &*place.path).collect();
    paths.extend(structured::FILE_NAMES);
    paths
}
