//! The spellings of sources that `brief add` accepts: those of [`SourceAddress::parse`], and short ones.
//!
//! `owner/repo` is a repository on GitHub, `@` begins the version and `:` the directory, and the address of a
//! repository's web page means what that page shows. If a short spelling is also an existing directory, the
//! directory is meant.

use std::path::{Component, Path, PathBuf};

use brief_syntax::hidden;
use brief_system::System;

use crate::address::{Address, after_prefix, percent_decoded, split_scheme};
use crate::oci::OciSource;
use crate::source::{
    GitSource, HOSTS, SourceAddress, SourceError, SourceParts, check_parts, is_archive,
    is_plain_path, is_remote, is_repository, redact_address, split_forced, split_host,
    unsupported_scheme,
};

/// The prefixes of the hosts in [`HOSTS`], in the same order.
const PREFIXES: [&str; 3] = ["github:", "gitlab:", "bitbucket:"];

const TWO_NAMES: &str = "write `owner/repo`, and `:` before a directory in the repository";

impl SourceAddress {
    /// Parses the source that a user typed for `brief add`; `base` is the start of relative directories.
    ///
    /// Beside the spellings of [`SourceAddress::parse`] it accepts `owner/repo`, `github:owner/repo`,
    /// `gitlab:group/repo`, `bitbucket:owner/repo`, and the addresses of web pages that show a directory of a
    /// repository. After each but the last, and after a path, `@` begins a branch, tag or commit and `:` a
    /// directory, in either order; an `@` directly after a slash is part of a name.
    ///
    /// Looks at the disk for every text that could be a directory.
    pub fn parse_added(
        text: &str,
        base: &Path,
        system: &dyn System,
    ) -> Result<SourceAddress, SourceError> {
        if text.trim().is_empty() {
            return Err(SourceError::Empty);
        }
        let typed = TypedAddress { given: text, base, system };
        if text.starts_with('-') {
            return Err(typed.invalid_address(
                "starts with `-` like an option; write `./` before the name of a directory",
            ));
        }
        if text.chars().any(|character| character.is_control() || hidden::is_hidden(character)) {
            return Err(typed.invalid_address("contains control or invisible characters"));
        }
        typed.parse()
    }
}

/// The text that the user typed, with the directory where it was typed.
struct TypedAddress<'t> {
    given: &'t str,
    base: &'t Path,
    system: &'t dyn System,
}

impl<'t> TypedAddress<'t> {
    fn parse(&self) -> Result<SourceAddress, SourceError> {
        let text = self.given;
        if is_plain_path(text) || is_drive(text) {
            return match self.find_existing_end(text) {
                Some(end) => self.parse_local(text, end),
                // Opening the directory reports that it is missing.
                None => Ok(SourceAddress::Directory(text.into())),
            };
        }
        if OciSource::is_meant(text) {
            return OciSource::parse(text, self.base).map(SourceAddress::Oci);
        }
        if let Some((word, rest)) = split_forced(text) {
            if word.eq_ignore_ascii_case("git") {
                return self.parse_forced(rest);
            }
            return Err(unsupported_scheme(text, word, "::"));
        }
        if let Some((scheme, _)) = split_scheme(text) {
            return match scheme.to_ascii_lowercase().as_str() {
                "file" => self.parse_file_url(text)?.into_file(self.system),
                _ => self.parse_url(text).map(SourceAddress::Git),
            };
        }
        for (prefix, (host, is_flat)) in PREFIXES.iter().zip(HOSTS) {
            if after_prefix(text, prefix).is_some() {
                return self
                    .parse_hosted(text, prefix.len(), host, is_flat)
                    .map(SourceAddress::Git);
            }
        }
        if self.is_dir(text) {
            return self.parse_local(text, text.len());
        }
        if is_remote(text) {
            return self.parse_remote(text).map(SourceAddress::Git);
        }
        if let Some(end) = self.find_existing_end(text) {
            return self.parse_local(text, end);
        }
        // No repository has such a name; as above, opening the directory reports that it is missing.
        if text.contains('\\') {
            return Ok(SourceAddress::Directory(text.into()));
        }
        self.parse_repository(text).map(SourceAddress::Git)
    }

    fn invalid_address(&self, reason: &'static str) -> SourceError {
        SourceError::invalid_address(self.given, reason)
    }

    fn is_dir(&self, path: &str) -> bool {
        self.system.resolve_dir(&self.base.join(path)).is_ok()
    }

    /// Returns the end of the longest part that is an existing directory: the whole text or up to a marker.
    fn find_existing_end(&self, text: &str) -> Option<usize> {
        let mut ends = suffix_markers(text);
        ends.push(text.len());
        ends.into_iter().rev().find(|&end| self.is_dir(&text[..end]))
    }

