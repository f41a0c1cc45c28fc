//! Checks arguments against the JSON Schema of a tool.
//!
//! All keywords of JSON Schema that constrain a value are checked, including those of older drafts (`items`
//! as a list, `additionalItems`, `dependencies`, `definitions`). Unsupported keywords are reported
//! ([`Unchecked`]). An unknown keyword is ignored, as the standard requires, and reported when it is similar
//! to a known one. A keyword with an invalid value makes the schema invalid. A check takes a bounded number
//! of steps, whatever the schema refers to.

mod check;
mod pattern;

use std::collections::BTreeMap;
use std::fmt;

use brief_syntax::near_miss::nearest;
use serde_json::Value;

use check::SchemaCheck;
use pattern::SchemaPattern;

/// The limit for nested schemas, references included.
const MOST_DEPTH: usize = 64;

/// The limit for reported keywords that are not checked.
const MOST_UNCHECKED: usize = 32;

/// Keywords without a constraint: annotations, and names to refer to.
const NOTES: [&str; 17] = [
    "$anchor",
    "$comment",
    "$id",
    "$schema",
    "$vocabulary",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "deprecated",
    "description",
    "example",
    "examples",
    "format",
    "readOnly",
    "title",
    "writeOnly",
];

/// Keywords that are checked.
const CHECKED: [&str; 42] = [
    "$defs",
    "$ref",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Keywords that are not supported, each with advice.
const UNSUPPORTED: [(&str, &str); 6] = [
    ("$dynamicAnchor", "write `$defs` and `$ref`"),
    ("$dynamicRef", "write `$ref`"),
    ("$recursiveAnchor", "write `$defs` and `$ref`"),
    ("$recursiveRef", "write `$ref`"),
    ("discriminator", "it is not JSON Schema: write `oneOf` with a `const` in each"),
    ("nullable", "it is not JSON Schema: write `type: [\"…\", \"null\"]`"),
];

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// An invalid JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{place}` {problem}")]
pub struct SchemaError {
    /// The JSON pointer to it, such as `/properties/a/type`.
    pub place: String,
    /// The defect at that place.
    pub problem: String,
}

/// A constraint of a schema that is not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unchecked {
    /// A pattern that needs a backtracking engine.
    Pattern(String),
    /// A keyword that is not supported.
    Keyword {
        /// The name of the keyword.
        name: &'static str,
        /// The JSON pointer to its schema.
        place: String,
        /// Advice: the keyword to use instead.
        help: &'static str,
    },
    /// An unknown keyword that is similar to a known one.
    NearMiss {
        /// The keyword in the schema.
        name: String,
        /// The JSON pointer to its schema.
        place: String,
        /// The similar known keyword.
        meant: String,
    },
}

impl Unchecked {
    /// Returns advice.
    pub fn help(&self) -> String {
        match self {
            Unchecked::Pattern(_) => "write it without lookaround and backreferences".to_owned(),
            Unchecked::Keyword { help, .. } => (*help).to_owned(),
            Unchecked::NearMiss { meant, .. } => format!("did you mean `{meant}`?"),
        }
    }
}

impl fmt::Display for Unchecked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |place: &str| if place.is_empty() { "/".to_owned() } else { place.to_owned() };
        match self {
            Unchecked::Pattern(text) => write!(formatter, "the pattern `{text}` is not checked"),
            Unchecked::Keyword { name, place, .. } => {
                write!(formatter, "`{name}` in `{}` is not checked", at(place))
            }
            Unchecked::NearMiss { name, place, .. } => {
                write!(formatter, "`{name}` in `{}` is not a keyword and has no effect", at(place))
            }
        }
    }
}

/// A valid JSON Schema.
#[derive(Clone)]
pub struct Schema {
    root: Value,
    patterns: BTreeMap<String, SchemaPattern>,
    unchecked: Vec<Unchecked>,
}

impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Schema").field(&self.root).finish()
    }
}

impl Schema {
    /// Parses the schema of a tool's arguments, which are always an object.
    pub fn for_arguments(schema: &Value) -> Result<Schema, SchemaError> {
        let error =
            |problem: &str| Err(SchemaError { place: "/".to_owned(), problem: problem.to_owned() });
        let Value::Object(fields) = schema else { return error("is not an object") };
        let takes_objects = match fields.get("type") {
            None => true,
            Some(Value::Array(types)) => types.iter().any(|name| name == "object"),
            Some(name) => name == "object" || !TYPES.iter().any(|known| name == *known),
        };
        if !takes_objects {
            return error("must have the type `object`: arguments are always an object");
        }
        let mut schema =
            Schema { root: schema.clone(), patterns: BTreeMap::new(), unchecked: Vec::new() };
        let root = schema.root.clone();
        schema.read(&root, "", 0)?;
        Ok(schema)
    }

    /// Returns the constraints that are not checked.
    pub fn unchecked(&self) -> &[Unchecked] {
        &self.unchecked
    }

    /// Returns the mismatches of a value; an empty list when it fits.
    pub fn check(&self, value: &Value) -> Vec<String> {
        SchemaCheck::of(self, value)
    }

