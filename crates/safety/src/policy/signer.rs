//! Signers of artifacts: who they are, and for how long a policy takes their word.

use std::fmt;
use std::time::{Duration, SystemTime};

use toml_edit::{Datetime, InlineTable, Value};

use brief_syntax::toml::{TomlEntry, TomlProblem};

/// The part of an identity that changes with every release of a workflow.
const TAG: &str = "@refs/tags/";

/// The keys of a signer in a policy.
const KEYS: [&str; 5] = ["identity", "issuer", "key", "not-after", "not-before"];

/// A signer: a key, or an identity with the issuer that vouches for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signer {
    /// A key, by `sha256:` and the digits of its SHA-256.
    Key(String),
    /// An identity of a certificate.
    Identity { identity: String, issuer: String },
}

impl Signer {
    /// Parses a signer as text: the name of a key, or an identity and its issuer with a blank between them.
    pub fn parse(text: &str) -> Option<Signer> {
        if let Some(digits) = text.strip_prefix("sha256:") {
            let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            let is_key = digits.len() == 64 && digits.bytes().all(is_digit);
            return is_key.then(|| Signer::Key(text.to_owned()));
        }
        let (identity, issuer) = text.split_once(' ')?;
        let is_plain = |text: &str| {
            !text.is_empty() && text.len() <= 2048 && text.chars().all(|one| one.is_ascii_graphic())
        };
        (is_plain(identity) && is_plain(issuer))
            .then(|| Signer::Identity { identity: identity.to_owned(), issuer: issuer.to_owned() })
    }

    /// Returns the signer as a lock keeps it: a workflow that signs tags is the same for all tags.
    #[must_use]
    pub fn to_pinned(&self) -> Signer {
        match self {
            Signer::Key(_) => self.clone(),
            Signer::Identity { identity, issuer } => {
                let identity = match identity.split_once(TAG) {
                    Some((workflow, _)) => format!("{workflow}{TAG}*"),
                    None => identity.clone(),
                };
                Signer::Identity { identity, issuer: issuer.clone() }
            }
        }
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Signer::Key(key) => formatter.write_str(key),
            Signer::Identity { identity, issuer } => write!(formatter, "{identity} {issuer}"),
        }
    }
}

/// A signer that a policy names, and the time for which it may sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignerRule {
    /// The signer; `*` in its identity stands for any letters.
    pub signer: Signer,
    pub not_before: Option<SystemTime>,
    pub not_after: Option<SystemTime>,
}

impl SignerRule {
    /// Returns whether the rule is about a signer.
    pub fn matches_signer(&self, signer: &Signer) -> bool {
        match (&self.signer, signer) {
            (Signer::Key(own), Signer::Key(other)) => own == other,
            (
                Signer::Identity { identity: own, issuer },
                Signer::Identity { identity: other, issuer: found },
            ) => issuer == found && has_form(other, own),
            _ => false,
        }
    }

    /// Returns whether the signer may sign at a time.
    pub fn allows_time(&self, time: SystemTime) -> bool {
        self.not_before.is_none_or(|start| start <= time)
            && self.not_after.is_none_or(|end| time <= end)
    }

    /// Reads an entry of the list of signers.
    pub(super) fn parse_rule(
        entry: &TomlEntry<'_>,
        value: &Value,
    ) -> Result<SignerRule, TomlProblem> {
        if let Some(text) = value.as_str() {
            let signer = read_key(entry, text)?;
            return Ok(SignerRule { signer, not_before: None, not_after: None });
        }
        let Some(table) = value.as_inline_table() else {
            let help = "write `\"sha256:…\"`, `{ key = \"sha256:…\" }` or `{ identity = \"…\", issuer = \"…\" }`";
            return Err(entry.value_problem("must be a signer", help));
        };
        if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(key)) {
            let help = format!("known keys: {}", KEYS.join(", "));
            return Err(entry.invalid_value(&format!("unknown signer key `{key}`"), &help));
        }
        let text = |key: &str| match table.get(key).map(Value::as_str) {
            Some(None) => Err(entry.invalid_value(&format!("`{key}` is not a string"), "")),
            found => Ok(found.flatten()),
        };
        let signer = match (text("key")?, text("identity")?, text("issuer")?) {
            (Some(key), None, None) => read_key(entry, key)?,
            (None, Some(identity), Some(issuer)) => {
                let read = Signer::parse(&format!("{identity} {issuer}"));
                let read = read.filter(|read| matches!(read, Signer::Identity { .. }));
                read.ok_or_else(|| {
                    entry.invalid_value("an identity and an issuer cannot contain spaces", "")
                })?
            }
            _ => {
                return Err(entry.invalid_value(
                    "a signer has a `key`, or an `identity` and its `issuer`",
                    "add the issuer that vouches for the identity",
                ));
            }
        };
        let not_before = parse_date(entry, table, "not-before", "T00:00:00Z")?;
        let not_after = parse_date(entry, table, "not-after", "T23:59:59Z")?;
        Ok(SignerRule { signer, not_before, not_after })
    }
}

