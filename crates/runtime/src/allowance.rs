//! Rules that the user has allowed to be broken: once, or until a day.
//!
//! Each is one small file in the user's state directory, named by the project and the rule. Removing the file takes the
//! allowance back, and of several hooks that want to use one up, the one that removes it does.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use brief_system::hash::sha256;
use brief_system::{System, state_directory};

/// The directory of all allowances.
const DIRECTORY: &str = "allowed";

/// The limit for the bytes of one.
const MOST_BYTES: u64 = 1024;

/// The word for an allowance that the next call uses up.
const ONCE: &str = "once";

/// The time after which an unused allowance for one call has no effect.
const LONGEST_ONCE: Duration = Duration::from_hours(24);

/// How long a rule may be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// By the next call, within a day.
    Once,
    Until(SystemTime),
}

/// A rule of a project, as an allowance names it.
#[derive(Debug, Clone, Copy)]
pub struct AllowedRule<'r> {
    /// The root of the project.
    pub root: &'r Path,
    pub id: &'r str,
}

impl AllowedRule<'_> {
    fn path(&self, system: &dyn System) -> Option<PathBuf> {
        let root = self.root.to_string_lossy();
        let name = sha256(format!("{}\n{root}\n{}", root.len(), self.id).as_bytes());
        Some(state_directory(system)?.join(DIRECTORY).join(&name[..32]))
    }

    /// Records an allowance. A new one takes the place of an earlier one.
    pub fn allow(&self, system: &dyn System, allowance: Allowance) -> std::io::Result<()> {
        let path = self.path(system).ok_or(std::io::ErrorKind::NotFound)?;
        if let Some(directory) = path.parent() {
            system.create_private_dir(directory)?;
        }
        let seconds = |time: SystemTime| {
            time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
        };
        let (word, until) = match allowance {
            Allowance::Once => (ONCE, system.now() + LONGEST_ONCE),
            Allowance::Until(time) => ("until", time),
        };
        let text = format!("{word} {} {}\n", seconds(until), self.id.replace('\n', " "));
        system.replace_private_file(&path, text.as_bytes())
    }

    /// Returns the allowance of the rule, if it is in effect.
    pub fn find(&self, system: &dyn System) -> Option<Allowance> {
        let bytes = system.read(&self.path(system)?, MOST_BYTES).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let mut words = text.trim_end().splitn(3, ' ');
        let word = words.next()?;
        let until =
            SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(words.next()?.parse().ok()?))?;
        if words.next()? != self.id || system.now() >= until {
            return None;
        }
        match word {
            ONCE => Some(Allowance::Once),
            "until" => Some(Allowance::Until(until)),
            _ => None,
        }
    }

    /// Uses the allowance of the rule for one call. Returns false without one, or if another call has used it up.
    pub fn use_for_call(&self, system: &dyn System) -> bool {
        match self.find(system) {
            None => false,
            Some(Allowance::Until(_)) => true,
            Some(Allowance::Once) => {
                self.path(system).is_some_and(|path| system.remove_file(&path).is_ok())
            }
        }
    }

    /// Takes an allowance back. Returns false if there is none.
    pub fn remove(&self, system: &dyn System) -> std::io::Result<bool> {
        let Some(path) = self.path(system) else { return Ok(false) };
        match system.remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use brief_system::{Machine, MemorySystem};

    use super::*;

    fn machine() -> MemorySystem {
        MemorySystem::new("/p").with_env("HOME", "/h").with_env("XDG_STATE_HOME", "/state")
    }

    #[test]
    fn an_allowance_for_one_call_is_used_up() {
        let system = machine();
        let rule = AllowedRule { root: Path::new("/p"), id: "no-npm" };
        assert!(!rule.use_for_call(&system));
        rule.allow(&system, Allowance::Once).unwrap();
        assert!(!AllowedRule { root: Path::new("/q"), id: "no-npm" }.use_for_call(&system));
        assert!(!AllowedRule { root: Path::new("/p"), id: "other" }.use_for_call(&system));
        assert!(rule.use_for_call(&system));
        assert!(!rule.use_for_call(&system));
        rule.allow(&system, Allowance::Once).unwrap();
        system.advance_clock(LONGEST_ONCE);
        assert!(!rule.use_for_call(&system));
    }

    #[test]
    fn an_allowance_until_a_day_ends_then() {
        let system = machine();
        let rule = AllowedRule { root: Path::new("/p"), id: "no-npm" };
        rule.allow(&system, Allowance::Until(system.now() + Duration::from_mins(10))).unwrap();
        assert!(rule.use_for_call(&system) && rule.use_for_call(&system));
        system.advance_clock(Duration::from_mins(11));
        assert!(!rule.use_for_call(&system));
        assert!(rule.remove(&system).unwrap() && !rule.remove(&system).unwrap());
    }
}
