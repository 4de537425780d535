//! What the validator says about values.

use serde_json::{Value, json};

use super::super::{CauseReason, CompiledSchema};
use super::{compiled, lines, object, object_with, record};

/// A situation, the object, and what the server prints about it.
type Case = (&'static str, Value, &'static [&'static str]);

fn check(cases: Vec<Case>) {
    let schema = record();
    for (situation, object, expected) in cases {
        assert_eq!(lines(&schema.validate(&object)), expected, "{situation}");
    }
}

#[test]
fn numbers_out_of_bounds_are_explained() {
    check(vec![
        ("sound", object(json!({"ttl": 300, "tags": ["a", "b"]})), &[]),
        (
            "below the minimum",
            object(json!({"ttl": 0})),
            &["spec.ttl: Invalid value: 0: spec.ttl in body should be greater than or equal to 1"],
        ),
        (
            "above the maximum",
            object(json!({"ttl": 86401})),
            &["spec.ttl: Invalid value: 86401: spec.ttl in body should be less than or equal to 86400"],
        ),
        (
            "at an exclusive bound",
            object(json!({"weight": 0.5})),
            &["spec.weight: Invalid value: 0.5: spec.weight in body should be greater than 0.5"],
        ),
        (
            "no multiple",
            object(json!({"weight": 0.6})),
            &["spec.weight: Invalid value: 0.6: spec.weight in body should be a multiple of 0.25"],
        ),
        (
            "beyond int32",
            object(json!({"ttl": 3_000_000_000_i64})),
            &[
                "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.ttl",
                "spec.ttl: Invalid value: 3000000000: spec.ttl in body should be less than or equal to 86400",
            ],
        ),
    ]);
}

#[test]
fn values_that_are_absent_or_of_another_type_are_explained() {
    check(vec![
        ("required and absent", object(json!({"name": null})), &["spec.name: Required value"]),
        ("required and absent at the root", json!({}), &["spec: Required value"]),
        (
            "a string for an integer",
            object(json!({"priority": "x"})),
            &[
                "spec.priority: Invalid value: \"string\": spec.priority in body must be of type integer: \"string\"",
            ],
        ),
        (
            "a fraction for an integer",
            object(json!({"priority": 1.5})),
            &[
                "spec.priority: Invalid value: \"number\": spec.priority in body must be of type integer: \"number\"",
                "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.priority",
            ],
        ),
        ("an integral float for an integer", object(json!({"priority": 2.0})), &[]),
        (
            "a boolean for an int32",
            object(json!({"ttl": true})),
            &["spec.ttl: Invalid value: \"\": spec.ttl in body must be of type int32: \"\""],
        ),
        (
            "a list for an object",
            object_with("labels", json!([])),
            &["spec.labels: Invalid value: \"array\": spec.labels in body must be of type object: \"array\""],
        ),
        (
            "null that nobody allowed",
            object_with("content", Value::Null),
            &["spec.content: Invalid value: \"null\": spec.content in body must be of type string: \"null\""],
        ),
        ("null that is allowed", object_with("alias", Value::Null), &[]),
        ("an integer for a number", object(json!({"weight": 2})), &[]),
        (
            "a float for int-or-string",
            object(json!({"port": 1.5})),
            &[
                "spec.port: Invalid value: \"number\": spec.port in body must be of type integer,string: \"number\"",
            ],
        ),
        ("either for int-or-string", object(json!({"port": "http"})), &[]),
    ]);
}

#[test]
fn texts_that_do_not_fit_are_explained() {
    check(vec![
        (
            "outside of an enumeration",
            object(json!({"type": "B"})),
            &["spec.type: Unsupported value: \"B\": supported values: \"A\", \"AAAA\", \"CNAME\", \"SRV\""],
        ),
        (
            "too short",
            object(json!({"name": ""})),
            &["spec.name: Invalid value: \"\": spec.name in body should be at least 1 chars long"],
        ),
        (
            "too long",
            object(json!({"comment": "sixsix"})),
            &["spec.comment: Too long: may not be more than 5 bytes"],
        ),
        ("five code points of two bytes each", object(json!({"comment": "äöüßé"})), &[]),
        (
            "no match",
            object(json!({"zone_id": "0x12"})),
            &["spec.zone_id: Invalid value: \"0x12\": spec.zone_id in body should match '^[0-9a-f]{4}$'"],
        ),
        (
            "not a time",
            object(json!({"expires": "tomorrow"})),
            &[
                "spec.expires: Invalid value: \"tomorrow\": spec.expires in body must be of type date-time: \"tomorrow\"",
            ],
        ),
        (
            "quotes and control characters",
            object(json!({"type": "a\"\n\u{1}"})),
            &[
                "spec.type: Unsupported value: \"a\\\"\\n\\x01\": supported values: \"A\", \"AAAA\", \"CNAME\", \"SRV\"",
            ],
        ),
    ]);
}

#[test]
fn lists_and_maps_that_do_not_fit_are_explained() {
    check(vec![
        (
            "too many items",
            object(json!({"tags": ["a", "b", "c", "d"]})),
            &["spec.tags: Too many: 4: must have at most 3 items"],
        ),
        (
            "too many entries",
            object(json!({"labels": {"a": "", "b": "", "c": ""}})),
            &["spec.labels: Too many: 3: must have at most 2 items"],
        ),
        (
            "a wrong entry of a map",
            object(json!({"labels": {"a": 1}})),
            &[
                "spec.labels.a: Invalid value: \"integer\": spec.labels.a in body must be of type string: \"integer\"",
            ],
        ),
        (
            "a wrong item",
            object(json!({"tags": ["a", 7]})),
            &[
                "spec.tags[1]: Invalid value: \"integer\": spec.tags[1] in body must be of type string: \"integer\"",
            ],
        ),
        (
            "a repeated item of a set",
            object(json!({"tags": ["a", "b", "a"]})),
            &["spec.tags[2]: Duplicate value: \"a\""],
        ),
        (
            "a repeated key",
            object(json!({"ports": [{"name": "a"}, {"name": "b"}, {"name": "a", "number": 1}]})),
            &["spec.ports[2]: Duplicate value: {\"name\":\"a\"}"],
        ),
    ]);
}

#[test]
fn every_reason_is_the_one_of_the_server() {
    let schema = record();
    let reason = |fields: Value| schema.validate(&object(fields)).first().map(|cause| cause.reason.as_str());
    assert_eq!(reason(json!({"ttl": 0})), Some("FieldValueInvalid"));
    assert_eq!(reason(json!({"ttl": "x"})), Some("FieldValueTypeInvalid"));
    assert_eq!(reason(json!({"type": "B"})), Some("FieldValueNotSupported"));
    assert_eq!(reason(json!({"name": null})), Some("FieldValueRequired"));
    assert_eq!(reason(json!({"comment": "sixsix"})), Some("FieldValueTooLong"));
    assert_eq!(reason(json!({"tags": ["a", "b", "c", "d"]})), Some("FieldValueTooMany"));
    assert_eq!(reason(json!({"tags": ["a", "a"]})), Some("FieldValueDuplicate"));
    assert_eq!(CauseReason::FieldValueForbidden.as_str(), "FieldValueForbidden");
}

fn junctors() -> CompiledSchema {
    compiled(&json!({
        "type": "object",
        "properties": {
            "one": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
            },
            "any": {"type": "integer", "anyOf": [{"maximum": 3}, {"minimum": 7}]},
            "all": {"type": "integer", "allOf": [{"maximum": 3}, {"minimum": 0}]},
            "no": {"type": "string", "not": {"enum": ["x"]}},
            "closed": {"type": "object", "additionalProperties": false},
        },
    }))
}

#[test]
fn junctors_complain_without_a_field() {
    let cases: Vec<(&str, Value, &[&str])> = vec![
        ("one of two", json!({"one": {"a": ""}}), &[]),
        (
            "both",
            json!({"one": {"a": "", "b": ""}}),
            &[
                "<nil>: Invalid value: \"\": \"one\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
            ],
        ),
        (
            "neither",
            json!({"one": {}}),
            &[
                "<nil>: Invalid value: \"\": \"one\" must validate one and only one schema (oneOf). Found none valid",
                "one.a: Required value",
            ],
        ),
        ("any", json!({"any": 9}), &[]),
        (
            "none of any",
            json!({"any": 5}),
            &[
                "<nil>: Invalid value: \"\": \"any\" must validate at least one schema (anyOf)",
                "any: Invalid value: 5: any in body should be less than or equal to 3",
            ],
        ),
        (
            "not all",
            json!({"all": 5}),
            &[
                "all: Invalid value: 5: all in body should be less than or equal to 3",
                "<nil>: Invalid value: \"\": \"all\" must validate all the schemas (allOf)",
            ],
        ),
        (
            "the forbidden one",
            json!({"no": "x"}),
            &["<nil>: Invalid value: \"\": \"no\" must not validate the schema (not)"],
        ),
        (
            "a field of a closed object",
            json!({"closed": {"a": 1}}),
            &["closed: Invalid value: \"a\": closed.a in body is a forbidden property"],
        ),
    ];
    let schema = junctors();
    for (situation, object, expected) in cases {
        assert_eq!(lines(&schema.validate(&object)), expected, "{situation}");
    }
}

/// One schema per format, with texts that have it and texts that have not.
#[test]
fn formats_are_checked_where_the_server_checks_them() {
    let cases: [(&str, &[&str], &[&str]); 17] = [
        (
            "date-time",
            &["2026-11-30T02:42:03Z", "2026-11-30t02:42:03.5+01:00"],
            &["2026-11-30", "2026-13-01T00:00:00Z"],
        ),
        ("date", &["2026-02-28"], &["2026-02-30", "26-2-2"]),
        ("duration", &["1h30m", "0", "22 ns", "1.5s"], &["1", "h", "5 parsecs"]),
        ("ipv4", &["192.0.2.1", "010.0.0.1"], &["192.0.2", "::1", "256.0.0.1", "1.2.3.4.5"]),
        ("ipv6", &["2001:db8::1", "::ffff:192.0.2.1"], &["192.0.2.1", ":::"]),
        ("cidr", &["10.0.0.0/8", "2001:db8::/32"], &["10.0.0.0", "10.0.0.0/33", "10.0.0.0/"]),
        (
            "hostname",
            &["example.com", "localhost", "a-b.example"],
            &["-a.com", "a..com", "under_score.com", ""],
        ),
        (
            "uri",
            &["https://example.com/a?b=c", "/path", "mailto:a@b"],
            &["example.com", "", "http://a b/", "/%zz"],
        ),
        ("email", &["a@example.com", "Ann <a@example.com>"], &["a", "a@", "@b", "a b@c"]),
        (
            "uuid",
            &["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"],
            &["123e4567", "x"],
        ),
        ("uuid4", &["123e4567-e89b-42d3-a456-426614174000"], &["123e4567-e89b-12d3-a456-426614174000"]),
        ("mac", &["00:00:5e:00:53:01", "0000.5e00.5301"], &["00:00:5e:00:53", "zz:00:5e:00:53:01"]),
        ("byte", &["aGk="], &["", "a", "a-_="]),
        ("password", &["", "anything"], &[]),
        ("k8s-short-name", &["abc-1"], &["Abc", "-a", ""]),
        ("k8s-long-name", &["abc.def-1"], &["a..b", "A.b"]),
        ("unheard-of", &["", "anything"], &[]),
    ];
    for (format, sound, faulty) in cases {
        let schema = compiled(&json!({
            "type": "object", "properties": {"x": {"type": "string", "format": format}},
        }));
        for text in sound {
            assert_eq!(
                lines(&schema.validate(&json!({"x": text}))),
                Vec::<String>::new(),
                "{format} {text:?}"
            );
        }
        for text in faulty {
            assert_eq!(schema.validate(&json!({"x": text})).len(), 1, "{format} {text:?}");
        }
    }
}

/// RE2 takes these as listed; the `regex` crate by itself does not.
#[test]
fn patterns_mean_what_they_mean_to_go() {
    let cases: [(&str, &[&str], &[&str]); 8] = [
        ("b", &["abc"], &["ac"]),
        (r"^\d+$", &["12"], &["١٢"]),
        (r"^[\w-]+$", &["a-b_1"], &["é"]),
        (r"^\S+$", &["\u{a0}"], &["a b"]),
        (r"^[[]a&&b]$", &[], &["a"]),
        (r"^[a&&b~~]+$", &["a&b~"], &["c"]),
        (r"^[]a]+$", &["]a"], &["b"]),
        (r"^\Qa.b\E+$", &["a.bb"], &["axb"]),
    ];
    for (pattern, matching, other) in cases {
        let schema = compiled(&json!({
            "type": "object", "properties": {"x": {"type": "string", "pattern": pattern}},
        }));
        for text in matching {
            assert_eq!(schema.validate(&json!({"x": text})).len(), 0, "{pattern} {text:?}");
        }
        for text in other {
            assert_eq!(schema.validate(&json!({"x": text})).len(), 1, "{pattern} {text:?}");
        }
    }
}

#[test]
fn what_was_wrong_before_and_did_not_change_passes() {
    let schema = record();
    let old = object(json!({"ttl": 0, "tags": ["a", "a"], "comment": "sixsix"}));
    let mut new = old.clone();
    new["spec"]["content"] = json!("192.0.2.2");
    assert_eq!(lines(&schema.validate_update(&new, &old)), Vec::<String>::new());
    new["spec"]["ttl"] = json!(-1);
    assert_eq!(
        lines(&schema.validate_update(&new, &old)),
        ["spec.ttl: Invalid value: -1: spec.ttl in body should be greater than or equal to 1"]
    );
}
