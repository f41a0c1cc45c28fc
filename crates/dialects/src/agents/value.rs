//! Data in YAML: `input`, in the order and the spelling of the file.
//!
//! Unquoted words get JSON types only in JSON output. A template prints `1.10` as written.

use brief_syntax::yaml::{self, Node, Yaml};
use serde::ser::{Serialize, Serializer};

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Null.
    Null,
    /// A quoted string.
    Text(String),
    /// An unquoted word: a number, a boolean, or a string.
    Plain(String),
    /// A list.
    List(Vec<Value>),
    /// A mapping, in order.
    Fields(Vec<(String, Value)>),
}

impl Default for Value {
    fn default() -> Self {
        Value::Text(String::new())
    }
}

impl Value {
    /// Copies a YAML value, with aliases expanded. A broken reference is null.
    pub fn of(node: Node<'_>) -> Value {
        match node.value() {
            yaml::Value::Null | yaml::Value::Broken(_) => Value::Null,
            yaml::Value::Scalar(text) if node.is_plain() => Value::Plain(text.to_owned()),
            yaml::Value::Scalar(text) => Value::Text(text.to_owned()),
            yaml::Value::Sequence(list) => Value::List(list.iter().map(Value::of).collect()),
            yaml::Value::Mapping(mapping) => {
                let fields = mapping.effective_fields().into_iter();
                let named = fields.map(|field| (field.name().to_owned(), Value::of(field.value)));
                Value::Fields(named.collect())
            }
        }
    }

    /// Returns the value of a field, or the item at an index of a list.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Fields(fields) => {
                fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
            }
            Value::List(list) => name.parse::<usize>().ok().and_then(|index| list.get(index)),
            _ => None,
        }
    }

    /// Returns whether it counts as empty in templates: null, `false`, zero, an empty string or an
    /// empty list.
    pub fn is_empty(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Text(text) => text.is_empty(),
            Value::Plain(word) => {
                matches!(word.as_str(), "" | "false" | "False" | "FALSE") || is_zero(word)
            }
            Value::List(list) => list.is_empty(),
            Value::Fields(_) => false,
        }
    }

    /// Returns the noun for a message.
    pub fn noun(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Text(_) | Value::Plain(_) => "text",
            Value::List(_) => "a list",
            Value::Fields(_) => "a mapping",
        }
    }
}

fn is_zero(word: &str) -> bool {
    word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
        && word.parse::<f64>().is_ok_and(|number| number == 0.0)
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Text(text) => serializer.serialize_str(text),
            // The YAML parser knows the type of an unquoted word.
            Value::Plain(word) => match Yaml::parse(word).root() {
                Some(node) if node.as_str() == Some(word) => node.serialize(serializer),
                _ => serializer.serialize_str(word),
            },
            Value::List(list) => serializer.collect_seq(list),
            Value::Fields(fields) => {
                serializer.collect_map(fields.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        Yaml::parse(text).root().map_or(Value::Null, Value::of)
    }

    #[test]
    fn json_has_types_and_the_order_of_the_file() {
        let text = "z: 1\na: 1.10\nq: '1'\nt: true\nw: two words\nl: [x, ~]\n";
        let json = serde_json::to_string(&value(text)).unwrap_or_default();
        assert_eq!(json, r#"{"z":1,"a":1.1,"q":"1","t":true,"w":"two words","l":["x",null]}"#);
    }

    #[test]
    fn what_is_empty_is_what_handlebars_calls_so() {
        for empty in ["~", "''", "false", "0", "0.0", "-0", "[]"] {
            assert!(value(empty).is_empty(), "{empty}");
        }
        for full in ["x", "'0'", "'false'", "1", "[~]", "{}", "no"] {
            assert!(!value(full).is_empty(), "{full}");
        }
    }
}