    /// Parses the text after `git::`, which is never a plain directory.
    fn parse_forced(&self, text: &'t str) -> Result<SourceAddress, SourceError> {
        if text.starts_with('-') {
            return Err(self.invalid_address("starts with `-`"));
        }
        let source = if is_plain_path(text) {
            self.forced_path(text)
        } else if let Some((scheme, _)) = split_scheme(text) {
            match scheme.to_ascii_lowercase().as_str() {
                "file" => self.parse_file_url(text)?.into_git(self.base),
                _ => self.parse_url(text),
            }
        } else if text.split_once(':').is_some_and(|(host, _)| !host.contains('/')) {
            // This includes prefixes from the user's git settings.
            self.parse_remote(text)
        } else {
            self.parse_repository(text)
        };
        source.map(SourceAddress::Git)
    }

    fn forced_path(&self, text: &str) -> Result<GitSource, SourceError> {
        if let Some(end) = self.find_existing_end(text) {
            let path = self.normalize_path(&self.base.join(&text[..end]));
            let (reference, subpath) = read_suffix(&text[end..]);
            return self.local_git(&path, reference, subpath);
        }
        let parts = SourceParts::split_text(self.given, text)?;
        let end = suffix_markers(parts.location).first().copied().unwrap_or(parts.location.len());
        self.cut_suffix(parts, end)?.into_git(self.base)
    }

