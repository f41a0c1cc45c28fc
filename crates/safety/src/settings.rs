//! What hooks do on this machine: the switches of the environment, the settings and the policies.
//!
//! `settings.toml` is beside `policy.toml`, in the machine's directory and in the user's. Both count, and each can only
//! switch off. A file that is there and cannot be understood counts as a switch that is off: whoever wrote it wanted to
//! change something at a bad moment. An unknown key changes nothing, because a newer version may know it. A hook asks for
//! every call, so a missing file costs one look.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::toml::{self, Table, TomlEntry, TomlProblem};
use brief_syntax::{Diagnostic, Source, limits};
use brief_system::{ReadError, System, config_directory};

use crate::policy::{Policy, PolicyDecision};

/// The file's name, in the machine's directory and in the user's.
pub const FILE_NAME: &str = "settings.toml";

/// The variable that silences every hook.
const DISABLE_VARIABLE: &str = "BRIEF_DISABLE";

/// What hooks do: all of it, unless something switches a part off.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookSettings {
    delivery: Option<OffSwitch>,
    enforcement: Option<OffSwitch>,
    /// What a hook does that cannot decide, as the user chose.
    pub on_failure: FailureMode,
    /// Problems in settings files that switch nothing off, such as unknown keys.
    pub problems: Vec<Diagnostic>,
}

/// What a hook does with a call that it cannot decide about, because it is late or fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailureMode {
    /// The call passes.
    #[default]
    Open,
    /// The call is refused.
    Closed,
}

/// The reason why hooks deliver or enforce nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OffSwitch {
    /// `BRIEF_DISABLE` is set.
    Variable,
    /// `[hook] enabled = false` in the machine's or the user's settings.
    Setting { path: PathBuf, line: usize },
    /// A policy.
    Policy(PolicyDecision),
    /// A settings file or a policy that cannot be understood; the text names it.
    Unclear { path: PathBuf, problem: String },
}

impl OffSwitch {
    /// Returns the file that has the switch; `None` for the environment.
    pub fn path(&self) -> Option<&Path> {
        match self {
            OffSwitch::Variable => None,
            OffSwitch::Setting { path, .. } | OffSwitch::Unclear { path, .. } => Some(path),
            OffSwitch::Policy(decision) => Some(&decision.path),
        }
    }

    /// Returns what ends it, as one command or step.
    pub fn find_fix(&self) -> String {
        match self {
            OffSwitch::Variable => {
                format!("run `unset {DISABLE_VARIABLE}`, and restart the client")
            }
            OffSwitch::Setting { path, .. } => {
                format!("set `enabled = true` in {}", path.display())
            }
            OffSwitch::Policy(_) => {
                "run `brief trust --policy` to see the policy, and ask whoever maintains it"
                    .to_owned()
            }
            OffSwitch::Unclear { path, .. } => format!("correct {}", path.display()),
        }
    }
}

/// Follows "hooks deliver nothing: …".
impl fmt::Display for OffSwitch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OffSwitch::Variable => write!(formatter, "`{DISABLE_VARIABLE}` is set"),
            OffSwitch::Setting { path, line } => {
                write!(formatter, "`hook.enabled` is false in `{}:{line}`", path.display())
            }
            OffSwitch::Policy(decision) => decision.fmt(formatter),
            OffSwitch::Unclear { problem, .. } => formatter.write_str(problem),
        }
    }
}

