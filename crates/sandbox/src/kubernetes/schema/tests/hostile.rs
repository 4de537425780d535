//! Input nobody would write: nothing here may panic or exhaust the stack.

use serde_json::{Value, json};

use super::super::{CompiledSchema, MAX_DEPTH, columns};
use super::{object, record, record_schema};

/// Deep, but not so deep that dropping or comparing the value itself exhausts the stack of a test thread.
const HOSTILE_DEPTH: usize = 1_000;

fn nested(depth: usize, wrap: impl Fn(Value) -> Value) -> Value {
    (0..depth).fold(json!(1), |inner, _| wrap(inner))
}

fn hostile_values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1e308),
        json!(-0.0),
        json!(""),
        json!([]),
        json!({}),
        json!("\u{0}\u{202e}\u{10ffff}"),
        json!("x".repeat(1 << 20)),
        json!(vec![0; 1_000]),
        json!({"": {"\u{0}": null}, "a.b": 1, "__proto__": {}}),
        nested(HOSTILE_DEPTH, |inner| json!([inner])),
        nested(HOSTILE_DEPTH, |inner| json!({"spec": inner})),
    ]
}

fn run_all(schema: &CompiledSchema, mut object: Value, old: &Value) {
    schema.unknown_fields(&object);
    schema.validate(&object);
    schema.admit(&object, None);
    schema.admit(&object, Some(old));
    schema.validate_cel(&object, Some(old));
    schema.validate_cel(old, Some(&object));
    schema.prune(&mut object);
    schema.default(&mut object);
    schema.admit(&object, Some(old));
}

#[test]
fn values_of_every_shape_in_every_place_are_survived() {
    let schema = record();
    let sound = object(json!({}));
    let fields: Vec<String> = match &record_schema()["properties"]["spec"]["properties"] {
        Value::Object(fields) => fields.keys().cloned().collect(),
        _ => Vec::new(),
    };
    for value in hostile_values() {
        run_all(&schema, value.clone(), &sound);
        for place in ["apiVersion", "kind", "metadata", "spec", "status", "other"] {
            let mut object = sound.clone();
            object[place] = value.clone();
            run_all(&schema, object, &sound);
        }
        for field in &fields {
            for value in [value.clone(), json!([value]), json!({"name": value})] {
                let mut object = sound.clone();
                object["spec"][field] = value;
                run_all(&schema, object, &sound);
            }
        }
    }
}

#[test]
fn schemas_of_every_shape_are_survived() {
    for value in hostile_values() {
        assert!(CompiledSchema::compile(&value).is_err());
        for keyword in [
            "type",
            "properties",
            "items",
            "additionalProperties",
            "required",
            "enum",
            "default",
            "pattern",
            "minimum",
            "maxLength",
            "allOf",
            "not",
            "format",
            "nullable",
            "x-kubernetes-validations",
            "x-kubernetes-list-type",
            "x-kubernetes-list-map-keys",
            "x-kubernetes-int-or-string",
            "x-kubernetes-embedded-resource",
        ] {
            let mut schema = record_schema();
            schema["properties"]["spec"]["properties"]["ttl"][keyword] = value.clone();
            if let Ok(schema) = CompiledSchema::compile(&schema) {
                run_all(&schema, object(json!({"ttl": value})), &object(json!({})));
            }
        }
    }
}

#[test]
fn a_schema_deeper_than_any_text_is_refused() {
    let deep = nested(MAX_DEPTH, |inner| json!({"type": "object", "properties": {"a": inner}}));
    let causes = CompiledSchema::compile(&deep).err().unwrap_or_default();
    let lines: Vec<String> = causes.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["openAPIV3Schema: Forbidden: must not be nested deeper than 128 levels"]);
}

#[test]
fn rules_of_every_shape_are_survived() {
    for rule in [
        "",
        "(",
        "self",
        "self.",
        "self[",
        "'",
        "\u{0}",
        "has()",
        "has(self)",
        "self.all()",
        "self.spec.all(1, 2)",
        "[1, 2",
        "{1:",
        "{}",
        "self == oldSelf == true",
        "optional.of(1).value()",
        "size()",
        "size(1)",
        "self.spec.size()",
        "'a'.matches('(')",
        "'a'.charAt(9)",
        "1 + 'a'",
        "-9223372036854775808 - 1 < 0",
        "9223372036854775807 + 1 > 0",
        "1u - 2u > 0u",
        "1 % 0 == 0",
        "[][0] == 1",
        "{}['a'] == 1",
        "timestamp('x') == timestamp('y')",
        "duration('1000000000000h') > duration('0s')",
        "bytes('a') == b'a'",
        "A{}",
        "a.b.c()",
        "?",
        "self.?spec",
        "['a'].join(1) == ''",
        "'%z'.format([1]) == ''",
        "quantity('x').isInteger()",
        "'abc'.substring(5, 1) == ''",
        "'a'.replace('', '') == ''",
        "[1].slice(5, 2) == []",
        "math.bitShiftLeft(1, -1) == 0",
        "lists.range(-1) == []",
        "ip('x').family() == 4",
        "semver('x').major() == 1",
    ] {
        let mut schema = record_schema();
        schema["x-kubernetes-validations"] = json!([{"rule": rule, "messageExpression": rule}]);
        if let Ok(schema) = CompiledSchema::compile(&schema) {
            run_all(&schema, object(json!({})), &object(json!({})));
        }
    }
    let nested_rule = format!("{}true{}", "(".repeat(2_000), ")".repeat(2_000));
    let mut schema = record_schema();
    schema["x-kubernetes-validations"] = json!([{"rule": nested_rule}]);
    assert!(CompiledSchema::compile(&schema).is_err());
}

#[test]
fn paths_of_every_shape_are_survived() {
    for value in hostile_values() {
        for path in [
            "",
            ".",
            "..",
            ".a[",
            ".a[?(",
            "[?(@)]",
            ".spec[*]",
            ".spec[-1]",
            "['a",
            ".a[?(@.b==)]",
            "{.a}",
            ".\u{0}",
            "[99999999999999999999]",
        ] {
            columns::cell(path, &value);
        }
    }
}
