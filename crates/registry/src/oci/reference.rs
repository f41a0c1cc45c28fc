//! The addresses of artifacts, as users type them: `oci://HOST/PATH[:TAG|@DIGEST]` and
//! `oci-layout:DIRECTORY[:TAG|@DIGEST]`.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::address::{after_prefix, one_line};
use crate::source::{SourceError, redact_address};

/// The beginning of an address in a registry.
pub(crate) const SCHEME: &str = "oci://";

/// The beginning of an address in a directory.
pub(crate) const LAYOUT: &str = "oci-layout:";

/// The tag that is meant without one.
pub(crate) const DEFAULT_TAG: &str = "latest";

/// The limit for the characters of a tag, from the distribution specification.
const TAG_LENGTH: usize = 128;

/// The limit for the characters of host and path together.
const NAME_LENGTH: usize = 255;

/// An artifact in a container registry, or in a directory with the same content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OciSource {
    pub place: OciPlace,
    /// A tag or a digest. `None` means the tag `latest`.
    pub reference: Option<String>,
}

/// The repository of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OciPlace {
    /// A repository of a registry.
    Registry {
        /// The host in lower case, with its port if it has one.
        host: String,
        /// The path of the repository.
        path: String,
    },
    /// A directory with an image layout, absolute.
    Layout(PathBuf),
}

impl OciSource {
    /// Returns whether a text claims to be the address of an artifact.
    pub(crate) fn is_meant(text: &str) -> bool {
        after_prefix(text, SCHEME).or_else(|| after_prefix(text, LAYOUT)).is_some()
    }

    /// Parses an address; `base` is the start of relative directories.
    pub fn parse(text: &str, base: &Path) -> Result<OciSource, SourceError> {
        let refused = |reason| SourceError::Oci { given: redact_address(text), reason };
        let (is_registry, rest) = match after_prefix(text, SCHEME) {
            Some(rest) => (true, rest),
            None => (false, text.get(LAYOUT.len()..).unwrap_or_default()),
        };
        let (rest, digest) = match rest.rsplit_once('@') {
            Some((rest, digest)) if !digest.contains('/') => (rest, Some(digest)),
            _ => (rest, None),
        };
        let name = rest.rfind('/').map_or(0, |slash| slash + 1);
        // In a registry the text before the first slash is the host, and its colon begins the port.
        let (rest, tag) = match rest[name..].rfind(':') {
            Some(colon) if !(is_registry && name == 0) => {
                (&rest[..name + colon], Some(&rest[name + colon + 1..]))
            }
            _ => (rest, None),
        };
        if let Some(digest) = digest {
            check_digest(digest).map_err(refused)?;
        }
        if let Some(tag) = tag {
            check_tag(tag).map_err(refused)?;
        }
        // With both, the digest decides, as in other tools.
        let reference = digest.or(tag).map(str::to_owned);
        let place = if is_registry {
            let (host, path) = rest.split_once('/').ok_or_else(|| {
                refused("has no repository after the host: write `oci://HOST/PATH`")
            })?;
            check_host(host).map_err(refused)?;
            check_path(path).map_err(refused)?;
            if host.len() + path.len() > NAME_LENGTH {
                return Err(refused("is longer than 255 characters"));
            }
            OciPlace::Registry { host: host.to_ascii_lowercase(), path: path.to_owned() }
        } else {
            if rest.is_empty() {
                return Err(refused("has no directory after `oci-layout:`"));
            }
            OciPlace::Layout(brief_system::paths::clean_path(&base.join(rest)))
        };
        Ok(OciSource { place, reference })
    }

    /// Parses an address of a repository, at a tag or digest if there is one.
    pub(crate) fn parse_at(
        text: &str,
        reference: Option<&str>,
        base: &Path,
    ) -> Result<OciSource, SourceError> {
        let source = OciSource::parse(text, base)?;
        reference.map_or_else(|| Ok(source.clone()), |reference| source.with_reference(reference))
    }

    /// Returns the tag or digest that is meant.
    pub fn reference_or_default(&self) -> &str {
        self.reference.as_deref().unwrap_or(DEFAULT_TAG)
    }

    /// Returns the digest, if the address names one.
    pub fn digest(&self) -> Option<&str> {
        self.reference.as_deref().filter(|text| is_digest(text))
    }

    /// Returns the address without tag and digest.
    pub fn repository(&self) -> String {
        match &self.place {
            OciPlace::Registry { host, path } => format!("{SCHEME}{host}/{path}"),
            OciPlace::Layout(path) => format!("{LAYOUT}{}", one_line(&path.to_string_lossy())),
        }
    }

    /// Returns the same repository at another tag or digest. The error says why the text is neither.
    pub fn with_reference(&self, reference: &str) -> Result<OciSource, SourceError> {
        let given = one_line(reference);
        check_digest(reference)
            .or_else(
                |reason| if reference.contains(':') { Err(reason) } else { check_tag(reference) },
            )
            .map_err(|reason| SourceError::Oci { given, reason })?;
        Ok(OciSource { place: self.place.clone(), reference: Some(reference.to_owned()) })
    }
}

