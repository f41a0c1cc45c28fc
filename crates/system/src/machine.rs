//! The environment, the clock and chance.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::{System, unsupported_error};

/// The environment, the clock and chance.
///
/// A method that an implementation leaves out asks the machine [behind](Machine::machine_behind) it.
pub trait Machine: Send + Sync {
    /// Returns the machine behind this one.
    fn machine_behind(&self) -> Option<&dyn Machine> {
        None
    }

    /// Returns the directory that the program was started in.
    fn current_dir(&self) -> io::Result<PathBuf>;

    /// Returns an environment variable; an empty one counts as absent.
    fn env(&self, name: &str) -> Option<OsString>;

    /// Returns the directory for settings of the whole machine, which only its administrator writes.
    fn machine_directory(&self) -> Option<PathBuf> {
        self.machine_behind()?.machine_directory()
    }

    /// Returns the time; without a clock, the start of 1970.
    fn now(&self) -> SystemTime {
        self.machine_behind().map_or(SystemTime::UNIX_EPOCH, Machine::now)
    }

    /// Returns bytes that cannot be guessed.
    fn random_bytes(&self) -> io::Result<[u8; 32]> {
        self.machine_behind().map_or_else(
            || unsupported_error("this system has no random numbers"),
            Machine::random_bytes,
        )
    }

    /// Returns the time since some moment that stays the same; it never goes back.
    fn elapsed(&self) -> Duration {
        let since_1970 = || self.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.machine_behind().map_or_else(since_1970, Machine::elapsed)
    }
}

/// Returns the directory for what we remember about the user's work: `$XDG_STATE_HOME/brief`, or
/// the platform's place for such things. `None` where the environment names no place.
pub fn state_directory(system: &dyn Machine) -> Option<PathBuf> {
    local_directory(system, "XDG_STATE_HOME", ".local/state")
}

/// Returns the directory for the user's own settings: `$XDG_CONFIG_HOME/brief`, or the usual place for such
/// things. `None` where the environment names no place.
pub fn config_directory(system: &dyn Machine) -> Option<PathBuf> {
    let config = absolute_path(system, "XDG_CONFIG_HOME")
        .or_else(|| home_directory(system).map(|home| home.join(".config")))?;
    Some(config.join("brief"))
}

/// Returns the directory for what can be made again: `$XDG_CACHE_HOME/brief`, or the platform's place
/// for such things. `None` where the environment names no place.
pub fn cache_directory(system: &dyn Machine) -> Option<PathBuf> {
    local_directory(system, "XDG_CACHE_HOME", ".cache")
}

fn local_directory(system: &dyn Machine, variable: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name| absolute_path(system, name);
    let directory = absolute(variable)
        .or_else(|| absolute("HOME").map(|home| home.join(below_home)))
        .or_else(|| absolute("LOCALAPPDATA"))?;
    Some(directory.join("brief"))
}

/// Returns the user's home directory as the environment names it, an absolute path.
pub fn home_directory(system: &dyn Machine) -> Option<PathBuf> {
    let names = if cfg!(windows) { ["USERPROFILE", "HOME"] } else { ["HOME", "USERPROFILE"] };
    names.into_iter().find_map(|name| absolute_path(system, name))
}

/// Returns the user's home directory with all links followed, if it exists.
pub fn resolved_home(system: &dyn System) -> Option<PathBuf> {
    system.resolve_dir(&home_directory(system)?).ok()
}

fn absolute_path(system: &dyn Machine, name: &str) -> Option<PathBuf> {
    system.env(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySystem;

    #[test]
    fn the_state_directory_is_absolute() {
        let system = MemorySystem::new("/p").with_env("HOME", "/h");
        let found = |system: &MemorySystem| state_directory(system);
        assert_eq!(found(&system), Some(PathBuf::from("/h/.local/state/brief")));
        let system = system.with_env("XDG_STATE_HOME", "state");
        assert_eq!(found(&system), Some(PathBuf::from("/h/.local/state/brief")));
        let system = system.with_env("XDG_STATE_HOME", "/s");
        assert_eq!(found(&system), Some(PathBuf::from("/s/brief")));
        assert_eq!(found(&MemorySystem::new("/p")), None);
    }
}
