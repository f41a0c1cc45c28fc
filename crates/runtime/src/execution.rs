//! Decides whether the commands and scripts of texts execute.
//!
//! The answer comes from the command line, the environment, and policies of the user and the machine,
//! never from a file of the project: a project cannot raise its own trust.

use std::fmt;

use brief_safety::policy::{Policy, PolicyError};
use brief_system::System;

/// The variable that turns execution off, or on for the project's own texts.
const VARIABLE: &str = "BRIEF_EXEC";

/// The value that lets the project's own texts execute.
const ALWAYS: &str = "always";

/// The commands and scripts of a prompt that run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Execution {
    /// The user's own, and those that the user has trusted.
    Trusted,
    /// Also those of the project: the user says so for this run.
    ProjectToo,
    /// None. Commands stay as written.
    Off(OffReason),
}

/// A request on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    Execute,
    Off(OffReason),
}

impl Execution {
    /// Decides by the command line and the environment.
    ///
    /// `BRIEF_EXEC=never` turns execution off, even against `--exec`: the variable protects a whole session.
    /// Any value other than `never` and `always` does the same, because a typing error must not execute
    /// anything. An absent or empty variable has no effect.
    pub fn decide(system: &dyn System, wish: Option<&Wish>) -> Execution {
        match (wish, system.env(VARIABLE)) {
            (Some(Wish::Off(off)), _) => Execution::Off(off.clone()),
            (_, Some(value)) if value == ALWAYS => Execution::ProjectToo,
            (_, Some(_)) => Execution::Off(OffReason::Environment),
            (Some(Wish::Execute), None) => Execution::ProjectToo,
            (None, None) => Execution::Trusted,
        }
    }

    /// Decides as [`Execution::decide`] does, under the policies of the machine and of the user: they can turn
    /// off what the user wishes to execute.
    pub fn under_policy(
        system: &dyn System,
        wish: Option<&Wish>,
    ) -> Result<Execution, PolicyError> {
        let looks_only = matches!(wish, Some(Wish::Off(_)));
        match Policy::load(system)?.find_execution_rule() {
            Some(decision) if !looks_only => {
                Ok(Execution::Off(OffReason::Policy(decision.render_location())))
            }
            _ => Ok(Execution::decide(system, wish)),
        }
    }

    /// Returns the reason if execution is off.
    pub fn off_reason(&self) -> Option<&OffReason> {
        match self {
            Execution::Off(off) => Some(off),
            Execution::Trusted | Execution::ProjectToo => None,
        }
    }
}

/// The reason why execution is off. Its text form completes "nothing runs because of …".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OffReason {
    Flag,
    Environment,
    /// A run that only shows what would happen.
    DryRun,
    /// A policy of the user or the machine, at this place.
    Policy(String),
}

impl fmt::Display for OffReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            OffReason::Flag => "`--no-exec`",
            OffReason::Environment => "`BRIEF_EXEC`",
            OffReason::DryRun => "the dry run",
            OffReason::Policy(place) => return write!(formatter, "the policy `{place}`"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brief_system::MemorySystem;

    fn decide(value: Option<&str>, wish: Option<&Wish>) -> Execution {
        let system = MemorySystem::new("/p");
        let system = value.map_or(system.clone(), |value| system.with_env("BRIEF_EXEC", value));
        Execution::decide(&system, wish)
    }

    /// Ruling G7: `--no-exec` and `BRIEF_EXEC=never` turn it off everywhere.
    #[test]
    fn the_flag_and_the_variable_turn_execution_off() {
        let (flag, dry) = (Wish::Off(OffReason::Flag), Wish::Off(OffReason::DryRun));
        assert_eq!(decide(None, None), Execution::Trusted);
        assert_eq!(decide(Some("never"), None), Execution::Off(OffReason::Environment));
        assert_eq!(decide(Some("always"), Some(&flag)), Execution::Off(OffReason::Flag));
        assert_eq!(decide(Some("never"), Some(&dry)), Execution::Off(OffReason::DryRun));
        assert_eq!(
            decide(Some("never"), Some(&Wish::Execute)),
            Execution::Off(OffReason::Environment)
        );
    }

    /// Ruling G7 (X01): `--exec` and `BRIEF_EXEC=always` say yes for one run.
    #[test]
    fn the_flag_and_the_variable_let_the_project_execute() {
        assert_eq!(decide(None, Some(&Wish::Execute)), Execution::ProjectToo);
        assert_eq!(decide(Some("always"), None), Execution::ProjectToo);
    }

    #[test]
    fn a_value_that_is_not_known_executes_nothing() {
        for value in ["nevr", "NEVER", "0", "false", "1", "yes", "ALWAYS", "always "] {
            assert_eq!(
                decide(Some(value), None),
                Execution::Off(OffReason::Environment),
                "{value}"
            );
        }
    }
}
