//! The parser for sources of guidance, as users type them.
//!
//! The spellings are those of other tools. Their form alone tells a repository from a directory, except for a
//! few that could be both: if the directory exists, the directory is meant.

use std::fmt;
use std::path::{Path, PathBuf};

use brief_system::System;

use crate::access::is_here;
use crate::address::{
    Address, after_prefix, is_scheme, one_line, percent_decoded, redact_credentials, split_scheme,
};
use crate::oci::OciSource;

/// Hosts whose repositories need no `https://`; the flag is true if repositories always have two names.
pub(crate) const HOSTS: [(&str, bool); 3] =
    [("github.com", true), ("gitlab.com", false), ("bitbucket.org", true)];

const ARCHIVES: [&str; 14] = [
    ".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".gz",
    ".bz2", ".xz", ".zst", ".7z",
];

/// The limit for the characters of a reference.
const REFERENCE_LENGTH: usize = 250;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceAddress {
    Directory(PathBuf),
    /// A git repository, or a directory in one.
    Git(GitSource),
    /// An artifact in a container registry, or in a directory of the same layout.
    Oci(OciSource),
}

/// A git repository, or a directory in one.
///
/// The address may hold a password. `Debug` and `Display` redact it, and [`GitSource::address`] omits it;
/// only git may get [`GitSource::url`].
#[derive(Clone, PartialEq, Eq)]
pub struct GitSource {
    /// The address of the repository, credentials included.
    pub url: String,
    /// A branch, a tag or a full commit. `None` means the server's default branch.
    pub reference: Option<String>,
    /// A directory in the repository, with slashes.
    pub subpath: Option<String>,
}

/// A text that is not a valid source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    #[error("the source is empty; name a directory or `git::https://host/repository`")]
    Empty,
    /// The transport is not supported.
    #[error("`{given}`: `{scheme}` is not supported; {help}")]
    Scheme {
        /// The text that the user typed, credentials redacted.
        given: String,
        /// The transport, with its punctuation.
        scheme: String,
        help: &'static str,
    },
    /// The source is an archive.
    #[error(
        "`{given}` is an archive, which is not supported; use its git repository, or unpack it and use the directory"
    )]
    Archive {
        /// The text that the user typed, credentials redacted.
        given: String,
    },
    /// The address is not valid for another reason.
    #[error("invalid git repository address `{given}`: {reason}")]
    Address {
        /// The text that the user typed, credentials redacted.
        given: String,
        /// The defect and the advice.
        reason: &'static str,
    },
    /// The text is not the address of an artifact.
    #[error("invalid artifact address `{given}`: {reason}")]
    Oci {
        /// The text that the user typed, credentials redacted.
        given: String,
        reason: &'static str,
    },
    /// The parameter is not supported.
    #[error("`{given}`: unknown parameter `{name}`; use `ref` for a branch, tag or commit")]
    Parameter {
        /// The text that the user typed, credentials redacted.
        given: String,
        /// The name of the parameter.
        name: String,
    },
    /// The text cannot be a branch, tag or commit.
    #[error("invalid branch, tag or commit `{reference}`: {reason}")]
    Reference {
        /// The text of the reference.
        reference: String,
        reason: &'static str,
    },
    /// The text cannot be a directory in a repository.
    #[error("invalid directory in a repository `{subpath}`: {reason}")]
    Subpath {
        /// The text of the directory.
        subpath: String,
        reason: &'static str,
    },
    /// A version was given for a directory that is not a repository.
    #[error("`{given}` is not a git repository, so it has no versions; remove `?ref=…` or `@…`")]
    NotARepository {
        /// The text that the user typed, credentials redacted.
        given: String,
    },
    /// A single word that could be a directory or a repository.
    #[error(
        "directory not found: `{given}`; write `./{given}` for a directory, or `owner/{given}` for a repository on GitHub"
    )]
    Word {
        /// The text that the user typed.
        given: String,
    },
}

impl SourceError {
    /// Creates the error for a text that is not the address of a repository.
    pub(crate) fn invalid_address(given: &str, reason: &'static str) -> SourceError {
        SourceError::Address { given: redact_address(given), reason }
    }
}

