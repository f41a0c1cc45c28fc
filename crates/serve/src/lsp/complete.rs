//! Completion of keys and values in YAML: whole files and front matter.
//!
//! The keys of our own formats come from their schemas, those of clients' own files from the clients' data.

use std::path::Path;

use brief_clients::profile::{Profiles, Template};
use brief_dialects::rule_check::CHECK_FIELDS;
use brief_system::paths::to_slashed;
use serde_json::{Value as Json, json};

use super::server::{DocumentQuestion, LanguageServer};
use super::text::TextPosition;
use brief_workflows::schemas::FileSchema;

/// The protocol's numbers for kinds of completions.
const PROPERTY: usize = 10;
const VALUE: usize = 12;

/// Offers the keys that a mapping may have, or the values of a key.
pub(super) fn answer_completion(server: &LanguageServer, asked: &DocumentQuestion<'_>) -> Json {
    let Some(position) = asked.position else { return Json::Null };
    let text = &asked.document.text;
    let is_yaml = asked.path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    let lines: Vec<&str> = (0..=position.line).map(|line| text.line(line)).collect();
    let is_header = lines[0] == "---" && lines[1..].iter().all(|line| *line != "---");
    if !is_yaml && !is_header {
        return Json::Null;
    }
    let first = usize::from(!is_yaml);
    let Some((last, above)) = lines[first..].split_last() else { return Json::Null };
    let start = text.offset(TextPosition { character: 0, ..position }, server.unit);
    let typed = &last[..text.offset(position, server.unit) - start];
    let place = YamlPlace::from_lines(above, typed);
    match FileSchema::of_yaml(asked.path) {
        Some(schema) => {
            let Ok(schema) = serde_json::from_str(schema.text) else { return Json::Null };
            of_schema(&schema, &place)
        }
        None if place.parents.is_empty() && place.key.is_none() => of_client(asked.path),
        None => Json::Null,
    }
}

/// A place in a YAML text.
#[derive(Debug, PartialEq)]
struct YamlPlace<'l> {
    /// The keys around it, outermost first.
    parents: Vec<&'l str>,
    /// The key whose value is typed; `None` for a key.
    key: Option<String>,
}

/// A line of YAML as far as its key.
struct YamlLine<'l> {
    /// The columns of the dashes before the key.
    dash: Option<usize>,
    column: usize,
    key: Option<&'l str>,
}