    fn read(&mut self, schema: &Value, place: &str, depth: usize) -> Result<(), SchemaError> {
        let error = |field: &str, problem: &str| {
            let place = format!("{place}/{field}");
            Err(SchemaError { place, problem: problem.to_owned() })
        };
        let fields = match schema {
            Value::Bool(_) => return Ok(()),
            Value::Object(fields) => fields,
            _ => return error("", "is neither an object nor `true` or `false`"),
        };
        if depth > MOST_DEPTH {
            return error("", "is nested too deep");
        }
        for (name, value) in fields {
            let problem = match name.as_str() {
                "type" => problem_of_type(value),
                "required" => (!is_names(value)).then_some("is not a list of names"),
                "enum" => (!value.is_array()).then_some("is not a list"),
                "multipleOf" => match value.as_f64() {
                    Some(number) if number > 0.0 => None,
                    _ => Some("is not a number above 0"),
                },
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                    (!value.is_number()).then_some("is not a number")
                }
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
                | "maxProperties" | "minContains" | "maxContains" => {
                    value.as_u64().is_none().then_some("is not a whole number")
                }
                "uniqueItems" => (!value.is_boolean()).then_some("is neither `true` nor `false`"),
                "pattern" => match value.as_str() {
                    Some(text) => return_if_bad(self.add_pattern(text)),
                    None => Some("is not a string"),
                },
                "$ref" => match value.as_str().map(|text| resolve(&self.root, text)) {
                    Some(Some(_)) => None,
                    Some(None) => Some("does not lead anywhere in this schema"),
                    None => Some("is not a string"),
                },
                "dependentRequired" => match value.as_object() {
                    Some(lists) if lists.values().all(is_names) => None,
                    _ => Some("is not an object of lists of names"),
                },
                "properties" | "patternProperties" | "$defs" | "definitions"
                | "dependentSchemas" | "dependencies" => {
                    let Some(schemas) = value.as_object() else {
                        return error(name, "is not an object of schemas");
                    };
                    for (key, schema) in schemas {
                        if name == "patternProperties" && self.add_pattern(key).is_err() {
                            return error(name, "has a key that is not a valid pattern");
                        }
                        if name == "dependencies" && is_names(schema) {
                            continue;
                        }
                        self.read(schema, &format!("{place}/{name}/{key}"), depth + 1)?;
                    }
                    None
                }
                "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                    let Some(schemas) = value.as_array().filter(|list| !list.is_empty()) else {
                        return error(name, "is not a list of schemas");
                    };
                    for (index, schema) in schemas.iter().enumerate() {
                        self.read(schema, &format!("{place}/{name}/{index}"), depth + 1)?;
                    }
                    None
                }
                // A list of schemas is the older form of `prefixItems`.
                "items" if value.is_array() => {
                    for (index, schema) in value.as_array().into_iter().flatten().enumerate() {
                        self.read(schema, &format!("{place}/{name}/{index}"), depth + 1)?;
                    }
                    None
                }
                "items"
                | "additionalProperties"
                | "additionalItems"
                | "not"
                | "contains"
                | "propertyNames"
                | "if"
                | "then"
                | "else"
                | "unevaluatedItems"
                | "unevaluatedProperties" => {
                    self.read(value, &format!("{place}/{name}"), depth + 1)?;
                    None
                }
                name => {
                    self.note_unchecked(name, place);
                    None
                }
            };
            if let Some(problem) = problem {
                return error(name, problem);
            }
        }
        Ok(())
    }

    /// Records a keyword that is not supported or not known.
    fn note_unchecked(&mut self, name: &str, place: &str) {
        if NOTES.contains(&name) || name == "const" || self.unchecked.len() >= MOST_UNCHECKED {
            return;
        }
        let place = place.to_owned();
        if let Some(&(name, help)) = UNSUPPORTED.iter().find(|(known, _)| *known == name) {
            return self.unchecked.push(Unchecked::Keyword { name, place, help });
        }
        let same = CHECKED.into_iter().find(|known| known.eq_ignore_ascii_case(name));
        if let Some(meant) = same.or_else(|| nearest(name, &CHECKED)) {
            let (name, meant) = (name.to_owned(), meant.to_owned());
            self.unchecked.push(Unchecked::NearMiss { name, place, meant });
        }
    }

    fn add_pattern(&mut self, text: &str) -> Result<(), ()> {
        let pattern = SchemaPattern::new(text)?;
        if pattern.is_unchecked() {
            self.unchecked.push(Unchecked::Pattern(text.to_owned()));
        }
        self.patterns.insert(text.to_owned(), pattern);
        Ok(())
    }
}

fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
}

fn return_if_bad(outcome: Result<(), ()>) -> Option<&'static str> {
    outcome.is_err().then_some("is not a valid regular expression")
}

fn problem_of_type(value: &Value) -> Option<&'static str> {
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(types) if !types.is_empty() && types.iter().all(is_type) => None,
        value if is_type(value) => None,
        _ => Some("is not a type that exists"),
    }
}

/// Follows a reference inside the schema: `#`, `#/$defs/a`.
fn resolve<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(pointer).filter(|found| found.is_object() || found.is_boolean())
}

#[cfg(test)]
mod tests;
