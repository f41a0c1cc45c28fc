//! An output in TOML: one key for each field, and the body as one more.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, Value};

use super::yaml::{Map, YamlValue};

/// Writes fields and a body, a key per line. The body stands between `'''` where it can, so that a reader
/// sees the prompt as it is.
pub(super) fn render_toml(fields: &Map, key: &str, body: &str) -> String {
    let mut document = DocumentMut::new();
    for (key, value) in fields {
        if let YamlValue::Text(key) | YamlValue::Bare(key) = key {
            document.insert(key, Item::Value(value_of(value)));
        }
    }
    let head = document.to_string();
    let is_plain = |letter: char| !letter.is_control() || matches!(letter, '\n' | '\t');
    if body.contains("'''") || !body.chars().all(is_plain) {
        let mut own = DocumentMut::new();
        own.insert(key, Item::Value(Value::from(body)));
        return format!("{head}{own}");
    }
    // The key was read from a profile, and may need quotation marks.
    format!("{head}{} = '''\n{body}'''\n", Key::new(key).display_repr())
}

fn value_of(value: &YamlValue) -> Value {
    match value {
        YamlValue::Text(text) => Value::from(text.as_str()),
        YamlValue::Bare(text) => match text.as_str() {
            "true" => Value::from(true),
            "false" => Value::from(false),
            _ => match (text.parse::<i64>(), text.parse::<f64>()) {
                (Ok(number), _) => Value::from(number),
                (_, Ok(number)) => Value::from(number),
                _ => Value::from(text.as_str()),
            },
        },
        YamlValue::List(list) => Value::Array(list.iter().map(value_of).collect::<Array>()),
        YamlValue::Map(fields) => {
            let mut table = InlineTable::new();
            for (key, value) in fields {
                if let YamlValue::Text(key) | YamlValue::Bare(key) = key {
                    table.insert(key, value_of(value));
                }
            }
            Value::InlineTable(table)
        }
    }
}
