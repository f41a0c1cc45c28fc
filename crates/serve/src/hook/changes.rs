//! The files that a call changes: their hashes before and after it, for receipts.
//!
//! Before the call the memory of the conversation notes the hash of each file that the call is about to change; after it the
//! receipt has both. Nothing else is looked at: a file that a call does not name, one outside the project, or one that may
//! hold secrets is not in a receipt.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use brief_clients::hook::{HookCall, HookMoment, Touch};
use brief_engine::receipts::{TouchedFile, file_hash};
use brief_engine::{System, Timing};
use brief_safety::sensitive;
use brief_system::paths::{clean_path, to_slashed};

use super::memory::{DeliveredEntries, Memory, fingerprint_parts};

/// The limit for the files of one call.
const MOST_FILES: usize = 16;

/// The mark of a file that was not there.
const ABSENT: &str = "-";

/// Notes the files that a call is about to change.
pub(super) fn record_file_hashes(
    system: &dyn System,
    call: &HookCall<'_>,
    root: &Path,
    memory: &Memory<'_>,
) {
    let HookMoment::Tool { time: Timing::Before, touches, .. } = &call.moment else { return };
    let mut noted = Vec::new();
    for (path, _) in collect_change_targets(system, call, root, touches) {
        let hash = match file_hash(system, &path) {
            Ok(hash) => hash,
            Err(_) if system.resolve(&path).is_err() => ABSENT.to_owned(),
            Err(_) => continue,
        };
        noted.push((call_file_mark(call, &path), hash));
    }
    if !noted.is_empty() {
        memory.note_before(&noted);
    }
}

/// Returns the files that a call has changed.
pub(super) fn collect_changed_files(
    system: &dyn System,
    call: &HookCall<'_>,
    root: &Path,
    known: &DeliveredEntries,
) -> Vec<TouchedFile> {
    let HookMoment::Tool { time: Timing::After, touches, .. } = &call.moment else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for (path, below) in collect_change_targets(system, call, root, touches) {
        let mut file =
            TouchedFile { path: below, before: None, after: None, missing: BTreeMap::new() };
        let mut lacks = |key: &str, reason: &str| {
            file.missing.insert(key.to_owned(), reason.to_owned());
        };
        match known.hash_before(&call_file_mark(call, &path)) {
            Some(ABSENT) => lacks("before", "the file did not exist"),
            Some(hash) => file.before = Some(hash.to_owned()),
            None => lacks("before", "no event preceded the call"),
        }
        match file_hash(system, &path) {
            Ok(hash) => file.after = Some(hash),
            Err(reason) => lacks("after", reason),
        }
        // A call that was refused or failed has changed nothing.
        let is_same = file.before == file.after && file.before.is_some();
        let was_nowhere = file.before.is_none() && file.after.is_none();
        let is_absent =
            was_nowhere && known.hash_before(&call_file_mark(call, &path)) == Some(ABSENT);
        if !(is_same || is_absent) {
            files.push(file);
        }
    }
    files
}

/// Returns the files of the project that a call may change, each with its path below the root.
fn collect_change_targets(
    system: &dyn System,
    call: &HookCall<'_>,
    root: &Path,
    touches: &[Touch],
) -> Vec<(PathBuf, String)> {
    let cwd = call.cwd.clone().or_else(|| system.current_dir().ok()).unwrap_or_default();
    let mut found: Vec<(PathBuf, String)> = Vec::new();
    for touch in touches.iter().filter(|touch| touch.how.is_change()).take(MOST_FILES) {
        let path = clean_path(&cwd.join(&touch.path));
        let Ok(below) = path.strip_prefix(root) else { continue };
        let below = to_slashed(below);
        if below.is_empty()
            || sensitive::find_sensitive_pattern(&below).is_some()
            || found.iter().any(|(known, _)| *known == path)
        {
            continue;
        }
        found.push((path, below));
    }
    found
}

/// Returns the mark of a file in a call. Without an id of the call the latest call on the file counts.
fn call_file_mark(call: &HookCall<'_>, path: &Path) -> String {
    let id = call.trace.call.as_deref().unwrap_or_default();
    fingerprint_parts(&["before", id, &path.to_string_lossy()])
}