    /// Splits a repository whose path begins at `start` from its suffix.
    fn split_suffix<'p>(&self, text: &'p str, start: usize) -> Result<SourceParts<'p>, SourceError>
    where
        't: 'p,
    {
        let path = text.get(start..).unwrap_or_default();
        let parts = if path.contains('?') || path.contains("//") {
            SourceParts::split_text(self.given, text)?
        } else {
            SourceParts { given: self.given, location: text, reference: None, subpath: None }
        };
        let path = parts.location.get(start..).unwrap_or_default();
        let end =
            suffix_markers(path).first().map_or(parts.location.len(), |marker| start + marker);
        self.cut_suffix(parts, end)
    }

    /// Cuts the suffix that begins at `end`.
    fn cut_suffix<'p>(
        &self,
        parts: SourceParts<'p>,
        end: usize,
    ) -> Result<SourceParts<'p>, SourceError> {
        let (location, suffix) = parts.location.split_at(end);
        let (reference, subpath) = read_suffix(suffix);
        if reference.is_some() && parts.reference.is_some() {
            return Err(self.invalid_address("contains two versions"));
        }
        if subpath.is_some() && parts.subpath.is_some() {
            return Err(self.invalid_address("contains two directories"));
        }
        Ok(SourceParts {
            given: parts.given,
            location: location.trim_end_matches('/'),
            reference: reference.or(parts.reference),
            subpath: subpath.or(parts.subpath),
        })
    }

    fn parse_url(&self, text: &str) -> Result<GitSource, SourceError> {
        let start = self.path_of(text)?;
        let is_web = text.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"));
        let page = WebPage::parse_page(&text[..start], &text[start..]).filter(|_| is_web);
        if let Some(page) = page {
            return page.map_err(|reason| self.invalid_address(reason))?.into_checked(self.given);
        }
        let parts = self.split_suffix(text, start)?;
        let is_forced = text.len() < self.given.len();
        if !is_forced && is_archive(parts.location) {
            return Err(SourceError::Archive { given: redact_address(self.given) });
        }
        let host = text[..start].rsplit(['/', '@']).next().unwrap_or_default();
        let is_flat =
            HOSTS.iter().any(|(name, is_flat)| *is_flat && host.eq_ignore_ascii_case(name));
        let names = parts.location.get(start..).unwrap_or_default().trim_matches('/');
        if is_flat && names.split('/').count() > 2 {
            return Err(self.invalid_address(
                "write `https://host/owner/repo`, and `:` before a directory in the repository",
            ));
        }
        parts.into_git(self.base)
    }

    /// Returns the start of a URL's path, once everything before it is valid. This check comes first, because
    /// a message must not show a part of a password as a version.
    fn path_of(&self, text: &str) -> Result<usize, SourceError> {
        let start = split_scheme(text).map_or(0, |(scheme, _)| scheme.len() + 3);
        let start = text[start..].find(['/', '?', '#']).map_or(text.len(), |length| start + length);
        let address = Address::parse(&format!("{}/x", &text[..start]));
        address.map(|_| start).map_err(|reason| self.invalid_address(reason))
    }

    /// Parses `file:///…`. As with any path, the longest existing directory counts.
    fn parse_file_url<'p>(&self, text: &'p str) -> Result<SourceParts<'p>, SourceError>
    where
        't: 'p,
    {
        let start = self.path_of(text)?;
        let parts = SourceParts::split_text(self.given, text)?;
        let location = parts.location;
        let found = suffix_markers(location.get(start..).unwrap_or_default());
        let mut ends: Vec<usize> = found.into_iter().map(|end| start + end).collect();
        let is_forced = text.len() < self.given.len();
        let first = ends.first().copied().filter(|_| is_forced);
        ends.push(location.len());
        let is_dir = |end: &usize| {
            location
                .get(start..*end)
                .and_then(percent_decoded)
                .is_some_and(|path| self.is_dir(&path))
        };
        let end = ends.into_iter().rev().find(is_dir).or(first).unwrap_or(location.len());
        let parts = self.cut_suffix(parts, end)?;
        check_parts(parts.reference.as_deref(), parts.subpath.as_deref())?;
        Ok(parts)
    }

    fn parse_remote(&self, text: &str) -> Result<GitSource, SourceError> {
        let start = text.find(':').map_or(text.len(), |colon| colon + 1);
        self.split_suffix(text, start)?.into_git(self.base)
    }

    fn parse_repository(&self, text: &str) -> Result<GitSource, SourceError> {
        if let Some((host, path, _)) = split_host(text) {
            if let Some(page) = WebPage::parse_page(&format!("https://{host}"), path) {
                return page
                    .map_err(|reason| self.invalid_address(reason))?
                    .into_checked(self.given);
            }
            return self.split_suffix(text, 0)?.into_git(self.base);
        }
        let location = self.split_suffix(text, 0)?.location;
        if !location.contains('/') {
            let is_prefix = text[location.len()..].starts_with(':');
            return Err(if is_prefix {
                self.invalid_address(
                    "has an unknown host before `:`; write `https://…` or `user@host:path`",
                )
            } else {
                SourceError::Word { given: redact_address(self.given.trim_end_matches('/')) }
            });
        }
        if location.split('/').count() > 2 {
            return Err(self.invalid_address(
                "directory not found; for a repository write `owner/repo`, and `:` before a directory in it",
            ));
        }
        self.parse_hosted(text, 0, HOSTS[0].0, true)
    }

    /// Parses the names of a repository on a known host.
    fn parse_hosted(
        &self,
        text: &str,
        start: usize,
        host: &str,
        is_flat: bool,
    ) -> Result<GitSource, SourceError> {
        let parts = self.split_suffix(text, start)?;
        let path = parts.location.get(start..).unwrap_or_default();
        let path = path.strip_suffix(".git").unwrap_or(path);
        let count = path.split('/').count();
        if path.is_empty() || count < 2 || (is_flat && count > 2) {
            return Err(self.invalid_address(if is_flat {
                TWO_NAMES
            } else {
                "write `group/repo`, and `:` before a directory in the repository"
            }));
        }
        if !path.split('/').all(is_name) {
            return Err(
                self.invalid_address("a name may contain letters, digits, `.`, `_` and `-`")
            );
        }
        let url = format!("https://{host}/{path}.git");
        let source = GitSource { url, reference: parts.reference, subpath: parts.subpath };
        source.into_checked(self.given)
    }

    /// Parses an existing directory, up to `end`, and its suffix.
    fn parse_local(&self, text: &str, end: usize) -> Result<SourceAddress, SourceError> {
        let (path, suffix) = text.split_at(end);
        let (reference, subpath) = read_suffix(suffix);
        check_parts(reference.as_deref(), subpath.as_deref())?;
        let absolute = self.base.join(path);
        let is_repository = is_repository(&absolute, self.system);
        // Without a version the files on disk are meant. A bare repository has none.
        let is_bare = is_repository && self.system.resolve(&absolute.join(".git")).is_err();
        if reference.is_none() && !is_bare {
            let path = PathBuf::from(path);
            return Ok(SourceAddress::Directory(match subpath {
                Some(subpath) => path.join(subpath),
                None => path,
            }));
        }
        if !is_repository {
            return Err(SourceError::NotARepository { given: redact_address(self.given) });
        }
        self.local_git(&self.normalize_path(&absolute), reference, subpath).map(SourceAddress::Git)
    }

    fn local_git(
        &self,
        path: &Path,
        reference: Option<String>,
        subpath: Option<String>,
    ) -> Result<GitSource, SourceError> {
        let location =
            path.to_str().ok_or_else(|| self.invalid_address("its name is not UTF-8"))?;
        SourceParts { given: self.given, location, reference, subpath }.into_git(self.base)
    }

    /// Returns a path without redundant parts, so that all spellings of a directory compare equal where links
    /// allow.
    fn normalize_path(&self, path: &Path) -> PathBuf {
        if path.components().any(|part| part == Component::ParentDir) {
            return self.system.resolve_dir(path).unwrap_or_else(|_| path.to_owned());
        }
        path.components().collect()
    }
}

