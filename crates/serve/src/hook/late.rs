//! Texts that came after what they are for, as receipts say.
//!
//! A command can change a file that its text does not show. The memory notes when commands ran and which files their events
//! showed, so that a file whose time lies in between, and that none of them showed, was changed unseen: its guidance comes
//! with the next event that shows it, and is late.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use brief_clients::hook::{HookCall, HookMoment};
use brief_engine::receipts::{LateReason, ReceiptItem, ReceiptKind};
use brief_engine::{Action, System, Timing};
use brief_system::paths::clean_path;

use super::memory::{DeliveredEntries, Memory, fingerprint_parts};
use super::receipt::EntryOrigin;

/// The limit for the files of one command.
const MOST_FILES: usize = 16;

/// Notes that a command begins or has ended, and which files the event shows.
pub(super) fn note_command(system: &dyn System, call: &HookCall<'_>, memory: &Memory<'_>) {
    let Some(time) = call.command else { return };
    let shown = match &call.moment {
        HookMoment::Tool { touches, .. } => touches.as_slice(),
        _ => &[],
    };
    let cwd = call.cwd.clone().or_else(|| system.current_dir().ok()).unwrap_or_default();
    let marks = shown.iter().take(MOST_FILES).map(|touch| file_mark(&cwd.join(&touch.path)));
    memory.note_command(time, &marks.collect::<Vec<String>>());
}

/// Returns why an item that goes out with a call is late, as far as the call alone tells.
pub(super) fn of_call(
    call: &HookCall<'_>,
    origin: &EntryOrigin<'_>,
    is_held: bool,
    has_waited: bool,
) -> Option<LateReason> {
    let is_after = match &call.moment {
        // Clients show the text of an event before a call together with its result.
        HookMoment::Tool { time: Timing::Before, .. } => !is_held,
        HookMoment::Tool { time: Timing::After, .. } => !origin.is_for_after(),
        _ => false,
    };
    let is_change = matches!(origin.moment.action, Some(Action::Edit | Action::Create));
    if is_after && is_change {
        return Some(LateReason::AfterChange);
    }
    has_waited.then_some(LateReason::NoRoom)
}

/// Marks the items for files that a command has changed unseen.
pub(super) fn mark_unseen(
    system: &dyn System,
    root: &Path,
    known: &DeliveredEntries,
    items: &mut [ReceiptItem],
) {
    if !known.has_commands() {
        return;
    }
    let mut unseen: HashMap<String, bool> = HashMap::new();
    for item in items {
        if item.file.is_empty() || item.how == ReceiptKind::Loaded {
            continue;
        }
        let is_unseen = *unseen.entry(item.file.clone()).or_insert_with(|| {
            let path = root.join(&item.file);
            let changed = system.modified_time(&path).ok();
            let changed = changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
            changed
                .is_some_and(|at| known.has_unseen_command(to_milliseconds(at), &file_mark(&path)))
        });
        if is_unseen {
            item.late = Some(LateReason::UnseenChange);
        }
    }
}

fn to_milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the mark of a file, short enough for a line with several.
fn file_mark(path: &Path) -> String {
    fingerprint_parts(&["shown", &clean_path(path).to_string_lossy()])[..16].to_owned()
}
