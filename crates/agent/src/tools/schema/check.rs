//! Checks one value against one schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{MOST_DEPTH, Schema, resolve};

/// The limit for the steps of one check.
const MOST_STEPS: usize = 200_000;

/// The limit for reported mismatches.
const MOST_PROBLEMS: usize = 8;

pub(super) struct SchemaCheck<'s> {
    schema: &'s Schema,
    problems: Vec<String>,
    steps: usize,
}

/// The parts of a value that a keyword has evaluated, for `unevaluatedProperties` and `unevaluatedItems`.
#[derive(Debug, Default)]
struct Spoken {
    fields: BTreeSet<String>,
    items: BTreeSet<usize>,
}

impl Spoken {
    fn add(&mut self, other: Spoken) {
        self.fields.extend(other.fields);
        self.items.extend(other.items);
    }
}

impl<'s> SchemaCheck<'s> {
    /// Returns the mismatches of a value; an empty list when it fits.
    pub(super) fn of(schema: &'s Schema, value: &Value) -> Vec<String> {
        let mut check = SchemaCheck { schema, problems: Vec::new(), steps: 0 };
        check.visit(&schema.root, value, "", 0);
        check.problems
    }

    fn visit(&mut self, schema: &'s Value, value: &Value, place: &str, depth: usize) -> Spoken {
        self.steps += 1;
        let mut spoken = Spoken::default();
        if self.problems.len() >= MOST_PROBLEMS {
            return spoken;
        }
        if depth > MOST_DEPTH || self.steps > MOST_STEPS {
            self.tell(place, "cannot be checked: the schema goes too deep");
            return spoken;
        }
        let fields = match schema {
            Value::Bool(false) => {
                self.tell(place, "must not be there");
                return spoken;
            }
            Value::Object(fields) => fields,
            _ => return spoken,
        };
        if let Some(target) = fields.get("$ref").and_then(Value::as_str)
            && let Some(target) = resolve(&self.schema.root, target)
        {
            spoken.add(self.visit(target, value, place, depth + 1));
        }
        if let Some(types) = fields.get("type") {
            let names: Vec<&str> = match types {
                Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                name => name.as_str().into_iter().collect(),
            };
            if !names.iter().any(|name| is_of_type(value, name)) {
                let message = format!("must be {}, not {}", names.join(" or "), type_of(value));
                self.tell(place, &message);
                return spoken;
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
            Value::Array(items) => self.array(fields, items, place, depth, &mut spoken),
            Value::Object(object) => self.object(fields, object, place, depth, &mut spoken),
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(fields, value, place, depth, &mut spoken);
        self.unspoken(fields, value, place, depth, &mut spoken);
        spoken
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
        if let Some(unit) = limit("multipleOf").filter(|unit| !is_multiple(number, *unit)) {
            self.tell(place, &format!("must be a multiple of {unit}"));
        }
    }

    fn string(&mut self, fields: &Map<String, Value>, text: &str, place: &str) {
        let length = text.chars().count() as u64;
        self.size(fields, length, ("minLength", "maxLength"), "character", place);
        if let Some(pattern) = fields.get("pattern").and_then(Value::as_str)
            && !self.matches(pattern, text)
        {
            self.tell(place, &format!("must match `{pattern}`"));
        }
    }

    /// Checks a count against its limits. Returns whether it is not too large.
    fn size(
        &mut self,
        fields: &Map<String, Value>,
        size: u64,
        (least, most): (&str, &str),
        noun: &str,
        place: &str,
    ) -> bool {
        let limit = |name: &str| fields.get(name).and_then(Value::as_u64);
        let counted = |count: u64| match count {
            1 => format!("1 {noun}"),
            count => format!("{count} {noun}s"),
        };
        if let Some(limit) = limit(least).filter(|limit| size < *limit) {
            self.tell(place, &format!("must have at least {}", counted(limit)));
        }
        let too_many = limit(most).filter(|limit| size > *limit);
        if let Some(limit) = too_many {
            self.tell(place, &format!("must have at most {}", counted(limit)));
        }
        too_many.is_none()
    }

    fn array(
        &mut self,
        fields: &'s Map<String, Value>,
        items: &[Value],
        place: &str,
        depth: usize,
        spoken: &mut Spoken,
    ) {
        if !self.size(fields, items.len() as u64, ("minItems", "maxItems"), "item", place) {
            return;
        }
        if fields.get("uniqueItems") == Some(&Value::Bool(true)) && self.has_twins(items) {
            self.tell(place, "must not have an item twice");
        }
        // `items` as a list is the older form of `prefixItems`, and `additionalItems` that of `items`.
        let older = fields.get("items").and_then(Value::as_array);
        let first = fields.get("prefixItems").and_then(Value::as_array).or(older);
        let rest = match older {
            Some(_) => fields.get("additionalItems"),
            None => fields.get("items"),
        };
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = first.and_then(|list| list.get(index)).or(rest) {
                self.visit(schema, item, &format!("{place}/{index}"), depth + 1);
                spoken.items.insert(index);
            }
        }
        if let Some(schema) = fields.get("contains") {
            let mut count = 0;
            for (index, item) in items.iter().enumerate() {
                if self.fits(schema, item, depth).is_some() {
                    count += 1;
                    spoken.items.insert(index);
                }
            }
            let limit = |name: &str| fields.get(name).and_then(Value::as_u64);
            let least = limit("minContains").unwrap_or(1);
            if count < least {
                self.tell(place, &format!("must have at least {least} of a certain form"));
            }
            if let Some(most) = limit("maxContains").filter(|most| count > *most) {
                self.tell(place, &format!("must have at most {most} of a certain form"));
            }
        }
    }

    /// Returns whether two items are equal. Comparing all pairs costs steps; a long list is compared by the
    /// written form of its items.
    fn has_twins(&mut self, items: &[Value]) -> bool {
        if items.len() <= 256 {
            self.steps += items.len() * items.len() / 2;
            let mut rest = items;
            while let [first, others @ ..] = rest {
                if others.iter().any(|other| is_same(first, other)) {
                    return true;
                }
                rest = others;
            }
            return false;
        }
        let mut seen: Vec<String> = items.iter().map(Value::to_string).collect();
        seen.sort_unstable();
        seen.windows(2).any(|pair| pair[0] == pair[1])
    }

    fn object(
        &mut self,
        fields: &'s Map<String, Value>,
        object: &Map<String, Value>,
        place: &str,
        depth: usize,
        spoken: &mut Spoken,
    ) {
        let size = object.len() as u64;
        self.size(fields, size, ("minProperties", "maxProperties"), "field", place);
        self.required(fields.get("required"), object, "", place);
        let properties = fields.get("properties").and_then(Value::as_object);
        let by_pattern = fields.get("patternProperties").and_then(Value::as_object);
        let names = fields.get("propertyNames");
        for (name, value) in object {
            let place = format!("{place}/{name}");
            if let Some(schema) = names
                && self.fits(schema, &Value::String(name.clone()), depth).is_none()
            {
                self.tell(&place, "has a name that it must not have");
            }
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
                Some(schema) if !is_known => {
                    self.visit(schema, value, &place, depth + 1);
                    is_known = true;
                }
                _ => {}
            }
            if is_known {
                spoken.fields.insert(name.clone());
            }
        }
        self.dependent(fields, object, place, depth, spoken);
    }

