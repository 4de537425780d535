//! Unknown fields, nulls and defaults.

use serde_json::{Value, json};

use super::{compiled, object, object_with, record};

#[test]
fn unknown_fields_are_named_by_their_path_and_pruned() {
    let schema = record();
    let mut object = object(json!({
        "foo": 1, "ports": [{"name": "a", "bar": 2}], "labels": {"any": "x"}, "data": {"free": {"form": 1}},
    }));
    object["extra"] = json!({});
    object["metadata"]["strange"] = json!(1);
    assert_eq!(schema.unknown_fields(&object), ["extra", "spec.foo", "spec.ports[0].bar"]);
    schema.prune(&mut object);
    assert_eq!(schema.unknown_fields(&object), Vec::<String>::new());
    assert_eq!(
        object["spec"],
        json!({
            "name": "www", "type": "A", "content": "192.0.2.1", "ports": [{"name": "a"}],
            "labels": {"any": "x"}, "data": {"free": {"form": 1}},
        })
    );
    assert_eq!(object["metadata"], json!({"name": "www", "strange": 1}));
}

#[test]
fn an_embedded_resource_keeps_its_metadata() {
    let schema = compiled(&json!({
        "type": "object",
        "properties": {
            "template": {
                "type": "object", "x-kubernetes-embedded-resource": true,
                "properties": {"spec": {"type": "object"}},
            },
        },
    }));
    let mut object = json!({
        "template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"x": 1}, "y": 2},
    });
    assert_eq!(schema.unknown_fields(&object), ["template.spec.x", "template.y"]);
    schema.prune(&mut object);
    assert_eq!(
        object,
        json!({"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}}})
    );
    let lacking = schema.validate(&json!({"template": {"apiVersion": ""}}));
    let lines: Vec<String> = lacking.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        ["template.apiVersion: Invalid value: \"\": must not be empty", "template.kind: Required value"]
    );
}

#[test]
fn defaults_are_filled_in_and_forbidden_nulls_go_first() {
    let schema = record();
    let mut object = object_with("content", Value::Null);
    object["spec"]["proxied"] = Value::Null;
    object["spec"]["alias"] = Value::Null;
    schema.default(&mut object);
    assert_eq!(object["spec"], json!({"name": "www", "type": "A", "proxied": false, "alias": null}));
    assert_eq!(object["status"], json!({"observedGeneration": -1}));
}

#[test]
fn a_default_inside_a_default_is_filled_in_too() {
    let schema = compiled(&json!({
        "type": "object",
        "properties": {
            "a": {
                "type": "object", "default": {},
                "properties": {"b": {"type": "integer", "default": 3}},
            },
            "list": {"type": "array", "items": {"type": "object", "properties": {"c": {"type": "string", "default": "x"}}}},
        },
    }));
    let mut object = json!({"list": [{}, {"c": "y"}]});
    schema.default(&mut object);
    assert_eq!(object, json!({"a": {"b": 3}, "list": [{"c": "x"}, {"c": "y"}]}));
}
