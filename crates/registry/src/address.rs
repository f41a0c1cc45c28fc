//! The address of a repository, with its credentials kept apart.
//!
//! A password must never be visible: not in a message, not in the name of a directory, and not in the
//! arguments of a process, which every user of the machine can list. So git gets the address without it, and
//! the credentials through the environment.

use brief_syntax::{hidden, text};

/// The replacement for credentials in an address that is shown.
const HIDDEN: &str = "***";

/// The parts of a repository's address.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Url {
        /// The scheme in lower case.
        scheme: String,
        /// The text before the `@`, as written.
        credentials: Option<String>,
        /// The host, with the port if there is one; empty for `file`.
        host: String,
        /// The path, from the first slash on.
        path: String,
    },
    /// `[user@]host:path`, the short form of ssh; also a prefix from the user's git settings.
    Remote(String),
}

impl Address {
    /// Parses an address. The error describes the problem without repeating the text, which may hold a
    /// password.
    pub(crate) fn parse(text: &str) -> Result<Address, &'static str> {
        if text.starts_with('-') {
            return Err("starts with `-`");
        }
        if text.chars().any(|character| character.is_control() || hidden::is_hidden(character)) {
            return Err("contains control or invisible characters");
        }
        let Some((scheme, rest)) = split_scheme(text) else { return Address::parse_remote(text) };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (credentials, host) = match authority.rsplit_once('@') {
            Some((credentials, host)) => (Some(credentials), host),
            None => (None, authority),
        };
        let scheme = scheme.to_ascii_lowercase();
        if scheme == "file" {
            if credentials.is_some() || !matches!(host, "" | "localhost") {
                return Err("a file address has no host; write `file:///absolute/path`");
            }
        } else if !is_host(host) {
            return Err(
                "has an invalid host; write `/`, `?` or `#` in a password as `%2F`, `%3F` or `%23`",
            );
        } else if text.contains([' ', '#', '\\']) {
            return Err("contains a space, `#` or `\\`; write a version as `?ref=…`");
        }
        if path.trim_matches('/').is_empty() {
            return Err("has no repository path");
        }
        let address = Address::Url {
            host: if scheme == "file" { String::new() } else { host.to_owned() },
            credentials: credentials.map(str::to_owned),
            path: path.to_owned(),
            scheme,
        };
        address.check_credentials()?;
        Ok(address)
    }

    fn parse_remote(text: &str) -> Result<Address, &'static str> {
        let (host, path) = text.split_once(':').ok_or("is neither a URL nor `user@host:path`")?;
        let (user, host) = host.rsplit_once('@').unwrap_or(("git", host));
        // A single letter before the colon is a drive.
        if !is_user(user) || !is_host(host) || host.len() < 2 {
            return Err("is not of the form `user@host:path`");
        }
        if path.trim_matches('/').is_empty() || path.starts_with(['-', ':']) {
            return Err("has no repository path");
        }
        Ok(Address::Remote(text.to_owned()))
    }

    fn check_credentials(&self) -> Result<(), &'static str> {
        let Address::Url { scheme, credentials: Some(credentials), .. } = self else {
            return Ok(());
        };
        if scheme == "ssh" {
            let problem = "contains a password; ssh takes a user name and a key";
            return is_user(credentials).then_some(()).ok_or(problem);
        }
        match percent_decoded(credentials) {
            Some(decoded) if !decoded.chars().any(char::is_control) => Ok(()),
            _ => Err(
                "the user name or password is not valid in a URL; percent-encode special characters",
            ),
        }
    }

    /// Returns whether the address is a path on this machine.
    pub(crate) fn is_of_this_machine(&self) -> bool {
        matches!(self, Address::Url { scheme, .. } if scheme == "file")
    }

    /// Returns the address without credentials: the form for git, and the key of the repository in the cache.
    pub(crate) fn bare_address(&self) -> String {
        match self {
            Address::Remote(text) => text.clone(),
            Address::Url { scheme, credentials, host, path } => {
                bare_url(scheme, credentials.as_deref(), host, path)
            }
        }
    }

    /// Returns the address for messages, with credentials redacted.
    pub(crate) fn redacted_address(&self) -> String {
        match self {
            Address::Url { scheme, credentials: Some(_), host, path } if scheme != "ssh" => {
                format!("{scheme}://{HIDDEN}@{host}{path}")
            }
            _ => self.bare_address(),
        }
    }

    /// Returns a form that is equal for all spellings of one repository: the host in lower case, without the
    /// default port, a final `.git` or slash, and credentials.
    pub(crate) fn identity(&self) -> String {
        let trimmed = |path: &str| {
            let path = path.trim_end_matches('/');
            path.strip_suffix(".git").filter(|rest| !rest.ends_with('/')).unwrap_or(path).to_owned()
        };
        match self {
            // A prefix in the user's git settings is case-sensitive.
            Address::Remote(text) => match text.split_once(':') {
                Some((host, path)) if host.contains('@') => {
                    let (user, host) = host.rsplit_once('@').unwrap_or(("", host));
                    format!("{user}@{}:{}", host.to_ascii_lowercase(), trimmed(path))
                }
                _ => trimmed(text),
            },
            Address::Url { scheme, credentials, host, path } => {
                let host = host.to_ascii_lowercase();
                let port = match scheme.as_str() {
                    "https" => ":443",
                    "http" => ":80",
                    _ => ":22",
                };
                let host = host.strip_suffix(port).unwrap_or(&host);
                bare_url(scheme, credentials.as_deref(), host, &trimmed(path))
            }
        }
    }

    /// Returns a readable name for a directory: letters, digits, `.` and `-`.
    pub(crate) fn slug(&self) -> String {
        const LENGTH: usize = 60;
        let bare = self.bare_address();
        let name = bare.split_once("://").map_or(bare.as_str(), |(_, rest)| rest);
        let name = name.rsplit_once('@').map_or(name, |(_, rest)| rest);
        let name = name.trim_matches('/');
        let name = name.strip_suffix(".git").unwrap_or(name);
        let mut slug = String::with_capacity(LENGTH);
        // The end of a path says more than its beginning.
        let skipped = name.chars().count().saturating_sub(LENGTH);
        for character in name.chars().skip(skipped) {
            match character {
                'a'..='z' | '0'..='9' => slug.push(character),
                'A'..='Z' => slug.push(character.to_ascii_lowercase()),
                '.' | '_' if !slug.is_empty() && !slug.ends_with(['.', '-']) => {
                    slug.push(character);
                }
                _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
                _ => {}
            }
        }
        slug.trim_end_matches(['-', '.']).to_owned()
    }
}