impl HookSettings {
    /// Reads the switches in force: the environment, then the settings and the policies of the machine and the user.
    pub fn load(system: &dyn System) -> HookSettings {
        let mut settings = HookSettings::default();
        let is_set = |value: std::ffi::OsString| !value.is_empty() && value != "0";
        if system.env(DISABLE_VARIABLE).is_some_and(is_set) {
            settings.switch_off(OffSwitch::Variable);
            return settings;
        }
        let user = config_directory(system).map(|directory| (directory, true));
        let machine = system.machine_directory().map(|directory| (directory, false));
        for (directory, is_user) in machine.into_iter().chain(user) {
            settings.read_file(system, directory.join(FILE_NAME), is_user);
        }
        match Policy::load(system) {
            Ok(policy) => {
                let off = |decision: PolicyDecision| OffSwitch::Policy(decision);
                let delivery = policy.find_delivery_rule().map(off);
                settings.delivery = settings.delivery.or(delivery);
                let enforcement = policy.find_enforcement_rule().map(off);
                settings.enforcement = settings.enforcement.or(enforcement);
            }
            Err(error) => {
                let path = error.path().to_owned();
                settings.switch_off(OffSwitch::Unclear { path, problem: error.to_string() });
            }
        }
        settings
    }

    /// Returns why hooks deliver no guidance; `None` if they do.
    pub fn delivery_switch(&self) -> Option<&OffSwitch> {
        self.delivery.as_ref()
    }

    /// Returns why hooks enforce no rule; `None` if they do.
    pub fn enforcement_switch(&self) -> Option<&OffSwitch> {
        self.enforcement.as_ref()
    }

    /// Returns whether a hook has nothing to do.
    pub fn is_silent(&self) -> bool {
        self.delivery.is_some() && self.enforcement.is_some()
    }

    /// Switches everything off. The first reason stays.
    fn switch_off(&mut self, switch: OffSwitch) {
        self.delivery.get_or_insert_with(|| switch.clone());
        self.enforcement.get_or_insert(switch);
    }

    fn read_file(&mut self, system: &dyn System, path: PathBuf, is_user: bool) {
        let bytes = match system.read(&path, limits::FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => return,
            Err(error) => {
                let problem = format!("cannot read the settings `{}`: {error}", path.display());
                return self.switch_off(OffSwitch::Unclear { path, problem });
            }
        };
        let source = Arc::new(Source::from_bytes(path.clone(), bytes));
        let mut problems = Vec::new();
        if let Some(document) = toml::parse_toml(&source, &mut problems) {
            let top = Table { source: &source, content: document.as_table(), prefix: "" };
            for entry in top.entries() {
                let read = self.read_entry(&entry, &path, is_user);
                problems.extend(read.err().map(|problem| *problem));
            }
        }
        if let Some(first) = problems.first() {
            let (line, message) = (first.position().line, &first.message);
            let problem =
                format!("cannot apply the settings `{}:{line}`: {message}", path.display());
            self.switch_off(OffSwitch::Unclear { path, problem });
        }
    }

