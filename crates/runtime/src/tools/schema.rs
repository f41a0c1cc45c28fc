//! Checking arguments against the JSON Schema of a tool.
//!
//! The part of JSON Schema that tools use. A keyword that is not known here is ignored, as the
//! standard asks; a known one with a value that it cannot have makes the schema invalid. Checking
//! costs a bounded number of steps, whatever the schema refers to.

mod pattern;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use pattern::Pattern;

/// Schemas inside each other, references followed.
const MOST_DEPTH: usize = 64;

/// Steps of one check.
const MOST_STEPS: usize = 200_000;

/// Problems that are worth telling.
const MOST_PROBLEMS: usize = 8;

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// Why a schema is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{place}` {problem}")]
pub struct SchemaError {
    /// The way to it, such as `/properties/a/type`.
    pub place: String,
    /// What is wrong there.
    pub problem: String,
}

/// A JSON Schema that is known to be one.
#[derive(Clone)]
pub struct Schema {
    root: Value,
    patterns: BTreeMap<String, Pattern>,
    unchecked: Vec<String>,
}

impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Schema").field(&self.root).finish()
    }
}

impl Schema {
    /// Reads the schema of a tool's arguments, which are always an object.
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

    /// Returns what the schema asks for and nobody here can check, in words.
    pub fn unchecked(&self) -> &[String] {
        &self.unchecked
    }

    /// Returns what is wrong with a value; nothing when it fits.
    pub fn check(&self, value: &Value) -> Vec<String> {
        let mut check = Check { schema: self, problems: Vec::new(), steps: 0 };
        check.visit(&self.root, value, "", 0);
        check.problems
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
                "required" => match value.as_array() {
                    Some(names) if names.iter().all(Value::is_string) => None,
                    _ => Some("is not a list of names"),
                },
                "enum" => (!value.is_array()).then_some("is not a list"),
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                    (!value.is_number()).then_some("is not a number")
                }
                "minLength" | "maxLength" | "minItems" | "maxItems" => {
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
                "properties" | "patternProperties" | "$defs" | "definitions" => {
                    let Some(schemas) = value.as_object() else {
                        return error(name, "is not an object of schemas");
                    };
                    for (key, schema) in schemas {
                        if name == "patternProperties" && self.add_pattern(key).is_err() {
                            return error(name, "has a key that is no pattern");
                        }
                        self.read(schema, &format!("{place}/{name}/{key}"), depth + 1)?;
                    }
                    None
                }
                "anyOf" | "oneOf" | "allOf" => {
                    let Some(schemas) = value.as_array().filter(|list| !list.is_empty()) else {
                        return error(name, "is not a list of schemas");
                    };
                    for (index, schema) in schemas.iter().enumerate() {
                        self.read(schema, &format!("{place}/{name}/{index}"), depth + 1)?;
                    }
                    None
                }
                // A list of schemas is the older way to say `prefixItems`, and is left alone.
                "items" if value.is_array() => None,
                "items" | "additionalProperties" | "not" => {
                    self.read(value, &format!("{place}/{name}"), depth + 1)?;
                    None
                }
                _ => None,
            };
            if let Some(problem) = problem {
                return error(name, problem);
            }
        }
        Ok(())
    }

    fn add_pattern(&mut self, text: &str) -> Result<(), ()> {
        let pattern = Pattern::new(text)?;
        if pattern.is_unchecked() {
            self.unchecked.push(format!("the pattern `{text}` is not checked"));
        }
        self.patterns.insert(text.to_owned(), pattern);
        Ok(())
    }
}

fn return_if_bad(outcome: Result<(), ()>) -> Option<&'static str> {
    outcome.is_err().then_some("is no regular expression")
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

struct Check<'s> {
    schema: &'s Schema,
    problems: Vec<String>,
    steps: usize,
}

