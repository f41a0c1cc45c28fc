//! Validates JSON against JSON Schemas, for the part of draft 2020-12 that our schemas use.
//!
//! An unknown keyword is a panic, so that no schema promises what no test checks.

use std::path::Path;

use regex_automata::meta::Regex;
use serde_json::{Map, Value};

/// The treatment of keys that a schema does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unnamed {
    /// They are valid unless the schema forbids them, as the standard says.
    Allowed,
    /// They are invalid unless the schema allows them: our output is documented to the last key.
    Forbidden,
}

/// A schema file, with the base directory of its references.
pub struct JsonSchema<'s> {
    directory: &'s Path,
    document: Value,
    unnamed: Unnamed,
}

impl<'s> JsonSchema<'s> {
    /// Reads a schema.
    pub fn read(directory: &'s Path, name: &str, unnamed: Unnamed) -> JsonSchema<'s> {
        JsonSchema { directory, document: read(&directory.join(name)), unnamed }
    }

    /// Parses a schema.
    pub fn parse(text: &str, unnamed: Unnamed) -> JsonSchema<'static> {
        let document = serde_json::from_str(text).expect("a schema is JSON");
        JsonSchema { directory: Path::new("."), document, unnamed }
    }

    /// Returns all problems of a value, each with its place.
    pub fn problems(&self, value: &Value) -> Vec<String> {
        self.check(&self.document, value, "")
    }

    fn check(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let schema = match schema {
            Value::Bool(true) => return Vec::new(),
            Value::Bool(false) => return vec![format!("{at}: nothing may stand here")],
            Value::Object(schema) => schema,
            other => panic!("{at}: a schema is an object, not {other}"),
        };
        let check = |keyword: &String| self.check_keyword(schema, keyword, value, at);
        let mut problems: Vec<String> = schema.keys().flat_map(check).collect();
        if self.unnamed == Unnamed::Forbidden
            && let (Some(named), Some(object)) = (schema.get("properties"), value.as_object())
            && !schema.contains_key("additionalProperties")
        {
            for key in object.keys().filter(|key| named.get(key.as_str()).is_none()) {
                problems.push(format!("{at}/{key}: the schema does not name this key"));
            }
        }
        problems
    }

    fn check_keyword(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        value: &Value,
        at: &str,
    ) -> Vec<String> {
        let rule = &schema[keyword];
        let check = |rule| self.check(rule, value, at);
        let check_member = |rule: &Value, key: &str, value: &Value| {
            self.check(rule, value, &format!("{at}/{key}"))
        };
        let members = || value.as_object().into_iter().flatten();
        let rules = || rule.as_array().expect("a list").iter();
        match keyword {
            "$ref" => self.follow(rule.as_str().expect("a reference"), value, at),
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                items
                    .flat_map(|(index, item)| check_member(rule, &index.to_string(), item))
                    .collect()
            }
            "properties" => members()
                .filter_map(|(key, value)| Some(check_member(rule.get(key)?, key, value)))
                .flatten()
                .collect(),
            "patternProperties" => {
                let patterns = rule.as_object().expect("an object");
                let fitting = members().flat_map(|(key, value)| {
                    let fitting = patterns.iter().filter(move |(pattern, _)| matches(pattern, key));
                    fitting.map(move |(_, rule)| (rule, key, value))
                });
                fitting.flat_map(|(rule, key, value)| check_member(rule, key, value)).collect()
            }
            "additionalProperties" => {
                let others = members().filter(|(key, _)| !is_named(schema, key));
                others.flat_map(|(key, value)| check_member(rule, key, value)).collect()
            }
            "propertyNames" => members()
                .flat_map(|(key, _)| check_member(rule, key, &key.as_str().into()))
                .collect(),
            "allOf" => rules().flat_map(check).collect(),
            "anyOf" | "oneOf" => {
                let found: Vec<_> = rules().map(check).collect();
                match found.iter().filter(|problems| problems.is_empty()).count() {
                    0 => {
                        let nearest = found.into_iter().min_by_key(Vec::len).unwrap_or_default();
                        vec![format!("{at}: nothing of {keyword} fits; nearest: {nearest:?}")]
                    }
                    2.. if keyword == "oneOf" => vec![format!("{at}: more than one of oneOf fits")],
                    _ => Vec::new(),
                }
            }
            "not" if check(rule).is_empty() => vec![format!("{at}: it is what it must not be")],
            "not" => Vec::new(),
            "if" => {
                let next = schema.get(if check(rule).is_empty() { "then" } else { "else" });
                next.map(check).unwrap_or_default()
            }
            _ => Vec::from_iter(wrong(keyword, rule, value).map(|text| format!("{at}: {text}"))),
        }
    }

    /// Follows `#/…`, or `FILE#/…` beside the schema.
    fn follow(&self, reference: &str, value: &Value, at: &str) -> Vec<String> {
        let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        if file.is_empty() {
            let target = self.document.pointer(pointer).unwrap_or_else(|| panic!("{reference}"));
            return self.check(target, value, at);
        }
        let other = JsonSchema::read(self.directory, file, self.unnamed);
        other.follow(&format!("#{pointer}"), value, at)
    }
}

