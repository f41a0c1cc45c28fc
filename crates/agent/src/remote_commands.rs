//! Remote commands of agents: fetched on the operator's request, pinned to their first content, and kept.
//!
//! The first fetch records the SHA-256 of a content in the user's state directory; from then on only that content is
//! accepted (Y36). The content itself is kept in the cache directory under its hash, so that a later run needs no
//! network. A folder is fetched file by file, in the same way; the names in it are those of its last index.

mod index;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use brief_dialects::agents::{Agent, Fetched, RemoteState};
use brief_syntax::limits;
use brief_syntax::text::percent_encoded;
use brief_system::hash::sha256;
use brief_system::{ReadError, System, cache_directory, state_directory};

use crate::abilities::{FetchedDocument, NetworkPolicy, fetch_document};
pub(crate) use index::FolderIndex;

/// The record, in the user's state directory.
const RECORD: &str = "agent-commands";

/// The kept contents, in the user's cache directory.
const KEPT: &str = "agent-commands";

/// The names of this machine in an address.
const THIS_MACHINE: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The commands of an agent that came from the network.
#[derive(Debug, Default)]
pub struct RemoteCommands {
    pub fetched: Vec<Fetched>,
    /// Remarks for the user: contents recorded for the first time, failed fetches, and what came from the cache.
    pub notes: Vec<String>,
}

/// The way to the contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteAccess {
    /// From the network; what cannot be fetched may come from the cache.
    Fetch,
    /// From the cache only, as far as the content was recorded.
    Kept,
}

/// Finds the contents of an agent's remote commands.
pub fn resolve_remote_commands(
    system: &dyn System,
    agent: &Agent,
    access: RemoteAccess,
) -> RemoteCommands {
    let mut commands = RemoteCommands::default();
    let mut contents = match CommandStore::open(system) {
        Ok(contents) => contents,
        Err(problem) => {
            if access == RemoteAccess::Fetch {
                commands.notes.push(problem);
            }
            return commands;
        }
    };
    for remote in &agent.unresolved {
        let entry = remote.url.as_str();
        if !is_fetchable(entry) {
            continue;
        }
        let outcome = match access {
            RemoteAccess::Fetch => contents.fetch_entry(entry, &mut commands),
            RemoteAccess::Kept => Err(String::new()),
        };
        let Err(problem) = outcome else { continue };
        let kept = contents.read_cached_entry(entry);
        commands.notes.extend(match (kept.is_empty(), problem.as_str()) {
            (true, "") => None,
            (true, problem) => Some(format!("cannot fetch {entry}: {problem}")),
            (false, "") => {
                Some(format!("using {entry} from the cache; use `--fetch` to fetch it again"))
            }
            (false, problem) => Some(format!(
                "using {entry} from the cache, because it cannot be fetched: {problem}"
            )),
        });
        commands.fetched.extend(kept);
    }
    for (url, problem) in contents.record.save(system) {
        commands.fetched.retain(|fetched| fetched.url != url);
        commands.notes.push(format!("ignored {url}: {problem}"));
    }
    commands
}

/// Returns whether an address may be fetched: `https`, or `http` on this machine.
fn is_fetchable(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    lower.starts_with("https://") || host_here(&lower).is_some()
}

/// Returns the host and port of an address on this machine.
fn host_here(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?.to_ascii_lowercase();
    let end = authority.rfind(':').filter(|end| !authority[*end..].contains(']'));
    let host = end.map_or(authority.as_str(), |end| &authority[..end]);
    THIS_MACHINE.contains(&host).then_some(authority)
}

/// Returns whether an address is that of a folder.
fn is_folder(url: &str) -> bool {
    url.split(['?', '#']).next().is_some_and(|address| address.ends_with('/'))
}

/// The contents that are recorded in the state directory and kept in the cache.
struct CommandStore<'s> {
    system: &'s dyn System,
    record: PinRecord,
    kept: Option<PathBuf>,
}