impl<'s> Check<'s> {
    fn visit(&mut self, schema: &'s Value, value: &Value, place: &str, depth: usize) {
        self.steps += 1;
        if self.problems.len() >= MOST_PROBLEMS {
            return;
        }
        if depth > MOST_DEPTH || self.steps > MOST_STEPS {
            return self.tell(place, "cannot be checked: the schema goes too deep");
        }
        let fields = match schema {
            Value::Bool(false) => return self.tell(place, "must not be there"),
            Value::Object(fields) => fields,
            _ => return,
        };
        if let Some(target) = fields.get("$ref").and_then(Value::as_str)
            && let Some(target) = resolve(&self.schema.root, target)
        {
            self.visit(target, value, place, depth + 1);
        }
        if let Some(types) = fields.get("type") {
            let names: Vec<&str> = match types {
                Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                name => name.as_str().into_iter().collect(),
            };
            if !names.iter().any(|name| is_of_type(value, name)) {
                let message = format!("must be {}, not {}", names.join(" or "), type_of(value));
                return self.tell(place, &message);
            }
        }
        if let Some(Value::Array(values)) = fields.get("enum")
            && !values.iter().any(|allowed| is_same(allowed, value))
        {
            let mut allowed: Vec<String> = values.iter().take(12).map(Value::to_string).collect();
            if values.len() > allowed.len() {
                allowed.push("…".to_owned());
            }
            self.tell(place, &format!("must be one of {}", allowed.join(", ")));
        }
        if let Some(constant) = fields.get("const")
            && !is_same(constant, value)
        {
            self.tell(place, &format!("must be {constant}"));
        }
        match value {
            Value::Number(number) => self.number(fields, number.as_f64(), place),
            Value::String(text) => self.string(fields, text, place),
            Value::Array(items) => self.array(fields, items, place, depth),
            Value::Object(object) => self.object(fields, object, place, depth),
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(fields, value, place, depth);
    }

    fn number(&mut self, fields: &Map<String, Value>, number: Option<f64>, place: &str) {
        let Some(number) = number else { return };
        let limit = |name: &str| fields.get(name).and_then(Value::as_f64);
        if let Some(limit) = limit("minimum").filter(|limit| number < *limit) {
            self.tell(place, &format!("must be at least {limit}"));
        }
        if let Some(limit) = limit("maximum").filter(|limit| number > *limit) {
            self.tell(place, &format!("must be at most {limit}"));
        }
        if let Some(limit) = limit("exclusiveMinimum").filter(|limit| number <= *limit) {
            self.tell(place, &format!("must be more than {limit}"));
        }
        if let Some(limit) = limit("exclusiveMaximum").filter(|limit| number >= *limit) {
            self.tell(place, &format!("must be less than {limit}"));
        }
    }

    fn string(&mut self, fields: &Map<String, Value>, text: &str, place: &str) {
        let limit = |name: &str| fields.get(name).and_then(Value::as_u64);
        let length = text.chars().count() as u64;
        if let Some(limit) = limit("minLength").filter(|limit| length < *limit) {
            self.tell(place, &format!("must have at least {limit} characters"));
        }
        if let Some(limit) = limit("maxLength").filter(|limit| length > *limit) {
            self.tell(place, &format!("must have at most {limit} characters"));
        }
        if let Some(pattern) = fields.get("pattern").and_then(Value::as_str)
            && !self.matches(pattern, text)
        {
            self.tell(place, &format!("must match `{pattern}`"));
        }
    }

    fn array(
        &mut self,
        fields: &'s Map<String, Value>,
        items: &[Value],
        place: &str,
        depth: usize,
    ) {
        let limit = |name: &str| fields.get(name).and_then(Value::as_u64);
        let length = items.len() as u64;
        if let Some(limit) = limit("minItems").filter(|limit| length < *limit) {
            self.tell(place, &format!("must have at least {limit} items"));
        }
        if let Some(limit) = limit("maxItems").filter(|limit| length > *limit) {
            return self.tell(place, &format!("must have at most {limit} items"));
        }
        if fields.get("uniqueItems") == Some(&Value::Bool(true)) {
            let mut seen: Vec<String> = items.iter().map(Value::to_string).collect();
            seen.sort_unstable();
            if seen.windows(2).any(|pair| pair[0] == pair[1]) {
                self.tell(place, "must not have an item twice");
            }
        }
        if let Some(schema) = fields.get("items").filter(|schema| !schema.is_array()) {
            for (index, item) in items.iter().enumerate() {
                self.visit(schema, item, &format!("{place}/{index}"), depth + 1);
            }
        }
    }

    fn object(
        &mut self,
        fields: &'s Map<String, Value>,
        object: &Map<String, Value>,
        place: &str,
        depth: usize,
    ) {
        let required = fields.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !object.contains_key(name) {
                self.tell(place, &format!("must have `{name}`"));
            }
        }
        let properties = fields.get("properties").and_then(Value::as_object);
        let by_pattern = fields.get("patternProperties").and_then(Value::as_object);
        for (name, value) in object {
            let place = format!("{place}/{name}");
            let mut is_known = false;
            if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
                self.visit(schema, value, &place, depth + 1);
                is_known = true;
            }
            for (pattern, schema) in by_pattern.into_iter().flatten() {
                if self.matches(pattern, name) {
                    self.visit(schema, value, &place, depth + 1);
                    is_known = true;
                }
            }
            match fields.get("additionalProperties") {
                Some(Value::Bool(false)) if !is_known => self.tell(&place, "is not known"),
                Some(schema) if !is_known => self.visit(schema, value, &place, depth + 1),
                _ => {}
            }
        }
    }

    fn combined(
        &mut self,
        fields: &'s Map<String, Value>,
        value: &Value,
        place: &str,
        depth: usize,
    ) {
        let list = |name: &str| fields.get(name).and_then(Value::as_array).into_iter().flatten();
        for schema in list("allOf") {
            self.visit(schema, value, place, depth + 1);
        }
        if fields.contains_key("anyOf")
            && !list("anyOf").any(|schema| self.fits(schema, value, depth))
        {
            self.tell(place, "fits none of the forms that it may have");
        }
        if fields.contains_key("oneOf") {
            let count = list("oneOf").filter(|schema| self.fits(schema, value, depth)).count();
            if count != 1 {
                let count = if count == 0 { "none" } else { "more than one" };
                self.tell(place, &format!("fits {count} of the forms that it may have"));
            }
        }
        if let Some(schema) = fields.get("not")
            && self.fits(schema, value, depth)
        {
            self.tell(place, "has a form that it must not have");
        }
    }

    /// Tries a schema without telling what is wrong. Its steps count.
    fn fits(&mut self, schema: &'s Value, value: &Value, depth: usize) -> bool {
        let mut check = Check { schema: self.schema, problems: Vec::new(), steps: self.steps };
        check.visit(schema, value, "", depth + 1);
        self.steps = check.steps;
        check.problems.is_empty()
    }

    fn matches(&self, pattern: &str, text: &str) -> bool {
        self.schema.patterns.get(pattern).is_none_or(|pattern| pattern.matches(text))
    }

    fn tell(&mut self, place: &str, problem: &str) {
        if self.problems.len() < MOST_PROBLEMS {
            let place = if place.is_empty() { "/" } else { place };
            self.problems.push(format!("`{place}` {problem}"));
        }
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "number" => value.is_number(),
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        name => type_of(value) == name,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Equality as JSON Schema has it: `1` and `1.0` are one number.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, left)| right.get(name).is_some_and(|right| is_same(left, right)))
        }
        (left, right) => left == right,
    }
}

#[cfg(test)]
mod tests;
