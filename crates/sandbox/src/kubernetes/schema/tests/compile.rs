//! Schemas the server refuses, with what it says.

use serde_json::{Value, json};

use super::super::CompiledSchema;
use super::{lines, record_schema};

/// An object schema whose only field `x` has the given schema.
fn field(schema: Value) -> Value {
    json!({"type": "object", "properties": {"x": schema}})
}

fn refusal(schema: &Value) -> Vec<String> {
    match CompiledSchema::compile(schema) {
        Ok(_) => Vec::new(),
        Err(causes) => lines(&causes),
    }
}

#[test]
fn the_sample_schema_is_sound() {
    assert_eq!(refusal(&record_schema()), Vec::<String>::new());
}

#[test]
fn schemas_that_are_not_structural_are_refused() {
    let x = "openAPIV3Schema.properties[x]";
    let cases = vec![
        ("no type", field(json!({})), vec![format!("{x}.type: Required value: must not be empty for specified object fields")]),
        ("no type of items", field(json!({"type": "array", "items": {}})),
            vec![format!("{x}.items.type: Required value: must not be empty for specified array items")]),
        ("no items", field(json!({"type": "array"})), vec![format!("{x}.items: Required value: must be specified")]),
        ("no type at the root", json!({}),
            vec!["openAPIV3Schema.type: Required value: must not be empty at the root".to_owned()]),
        ("another type at the root", json!({"type": "string"}),
            vec!["openAPIV3Schema.type: Invalid value: \"string\": must be object at the root".to_owned()]),
        ("preserved", field(json!({"x-kubernetes-preserve-unknown-fields": true})), vec![]),
        ("a type in a junctor", field(json!({"type": "string", "anyOf": [{"type": "string"}]})),
            vec![format!("{x}.anyOf[0].type: Forbidden: must be empty to be structural")]),
        ("the old spelling of int-or-string",
            field(json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]})), vec![]),
        ("a field only a junctor has", json!({"type": "object", "oneOf": [{"properties": {"a": {"minimum": 1}}}]}),
            vec!["openAPIV3Schema.properties[a]: Required value: because it is defined in openAPIV3Schema.oneOf[0].properties[a]".to_owned()]),
        ("a bad pattern", field(json!({"type": "string", "pattern": "("})),
            vec![format!("{x}.pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: ")]),
        ("a reference", field(json!({"type": "string", "$ref": "#/x"})), vec![format!("{x}.$ref: Forbidden: $ref is not supported")]),
        ("unique items", field(json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true})),
            vec![format!("{x}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic")]),
        ("fields and a map", field(json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}})),
            vec![format!("{x}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive")]),
        ("an unknown type", field(json!({"type": "text"})),
            vec![format!("{x}.type: Unsupported value: \"text\": supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"")]),
        ("metadata beyond the name", json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}}),
            vec!["openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified".to_owned()]),
    ];
    for (situation, schema, expected) in cases {
        let refused = refusal(&schema);
        assert_eq!(refused.len(), expected.len(), "{situation}: {refused:?}");
        for (refused, expected) in refused.iter().zip(&expected) {
            assert!(refused.starts_with(expected.as_str()), "{situation}: {refused}");
        }
    }
}

#[test]
fn list_types_need_what_they_rest_on() {
    let x = "openAPIV3Schema.properties[x]";
    let item = |fields: Value| {
        let mut item = json!({"type": "object", "properties": {"k": {"type": "string"}}});
        json_patch::merge(&mut item, &fields);
        item
    };
    let keyed = |keys: Value, item: Value| {
        field(
            json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": item}),
        )
    };
    let cases = vec![
        ("keyed", keyed(json!(["k"]), item(json!({"required": ["k"]}))), vec![]),
        (
            "keyed with a default",
            keyed(json!(["k"]), item(json!({"properties": {"k": {"default": ""}}}))),
            vec![],
        ),
        (
            "an optional key",
            keyed(json!(["k"]), item(json!({}))),
            vec![format!(
                "{x}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
            )],
        ),
        (
            "no keys",
            keyed(json!([]), item(json!({}))),
            vec![format!(
                "{x}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map"
            )],
        ),
        (
            "an unknown key",
            keyed(json!(["z"]), item(json!({}))),
            vec![format!(
                "{x}.x-kubernetes-list-map-keys: Invalid value: [\"z\"]: entries must all be names of item properties"
            )],
        ),
        (
            "a set of objects",
            field(json!({"type": "array", "x-kubernetes-list-type": "set", "items": item(json!({}))})),
            vec![format!(
                "{x}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set"
            )],
        ),
        (
            "a list type of an object",
            field(json!({"type": "object", "x-kubernetes-list-type": "set"})),
            vec![format!(
                "{x}.type: Invalid value: \"object\": must be array if x-kubernetes-list-type is specified"
            )],
        ),
    ];
    for (situation, schema, expected) in cases {
        assert_eq!(refusal(&schema), expected, "{situation}");
    }
}

