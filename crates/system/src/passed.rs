//! The variables that programs get of our environment.
//!
//! Tokens, keys and whatever changes how a program starts (`LD_PRELOAD`, `BASH_ENV`, `NODE_OPTIONS`)
//! stay here. A list of what to keep is safe against names that are not known yet; a list of what to
//! take away is not.

use std::ffi::OsString;

use super::{Call, Environment, System};

/// Variables that say who the user is, where programs are, and which language and terminal there is.
const USUAL: [&str; 25] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TERM",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
    "NO_COLOR",
    "COLUMNS",
];

/// Variables without which programs do not start on Windows.
#[cfg(windows)]
const SYSTEM: [&str; 6] = ["SystemRoot", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE"];

#[cfg(not(windows))]
const SYSTEM: [&str; 0] = [];

/// The part of our environment that a program gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passed {
    /// The usual variables, and these.
    Usual(Vec<String>),
    /// Everything.
    All,
}

impl Default for Passed {
    fn default() -> Passed {
        Passed::Usual(Vec::new())
    }
}

impl Passed {
    /// Returns whether a program gets the variable, if we have it.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Passed::All => true,
            Passed::Usual(more) => {
                let usual = USUAL.iter().chain(&SYSTEM).any(|usual| *usual == name);
                usual || more.iter().any(|more| more == name)
            }
        }
    }

    /// Lets a call start from these variables alone. What the call sets itself stays in force.
    #[must_use]
    pub fn apply(&self, system: &dyn System, mut call: Call) -> Call {
        let Passed::Usual(more) = self else { return call };
        let names = USUAL.iter().chain(&SYSTEM).copied().chain(more.iter().map(String::as_str));
        // The seam sets it, without what lies in the project.
        let names = names.filter(|name| *name != "PATH");
        let kept = names.filter_map(|name| Some((OsString::from(name), system.env(name)?)));
        call.environment = Environment::Path;
        call.env = kept.chain(call.env).collect();
        call
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::MemorySystem;

    fn names(passed: &Passed) -> Vec<String> {
        let system = MemorySystem::new("/p")
            .with_env("PATH", "/bin")
            .with_env("LC_TIME", "C")
            .with_env("AWS_SECRET_ACCESS_KEY", "s")
            .with_env("LD_PRELOAD", "/x.so");
        let call = Call::new("sh", "/", Duration::ZERO, 0).with_env("BRIEF_PARAM_p", "v");
        let call = passed.apply(&system, call);
        assert_eq!(call.environment == Environment::Path, *passed != Passed::All);
        call.env.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
    }

    /// X13: a small set of variables, and those that the user names.
    #[test]
    fn only_usual_and_named_variables_are_passed() {
        assert_eq!(names(&Passed::default()), ["LC_TIME", "BRIEF_PARAM_p"]);
        let named = Passed::Usual(vec!["LD_PRELOAD".to_owned(), "NOT_SET".to_owned()]);
        assert_eq!(names(&named), ["LC_TIME", "LD_PRELOAD", "BRIEF_PARAM_p"]);
        assert_eq!(names(&Passed::All), ["BRIEF_PARAM_p"]);
    }

    #[test]
    fn a_variable_is_passed_by_its_exact_name() {
        let named = Passed::Usual(vec!["TOKEN".to_owned()]);
        for (name, is_passed) in
            [("TOKEN", true), ("PATH", true), ("TOKENS", false), ("path", false)]
        {
            assert_eq!(named.contains(name), is_passed, "{name}");
        }
        assert!(Passed::All.contains("ANYTHING"));
    }
}