/// Returns a URL without credentials. For ssh the user is part of the address.
fn bare_url(scheme: &str, credentials: Option<&str>, host: &str, path: &str) -> String {
    match credentials {
        Some(user) if scheme == "ssh" => format!("ssh://{user}@{host}{path}"),
        _ => format!("{scheme}://{host}{path}"),
    }
}

/// Returns the text after a prefix, in capitals or not.
pub(crate) fn after_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

pub(crate) fn split_scheme(text: &str) -> Option<(&str, &str)> {
    text.split_once("://").filter(|(scheme, _)| is_scheme(scheme))
}

/// Returns whether a word can stand before `::` or `://`.
pub(crate) fn is_scheme(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.chars().all(|other| other.is_ascii_alphanumeric() || "+.-".contains(other))
}

fn is_user(user: &str) -> bool {
    !user.is_empty()
        && !user.starts_with('-')
        && user.chars().all(|other| other.is_ascii_alphanumeric() || "._+-".contains(other))
}

/// Returns whether `host` is a host name or an address in brackets, with or without a port.
fn is_host(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, port)) => (name, port.strip_prefix(':').unwrap_or(port)),
            None => return false,
        },
        None => host.split_once(':').unwrap_or((host, "")),
    };
    let is_part = |other: char| other.is_alphanumeric() || "._-".contains(other);
    let is_part = |other: char| is_part(other) || (host.starts_with('[') && other == ':');
    !name.is_empty()
        && !name.starts_with('-')
        && name.chars().all(is_part)
        && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns `text` with the credentials of every URL in it redacted. The text is a message of git or input of
