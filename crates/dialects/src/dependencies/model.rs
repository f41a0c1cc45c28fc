//! Packages, their names, and the files of guidance that they ship.

use std::fmt;
use std::path::PathBuf;

use brief_syntax::near_miss::suggest_nearest;
use serde::Serialize;

use crate::is_shipped;
use brief_safety::sensitive::{self, Leaf};

/// A kind of package, by the registry that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ecosystem {
    Npm,
    /// Python distributions in a virtual environment.
    Pypi,
    /// Rust crates, vendored or fetched.
    Cargo,
    /// Go modules, vendored or fetched.
    Go,
}

impl Ecosystem {
    /// All ecosystems, in the order of answers.
    pub const ALL: [Ecosystem; 4] =
        [Ecosystem::Npm, Ecosystem::Pypi, Ecosystem::Cargo, Ecosystem::Go];

    /// Returns the name that users type and `brief.lock` records.
    pub fn as_str(self) -> &'static str {
        match self {
            Ecosystem::Npm => "npm",
            Ecosystem::Pypi => "pypi",
            Ecosystem::Cargo => "cargo",
            Ecosystem::Go => "go",
        }
    }

    /// Finds an ecosystem by its name.
    pub fn from_name(name: &str) -> Option<Ecosystem> {
        Ecosystem::ALL.into_iter().find(|ecosystem| ecosystem.as_str() == name)
    }

    /// Returns whether two spellings name one package of this ecosystem.
    pub(super) fn is_same(self, left: &str, right: &str) -> bool {
        match self {
            Ecosystem::Npm | Ecosystem::Go => left == right,
            Ecosystem::Pypi => normalize_python_name(left) == normalize_python_name(right),
            Ecosystem::Cargo => {
                let plain = |name: &str| name.replace('_', "-");
                plain(left) == plain(right)
            }
        }
    }
}

impl fmt::Display for Ecosystem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Returns the name of a Python distribution in the spelling that all others are compared in.
pub(super) fn normalize_python_name(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for character in name.chars() {
        let character = if matches!(character, '-' | '_' | '.') { '-' } else { character };
        if character != '-' || !plain.ends_with('-') {
            plain.extend(character.to_lowercase());
        }
    }
    plain
}

/// The longest name of a package, in bytes. Registries allow less.
const LONGEST_NAME: usize = 256;

/// A package as a project names it: `@acme/ui`, or `npm:@acme/ui`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageName {
    /// The ecosystem, if it is named.
    pub ecosystem: Option<Ecosystem>,
    pub name: String,
}

impl PackageName {
    /// Parses a name. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<PackageName, String> {
        let (ecosystem, name) = match text.split_once(':') {
            Some((ecosystem, name)) => {
                let known = Ecosystem::ALL.map(Ecosystem::as_str);
                let found = Ecosystem::from_name(ecosystem).ok_or_else(|| {
                    let help = suggest_nearest(ecosystem, &known);
                    let help = help.unwrap_or_else(|| format!("known kinds: {}", known.join(", ")));
                    format!("unknown package kind `{ecosystem}`; {help}")
                })?;
                (Some(found), name)
            }
            None => (None, text),
        };
        if !is_plain(name) || name.len() > LONGEST_NAME {
            return Err(format!("`{name}` is not a package name"));
        }
        Ok(PackageName { ecosystem, name: name.to_owned() })
    }

    /// Returns whether this names a package.
    pub fn matches(&self, id: &PackageId) -> bool {
        self.ecosystem.is_none_or(|ecosystem| ecosystem == id.ecosystem)
            && id.ecosystem.is_same(&self.name, &id.name)
    }
}

impl fmt::Display for PackageName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ecosystem {
            Some(ecosystem) => write!(formatter, "{ecosystem}:{}", self.name),
            None => formatter.write_str(&self.name),
        }
    }
}

/// Returns whether a path or a name with `/` has only names that stay below where they start.
pub(super) fn is_plain(path: &str) -> bool {
    !path.chars().any(|character| character.is_control() || character == '\\')
        && path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

/// A package of one version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PackageId {
    pub ecosystem: Ecosystem,
    /// The name by which it is installed, which is that of its place.
    pub name: String,
    /// The version; empty where the package names none.
    pub version: String,
}

impl fmt::Display for PackageId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version.as_str() {
            "" => formatter.write_str(&self.name),
            version => write!(formatter, "{}@{version}", self.name),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub id: PackageId,
    /// The name that the package gives itself, where that is another one.
    pub declared: Option<String>,
    /// True for a package that the project names in its own manifest.
    pub is_direct: bool,
    /// The directory whose dependency it is, absolute.
    pub owner: PathBuf,
    /// The directory that it must not leave, absolute and without links.
    pub base: PathBuf,
    /// The directory that its files count from, absolute and without links.
    pub directory: PathBuf,
    /// The directories of its code: work in them gets nothing from it.
    pub code: Vec<PathBuf>,
    /// The files of guidance, sorted; empty until it was searched.
    pub files: Vec<ShippedFile>,
}

/// A file of guidance in a package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShippedFile {
    pub kind: ShippedKind,
    /// The path below the package's directory, with `/`.
    pub slashed: String,
}

