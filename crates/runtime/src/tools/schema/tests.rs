//! What fits a schema, and what is none.

use serde_json::{Value, json};

use super::Schema;

fn problems(schema: &Value, value: &Value) -> String {
    Schema::for_arguments(schema).unwrap().check(value).join("; ")
}

fn error(schema: &Value) -> String {
    Schema::for_arguments(schema).unwrap_err().to_string()
}

/// Y31: a field of every kind, and what is said about it.
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
        (json!({"minItems": 1}), json!([]), "`/x` must have at least 1 items"),
        (json!({"maxItems": 1}), json!([1, 2]), "`/x` must have at most 1 items"),
        (json!({"uniqueItems": true}), json!([1, 2, 1]), "`/x` must not have an item twice"),
        (
            json!({"items": {"type": "string"}}),
            json!(["a", 1]),
            "`/x/1` must be string, not number",
        ),
        (json!({"pattern": "^\\d+$"}), json!("12"), ""),
        (json!({"pattern": "^\\d+$"}), json!("1٣"), "`/x` must match `^\\d+$`"),
        (json!({"pattern": "[\\w.[]@\\w"}), json!("a@b"), ""),
        (json!({"not": {"type": "null"}}), json!(null), "`/x` has a form that it must not have"),
        (json!(false), json!(1), "`/x` must not be there"),
        (json!(true), json!(1), ""),
        (json!({"anyOf": [{"type": "null"}, {"minimum": 1}]}), json!(2), ""),
        (
            json!({"anyOf": [{"type": "null"}, {"type": "string"}]}),
            json!(2),
            "`/x` fits none of the forms that it may have",
        ),
        (
            json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}),
            json!(3),
            "`/x` fits more than one of the forms that it may have",
        ),
        (json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}), json!(3), "`/x` must be at most 2"),
        (json!({"format": "date", "x-mine": 1}), json!("no date"), ""),
    ] {
        let schema = json!({"type": "object", "properties": {"x": field}});
        assert_eq!(problems(&schema, &json!({"x": value})), problem, "{schema} {value}");
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
        "`/` must have `a`; `/` must have `b`; `/c` is not known; `/n_x` must be number, not string"
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
    assert_eq!(problems(&circle, &json!({})), "`/` cannot be checked: the schema goes too deep");
    // Two ways at every level, and no end: the steps are counted.
    let bush = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
    assert!(problems(&bush, &json!({})).contains("fits none"));
}

#[test]
fn an_invalid_schema_says_where() {
    for (schema, problem) in [
        (json!([]), "`/` is not an object"),
        (
            json!({"type": "string"}),
            "`/` must have the type `object`: arguments are always an object",
        ),
        (json!({"type": "objekt"}), "`/type` is not a type that exists"),
        (json!({"required": "a"}), "`/required` is not a list of names"),
        (json!({"properties": []}), "`/properties` is not an object of schemas"),
        (json!({"properties": {"a": {"minimum": "1"}}}), "`/properties/a/minimum` is not a number"),
        (
            json!({"properties": {"a": 1}}),
            "`/properties/a/` is neither an object nor `true` or `false`",
        ),
        (json!({"anyOf": []}), "`/anyOf` is not a list of schemas"),
        (json!({"$ref": "#/$defs/no"}), "`/$ref` does not lead anywhere in this schema"),
        (json!({"$ref": "https://example.com/a"}), "`/$ref` does not lead anywhere in this schema"),
        (
            json!({"properties": {"a": {"pattern": "("}}}),
            "`/properties/a/pattern` is no regular expression",
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
        assert_eq!(schema.check(&json!({"a": "anything"})), Vec::<String>::new());
    }
    let bomb = json!({"properties": {"a": {"pattern": "(a+)+$"}}});
    assert!(problems(&bomb, &json!({"a": format!("{}b", "a".repeat(50_000))})).contains("match"));
}
