//! The memory of a conversation: the entries that it was told.
//!
//! It is one small file per conversation in the user's state directory, with one line per delivered entry.
//! Lines are appended whole, and the first line of an entry decides which of several concurrent hooks
//! delivers it. The only effect of any failure here is a repeated entry.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use brief_clients::hook::{HookSession, Touch};
use brief_engine::System;
use brief_syntax::hash::sha256;
use brief_syntax::limits;
use brief_syntax::system::state_directory;

/// The time after which a silent conversation is over.
const EXPIRY: Duration = Duration::from_hours(168);

/// The limit for old conversations removed at the start of a new one.
const CLEANED_AT_ONCE: usize = 256;

/// The limit for the files that are looked at again after a compaction.
const MOST_TOUCHED: usize = 8;

/// The part of a session's memory that an event erases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryExtent {
    /// The whole session: it began.
    Session,
    /// The texts of one conversation, which was compacted. The files that it worked on stay.
    Conversation,
}

/// The memory of one conversation.
pub(super) struct Memory<'s> {
    system: &'s dyn System,
    directory: Option<PathBuf>,
    session: String,
    conversation: String,
    /// True for a memory that is not written down.
    is_transient: bool,
}

/// The delivered entries.
#[derive(Debug, Default)]
pub(super) struct DeliveredEntries {
    seen: HashSet<String>,
    /// The tokens of these entries.
    pub(super) spent: usize,
    /// The files that entries were delivered for, in order.
    touched: Vec<String>,
}

impl DeliveredEntries {
    pub(super) fn has(&self, fingerprint: &str) -> bool {
        self.seen.contains(fingerprint)
    }

    /// Returns the latest files that the conversation worked on, the last one last.
    pub(super) fn touched(&self) -> impl Iterator<Item = &str> {
        let first = self.touched.len().saturating_sub(MOST_TOUCHED);
        self.touched[first..].iter().map(String::as_str)
    }

    /// Forgets the entries of this call alone.
    pub(super) fn forget_entries(&mut self) {
        self.seen.clear();
    }

    fn touch(&mut self, path: &str) {
        self.touched.retain(|known| known != path);
        self.touched.push(path.to_owned());
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
            is_transient: false,
        }
    }

    /// Returns a memory that is not written down.
    pub(super) fn transient(system: &'s dyn System) -> Self {
        Memory {
            system,
            directory: None,
            session: String::new(),
            conversation: String::new(),
            is_transient: true,
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
            if let Some(path) = fingerprint.strip_prefix(TOUCHED) {
                known.touch(path);
                continue;
            }
            if known.seen.insert(fingerprint.to_owned()) {
                known.spent = known.spent.saturating_add(tokens);
            }
        }
        known
    }

    /// Records entries that are about to be delivered, and the files that they are for. Returns the
    /// fingerprints that no other hook has claimed first.
    pub(super) fn claim(
        &self,
        claims: &[Claim],
        touched: &[&str],
        known: &mut DeliveredEntries,
    ) -> HashSet<String> {
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
        for path in touched {
            if known.touched.last().map(String::as_str) != Some(path) {
                added.push_str(&touched_line(path));
            }
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

    /// Records that a call on these files is held back. Returns false if it was held back before, or if that
    /// cannot be recorded: then it passes.
    pub(super) fn hold_back(&self, touches: &[Touch], known: &mut DeliveredEntries) -> bool {
        let changed = touches.iter().filter(|touch| touch.how.is_change());
        let paths: Vec<String> =
            changed.map(|touch| touch.path.to_string_lossy().into_owned()).collect();
        let parts: Vec<&str> =
            std::iter::once("held").chain(paths.iter().map(String::as_str)).collect();
        let mark = fingerprint(&parts);
        if known.has(&mark) {
            return false;
        }
        let claims = [Claim { fingerprint: mark.clone(), tokens: 0 }];
        let is_ours = self.claim(&claims, &[], known).contains(&mark);
        is_ours && (self.is_transient || self.recall().has(&mark))
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

    /// Removes the texts of the conversation, or the whole session and a few expired ones.
    pub(super) fn forget(&self, extent: MemoryExtent) {
        let (Some(directory), Some(path)) = (&self.directory, self.path()) else { return };
        let touched = match extent {
            MemoryExtent::Conversation => self.recall(),
            MemoryExtent::Session => DeliveredEntries::default(),
        };
        let _ = self.system.remove_file(&path);
        if extent == MemoryExtent::Conversation {
            let lines: String = touched.touched().map(touched_line).collect();
            if !lines.is_empty() {
                let _ = self.system.append(&path, lines.as_bytes());
            }
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

struct MemoryLine<'t> {
    fingerprint: &'t str,
    tokens: usize,
    /// The call that wrote the line.
    owner: Option<&'t str>,
}

/// The first character of a line that names a file.
const TOUCHED: char = '@';

fn touched_line(path: &str) -> String {
    format!("{TOUCHED}{}\n", path.replace(['\n', '\r'], " "))
}

fn lines(text: &str) -> impl Iterator<Item = MemoryLine<'_>> {
    text.lines().map(|line| {
        if line.starts_with(TOUCHED) {
            return MemoryLine { fingerprint: line, tokens: 0, owner: None };
        }
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
