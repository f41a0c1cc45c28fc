//! The state of a source on its server: the commit of its reference, and newer tags.

use brief_syntax::hidden;
use semver::Version;

use crate::source::check_reference;

/// The answer of a server about a source. Nothing was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latest {
    /// The full commit of the source's reference.
    pub commit: String,
    /// The names of all tags, sorted, each once.
    pub tags: Vec<String>,
}

/// Returns the names of the tags in an answer to `ls-remote`.
pub(crate) fn parse_tags(answer: &str) -> Vec<String> {
    let names =
        answer.lines().filter_map(|line| line.split_once('\t')?.1.strip_prefix("refs/tags/"));
    // A hostile server may list names that are not valid references.
    let mut tags: Vec<String> = names
        .filter(|name| check_reference(name).is_ok() && !name.chars().any(hidden::is_hidden))
        .map(str::to_owned)
        .collect();
    tags.sort();
    tags.dedup();
    tags
}

/// Returns the newest of the tags that is a newer version than `reference`, if that is a version.
///
/// `v1.2.3` and `1.2.3` are versions, also after a name that ends in `/` or `@`, as in repositories with
/// several packages. Only tags in the same form count, and pre-releases only if the reference is one.
pub fn find_newer_tag<'t>(reference: &str, tags: &'t [String]) -> Option<&'t str> {
    let reference = ["refs/tags/", "tags/"]
        .iter()
        .find_map(|under| reference.strip_prefix(under))
        .unwrap_or(reference);
    let (prefix, current) = split_version(reference)?;
    let newer = tags.iter().filter_map(|tag| {
        let (other, version) = split_version(tag)?;
        let counts = other == prefix
            && (version.pre.is_empty() || !current.pre.is_empty())
            && version.cmp_precedence(&current).is_gt();
        counts.then_some((version, tag.as_str()))
    });
    newer.max_by(|(one, _), (other, _)| one.cmp(other)).map(|(_, tag)| tag)
}

/// Returns whether a reference is a version, so that others may be newer.
pub fn is_version(reference: &str) -> bool {
    split_version(reference).is_some()
}

/// Splits `package@v1.2.3` before the first digit of the version.
fn split_version(tag: &str) -> Option<(&str, Version)> {
    let name = tag.rfind(['/', '@']).map_or(0, |end| end + 1);
    let start = if tag[name..].starts_with('v') { name + 1 } else { name };
    Some((&tag[..start], Version::parse(&tag[start..]).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_versions() {
        let tags: Vec<String> = [
            "1.9.0",
            "latest",
            "pkg@1.0.0",
            "pkg@1.1.0",
            "skills/v0.2.0",
            "v1.10.0",
            "v1.2.3",
            "v1.9.0",
            "v2",
            "v2.0.0-rc.1",
            "v2.0.0-rc.2",
        ]
        .map(str::to_owned)
        .to_vec();
        for (reference, expected) in [
            ("v1.2.3", Some("v1.10.0")),
            ("refs/tags/v1.9.0", Some("v1.10.0")),
            ("v1.10.0", None),
            ("1.2.3", Some("1.9.0")),
            ("1.9.0", None),
            ("v2.0.0-rc.1", Some("v2.0.0-rc.2")),
            ("v1.0.0-alpha", Some("v2.0.0-rc.2")),
            ("pkg@1.0.0", Some("pkg@1.1.0")),
            ("other@1.0.0", None),
            ("skills/v0.1.9", Some("skills/v0.2.0")),
            ("v1", None),
            ("main", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(find_newer_tag(reference, &tags), expected, "{reference}");
        }
    }

    #[test]
    fn tags_as_the_server_says_them() {
        let answer = "aa\tHEAD\nbb\trefs/heads/x\ncc\trefs/tags/v2\ndd\trefs/tags/v1\nee\trefs/tags/v1^{}\n\
                      ff\trefs/tags/-x\ngg\trefs/tags/a\u{202e}b\nnonsense\nhh\trefs/pull/refs/tags/no\n";
        assert_eq!(parse_tags(answer), ["v1", "v2"]);
    }
}
