//! Patterns for sources: `github.com/acme/*`, `*.acme.example`, `/srv/guidance`.
//!
//! A repository is identified by host and path, with any transport and spelling of the address. A
//! pattern also matches everything below.

use std::fmt;
use std::path::{Path, PathBuf};

use brief_syntax::glob::Glob;

use super::host::host_name;

/// The place of a source, in the form that patterns match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourcePlace {
    Repository(String),
    /// A directory of this machine, absolute and with all links followed.
    Directory(PathBuf),
    /// An address that servers may read in another way than this module. No list allows it.
    Unclear,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourcePlace::Repository(place) => formatter.write_str(place),
            SourcePlace::Directory(path) => path.display().fmt(formatter),
            SourcePlace::Unclear => formatter.write_str("an ambiguous address"),
        }
    }
}

impl SourcePlace {
    /// Reads the address of a repository. A `file:` address is a directory.
    pub fn of_address(address: &str) -> SourcePlace {
        if let Some((scheme, path)) = address.split_once("://")
            && scheme.eq_ignore_ascii_case("file")
        {
            let start = path.find('/').unwrap_or(path.len());
            let (host, path) = path.split_at(start);
            let is_here = host.is_empty() || host.eq_ignore_ascii_case("localhost");
            // git decodes what the file system would take for a name.
            if !is_here || path.contains('%') {
                return SourcePlace::Unclear;
            }
            return SourcePlace::Directory(PathBuf::from(path.trim_end_matches('/')));
        }
        let Some(plain) = normalize_address(address) else { return SourcePlace::Unclear };
        let is_clear = plain.split('/').all(|name| !matches!(name, "" | "." | ".."));
        if is_clear && !plain.contains(['%', '\\', '?', '#']) {
            SourcePlace::Repository(plain)
        } else {
            SourcePlace::Unclear
        }
    }
}

/// A pattern as written, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourcePattern {
    written: String,
    is_directory: bool,
    /// True for `**`, which means every source.
    is_everything: bool,
    /// True if the pattern names a port; one without stands for all ports.
    has_port: bool,
    /// The pattern itself and everything below it.
    globs: [Glob; 2],
    /// The same globs in lower case.
    folded: [Glob; 2],
}

impl fmt::Display for SourcePattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

impl SourcePattern {
    /// Compiles a pattern; `home` stands for `~`. The error is a message.
    pub(super) fn compile_pattern(
        written: &str,
        home: Option<&Path>,
    ) -> Result<SourcePattern, String> {
        let below_home = written.strip_prefix("~/");
        let text = match (below_home, home) {
            (Some(below), Some(home)) => format!("{}/{below}", home.to_string_lossy()),
            (Some(_), None) => return Err("cannot expand `~` without a home directory".to_owned()),
            (None, _) => written.to_owned(),
        };
        let text = text.strip_prefix("file://").unwrap_or(&text);
        let is_directory = text.starts_with('/');
        let text = if is_directory {
            text.trim_end_matches('/').to_owned()
        } else {
            normalize_address(text).ok_or_else(|| {
                format!("the host `{written}` is ambiguous; write it in ASCII (`xn--…`)")
            })?
        };
        if !is_directory {
            let host = text.split('/').next().unwrap_or_default();
            let is_host = host.contains(['.', ':', '*']) || host == "localhost";
            if !is_host {
                return Err(format!("`{host}` is not a host; write `github.com/{text}`"));
            }
        }
        let pair = |text: &str| -> Result<[Glob; 2], String> {
            // The brackets of an IPv6 address are no choice of letters.
            let text = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                Some((address, rest)) => format!("\\[{address}\\]{rest}"),
                None => text.to_owned(),
            };
            let glob = |text: &str| Glob::new(text).map_err(|error| error.to_string());
            Ok([glob(&text)?, glob(&format!("{text}/**"))?])
        };
        let (globs, folded) = (pair(&text)?, pair(&text.to_lowercase())?);
        let has_port = !is_directory && without_port(&text) != text;
        let is_everything = text == "**";
        let written = written.to_owned();
        Ok(SourcePattern { written, is_directory, is_everything, has_port, globs, folded })
    }

    /// Returns the text of a repository that the pattern is about.
    fn comparable_text(&self, repository: &str) -> String {
        if self.has_port { repository.to_owned() } else { without_port(repository) }
    }

    /// Returns whether the pattern allows a source. Case counts in the path.
    pub(super) fn allows_place(&self, place: &SourcePlace) -> bool {
        match (place, self.is_directory) {
            (SourcePlace::Unclear, _) => false,
            _ if self.is_everything => true,
            (SourcePlace::Repository(text), false) => {
                matches_glob(&self.globs, &self.comparable_text(text))
            }
            (SourcePlace::Directory(path), true) => {
                matches_glob(&self.globs, &path.to_string_lossy())
            }
            _ => false,
        }
    }

    /// Returns whether the pattern denies a source. Case does not count, because many servers
    /// ignore it. Every pattern for repositories denies an unclear address.
    pub(super) fn denies_place(&self, place: &SourcePlace) -> bool {
        match (place, self.is_directory) {
            _ if self.is_everything => true,
            (SourcePlace::Repository(text), false) => {
                matches_glob(&self.folded, &self.comparable_text(text).to_lowercase())
            }
            (SourcePlace::Unclear, is_directory) => !is_directory,
            (SourcePlace::Directory(path), true) => {
                matches_glob(&self.folded, &path.to_string_lossy().to_lowercase())
            }
            _ => false,
        }
    }
}

/// Returns patterns as a message lists them; `None` without any.
pub(super) fn render_patterns(patterns: &[SourcePattern]) -> Option<String> {
    let patterns: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
    (!patterns.is_empty()).then(|| patterns.join(", "))
}

fn matches_glob(globs: &[Glob; 2], text: &str) -> bool {
    globs.iter().any(|glob| glob.matches(text))
}

/// Returns `host/path` of an address or a pattern: without transport, user, default port, `.git`
/// and final slash; the host in its one spelling. `None` if it has none.
fn normalize_address(address: &str) -> Option<String> {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, address),
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let authority = authority.rsplit('@').next().unwrap_or(authority);
    let (host, path) = match split_port(authority) {
        // The form `git@host:owner/repository`; digits alone are a port.
        Some((host, first))
            if scheme.is_none() && !first.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            (host, format!("/{}{path}", first.trim_start_matches('/')))
        }
        Some((host, port)) => match port.trim_start_matches('0') {
            "443" | "22" | "80" | "" => (host, path.to_owned()),
            port => return Some(format!("{}:{port}{}", host_name(host)?, final_part(path))),
        },
        None => (authority, path.to_owned()),
    };
    Some(format!("{}{}", host_name(host)?, final_part(&path)))
}

/// Returns a path without its final slash and `.git`.
fn final_part(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.strip_suffix(".git").unwrap_or(path)
}

/// Splits a host from what follows its colon. An address of IPv6 has colons of its own, in brackets.
fn split_port(authority: &str) -> Option<(&str, &str)> {
    let end = if authority.starts_with('[') { authority.find(']')? } else { 0 };
    let colon = end + authority.get(end..)?.find(':')?;
    Some((authority.get(..colon)?, authority.get(colon + 1..)?))
}

/// Returns `host/path` without the port.
fn without_port(text: &str) -> String {
    let (authority, path) = text.split_at(text.find('/').unwrap_or(text.len()));
    match split_port(authority) {
        Some((host, _)) => format!("{host}{path}"),
        None => text.to_owned(),
    }
}
