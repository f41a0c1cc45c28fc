//! The policies of a machine and its user: rules that forbid.
//!
//! Two files count: `policy.toml` of the machine, which the administrator writes, and that of the
//! user. Each can only forbid more: every question is asked of both, and one "no" is enough. A
//! project has no policy, because it would decide about itself. A file that cannot be read or
//! understood is an error, and the command stops: a slip in a policy must not allow what it was to
//! forbid.
//!
//! The module is in this crate because installing, running and serving all ask it, and their crates
//! do not see each other.

mod artifact;
pub(crate) mod fuzzing;
mod host;
mod pattern;
mod read;
mod signer;

use std::fmt;
use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_system::{ReadError, System, config_directory, home_directory};

use crate::capability::Capability;

use artifact::ArtifactRules;
pub use artifact::RequiredSigners;
use pattern::SourcePattern;
pub use pattern::SourcePlace;
pub use signer::{Signer, SignerRule};

/// The file's name, in the machine's directory and in the user's.
pub const FILE_NAME: &str = "policy.toml";

/// The policies in force, the machine's first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    layers: Vec<PolicyLayer>,
}

/// The rules of one policy file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct PolicyLayer {
    path: PathBuf,
    /// The allowed sources, with the line of the key; every other source is forbidden.
    allow: Option<(usize, Vec<SourcePattern>)>,
    deny: Vec<(usize, SourcePattern)>,
    required: Vec<(usize, RequiredItem)>,
    never: Vec<(usize, Capability)>,
    execution: Option<usize>,
    delivery: Option<usize>,
    enforcement: Option<usize>,
    artifacts: ArtifactRules,
}

/// An item that every project must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredItem {
    /// The name of its kind, such as `skill`.
    pub kind: &'static str,
    pub name: String,
}

impl fmt::Display for RequiredItem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} `{}`", self.kind, self.name)
    }
}

/// A rule that decided, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyDecision {
    pub path: PathBuf,
    /// The line of the rule.
    pub line: usize,
    /// The rule, in words that follow "the policy …".
    pub rule: String,
}

impl PolicyDecision {
    /// Formats the place as file and line.
    pub fn render_location(&self) -> String {
        format!("{}:{}", self.path.display(), self.line)
    }
}

impl fmt::Display for PolicyDecision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the policy `{}` {}", self.render_location(), self.rule)
    }
}

/// A policy that cannot be followed. The command stops.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The file exists and cannot be read.
    #[error("cannot read the policy `{}`: {problem}", path.display())]
    Unreadable { path: PathBuf, problem: String },
    /// The file is not a valid policy.
    #[error("cannot apply the policy `{}:{line}`: {problem}", path.display())]
    Invalid { path: PathBuf, line: usize, problem: String, help: Option<String> },
}

impl PolicyError {
    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        match self {
            PolicyError::Unreadable { path, .. } | PolicyError::Invalid { path, .. } => path,
        }
    }
}

impl Policy {
    /// Reads the files in force. A missing file forbids nothing.
    pub fn load(system: &dyn System) -> Result<Policy, PolicyError> {
        let home = home_directory(system);
        let mut layers = Vec::new();
        let directories = [system.machine_directory(), config_directory(system)];
        for path in directories.into_iter().flatten().map(|directory| directory.join(FILE_NAME)) {
            match system.read(&path, limits::FILE_BYTES) {
                Ok(bytes) => layers.push(read::parse_layer(&path, bytes, home.as_deref())?),
                Err(ReadError::Missing) if !leads_nowhere(system, &path) => {}
                Err(ReadError::Missing) => {
                    let problem = "is a broken link".to_owned();
                    return Err(PolicyError::Unreadable { path, problem });
                }
                Err(error) => {
                    return Err(PolicyError::Unreadable { path, problem: error.to_string() });
                }
            }
        }
        Ok(Policy { layers })
    }

