//! The memory of a conversation: the entries that it was told.
//!
//! It is one small file per conversation in the user's state directory, with one line per delivered entry.
//! Lines are appended whole, and the first line of an entry decides which of several concurrent hooks
//! delivers it. The only effect of any failure here is a repeated entry.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use brief_clients::hook::{HookSession, MemoryExtent};
use brief_engine::System;
use brief_syntax::hash::sha256;
use brief_syntax::limits;
use brief_syntax::system::state_directory;

/// The time after which a silent conversation is over.
const EXPIRY: Duration = Duration::from_hours(168);

/// The limit for old conversations removed at the start of a new one.
const CLEANED_AT_ONCE: usize = 256;

/// The memory of one conversation.
pub(super) struct Memory<'s> {
    system: &'s dyn System,
    directory: Option<PathBuf>,
    session: String,
    conversation: String,
}

/// The delivered entries.
#[derive(Debug, Default)]
pub(super) struct DeliveredEntries {
    seen: HashSet<String>,
    /// The tokens of these entries.
    pub(super) spent: usize,
}

impl DeliveredEntries {
    pub(super) fn has(&self, fingerprint: &str) -> bool {
        self.seen.contains(fingerprint)
    }
}

/// An entry to deliver, and its cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) fingerprint: String,
    pub(super) tokens: usize,
}

impl<'s> Memory<'s> {
    pub(super) fn of(system: &'s dyn System, session: &HookSession) -> Self {
        let name = fingerprint(&[&session.id]);
        let agent =
            session.agent.as_deref().map_or("main".to_owned(), |agent| fingerprint(&[agent]));
        Memory {
            system,
            directory: state_directory(system).map(|state| state.join("sessions")),
            conversation: format!("{name}.{agent}"),
            session: name,
        }
    }

    /// Returns the delivered entries.
    pub(super) fn recall(&self) -> DeliveredEntries {
        let mut known = DeliveredEntries::default();
        let Some(path) = self.path() else { return known };
        if self.is_expired(&path) {
            let _ = self.system.remove_file(&path);
            return known;
        }
        let text = self.text(&path);
        for MemoryLine { fingerprint, tokens, .. } in lines(&text) {
            if known.seen.insert(fingerprint.to_owned()) {
                known.spent = known.spent.saturating_add(tokens);
            }
        }
        known
    }

    /// Records entries that are about to be delivered. Returns the fingerprints that no other hook has
    /// claimed first.
    pub(super) fn claim(&self, claims: &[Claim], known: &mut DeliveredEntries) -> HashSet<String> {
        let all = || claims.iter().map(|claim| claim.fingerprint.clone());
        known.seen.extend(all());
        let (Some(directory), Some(path)) = (&self.directory, self.path()) else {
            return all().collect();
        };
        if claims.is_empty() {
            return HashSet::new();
        }
        let owner = self.owner(claims);
        let mut added = String::new();
        for Claim { fingerprint, tokens } in claims {
            added.push_str(&format!("{fingerprint} {tokens} {owner}\n"));
        }
        if self.system.append(&path, added.as_bytes()).is_err() {
            let _ = self.system.create_private_dir(directory);
            if self.system.append(&path, added.as_bytes()).is_err() {
                return all().collect();
            }
        }
        let text = self.text(&path);
        let mut is_ours: HashMap<&str, bool> = HashMap::new();
        for line in lines(&text) {
            is_ours.entry(line.fingerprint).or_insert(line.owner == Some(owner.as_str()));
        }
        // If the file cannot be read back, the entry is delivered: a repetition is better than a gap.
        all().filter(|claimed| is_ours.get(claimed.as_str()).copied().unwrap_or(true)).collect()
    }

    /// Returns a unique name for this call.
    fn owner(&self, claims: &[Claim]) -> String {
        let now = self.system.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        // Addresses differ between processes, and between threads of one.
        format!("{:x}-{:x}", now.as_nanos(), claims.as_ptr().addr())
    }

    fn text(&self, path: &Path) -> String {
        let bytes = self.system.read(path, limits::FILE_BYTES).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Removes the conversation, or the whole session, and a few expired ones.
    pub(super) fn forget(&self, extent: MemoryExtent) {
        let (Some(directory), Some(path)) = (&self.directory, self.path()) else { return };
        let _ = self.system.remove_file(&path);
        if extent == MemoryExtent::Conversation {
            return;
        }
        let entries = self.system.open_dir(directory).and_then(|handle| handle.entries());
        let mut cleaned = 0;
        for entry in entries.unwrap_or_default() {
            let path = directory.join(&entry.name);
            let is_ours = belongs_to(&entry.name, &self.session);
            if is_ours || (cleaned < CLEANED_AT_ONCE && self.is_expired(&path)) {
                let _ = self.system.remove_file(&path);
                cleaned += 1;
            }
        }
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(&self.conversation))
    }

    fn is_expired(&self, path: &Path) -> bool {
        let age = |modified| self.system.now().duration_since(modified).unwrap_or_default();
        self.system.modified(path).is_ok_and(|modified| age(modified) > EXPIRY)
    }
}

/// A line of a memory.
struct MemoryLine<'t> {
    fingerprint: &'t str,
    tokens: usize,
    /// The call that wrote the line.
    owner: Option<&'t str>,
}

fn lines(text: &str) -> impl Iterator<Item = MemoryLine<'_>> {
    text.lines().map(|line| {
        let mut fields = line.split(' ');
        MemoryLine {
            fingerprint: fields.next().unwrap_or_default(),
            tokens: fields.next().and_then(|tokens| tokens.parse().ok()).unwrap_or(0),
            owner: fields.next(),
        }
    })
}

fn belongs_to(name: &OsStr, session: &str) -> bool {
    name.to_str()
        .and_then(|name| name.strip_prefix(session))
        .is_some_and(|rest| rest.starts_with('.'))
}

/// Returns a hash of texts: the first half of a SHA-256, in hexadecimal.
pub(super) fn fingerprint(parts: &[&str]) -> String {
    let mut whole = Vec::new();
    for part in parts {
        whole.extend_from_slice(&(part.len() as u64).to_le_bytes());
        whole.extend_from_slice(part.as_bytes());
    }
    sha256(&whole)[..32].to_owned()
}
