//! The abilities of an agent and the conditions of its start: the operator's grant, the
//! environment, the status.

use brief_system::System;

use super::ability::{Ability, Base};
use super::model::{Abilities, Agent, AgentStatus};

/// The abilities of an agent in force.
///
/// Ruling A1: they are what the operator grants and the file allows and does not deny. The operator
/// always grants `tool`, and a file without `allow` allows nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective<'a> {
    grant: &'a [Ability],
    abilities: &'a Abilities,
}

impl<'a> Effective<'a> {
    /// Combines a grant with the abilities of a file.
    pub fn new(grant: &'a [Ability], abilities: &'a Abilities) -> Effective<'a> {
        Effective { grant, abilities }
    }

    /// Returns whether an ability is in force.
    pub fn has_ability(&self, wanted: &Ability) -> bool {
        let tool = Ability::Base(Base::Tool);
        let is_granted = *wanted == tool || self.grant.iter().any(|granted| granted.covers(wanted));
        let is_allowed = match &self.abilities.allow {
            Some(allow) => allow.iter().any(|allowed| allowed.covers(wanted)),
            None => *wanted == tool,
        };
        let is_denied = self.abilities.deny.iter().any(|denied| denied.forbids(wanted));
        is_granted && is_allowed && !is_denied
    }

    /// Returns all abilities in force, in the order of the document: base names, then programs that
    /// are granted without `sh`.
    pub fn list_abilities(&self) -> Vec<Ability> {
        let bases = Base::ALL.map(Ability::Base);
        let allowed = self.abilities.allow.iter().flatten();
        let mut programs: Vec<&Ability> = allowed
            .chain(self.grant)
            .filter(|ability| matches!(ability, Ability::Program(_)))
            .collect();
        programs.sort_unstable();
        programs.dedup();
        let has_shell = self.has_ability(&Ability::Base(Base::Sh));
        let programs = programs.into_iter().filter(|_| !has_shell);
        bases.iter().chain(programs).filter(|ability| self.has_ability(ability)).cloned().collect()
    }
}

/// A reason why an agent does not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentRefusal {
    #[error("the agent is disabled")]
    Disabled,
    /// Required variables have no value; only their names are shown.
    #[error("the environment has no value for {}", quote_names(.names))]
    Environment {
        /// The names, in the order of the file.
        names: Vec<String>,
    },
}

/// Quotes and joins names for a message.
pub(super) fn quote_names(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Returns all reasons why a valid agent must not start, apart from its code, in the order of the
/// gates.
pub fn collect_refusals(system: &dyn System, agent: &Agent) -> Vec<AgentRefusal> {
    let mut refusals = Vec::new();
    if agent.status == AgentStatus::Disabled {
        refusals.push(AgentRefusal::Disabled);
    }
    let names = missing_environment(system, agent);
    if !names.is_empty() {
        refusals.push(AgentRefusal::Environment { names });
    }
    refusals
}

/// Returns the required variables without a value, in the order of the file. An empty value counts
/// as none (Y9).
pub fn missing_environment(system: &dyn System, agent: &Agent) -> Vec<String> {
    let required = agent.required.env.iter();
    required.filter(|name| system.env(name).is_none_or(|value| value.is_empty())).cloned().collect()
}
