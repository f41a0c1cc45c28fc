//! The states of repositories: behind, drifted, unsigned, over budget, without guidance. Each is compared with the others.

use std::collections::HashMap;

use semver::Version;

use super::newest::NewestByPlace;
use super::{FleetItem, FleetMember, FleetSource};
use crate::latest::{find_newer_tag, is_version};

/// A state that a repository may have besides others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FleetState {
    /// A source has something newer than the lock, or another repository has.
    Behind,
    /// A written file is committed with another content than the locked one.
    Drifted,
    /// An artifact is locked without a signer.
    Unsigned,
    /// A file gets more tokens than the budget.
    OverBudget,
    NoGuidance,
    /// It could not be read.
    Unreadable,
}

impl FleetState {
    /// All states, in the order of reports.
    pub const ALL: [FleetState; 6] = [
        FleetState::Behind,
        FleetState::Drifted,
        FleetState::Unsigned,
        FleetState::OverBudget,
        FleetState::NoGuidance,
        FleetState::Unreadable,
    ];

    /// Returns the name in options and output.
    pub fn as_str(self) -> &'static str {
        match self {
            FleetState::Behind => "behind",
            FleetState::Drifted => "drifted",
            FleetState::Unsigned => "unsigned",
            FleetState::OverBudget => "over-budget",
            FleetState::NoGuidance => "no-guidance",
            FleetState::Unreadable => "unreadable",
        }
    }
}

/// The judgment about one repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judgment {
    /// Its states, in the order of [`FleetState::ALL`].
    pub states: Vec<FleetState>,
    /// For each source, whether there is something newer; `None` if that is not known.
    pub sources: Vec<Option<bool>>,
    /// For each item, whether there is something newer; `None` if that is not known.
    pub items: Vec<Option<bool>>,
    /// True if the file with most guidance gets more than the budget; `None` if that was not counted.
    pub is_over_budget: Option<bool>,
}

impl Judgment {
    /// Returns whether it has a state.
    pub fn has_state(&self, state: FleetState) -> bool {
        self.states.contains(&state)
    }
}

/// The newest versions and times in the fleet itself.
#[derive(Default)]
struct InFleet<'m> {
    /// The newest version of each item of an address.
    versions: HashMap<(&'m str, &'m str, &'m str), Version>,
    /// The newest time of an artifact, by address and reference.
    created: HashMap<(&'m str, Option<&'m str>), &'m str>,
    /// The references of an address.
    references: HashMap<&'m str, Vec<String>>,
}

fn parse_item_version(item: &FleetItem) -> Option<Version> {
    let text = item.version.as_deref()?;
    Version::parse(text.strip_prefix('v').unwrap_or(text)).ok()
}

impl<'m> InFleet<'m> {
    fn from_members(members: &'m [FleetMember]) -> InFleet<'m> {
        let mut newest = InFleet::default();
        for facts in members.iter().map(|member| &member.facts) {
            for source in &facts.sources {
                if let Some(reference) = source.reference.as_ref().filter(|own| is_version(own)) {
                    let known = newest.references.entry(&source.address).or_default();
                    if !known.contains(reference) {
                        known.push(reference.clone());
                    }
                }
                if let Some(created) = &source.created {
                    let key = (source.address.as_str(), source.reference.as_deref());
                    let known = newest.created.entry(key).or_insert(created);
                    // The times are written alike, so that their texts are in order.
                    *known = (*known).max(created.as_str());
                }
            }
            for item in &facts.items {
                let (Some(source), Some(version)) =
                    (facts.find_source(&item.source), parse_item_version(item))
                else {
                    continue;
                };
                let key = (source.address.as_str(), item.kind.as_str(), item.name.as_str());
                let known = newest.versions.entry(key).or_insert_with(|| version.clone());
                if version > *known {
                    *known = version;
                }
            }
        }
        newest
    }

    /// Returns whether another repository has something newer of a source.
    fn is_source_behind(&self, source: &FleetSource) -> Option<bool> {
        let newer = source.reference.as_deref().zip(self.references.get(source.address.as_str()));
        if newer.is_some_and(|(own, known)| find_newer_tag(own, known).is_some()) {
            return Some(true);
        }
        let created = source.created.as_deref()?;
        let newest = self.created.get(&(source.address.as_str(), source.reference.as_deref()))?;
        Some(created < *newest)
    }

    fn is_item_behind(&self, source: &FleetSource, item: &FleetItem) -> Option<bool> {
        let key = (source.address.as_str(), item.kind.as_str(), item.name.as_str());
        Some(parse_item_version(item)? < *self.versions.get(&key)?)
    }
}

/// Judges all members of a fleet, in their order. A source in `newest` is compared with it; others with the newest version and the
/// newest artifact in the fleet itself.
pub fn judge_members(
    members: &[FleetMember],
    newest: &NewestByPlace,
    budget: Option<usize>,
) -> Vec<Judgment> {
    let in_fleet = InFleet::from_members(members);
    members.iter().map(|member| judge_one(member, newest, &in_fleet, budget)).collect()
}

fn judge_one(
    member: &FleetMember,
    newest: &NewestByPlace,
    in_fleet: &InFleet<'_>,
    budget: Option<usize>,
) -> Judgment {
    let facts = &member.facts;
    let asked = |source: &FleetSource| {
        let newest = newest.get(&source.place_key())?;
        Some(newest.newer_tag.is_some() || *source.commit.as_ref()? != newest.commit)
    };
    // Whatever the server says, what another repository has is newer.
    let either = |asked: Option<bool>, in_fleet: Option<bool>| match (asked, in_fleet) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (asked, in_fleet) => asked.or(in_fleet),
    };
    let sources: Vec<Option<bool>> = facts
        .sources
        .iter()
        .map(|source| either(asked(source), in_fleet.is_source_behind(source)))
        .collect();
    let items = facts.items.iter().map(|item| {
        let number = facts.sources.iter().position(|source| source.name == item.source)?;
        let source = &facts.sources[number];
        let of_item = either(asked(source), in_fleet.is_item_behind(source, item));
        of_item.or(sources[number])
    });
    let items: Vec<Option<bool>> = items.collect();
    let is_over_budget = budget.and_then(|budget| Some(facts.tokens? > budget));
    let is_read = member.problem.is_none();
    let has = |state: &FleetState| match state {
        FleetState::Behind => sources.iter().chain(&items).any(|behind| *behind == Some(true)),
        FleetState::Drifted => !facts.drifted.is_empty(),
        FleetState::Unsigned => facts.sources.iter().any(FleetSource::is_unsigned),
        FleetState::OverBudget => is_over_budget == Some(true),
        FleetState::NoGuidance => is_read && !facts.has_guidance,
        FleetState::Unreadable => !is_read,
    };
    let states = FleetState::ALL.into_iter().filter(has).collect();
    Judgment { states, sources, items, is_over_budget }
}
