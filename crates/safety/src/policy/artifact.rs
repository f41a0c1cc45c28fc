//! Rules for artifacts of registries: which registries, by digest only, how old, and signed by which keys.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::pattern::{self, SourcePattern, render_patterns};
use super::signer::SignerRule;
use super::{Policy, PolicyDecision, PolicyLayer, SourcePlace};
use brief_syntax::toml::{Table, TomlEntry, TomlProblem};

/// The keys of the table.
const KEYS: [&str; 4] = ["digests-only", "minimum-age", "registries", "signers"];

const HOUR: u64 = 60 * 60;

/// The units of an age.
const UNITS: [(char, u64); 3] = [('h', HOUR), ('d', 24 * HOUR), ('w', 7 * 24 * HOUR)];

/// The rules of one file, each with its line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ArtifactRules {
    registries: Option<(usize, Vec<SourcePattern>)>,
    digests_only: Option<usize>,
    minimum_age: Option<(usize, Duration, String)>,
    signers: Vec<(usize, SourcePattern, Vec<SignerRule>)>,
}

/// Signers of which one must have signed, with the rule that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredSigners {
    /// The signers, each with its time.
    pub signers: Vec<SignerRule>,
    pub decision: PolicyDecision,
}

impl Policy {
    /// Returns the rule that forbids an artifact by its address.
    pub fn find_artifact_rule(
        &self,
        place: &SourcePlace,
        has_digest: bool,
    ) -> Option<PolicyDecision> {
        self.layers.iter().find_map(|layer| {
            let rules = &layer.artifacts;
            if let Some((line, patterns)) = &rules.registries
                && !matches!(place, SourcePlace::Directory(_))
                && !patterns.iter().any(|pattern| pattern.allows_place(place))
            {
                let rule = match pattern::render_patterns(patterns) {
                    None => "allows no registry".to_owned(),
                    Some(patterns) => format!("allows only the registries {patterns}"),
                };
                return Some(layer.build_decision(*line, rule));
            }
            let line = rules.digests_only.filter(|_| !has_digest)?;
            Some(layer.build_decision(line, "allows only artifacts with a digest".to_owned()))
        })
    }

    /// Returns the signers that an artifact must have, one of each.
    pub fn required_signers(&self, place: &SourcePlace) -> Vec<RequiredSigners> {
        let mut required = Vec::new();
        for layer in &self.layers {
            let fitting =
                layer.artifacts.signers.iter().filter(|(_, one, _)| one.denies_place(place));
            required.extend(fitting.map(|(line, pattern, signers)| {
                let rule = format!("requires a signature by the signers of `{pattern}`");
                RequiredSigners {
                    signers: signers.clone(),
                    decision: layer.build_decision(*line, rule),
                }
            }));
        }
        required
    }

    /// Returns the rule that forbids an artifact of this time, or one without a time.
    pub fn too_young(
        &self,
        created: Option<SystemTime>,
        now: SystemTime,
    ) -> Option<PolicyDecision> {
        self.layers.iter().find_map(|layer| {
            let (line, age, written) = layer.artifacts.minimum_age.as_ref()?;
            let is_old = created
                .and_then(|created| now.duration_since(created).ok())
                .is_some_and(|own| own >= *age);
            let rule = || format!("requires artifacts to be at least `{written}` old");
            (!is_old).then(|| layer.build_decision(*line, rule()))
        })
    }
}

impl PolicyLayer {
    /// Returns the rules about artifacts.
    pub(super) fn artifact_rules(&self) -> Vec<PolicyDecision> {
        let rules = &self.artifacts;
        let registries = rules.registries.iter().map(|(line, patterns)| {
            let rule = match render_patterns(patterns) {
                None => "allows no registry".to_owned(),
                Some(patterns) => format!("allows only the registries {patterns}"),
            };
            self.build_decision(*line, rule)
        });
        let digests = rules.digests_only.iter().map(|line| {
            self.build_decision(*line, "allows only artifacts with a digest".to_owned())
        });
        let ages = rules.minimum_age.iter().map(|(line, _, written)| {
            self.build_decision(*line, format!("requires artifacts to be at least `{written}` old"))
        });
        let signers = rules.signers.iter().map(|(line, pattern, _)| {
            self.build_decision(
                *line,
                format!("requires a signature by the signers of `{pattern}`"),
            )
        });
        registries.chain(digests).chain(ages).chain(signers).collect()
    }
}

pub(super) fn parse_artifact_rules(
    table: Table<'_>,
    home: Option<&Path>,
    rules: &mut ArtifactRules,
) -> Result<(), TomlProblem> {
    for entry in table.entries() {
        let line = super::read::entry_line(&entry);
        match entry.key {
            "registries" => {
                rules.registries = Some((line, super::read::parse_patterns(&entry, home)?));
            }
            "digests-only" => {
                let is_on = entry.item.as_bool().ok_or_else(|| {
                    entry.value_problem("must be `true` or `false`", "write it without quotes")
                })?;
                rules.digests_only = is_on.then_some(line);
            }
            "minimum-age" => {
                let text = entry.text()?;
                let age = parse_age(text).ok_or_else(|| {
                    let help = "write hours, days or weeks: `12h`, `3d`, `2w`";
                    entry.invalid_value(&format!("`{text}` is not an age"), help)
                })?;
                rules.minimum_age = Some((line, age, text.to_owned()));
            }
            "signers" => {
                for entry in entry.table()?.entries() {
                    rules.signers.push(parse_signers(&entry, home)?);
                }
            }
            _ => return Err(entry.unknown_key(&KEYS)),
        }
    }
    Ok(())
}

