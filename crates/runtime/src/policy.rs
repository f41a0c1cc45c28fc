//! Whether anything executes at all.
//!
//! The answer comes from the command line and the environment, never from a file: a project cannot
//! raise its own trust.

use std::fmt;

use brief_syntax::System;

/// The variable that turns execution off everywhere.
const VARIABLE: &str = "BRIEF_EXEC";

/// Whether commands and scripts of a prompt run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// They run.
    Allowed,
    /// Nothing runs; commands stay as written.
    Off(Off),
}

impl Execution {
    /// Decides by what the command line asks for, then by the environment.
    ///
    /// `BRIEF_EXEC=never` turns execution off. Any other value does too, because a slip of the
    /// keyboard must not execute; absent or empty, it says nothing.
    pub fn decide(system: &dyn System, asked: Option<Off>) -> Execution {
        match (asked, system.env(VARIABLE)) {
            (Some(off), _) => Execution::Off(off),
            (None, Some(_)) => Execution::Off(Off::Environment),
            (None, None) => Execution::Allowed,
        }
    }

    /// Returns whether commands and scripts run.
    pub fn is_allowed(self) -> bool {
        self == Execution::Allowed
    }
}

/// What turned execution off. Its text form completes "nothing runs because of …".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Off {
    /// The flag `--no-exec`.
    Flag,
    /// The environment variable `BRIEF_EXEC`.
    Environment,
    /// A run that only shows what would happen.
    DryRun,
}

impl fmt::Display for Off {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Off::Flag => "`--no-exec`",
            Off::Environment => "`BRIEF_EXEC`",
            Off::DryRun => "the dry run",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brief_syntax::system::MemorySystem;

    fn decide(value: Option<&str>, asked: Option<Off>) -> Execution {
        let system = MemorySystem::new("/p");
        let system = value.map_or(system.clone(), |value| system.with_env("BRIEF_EXEC", value));
        Execution::decide(&system, asked)
    }

    /// Ruling G7: "`--no-exec` and `BRIEF_EXEC=never` turn it off everywhere".
    #[test]
    fn the_flag_and_the_variable_turn_execution_off() {
        assert_eq!(decide(None, None), Execution::Allowed);
        assert_eq!(decide(Some("never"), None), Execution::Off(Off::Environment));
        assert_eq!(decide(None, Some(Off::Flag)), Execution::Off(Off::Flag));
        assert_eq!(decide(Some("never"), Some(Off::DryRun)), Execution::Off(Off::DryRun));
    }

    #[test]
    fn a_value_that_nobody_knows_executes_nothing() {
        for value in ["nevr", "NEVER", "0", "false", "always"] {
            assert_eq!(decide(Some(value), None), Execution::Off(Off::Environment), "{value}");
        }
    }
}
