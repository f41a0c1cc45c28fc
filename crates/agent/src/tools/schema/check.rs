//! Checks one value against one schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{MOST_DEPTH, Schema, resolve_reference};

/// The limit for the steps of one check.
const MOST_STEPS: usize = 200_000;

/// The limit for reported mismatches.
const MOST_PROBLEMS: usize = 8;

pub(super) struct SchemaCheck<'s> {
    schema: &'s Schema,
    problems: Vec<String>,
    steps: usize,
}

/// The keywords of a schema.
type Keywords<'s> = &'s Map<String, Value>;

/// The fields or indexes of a value that a keyword has evaluated, for `unevaluatedProperties` and `unevaluatedItems`.
type EvaluatedParts = BTreeSet<String>;

/// Compares a number with a limit.
type IsWrong = fn(f64, f64) -> bool;

/// A position during a check: the JSON pointer into the value, and the number of schemas around.
#[derive(Clone, Copy)]
struct Position<'p> {
    pointer: &'p str,
    depth: usize,
}

impl Position<'_> {
    fn deeper(self) -> Self {
        Position { depth: self.depth + 1, ..self }
    }
}

impl<'s> SchemaCheck<'s> {
    /// Returns the mismatches of a value; an empty list when it fits.
    pub(super) fn collect_problems(schema: &'s Schema, value: &Value) -> Vec<String> {
        let mut check = SchemaCheck { schema, problems: Vec::new(), steps: 0 };
        check.visit_schema(&schema.root, value, Position { pointer: "", depth: 0 });
        check.problems
    }

    fn visit_schema(
        &mut self,
        schema: &'s Value,
        value: &Value,
        at: Position<'_>,
    ) -> EvaluatedParts {
        self.steps += 1;
        let mut evaluated = EvaluatedParts::new();
        if self.problems.len() >= MOST_PROBLEMS {
            return evaluated;
        }
        if at.depth > MOST_DEPTH || self.steps > MOST_STEPS {
            self.report_problem(at, "cannot be checked: the schema is nested too deeply");
            return evaluated;
        }
        let keywords = match schema {
            Value::Bool(false) => {
                self.report_problem(at, "is not allowed");
                return evaluated;
            }
            Value::Object(keywords) => keywords,
            _ => return evaluated,
        };
        if let Some(target) = keywords.get("$ref").and_then(Value::as_str)
            && let Some(target) = resolve_reference(&self.schema.root, target)
        {
            evaluated.extend(self.visit_schema(target, value, at.deeper()));
        }
        if let Some(types) = keywords.get("type") {
            let names: Vec<&str> = match types {
                Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                name => name.as_str().into_iter().collect(),
            };
            if !names.iter().any(|name| is_of_type(value, name)) {
                let names = names.join(" or ");
                self.report_problem(at, &format!("must be {names}, not {}", type_of(value)));
                return evaluated;
            }
        }
        if let Some(Value::Array(values)) = keywords.get("enum")
            && !values.iter().any(|allowed| is_same(allowed, value))
        {
            let mut allowed: Vec<String> = values.iter().take(12).map(Value::to_string).collect();
            if values.len() > allowed.len() {
                allowed.push("…".to_owned());
            }
            self.report_problem(at, &format!("must be one of {}", allowed.join(", ")));
        }
        if let Some(constant) = keywords.get("const")
            && !is_same(constant, value)
        {
            self.report_problem(at, &format!("must be {constant}"));
        }
        match value {
            Value::Number(number) => self.check_number(keywords, number.as_f64(), at),
            Value::String(text) => self.check_string(keywords, text, at),
            Value::Array(items) => evaluated.extend(self.check_array(keywords, items, at)),
            Value::Object(object) => evaluated.extend(self.check_object(keywords, object, at)),
            Value::Null | Value::Bool(_) => {}
        }
        evaluated.extend(self.check_combined(keywords, value, at));
        self.check_unevaluated(keywords, value, at, &mut evaluated);
        evaluated
    }

    /// Checks a part of a value. Its evaluated parts are not those of the value.
    fn visit_part(&mut self, schema: &'s Value, part: &Value, name: &str, at: Position<'_>) {
        let pointer = format!("{}/{name}", at.pointer);
        self.visit_schema(schema, part, Position { pointer: &pointer, depth: at.depth + 1 });
    }

    fn check_number(&mut self, keywords: Keywords<'s>, number: Option<f64>, at: Position<'_>) {
        let Some(number) = number else { return };
        let limits: [(&str, IsWrong, &str); 5] = [
            ("minimum", |number, limit| number < limit, "at least"),
            ("maximum", |number, limit| number > limit, "at most"),
            ("exclusiveMinimum", |number, limit| number <= limit, "more than"),
            ("exclusiveMaximum", |number, limit| number >= limit, "less than"),
            ("multipleOf", |number, unit| !is_multiple(number, unit), "a multiple of"),
        ];
        for (keyword, is_wrong, words) in limits {
            let limit = keywords.get(keyword).and_then(Value::as_f64);
            if let Some(limit) = limit.filter(|limit| is_wrong(number, *limit)) {
                self.report_problem(at, &format!("must be {words} {limit}"));
            }
        }
    }