#[test]
fn defaults_have_to_be_valid() {
    let x = "openAPIV3Schema.properties[x].default";
    let cases = vec![
        ("sound", field(json!({"type": "integer", "minimum": 1, "default": 1})), vec![]),
        (
            "out of bounds",
            field(json!({"type": "integer", "minimum": 1, "default": 0})),
            vec![format!("{x}: Invalid value: 0:  in body should be greater than or equal to 1")],
        ),
        (
            "of another type",
            field(json!({"type": "object", "default": {"a": 1}, "properties": {"a": {"type": "string"}}})),
            vec![format!("{x}.a: Invalid value: \"integer\": a in body must be of type string: \"integer\"")],
        ),
        (
            "with unknown fields",
            field(json!({"type": "object", "default": {"a": 1}})),
            vec![format!("{x}: Invalid value: {{\"a\":1}}: must not have unknown fields")],
        ),
        (
            "against a rule",
            field(
                json!({"type": "integer", "default": 0, "x-kubernetes-validations": [{"rule": "self > 0"}]}),
            ),
            vec![format!("{x}: Invalid value: 0: failed rule: self > 0")],
        ),
        (
            "in top-level metadata",
            json!({"type": "object", "properties": {"kind": {"type": "string", "default": "A"}}}),
            vec![
                "openAPIV3Schema.properties[kind].default: Forbidden: must not be set in top-level kind"
                    .to_owned(),
            ],
        ),
    ];
    for (situation, schema, expected) in cases {
        assert_eq!(refusal(&schema), expected, "{situation}");
    }
}

/// A schema with a rule at a field `x` with the fields a (string), n (integer) and l (list).
fn ruled(rule: Value) -> Value {
    field(json!({
        "type": "object",
        "properties": {
            "a": {"type": "string"}, "n": {"type": "integer"}, "l": {"type": "array", "items": {"type": "string"}},
        },
        "x-kubernetes-validations": [rule],
    }))
}

/// Checks that a rule is refused with the expected words, or not at all.
fn check_rules(cases: &[(&str, Value, &str)]) {
    for (situation, rule, expected) in cases {
        let refused = refusal(&ruled(rule.clone()));
        match *expected {
            "" => assert_eq!(refused, Vec::<String>::new(), "{situation}"),
            expected => {
                assert_eq!(refused.len(), 1, "{situation}: {refused:?}");
                assert!(refused[0].contains(expected), "{situation}: {}", refused[0]);
            }
        }
    }
}

#[test]
fn expressions_that_cannot_work_are_refused() {
    check_rules(&[
        ("sound", json!({"rule": "self.a == 'x' && self.l.all(e, e.size() > self.n)"}), ""),
        (
            "not CEL",
            json!({"rule": "self.a =="}),
            "rule: Invalid value: {\"Rule\":\"self.a ==\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation failed: ",
        ),
        (
            "an unknown field",
            json!({"rule": "has(self.b)"}),
            "compilation failed: ERROR: <input>: undefined field 'b'",
        ),
        (
            "an unknown field in a macro",
            json!({"rule": "self.l.all(e, e.b)"}),
            "type 'string' does not support field selection",
        ),
        (
            "an unknown name",
            json!({"rule": "this.a == ''"}),
            "undeclared reference to 'this' (in container '')",
        ),
        (
            "an unknown function",
            json!({"rule": "self.a.shout() == ''"}),
            "undeclared reference to 'shout' (in container '')",
        ),
        ("not a condition", json!({"rule": "self.n"}), "cel expression must evaluate to a bool"),
        (
            "a number against a text",
            json!({"rule": "self.n == 'x'"}),
            "found no matching overload for '_==_' applied to '(int, string)'",
        ),
        (
            "a negated text",
            json!({"rule": "!self.a"}),
            "found no matching overload for '!_' applied to '(string)'",
        ),
        ("a message literal", json!({"rule": "A{b: 1} == A{b: 1}"}), "message literals are not supported"),
    ]);
}

#[test]
fn rules_with_faulty_keywords_are_refused() {
    check_rules(&[
        ("empty", json!({"rule": ""}), "rule: Required value: rule is not specified"),
        (
            "a message that is no text",
            json!({"rule": "true", "messageExpression": "self.n"}),
            "messageExpression must evaluate to a string",
        ),
        (
            "an unknown reason",
            json!({"rule": "true", "reason": "Because"}),
            "reason: Unsupported value: \"Because\": supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", \"FieldValueInvalid\", \"FieldValueRequired\"",
        ),
        (
            "a path to nowhere",
            json!({"rule": "true", "fieldPath": ".b"}),
            "fieldPath: Invalid value: \".b\": must be a valid path",
        ),
        (
            "an optional nobody reads",
            json!({"rule": "true", "optionalOldSelf": true}),
            "optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule",
        ),
        (
            "a message of two lines",
            json!({"rule": "true", "message": "a\nb"}),
            "message: Invalid value: \"a\\nb\": must not contain line breaks",
        ),
    ]);
}

#[test]
fn items_without_a_counterpart_cannot_be_compared() {
    let rule = json!([{"rule": "self == oldSelf"}]);
    let schema =
        field(json!({"type": "array", "items": {"type": "string", "x-kubernetes-validations": rule}}));
    assert_eq!(
        refusal(&schema),
        [
            "openAPIV3Schema.properties[x].items.x-kubernetes-validations[0].rule: Invalid value: \"self == oldSelf\": \
          oldSelf cannot be used on the uncorrelatable portion of the schema within openAPIV3Schema.properties[x]"
        ]
    );
}
