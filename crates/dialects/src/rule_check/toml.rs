//! Values of TOML as the parser of checks sees them.

use brief_syntax::Span;
use toml_edit::{Item, TableLike, Value};

use super::tree::{CheckNode, CheckValue, MOST_NESTED};

impl CheckNode {
    /// Copies a value of TOML.
    pub fn from_toml(item: &Item) -> CheckNode {
        copy_item(item, 0)
    }

    /// Copies a table of TOML, whose place is `span`.
    pub fn from_toml_table(table: &dyn TableLike, span: Span) -> CheckNode {
        CheckNode { span, value: copy_table(table, 0) }
    }
}

fn span_of(span: Option<std::ops::Range<usize>>) -> Span {
    span.map_or(Span::default(), |span| Span::new(span.start, span.end))
}

fn copy_item(item: &Item, depth: usize) -> CheckNode {
    let span = span_of(item.span());
    let value = match item {
        _ if depth > MOST_NESTED => CheckValue::Broken,
        Item::None => CheckValue::Null,
        Item::Value(value) => return copy_value(value, depth),
        Item::Table(table) => copy_table(table, depth),
        Item::ArrayOfTables(list) => {
            let tables = list.iter().map(|table| CheckNode {
                span: span_of(table.span()),
                value: copy_table(table, depth + 1),
            });
            CheckValue::List(tables.collect())
        }
    };
    CheckNode { span, value }
}

fn copy_value(value: &Value, depth: usize) -> CheckNode {
    let span = span_of(value.span());
    let value = match value {
        _ if depth > MOST_NESTED => CheckValue::Broken,
        Value::String(text) => CheckValue::Text(text.value().clone()),
        Value::Array(list) => {
            CheckValue::List(list.iter().map(|item| copy_value(item, depth + 1)).collect())
        }
        Value::InlineTable(table) => copy_table(table, depth),
        Value::Integer(number) => CheckValue::Text(number.value().to_string()),
        Value::Float(number) => CheckValue::Text(number.value().to_string()),
        Value::Boolean(flag) => CheckValue::Text(flag.value().to_string()),
        Value::Datetime(date) => CheckValue::Text(date.value().to_string()),
    };
    CheckNode { span, value }
}

fn copy_table(table: &dyn TableLike, depth: usize) -> CheckValue {
    let fields = table.iter().map(|(name, item)| {
        let key = span_of(table.key(name).and_then(toml_edit::Key::span).or(item.span()));
        (name.to_owned(), key, copy_item(item, depth + 1))
    });
    CheckValue::Map(fields.collect())
}
