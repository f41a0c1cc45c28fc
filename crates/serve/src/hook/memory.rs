//! What a conversation was told before.
//!
//! One small file per conversation in the user's state directory, one line per entry delivered.
//! Lines are appended whole, so concurrent hooks cannot harm each other; at worst two of them
//! deliver the same entry. Whatever goes wrong here only means that something is repeated.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use brief_clients::hook::{Extent, Session};
use brief_engine::System;
use brief_syntax::hash::sha256;
use brief_syntax::limits;
use brief_syntax::system::state_directory;

/// Conversations that were silent for this long are over.
const EXPIRY: Duration = Duration::from_hours(168);

/// Old conversations cleaned up at the start of a new one.
const CLEANED_AT_ONCE: usize = 256;

/// The memory of one conversation.
pub(super) struct Memory<'s> {
    system: &'s dyn System,
    directory: Option<PathBuf>,
    session: String,
    conversation: String,
}

impl<'s> Memory<'s> {
    pub(super) fn of(system: &'s dyn System, session: &Session) -> Self {
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

    /// Returns the fingerprints of what was delivered.
    pub(super) fn recall(&self) -> HashSet<String> {
        let Some(path) = self.path() else { return HashSet::new() };
        if self.is_expired(&path) {
            let _ = self.system.remove_file(&path);
            return HashSet::new();
        }
        let text = self.system.read(&path, limits::FILE_BYTES).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// Adds fingerprints.
    pub(super) fn remember(&self, delivered: &[String]) {
        let (Some(directory), Some(path)) = (&self.directory, self.path()) else { return };
        let mut lines = delivered.join("\n");
        lines.push('\n');
        if self.system.append(&path, lines.as_bytes()).is_err() {
            let _ = self.system.create_private_dir(directory);
            let _ = self.system.append(&path, lines.as_bytes());
        }
    }

    /// Removes the conversation, or the whole session, and a few that are long over.
    pub(super) fn forget(&self, extent: Extent) {
        let (Some(directory), Some(path)) = (&self.directory, self.path()) else { return };
        let _ = self.system.remove_file(&path);
        if extent == Extent::Conversation {
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

fn belongs_to(name: &OsStr, session: &str) -> bool {
    name.to_str()
        .and_then(|name| name.strip_prefix(session))
        .is_some_and(|rest| rest.starts_with('.'))
}

/// Names texts by their content: the first half of a SHA-256, in hexadecimal.
pub(super) fn fingerprint(parts: &[&str]) -> String {
    let mut whole = Vec::new();
    for part in parts {
        whole.extend_from_slice(&(part.len() as u64).to_le_bytes());
        whole.extend_from_slice(part.as_bytes());
    }
    sha256(&whole)[..32].to_owned()
}
