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

use brief_syntax::near_miss::find_nearest;
use serde_json::Value;

use check::SchemaCheck;
use pattern::SchemaPattern;

/// The limit for nested schemas, references included.
const MOST_DEPTH: usize = 64;

/// The limit for reported keywords that are not checked.
const MOST_UNCHECKED: usize = 32;

/// Keywords without a constraint: annotations, and names to refer to.
const NOTES: &str = "$anchor $comment $id $schema $vocabulary contentEncoding contentMediaType contentSchema \
    default deprecated description example examples format readOnly title writeOnly";

/// The form of a keyword's value.
#[derive(Clone, Copy)]
enum ValueForm {
    Any,
    Type,
    List,
    Names,
    /// An object of lists of names.
    NameLists,
    Number,
    Factor,
    Count,
    Boolean,
    Pattern,
    Reference,
    Schema,
    Schemas,
    /// A schema, or a list of them, which is the older form of `prefixItems`.
    SchemaOrSchemas,
    NamedSchemas,
}

/// Keywords that are checked, by the form of their values.
const CHECKED: [(ValueForm, &str); 15] = [
    (ValueForm::Any, "const"),
    (ValueForm::Type, "type"),
    (ValueForm::List, "enum"),
    (ValueForm::Names, "required"),
    (ValueForm::NameLists, "dependentRequired"),
    (ValueForm::Number, "minimum maximum exclusiveMinimum exclusiveMaximum"),
    (ValueForm::Factor, "multipleOf"),
    (
        ValueForm::Count,
        "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
    ),
    (ValueForm::Boolean, "uniqueItems"),
    (ValueForm::Pattern, "pattern"),
    (ValueForm::Reference, "$ref"),
    (
        ValueForm::Schema,
        "additionalProperties additionalItems not contains propertyNames if then else unevaluatedItems \
         unevaluatedProperties",
    ),
    (ValueForm::Schemas, "anyOf oneOf allOf prefixItems"),
    (ValueForm::SchemaOrSchemas, "items"),
    (
        ValueForm::NamedSchemas,
        "properties patternProperties $defs definitions dependentSchemas dependencies",
    ),
];

/// Returns the keywords that are checked.
fn checked_keywords() -> impl Iterator<Item = (ValueForm, &'static str)> {
    let names = |(form, names): (_, &'static str)| {
        names.split_ascii_whitespace().map(move |name| (form, name))
    };
    CHECKED.into_iter().flat_map(names)
}

/// Keywords that are not supported, each with advice.
const UNSUPPORTED: [(&str, &str); 6] = [
    ("$dynamicAnchor", "write `$defs` and `$ref`"),
    ("$dynamicRef", "write `$ref`"),
    ("$recursiveAnchor", "write `$defs` and `$ref`"),
    ("$recursiveRef", "write `$ref`"),
    ("discriminator", "is not JSON Schema: write `oneOf` with a `const` in each"),
    ("nullable", "is not JSON Schema: write `type: [\"…\", \"null\"]`"),
];

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

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
        meant: String,
    },
}

impl Unchecked {
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
        schema.read_schema(&root, "", 0)?;
        Ok(schema)
    }

    /// Returns the constraints that are not checked.
    pub fn unchecked(&self) -> &[Unchecked] {
        &self.unchecked
    }

    /// Returns the mismatches of a value; an empty list when it fits.
    pub fn check_value(&self, value: &Value) -> Vec<String> {
        SchemaCheck::collect_problems(self, value)
    }

    fn read_schema(
        &mut self,
        schema: &Value,
        place: &str,
        depth: usize,
    ) -> Result<(), SchemaError> {
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
            return error("", "is nested too deeply");
        }
        for (name, value) in fields {
            let Some((form, _)) = checked_keywords().find(|(_, known)| known == name) else {
                self.note_unchecked(name, place);
                continue;
            };
            let here = format!("{place}/{name}");
            let (is_right, problem) = match form {
                ValueForm::Any => continue,
                ValueForm::Type => (is_type(value), "is not a known type"),
                ValueForm::List => (value.is_array(), "is not a list"),
                ValueForm::Names => (is_names(value), "is not a list of names"),
                ValueForm::NameLists => {
                    let lists = value.as_object();
                    let is_right = lists.is_some_and(|lists| lists.values().all(is_names));
                    (is_right, "is not an object of lists of names")
                }
                ValueForm::Number => (value.is_number(), "is not a number"),
                ValueForm::Factor => {
                    (value.as_f64().is_some_and(|number| number > 0.0), "is not a number above 0")
                }
                ValueForm::Count => (value.is_u64(), "is not a whole number"),
                ValueForm::Boolean => (value.is_boolean(), "is neither `true` nor `false`"),
                ValueForm::Pattern => match value.as_str() {
                    Some(text) => {
                        (self.add_pattern(text).is_ok(), "is not a valid regular expression")
                    }
                    None => (false, "is not a string"),
                },
                ValueForm::Reference => match value.as_str() {
                    Some(text) => {
                        let is_right = resolve_reference(&self.root, text).is_some();
                        (is_right, "does not point to anything in this schema")
                    }
                    None => (false, "is not a string"),
                },
                ValueForm::SchemaOrSchemas if !value.is_array() => {
                    self.read_schema(value, &here, depth + 1)?;
                    continue;
                }
                ValueForm::Schema => {
                    self.read_schema(value, &here, depth + 1)?;
                    continue;
                }
                ValueForm::Schemas | ValueForm::SchemaOrSchemas => {
                    let schemas = value.as_array().map(Vec::as_slice).unwrap_or_default();
                    for (index, schema) in schemas.iter().enumerate() {
                        self.read_schema(schema, &format!("{here}/{index}"), depth + 1)?;
                    }
                    let may_be_empty = matches!(form, ValueForm::SchemaOrSchemas);
                    (may_be_empty || !schemas.is_empty(), "is not a list of schemas")
                }
                ValueForm::NamedSchemas => {
                    for (key, schema) in value.as_object().into_iter().flatten() {
                        if name == "patternProperties" && self.add_pattern(key).is_err() {
                            return error(name, "has a key that is not a valid pattern");
                        }
                        if name != "dependencies" || !is_names(schema) {
                            self.read_schema(schema, &format!("{here}/{key}"), depth + 1)?;
                        }
                    }
                    (value.is_object(), "is not an object of schemas")
                }
            };
            if !is_right {
                return error(name, problem);
            }
        }
        Ok(())
    }

    /// Records a keyword that is not supported or not known.
    fn note_unchecked(&mut self, name: &str, place: &str) {
        let is_note = NOTES.split_ascii_whitespace().any(|note| note == name);
        if is_note || self.unchecked.len() >= MOST_UNCHECKED {
            return;
        }
        let place = place.to_owned();
        if let Some(&(name, help)) = UNSUPPORTED.iter().find(|(known, _)| *known == name) {
            return self.unchecked.push(Unchecked::Keyword { name, place, help });
        }
        let mut known: Vec<&str> = checked_keywords().map(|(_, name)| name).collect();
        known.sort_unstable();
        let same = known.iter().copied().find(|known| known.eq_ignore_ascii_case(name));
        if let Some(meant) = same.or_else(|| find_nearest(name, &known)) {
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

fn is_type(value: &Value) -> bool {
    let is_name = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(types) => !types.is_empty() && types.iter().all(is_name),
        value => is_name(value),
    }
}

/// Follows a reference inside the schema: `#`, `#/$defs/a`.
fn resolve_reference<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(pointer).filter(|found| found.is_object() || found.is_boolean())
}

#[cfg(test)]
mod tests;
