//! Data in YAML: `input`, in the order and the spelling of the file.
//!
//! Unquoted words get JSON types only in JSON output. A template prints `1.10` as written.

use brief_syntax::yaml::{self, Node, Yaml};
use serde::ser::{Serialize, Serializer};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentValue {
    Null,
    Text(String),
    /// An unquoted word: a number, a boolean, or a string.
    Plain(String),
    List(Vec<AgentValue>),
    Fields(Vec<(String, AgentValue)>),
}

impl Default for AgentValue {
    fn default() -> Self {
        AgentValue::Text(String::new())
    }
}

impl AgentValue {
    /// Copies a YAML value, with aliases expanded. A broken reference is null.
    pub fn from_yaml(node: Node<'_>) -> AgentValue {
        match node.value() {
            yaml::Value::Null | yaml::Value::Broken(_) => AgentValue::Null,
            yaml::Value::Scalar(text) if node.is_plain() => AgentValue::Plain(text.to_owned()),
            yaml::Value::Scalar(text) => AgentValue::Text(text.to_owned()),
            yaml::Value::Sequence(list) => {
                AgentValue::List(list.iter().map(AgentValue::from_yaml).collect())
            }
            yaml::Value::Mapping(mapping) => {
                let fields = mapping.effective_fields().into_iter();
                let named = fields
                    .map(|field| (field.name().to_owned(), AgentValue::from_yaml(field.value)));
                AgentValue::Fields(named.collect())
            }
        }
    }

    /// Returns the value of a field, or the item at an index of a list.
    pub fn get(&self, name: &str) -> Option<&AgentValue> {
        match self {
            AgentValue::Fields(fields) => {
                fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
            }
            AgentValue::List(list) => name.parse::<usize>().ok().and_then(|index| list.get(index)),
            _ => None,
        }
    }

    /// Returns whether it counts as empty in templates: null, `false`, zero, an empty string or an
    /// empty list.
    pub fn is_empty(&self) -> bool {
        match self {
            AgentValue::Null => true,
            AgentValue::Text(text) => text.is_empty(),
            AgentValue::Plain(word) => {
                matches!(word.as_str(), "" | "false" | "False" | "FALSE") || is_zero(word)
            }
            AgentValue::List(list) => list.is_empty(),
            AgentValue::Fields(_) => false,
        }
    }

    /// Returns the noun for a message.
    pub fn noun(&self) -> &'static str {
        match self {
            AgentValue::Null => "nothing",
            AgentValue::Text(_) | AgentValue::Plain(_) => "text",
            AgentValue::List(_) => "a list",
            AgentValue::Fields(_) => "a mapping",
        }
    }
}

fn is_zero(word: &str) -> bool {
    word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
        && word.parse::<f64>().is_ok_and(|number| number == 0.0)
}

impl Serialize for AgentValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AgentValue::Null => serializer.serialize_unit(),
            AgentValue::Text(text) => serializer.serialize_str(text),
            // The YAML parser knows the type of an unquoted word.
            AgentValue::Plain(word) => match Yaml::parse(word).root() {
                Some(node) if node.as_str() == Some(word) => node.serialize(serializer),
                _ => serializer.serialize_str(word),
            },
            AgentValue::List(list) => serializer.collect_seq(list),
            AgentValue::Fields(fields) => {
                serializer.collect_map(fields.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> AgentValue {
        Yaml::parse(text).root().map_or(AgentValue::Null, AgentValue::from_yaml)
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
