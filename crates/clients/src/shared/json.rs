//! Entries of lists and tables in a JSON file.

use brief_dialects::portable::output::{Merge, MergedOutput, SharedEntry};
use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;

use super::{EDITED, may_replace, takes_over};
use crate::json_text::{Container, JsonText, property, quoted, same};

pub(super) fn merge(request: &Merge<'_>, schema: Option<&str>) -> Result<MergedOutput, String> {
    let mut merged = MergedOutput::default();
    let skeleton = skeleton(schema);
    let (mark, text) = match request.text {
        Some(text) => match text.strip_prefix('\u{feff}') {
            Some(rest) => ("\u{feff}", rest),
            None => ("", text),
        },
        None if request.wanted.is_empty() => return Ok(merged),
        None => ("", skeleton.as_str()),
    };
    let mut text = text.to_owned();
    JsonText::parse(&text).map_err(|problem| format!("it is not JSON: {problem}"))?.top()?;
    for entry in request.wanted {
        let change = match entry {
            SharedEntry::Listed { key, value } => list(&text, key, value, request, &mut merged)?,
            SharedEntry::Keyed { key, name, json } => {
                set(&text, (key, name, json), entry, request, &mut merged)?
            }
            SharedEntry::Block { .. } => None,
        };
        text = change.unwrap_or(text);
    }
    // Removals come last, so that a list with a new entry stays where it is.
    let mut removed = false;
    let mut seen: Vec<String> = request.wanted.iter().map(SharedEntry::name).collect();
    for entry in request.before {
        if seen.contains(&entry.name()) {
            continue;
        }
        seen.push(entry.name());
        if let Some(change) = remove(&text, entry, request, &mut merged)? {
            text = change;
            removed = true;
        }
    }
    // The result must be valid for other readers.
    JsonText::parse(&text)?.top()?;
    let is_nothing = removed && merged.entries.is_empty() && text == skeleton;
    merged.text = (!is_nothing).then(|| format!("{mark}{text}"));
    Ok(merged)
}

/// Returns the text of a new file without entries.
fn skeleton(schema: Option<&str>) -> String {
    match schema {
        Some(schema) => format!("{{\n  \"$schema\": {}\n}}\n", quoted(schema)),
        // It differs from `{}`, which a user may have written.
        None => "{\n}\n".to_owned(),
    }
}

/// Adds a text to a list, unless it is there.
fn list(
    text: &str,
    key: &str,
    value: &str,
    request: &Merge<'_>,
    merged: &mut MergedOutput,
) -> Result<Option<String>, String> {
    let json = JsonText::parse(text)?;
    let top = json.top()?;
    let ours = SharedEntry::Listed { key: key.to_owned(), value: value.to_owned() };
    let keys: Vec<&str> = key.split('/').collect();
    if let Some(property) = at(top, &keys)? {
        let list = property.value.as_array().ok_or_else(|| format!("`{key}` is not a list"))?;
        if list.elements.iter().any(|element| is_text(element, value)) {
            // An entry that we did not add belongs to the user, and serves as well.
            merged.entries.extend(request.before.contains(&ours).then_some(ours));
            return Ok(None);
        }
    }
    merged.entries.push(ours);
    json.insert(&keys, None, &quoted(value)).map(Some)
}

/// Sets a key of a table, unless the user has set it.
fn set(
    text: &str,
    (key, name, value): (&str, &str, &str),
    entry: &SharedEntry,
    request: &Merge<'_>,
    merged: &mut MergedOutput,
) -> Result<Option<String>, String> {
    let json = JsonText::parse(text)?;
    let top = json.top()?;
    let new = JsonText::parse(value)?;
    let keys: Vec<&str> = key.split('/').collect();
    let table = match at(top, &keys)? {
        Some(table) => {
            Some(table.value.as_object().ok_or_else(|| format!("`{key}` is not a table"))?)
        }
        None => None,
    };
    let found = table.map_or(Ok(None), |table| property(table, name));
    let Some(found) = found.map_err(|problem| format!("in `{key}`, {problem}"))? else {
        merged.entries.push(entry.clone());
        return json.insert(&keys, Some(name), value).map(Some);
    };
    let is_same = same(&found.value, &new.value);
    let is_as_before = was_ours(&found.value, entry, request);
    if takes_over(request, entry, is_same, is_as_before, merged) {
        return Ok(Some(json.replace(found.value.range(), |layout| layout.value(&new.value))));
    }
    Ok(None)
}

/// Removes an entry of ours, if it is still there.
fn remove(
    text: &str,
    entry: &SharedEntry,
    request: &Merge<'_>,
    merged: &mut MergedOutput,
) -> Result<Option<String>, String> {
    let json = JsonText::parse(text)?;
    let top = json.top()?;
    let (keys, range): (Vec<&str>, _) = match entry {
        SharedEntry::Listed { key, value } => {
            let keys: Vec<&str> = key.split('/').collect();
            let list = at(top, &keys)?.and_then(|property| property.value.as_array());
            let mut elements = list.into_iter().flat_map(|list| &list.elements);
            (keys, elements.rfind(|element| is_text(element, value)).map(Ranged::range))
        }
        SharedEntry::Keyed { key, name, .. } => {
            let keys: Vec<&str> = key.split('/').collect();
            let table = at(top, &keys)?.and_then(|property| property.value.as_object());
            let found = match table {
                Some(table) => property(table, name)?,
                None => None,
            };
            let found = found.filter(|found| {
                was_ours(&found.value, entry, request)
                    || may_replace(request, entry, EDITED, merged)
            });
            (keys, found.map(|found| found.range))
        }
        SharedEntry::Block { .. } => return Ok(None),
    };
    let container = at(top, &keys)?.and_then(|property| Container::of(&property.value));
    let (Some(range), Some(container)) = (range, container) else { return Ok(None) };
    let mut text = json.remove(&container, range);
    for count in (1..=keys.len()).rev() {
        text = JsonText::parse(&text)?.without_empty(&keys[..count])?.unwrap_or(text);
    }
    Ok(Some(text))
}

/// Finds what keys lead to, from table to table.
fn at<'o, 't>(top: &'o Object<'t>, keys: &[&str]) -> Result<Option<&'o ObjectProp<'t>>, String> {
    let Some((last, above)) = keys.split_last() else { return Ok(None) };
    let mut table = top;
    for key in above {
        let Some(found) = property(table, key)? else { return Ok(None) };
        table = found.value.as_object().ok_or_else(|| format!("`{key}` is not a table"))?;
    }
    property(table, last)
}

fn is_text(value: &Value<'_>, text: &str) -> bool {
    value.as_string_lit().is_some_and(|found| found.value == text)
}

/// Returns whether a value is the one that we have written under the name of an entry.
fn was_ours(value: &Value<'_>, entry: &SharedEntry, request: &Merge<'_>) -> bool {
    let mut before = request.before.iter().filter(|before| before.name() == entry.name());
    before.any(|before| is_value(value, before))
}

fn is_value(value: &Value<'_>, entry: &SharedEntry) -> bool {
    let SharedEntry::Keyed { json, .. } = entry else { return false };
    JsonText::parse(json).is_ok_and(|json| same(value, &json.value))
}
