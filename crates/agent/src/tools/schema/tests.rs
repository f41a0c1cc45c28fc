//! Values that fit a schema, and invalid schemas.

use serde_json::{Value, json};

use super::Schema;

fn problems(schema: &Value, value: &Value) -> String {
    Schema::for_arguments(schema).unwrap().check_value(value).join("; ")
}

fn error(schema: &Value) -> String {
    Schema::for_arguments(schema).unwrap_err().to_string()
}

/// Y31: a field of every kind, with its message.
#[test]
fn each_keyword_says_what_it_wants() {
    for (field, value, problem) in [
        (json!({"type": "string"}), json!("a"), ""),
        (json!({"type": "string"}), json!(1), "`/x` must be string, not number"),
        (json!({"type": ["string", "null"]}), json!(null), ""),
        (json!({"type": ["string", "null"]}), json!([]), "`/x` must be string or null, not array"),
        (json!({"type": "integer"}), json!(3.0), ""),
        (json!({"type": "integer"}), json!(3.5), "`/x` must be integer, not number"),
        (json!({"type": "boolean"}), json!(true), ""),
        (json!({"enum": ["a", 1]}), json!(1.0), ""),
        (json!({"enum": ["a", 1]}), json!("b"), "`/x` must be one of \"a\", 1"),
        (json!({"const": {"a": [1]}}), json!({"a": [1.0]}), ""),
        (json!({"const": null}), json!(0), "`/x` must be null"),
        (json!({"minimum": 2, "maximum": 3}), json!(2), ""),
        (json!({"minimum": 2}), json!(1.9), "`/x` must be at least 2"),
        (json!({"maximum": 2}), json!(3), "`/x` must be at most 2"),
        (json!({"exclusiveMinimum": 2}), json!(2), "`/x` must be more than 2"),
        (json!({"exclusiveMaximum": 2}), json!(2), "`/x` must be less than 2"),
        (json!({"minLength": 2}), json!("ä"), "`/x` must have at least 2 characters"),
        (json!({"maxLength": 2}), json!("äöü"), "`/x` must have at most 2 characters"),
        (json!({"maxLength": 2}), json!(12345), ""),
        (json!({"minItems": 1}), json!([]), "`/x` must have at least 1 item"),
        (json!({"maxItems": 1}), json!([1, 2]), "`/x` must have at most 1 item"),
        (
            json!({"uniqueItems": true}),
            json!([1, 2, 1]),
            "`/x` must not contain the same item twice",
        ),
        (
            json!({"items": {"type": "string"}}),
            json!(["a", 1]),
            "`/x/1` must be string, not number",
        ),
        (json!({"pattern": "^\\d+$"}), json!("12"), ""),
        (json!({"pattern": "^\\d+$"}), json!("1٣"), "`/x` must match `^\\d+$`"),
        (json!({"pattern": "[\\w.[]@\\w"}), json!("a@b"), ""),
        (
            json!({"not": {"type": "null"}}),
            json!(null),
            "`/x` matches a schema that is not allowed",
        ),
        (json!(false), json!(1), "`/x` is not allowed"),
        (json!(true), json!(1), ""),
        (json!({"anyOf": [{"type": "null"}, {"minimum": 1}]}), json!(2), ""),
        (
            json!({"anyOf": [{"type": "null"}, {"type": "string"}]}),
            json!(2),
            "`/x` matches none of the allowed schemas",
        ),
        (
            json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}),
            json!(3),
            "`/x` matches more than one of the allowed schemas",
        ),
        (json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}), json!(3), "`/x` must be at most 2"),
        (json!({"format": "date", "x-mine": 1}), json!("no date"), ""),
        (json!({"multipleOf": 5}), json!(15), ""),
        (json!({"multipleOf": 0.1}), json!(0.3), ""),
        (json!({"multipleOf": 5}), json!(7), "`/x` must be a multiple of 5"),
        (json!({"multipleOf": 5}), json!("7"), ""),
        (json!({"minProperties": 1}), json!({}), "`/x` must have at least 1 field"),
        (json!({"maxProperties": 1}), json!({"a": 1, "b": 2}), "`/x` must have at most 1 field"),
        (
            json!({"propertyNames": {"pattern": "^[a-z]+$"}}),
            json!({"A": 1}),
            "`/x/A` has a name that is not allowed",
        ),
        (
            json!({"uniqueItems": true}),
            json!([1, 1.0]),
            "`/x` must not contain the same item twice",
        ),
    ] {
        let schema = json!({"type": "object", "properties": {"x": field}});
        assert_eq!(problems(&schema, &json!({"x": value})), problem, "{schema} {value}");
    }
}

