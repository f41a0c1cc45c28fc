//! Entries of lists and tables in a JSON file.

use brief_dialects::portable::output::SharedEntry;
use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;

use super::{EDITED, Merger};
use crate::json_text::{Container, JsonText, find_property, quote_json, to_json};

pub(super) fn merge_json(merger: &mut Merger<'_>, schema: Option<&str>) -> Result<(), String> {
    let check = |text: &str| {
        let json = JsonText::parse(text).map_err(|problem| format!("is not JSON: {problem}"))?;
        json.top_table().map(drop)
    };
    merger.apply_edits(&render_skeleton(schema), check, (set_entry, remove_entry))
}

/// Returns the text of a new file without entries.
fn render_skeleton(schema: Option<&str>) -> String {
    match schema {
        Some(schema) => format!("{{\n  \"$schema\": {}\n}}\n", quote_json(schema)),
        // It differs from `{}`, which a user may have written.
        None => "{\n}\n".to_owned(),
    }
}

/// Adds an entry, unless the user has one in its place.
fn set_entry(
    merger: &mut Merger<'_>,
    text: &str,
    entry: &SharedEntry,
) -> Result<Option<String>, String> {
    let json = JsonText::parse(text)?;
    match entry {
        SharedEntry::Listed { key, value } => {
            let keys: Vec<&str> = key.split('/').collect();
            if let Some(property) = find_property_at(json.top_table()?, &keys)? {
                let list = property.value.as_array();
                let list = list.ok_or_else(|| format!("`{key}` is not a list"))?;
                if list.elements.iter().any(|element| is_text(element, value)) {
                    // An entry that we did not add belongs to the user, and serves as well.
                    let is_ours = merger.request.before.contains(entry);
                    merger.merged.entries.extend(is_ours.then(|| entry.clone()));
                    return Ok(None);
                }
            }
            merger.merged.entries.push(entry.clone());
            json.insert_element(&keys, None, &quote_json(value)).map(Some)
        }
        SharedEntry::Keyed { key, name, json: value } => {
            let new = JsonText::parse(value)?;
            let keys: Vec<&str> = key.split('/').collect();
            let table =
                find_property_at(json.top_table()?, &keys)?.map(|table| table.value.as_object());
            let found = match table {
                Some(table) => {
                    find_property(table.ok_or_else(|| format!("`{key}` is not a table"))?, name)
                }
                None => Ok(None),
            };
            let Some(found) = found.map_err(|problem| format!("in `{key}`, {problem}"))? else {
                merger.merged.entries.push(entry.clone());
                return json.insert_element(&keys, Some(name), value).map(Some);
            };
            let is_same = to_json(&found.value) == to_json(&new.value);
            let is_as_before = was_ours(merger, &found.value, entry);
            let is_taken = merger.takes_over(entry, is_same, is_as_before);
            let replaced = || {
                json.replace_value(found.value.range(), |layout| layout.render_value(&new.value))
            };
            Ok(is_taken.then(replaced))
        }
        SharedEntry::Block { .. } => Ok(None),
    }
}

/// Removes an entry of ours, if it is still there.
fn remove_entry(
    merger: &mut Merger<'_>,
    text: &str,
    entry: &SharedEntry,
) -> Result<Option<String>, String> {
    let json = JsonText::parse(text)?;
    let (SharedEntry::Listed { key, .. } | SharedEntry::Keyed { key, .. }) = entry else {
        return Ok(None);
    };
    let keys: Vec<&str> = key.split('/').collect();
    let Some(holder) = find_property_at(json.top_table()?, &keys)? else { return Ok(None) };
    let range = match entry {
        SharedEntry::Listed { value, .. } => {
            let mut elements = holder.value.as_array().into_iter().flat_map(|list| &list.elements);
            elements.rfind(|element| is_text(element, value)).map(Ranged::range)
        }
        SharedEntry::Keyed { name, .. } => {
            let table = holder.value.as_object();
            let found = table.map_or(Ok(None), |table| find_property(table, name))?;
            let found = found.filter(|found| {
                was_ours(merger, &found.value, entry) || merger.may_replace(entry, EDITED)
            });
            found.map(|found| found.range)
        }
        SharedEntry::Block { .. } => None,
    };
    let (Some(range), Some(container)) = (range, Container::from_value(&holder.value)) else {
        return Ok(None);
    };
    let mut text = json.remove_element(&container, range);
    for count in (1..=keys.len()).rev() {
        text = JsonText::parse(&text)?.without_empty(&keys[..count])?.unwrap_or(text);
    }
    Ok(Some(text))
}

/// Finds what keys lead to, from table to table.
fn find_property_at<'o, 't>(
    top: &'o Object<'t>,
    keys: &[&str],
) -> Result<Option<&'o ObjectProp<'t>>, String> {
    let Some((last, above)) = keys.split_last() else { return Ok(None) };
    let mut table = top;
    for key in above {
        let Some(found) = find_property(table, key)? else { return Ok(None) };
        table = found.value.as_object().ok_or_else(|| format!("`{key}` is not a table"))?;
    }
    find_property(table, last)
}

fn is_text(value: &Value<'_>, text: &str) -> bool {
    value.as_string_lit().is_some_and(|found| found.value == text)
}

/// Returns whether a value is the one that we have written under the name of an entry.
fn was_ours(merger: &Merger<'_>, value: &Value<'_>, entry: &SharedEntry) -> bool {
    merger.earlier_forms(entry).any(|before| match before {
        SharedEntry::Keyed { json, .. } => {
            JsonText::parse(json).is_ok_and(|json| to_json(&json.value) == to_json(value))
        }
        _ => false,
    })
}
