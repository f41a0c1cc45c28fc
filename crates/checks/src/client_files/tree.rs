//! One tree for JSON, TOML and YAML, with the place of everything.
//!
//! The checks of a client's files ask the same of each format, so each is turned into this first. A key that stands twice
//! keeps its last value, as all readers of JSON do; TOML and YAML report it themselves.

use std::sync::Arc;

use brief_profiles::FileFormat;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml;
use brief_syntax::{Diagnostic, Source, Span};
use jsonc_parser::ast::Value as JsonValue;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, parse_to_ast};
use toml_edit::{Document, Item, Key, TableLike, Value as TomlValue};

use brief_dialects::json::json_options;

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TreeNode {
    pub(super) span: Span,
    pub(super) value: TreeValue,
}

/// The content of a node.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TreeValue {
    Null,
    Boolean(bool),
    /// A number, and whether it is whole.
    Number(f64, bool),
    Text(String),
    List(Vec<TreeNode>),
    Table(Vec<TreeField>),
    /// Something that no check is about: a date, a broken reference.
    Other,
}

/// A field of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TreeField {
    pub(super) name: String,
    /// The place of its name.
    pub(super) key: Span,
    pub(super) node: TreeNode,
}

/// A text that is not valid in its format.
#[derive(Debug)]
pub(super) struct TreeError {
    pub(super) span: Span,
    pub(super) message: String,
    /// True if removing the span repairs the text.
    pub(super) is_surplus: bool,
}

/// A file as a tree.
#[derive(Debug)]
pub(super) struct ParsedFile {
    /// The top; `None` for a file without front matter, and an empty one.
    pub(super) top: Option<TreeNode>,
    /// The problems of its front matter.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The place for a problem of the whole.
    pub(super) start: Span,
}

impl TreeNode {
    /// Returns the words for the kind of value.
    pub(super) fn noun(&self) -> &'static str {
        match self.value {
            TreeValue::Null => "nothing",
            TreeValue::Boolean(_) => "true or false",
            TreeValue::Number(..) => "a number",
            TreeValue::Text(_) => "text",
            TreeValue::List(_) => "a list",
            TreeValue::Table(_) => "a table",
            TreeValue::Other => "something else",
        }
    }

    pub(super) fn fields(&self) -> &[TreeField] {
        match &self.value {
            TreeValue::Table(fields) => fields,
            _ => &[],
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&TreeField> {
        self.fields().iter().rev().find(|field| field.name == name)
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            TreeValue::Text(text) => Some(text),
            _ => None,
        }
    }
}

pub(super) fn parse_client_file(
    source: &Arc<Source>,
    format: FileFormat,
) -> Result<ParsedFile, TreeError> {
    let top = match format {
        FileFormat::Json => parse_json(source.text(), false, false)?,
        FileFormat::JsonWithComments => parse_json(source.text(), true, false)?,
        FileFormat::Jsonc => parse_json(source.text(), true, true)?,
        FileFormat::Toml => Some(parse_toml(source.text())?),
        FileFormat::FrontMatter => return Ok(front_matter(source)),
        FileFormat::Program => None,
    };
    Ok(ParsedFile { top, diagnostics: Vec::new(), start: Span::empty_at(0) })
}

fn parse_json(text: &str, comments: bool, commas: bool) -> Result<Option<TreeNode>, TreeError> {
    let options = json_options(comments, commas);
    let skipped = text.len() - text.trim_start_matches('\u{feff}').len();
    let parsed = parse_to_ast(&text[skipped..], &CollectOptions::default(), &options);
    let parsed = parsed.map_err(|error| {
        let range = error.range();
        TreeError {
            span: Span::new(range.start + skipped, range.end + skipped),
            message: error.kind().to_string(),
            is_surplus: matches!(error.kind(), ParseErrorKind::TrailingCommasNotAllowed),
        }
    })?;
    Ok(parsed.value.as_ref().map(|value| json_node(value, skipped)))
}

fn json_node(value: &JsonValue<'_>, skipped: usize) -> TreeNode {
    let place =
        |range: jsonc_parser::common::Range| Span::new(range.start + skipped, range.end + skipped);
    let converted = match value {
        JsonValue::StringLit(text) => TreeValue::Text(text.value.to_string()),
        JsonValue::NumberLit(number) => match number.value.parse::<f64>() {
            Ok(parsed) => TreeValue::Number(parsed, parsed.fract() == 0.0),
            Err(_) => TreeValue::Other,
        },
        JsonValue::BooleanLit(flag) => TreeValue::Boolean(flag.value),
        JsonValue::Object(object) => {
            let fields = object.properties.iter().map(|property| TreeField {
                name: property.name.as_str().to_owned(),
                key: place(property.name.range()),
                node: json_node(&property.value, skipped),
            });
            TreeValue::Table(fields.collect())
        }
        JsonValue::Array(array) => {
            let elements = array.elements.iter();
            TreeValue::List(elements.map(|element| json_node(element, skipped)).collect())
        }
        JsonValue::NullKeyword(_) => TreeValue::Null,
    };
    TreeNode { span: place(value.range()), value: converted }
}