    /// Reads a key. An error is a value that has no meaning.
    fn read_entry(
        &mut self,
        entry: &TomlEntry<'_>,
        path: &Path,
        is_user: bool,
    ) -> Result<(), TomlProblem> {
        if entry.key != "hook" {
            self.problems.push(*entry.unknown_key(&["hook"]));
            return Ok(());
        }
        for entry in entry.table()?.entries() {
            match entry.key {
                "enabled" => {
                    if !entry.flag()? {
                        let line = entry.source.line_number(entry.span.start);
                        self.switch_off(OffSwitch::Setting { path: path.to_owned(), line });
                    }
                }
                "fail" => {
                    let words = [("open", FailureMode::Open), ("closed", FailureMode::Closed)];
                    let mode = entry.match_word(&words)?;
                    if is_user {
                        self.on_failure = mode;
                    } else {
                        let help = "write it into the user's settings";
                        let problem = "has no effect in the settings of the machine";
                        self.problems.push(*entry.invalid_value(problem, help));
                    }
                }
                _ => self.problems.push(*entry.unknown_key(&["enabled", "fail"])),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use brief_system::MemorySystem;

    use super::*;

    const USER: &str = "/h/.config/brief/settings.toml";
    const MACHINE: &str = "/machine/settings.toml";

    fn system() -> MemorySystem {
        MemorySystem::new("/p").with_env("HOME", "/h").with_machine_directory("/machine")
    }

    /// What switches delivery and enforcement off, in words.
    fn switches(system: &MemorySystem) -> [Option<String>; 2] {
        let settings = HookSettings::load(system);
        [settings.delivery_switch(), settings.enforcement_switch()]
            .map(|switch| switch.map(ToString::to_string))
    }

    fn both(reason: &str) -> [Option<String>; 2] {
        [Some(reason.to_owned()), Some(reason.to_owned())]
    }

    #[test]
    fn without_a_file_hooks_do_everything() {
        assert_eq!(switches(&system()), [None, None]);
        assert_eq!(switches(&MemorySystem::new("/p")), [None, None]);
    }

    #[test]
    fn the_variable_silences_both() {
        for (value, is_off) in [("1", true), ("yes", true), ("0", false), ("", false)] {
            let found = switches(&system().with_env("BRIEF_DISABLE", value));
            assert_eq!(found == both("`BRIEF_DISABLE` is set"), is_off, "{value:?}");
        }
    }

    /// Each file can only switch off.
    #[test]
    fn either_settings_file_switches_both_off() {
        const OFF: &str = "[hook]\nenabled = false\n";
        const ON: &str = "[hook]\nenabled = true\n";
        for (machine, user, file) in
            [(OFF, ON, Some(MACHINE)), (ON, OFF, Some(USER)), (ON, ON, None)]
        {
            let found = switches(&system().with_file(MACHINE, machine).with_file(USER, user));
            let expected = file.map_or([None, None], |file| {
                both(&format!("`hook.enabled` is false in `{file}:2`"))
            });
            assert_eq!(found, expected);
        }
    }

    /// A policy switches one of them off, whatever the settings say.
    #[test]
    fn a_policy_switches_delivery_or_enforcement_off() {
        let policy = |text: &str| {
            let system = system().with_file(USER, "[hook]\nenabled = true\n");
            switches(&system.with_file("/machine/policy.toml", text))
        };
        let words =
            |what: &str, line| format!("the policy `/machine/policy.toml:{line}` turns {what} off");
        let delivery = policy("[hook]\ndelivery = \"never\"\n");
        assert_eq!(delivery, [Some(words("delivery by hooks", 2)), None]);
        let enforcement = policy("[hook]\nenforcement = \"never\"\ndelivery = \"allowed\"\n");
        assert_eq!(enforcement, [None, Some(words("enforcement of rules", 2))]);
        let broken = policy("[hook]\ndelivery = false\n");
        let [Some(broken), Some(_)] = broken else { panic!("{broken:?}") };
        assert!(broken.starts_with("cannot apply the policy `/machine/policy.toml:2`"), "{broken}");
    }

    /// Nobody writes a switch for nothing.
    #[test]
    fn a_file_that_is_not_understood_switches_off() {
        for (text, line) in [
            ("[hook\n", 1),
            ("\n[hook]\nenabled = flase\n", 3),
            ("[hook]\nenabled = \"no\"\n", 2),
            ("hook = 1\n", 1),
        ] {
            let [Some(delivery), Some(_)] = switches(&system().with_file(USER, text)) else {
                panic!("{text}")
            };
            assert!(
                delivery.starts_with(&format!("cannot apply the settings `{USER}:{line}`: ")),
                "{delivery}"
            );
        }
    }

    #[test]
    fn an_unknown_key_is_a_problem_and_no_switch() {
        let settings =
            HookSettings::load(&system().with_file(USER, "colorz = 1\n[hook]\nenabld = false\n"));
        assert!(!settings.is_silent());
        let messages: Vec<&str> =
            settings.problems.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(messages, ["unknown key `colorz`", "unknown key `hook.enabld`"]);
    }

    /// Only the user chooses that a hook refuses what it cannot decide.
    #[test]
    fn the_user_alone_chooses_what_a_failure_means() {
        const CLOSED: &str = "[hook]\nfail = \"closed\"\n";
        let of = |file: &str| HookSettings::load(&system().with_file(file, CLOSED));
        assert_eq!(of(USER).on_failure, FailureMode::Closed);
        assert_eq!((of(MACHINE).on_failure, of(MACHINE).problems.len()), (FailureMode::Open, 1));
    }
}