impl<'s> CommandStore<'s> {
    fn open(system: &'s dyn System) -> Result<CommandStore<'s>, String> {
        let record = PinRecord::read(system)?;
        let kept = cache_directory(system).map(|directory| directory.join(KEPT));
        Ok(CommandStore { system, record, kept })
    }

    /// Fetches an entry: a file, or a folder with its files. The error is the reason why nothing of it counts.
    fn fetch_entry(&mut self, entry: &str, commands: &mut RemoteCommands) -> Result<(), String> {
        let hosts = host_here(entry).into_iter().collect();
        let policy = NetworkPolicy { private_hosts: hosts, ..NetworkPolicy::default() };
        let found = fetch_document(self.system, &policy, entry)?;
        if !is_folder(&found.url) {
            let fetched = self.accept_content(entry, entry, found, &mut commands.notes)?;
            commands.fetched.push(fetched);
            return Ok(());
        }
        // An address without its last `/` leads there, too.
        let folder = found.url.split(['?', '#']).next().unwrap_or_default().to_owned();
        let path = folder.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default();
        let index = FolderIndex::parse(&found.text, &path)?;
        let notes = index.problems.iter().map(|problem| format!("{entry}: {problem}"));
        commands.notes.extend(notes);
        let deadline = self.system.elapsed() + Duration::from_secs(limits::REMOTE_SECONDS);
        let mut files: Vec<Fetched> = Vec::new();
        for name in &index.names {
            let url = format!("{folder}{}", percent_encoded(name));
            if self.system.elapsed() > deadline {
                return Err(format!("took longer than {} s", limits::REMOTE_SECONDS));
            }
            let found = fetch_document(self.system, &policy, &url);
            match found
                .and_then(|found| self.accept_content(entry, &url, found, &mut commands.notes))
            {
                Ok(fetched) => files.push(fetched),
                Err(problem) => {
                    commands.notes.push(format!("cannot fetch {url}: {problem}"));
                    // What was there before is still accepted.
                    files.extend(self.kept_file(entry, &url));
                }
            }
        }
        let urls: Vec<&str> = files.iter().map(|file| file.url.as_str()).collect();
        self.cache_bytes(&folder_name(entry), urls.join("\n").as_bytes());
        commands.fetched.append(&mut files);
        Ok(())
    }

    /// Records a content that is seen for the first time, and keeps it.
    fn accept_content(
        &mut self,
        entry: &str,
        url: &str,
        found: FetchedDocument,
        notes: &mut Vec<String>,
    ) -> Result<Fetched, String> {
        let bytes = found.text.into_bytes();
        if bytes.len() as u64 > limits::FILE_BYTES {
            return Err(format!("is larger than {} bytes", limits::FILE_BYTES));
        }
        let hash = sha256(&bytes);
        let recorded = match self.record.known.get(url) {
            Some(known) => known.clone(),
            None => {
                self.record.add_pin(url, &hash);
                notes.push(format!("recorded {url} with SHA-256 {hash}"));
                hash.clone()
            }
        };
        if recorded == hash {
            self.cache_bytes(&hash, &bytes);
        }
        let (entry, url) = (entry.to_owned(), url.to_owned());
        Ok(Fetched { entry, url, sha256: recorded, bytes, state: RemoteState::Fetched })
    }

    /// Keeps bytes under a name. A cache that cannot be written costs nothing but the next fetch.
    fn cache_bytes(&self, name: &str, bytes: &[u8]) {
        let Some(directory) = &self.kept else { return };
        if self.system.create_private_dir(directory).is_ok() {
            let _ = self.system.replace_private_file(&directory.join(name), bytes);
        }
    }

    /// Returns the recorded contents of an entry that are kept.
    fn read_cached_entry(&self, entry: &str) -> Vec<Fetched> {
        let index = self.read_kept(&folder_name(entry));
        match index {
            Some(index) => {
                let index = String::from_utf8_lossy(&index).into_owned();
                index.lines().filter_map(|url| self.kept_file(entry, url)).collect()
            }
            None => self.kept_file(entry, entry).into_iter().collect(),
        }
    }

    fn kept_file(&self, entry: &str, url: &str) -> Option<Fetched> {
        let hash = self.record.known.get(url).filter(|hash| is_hash(hash))?;
        let bytes = self.read_kept(hash).filter(|bytes| sha256(bytes) == *hash)?;
        let (entry, url) = (entry.to_owned(), url.to_owned());
        Some(Fetched { entry, url, sha256: hash.clone(), bytes, state: RemoteState::Kept })
    }

    fn read_kept(&self, name: &str) -> Option<Vec<u8>> {
        let directory = self.kept.as_ref()?;
        self.system.read(&directory.join(name), limits::FILE_BYTES).ok()
    }
}

/// Returns whether a recorded text is the name of a kept file.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the name under which the addresses of a folder's files are kept.
fn folder_name(entry: &str) -> String {
    format!("{}.folder", sha256(entry.as_bytes()))
}

/// The recorded contents: one line each, the SHA-256 and the address.
struct PinRecord {
    path: PathBuf,
    /// The lines of the file.
    lines: String,
    known: BTreeMap<String, String>,
    /// The contents that the file does not have yet.
    new: BTreeMap<String, String>,
}

impl PinRecord {
    fn read(system: &dyn System) -> Result<PinRecord, String> {
        let directory = state_directory(system)
            .ok_or("no home directory to record fetched files in; set `HOME`")?;
        let path = directory.join(RECORD);
        let mut lines = match system.read(&path, limits::FILE_BYTES) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(ReadError::Missing) => String::new(),
            Err(error) => return Err(format!("cannot read `{}`: {error}", path.display())),
        };
        // An incomplete line says nothing.
        lines.truncate(lines.rfind('\n').map_or(0, |end| end + 1));
        // The first line about an address counts: a later content may come from another author.
        let mut known = BTreeMap::new();
        for (sha256, url) in lines.lines().filter_map(|line| line.split_once(' ')) {
            known.entry(url.to_owned()).or_insert_with(|| sha256.to_owned());
        }
        Ok(PinRecord { path, lines, known, new: BTreeMap::new() })
    }