fn read(path: &Path) -> Value {
    #[expect(clippy::disallowed_methods, reason = "a test reads a real file")]
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the problem of a value under a keyword that concerns the value alone.
fn wrong(keyword: &str, rule: &Value, value: &Value) -> Option<String> {
    let is_wrong = match keyword {
        "type" => {
            let names = rule.as_array().map_or(vec![rule], |names| names.iter().collect());
            !names.iter().any(|name| is_of(value, name.as_str().unwrap_or_default()))
        }
        "const" => value != rule,
        "enum" => !rule.as_array().expect("a list").contains(value),
        "required" => {
            let keys = rule.as_array().expect("a list").iter().filter_map(Value::as_str);
            value.is_object() && keys.into_iter().any(|key| value.get(key).is_none())
        }
        "minItems" | "minProperties" => {
            count(value).is_some_and(|count| Some(count) < rule.as_u64())
        }
        "maxItems" | "maxProperties" => {
            count(value).is_some_and(|count| Some(count) > rule.as_u64())
        }
        "minLength" => length(value).is_some_and(|length| Some(length) < rule.as_u64()),
        "maxLength" => length(value).is_some_and(|length| Some(length) > rule.as_u64()),
        "minimum" => value.as_f64().is_some_and(|number| Some(number) < rule.as_f64()),
        "maximum" => value.as_f64().is_some_and(|number| Some(number) > rule.as_f64()),
        "pattern" => {
            value.as_str().is_some_and(|text| !matches(rule.as_str().expect("a pattern"), text))
        }
        "uniqueItems" => value.as_array().is_some_and(|list| {
            list.iter().enumerate().any(|(index, one)| list[..index].contains(one))
        }),
        "$schema"
        | "$id"
        | "$defs"
        | "$comment"
        | "title"
        | "description"
        | "default"
        | "examples"
        | "markdownDescription"
        | "deprecated"
        | "then"
        | "else" => false,
        other => panic!("the keyword `{other}` is not checked by this test"),
    };
    is_wrong.then(|| format!("{value} is against {keyword} {rule}"))
}

fn is_named(schema: &Map<String, Value>, key: &str) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    properties.is_some_and(|named| named.contains_key(key))
        || patterns.is_some_and(|patterns| patterns.keys().any(|pattern| matches(pattern, key)))
}

fn matches(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}")).is_match(text)
}

fn count(value: &Value) -> Option<u64> {
    match value {
        Value::Array(list) => Some(list.len() as u64),
        Value::Object(map) => Some(map.len() as u64),
        _ => None,
    }
}

fn length(value: &Value) -> Option<u64> {
    value.as_str().map(|text| text.chars().count() as u64)
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("`{other}` is not a type"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(schema: &str, value: &str) -> Vec<String> {
        let value = serde_json::from_str(value).unwrap();
        JsonSchema::parse(schema, Unnamed::Forbidden).problems(&value)
    }

    #[test]
    fn a_value_is_held_beside_its_schema() {
        let schema = r##"{"type": "object", "required": ["a"], "$defs": {"n": {"minimum": 2}},
            "properties": {"a": {"enum": [1, "x"]}, "b": {"items": {"$ref": "#/$defs/n"}}}}"##;
        assert!(problems(schema, r#"{"a": 1, "b": [2, 3]}"#).is_empty());
        assert_eq!(problems(schema, r#"{"a": 2, "b": [1], "c": 0}"#).len(), 3);
        assert_eq!(problems(schema, "[]").len(), 1);
        let schema = r#"{"anyOf": [{"type": "string", "pattern": "^a"}, {"type": "null"}]}"#;
        assert!(problems(schema, r#""ab""#).is_empty() && problems(schema, "null").is_empty());
        assert_eq!(problems(schema, r#""b""#).len(), 1);
    }

    #[test]
    #[should_panic(expected = "is not checked")]
    fn a_keyword_that_nothing_checks_is_refused() {
        problems(r#"{"dependentRequired": {}}"#, "{}");
    }
}