fn parse_toml(text: &str) -> Result<TreeNode, TreeError> {
    let document = Document::parse(text).map_err(|error| TreeError {
        span: to_span(error.span()),
        message: error.message().lines().next().unwrap_or_default().to_owned(),
        is_surplus: false,
    })?;
    let fields = toml_fields(document.as_table());
    Ok(TreeNode { span: Span::empty_at(0), value: TreeValue::Table(fields) })
}

fn to_span(range: Option<std::ops::Range<usize>>) -> Span {
    range.map_or(Span::default(), |range| Span::new(range.start, range.end))
}

fn toml_fields(table: &dyn TableLike) -> Vec<TreeField> {
    let fields = table.iter().map(|(name, item)| {
        let key = to_span(table.key(name).and_then(Key::span));
        TreeField { name: name.to_owned(), key, node: toml_item(item) }
    });
    fields.collect()
}

fn toml_item(item: &Item) -> TreeNode {
    let span = to_span(item.span());
    let value = match item {
        Item::None => TreeValue::Other,
        Item::Value(value) => toml_value(value),
        Item::Table(table) => TreeValue::Table(toml_fields(table)),
        Item::ArrayOfTables(tables) => {
            let nodes = tables.iter().map(|table| TreeNode {
                span: to_span(table.span()),
                value: TreeValue::Table(toml_fields(table)),
            });
            TreeValue::List(nodes.collect())
        }
    };
    TreeNode { span, value }
}

fn toml_value(value: &TomlValue) -> TreeValue {
    match value {
        TomlValue::String(text) => TreeValue::Text(text.value().clone()),
        #[expect(clippy::cast_precision_loss, reason = "bounds of clients are small")]
        TomlValue::Integer(number) => TreeValue::Number(*number.value() as f64, true),
        TomlValue::Float(number) => TreeValue::Number(*number.value(), false),
        TomlValue::Boolean(flag) => TreeValue::Boolean(*flag.value()),
        TomlValue::Datetime(_) => TreeValue::Other,
        TomlValue::Array(array) => {
            let nodes = array.iter().map(|element| TreeNode {
                span: to_span(element.span()),
                value: toml_value(element),
            });
            TreeValue::List(nodes.collect())
        }
        TomlValue::InlineTable(table) => TreeValue::Table(toml_fields(table)),
    }
}

fn front_matter(source: &Arc<Source>) -> ParsedFile {
    let front = FrontMatter::from_source(source);
    let header = front.header.as_ref();
    let start = Span::empty_at(header.map_or(0, |header| header.span.start));
    // An empty header is a table without keys.
    let empty = || TreeNode { span: start, value: TreeValue::Table(Vec::new()) };
    let top = header.map(|header| header.yaml.root().map_or_else(empty, |root| yaml_node(root, 0)));
    ParsedFile { top, diagnostics: front.diagnostics, start }
}

/// Tables and lists nested deeper than this are not looked at.
const YAML_LEVELS: usize = 16;

fn yaml_node(node: yaml::Node<'_>, level: usize) -> TreeNode {
    let value = match node.value() {
        yaml::Value::Null => TreeValue::Null,
        yaml::Value::Scalar(text) if node.is_plain() => parse_plain_scalar(text),
        yaml::Value::Scalar(text) => TreeValue::Text(text.to_owned()),
        _ if level == YAML_LEVELS => TreeValue::Other,
        yaml::Value::Sequence(list) => {
            TreeValue::List(list.iter().map(|node| yaml_node(node, level + 1)).collect())
        }
        yaml::Value::Mapping(mapping) => {
            let fields = mapping.effective_fields().into_iter().map(|field| TreeField {
                name: field.name().to_owned(),
                key: field.key.span(),
                node: yaml_node(field.value, level + 1),
            });
            TreeValue::Table(fields.collect())
        }
        yaml::Value::Broken(_) => TreeValue::Other,
    };
    TreeNode { span: node.span(), value }
}

/// A scalar without quotes, by the core schema of YAML 1.2.
fn parse_plain_scalar(text: &str) -> TreeValue {
    match text {
        "true" | "True" | "TRUE" => TreeValue::Boolean(true),
        "false" | "False" | "FALSE" => TreeValue::Boolean(false),
        _ => {
            let is_number = text
                .starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
                && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
            match text.parse::<f64>() {
                Ok(number) if is_number => TreeValue::Number(number, number.fract() == 0.0),
                _ => TreeValue::Text(text.to_owned()),
            }
        }
    }
}