/// a user, and need not be an address.
pub(crate) fn redact_credentials(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("://").map(|start| start + 3) {
        let (before, after) = rest.split_at(start);
        shown.push_str(before);
        rest = after;
        let word = &after[..after.find(char::is_whitespace).unwrap_or(after.len())];
        let authority = &word[..word.find(['/', '?', '#']).unwrap_or(word.len())];
        // A password with unescaped characters may continue after a slash.
        let broken = authority.split_once(':').is_some_and(|(_, port)| {
            !authority.starts_with('[') && !port.bytes().all(|byte| byte.is_ascii_digit())
        });
        let within = if broken { word } else { authority };
        if let Some(end) = within.rfind('@') {
            // The user of ssh is not a secret, and it is part of the address.
            let is_ssh = before.ends_with("ssh://") && is_user(&within[..end]);
            if !is_ssh {
                shown.push_str(HIDDEN);
                rest = &after[end..];
            }
        }
    }
    shown.push_str(rest);
    shown
}

/// Returns untrusted text in a form that is safe in the middle of a message.
pub(crate) fn one_line(text: &str) -> String {
    text::visible_text(&text.replace(['\n', '\t'], " ")).into_owned()
}

/// Decodes `%41`. Returns `None` for malformed escapes and for text that is not UTF-8.
pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_hidden_wherever_they_stand() {
        for (text, shown) in [
            ("https://user:pass@host/r", "https://***@host/r"),
            ("https://token@host/r@v1", "https://***@host/r@v1"),
            ("https://user:pa/ss@host/r", "https://***@host/r"),
            ("https://user:pa?s#s@host/r", "https://***@host/r"),
            ("https://user:p@ss@host/r", "https://***@host/r"),
            ("https://host:8443/org/repo@x", "https://host:8443/org/repo@x"),
            ("https://[::1]:80/org/repo@x", "https://[::1]:80/org/repo@x"),
            ("ssh://git@host/r", "ssh://git@host/r"),
            ("ssh://git:pass@host/r", "ssh://***@host/r"),
            (
                "cannot read 'https://a:b@h/r': see https://c@h/",
                "cannot read 'https://***@h/r': see https://***@h/",
            ),
            ("git@host:org/repo", "git@host:org/repo"),
        ] {
            assert_eq!(redact_credentials(text), shown);
        }
    }

    #[test]
    fn two_spellings_of_one_repository() {
        for (one, other, is_same) in [
            ("https://github.com/o/r", "https://GitHub.com/o/r.git/", true),
            ("https://u:p@github.com/o/r", "HTTPS://github.com:443/o/r", true),
            ("ssh://git@h:22/o/r", "ssh://git@H/o/r.git", true),
            ("git@Host:o/r.git", "git@host:o/r/", true),
            ("file:///srv/r.git", "file:///srv/r/", true),
            ("https://h/o/r", "https://h/o/R", false),
            ("https://h:8443/o/r", "https://h/o/r", false),
            ("ssh://a@h/o/r", "ssh://b@h/o/r", false),
            ("ssh://git@host/o/r", "git@host:o/r", false),
            ("gh:o/r", "GH:o/r", false),
            ("file:///srv/.git", "file:///srv", false),
        ] {
            let identity = |text| Address::parse(text).ok().unwrap().identity();
            assert_eq!(identity(one) == identity(other), is_same, "{one} {other}");
        }
        let secret = Address::parse("https://u:secret@h/r").ok().unwrap().identity();
        assert_eq!(secret, "https://h/r");
    }

    #[test]
    fn names_of_directories_are_readable_and_tame() {
        for (address, slug) in [
            ("https://github.com/Org/repo.git", "github.com-org-repo"),
            ("https://u:p@host:8443/a/../b", "host-8443-a-b"),
            ("git@host:org/repo.git", "host-org-repo"),
            ("file:///home/me/r%20x/.git", "home-me-r-20x"),
        ] {
            assert_eq!(Address::parse(address).ok().unwrap().slug(), slug, "{address}");
        }
    }
}