/// U50. "`parameters` (JSON Schema)": lists with a schema per position, and required items, in this draft and
/// in older ones.
#[test]
fn places_of_a_list_have_schemas_of_their_own() {
    for (field, value, problem) in [
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "number"}]}),
            json!(["a", "b", "c"]),
            "`/x/1` must be number, not string",
        ),
        (
            json!({"prefixItems": [{"type": "string"}], "items": false}),
            json!(["a", 1]),
            "`/x/1` is not allowed",
        ),
        (
            json!({"items": [{"type": "string"}], "additionalItems": {"type": "number"}}),
            json!([1, "a"]),
            "`/x/0` must be string, not number; `/x/1` must be number, not string",
        ),
        (
            json!({"contains": {"const": "a"}}),
            json!(["b"]),
            "`/x` must have at least 1 item matching `contains`",
        ),
        (json!({"contains": {"const": "a"}, "minContains": 0}), json!([]), ""),
        (
            json!({"contains": {"const": "a"}, "maxContains": 1}),
            json!(["a", "a"]),
            "`/x` must have at most 1 item matching `contains`",
        ),
        (
            json!({"prefixItems": [true], "unevaluatedItems": false}),
            json!([1, 2]),
            "`/x/1` is not allowed",
        ),
    ] {
        let schema = json!({"type": "object", "properties": {"x": field}});
        assert_eq!(problems(&schema, &json!({"x": value})), problem, "{schema} {value}");
    }
}

/// U50: fields that require other fields.
#[test]
fn fields_depend_on_each_other() {
    for (schema, value, problem) in [
        (
            json!({"dependentRequired": {"card": ["address"]}}),
            json!({"card": 1}),
            "`/` must have `address` because it has `card`",
        ),
        (json!({"dependentRequired": {"card": ["address"]}}), json!({}), ""),
        (
            json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
            json!({"a": 1, "c": 1}),
            "`/` must have `b` because it has `a`; `/` must have `d`",
        ),
        (
            json!({"dependentSchemas": {"a": {"properties": {"b": {"type": "number"}}}}}),
            json!({"a": 1, "b": "x"}),
            "`/b` must be number, not string",
        ),
        (
            json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}),
            json!({"a": 1}),
            "`/` must have `b`",
        ),
        (
            json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}),
            json!({}),
            "`/` must have `c`",
        ),
        (
            json!({
                "properties": {"a": {}},
                "anyOf": [{"properties": {"b": {"type": "number"}}}, {"properties": {"c": {}}, "required": ["c"]}],
                "unevaluatedProperties": false,
            }),
            json!({"a": 1, "b": 1, "c": 1, "d": 1}),
            "`/d` is an unknown field",
        ),
    ] {
        assert_eq!(problems(&schema, &value), problem, "{schema} {value}");
    }
}

/// U50: unsupported keywords are reported, annotations are not.
#[test]
fn keywords_that_nobody_checks_are_told() {
    for (field, told) in [
        (json!({"nullable": true}), "`nullable` in `/properties/x` is not checked"),
        (json!({"$dynamicRef": "#a"}), "`$dynamicRef` in `/properties/x` is not checked"),
        (
            json!({"minlength": 3}),
            "`minlength` in `/properties/x` is not a keyword and has no effect",
        ),
        (
            json!({"requierd": []}),
            "`requierd` in `/properties/x` is not a keyword and has no effect",
        ),
        (json!({"title": "X", "description": "d", "default": 1, "examples": [], "x-order": 1}), ""),
    ] {
        let schema = Schema::for_arguments(&json!({"properties": {"x": field}})).unwrap();
        let found: Vec<String> = schema.unchecked().iter().map(ToString::to_string).collect();
        assert_eq!(found.join("; "), told, "{field}");
    }
    let checked = super::checked_keywords().map(|(_, name)| name);
    let known = checked.chain(super::NOTES.split_ascii_whitespace());
    let mut fields = serde_json::Map::new();
    for name in known.filter(|name| !matches!(*name, "$ref" | "type")) {
        fields.insert(
            name.to_owned(),
            match name {
                "$defs" | "definitions" | "dependencies" | "dependentRequired"
                | "dependentSchemas" | "patternProperties" | "properties" => json!({}),
                "allOf" | "anyOf" | "oneOf" | "prefixItems" => json!([true]),
                "enum" | "required" => json!([]),
                "pattern" => json!(""),
                "uniqueItems" => json!(false),
                name if name.starts_with("min") || name.starts_with("max") => json!(1),
                "exclusiveMaximum" | "exclusiveMinimum" | "multipleOf" => json!(1),
                _ => json!(true),
            },
        );
    }
    assert!(Schema::for_arguments(&Value::Object(fields)).unwrap().unchecked().is_empty());
}