fn parse_signers(
    entry: &TomlEntry<'_>,
    home: Option<&Path>,
) -> Result<(usize, SourcePattern, Vec<SignerRule>), TomlProblem> {
    let pattern = super::read::parse_pattern(entry, entry.key, home)?;
    let list = entry.item.as_array();
    let list =
        list.ok_or_else(|| entry.value_problem("must be a list of signers", "write `[…]`"))?;
    let rules: Result<Vec<SignerRule>, TomlProblem> =
        list.iter().map(|value| SignerRule::parse_rule(entry, value)).collect();
    Ok((super::read::entry_line(entry), pattern, rules?))
}

fn parse_age(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let (_, seconds) = UNITS.into_iter().find(|(letter, _)| *letter == unit)?;
    let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
    count.checked_mul(seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use brief_system::MemorySystem;

    use super::super::Signer;
    use super::*;

    const SIGNER: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn policy(text: &str) -> Result<Policy, super::super::PolicyError> {
        let layer = super::super::read::parse_layer(
            Path::new("/etc/policy.toml"),
            text.as_bytes().to_vec(),
            None,
        )?;
        Ok(Policy { layers: vec![layer] })
    }

    fn place(address: &str) -> SourcePlace {
        SourcePlace::of_address(address)
    }

    #[test]
    fn registries_and_digests() {
        let rules =
            policy("[oci]\nregistries = [\"*.acme.example\"]\ndigests-only = true\n").unwrap();
        let own = place("oci://registry.acme.example/a");
        assert_eq!(rules.find_artifact_rule(&own, true), None);
        let refused = rules.find_artifact_rule(&own, false).unwrap();
        assert_eq!(refused.line, 3);
        let refused = rules.find_artifact_rule(&place("oci://ghcr.io/acme/a"), true).unwrap();
        assert_eq!(refused.line, 2);
        // A directory has no registry.
        let directory = SourcePlace::Directory("/srv/kept".into());
        assert_eq!(rules.find_artifact_rule(&directory, true), None);
        assert!(rules.find_artifact_rule(&directory, false).is_some());
    }

    #[test]
    fn signers_of_fitting_places() {
        let text =
            format!("[oci.signers]\n\"registry.acme.example/platform/*\" = [\"{SIGNER}\"]\n");
        let rules = policy(&text).unwrap();
        let required = rules.required_signers(&place("oci://registry.acme.example/platform/a"));
        assert_eq!(required.len(), 1);
        let signer = Signer::parse(SIGNER).unwrap();
        assert!(required[0].signers.iter().any(|rule| rule.matches_signer(&signer)));
        assert!(rules.required_signers(&place("oci://registry.acme.example/other")).is_empty());
    }

    /// A key or an identity with its issuer, each with a time if it has one; everything else is an error.
    #[test]
    fn signers_have_a_time() {
        let text = "[oci.signers]\n\"a.example\" = [\n  { identity = \"https://git.example/acme/*\", \
                    issuer = \"https://issuer.example\", not-before = 2026-01-01, not-after = 2026-12-31 },\n]\n";
        let rules = policy(text).unwrap();
        let rule = rules.required_signers(&place("oci://a.example/x"))[0].signers[0].clone();
        let signer = |text: &str| Signer::parse(text).unwrap();
        assert!(rule.matches_signer(&signer("https://git.example/acme/w https://issuer.example")));
        assert!(!rule.matches_signer(&signer("https://git.example/acme/w https://other.example")));
        assert!(!rule.matches_signer(&signer("https://git.example/other https://issuer.example")));
        assert!(!rule.matches_signer(&signer(SIGNER)));
        // 2025-12-31T23:59:59Z, and the last second of 2026.
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        assert!(!rule.allows_time(at(1_767_225_599)) && rule.allows_time(at(1_767_225_600)));
        assert!(rule.allows_time(at(1_798_761_599)) && !rule.allows_time(at(1_798_761_600)));
        for wrong in [
            "\"me\"",
            "\"ann@example.com https://issuer.example\"",
            "{ identity = \"a\" }",
            "{ issuer = \"a\" }",
            "{ key = \"a\" }",
            "{ key = \"a b\" }",
            "{ identity = \"a b\", issuer = \"c\" }",
            "{ identity = \"a\", issuer = \"c\", until = 2026-01-01 }",
            "{ identity = \"a\", issuer = \"c\", not-after = \"2026-01-01\" }",
            "{ identity = \"a\", issuer = \"c\", not-after = 12:00:00 }",
            "{ identity = \"a\", issuer = \"c\", not-after = 2026-01-01T00:00:00 }",
            "1",
        ] {
            let text = format!("[oci.signers]\n\"a.example\" = [{wrong}]\n");
            assert!(policy(&text).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ages() {
        let rules = policy("[oci]\nminimum-age = \"3d\"\n").unwrap();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(100 * 24 * HOUR);
        let ago = |hours: u64| Some(now - Duration::from_secs(hours * HOUR));
        assert!(rules.too_young(ago(71), now).is_some());
        assert!(rules.too_young(ago(72), now).is_none());
        assert!(rules.too_young(None, now).is_some());
        assert!(rules.too_young(Some(now + Duration::from_secs(1)), now).is_some());
        for wrong in ["3", "d", "-1d", "3 d", "99999999999999999999d", ""] {
            assert!(policy(&format!("[oci]\nminimum-age = \"{wrong}\"\n")).is_err(), "{wrong}");
        }
        assert!(policy("[oci]\nage = 1\n").is_err());
        let none = Policy::load(&MemorySystem::default()).unwrap();
        assert!(none.too_young(None, now).is_none());
    }
}
