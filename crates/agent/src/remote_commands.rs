//! Remote commands of agents: fetched on the operator's request, and pinned to their first content.
//!
//! The first fetch records the SHA-256 of the content in the user's state directory; from then on only that
//! content is accepted (Y36).

use std::collections::BTreeMap;
use std::path::PathBuf;

use brief_dialects::agents::{Agent, Fetched};
use brief_syntax::hash::sha256;
use brief_syntax::limits;
use brief_syntax::system::{ReadError, System, state_directory};

use crate::abilities::{NetworkPolicy, fetch_text};

/// The record, in the user's state directory.
const RECORD: &str = "agent-commands";

/// The fetched commands of an agent.
#[derive(Debug, Default)]
pub struct RemoteCommands {
    /// The commands that were fetched.
    pub fetched: Vec<Fetched>,
    /// Remarks for the user: contents recorded for the first time, and failed fetches.
    pub notes: Vec<String>,
}

/// Fetches the remote commands of an agent that have no content yet.
pub fn fetch(system: &dyn System, policy: &NetworkPolicy, agent: &Agent) -> RemoteCommands {
    let mut commands = RemoteCommands::default();
    let record = match PinRecord::read(system) {
        Ok(record) => record,
        Err(problem) => {
            commands.notes.push(problem);
            return commands;
        }
    };
    for remote in &agent.unresolved {
        let url = &remote.url;
        if !url.to_ascii_lowercase().starts_with("https://") || url.ends_with('/') {
            continue;
        }
        let text = match fetch_text(system, policy, url) {
            Ok(text) if text.len() as u64 <= limits::FILE_BYTES => text,
            Ok(_) => {
                commands.notes.push(format!("{url} is larger than a file may be"));
                continue;
            }
            Err(problem) => {
                commands.notes.push(format!("{url} cannot be fetched: {problem}"));
                continue;
            }
        };
        let found = sha256(text.as_bytes());
        let sha256 = match record.known.get(url) {
            Some(known) => known.clone(),
            None => {
                if let Err(problem) = record.add(system, url, &found) {
                    commands.notes.push(problem);
                    continue;
                }
                commands.notes.push(format!("{url} is recorded with the SHA-256 {found}"));
                found
            }
        };
        commands.fetched.push(Fetched { url: url.clone(), sha256, bytes: text.into_bytes() });
    }
    commands
}

/// The recorded contents: one line each, the SHA-256 and the address.
struct PinRecord {
    path: PathBuf,
    known: BTreeMap<String, String>,
    /// True if a killed run has left an incomplete line at the end.
    is_torn: bool,
}

impl PinRecord {
    fn read(system: &dyn System) -> Result<PinRecord, String> {
        let directory = state_directory(system)
            .ok_or("there is no home directory to record what is fetched in; set `HOME`")?;
        system
            .create_private_dir(&directory)
            .map_err(|error| format!("`{}` cannot be created: {error}", directory.display()))?;
        let path = directory.join(RECORD);
        let text = match system.read(&path, limits::FILE_BYTES) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(ReadError::Missing) => String::new(),
            Err(error) => return Err(format!("`{}` cannot be read: {error}", path.display())),
        };
        // The first line about an address counts: a later content may come from another author.
        let mut known = BTreeMap::new();
        for (sha256, url) in text.lines().filter_map(|line| line.split_once(' ')) {
            known.entry(url.to_owned()).or_insert_with(|| sha256.to_owned());
        }
        // An entry appended to an incomplete line would be lost too.
        let is_torn = !text.is_empty() && !text.ends_with('\n');
        Ok(PinRecord { path, known, is_torn })
    }

    fn add(&self, system: &dyn System, url: &str, sha256: &str) -> Result<(), String> {
        let start = if self.is_torn { "\n" } else { "" };
        let line = format!("{start}{sha256} {url}\n");
        let added = system.append(&self.path, line.as_bytes());
        added.map_err(|error| format!("`{}` cannot be written: {error}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use brief_syntax::system::MemorySystem;

    use super::PinRecord;

    #[test]
    fn the_first_record_of_an_address_counts() {
        let system = MemorySystem::new("/").with_env("HOME", "/home/user");
        let record = PinRecord::read(&system).unwrap();
        assert!(record.known.is_empty());
        record.add(&system, "https://host/a.md", "1").unwrap();
        record.add(&system, "https://host/a.md", "2").unwrap();
        let record = PinRecord::read(&system).unwrap();
        assert_eq!(record.known["https://host/a.md"], "1");
    }

    #[test]
    fn half_a_line_costs_no_other() {
        let path = "/home/user/.local/state/brief/".to_owned() + super::RECORD;
        let system = MemorySystem::new("/").with_env("HOME", "/home/user");
        let system = system.with_file(&path, "1 https://host/a.md\n2 https://ho");
        PinRecord::read(&system).unwrap().add(&system, "https://host/b.md", "3").unwrap();
        let record = PinRecord::read(&system).unwrap();
        assert_eq!(record.known["https://host/a.md"], "1");
        assert_eq!(record.known["https://host/b.md"], "3");
    }
}
