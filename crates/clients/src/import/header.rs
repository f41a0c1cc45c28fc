//! The fields of a client's file, as values.

use brief_syntax::Source;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::Value;

use toml_edit::{Item, Value as TomlValue};

use crate::compile::yaml::{self, Map, YamlValue};

/// The front matter of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Header {
    /// The fields, in order.
    pub(super) fields: Map,
    pub(super) has_comments: bool,
}

impl Header {
    pub(super) fn read(front: &FrontMatter, source: &Source) -> Header {
        let Some(header) = &front.header else { return Header::default() };
        let root = header.yaml.root();
        let fields = match root.map(|root| (root, root.value())) {
            Some((root, Value::Mapping(_))) => match yaml::of_node(root) {
                YamlValue::Map(fields) => fields,
                _ => Map::new(),
            },
            _ => Map::new(),
        };
        let text = source.slice(header.span);
        // A comment of a whole line, or one that a value was cut at.
        let is_comment = |line: &str| {
            let line = line.trim_start();
            line.starts_with('#')
                || line.split_once(": ").is_some_and(|(_, value)| ends_in_comment(value))
        };
        Header { fields, has_comments: text.contains('#') && text.lines().any(is_comment) }
    }

    /// Reads a file in TOML, with the text at a key.
    pub(super) fn of_toml(text: &str, key: &str) -> Option<(Header, String)> {
        let document: toml_edit::DocumentMut = text.trim_start_matches('\u{feff}').parse().ok()?;
        let body = document.get(key)?.as_str()?.to_owned();
        let others = document.iter().filter(|(own, _)| *own != key);
        let fields = others.map(|(own, item)| (YamlValue::text(own), of_item(item))).collect();
        let is_comment = |line: &str| line.trim_start().starts_with('#');
        let has_comments = text.lines().any(is_comment) && !body.lines().any(is_comment);
        Some((Header { fields, has_comments }, body))
    }

    /// Returns a field that says something.
    pub(super) fn get(&self, key: &str) -> Option<&YamlValue> {
        get(&self.fields, key)
    }
}

/// Returns a field that says something: `globs:` alone says nothing.
pub(super) fn get<'m>(fields: &'m Map, key: &str) -> Option<&'m YamlValue> {
    let field = fields.iter().find(|(own, _)| matches!(own, YamlValue::Text(own) if own == key));
    field.map(|(_, value)| value).filter(|value| !says_nothing(value))
}

/// Returns the name of a field.
pub(super) fn key_of(key: &YamlValue) -> &str {
    match key {
        YamlValue::Text(text) | YamlValue::Bare(text) => text,
        YamlValue::List(_) | YamlValue::Map(_) => "",
    }
}

fn says_nothing(value: &YamlValue) -> bool {
    match value {
        YamlValue::Text(text) => text.trim().is_empty(),
        value => value.is_null(),
    }
}

/// Returns whether an unquoted value has a comment after it.
fn ends_in_comment(value: &str) -> bool {
    let value = value.trim_start();
    !value.starts_with(['"', '\'', '|', '>']) && value.contains(" #")
}

/// Returns a value as text, whatever it looks like to YAML.
pub(super) fn text_of(value: &YamlValue) -> Option<&str> {
    match value {
        YamlValue::Text(text) | YamlValue::Bare(text) => Some(text.trim()),
        YamlValue::List(_) | YamlValue::Map(_) => None,
    }
}

/// Returns the parts of a list, or of a text with commas outside of braces.
pub(super) fn parts_of(value: &YamlValue) -> Option<Vec<String>> {
    match value {
        YamlValue::List(list) => list.iter().map(|part| text_of(part).map(str::to_owned)).collect(),
        YamlValue::Text(text) | YamlValue::Bare(text) => Some(split(text)),
        YamlValue::Map(_) => None,
    }
}

fn split(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|letter| {
        match letter {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn of_item(item: &Item) -> YamlValue {
    match item {
        Item::Value(value) => of_value(value),
        Item::Table(table) => YamlValue::Map(
            table.iter().map(|(key, item)| (YamlValue::text(key), of_item(item))).collect(),
        ),
        Item::ArrayOfTables(list) => {
            YamlValue::List(list.iter().map(|table| of_item(&Item::Table(table.clone()))).collect())
        }
        Item::None => YamlValue::null(),
    }
}

fn of_value(value: &TomlValue) -> YamlValue {
    match value {
        TomlValue::String(text) => YamlValue::text(text.value()),
        TomlValue::Array(list) => YamlValue::List(list.iter().map(of_value).collect()),
        TomlValue::InlineTable(table) => YamlValue::Map(
            table.iter().map(|(key, value)| (YamlValue::text(key), of_value(value))).collect(),
        ),
        TomlValue::Datetime(date) => YamlValue::text(date.value().to_string()),
        TomlValue::Integer(number) => YamlValue::Bare(number.value().to_string()),
        TomlValue::Float(number) => YamlValue::Bare(number.value().to_string()),
        TomlValue::Boolean(value) => YamlValue::Bare(value.value().to_string()),
    }
}