    fn check_string(&mut self, keywords: Keywords<'s>, text: &str, at: Position<'_>) {
        let length = text.chars().count();
        self.check_count(keywords, length, ("minLength", "maxLength"), "character", at);
        if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str)
            && !self.matches_pattern(pattern, text)
        {
            self.report_problem(at, &format!("must match `{pattern}`"));
        }
    }

    /// Checks a count against its limits. Returns whether it is not too large.
    fn check_count(
        &mut self,
        keywords: Keywords<'s>,
        count: usize,
        (least, most): (&str, &str),
        noun: &str,
        at: Position<'_>,
    ) -> bool {
        let limit = |name: &str| keywords.get(name).and_then(Value::as_u64);
        let plural = |limit: u64| if limit == 1 { "" } else { "s" };
        if let Some(limit) = limit(least).filter(|limit| (count as u64) < *limit) {
            self.report_problem(at, &format!("must have at least {limit} {noun}{}", plural(limit)));
        }
        let exceeded = limit(most).filter(|limit| count as u64 > *limit);
        if let Some(limit) = exceeded {
            self.report_problem(at, &format!("must have at most {limit} {noun}{}", plural(limit)));
        }
        exceeded.is_none()
    }

    fn check_array(
        &mut self,
        keywords: Keywords<'s>,
        items: &[Value],
        at: Position<'_>,
    ) -> EvaluatedParts {
        let mut evaluated = EvaluatedParts::new();
        if !self.check_count(keywords, items.len(), ("minItems", "maxItems"), "item", at) {
            return evaluated;
        }
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) && self.has_duplicates(items) {
            self.report_problem(at, "must not contain the same item twice");
        }
        // `items` as a list is the older form of `prefixItems`, and `additionalItems` that of `items`.
        let older = keywords.get("items").and_then(Value::as_array);
        let first = keywords.get("prefixItems").and_then(Value::as_array).or(older);
        let rest = keywords.get(if older.is_some() { "additionalItems" } else { "items" });
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = first.and_then(|list| list.get(index)).or(rest) {
                self.visit_part(schema, item, &index.to_string(), at);
                evaluated.insert(index.to_string());
            }
        }
        if let Some(schema) = keywords.get("contains") {
            let mut count = 0;
            for (index, item) in items.iter().enumerate() {
                if self.try_schema(schema, item, at.depth).is_some() {
                    count += 1;
                    evaluated.insert(index.to_string());
                }
            }
            let limit = |name: &str| keywords.get(name).and_then(Value::as_u64);
            let least = limit("minContains").unwrap_or(1);
            let noun = |count: u64| if count == 1 { "item" } else { "items" };
            if count < least {
                self.report_problem(
                    at,
                    &format!("must have at least {least} {} matching `contains`", noun(least)),
                );
            }
            if let Some(most) = limit("maxContains").filter(|most| count > *most) {
                self.report_problem(
                    at,
                    &format!("must have at most {most} {} matching `contains`", noun(most)),
                );
            }
        }
        evaluated
    }

    /// Returns whether two items are equal. Comparing all pairs costs steps; a long list is compared by the
    /// written form of its items.
    fn has_duplicates(&mut self, items: &[Value]) -> bool {
        if items.len() <= 256 {
            self.steps += items.len() * items.len() / 2;
            let is_repeated =
                |(index, item)| items[..index].iter().any(|other| is_same(item, other));
            return items.iter().enumerate().any(is_repeated);
        }
        let mut seen: Vec<String> = items.iter().map(Value::to_string).collect();
        seen.sort_unstable();
        seen.windows(2).any(|pair| pair[0] == pair[1])
    }

    fn check_object(
        &mut self,
        keywords: Keywords<'s>,
        object: &Map<String, Value>,
        at: Position<'_>,
    ) -> EvaluatedParts {
        let mut evaluated = EvaluatedParts::new();
        self.check_count(keywords, object.len(), ("minProperties", "maxProperties"), "field", at);
        self.check_required(keywords.get("required"), object, "", at);
        let properties = keywords.get("properties").and_then(Value::as_object);
        let by_pattern = keywords.get("patternProperties").and_then(Value::as_object);
        let names = keywords.get("propertyNames");
        for (name, value) in object {
            if let Some(schema) = names
                && self.try_schema(schema, &Value::String(name.clone()), at.depth).is_none()
            {
                self.tell_part(name, at, "has a name that is not allowed");
            }
            let mut is_known = false;
            if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
                self.visit_part(schema, value, name, at);
                is_known = true;
            }
            for (pattern, schema) in by_pattern.into_iter().flatten() {
                if self.matches_pattern(pattern, name) {
                    self.visit_part(schema, value, name, at);
                    is_known = true;
                }
            }
            match keywords.get("additionalProperties") {
                Some(Value::Bool(false)) if !is_known => {
                    self.tell_part(name, at, "is an unknown field");
                }
                Some(schema) if !is_known => {
                    self.visit_part(schema, value, name, at);
                    is_known = true;
                }
                _ => {}
            }
            if is_known {
                evaluated.insert(name.clone());
            }
        }
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            let lists = keywords.get(keyword).and_then(Value::as_object).into_iter().flatten();
            for (name, required) in lists.filter(|(name, _)| object.contains_key(*name)) {
                if required.is_array() {
                    let reason = format!(" because it has `{name}`");
                    self.check_required(Some(required), object, &reason, at);
                } else {
                    let whole = Value::Object(object.clone());
                    evaluated.extend(self.visit_schema(required, &whole, at.deeper()));
                }
            }
        }
        evaluated
    }

    fn check_required(
        &mut self,
        names: Option<&Value>,
        object: &Map<String, Value>,
        reason: &str,
        at: Position<'_>,
    ) {
        let names = names.and_then(Value::as_array).into_iter().flatten();
        for name in names.filter_map(Value::as_str).filter(|name| !object.contains_key(*name)) {
            self.report_problem(at, &format!("must have `{name}`{reason}"));
        }
    }

    fn check_combined(
        &mut self,
        keywords: Keywords<'s>,
        value: &Value,
        at: Position<'_>,
    ) -> EvaluatedParts {
        let mut evaluated = EvaluatedParts::new();
        let list = |name: &str| keywords.get(name).and_then(Value::as_array);
        for schema in list("allOf").into_iter().flatten() {
            evaluated.extend(self.visit_schema(schema, value, at.deeper()));
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(schemas) = list(keyword) else { continue };
            let mut count = 0;
            // All of them are tried, because each may evaluate other parts.
            for schema in schemas {
                if let Some(found) = self.try_schema(schema, value, at.depth) {
                    evaluated.extend(found);
                    count += 1;
                }
            }
            if count == 0 {
                self.report_problem(at, "matches none of the allowed schemas");
            } else if keyword == "oneOf" && count > 1 {
                self.report_problem(at, "matches more than one of the allowed schemas");
            }
        }
        if let Some(schema) = keywords.get("not")
            && self.try_schema(schema, value, at.depth).is_some()
        {
            self.report_problem(at, "matches a schema that is not allowed");
        }
        if let Some(condition) = keywords.get("if") {
            let fitting = self.try_schema(condition, value, at.depth);
            let consequence = if fitting.is_some() { "then" } else { "else" };
            evaluated.extend(fitting.unwrap_or_default());
            if let Some(schema) = keywords.get(consequence) {
                evaluated.extend(self.visit_schema(schema, value, at.deeper()));
            }
        }
        evaluated
    }

    /// Checks the parts that no other keyword has evaluated.
    fn check_unevaluated(
        &mut self,
        keywords: Keywords<'s>,
        value: &Value,
        at: Position<'_>,
        evaluated: &mut EvaluatedParts,
    ) {
        match value {
            Value::Object(object) => {
                let Some(schema) = keywords.get("unevaluatedProperties") else { return };
                for (name, value) in object {
                    if !evaluated.insert(name.clone()) {
                        continue;
                    }
                    if *schema == Value::Bool(false) {
                        self.tell_part(name, at, "is an unknown field");
                    } else {
                        self.visit_part(schema, value, name, at);
                    }
                }
            }
            Value::Array(items) => {
                let Some(schema) = keywords.get("unevaluatedItems") else { return };
                for (index, item) in items.iter().enumerate() {
                    if evaluated.insert(index.to_string()) {
                        self.visit_part(schema, item, &index.to_string(), at);
                    }
                }
            }
            _ => {}
        }
    }

    /// Tries a schema without reporting mismatches. Its steps count.
    fn try_schema(
        &mut self,
        schema: &'s Value,
        value: &Value,
        depth: usize,
    ) -> Option<EvaluatedParts> {
        let mut check =
            SchemaCheck { schema: self.schema, problems: Vec::new(), steps: self.steps };
        let evaluated =
            check.visit_schema(schema, value, Position { pointer: "", depth: depth + 1 });
        self.steps = check.steps;
        check.problems.is_empty().then_some(evaluated)
    }

    fn matches_pattern(&self, pattern: &str, text: &str) -> bool {
        self.schema.patterns.get(pattern).is_none_or(|pattern| pattern.matches(text))
    }

    fn report_problem(&mut self, at: Position<'_>, problem: &str) {
        if self.problems.len() < MOST_PROBLEMS {
            let pointer = if at.pointer.is_empty() { "/" } else { at.pointer };
            self.problems.push(format!("`{pointer}` {problem}"));
        }
    }

    fn tell_part(&mut self, name: &str, at: Position<'_>, problem: &str) {
        let pointer = format!("{}/{name}", at.pointer);
        self.report_problem(Position { pointer: &pointer, ..at }, problem);
    }
}

/// Returns whether a number is a multiple of a unit. `0.3` is three times `0.1`, despite rounding.
fn is_multiple(number: f64, unit: f64) -> bool {
    let count = number / unit;
    if !count.is_finite() {
        return false;
    }
    let nearest = count.round();
    (count - nearest).abs() <= f64::EPSILON * nearest.abs().max(1.0) * 4.0
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

/// Compares values by JSON Schema's equality: `1` equals `1.0`.
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
