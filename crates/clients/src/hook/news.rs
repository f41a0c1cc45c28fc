//! Events and tools of a client that no fact is about: a newer version may have them.
//!
//! The hook delivers what is certain, notes the name once for each client, and `brief hook status` shows it.

use std::path::PathBuf;

use brief_profiles::Client;
use brief_system::{System, state_directory};
use serde::Serialize;

/// The bytes of names that are kept for a client.
const MOST_BYTES: u64 = 16 * 1024;

/// The limit for the characters of a name.
const LONGEST: usize = 80;

/// A name that no fact is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnknownName {
    pub kind: UnknownKind,
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownKind {
    Event,
    /// A tool that names a file.
    Tool,
}

impl UnknownKind {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            UnknownKind::Event => "event",
            UnknownKind::Tool => "tool",
        }
    }
}

/// Notes a name, once. The only effect of any failure here is a missing note.
pub fn record_unknown_name(system: &dyn System, client: &Client, unknown: &UnknownName) {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "_-.:/".contains(character);
    let name = &unknown.name;
    if name.is_empty() || name.chars().count() > LONGEST || !name.chars().all(is_plain) {
        return;
    }
    let (Some(path), known) =
        (unknown_names_path(system, client), read_unknown_names(system, client))
    else {
        return;
    };
    let size: usize = known.iter().map(|known| known.name.len() + 8).sum();
    if known.contains(unknown) || size as u64 > MOST_BYTES {
        return;
    }
    let line = format!("{} {name}\n", unknown.kind.as_str());
    if system.append(&path, line.as_bytes()).is_err()
        && let Some(directory) = path.parent()
    {
        let _ = system.create_private_dir(directory);
        let _ = system.append(&path, line.as_bytes());
    }
}

/// Returns the names that the hook has met.
pub fn read_unknown_names(system: &dyn System, client: &Client) -> Vec<UnknownName> {
    let Some(path) = unknown_names_path(system, client) else { return Vec::new() };
    let bytes = system.read(&path, 2 * MOST_BYTES).unwrap_or_default();
    let mut found: Vec<UnknownName> = Vec::new();
    for line in String::from_utf8_lossy(&bytes).lines() {
        let kinds = [UnknownKind::Event, UnknownKind::Tool].into_iter();
        let parts = line.split_once(' ');
        let Some((word, name)) = parts else { continue };
        let Some(kind) = kinds.into_iter().find(|kind| kind.as_str() == word) else { continue };
        let unknown = UnknownName { kind, name: name.to_owned() };
        // Two hooks may have noted it at the same time; a newer version of ours may know it.
        if !found.contains(&unknown) && !is_known(client, &unknown) {
            found.push(unknown);
        }
    }
    found
}

fn is_known(client: &Client, unknown: &UnknownName) -> bool {
    client.hook.as_ref().is_some_and(|hook| match unknown.kind {
        UnknownKind::Event => hook.events.all_names().any(|name| **name == *unknown.name),
        UnknownKind::Tool => hook.tools.all_names().any(|name| **name == *unknown.name),
    })
}

fn unknown_names_path(system: &dyn System, client: &Client) -> Option<PathBuf> {
    Some(state_directory(system)?.join("unknown").join(&*client.id))
}

#[cfg(test)]
mod tests {
    use brief_profiles::BUILTIN;
    use brief_system::MemorySystem;

    use super::*;

    #[test]
    fn a_name_is_noted_once() {
        let system = MemorySystem::new("/p").with_env("XDG_STATE_HOME", "/state");
        let client = BUILTIN.find_client("claude").unwrap();
        let named = |kind, name: &str| UnknownName { kind, name: name.to_owned() };
        let new = named(UnknownKind::Tool, "ReadMany");
        for name in
            [&new, &new, &named(UnknownKind::Event, "TurnEnd"), &named(UnknownKind::Tool, "a\nb")]
        {
            record_unknown_name(&system, client, name);
        }
        record_unknown_name(&system, client, &named(UnknownKind::Tool, "Read"));
        assert_eq!(
            read_unknown_names(&system, client),
            [new, named(UnknownKind::Event, "TurnEnd")]
        );
        assert_eq!(read_unknown_names(&system, BUILTIN.find_client("codex").unwrap()), []);
    }
}
