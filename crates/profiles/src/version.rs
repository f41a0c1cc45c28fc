//! The version of a client on this machine, read from its files. Nothing is executed: a hook asks, too.

use std::cmp::Ordering;
use std::fmt;
use std::path::{Path, PathBuf};

use brief_syntax::limits;
use brief_system::System;

use crate::{Client, SinceVersion};

/// The directories above a program that may hold its package: `node_modules/@scope/name/dist/bin.js`.
const LEVELS: usize = 6;

/// A version of a client, compared by its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientVersion(String);

impl ClientVersion {
    /// Parses a version; `None` for a text that begins with no number.
    pub fn parse(text: &str) -> Option<ClientVersion> {
        let text = text.trim();
        let text = text.strip_prefix('v').unwrap_or(text);
        text.starts_with(|first: char| first.is_ascii_digit())
            .then(|| ClientVersion(text.to_owned()))
    }

    /// Returns whether this version does what a client does since another one.
    pub fn has_reached(&self, since: &SinceVersion) -> bool {
        compare_numbers(&self.0, &since.version) != Ordering::Less
    }
}

impl fmt::Display for ClientVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Compares the numbers before the first other word. A preview counts as its version, because it has most of it.
fn compare_numbers(left: &str, right: &str) -> Ordering {
    let numbers = |text: &str| -> Vec<u64> {
        let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let plain = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
        plain.split('.').map_while(|number| number.parse().ok()).collect()
    };
    let (left, right) = (numbers(left), numbers(right));
    let length = left.len().max(right.len());
    let at = |numbers: &[u64], index: usize| numbers.get(index).copied().unwrap_or_default();
    (0..length)
        .map(|index| at(&left, index).cmp(&at(&right, index)))
        .find(|ordering| ordering.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Returns the program of a client on the search path, with its links followed.
pub fn find_program(system: &dyn System, name: &str) -> Option<PathBuf> {
    let path = system.env("PATH")?;
    std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .find_map(|directory| system.resolve(&directory.join(name)).ok())
        .map(|found| found.path)
}

/// Returns the version of the client that the search path leads to; `None` if its files do not say.
pub fn find_installed_version(system: &dyn System, client: &Client) -> Option<ClientVersion> {
    let install = client.hook.as_ref()?.install.as_ref()?;
    read_version(system, &find_program(system, install.program.as_ref()?)?)
}

/// Reads the version of a program from the package around it, or from its own path: native installations keep each version
/// in a file or directory of that name.
pub(crate) fn read_version(system: &dyn System, program: &Path) -> Option<ClientVersion> {
    let from_package = program.ancestors().skip(1).take(LEVELS).find_map(|directory| {
        let manifest = system.read(&directory.join("package.json"), limits::FILE_BYTES).ok()?;
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
        ClientVersion::parse(manifest.get("version")?.as_str()?)
    });
    from_package.or_else(|| {
        let mut names = program.ancestors().take(LEVELS).filter_map(Path::file_name);
        names.find_map(|name| {
            let name = name.to_str().filter(|name| name.matches('.').count() >= 2)?;
            ClientVersion::parse(name)
        })
    })
}

impl Client {
    /// Returns whether what the client does by itself depends on its version.
    pub fn depends_on_version(&self) -> bool {
        self.reads.iter().chain(&self.home_reads).any(|read| read.since.is_some())
    }
}

#[cfg(test)]
mod tests {
    use brief_system::MemorySystem;

    use super::*;
    use crate::{BUILTIN, Evidence, Seen, text};

    fn since(version: &str) -> SinceVersion {
        let seen = Seen { version: None, date: text("2026-11-20"), how: Evidence::Documents };
        SinceVersion { version: version.to_owned().into(), seen }
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, since_version, has) in [
            ("2.1.277", "2.1.277", true),
            ("2.1.1000", "2.1.277", true),
            ("2.1.99", "2.1.277", false),
            ("2.2", "2.1.277", true),
            ("2.1", "2.1.277", false),
            ("v3.0.0-beta.1", "3.0", true),
            ("1.99.99", "2", false),
        ] {
            let version = ClientVersion::parse(version).unwrap();
            assert_eq!(version.has_reached(&since(since_version)), has, "{version}");
        }
        assert_eq!(ClientVersion::parse("latest"), None);
    }

    /// A package of npm, and an installation that keeps a file for each version.
    #[test]
    fn a_version_is_read_from_files() {
        let claude = BUILTIN.find_client("claude").unwrap();
        let package = "/lib/node_modules/@anthropic-ai/claude-code/package.json";
        let npm = MemorySystem::new("/p")
            .with_env("PATH", "/empty:/bin")
            .with_file("/lib/node_modules/@anthropic-ai/claude-code/cli.js", "")
            .with_file(package, "{\"name\": \"claude-code\", \"version\": \"2.1.197\"}")
            .with_link("/bin/claude", "/lib/node_modules/@anthropic-ai/claude-code/cli.js");
        let found = |system: &MemorySystem| {
            find_installed_version(system, claude).map(|version| version.to_string())
        };
        assert_eq!(found(&npm).as_deref(), Some("2.1.197"));
        let native = MemorySystem::new("/p")
            .with_env("PATH", "/h/.local/bin")
            .with_file("/h/.local/share/claude/versions/2.1.300", "")
            .with_link("/h/.local/bin/claude", "/h/.local/share/claude/versions/2.1.300");
        assert_eq!(found(&native).as_deref(), Some("2.1.300"));
        assert_eq!(found(&MemorySystem::new("/p").with_env("PATH", "/bin")), None);
        assert_eq!(found(&MemorySystem::new("/p")), None);
    }
}