#[test]
fn wrong_values_of_the_rarer_keywords_are_errors() {
    for (schema, problem) in [
        (json!({"multipleOf": 0}), "`/multipleOf` is not a number above 0"),
        (json!({"minProperties": -1}), "`/minProperties` is not a whole number"),
        (json!({"prefixItems": {}}), "`/prefixItems` is not a list of schemas"),
        (
            json!({"dependentRequired": {"a": 1}}),
            "`/dependentRequired` is not an object of lists of names",
        ),
        (json!({"if": 1}), "`/if/` is neither an object nor `true` or `false`"),
    ] {
        assert_eq!(error(&schema), problem, "{schema}");
    }
}

#[test]
fn fields_are_required_known_or_of_a_kind() {
    let schema = json!({
        "properties": {"a": {"type": "string"}},
        "patternProperties": {"^n_": {"type": "number"}},
        "required": ["a", "b"],
        "additionalProperties": false,
    });
    assert_eq!(
        problems(&schema, &json!({"n_x": "1", "c": 1})),
        "`/` must have `a`; `/` must have `b`; `/n_x` must be number, not string; `/c` is an unknown field"
    );
    let schema = json!({"additionalProperties": {"type": "number"}});
    assert_eq!(problems(&schema, &json!({"c": "1"})), "`/c` must be number, not string");
    assert_eq!(problems(&schema, &json!([])), "");
    let schema = json!({"type": "object"});
    assert_eq!(problems(&schema, &json!([])), "`/` must be object, not array");
}

#[test]
fn references_stay_in_the_schema_and_end() {
    let tree = json!({
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "leaf": {"$ref": "#/$defs/leaf"}},
        "$defs": {"leaf": {"type": "string"}},
    });
    assert_eq!(problems(&tree, &json!({"next": {"next": {"leaf": "a"}}})), "");
    assert_eq!(
        problems(&tree, &json!({"next": {"leaf": 1}})),
        "`/next/leaf` must be string, not number"
    );
    let circle = json!({"$ref": "#"});
    assert_eq!(
        problems(&circle, &json!({})),
        "`/` cannot be checked: the schema is nested too deeply"
    );
    // Two branches at every level without an end: the step limit stops the check.
    let bush = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
    assert!(problems(&bush, &json!({})).contains("matches none"));
}

#[test]
fn an_invalid_schema_says_where() {
    for (schema, problem) in [
        (json!([]), "`/` is not an object"),
        (
            json!({"type": "string"}),
            "`/` must have the type `object`: arguments are always an object",
        ),
        (json!({"type": "objekt"}), "`/type` is not a known type"),
        (json!({"required": "a"}), "`/required` is not a list of names"),
        (json!({"properties": []}), "`/properties` is not an object of schemas"),
        (json!({"properties": {"a": {"minimum": "1"}}}), "`/properties/a/minimum` is not a number"),
        (
            json!({"properties": {"a": 1}}),
            "`/properties/a/` is neither an object nor `true` or `false`",
        ),
        (json!({"anyOf": []}), "`/anyOf` is not a list of schemas"),
        (json!({"$ref": "#/$defs/no"}), "`/$ref` does not point to anything in this schema"),
        (
            json!({"$ref": "https://example.com/a"}),
            "`/$ref` does not point to anything in this schema",
        ),
        (
            json!({"properties": {"a": {"pattern": "("}}}),
            "`/properties/a/pattern` is not a valid regular expression",
        ),
        (
            json!({"properties": {"a": {"maxLength": -1}}}),
            "`/properties/a/maxLength` is not a whole number",
        ),
    ] {
        assert_eq!(error(&schema), problem, "{schema}");
    }
}

#[test]
fn a_pattern_that_cannot_be_checked_is_told() {
    for pattern in ["(?=a)b", "(a)\\1", &"a".repeat(2_000)] {
        let schema = json!({"properties": {"a": {"pattern": pattern}}});
        let schema = Schema::for_arguments(&schema).unwrap();
        assert_eq!(schema.unchecked().len(), 1);
        assert_eq!(schema.check_value(&json!({"a": "anything"})), Vec::<String>::new());
    }
    let bomb = json!({"properties": {"a": {"pattern": "(a+)+$"}}});
    assert!(problems(&bomb, &json!({"a": format!("{}b", "a".repeat(50_000))})).contains("match"));
}
