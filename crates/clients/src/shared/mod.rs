//! Files that belong to the user, in which something of ours has to stand.
//!
//! Pure: a text in, a text out. What is not ours stays byte for byte, and what we have put there can be
//! taken out again so that the text is as it was before. A file that cannot be understood is refused
//! rather than repaired.

mod block;
mod edit;
mod json;
#[cfg(test)]
mod tests;

use brief_dialects::portable::output::{Foreign, Merge, Merged, SharedEntry};

/// Why an entry stays: it was there before us.
const FOREIGN: &str = "somebody else has written it";
/// Why an entry stays: it is no longer what we wrote.
const EDITED: &str = "it was changed by hand";

/// Puts what is wanted into a shared file, and takes out what was there before and is no longer wanted.
///
/// A new file of JSON begins with the address of its schema, if it has one. The error says in words what
/// is wrong with the file; then nothing is to be written.
pub fn merge(request: &Merge<'_>, schema: Option<&str>) -> Result<Merged, String> {
    let is_block = |entry: &&SharedEntry| matches!(entry, SharedEntry::Block { .. });
    let all = || request.wanted.iter().chain(request.before);
    let is_json = request.path.rsplit_once('.').is_some_and(|(_, ending)| {
        ending.eq_ignore_ascii_case("json") || ending.eq_ignore_ascii_case("jsonc")
    });
    if is_json && all().any(|entry| is_block(&entry)) {
        return Err("a file of JSON has no place for lines between markers".to_owned());
    }
    if !is_json && !all().all(|entry| is_block(&entry)) {
        return Err("only files of JSON have lists and tables that can be added to".to_owned());
    }
    if is_json { json::merge(request, schema) } else { block::merge(request) }
}

/// Whether an entry of somebody else is replaced; one that is not is named.
fn may_replace(
    request: &Merge<'_>,
    entry: &SharedEntry,
    reason: &'static str,
    merged: &mut Merged,
) -> bool {
    match request.foreign {
        Foreign::Replace => true,
        Foreign::Keep => {
            merged.kept.push((entry.name(), reason));
            false
        }
    }
}
