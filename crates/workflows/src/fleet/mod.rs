//! Many repositories beside each other, as text, tables, JSON and a page.
//!
//! `registry::fleet` reads the objects; here the engine counts what their guidance costs, and every output comes from one
//! [`FleetReport`].

mod json;
mod rows;
mod update;
mod update_report;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use brief_engine::survey::Survey;
use brief_engine::{Dialects, Moment, estimate_tokens};
use brief_registry::fleet::{FleetMember, FleetState, Judgment, NewestByPlace, judge_members};
use brief_registry::history::{Commit, HistoryError, Repository};

pub use rows::{FleetCell, FleetRow};
pub use update::{
    FleetChange, FleetUpdate, MemberUpdate, SourceMove, UpdateOutcome, update_member,
};
pub use update_report::{UpdateGroup, UpdateProblem, UpdateReport};

use crate::revisions::ComparedState;

/// The names of members by locked commit or digest.
pub type LockedVersions<'f> = Vec<(Option<&'f str>, Vec<String>)>;

/// A fleet with the judgment about each repository.
pub struct FleetReport {
    /// The directory that paths are shown relative to.
    pub base: PathBuf,
    /// The tokens that a file may get, if there is a limit.
    pub budget: Option<usize>,
    /// The number of repositories that were read, shown or not.
    pub read: usize,
    /// The effect of an update, if it was asked about.
    pub update: Option<UpdateReport>,
    members: Vec<(FleetMember, Judgment)>,
}

impl FleetReport {
    /// Judges the members of a fleet. With states in `only`, the report has the members in one of these.
    pub fn from_members(
        base: &Path,
        members: Vec<FleetMember>,
        newest: &NewestByPlace,
        budget: Option<usize>,
        only: &[FleetState],
    ) -> FleetReport {
        let judgments = judge_members(&members, newest, budget);
        let read = members.len();
        let mut members: Vec<_> = members.into_iter().zip(judgments).collect();
        if !only.is_empty() {
            members.retain(|(_, judged)| only.iter().any(|state| judged.has_state(*state)));
        }
        FleetReport { base: base.to_owned(), budget, read, update: None, members }
    }

    /// Returns the members in their order.
    pub fn members(&self) -> &[(FleetMember, Judgment)] {
        &self.members
    }

    /// Returns the name of a member.
    pub fn member_name(&self, member: &FleetMember) -> String {
        member.place.name(&self.base)
    }

    /// Returns the names of the members in a state.
    pub fn in_state(&self, state: FleetState) -> Vec<String> {
        let members = self.members.iter().filter(|(_, judged)| judged.has_state(state));
        members.map(|(member, _)| self.member_name(member)).collect()
    }

    /// Returns whether a member has a state that asks for work.
    pub fn has_findings(&self) -> bool {
        self.members.iter().any(|(_, judged)| !judged.states.is_empty())
    }

    /// Returns the members by the owners of their guidance; those that nobody owns come last.
    pub fn by_owner(&self) -> Vec<(String, Vec<&(FleetMember, Judgment)>)> {
        let mut owners: BTreeMap<String, Vec<&(FleetMember, Judgment)>> = BTreeMap::new();
        for member in &self.members {
            owners.entry(member.0.facts.owners.join(", ")).or_default().push(member);
        }
        let mut owners: Vec<_> = owners.into_iter().collect();
        owners.sort_by_key(|(owner, _)| owner.is_empty());
        owners
    }

    /// Returns the names of members by source, and by locked commit or digest, the most frequent first.
    pub fn by_source(&self) -> Vec<(String, LockedVersions<'_>)> {
        let mut places: BTreeMap<String, BTreeMap<Option<&str>, Vec<String>>> = BTreeMap::new();
        for (member, _) in &self.members {
            for source in &member.facts.sources {
                let place = match &source.reference {
                    Some(reference) => format!("{} ({reference})", source.address),
                    None => source.address.clone(),
                };
                let at = source.commit.as_deref();
                places
                    .entry(place)
                    .or_default()
                    .entry(at)
                    .or_default()
                    .push(self.member_name(member));
            }
        }
        let sorted = places.into_iter().map(|(place, versions)| {
            let mut versions: Vec<_> = versions.into_iter().collect();
            versions.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
            (place, versions)
        });
        sorted.collect()
    }
}

/// Counts the tokens of the file that gets most guidance at a commit.
pub fn most_tokens(repository: &Repository, commit: &Commit) -> Result<usize, HistoryError> {
    let state = ComparedState::read_commit(repository, commit, &Dialects::default())?;
    let root = repository.mount();
    let survey = Survey::from_catalog(&state.catalog, root, &Moment::default(), &estimate_tokens);
    Ok(survey.and_then(|survey| survey.costs.into_iter().max()).unwrap_or_default())
}