    /// Returns the paths of the files in force.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.layers.iter().map(|layer| layer.path.as_path())
    }

    /// Returns the rule that forbids a source.
    pub fn find_source_rule(&self, place: &SourcePlace) -> Option<PolicyDecision> {
        self.redirected_source(place, std::slice::from_ref(place))
    }

    /// Returns the rule that forbids a source whose address leads elsewhere: to one place that has several names. Neither the address
    /// nor the place may be denied, and the place has to be allowed by one of its names.
    pub fn redirected_source(
        &self,
        typed: &SourcePlace,
        real: &[SourcePlace],
    ) -> Option<PolicyDecision> {
        self.layers.iter().find_map(|layer| layer.find_source_rule(typed, real))
    }

    /// Returns the rule that forbids installing an item with this capability.
    pub fn find_capability_rule(&self, capability: Capability) -> Option<PolicyDecision> {
        self.layers.iter().find_map(|layer| {
            let (line, never) = layer.never.iter().find(|(_, never)| *never == capability)?;
            Some(layer.build_decision(*line, format!("forbids items with `{never}`")))
        })
    }

    /// Returns every rule in force, file by file in the order of their lines.
    pub fn list_rules(&self) -> Vec<PolicyDecision> {
        let mut rules = Vec::new();
        for layer in &self.layers {
            let mut of_file = layer.artifact_rules();
            of_file.extend(
                layer
                    .allow
                    .iter()
                    .map(|(line, allowed)| layer.build_allow_decision(*line, allowed)),
            );
            let denied = layer.deny.iter();
            of_file.extend(
                denied.map(|(line, pattern)| {
                    layer.build_decision(*line, format!("denies `{pattern}`"))
                }),
            );
            of_file.extend(layer.never.iter().map(|(line, never)| {
                layer.build_decision(*line, format!("forbids items with `{never}`"))
            }));
            let required = layer.required.iter();
            of_file.extend(
                required.map(|(line, item)| {
                    layer.build_decision(*line, format!("requires the {item}"))
                }),
            );
            let execution = layer.execution.iter();
            of_file.extend(
                execution.map(|line| layer.build_decision(*line, "turns execution off".to_owned())),
            );
            of_file.extend(layer.delivery_decision());
            of_file.extend(layer.enforcement_decision());
            of_file.sort_by_key(|rule| rule.line);
            rules.append(&mut of_file);
        }
        rules
    }

    /// Returns the rule that turns execution off.
    pub fn find_execution_rule(&self) -> Option<PolicyDecision> {
        self.layers.iter().find_map(|layer| {
            layer.execution.map(|line| layer.build_decision(line, "turns execution off".to_owned()))
        })
    }

    /// Returns the rule that turns delivery by hooks off.
    pub fn find_delivery_rule(&self) -> Option<PolicyDecision> {
        self.layers.iter().find_map(PolicyLayer::delivery_decision)
    }

    /// Returns the rule that turns the enforcement of rules by hooks off.
    pub fn find_enforcement_rule(&self) -> Option<PolicyDecision> {
        self.layers.iter().find_map(PolicyLayer::enforcement_decision)
    }

    /// Returns the items that every project must have, each with the rule that requires it.
    pub fn required_items(&self) -> impl Iterator<Item = (&RequiredItem, PolicyDecision)> {
        self.layers.iter().flat_map(|layer| {
            let decision = |line, item: &RequiredItem| {
                layer.build_decision(line, format!("requires the {item}"))
            };
            layer.required.iter().map(move |(line, item)| (item, decision(*line, item)))
        })
    }
}

/// Returns whether a missing file, or its directory, is a link: there is a policy then, and it cannot be read.
fn leads_nowhere(system: &dyn System, path: &Path) -> bool {
    let is_there = |path: &Path| system.stamp(path).is_ok();
    let directory = path.parent().filter(|directory| is_there(directory));
    is_there(path) || directory.is_some_and(|directory| system.open_dir(directory).is_err())
}

impl PolicyLayer {
    fn build_decision(&self, line: usize, rule: String) -> PolicyDecision {
        PolicyDecision { path: self.path.clone(), line, rule }
    }

    fn delivery_decision(&self) -> Option<PolicyDecision> {
        Some(self.build_decision(self.delivery?, "turns delivery by hooks off".to_owned()))
    }

    fn enforcement_decision(&self) -> Option<PolicyDecision> {
        Some(self.build_decision(self.enforcement?, "turns enforcement of rules off".to_owned()))
    }

    fn find_source_rule(
        &self,
        typed: &SourcePlace,
        real: &[SourcePlace],
    ) -> Option<PolicyDecision> {
        let covers = |pattern: &SourcePattern| {
            pattern.denies_place(typed) || real.iter().any(|place| pattern.denies_place(place))
        };
        let denied = self.deny.iter().find(|(_, pattern)| covers(pattern));
        if let Some((line, pattern)) = denied {
            return Some(self.build_decision(*line, format!("denies `{pattern}`")));
        }
        let (line, allowed) = self.allow.as_ref()?;
        if allowed.iter().any(|pattern| real.iter().any(|place| pattern.allows_place(place))) {
            return None;
        }
        Some(self.build_allow_decision(*line, allowed))
    }

    fn build_allow_decision(&self, line: usize, allowed: &[SourcePattern]) -> PolicyDecision {
        let rule = match pattern::render_patterns(allowed) {
            None => "allows no source".to_owned(),
            Some(patterns) => format!("allows only {patterns}"),
        };
        self.build_decision(line, rule)
    }
}

#[cfg(test)]
mod tests;
