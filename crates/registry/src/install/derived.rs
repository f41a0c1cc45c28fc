//! The mark of capability lists that this machine has derived, so that they need not be derived again.
//!
//! A lock comes with a project, and its lists may be forged. A run that has derived all lists of a lock
//! leaves a mark in the record: a hash of the lists and their contents, with a key of the user's state
//! directory. A lock with that mark is believed; the lists of any other lock are compared with the content.

use std::io;
use std::time::UNIX_EPOCH;

use brief_system::System;

use super::ProjectPaths;
use crate::lock::Lock;
use crate::outputs::mark;
use crate::outputs::record::OutputRecord;

/// Returns the mark of a lock whose lists this run has verified. `None` where the machine has no key.
pub(super) fn create_lock_mark(
    system: &dyn System,
    project: &ProjectPaths,
    lock: &Lock,
) -> io::Result<Option<String>> {
    match marked_bytes(system, lock) {
        Some(text) => mark::create_mark(system, &project.own, &text),
        None => Ok(None),
    }
}

/// Returns whether this program has derived all lists of the lock on this machine, for this project.
pub(super) fn has_mark(
    system: &dyn System,
    project: &ProjectPaths,
    lock: &Lock,
    record: Option<&OutputRecord>,
) -> bool {
    let mark = record.and_then(|record| record.capabilities.as_deref());
    let (Some(mark), Some(text)) = (mark, marked_bytes(system, lock)) else { return false };
    mark::is_valid(system, mark, &project.own, &text)
}

/// Returns the bytes to hash. They include the program: another version may find more capabilities.
fn marked_bytes(system: &dyn System, lock: &Lock) -> Option<Vec<u8>> {
    let modified = system.modified_time(&system.own_program().ok()?).ok()?;
    let modified = modified.duration_since(UNIX_EPOCH).ok()?.as_nanos().to_string();
    let lists: Vec<(&str, &[String])> = lock
        .items
        .values()
        .map(|item| (item.sha256.as_str(), item.capabilities.as_slice()))
        .collect();
    // A journal does not begin with this word, so a mark never fits both.
    serde_json::to_vec(&("capabilities", env!("CARGO_PKG_VERSION"), modified, lists)).ok()
}