impl fmt::Display for OciSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.repository())?;
        match &self.reference {
            Some(digest) if is_digest(digest) => write!(formatter, "@{digest}"),
            Some(tag) => write!(formatter, ":{}", one_line(tag)),
            None => Ok(()),
        }
    }
}

/// Returns whether a text is a SHA-256 digest: `sha256:` and 64 digits.
pub(crate) fn is_digest(text: &str) -> bool {
    check_digest(text).is_ok()
}

fn check_digest(text: &str) -> Result<(), &'static str> {
    match text.split_once(':') {
        Some(("sha256", digits)) if crate::lock::is_sha256(digits) => Ok(()),
        Some(("sha512", _)) => {
            Err("uses an unsupported digest algorithm; only SHA-256 is supported")
        }
        _ => Err("a digest must be `sha256:` and 64 digits of `0-9a-f`"),
    }
}

pub(crate) fn check_tag(tag: &str) -> Result<(), &'static str> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_valid = tag.len() <= TAG_LENGTH
        && tag.bytes().next().is_some_and(is_letter)
        && tag.bytes().all(|byte| is_letter(byte) || matches!(byte, b'.' | b'-'));
    if is_valid {
        Ok(())
    } else {
        Err(
            "a tag must have at most 128 characters of `A-Za-z0-9_.-` and start with a letter, digit or `_`",
        )
    }
}

fn check_host(host: &str) -> Result<(), &'static str> {
    if host.contains('@') {
        return Err("contains credentials; use `docker login` instead");
    }
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (host, None),
    };
    let is_name = |name: &str| {
        !name.is_empty()
            && name.split('.').all(|part| {
                !part.is_empty()
                    && !part.starts_with('-')
                    && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            })
    };
    let is_literal = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if (is_name(name) || is_literal) && is_port { Ok(()) } else { Err("has an invalid host") }
}

/// Checks the rules of the distribution specification for repositories.
fn check_path(path: &str) -> Result<(), &'static str> {
    let is_part = |part: &str| {
        let ends = |byte: Option<u8>| {
            byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let is_letter =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
        ends(part.bytes().next())
            && ends(part.bytes().last())
            && part.bytes().all(is_letter)
            && !part.contains("..")
            && !part.contains("___")
    };
    if path.split('/').all(is_part) {
        Ok(())
    } else {
        Err(
            "the path may contain lowercase letters, digits, `/`, and single `.`, `_` or `-` between them",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn parse(text: &str) -> Result<OciSource, SourceError> {
        OciSource::parse(text, Path::new("/p"))
    }

    /// The grammar is that of the distribution specification, with a scheme.
    #[test]
    fn addresses_as_other_tools_write_them() {
        for (text, shown, wanted) in [
            ("oci://ghcr.io/acme/skills", "oci://ghcr.io/acme/skills", "latest"),
            ("OCI://GHCR.io/acme/skills:v1.2", "oci://ghcr.io/acme/skills:v1.2", "v1.2"),
            ("oci://localhost:5000/a", "oci://localhost:5000/a", "latest"),
            ("oci://localhost:5000/a:b", "oci://localhost:5000/a:b", "b"),
            ("oci://[::1]:5000/a/b:c", "oci://[::1]:5000/a/b:c", "c"),
            ("oci-layout:kept", "oci-layout:/p/kept", "latest"),
            ("oci-layout:./kept:v1", "oci-layout:/p/kept:v1", "v1"),
            ("oci-layout:/a:b/kept", "oci-layout:/a:b/kept", "latest"),
        ] {
            let source = parse(text).unwrap();
            assert_eq!(
                (source.to_string().as_str(), source.reference_or_default()),
                (shown, wanted),
                "{text}"
            );
        }
        let pinned = parse(&format!("oci://h.example/a:v1@{DIGEST}")).unwrap();
        assert_eq!(pinned.digest(), Some(DIGEST));
        assert_eq!(pinned.to_string(), format!("oci://h.example/a@{DIGEST}"));
        assert_eq!(parse(&pinned.to_string()).unwrap(), pinned);
    }

    #[test]
    fn addresses_that_are_refused() {
        for text in [
            "oci://",
            "oci://host",
            "oci://host/",
            "oci://host/A",
            "oci://host/a//b",
            "oci://host/a/../b",
            "oci://host/-a",
            "oci://host/a:",
            "oci://host/a:-x",
            "oci://host/a@sha256:12",
            "oci://host/a@sha512:00",
            "oci://user:secret@host/a",
            "oci://ho st/a",
            "oci://host:0/a",
            "oci://host:99999/a",
            "oci://[::g]/a",
            "oci-layout:",
        ] {
            let refused = parse(text).unwrap_err().to_string();
            assert!(!refused.contains("secret"), "{refused}");
        }
        let tag = "a".repeat(129);
        assert!(parse(&format!("oci://host/a:{tag}")).is_err());
        assert!(parse("oci://host/a").unwrap().with_reference("sha256:1").is_err());
        assert!(parse("oci://host/a").unwrap().with_reference("stable").is_ok());
    }
}
