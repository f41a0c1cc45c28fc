//! What an agent gets and whether it may start: the operator's grant, the environment, the status.

use brief_syntax::System;

use super::ability::{Ability, Base};
use super::model::{Abilities, Agent, Status};

/// What an agent has in the end.
///
/// Ruling A1: what the operator grants, as far as the file allows it and does not deny it. The operator
/// always grants `tool`, and a file that says nothing allows nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective<'a> {
    grant: &'a [Ability],
    abilities: &'a Abilities,
}

impl<'a> Effective<'a> {
    /// Puts a grant and the wishes of a file together.
    pub fn new(grant: &'a [Ability], abilities: &'a Abilities) -> Effective<'a> {
        Effective { grant, abilities }
    }

    /// Returns whether an ability is there. What this program cannot do is not there, whoever grants it.
    pub fn has(&self, wanted: &Ability) -> bool {
        let tool = Ability::Base(Base::Tool);
        let is_granted = *wanted == tool || self.grant.iter().any(|granted| granted.covers(wanted));
        let is_allowed = match &self.abilities.allow {
            Some(allow) => allow.iter().any(|allowed| allowed.covers(wanted)),
            None => *wanted == tool,
        };
        let is_denied = self.abilities.deny.iter().any(|denied| denied.forbids(wanted));
        is_granted && is_allowed && !is_denied && wanted.is_supported()
    }

    /// Returns everything that is there, in the order of the document: base names, then programs
    /// that are there without all of `sh`.
    pub fn list(&self) -> Vec<Ability> {
        let bases = Base::ALL.map(Ability::Base);
        let allowed = self.abilities.allow.iter().flatten();
        let mut programs: Vec<&Ability> = allowed
            .chain(self.grant)
            .filter(|ability| matches!(ability, Ability::Program(_)))
            .collect();
        programs.sort_unstable();
        programs.dedup();
        let has_shell = self.has(&Ability::Base(Base::Sh));
        let programs = programs.into_iter().filter(|_| !has_shell);
        bases.iter().chain(programs).filter(|ability| self.has(ability)).cloned().collect()
    }
}

/// Why an agent does not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Its author has switched it off.
    #[error("the agent is disabled")]
    Disabled,
    /// Variables have no value; only their names are told.
    #[error("the environment has no value for {}", listed(.names))]
    Environment {
        /// The names, in the order of the file.
        names: Vec<String>,
    },
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Returns every reason that keeps a valid agent from starting before its code is looked at, in the
/// order of the gates.
pub fn refusals(system: &dyn System, agent: &Agent) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if agent.status == Status::Disabled {
        refusals.push(Refusal::Disabled);
    }
    let names = missing_environment(system, agent);
    if !names.is_empty() {
        refusals.push(Refusal::Environment { names });
    }
    refusals
}

/// Returns the required variables that have no value, in the order of the file. An empty value is
/// none (Y9).
pub fn missing_environment(system: &dyn System, agent: &Agent) -> Vec<String> {
    let required = agent.required.env.iter();
    required.filter(|name| system.env(name).is_none_or(|value| value.is_empty())).cloned().collect()
}
