//! Edits of the user's files that need entries of ours.
//!
//! This is pure: a text in, a text out. Everything else in a file stays byte for byte, and removing our
//! entries restores the previous text. An invalid file is refused rather than repaired.

mod block;
mod json;
#[cfg(test)]
mod tests;
pub(crate) mod toml;

use brief_dialects::portable::output::{Foreign, Merge, MergedOutput, SharedEntry};

/// The reason to keep an entry that was there before us.
const FOREIGN: &str = "it is not an entry of `brief`";
/// The reason to keep an entry that was edited since.
const EDITED: &str = "it was changed by hand";

/// Adds the wanted entries to a shared file, and removes earlier ones that are no longer wanted.
///
/// A new JSON file begins with the address of its schema, if it has one. The error is a message about the
/// file; then nothing may be written.
pub fn merge(request: &Merge<'_>, schema: Option<&str>) -> Result<MergedOutput, String> {
    let is_block = |entry: &&SharedEntry| matches!(entry, SharedEntry::Block { .. });
    let all = || request.wanted.iter().chain(request.before);
    let ending = request.path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_json = ["json", "jsonc"].iter().any(|one| ending.eq_ignore_ascii_case(one));
    let is_toml = ending.eq_ignore_ascii_case("toml");
    if (is_json || is_toml) && all().any(|entry| is_block(&entry)) {
        return Err("a JSON or TOML file cannot hold lines between markers".to_owned());
    }
    if is_toml {
        return toml::merge(request);
    }
    if !is_json && !all().all(|entry| is_block(&entry)) {
        return Err("only JSON files have lists, and JSON and TOML files tables".to_owned());
    }
    if is_json { json::merge(request, schema) } else { block::merge(request) }
}

/// Decides about an entry that is there already: returns whether it is to be replaced, and notes whose it is then.
fn takes_over(
    request: &Merge<'_>,
    entry: &SharedEntry,
    is_same: bool,
    is_as_before: bool,
    merged: &mut MergedOutput,
) -> bool {
    let before = request.before.iter().find(|before| before.name() == entry.name());
    if is_same {
        merged.entries.extend(before.map(|_| entry.clone()));
        return false;
    }
    let reason = if before.is_some() { EDITED } else { FOREIGN };
    if is_as_before || may_replace(request, entry, reason, merged) {
        merged.entries.push(entry.clone());
        return true;
    }
    // It may become ours again.
    merged.entries.extend(before.cloned());
    false
}

/// Returns whether an entry of the user may be replaced. One that may not is reported.
fn may_replace(
    request: &Merge<'_>,
    entry: &SharedEntry,
    reason: &'static str,
    merged: &mut MergedOutput,
) -> bool {
    match request.foreign {
        Foreign::Replace => true,
        Foreign::Keep => {
            merged.kept.push((entry.name(), reason));
            false
        }
    }
}
