//! Edits of the user's files that need entries of ours.
//!
//! This is pure: a text in, a text out. Everything else in a file stays byte for byte, and removing our
//! entries restores the previous text. An invalid file is refused rather than repaired.

pub(crate) mod block;
mod json;
#[cfg(test)]
mod tests;
pub(crate) mod toml;

use brief_dialects::portable::output::{Foreign, Merge, MergedOutput, SharedEntry};

/// The reason to keep an entry that was there before us.
const FOREIGN: &str = "was not written by `brief`";
/// The reason to keep an entry that was edited since.
const EDITED: &str = "was changed by hand";

/// Adds the wanted entries to a shared file, and removes earlier ones that are no longer wanted.
///
/// A new JSON file begins with the address of its schema, if it has one. The error is a message about the
/// file; then nothing may be written.
pub fn merge_entries(request: &Merge<'_>, schema: Option<&str>) -> Result<MergedOutput, String> {
    let is_block = |entry: &&SharedEntry| matches!(entry, SharedEntry::Block { .. });
    let all = || request.wanted.iter().chain(request.before);
    let ending = request.path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_json = ["json", "jsonc"].iter().any(|one| ending.eq_ignore_ascii_case(one));
    let is_toml = ending.eq_ignore_ascii_case("toml");
    if (is_json || is_toml) && all().any(|entry| is_block(&entry)) {
        return Err("a JSON or TOML file cannot contain a marked block".to_owned());
    }
    if !is_json && !is_toml && !all().all(|entry| is_block(&entry)) {
        return Err("only JSON files can have lists, and only JSON and TOML files can have tables"
            .to_owned());
    }
    let mut merger = Merger { request, merged: MergedOutput::default() };
    if is_json {
        json::merge_json(&mut merger, schema)?;
    } else if is_toml {
        toml::merge_toml(&mut merger)?;
    } else {
        block::merge_block(&mut merger)?;
    }
    Ok(merger.merged)
}

struct Merger<'m> {
    request: &'m Merge<'m>,
    merged: MergedOutput,
}

/// An edit of a text for one entry: the new text, or `None` if nothing changes.
type EntryEdit = fn(&mut Merger<'_>, &str, &SharedEntry) -> Result<Option<String>, String>;

impl<'m> Merger<'m> {
    /// Sets the wanted entries and removes the others. `empty` is the text of a file without any.
    fn apply_edits(
        &mut self,
        empty: &str,
        check: fn(&str) -> Result<(), String>,
        (set, remove): (EntryEdit, EntryEdit),
    ) -> Result<(), String> {
        let Merge { text, wanted, before, .. } = *self.request;
        if text.is_none() && wanted.is_empty() {
            return Ok(());
        }
        let (mark, text) = split_mark(text.unwrap_or(empty));
        let mut text = text.to_owned();
        check(&text)?;
        for entry in wanted {
            text = set(self, &text, entry)?.unwrap_or(text);
        }
        // Removals come last, so that a list with a new entry stays where it is.
        let mut is_shorter = false;
        let mut seen: Vec<String> = wanted.iter().map(SharedEntry::name).collect();
        for entry in before {
            if seen.contains(&entry.name()) {
                continue;
            }
            seen.push(entry.name());
            if let Some(shorter) = remove(self, &text, entry)? {
                text = shorter;
                is_shorter = true;
            }
        }
        // The result must be valid for other readers.
        check(&text)?;
        let is_nothing = is_shorter && self.merged.entries.is_empty() && text == empty;
        self.merged.text = (!is_nothing).then(|| format!("{mark}{text}"));
        Ok(())
    }

    /// Decides about an entry that is there already: returns whether it is to be replaced, and notes whose it is then.
    fn takes_over(&mut self, entry: &SharedEntry, is_same: bool, is_as_before: bool) -> bool {
        let before = self.request.before.iter().find(|before| before.name() == entry.name());
        if is_same {
            self.merged.entries.extend(before.map(|_| entry.clone()));
            return false;
        }
        let reason = if before.is_some() { EDITED } else { FOREIGN };
        if is_as_before || self.may_replace(entry, reason) {
            self.merged.entries.push(entry.clone());
            return true;
        }
        // It may become ours again.
        self.merged.entries.extend(before.cloned());
        false
    }

    /// Returns the earlier forms of an entry.
    fn earlier_forms(
        &self,
        entry: &SharedEntry,
    ) -> impl Iterator<Item = &'m SharedEntry> + use<'m> {
        let name = entry.name();
        self.request.before.iter().filter(move |before| before.name() == name)
    }

    /// Returns whether an entry of the user may be replaced. One that may not is reported.
    fn may_replace(&mut self, entry: &SharedEntry, reason: &'static str) -> bool {
        let is_kept = self.request.foreign == Foreign::Keep;
        self.merged.kept.extend(is_kept.then(|| (entry.name(), reason)));
        !is_kept
    }
}

/// Splits a byte order mark off.
pub(crate) fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}