impl SourceAddress {
    /// Parses a source; `base` is the start of relative directories.
    ///
    /// Looks at the disk only for ambiguous spellings: `file:///…` is a repository if there is one, and
    /// `github.com/org/repo` is a directory if there is one.
    pub fn parse(
        text: &str,
        base: &Path,
        system: &dyn System,
    ) -> Result<SourceAddress, SourceError> {
        if text.trim().is_empty() {
            return Err(SourceError::Empty);
        }
        if is_plain_path(text) {
            return Ok(SourceAddress::Directory(text.into()));
        }
        if OciSource::is_meant(text) {
            return OciSource::parse(text, base).map(SourceAddress::Oci);
        }
        if let Some((word, rest)) = split_forced(text) {
            if word.eq_ignore_ascii_case("git") {
                return SourceParts::split_text(text, rest)?.into_git(base).map(SourceAddress::Git);
            }
            return Err(unsupported_scheme(text, word, "::"));
        }
        if let Some((scheme, _)) = split_scheme(text) {
            let parts = SourceParts::split_text(text, text)?;
            return match scheme.to_ascii_lowercase().as_str() {
                "file" => parts.into_file(system),
                "https" if is_archive(parts.location) => {
                    Err(SourceError::Archive { given: redact_address(text) })
                }
                _ => parts.into_git(base).map(SourceAddress::Git),
            };
        }
        let before_query = text.split('?').next().unwrap_or(text);
        let is_address = is_remote(text) || split_host(text).is_some();
        if is_address && system.resolve_dir(&base.join(before_query)).is_err() {
            return SourceParts::split_text(text, text)?.into_git(base).map(SourceAddress::Git);
        }
        Ok(SourceAddress::Directory(text.into()))
    }
}

impl SourceAddress {
    /// Returns the source of a directory below this one; `directory` has `/`.
    #[must_use]
    pub fn join_directory(&self, directory: &str) -> SourceAddress {
        match self {
            SourceAddress::Directory(path) => SourceAddress::Directory(path.join(directory)),
            SourceAddress::Git(source) => {
                let subpath = match &source.subpath {
                    Some(subpath) => format!("{subpath}/{directory}"),
                    None => directory.to_owned(),
                };
                SourceAddress::Git(GitSource { subpath: Some(subpath), ..source.clone() })
            }
            // An artifact is always taken whole.
            SourceAddress::Oci(_) => self.clone(),
        }
    }

    /// Returns whether the address holds a password, which no manifest keeps.
    pub fn has_password(&self) -> bool {
        match self {
            SourceAddress::Git(git) => git
                .address()
                .is_ok_and(|address| git.url != address && git.to_string().contains("***")),
            SourceAddress::Directory(_) | SourceAddress::Oci(_) => false,
        }
    }

    /// Returns the shortest text that a user can type to add this source.
    pub fn shortest_spelling(&self) -> String {
        let SourceAddress::Git(source) = self else { return self.to_string() };
        let Some(mut typed) = source.short_spelling() else { return self.to_string() };
        for (sign, part) in [('@', &source.reference), (':', &source.subpath)] {
            if let Some(part) = part {
                typed.push(sign);
                typed.push_str(&one_line(part));
            }
        }
        typed
    }
}

impl fmt::Display for SourceAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceAddress::Directory(path) => {
                formatter.write_str(&one_line(&path.to_string_lossy()))
            }
            SourceAddress::Git(source) => source.fmt(formatter),
            SourceAddress::Oci(source) => source.fmt(formatter),
        }
    }
}

impl GitSource {
    /// Returns the address of the repository without credentials.
    pub fn address(&self) -> Result<String, SourceError> {
        self.parse_address().map(|address| address.bare_address())
    }

    /// Returns a form that is equal for all spellings of one repository: a final `.git` or slash, the default
    /// port and capitals in the host make no difference.
    ///
    /// The addresses for `https` and for `ssh` differ, because one may be readable and the other not.
    pub fn identity(&self) -> Result<String, SourceError> {
        self.parse_address().map(|address| address.identity())
    }