impl<'l> YamlLine<'l> {
    fn parse(line: &'l str) -> Option<YamlLine<'l>> {
        let mut rest = line.trim_start_matches(' ');
        let mut dash = None;
        while let Some(after) = if rest == "-" { Some("") } else { rest.strip_prefix("- ") } {
            dash.get_or_insert(line.len() - rest.len());
            rest = after.trim_start_matches(' ');
        }
        if rest.is_empty() && dash.is_none() || rest.starts_with('#') {
            return None;
        }
        let key = rest.split_once(':').map(|(key, _)| key.trim_matches(['"', '\'']));
        Some(YamlLine { dash, column: line.len() - rest.len(), key })
    }
}

impl<'l> YamlPlace<'l> {
    /// Finds the place behind `typed`, a part of the line after `above`.
    fn from_lines(above: &[&'l str], typed: &str) -> YamlPlace<'l> {
        let blank = typed.len() - typed.trim_start_matches(' ').len();
        let line =
            YamlLine::parse(typed).unwrap_or(YamlLine { dash: None, column: blank, key: None });
        let mut parents = Vec::new();
        // The parent stands further left, or below a dash in the same column as the dash.
        let mut most = line.dash.map_or(line.column, |dash| dash + 1);
        for line in above.iter().rev().filter_map(|line| YamlLine::parse(line)) {
            if line.column < most {
                parents.extend(line.key);
                most = line.dash.map_or(line.column, |dash| dash + 1);
            } else if let Some(dash) = line.dash.filter(|dash| *dash < most) {
                most = dash + 1;
            }
        }
        parents.reverse();
        YamlPlace { parents, key: line.key.map(str::to_owned) }
    }
}

/// Returns the parts of a schema that may describe one value.
fn collect_schema_branches<'s>(schema: &'s Json, root: &'s Json) -> Vec<&'s Json> {
    let mut all = vec![schema];
    let named = schema.get("$ref").and_then(Json::as_str).and_then(|name| name.strip_prefix('#'));
    if let Some(named) = named.and_then(|pointer| root.pointer(pointer)) {
        all.extend(collect_schema_branches(named, root));
    }
    for word in ["anyOf", "oneOf", "allOf"] {
        let parts = schema.get(word).and_then(Json::as_array);
        all.extend(
            parts.into_iter().flatten().flat_map(|part| collect_schema_branches(part, root)),
        );
    }
    if let Some(items) = schema.get("items") {
        all.extend(collect_schema_branches(items, root));
    }
    all
}

/// Returns what the key of a rule's check means, for the line of a position.
pub(super) fn describe_check_key(asked: &DocumentQuestion<'_>) -> Option<(String, String)> {
    let position = asked.position?;
    let text = &asked.document.text;
    let schema = FileSchema::of_yaml(asked.path)?;
    let lines: Vec<&str> = (0..=position.line).map(|line| text.line(line)).collect();
    let (last, above) = lines.split_last()?;
    let place = YamlPlace::from_lines(above, last);
    let key = place.key.as_deref()?;
    let is_of_check = place.parents.contains(&"check") || CHECK_FIELDS.contains(&key);
    let schema: Json = serde_json::from_str(schema.text).ok().filter(|_| is_of_check)?;
    let mut here = collect_schema_branches(&schema, &schema);
    for parent in &place.parents {
        let inner: Vec<&Json> =
            here.iter().filter_map(|part| part.pointer("/properties")?.get(*parent)).collect();
        here = inner.into_iter().flat_map(|part| collect_schema_branches(part, &schema)).collect();
    }
    let found = here.iter().filter_map(|part| part.pointer("/properties")?.get(key));
    let mut found = found.filter_map(|part| part.get("description")?.as_str());
    Some((key.to_owned(), found.next()?.to_owned()))
}

fn of_schema(schema: &Json, place: &YamlPlace<'_>) -> Json {
    let mut here = collect_schema_branches(schema, schema);
    let keys = place.parents.iter().copied().chain(place.key.as_deref());
    for key in keys {
        let inner: Vec<&Json> = here
            .iter()
            .filter_map(|schema| {
                schema
                    .pointer("/properties")?
                    .get(key)
                    .or_else(|| schema.get("additionalProperties"))
            })
            .collect();
        here = inner.into_iter().flat_map(|part| collect_schema_branches(part, schema)).collect();
    }
    let mut found = Vec::new();
    for schema in here {
        if place.key.is_some() {
            let listed = schema.get("enum").and_then(Json::as_array);
            found.extend(listed.into_iter().flatten().filter_map(value_item));
            found.extend(schema.get("const").and_then(value_item));
            if schema.get("type") == Some(&json!("boolean")) {
                found.extend([json!(true), json!(false)].iter().filter_map(value_item));
            }
        } else if let Some(properties) = schema.get("properties").and_then(Json::as_object) {
            found.extend(properties.iter().map(|(key, schema)| {
                let description = schema.get("description").and_then(Json::as_str);
                key_item(key, description.unwrap_or_default())
            }));
        }
    }
    let mut known = Vec::new();
    found.retain(|item: &Json| {
        let is_new = !known.contains(&item["label"]);
        known.push(item["label"].clone());
        is_new
    });
    Json::Array(found)
}

fn value_item(value: &Json) -> Option<Json> {
    let label = match value {
        Json::String(text) => text.clone(),
        Json::Bool(_) | Json::Number(_) => value.to_string(),
        _ => return None,
    };
    Some(json!({"label": label, "kind": VALUE}))
}

fn key_item(key: &str, description: &str) -> Json {
    json!({"label": key, "kind": PROPERTY, "detail": description, "insertText": format!("{key}: ")})
}

/// Offers the fields that a client reads in a file of its own.
fn of_client(path: &Path) -> Json {
    let mut found = Vec::new();
    for profile in Profiles::builtin().iter() {
        for (kind, layout) in profile.layouts().filter(|(_, layout)| is_filled(&layout.path, path))
        {
            let detail = format!("{} of {}", kind.as_str(), profile.name());
            for field in &layout.fields {
                if !found.iter().any(|item: &Json| item["label"] == field.key) {
                    found.push(key_item(&field.key, &detail));
                }
            }
        }
    }
    if found.is_empty() { Json::Null } else { Json::Array(found) }
}

/// Returns whether a path is what a template makes of some name.
fn is_filled(template: &Template, path: &Path) -> bool {
    let Some((before, after)) = template.text().split_once("{name}") else { return false };
    let path = to_slashed(path);
    let Some((_, name)) = path.rsplit_once(&format!("/{before}")) else { return false };
    name.strip_suffix(after).is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_around_a_place_are_found() {
        let text = [
            "context:",
            "  - content: x",
            "    match:",
            "      - '*.py'",
            "    # a comment: no key",
            "",
            "decisions:",
            "- decision: y",
            "  alternatives:",
            "  - option: z",
        ];
        for (lines, typed, parents, key) in [
            (0, "con", &[][..], None),
            (1, "  - ", &["context"][..], None),
            (2, "    ", &["context"], None),
            (2, "    on: ", &["context"], Some("on")),
            (4, "      - ", &["context", "match"], None),
            (6, "", &[], None),
            (7, "- ", &["decisions"], None),
            (8, "  ra", &["decisions"], None),
            (9, "  - ", &["decisions", "alternatives"], None),
            (10, "    rea", &["decisions", "alternatives"], None),
            (10, "  rea", &["decisions"], None),
        ] {
            let place = YamlPlace::from_lines(&text[..lines], typed);
            let expected = YamlPlace { parents: parents.to_vec(), key: key.map(str::to_owned) };
            assert_eq!(place, expected, "{typed:?} after {lines} lines");
        }
    }
}