/// Parses the version and the directory after a repository, from a marker on.
fn read_suffix(text: &str) -> (Option<String>, Option<String>) {
    let (reference, subpath) = if let Some(rest) = text.strip_prefix('@') {
        match rest.split_once(':') {
            Some((reference, subpath)) => (Some(reference), Some(subpath)),
            None => (Some(rest), None),
        }
    } else if let Some(rest) = text.strip_prefix(':') {
        match suffix_markers(rest).into_iter().find(|&at| rest[at..].starts_with('@')) {
            Some(at) => (Some(&rest[at + 1..]), Some(&rest[..at])),
            None => (None, Some(rest)),
        }
    } else {
        (None, None)
    };
    let subpath = subpath.map(|subpath| match subpath.trim_end_matches('/') {
        "" => subpath.to_owned(),
        trimmed => trimmed.to_owned(),
    });
    (reference.map(str::to_owned), subpath)
}

/// The address of a web page that shows a part of a repository.
struct WebPage<'p> {
    repository: &'p [&'p str],
    reference: &'p str,
    below: &'p [&'p str],
    is_file: bool,
}

impl WebPage<'_> {
    /// Parses the address of such a page. Returns `None` for other addresses.
    fn parse_page(server: &str, path: &str) -> Option<Result<GitSource, &'static str>> {
        let (path, query) = match path.find(['?', '#']) {
            Some(end) => path.split_at(end),
            None => (path, ""),
        };
        let names: Vec<&str> = path.trim_matches('/').split('/').collect();
        let page = WebPage::from_names(server, &names)?;
        if query.split(['?', '&']).any(|parameter| parameter.starts_with("ref=")) {
            return Some(Err("contains two versions"));
        }
        let repository = page.repository.join("/");
        let repository = repository.strip_suffix(".git").unwrap_or(&repository);
        // A file stands for its directory; most file names have an extension.
        let below = match page.below.split_last() {
            Some((file, above)) if page.is_file && file.trim_start_matches('.').contains('.') => {
                above
            }
            _ => page.below,
        };
        let decoded = |text: &str| percent_decoded(text).unwrap_or_else(|| text.to_owned());
        Some(Ok(GitSource {
            url: format!("{server}/{repository}.git"),
            reference: Some(decoded(page.reference)),
            subpath: Some(decoded(&below.join("/"))).filter(|subpath| !subpath.is_empty()),
        }))
    }

    fn from_names<'p>(server: &str, names: &'p [&'p str]) -> Option<WebPage<'p>> {
        let page = |end: usize, reference: usize, kind: &str| {
            let (repository, below) = (&names[..end], names.get(reference + 1..)?);
            Some(WebPage {
                repository,
                reference: names[reference],
                below,
                is_file: kind == "blob",
            })
        };
        // GitLab, on any host.
        if let Some(dash) = names.iter().position(|name| *name == "-").filter(|dash| *dash >= 2) {
            return match names.get(dash + 1)? {
                kind @ (&"tree" | &"blob") if names.len() > dash + 2 => page(dash, dash + 2, kind),
                _ => None,
            };
        }
        let is_bitbucket = server.to_ascii_lowercase().ends_with("bitbucket.org");
        match names.get(2..)? {
            // GitHub, and hosts with the same addresses.
            [kind @ ("tree" | "blob"), _, ..] => page(2, 3, kind),
            ["src", _, ..] if is_bitbucket => page(2, 3, "blob"),
            // Gitea and Forgejo.
            ["src", "branch" | "tag" | "commit", _, ..] => page(2, 4, "blob"),
            _ => None,
        }
    }
}

/// Returns the possible starts of a suffix: colons, and each `@` that does not begin a name.
fn suffix_markers(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let is_marker = |at: usize| bytes[at] == b':' || (bytes[at] == b'@' && bytes[at - 1] != b'/');
    (1..bytes.len()).filter(|&at| is_marker(at)).collect()
}

/// Returns whether a name has the characters that the hosts allow, more or less.
fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
        && !name.starts_with('-')
        && name.chars().all(|other| other.is_ascii_alphanumeric() || "._-".contains(other))
}

/// Returns whether the text is an absolute path on Windows.
fn is_drive(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && characters.next() == Some(':')
        && matches!(characters.next(), Some('\\' | '/'))
}

#[cfg(test)]
mod tests;
