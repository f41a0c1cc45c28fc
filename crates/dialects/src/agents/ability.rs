//! The abilities of an agent: seven names, and `sh:` with one program.

use std::fmt;
use std::str::FromStr;

use brief_syntax::near_miss::suggest_nearest;
use serde::{Serialize, Serializer};

/// The names without a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// Read and write files of the project.
    Fs,
    Network,
    Sh,
    /// Offer the agent's tools to the model, and let tools call each other.
    Tool,
    Mcp,
    Browser,
    /// Read the environment variables that the agent requires.
    Env,
}

impl Base {
    /// Every name, in the order of the document.
    pub const ALL: [Base; 7] =
        [Base::Fs, Base::Network, Base::Sh, Base::Tool, Base::Mcp, Base::Browser, Base::Env];

    /// Returns the ability's name in files and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Base::Fs => "fs",
            Base::Network => "network",
            Base::Sh => "sh",
            Base::Tool => "tool",
            Base::Mcp => "mcp",
            Base::Browser => "browser",
            Base::Env => "env",
        }
    }
}

/// One ability: a whole one, or a single program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ability {
    Base(Base),
    /// `sh:<command>`: one program, by its bare name.
    Program(String),
}

impl Ability {
    /// Returns whether it concerns starting programs.
    fn is_shell(&self) -> bool {
        matches!(self, Ability::Program(_) | Ability::Base(Base::Sh))
    }

    /// Returns whether this ability includes `wanted`. Program names are case-sensitive.
    pub fn covers(&self, wanted: &Ability) -> bool {
        match self {
            Ability::Base(Base::Sh) => wanted.is_shell(),
            _ => self == wanted,
        }
    }

    /// Returns whether denying this removes `wanted`. Program names are compared without case,
    /// because some file systems ignore it.
    pub fn forbids(&self, wanted: &Ability) -> bool {
        match (self, wanted) {
            (Ability::Program(denied), Ability::Program(wanted)) => {
                denied.to_lowercase() == wanted.to_lowercase()
            }
            _ => self.covers(wanted),
        }
    }
}

impl fmt::Display for Ability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ability::Base(base) => formatter.write_str(base.as_str()),
            Ability::Program(program) => write!(formatter, "sh:{program}"),
        }
    }
}

impl Serialize for Ability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AbilityError {
    #[error("unknown ability `{name}`")]
    Unknown { name: String },
    #[error("`{name}` has a scope, but only `sh:<command>` can have one")]
    Scope { name: String },
    /// A program must be a bare name.
    #[error("`{name}` does not name a program")]
    Program { name: String },
}

impl AbilityError {
    /// Returns the advice for a correction.
    pub fn help(&self) -> String {
        match self {
            AbilityError::Unknown { name } => {
                let names = Base::ALL.map(Base::as_str);
                suggest_nearest(name, &names).unwrap_or_else(|| {
                    format!("known abilities: `{}` and `sh:<command>`", names.join("`, `"))
                })
            }
            AbilityError::Scope { name } => {
                let base = name.split(':').next().unwrap_or_default();
                format!("write `{}`", base.to_lowercase())
            }
            AbilityError::Program { .. } => {
                "write the name of one program without a path or arguments, such as \
                 `sh:git`"
                    .to_owned()
            }
        }
    }
}

impl FromStr for Ability {
    type Err = AbilityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let name = || text.to_owned();
        let (base, program) = match text.split_once(':') {
            Some((base, program)) => (base, Some(program)),
            None => (text, None),
        };
        let base = Base::ALL.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(base));
        match (base, program) {
            (None, _) => Err(AbilityError::Unknown { name: name() }),
            (Some(base), None) => Ok(Ability::Base(base)),
            (Some(Base::Sh), Some(program)) if is_program(program) => {
                Ok(Ability::Program(program.to_owned()))
            }
            (Some(Base::Sh), Some(_)) => Err(AbilityError::Program { name: name() }),
            (Some(_), Some(_)) => Err(AbilityError::Scope { name: name() }),
        }
    }
}

/// Returns whether a name is a program's; `.` and `..` are directories.
fn is_program(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    !name.is_empty() && name.bytes().all(letter) && !matches!(name, "." | "..")
}