    fn required(
        &mut self,
        names: Option<&Value>,
        object: &Map<String, Value>,
        reason: &str,
        place: &str,
    ) {
        for name in names.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            if !object.contains_key(name) {
                self.tell(place, &format!("must have `{name}`{reason}"));
            }
        }
    }

    /// Checks the fields that another field requires.
    fn dependent(
        &mut self,
        fields: &'s Map<String, Value>,
        object: &Map<String, Value>,
        place: &str,
        depth: usize,
        spoken: &mut Spoken,
    ) {
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            let wishes = fields.get(keyword).and_then(Value::as_object).into_iter().flatten();
            for (name, wish) in wishes.filter(|(name, _)| object.contains_key(*name)) {
                if wish.is_array() {
                    self.required(Some(wish), object, &format!(" because it has `{name}`"), place);
                } else {
                    let whole = Value::Object(object.clone());
                    spoken.add(self.visit(wish, &whole, place, depth + 1));
                }
            }
        }
    }

    fn combined(
        &mut self,
        fields: &'s Map<String, Value>,
        value: &Value,
        place: &str,
        depth: usize,
        spoken: &mut Spoken,
    ) {
        let list = |name: &str| fields.get(name).and_then(Value::as_array).into_iter().flatten();
        for schema in list("allOf") {
            spoken.add(self.visit(schema, value, place, depth + 1));
        }
        if fields.contains_key("anyOf") {
            let mut fits = false;
            // All of them are tried, because each may evaluate other parts.
            for found in list("anyOf") {
                if let Some(found) = self.fits(found, value, depth) {
                    spoken.add(found);
                    fits = true;
                }
            }
            if !fits {
                self.tell(place, "fits none of the forms that it may have");
            }
        }
        if fields.contains_key("oneOf") {
            let mut count = 0;
            for schema in list("oneOf") {
                if let Some(found) = self.fits(schema, value, depth) {
                    spoken.add(found);
                    count += 1;
                }
            }
            if count != 1 {
                let count = if count == 0 { "none" } else { "more than one" };
                self.tell(place, &format!("fits {count} of the forms that it may have"));
            }
        }
        if let Some(schema) = fields.get("not")
            && self.fits(schema, value, depth).is_some()
        {
            self.tell(place, "has a form that it must not have");
        }
        if let Some(condition) = fields.get("if") {
            let held = self.fits(condition, value, depth);
            let consequence = if held.is_some() { "then" } else { "else" };
            spoken.add(held.unwrap_or_default());
            if let Some(schema) = fields.get(consequence) {
                spoken.add(self.visit(schema, value, place, depth + 1));
            }
        }
    }

    /// Checks the parts that no other keyword has evaluated.
    fn unspoken(
        &mut self,
        fields: &'s Map<String, Value>,
        value: &Value,
        place: &str,
        depth: usize,
        spoken: &mut Spoken,
    ) {
        match value {
            Value::Object(object) => {
                let Some(schema) = fields.get("unevaluatedProperties") else { return };
                for (name, value) in object {
                    if spoken.fields.contains(name) {
                        continue;
                    }
                    let place = format!("{place}/{name}");
                    if *schema == Value::Bool(false) {
                        self.tell(&place, "is not known");
                    } else {
                        self.visit(schema, value, &place, depth + 1);
                    }
                    spoken.fields.insert(name.clone());
                }
            }
            Value::Array(items) => {
                let Some(schema) = fields.get("unevaluatedItems") else { return };
                for (index, item) in items.iter().enumerate() {
                    if spoken.items.insert(index) {
                        self.visit(schema, item, &format!("{place}/{index}"), depth + 1);
                    }
                }
            }
            _ => {}
        }
    }

    /// Tries a schema without reporting mismatches. Its steps count.
    fn fits(&mut self, schema: &'s Value, value: &Value, depth: usize) -> Option<Spoken> {
        let mut check =
            SchemaCheck { schema: self.schema, problems: Vec::new(), steps: self.steps };
        let spoken = check.visit(schema, value, "", depth + 1);
        self.steps = check.steps;
        check.problems.is_empty().then_some(spoken)
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