    fn add_pin(&mut self, url: &str, sha256: &str) {
        if !self.known.contains_key(url) {
            self.known.insert(url.to_owned(), sha256.to_owned());
            self.new.insert(url.to_owned(), sha256.to_owned());
        }
    }

    /// Writes what is new, all at once. Returns the addresses whose contents do not count, each with the reason.
    fn save(&mut self, system: &dyn System) -> Vec<(String, String)> {
        let new = std::mem::take(&mut self.new);
        if new.is_empty() {
            return Vec::new();
        }
        self.write_new(system, &new)
            .unwrap_or_else(|problem| new.into_keys().map(|url| (url, problem.clone())).collect())
    }

    fn write_new(
        &self,
        system: &dyn System,
        new: &BTreeMap<String, String>,
    ) -> Result<Vec<(String, String)>, String> {
        let told = |error| format!("cannot write `{}`: {error}", self.path.display());
        if let Some(directory) = self.path.parent() {
            system.create_private_dir(directory).map_err(told)?;
        }
        let _lock = system.lock(&self.path.with_extension("lock")).map_err(told)?;
        // Another run may have recorded something since.
        let PinRecord { mut lines, known, .. } = PinRecord::read(system)?;
        let mut refused = Vec::new();
        for (url, sha256) in new {
            match known.get(url) {
                None => lines.push_str(&format!("{sha256} {url}\n")),
                Some(other) if other != sha256 => {
                    let reason = "another run recorded different content".to_owned();
                    refused.push((url.clone(), reason));
                }
                Some(_) => {}
            }
        }
        system.replace_private_file(&self.path, lines.as_bytes()).map_err(told)?;
        Ok(refused)
    }
}

#[cfg(test)]
mod tests {
    use brief_system::MemorySystem;

    use super::PinRecord;

    #[test]
    fn the_first_record_of_an_address_counts() {
        let system = MemorySystem::new("/").with_env("HOME", "/home/user");
        let mut record = PinRecord::read(&system).unwrap();
        assert!(record.known.is_empty());
        record.add_pin("https://host/a.md", "1");
        record.add_pin("https://host/a.md", "2");
        let mut other = PinRecord::read(&system).unwrap();
        other.add_pin("https://host/a.md", "2");
        other.add_pin("https://host/b.md", "3");
        assert_eq!(record.save(&system), []);
        // Another run was first.
        let refused = other.save(&system);
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].0, "https://host/a.md");
        let record = PinRecord::read(&system).unwrap();
        assert_eq!(record.known["https://host/a.md"], "1");
        assert_eq!(record.known["https://host/b.md"], "3");
    }

    #[test]
    fn only_https_and_this_machine_are_asked() {
        for url in [
            "https://a.example/x.md",
            "HTTPS://a.example/",
            "http://localhost/",
            "http://127.0.0.1:80/x",
            "http://[::1]:80",
        ] {
            assert!(super::is_fetchable(url), "{url}");
        }
        for url in [
            "http://a.example/",
            "http://localhost.a.example/",
            "http://10.0.0.1/",
            "http://u@localhost/",
            "http://127.0.0.2/",
        ] {
            assert!(!super::is_fetchable(url), "{url}");
        }
    }

    #[test]
    fn half_a_line_costs_no_other() {
        let path = "/home/user/.local/state/brief/".to_owned() + super::RECORD;
        let system = MemorySystem::new("/").with_env("HOME", "/home/user");
        let system = system.with_file(&path, "1 https://host/a.md\n2 https://ho");
        let mut record = PinRecord::read(&system).unwrap();
        record.add_pin("https://host/b.md", "3");
        assert_eq!(record.save(&system), []);
        let record = PinRecord::read(&system).unwrap();
        assert_eq!(record.known["https://host/a.md"], "1");
        assert_eq!(record.known["https://host/b.md"], "3");
    }
}