    /// Returns the short spelling of a repository, if it has one: `acme/guidance`, `gitlab:group/repo`.
    pub fn short_spelling(&self) -> Option<String> {
        let address = self.address().ok()?;
        let hosted = [("https://github.com/", ""), ("https://gitlab.com/", "gitlab:")];
        hosted.into_iter().find_map(|(start, word)| {
            let path = address.strip_prefix(start)?.trim_end_matches('/');
            Some(format!("{word}{}", path.strip_suffix(".git").unwrap_or(path)))
        })
    }

    /// Returns the display name of a file of the source: `acme/guidance:rules/money/RULE.md`. `below` is the
    /// path in the fetched directory, with `/`.
    pub fn place_of(&self, below: &str) -> String {
        let bare = GitSource { reference: None, subpath: None, ..self.clone() };
        let name = self.short_spelling().unwrap_or_else(|| bare.to_string());
        match &self.subpath {
            Some(subpath) => format!("{name}:{}/{below}", one_line(subpath)),
            None => format!("{name}:{below}"),
        }
    }

    pub(crate) fn parse_address(&self) -> Result<Address, SourceError> {
        let address = Address::parse(&self.url)
            .map_err(|reason| SourceError::invalid_address(&self.url, reason))?;
        match &address {
            Address::Url { scheme, host, .. } => match scheme.as_str() {
                "https" | "ssh" | "file" => Ok(address),
                "http" if is_here(host) => Ok(address),
                _ => Err(unsupported_scheme(&self.url, scheme, "://")),
            },
            Address::Remote(_) => Ok(address),
        }
    }

    /// Validates a source that was parsed from `given`, which error messages name.
    pub(crate) fn into_checked(self, given: &str) -> Result<GitSource, SourceError> {
        self.check().map_err(|error| match error {
            SourceError::Address { reason, .. } => SourceError::invalid_address(given, reason),
            other => other,
        })?;
        Ok(self)
    }

    /// Validates every part of the source.
    pub(crate) fn check(&self) -> Result<Address, SourceError> {
        check_parts(self.reference.as_deref(), self.subpath.as_deref())?;
        self.parse_address()
    }
}

impl fmt::Display for GitSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = match Address::parse(&self.url) {
            Ok(address) => address.redacted_address(),
            Err(_) => redact_credentials(&self.url),
        };
        formatter.write_str(&one_line(&url))?;
        if let Some(subpath) = &self.subpath {
            write!(formatter, "//{}", one_line(subpath))?;
        }
        if let Some(reference) = &self.reference {
            write!(formatter, "?ref={}", one_line(reference))?;
        }
        Ok(())
    }
}

impl fmt::Debug for GitSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "GitSource({self})")
    }
}

/// A source, split at `//` and `?` in either order.
pub(crate) struct SourceParts<'t> {
    /// The whole text that the user typed.
    pub(crate) given: &'t str,
    pub(crate) location: &'t str,
    pub(crate) reference: Option<String>,
    pub(crate) subpath: Option<String>,
}

impl<'t> SourceParts<'t> {
    pub(crate) fn split_text(given: &'t str, text: &'t str) -> Result<Self, SourceError> {
        let start = split_scheme(text).map_or(0, |(scheme, _)| scheme.len() + 3);
        let (location, query) = split_after(text, start, "?");
        let (location, below) = split_after(location, start, "//");
        let (query, below_query) = split_after(query.unwrap_or_default(), 0, "//");
        let refused = |reason| SourceError::invalid_address(given, reason);
        // The address comes first, because a message must not show a part of a password as a parameter.
        if split_scheme(location).is_some() {
            Address::parse(location).map_err(refused)?;
        }
        let subpath = match (below, below_query) {
            (Some(_), Some(_)) => return Err(refused("contains `//` twice")),
            (below, below_query) => below.or(below_query),
        };
        let subpath = subpath.map(|subpath| decode_part(given, subpath)).transpose()?;
        let subpath = subpath.map(|subpath| subpath.trim_end_matches('/').to_owned());
        let subpath = subpath.filter(|subpath| !subpath.is_empty());
        let mut parts = SourceParts { given, location, reference: None, subpath };
        for parameter in query.split('&').filter(|text| !text.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name {
                "ref" => parts.reference = Some(decode_part(given, value)?),
                // Other tools fetch less history with it; the cache always fetches one commit.
                "depth" => {}
                _ => {
                    let name = one_line(name);
                    return Err(SourceError::Parameter { given: redact_address(given), name });
                }
            }
        }
        Ok(parts)
    }

