//! Patterns for sources: `github.com/acme/*`, `*.acme.example`, `/srv/guidance`.
//!
//! A repository is known by its host and path, whatever the transport is and however the address is
//! spelled. A pattern also stands for everything below what it names.

use std::fmt;
use std::path::{Path, PathBuf};

use brief_syntax::glob::Glob;

/// The place of a source, as patterns see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourcePlace {
    /// A repository: `github.com/acme/guidance`.
    Repository(String),
    /// A directory of this machine, absolute and with all links followed.
    Directory(PathBuf),
    /// An address that servers may read in another way than we do. No list allows it.
    Unclear,
}

impl SourcePlace {
    /// Reads the address of a repository. One of a file is a directory.
    pub fn of_address(address: &str) -> SourcePlace {
        if let Some(path) = address.strip_prefix("file://") {
            return SourcePlace::Directory(PathBuf::from(path.trim_end_matches('/')));
        }
        let plain = plain(address);
        let is_clear = plain.split('/').all(|name| !matches!(name, "" | "." | ".."));
        if is_clear && !plain.contains(['%', '\\', '?', '#']) {
            SourcePlace::Repository(plain)
        } else {
            SourcePlace::Unclear
        }
    }
}

/// A pattern as it is written, ready to be matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourcePattern {
    written: String,
    is_directory: bool,
    /// The pattern, and all below it.
    globs: [Glob; 2],
    /// The same without case.
    folded: [Glob; 2],
}

impl fmt::Display for SourcePattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

impl SourcePattern {
    /// Reads a pattern; `home` stands for `~`. The error is in words.
    pub(super) fn read(written: &str, home: Option<&Path>) -> Result<SourcePattern, String> {
        let below_home = written.strip_prefix("~/");
        let text = match (below_home, home) {
            (Some(below), Some(home)) => format!("{}/{below}", home.to_string_lossy()),
            (Some(_), None) => return Err("there is no home directory for `~`".to_owned()),
            (None, _) => written.to_owned(),
        };
        let text = text.strip_prefix("file://").unwrap_or(&text);
        let is_directory = text.starts_with('/');
        let text = if is_directory { text.trim_end_matches('/').to_owned() } else { plain(text) };
        if !is_directory {
            let host = text.split('/').next().unwrap_or_default();
            let is_host = host.contains(['.', ':', '*']) || host == "localhost";
            if !is_host {
                return Err(format!("`{host}` is no host; write `github.com/{text}`"));
            }
        }
        let pair = |text: &str| -> Result<[Glob; 2], String> {
            let glob = |text: &str| Glob::new(text).map_err(|error| error.to_string());
            Ok([glob(text)?, glob(&format!("{text}/**"))?])
        };
        let (globs, folded) = (pair(&text)?, pair(&text.to_lowercase())?);
        Ok(SourcePattern { written: written.to_owned(), is_directory, globs, folded })
    }

    /// Returns whether the pattern lets a source pass: its path as it is written.
    pub(super) fn allows(&self, place: &SourcePlace) -> bool {
        match (place, self.is_directory) {
            (SourcePlace::Repository(text), false) => matches(&self.globs, text),
            (SourcePlace::Directory(path), true) => matches(&self.globs, &path.to_string_lossy()),
            _ => false,
        }
    }

    /// Returns whether the pattern stops a source: capitals make no difference, because they make none
    /// to many servers. What is unclear is stopped by every pattern for repositories.
    pub(super) fn denies(&self, place: &SourcePlace) -> bool {
        match (place, self.is_directory) {
            (SourcePlace::Repository(text), false) => matches(&self.folded, &text.to_lowercase()),
            (SourcePlace::Unclear, is_directory) => !is_directory,
            (SourcePlace::Directory(path), true) => {
                matches(&self.folded, &path.to_string_lossy().to_lowercase())
            }
            _ => false,
        }
    }
}

fn matches(globs: &[Glob; 2], text: &str) -> bool {
    globs.iter().any(|glob| glob.matches(text))
}

/// Returns `host/path` of an address or a pattern: without transport, user, usual port, `.git` and a slash
/// at the end; the host in small letters.
fn plain(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, address),
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let authority = authority.rsplit('@').next().unwrap_or(authority);
    let (host, path) = match authority.split_once(':') {
        // As `git@host:owner/repository` has it; what is all digits is a port.
        Some((host, first))
            if scheme.is_none() && !first.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            (host, format!("/{}{path}", first.trim_start_matches('/')))
        }
        Some((host, "443" | "22" | "")) => (host, path.to_owned()),
        _ => (authority, path.to_owned()),
    };
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    format!("{}{path}", host.to_lowercase())
}
