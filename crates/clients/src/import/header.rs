//! The fields of a client's file, as values.

use brief_syntax::Source;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::{Node, Value, Yaml};

use toml_edit::{Item, Value as TomlValue};

use crate::compile::yaml::{self, Map, YamlValue, text_of};

/// The front matter of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Header {
    pub(super) fields: Map,
    pub(super) has_comments: bool,
    /// Values of one line that are written otherwise than they read: with quotation marks or brackets.
    lines: Vec<(String, String)>,
}

impl Header {
    pub(super) fn from_front_matter(front: &FrontMatter, source: &Source) -> Header {
        let Some(header) = &front.header else { return Header::default() };
        let fields = match header.yaml.root().map(yaml::of_node) {
            Some(YamlValue::Map(fields)) => fields,
            _ => Map::new(),
        };
        let text = source.slice(header.span);
        // A comment of a whole line, or one that a value was cut at.
        let is_comment = |line: &str| {
            let line = line.trim_start();
            line.starts_with('#')
                || line.split_once(": ").is_some_and(|(_, value)| ends_in_comment(value))
        };
        let has_comments = text.contains('#') && text.lines().any(is_comment);
        let lines = collect_raw_lines(text, &fields);
        Header { fields, has_comments, lines }
    }

    /// Returns a value of one line as it is written; `None` for one of several lines.
    pub(super) fn find_line(&self, key: &str) -> Option<&str> {
        let line = self.lines.iter().find(|(own, _)| own == key).map(|(_, line)| line.as_str());
        line.or_else(|| self.get(key).and_then(text_of).filter(|text| !text.contains('\n')))
    }

    /// Reads a file in TOML, with the text at a key.
    pub(super) fn of_toml(text: &str, key: &str) -> Option<(Header, String)> {
        let document: toml_edit::DocumentMut = text.trim_start_matches('\u{feff}').parse().ok()?;
        let body = document.get(key)?.as_str()?.to_owned();
        let others = document.iter().filter(|(own, _)| *own != key);
        let fields = others.map(|(own, item)| (YamlValue::from_text(own), of_item(item))).collect();
        let is_comment = |line: &str| line.trim_start().starts_with('#');
        let has_comments = text.lines().any(is_comment) && !body.lines().any(is_comment);
        Some((Header { fields, has_comments, lines: Vec::new() }, body))
    }

    /// Reads a file in YAML, with the text at a key.
    pub(super) fn of_yaml(text: &str, key: &str) -> Option<(Header, String)> {
        let document = Yaml::parse(text.trim_start_matches('\u{feff}'));
        if !document.problems().is_empty() {
            return None;
        }
        let YamlValue::Map(mut fields) = yaml::of_node(document.root()?) else { return None };
        let place = fields.iter().position(|(own, _)| key_of(own) == key)?;
        let (_, YamlValue::Text(body)) = fields.remove(place) else { return None };
        let is_comment = |line: &str| line.starts_with('#');
        Some((
            Header { fields, has_comments: text.lines().any(is_comment), lines: Vec::new() },
            body,
        ))
    }

    /// Returns a field that says something.
    pub(super) fn get(&self, key: &str) -> Option<&YamlValue> {
        find_field_value(&self.fields, key)
    }
}

/// Returns the values of one line that read otherwise than they are written.
fn collect_raw_lines(text: &str, fields: &Map) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let mut rest = text.lines().peekable();
    while let Some(line) = rest.next() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        let goes_on = rest.peek().is_some_and(|next| next.starts_with([' ', '\t', '-']));
        let is_odd = value.starts_with(['"', '\'', '[', '{']) && !value.contains(" #");
        if is_odd && !goes_on && find_field_value(fields, key).is_some() {
            lines.push((key.to_owned(), value.to_owned()));
        }
    }
    lines
}

/// Returns a field that says something: `globs:` alone says nothing.
pub(super) fn find_field_value<'m>(fields: &'m Map, key: &str) -> Option<&'m YamlValue> {
    let field = fields.iter().find(|(own, _)| matches!(own, YamlValue::Text(own) if own == key));
    field.map(|(_, value)| value).filter(|value| !says_nothing(value))
}

/// Returns a field of a mapping in YAML.
pub(super) fn find_yaml_field<'y>(node: Node<'y>, name: &str) -> Option<Node<'y>> {
    match node.value() {
        Value::Mapping(fields) => fields.get(name),
        _ => None,
    }
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

fn of_item(item: &Item) -> YamlValue {
    match item {
        Item::Value(value) => of_value(value),
        Item::Table(table) => YamlValue::Map(
            table.iter().map(|(key, item)| (YamlValue::from_text(key), of_item(item))).collect(),
        ),
        Item::ArrayOfTables(list) => {
            YamlValue::List(list.iter().map(|table| of_item(&Item::Table(table.clone()))).collect())
        }
        Item::None => YamlValue::null(),
    }
}

fn of_value(value: &TomlValue) -> YamlValue {
    match value {
        TomlValue::String(text) => YamlValue::from_text(text.value()),
        TomlValue::Array(list) => YamlValue::List(list.iter().map(of_value).collect()),
        TomlValue::InlineTable(table) => YamlValue::Map(
            table.iter().map(|(key, value)| (YamlValue::from_text(key), of_value(value))).collect(),
        ),
        TomlValue::Datetime(date) => YamlValue::from_text(date.value().to_string()),
        TomlValue::Integer(number) => YamlValue::Bare(number.value().to_string()),
        TomlValue::Float(number) => YamlValue::Bare(number.value().to_string()),
        TomlValue::Boolean(value) => YamlValue::Bare(value.value().to_string()),
    }
}