/// A kind of guidance in a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShippedKind {
    AgentsMd,
    AgentsYaml,
    Context,
    /// A `SKILL.md` in `skills` or `.agents/skills`.
    Skill,
    LlmsTxt,
}

impl ShippedKind {
    /// All kinds, in the order of answers.
    pub const ALL: [ShippedKind; 5] = [
        ShippedKind::AgentsMd,
        ShippedKind::AgentsYaml,
        ShippedKind::Context,
        ShippedKind::Skill,
        ShippedKind::LlmsTxt,
    ];

    /// Returns the name of the kind in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            ShippedKind::AgentsMd => "AGENTS.md",
            ShippedKind::AgentsYaml => "AGENTS.yaml",
            ShippedKind::Context => ".context",
            ShippedKind::Skill => "skill",
            ShippedKind::LlmsTxt => "llms.txt",
        }
    }

    /// Returns the kind of item that a file of this kind is.
    pub fn item_kind(self) -> &'static str {
        match self {
            ShippedKind::AgentsMd => "instructions",
            ShippedKind::AgentsYaml | ShippedKind::Context => "context",
            ShippedKind::Skill => "skill",
            ShippedKind::LlmsTxt => "documentation",
        }
    }

    /// Returns the kind of a file by its path below the root of a package.
    pub(super) fn from_path(below: &str) -> Option<ShippedKind> {
        let kind = match below {
            "AGENTS.md" => ShippedKind::AgentsMd,
            "AGENTS.yaml" | "AGENTS.yml" => ShippedKind::AgentsYaml,
            "llms.txt" => ShippedKind::LlmsTxt,
            _ => match below.strip_prefix(".context/") {
                Some(inside) => {
                    let is_hidden = inside.split('/').any(|name| name.starts_with('.'));
                    let secret = sensitive::find_below(".context", inside, Leaf::File);
                    if is_hidden || secret.is_some() || !is_shipped(below) {
                        return None;
                    }
                    ShippedKind::Context
                }
                None => {
                    let skills = below.strip_prefix(".agents/").unwrap_or(below);
                    let name = skills.strip_prefix("skills/")?.strip_suffix("/SKILL.md")?;
                    if name.is_empty() || name.contains('/') || name.starts_with('.') {
                        return None;
                    }
                    ShippedKind::Skill
                }
            },
        };
        is_plain(below).then_some(kind)
    }
}

/// A package that a project has chosen, as its `brief.lock` records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedDependency {
    /// The package and the version that was accepted.
    pub id: PackageId,
    /// The directory whose dependency it is, below that of the lock, with `/`; empty for the same.
    pub from: String,
    /// The SHA-256 of everything that was accepted.
    pub sha256: String,
    /// The capabilities, sorted.
    pub capabilities: Vec<String>,
    /// The files of guidance below the package's directory, each with its SHA-256.
    pub files: Vec<(String, String)>,
}

/// The packages whose guidance a question wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DependencyChoice {
    /// Those that the project has chosen and `brief.lock` records.
    #[default]
    Recorded,
    /// Those, and every direct dependency that ships guidance.
    Direct,
    Named(Vec<PackageName>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_place() {
        for name in ["@acme/ui", "npm:@acme/ui", "pypi:Acme_Ui", "go:github.com/Acme/ui/v2"] {
            assert!(PackageName::parse(name).is_ok(), "{name}");
        }
        for name in ["", "npm:", "..", "../x", "a/../b", "/etc", "a//b", "a\\b", "a\nb", "nmp:a"] {
            assert!(PackageName::parse(name).is_err(), "{name}");
        }
        let near = PackageName::parse("nmp:a").unwrap_err();
        assert!(near.ends_with("did you mean `npm`?"), "{near}");
    }

    #[test]
    fn python_and_cargo_have_several_spellings_of_one_name() {
        let is_same = Ecosystem::is_same;
        assert!(is_same(Ecosystem::Pypi, "Acme__Ui.Kit", "acme-ui-kit"));
        assert!(is_same(Ecosystem::Cargo, "acme_ui", "acme-ui"));
        assert!(!is_same(Ecosystem::Npm, "acme_ui", "acme-ui"));
    }

    #[test]
    fn only_known_names_are_guidance() {
        for (path, kind) in [
            ("AGENTS.md", Some(ShippedKind::AgentsMd)),
            ("AGENTS.yml", Some(ShippedKind::AgentsYaml)),
            ("skills/forms/SKILL.md", Some(ShippedKind::Skill)),
            (".agents/skills/forms/SKILL.md", Some(ShippedKind::Skill)),
            (".context/a/b/c.md", Some(ShippedKind::Context)),
            ("llms.txt", Some(ShippedKind::LlmsTxt)),
            (".context/credentials.md", None),
            (".context/a/.env", None),
            (".context/server.key.md", None),
            (".context/context-config.json", None),
            (".context/../AGENTS.md", None),
            (".context/a/../../../../home/notes.md", None),
            ("skills/../SKILL.md", None),
            ("skills/a/b/SKILL.md", None),
            ("docs/AGENTS.md", None),
            ("README.md", None),
            ("agents.md", None),
        ] {
            assert_eq!(ShippedKind::from_path(path), kind, "{path}");
        }
    }
}