    pub(crate) fn into_git(self, base: &Path) -> Result<GitSource, SourceError> {
        let location = self.location;
        let url = if is_plain_path(location) {
            let path = base.join(location);
            let path = path.to_str().filter(|_| path.is_absolute() && !location.starts_with('~'));
            let path = path.ok_or_else(|| {
                self.invalid_address("a directory must be absolute or start with `./`")
            })?;
            format!("file://{}", path.replace('%', "%25"))
        } else if let Some((word, _)) = split_forced(location) {
            return Err(unsupported_scheme(self.given, word, "::"));
        } else if let Some((host, path, is_flat)) = split_host(location) {
            let names = path.trim_matches('/').split('/').count();
            if names < 2 || (is_flat && names > 2) {
                return Err(self.invalid_address(
                    "write `host/organization/name`, and `//` before a directory in the repository",
                ));
            }
            let path = path.trim_matches('/');
            format!("https://{host}/{}.git", path.strip_suffix(".git").unwrap_or(path))
        } else {
            location.to_owned()
        };
        GitSource { url, reference: self.reference, subpath: self.subpath }.into_checked(self.given)
    }

    pub(crate) fn into_file(self, system: &dyn System) -> Result<SourceAddress, SourceError> {
        let address =
            Address::parse(self.location).map_err(|reason| self.invalid_address(reason))?;
        let Address::Url { path, .. } = address else {
            return Err(self.invalid_address("write `file:///absolute/path`"));
        };
        let path = PathBuf::from(decode_part(self.given, &path)?);
        if is_repository(&path, system) {
            return self.into_git(Path::new("/")).map(SourceAddress::Git);
        }
        if self.reference.is_some() {
            return Err(SourceError::NotARepository { given: redact_address(self.given) });
        }
        Ok(SourceAddress::Directory(match self.subpath {
            Some(subpath) => path.join(subpath),
            None => path,
        }))
    }

    fn invalid_address(&self, reason: &'static str) -> SourceError {
        SourceError::invalid_address(self.given, reason)
    }
}

/// Splits a text at the first mark from `start` on.
fn split_after<'t>(text: &'t str, start: usize, mark: &str) -> (&'t str, Option<&'t str>) {
    match text[start..].find(mark) {
        Some(offset) => (&text[..start + offset], Some(&text[start + offset + mark.len()..])),
        None => (text, None),
    }
}

/// Decodes a part of the text that the user typed.
fn decode_part(given: &str, text: &str) -> Result<String, SourceError> {
    let reason = "write a literal `%` as `%25`";
    percent_decoded(text).ok_or_else(|| SourceError::invalid_address(given, reason))
}

/// Returns the typed text for messages. Redacts credentials and the values of unknown parameters, where other
/// tools take a private key.
pub(crate) fn redact_address(text: &str) -> String {
    let text = redact_credentials(text);
    let (location, query) = match text.split_once('?') {
        Some((location, query)) => (location, Some(query)),
        None => (text.as_str(), None),
    };
    let mut result = one_line(location);
    for (index, parameter) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
        result.push(if index == 0 { '?' } else { '&' });
        match parameter.split_once('=') {
            Some(("ref" | "depth", _)) => result.push_str(&one_line(parameter)),
            Some((name, _)) => {
                result.push_str(&one_line(name));
                result.push_str("=***");
            }
            None => result.push_str("***"),
        }
    }
    result
}

