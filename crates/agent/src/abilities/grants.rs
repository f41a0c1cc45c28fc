//! The effective abilities of one agent's tools.

use std::collections::BTreeSet;

/// The names of abilities, without a scope.
const NAMES: [&str; 7] = ["fs", "network", "sh", "tool", "mcp", "browser", "env"];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown ability `{name}`")]
pub struct GrantError {
    pub name: String,
}

/// The effective abilities. The default has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grants {
    names: BTreeSet<&'static str>,
    programs: BTreeSet<String>,
    /// The denied programs in lower case: names that differ in case only may be the same program.
    denied_programs: BTreeSet<String>,
}

impl Grants {
    /// Returns grants without any ability.
    pub fn none() -> Grants {
        Grants::default()
    }

    /// Parses abilities by name: the granted ones (`fs`, `sh:git`), and the denied ones, which override the
    /// first list.
    ///
    /// Names of programs are case-sensitive where they are granted, and not where they are denied (Y48).
    pub fn new<'n>(
        allowed: impl IntoIterator<Item = &'n str>,
        denied: impl IntoIterator<Item = &'n str>,
    ) -> Result<Grants, GrantError> {
        let mut grants = Grants::default();
        for name in allowed {
            match parse_grant(name)? {
                (base, None) => drop(grants.names.insert(base)),
                (_, Some(program)) => drop(grants.programs.insert(program.to_owned())),
            }
        }
        for name in denied {
            match parse_grant(name)? {
                ("sh", None) => {
                    grants.names.remove("sh");
                    grants.programs.clear();
                }
                (base, None) => drop(grants.names.remove(base)),
                (_, Some(program)) => drop(grants.denied_programs.insert(program.to_lowercase())),
            }
        }
        Ok(grants)
    }

    /// Returns whether an ability is granted; for `sh`, whether all programs are.
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns whether a program may be started.
    pub fn has_program(&self, name: &str) -> bool {
        let is_denied = self.denied_programs.contains(&name.to_lowercase());
        !is_denied && (self.contains("sh") || self.programs.contains(name))
    }

    /// Returns whether any program may be started.
    pub fn has_programs(&self) -> bool {
        self.contains("sh") || !self.programs.is_empty()
    }

    /// Returns the programs that are granted by name.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.programs.iter().map(String::as_str)
    }
}

fn parse_grant(name: &str) -> Result<(&'static str, Option<&str>), GrantError> {
    let error = || GrantError { name: name.to_owned() };
    let (base, program) = match name.split_once(':') {
        Some((base, program)) => (base, Some(program)),
        None => (name, None),
    };
    let base =
        NAMES.into_iter().find(|known| known.eq_ignore_ascii_case(base)).ok_or_else(error)?;
    match program {
        None => Ok((base, None)),
        Some(program) if base == "sh" && super::programs::is_bare(program) => {
            Ok((base, Some(program)))
        }
        Some(_) => Err(error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deny_wins_and_looks_at_programs_in_any_case() {
        let grants = Grants::new(["FS", "sh"], ["sh:rm"]).unwrap();
        assert!(grants.contains("fs") && grants.has_program("git"));
        assert!(!grants.has_program("rm") && !grants.has_program("RM"));
        assert!(!grants.contains("network"));
        let grants = Grants::new(["sh:Git"], []).unwrap();
        assert!(grants.has_program("Git") && !grants.has_program("git"));
        assert!(!grants.contains("sh") && grants.has_programs());
        let grants = Grants::new(["sh:git", "tool"], ["sh"]).unwrap();
        assert!(!grants.has_program("git") && grants.contains("tool"));
    }

    #[test]
    fn a_name_that_is_none_is_an_error() {
        for name in ["", "*", "fs:src", "sh:", "sh:git commit", "sh:/bin/sh", "sh:..", "shell"] {
            assert_eq!(Grants::new([name], []).unwrap_err().name, name);
            assert!(Grants::new([], [name]).is_err());
        }
    }
}