fn read_key(entry: &TomlEntry<'_>, text: &str) -> Result<Signer, TomlProblem> {
    let key = Signer::parse(text).filter(|signer| matches!(signer, Signer::Key(_)));
    key.ok_or_else(|| {
        let help = "write `sha256:` and the 64 digits that `brief registry publish --sign` names, or `{ identity = \"…\", issuer = \"…\" }`";
        entry.invalid_value(&format!("`{text}` is not a signer"), help)
    })
}

/// Reads a date, or a date and a time in UTC.
fn parse_date(
    entry: &TomlEntry<'_>,
    table: &InlineTable,
    key: &str,
    rest_of_day: &str,
) -> Result<Option<SystemTime>, TomlProblem> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let written = value.as_datetime().map(Datetime::to_string).and_then(|text| match text.len() {
        10 => Some(format!("{text}{rest_of_day}")),
        _ => text.ends_with('Z').then_some(text),
    });
    let time = written.and_then(|text| to_unix_seconds(&text));
    let time = time.ok_or_else(|| {
        let help = "write it without quotes: `2027-01-31` or `2027-01-31T12:00:00Z`";
        entry.invalid_value(&format!("`{key}` is not a date, or a date and a time with `Z`"), help)
    })?;
    Ok(Some(SystemTime::UNIX_EPOCH + Duration::from_secs(time)))
}

/// Returns the seconds since 1970 of `YYYY-MM-DDTHH:MM:SSZ`, which TOML has checked.
fn to_unix_seconds(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // The days before a year that begins in March, so that the leap day is its last.
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

/// Returns whether a text has a form in which `*` stands for any letters.
fn has_form(text: &str, form: &str) -> bool {
    let mut parts = form.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKFLOW: &str = "https://git.example/acme/guidance/release.yml";

    fn identity(name: &str) -> Signer {
        Signer::parse(&format!("{name} https://issuer.example")).unwrap()
    }

    #[test]
    fn a_signer_is_a_key_or_an_identity_with_an_issuer() {
        let key = format!("sha256:{}", "a".repeat(64));
        assert_eq!(Signer::parse(&key), Some(Signer::Key(key.clone())));
        assert_eq!(Signer::parse(&key).unwrap().to_string(), key);
        let text = "ann@example.com https://issuer.example";
        assert_eq!(Signer::parse(text).unwrap().to_string(), text);
        for wrong in
            ["", "ann@example.com", "a b c", "a  b", "sha256:1 b", " b", "a ", "a\u{202e} b"]
        {
            assert_eq!(Signer::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn tags_of_one_workflow_are_one_signer() {
        let at = |reference: &str| identity(&format!("{WORKFLOW}@refs/{reference}")).to_pinned();
        assert_eq!(at("tags/v1"), at("tags/v2"));
        assert_ne!(at("tags/v1"), at("heads/main"));
        assert_ne!(at("heads/other"), at("heads/main"));
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        for (text, form, fits) in [
            ("abc", "abc", true),
            ("abc", "ab", false),
            ("abc", "*", true),
            ("abc", "a*c", true),
            ("abc", "a*b", false),
            ("ab", "ab*b", false),
            ("abab", "a*b*b", true),
            ("abcabd", "*abd", true),
            ("", "", true),
        ] {
            assert_eq!(has_form(text, form), fits, "{text} {form}");
        }
    }

    #[test]
    fn days_count_to_their_end() {
        assert_eq!(to_unix_seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(to_unix_seconds("2023-11-14T22:13:20Z"), Some(1_700_000_000));
        assert_eq!(to_unix_seconds("2024-02-29T23:59:59Z"), Some(1_709_251_199));
        assert_eq!(to_unix_seconds("1969-12-31T00:00:00Z"), None);
    }
}
