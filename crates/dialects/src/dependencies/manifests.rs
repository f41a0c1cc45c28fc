//! The common parts of package managers' manifests.

use brief_syntax::text::visible_line;
use serde_json::Value;
use toml_edit::{Document, Item, TableLike};

/// The longest name or version of a package that is shown, in characters.
const LONGEST: usize = 128;

/// Returns a name or a version in a form that can be shown: one line, visible, and short.
pub(super) fn clean_name(text: &str) -> String {
    visible_line(text).trim().chars().take(LONGEST).collect()
}

/// Reads JSON; `None` for anything else.
pub(super) fn parse_json(bytes: &[u8]) -> Option<Value> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).ok()
}

/// Reads TOML; `None` for anything else.
pub fn parse_toml(text: &str) -> Option<Document<String>> {
    Document::parse(text.to_owned()).ok()
}

/// Returns a table by the keys on the way to it.
pub fn find_table<'d>(document: &'d Document<String>, keys: &[&str]) -> Option<&'d dyn TableLike> {
    let mut table: &dyn TableLike = document.as_table();
    for key in keys {
        table = table.get(key)?.as_table_like()?;
    }
    Some(table)
}

/// Returns the texts of a list.
pub(super) fn collect_strings(item: &Item) -> Vec<String> {
    let list = item.as_array().into_iter().flatten();
    list.filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

/// Returns the entries of a table by the keys on the way to it; none without the table.
pub(super) fn table_entries<'d>(
    document: &'d Document<String>,
    keys: &[&str],
) -> impl Iterator<Item = (&'d str, &'d Item)> {
    find_table(document, keys).into_iter().flat_map(TableLike::iter)
}

/// Returns a text of a table.
pub(super) fn text_of(table: &dyn TableLike, key: &str) -> Option<String> {
    table.get(key)?.as_str().map(str::to_owned)
}