pub(crate) fn unsupported_scheme(given: &str, word: &str, punctuation: &str) -> SourceError {
    let word = word.to_ascii_lowercase();
    let help = match (word.as_str(), punctuation) {
        ("http", "://") => {
            "the connection is not encrypted; write `https://…`, or clone it and use the directory"
        }
        ("http" | "https", _) => {
            "write `git::https://…` for a repository; unpack an archive and use the directory"
        }
        ("git", _) => "git cannot verify the server; write `https://…` or `ssh://…`",
        ("ext" | "fd", _) => "this scheme runs a command; write `git::https://…` or `git::ssh://…`",
        ("git+https" | "git+ssh" | "git+file", _) => "write `git::` instead of `git+`",
        ("s3" | "gcs" | "gs", _) => {
            "download it and use the directory, or keep it in a git repository"
        }
        ("hg" | "svn", _) => "use a git mirror or a directory",
        _ => "write `git::URL`, `https://…`, `ssh://…`, `oci://…`, `file:///…` or a directory",
    };
    SourceError::Scheme {
        given: redact_address(given),
        scheme: format!("{word}{punctuation}"),
        help,
    }
}

pub(crate) fn split_forced(text: &str) -> Option<(&str, &str)> {
    text.split_once("::").filter(|(word, _)| is_scheme(word))
}

/// Splits `github.com/org/repo` into host and path. The flag is true if the host's repositories have two
/// names.
pub(crate) fn split_host(text: &str) -> Option<(&'static str, &str, bool)> {
    HOSTS.iter().find_map(|&(host, is_flat)| {
        let rest = after_prefix(text, host).filter(|rest| rest.starts_with('/'))?;
        Some((host, rest, is_flat))
    })
}

/// Returns whether the text is `user@host:path`.
pub(crate) fn is_remote(text: &str) -> bool {
    text.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/'))
}

/// Returns whether the text can only be a path.
pub(crate) fn is_plain_path(text: &str) -> bool {
    text.starts_with(['/', '~', '\\'])
        || matches!(text, "." | "..")
        || ["./", "../", ".\\", "..\\"].iter().any(|start| text.starts_with(start))
}

pub(crate) fn is_archive(location: &str) -> bool {
    let location = location.to_ascii_lowercase();
    ARCHIVES.iter().any(|ending| location.ends_with(ending))
}

pub(crate) fn is_repository(path: &Path, system: &dyn System) -> bool {
    system.resolve(&path.join(".git")).is_ok() || is_bare_repository(path, system)
}

pub(crate) fn is_bare_repository(path: &Path, system: &dyn System) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|name| system.resolve(&path.join(name)).is_ok())
}

/// Validates the reference and the directory of a repository.
pub(crate) fn check_parts(
    reference: Option<&str>,
    subpath: Option<&str>,
) -> Result<(), SourceError> {
    if let Some(reference) = reference {
        check_reference(reference)
            .map_err(|reason| SourceError::Reference { reference: one_line(reference), reason })?;
    }
    if let Some(subpath) = subpath {
        check_subpath(subpath)
            .map_err(|reason| SourceError::Subpath { subpath: one_line(subpath), reason })?;
    }
    Ok(())
}

/// Checks the rules of git-check-ref-format(1), and that a path component can hold the reference.
pub(crate) fn check_reference(reference: &str) -> Result<(), &'static str> {
    if reference.is_empty() {
        return Err("is empty");
    }
    if reference.len() > REFERENCE_LENGTH {
        return Err("is too long");
    }
    if reference.starts_with('-') {
        return Err("starts with `-`");
    }
    if reference.chars().any(|character| {
        character.is_control() || character.is_whitespace() || "~^:?*[\\".contains(character)
    }) {
        return Err("contains a space, a control character or one of `~^:?*[\\`");
    }
    if reference.contains("..") || reference.contains("@{") || reference == "@" {
        return Err("contains `..` or `@{`, or is `@`");
    }
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && part.strip_suffix(".lock").is_none()
    };
    if !reference.split('/').all(is_part) {
        return Err("has a part that is empty, starts or ends with `.`, or ends with `.lock`");
    }
    Ok(())
}

fn check_subpath(subpath: &str) -> Result<(), &'static str> {
    if subpath.chars().any(char::is_control) {
        return Err("contains a control character");
    }
    if subpath.contains('\\') {
        return Err("contains `\\`; separate directories with `/`");
    }
    for name in subpath.split('/') {
        match name {
            "" => return Err("has an empty name"),
            "." | ".." => return Err("contains `.` or `..`"),
            _ if crate::extract::is_git_directory(name) => return Err("points into `.git`"),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
