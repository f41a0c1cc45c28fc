//! Validates JSON against JSON Schemas, by an implementation that shares nothing with the project's own.
//!
//! A keyword that the validator would ignore, such as a misspelled one, is a panic, so that no schema promises what no
//! test checks.

use std::path::{Path, PathBuf};

use jsonschema::{Retrieve, Uri, Validator};
use serde_json::Value;

/// The base of schemas, under which they name each other. It is never asked for.
const BASE: &str = "https://schemas.invalid/";

/// Keywords whose value is a schema.
const ONE: [&str; 7] =
    ["items", "additionalProperties", "propertyNames", "not", "if", "then", "else"];

/// Keywords whose value is a list of schemas.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords whose value has a schema for each key.
const MAPS: [&str; 3] = ["properties", "patternProperties", "$defs"];

/// Other keywords that are checked, or that only say something.
const PLAIN: [&str; 23] = [
    "$ref",
    "type",
    "const",
    "enum",
    "required",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "pattern",
    "uniqueItems",
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "markdownDescription",
];

/// The treatment of keys that a schema does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unnamed {
    /// They are valid unless the schema forbids them, as the standard says.
    Allowed,
    /// They are invalid unless the schema allows them: our output is documented to the last key.
    Forbidden,
}

/// A schema with all that it refers to.
pub struct JsonSchema(Validator);

impl JsonSchema {
    /// Reads a schema, which may refer to others in its directory.
    pub fn read(directory: &Path, name: &str, unnamed: Unnamed) -> JsonSchema {
        let files = SchemaFiles { directory: directory.to_owned(), unnamed };
        JsonSchema::build(&files.read_schema(name), name, files)
    }

    /// Parses a schema, which refers to no other.
    pub fn parse(text: &str, unnamed: Unnamed) -> JsonSchema {
        let mut schema = serde_json::from_str(text).expect("a schema is JSON");
        prepare_schema(&mut schema, unnamed);
        JsonSchema::build(&schema, "", SchemaFiles { directory: PathBuf::from("."), unnamed })
    }

    fn build(schema: &Value, name: &str, files: SchemaFiles) -> JsonSchema {
        let options = jsonschema::draft202012::options().with_base_uri(format!("{BASE}{name}"));
        let validator = options.with_retriever(files).build(schema);
        JsonSchema(validator.unwrap_or_else(|error| panic!("{name}: {error}")))
    }

    /// Returns all problems of a value, each with its place.
    pub fn find_problems(&self, value: &Value) -> Vec<String> {
        let problems = self.0.iter_errors(value);
        problems.map(|problem| format!("{}: {problem}", problem.instance_path())).collect()
    }
}

/// The schemas of a directory.
struct SchemaFiles {
    directory: PathBuf,
    unnamed: Unnamed,
}

impl SchemaFiles {
    fn read_schema(&self, name: &str) -> Value {
        let path = self.directory.join(name);
        #[expect(clippy::disallowed_methods, reason = "a test reads a real file")]
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut schema = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        prepare_schema(&mut schema, self.unnamed);
        schema
    }
}

impl Retrieve for SchemaFiles {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let name =
            uri.as_str().strip_prefix(BASE).ok_or_else(|| format!("`{uri}` is elsewhere"))?;
        Ok(self.read_schema(name))
    }
}

/// Refuses unknown keywords, and forbids keys that no schema names, if that is wanted.
fn prepare_schema(schema: &mut Value, unnamed: Unnamed) {
    let Value::Object(schema) = schema else { return };
    for (keyword, value) in schema.iter_mut() {
        match keyword.as_str() {
            one if ONE.contains(&one) => prepare_schema(value, unnamed),
            list if LISTS.contains(&list) => {
                let list = value.as_array_mut().expect("a list of schemas");
                for schema in list {
                    prepare_schema(schema, unnamed);
                }
            }
            map if MAPS.contains(&map) => {
                let map = value.as_object_mut().expect("schemas by key");
                for schema in map.values_mut() {
                    prepare_schema(schema, unnamed);
                }
            }
            plain => assert!(PLAIN.contains(&plain), "the keyword `{plain}` is not checked"),
        }
    }
    if unnamed == Unnamed::Forbidden && schema.contains_key("properties") {
        schema.entry("additionalProperties").or_insert(false.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(schema: &str, value: &str) -> Vec<String> {
        let value = serde_json::from_str(value).unwrap();
        JsonSchema::parse(schema, Unnamed::Forbidden).find_problems(&value)
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
        problems(r#"{"minimun": 1}"#, "{}");
    }
}
