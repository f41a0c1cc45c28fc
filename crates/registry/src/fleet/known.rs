//! The members of a fleet that earlier runs have read.
//!
//! Facts belong to a commit, so they never change: an unchanged repository costs the reading of its `HEAD`. Each member is one appended
//! line. A run that is killed leaves the lines of the members that it has read, and the next one goes on there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use brief_system::{System, cache_directory};
use serde::{Deserialize, Serialize};

use super::read::reading_version;
use super::{FleetFacts, FleetMember, FleetPlace};
use crate::staged::fingerprint_text;

/// The limit for the bytes of the record.
const MOST_BYTES: u64 = 1024 * 1024 * 1024;

/// The members that earlier runs have read.
#[derive(Debug, Default)]
pub struct KnownMembers {
    /// The file; `None` where nothing is remembered.
    file: Option<PathBuf>,
    members: Mutex<HashMap<String, FleetFacts>>,
    /// The number of lines that the file had.
    lines: usize,
}

/// A line of the record: with references where it is written, with values where it is read.
#[derive(Serialize, Deserialize)]
struct KnownMember<T, F> {
    place: T,
    commit: T,
    facts: F,
}

fn member_key(place: &str, commit: &str) -> String {
    format!("{commit} {place}")
}

impl KnownMembers {
    /// Reads the record for sources as they were typed in the directory `base`, with the facts that this version of the program takes.
    pub fn load(system: &dyn System, base: &Path, sources: &[PathBuf]) -> KnownMembers {
        let Some(cache) = cache_directory(system) else { return KnownMembers::default() };
        let mut name = format!("{}\n", reading_version());
        for source in sources {
            name.push_str(&base.join(source).to_string_lossy());
            name.push('\n');
        }
        let file = cache.join("fleet").join(format!("{}.jsonl", fingerprint_text(&name)));
        let bytes = system.read(&file, MOST_BYTES).unwrap_or_default();
        KnownMembers { file: Some(file), ..KnownMembers::parse(&bytes) }
    }

    /// Reads the lines of a record. A line that is torn is left out.
    pub(super) fn parse(bytes: &[u8]) -> KnownMembers {
        let mut members = HashMap::new();
        let mut lines = 0;
        for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            lines += 1;
            if let Ok(member) = serde_json::from_slice::<KnownMember<String, _>>(line) {
                members.insert(member_key(&member.place, &member.commit), member.facts);
            }
        }
        KnownMembers { file: None, members: Mutex::new(members), lines }
    }

    /// Removes and returns the facts of a member at a commit. Each is asked for once, and a large fleet should not be in memory twice.
    pub(super) fn take_facts(&self, place: &str, commit: &str) -> Option<FleetFacts> {
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        members.remove(&member_key(place, commit))
    }

    /// Appends the facts of a member. They are only a cache, so errors are ignored.
    pub(super) fn append_facts(
        &self,
        system: &dyn System,
        place: &str,
        commit: &str,
        facts: &FleetFacts,
    ) {
        let Some(file) = &self.file else { return };
        let Ok(line) = serde_json::to_string(&KnownMember { place, commit, facts }) else { return };
        if let Some(directory) = file.parent() {
            let _ = system.create_private_dir(directory);
        }
        // A line break on both sides keeps it apart from a torn line.
        let _ = system.append(file, format!("\n{line}\n").as_bytes());
    }

    /// Writes the record anew when most of its lines are out of date.
    pub fn compact_record(&self, system: &dyn System, members: &[FleetMember]) {
        let Some(file) = self.file.as_ref().filter(|_| self.lines > 2 * members.len() + 16) else {
            return;
        };
        let mut text = String::new();
        for member in members {
            let is_wrong = matches!(member.place, FleetPlace::Wrong { .. });
            let Some(commit) = member.commit.as_deref().filter(|_| !is_wrong) else { continue };
            if member.problem.is_none() {
                let place: &str = &member.place.to_string();
                let line = KnownMember { place, commit, facts: &member.facts };
                text.push_str(&serde_json::to_string(&line).unwrap_or_default());
                text.push('\n');
            }
        }
        let _ = system.replace_private_file(file, text.as_bytes());
    }
}
