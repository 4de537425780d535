//! What the rules say about objects.

use serde_json::{Value, json};

use super::super::CompiledSchema;
use super::{compiled, lines, object, object_with, record};

#[test]
fn broken_rules_are_reported_in_the_words_of_the_server() {
    let schema = record();
    let cases: Vec<(&str, Value, &[&str])> = vec![
        ("sound", object(json!({"ttl": 1})), &[]),
        (
            "a scalar",
            object(json!({"ttl": 29})),
            &["spec.ttl: Invalid value: 29: must be 1 (automatic) or at least 30"],
        ),
        (
            "an object",
            object(json!({"data": {"a": 1}})),
            &["spec: Invalid value: data and content exclude each other"],
        ),
        (
            "a reason and a path",
            object(json!({"type": "SRV"})),
            &["spec.data: Required value: SRV needs data"],
        ),
        ("a made message", object(json!({"zone_id": "dead"})), &["spec: Invalid value: zone dead is gone"]),
        ("null counts as absent", object_with("data", Value::Null), &[]),
    ];
    for (situation, object, expected) in cases {
        assert_eq!(lines(&schema.validate_cel(&object, None)), expected, "{situation}");
    }
}

#[test]
fn transitions_are_checked_between_values_that_belong_together() {
    let schema = record();
    let with_ports = |ports: Value| object(json!({"ports": ports}));
    let old = with_ports(json!([{"name": "a", "number": 5}, {"name": "b", "number": 7}]));
    let cases: Vec<(&str, Value, &[&str])> = vec![
        ("unchanged", old.clone(), &[]),
        (
            "an immutable field",
            object(json!({"name": "other"})),
            &["spec.name: Invalid value: \"other\": name is immutable"],
        ),
        (
            "keyed items in another order",
            with_ports(json!([{"name": "b", "number": 7}, {"name": "a", "number": 6}])),
            &[],
        ),
        (
            "a keyed item",
            with_ports(json!([{"name": "b", "number": 6}])),
            &["spec.ports[0].number: Invalid value: 6: failed rule: self >= oldSelf"],
        ),
        ("a new item", with_ports(json!([{"name": "c", "number": 1}])), &[]),
    ];
    for (situation, new, expected) in cases {
        assert_eq!(lines(&schema.validate_cel(&new, Some(&old))), expected, "{situation}");
    }
    assert_eq!(lines(&schema.validate_cel(&old, None)), Vec::<String>::new(), "on create");
}

#[test]
fn a_broken_rule_passes_while_what_it_is_about_stays_the_same() {
    let schema = record();
    let old = object(json!({"ttl": 29, "data": {}}));
    let mut new = old.clone();
    new["status"] = json!({"observedGeneration": 4});
    assert_eq!(lines(&schema.validate_cel(&new, Some(&old))), Vec::<String>::new());
    new["spec"]["comment"] = json!("x");
    assert_eq!(
        lines(&schema.validate_cel(&new, Some(&old))),
        ["spec: Invalid value: data and content exclude each other"]
    );
}

#[test]
fn rules_are_left_out_while_the_object_is_malformed() {
    let schema = record();
    assert_eq!(
        lines(&schema.admit(&object(json!({"ttl": "x", "data": {}})), None)),
        [
            "spec.ttl: Invalid value: \"string\": spec.ttl in body must be of type integer: \"string\"",
            "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; \
             correct the existing errors to complete validation",
        ]
    );
    assert_eq!(
        lines(&schema.admit(&object(json!({"ttl": 0})), None)),
        [
            "spec.ttl: Invalid value: 0: spec.ttl in body should be greater than or equal to 1",
            "spec.ttl: Invalid value: 0: must be 1 (automatic) or at least 30",
        ]
    );
}

/// A schema with rules at its root, over fields of many kinds.
fn ruled(rules: &[&str]) -> CompiledSchema {
    let rules: Vec<Value> = rules.iter().map(|rule| json!({"rule": rule})).collect();
    compiled(&json!({
        "type": "object",
        "properties": {
            "my_field": {"type": "string"},
            "my__field": {"type": "string"},
            "my-field": {"type": "string"},
            "namespace": {"type": "string"},
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "since": {"type": "string", "format": "date-time"},
            "wait": {"type": "string", "format": "duration"},
            "raw": {"type": "string", "format": "byte"},
            "either": {"x-kubernetes-int-or-string": true},
            "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "list": {"type": "array", "items": {"type": "integer", "nullable": true}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "deep": {"type": "object", "properties": {"er": {"type": "object", "properties": {"est": {"type": "string"}}}}},
        },
        "x-kubernetes-validations": rules,
    }))
}

fn full_object() -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "thing", "labels": {"a": "b"}},
        "my_field": "single", "my__field": "double", "my-field": "dash", "namespace": "reserved",
        "text": "äöü", "count": 3, "ratio": 2, "since": "2026-01-02T03:04:05Z", "wait": "1h30m", "raw": "aGk=",
        "either": "x", "set": ["a", "b"], "list": [1, null], "map": {"a.b/c": "v"},
        "free": {"x": {"y": 1}}, "deep": {"er": {}},
    })
}

#[test]
fn expressions_mean_what_they_mean_to_the_server() {
    let rules = [
        "self.my_field == 'single'",
        "self.my__underscores__field == 'double'",
        "self.my__dash__field == 'dash'",
        "self.__namespace__ == 'reserved'",
        "self.metadata.name == 'thing' && self.kind == 'Thing' && !has(self.metadata.generateName)",
        "size(self.text) == 3 && self.text.size() == 3",
        "self.ratio == 2.0 && self.ratio / 4.0 == 0.5",
        "self.since < timestamp('2027-01-01T00:00:00Z') && self.since.getFullYear() == 2026",
        "self.wait > duration('1h') && self.wait == duration('90m')",
        "size(self.raw) == 2",
        "self.either == 'x' && string(self.count) == '3' && int('7') == 7",
        "self.set.all(e, e.matches('^[a-z]$')) && self.set.exists(e, e == 'b') && 'a' in self.set",
        "self.list[1] == null && size(self.list) == 2",
        "'a.b/c' in self.map && self.map['a.b/c'] == 'v' && self.map.all(k, self.map[k] == 'v')",
        "has(self.free) && size(self.free) == 1",
        "self.?deep.?er.?est.orValue('none') == 'none'",
        "!self.?deep.?er.?est.hasValue() && self.?text.hasValue()",
        "self.?deep.er.est.orValue('none') == 'none'",
        "!has(self.deep.er.est)",
        "self.set.map(e, e + '!').exists_one(e, e == 'a!') && self.set.filter(e, e == 'a').size() == 1",
        "self.text.lowerAscii() == 'äöü' && ['b', 'a'].isSorted() == false && [1, 2].sum() == 3",
        "isURL('https://example.com/x') && url('https://example.com/x').getHost() == 'example.com'",
        "ip('192.0.2.1').family() == 4 && cidr('192.0.2.0/24').containsIP('192.0.2.9') && isIP('::1')",
        "quantity('1Ki').isGreaterThan(quantity('1k')) && sets.contains([1, 2], [2])",
        "'%s-%d'.format(['a', 1]) == 'a-1' && 'a,b'.split(',') == ['a', 'b']",
        "!format.dns1123Label().validate('UPPER').value().exists(e, e == '') && dyn(1) == 1",
        "'x'.find('[a-z]') == 'x' && math.greatest(1, 2) == 2 && ['a', 'b'].join('-') == 'a-b'",
        "(false || self.count > 2) && (self.count > 5 ? false : true)",
    ];
    for rule in rules {
        let schema = ruled(&[rule]);
        assert_eq!(lines(&schema.validate_cel(&full_object(), None)), Vec::<String>::new(), "{rule}");
    }
}

#[test]
fn failures_of_rules_are_explained() {
    let cases = [
        ("self.deep.er.est == 'x'", "no such key: est evaluating rule: self.deep.er.est == 'x'"),
        ("self.list[7] == 1", "index out of bounds: 7 evaluating rule: self.list[7] == 1"),
        ("1 / (self.count - 3) == 1", "division by zero evaluating rule: 1 / (self.count - 3) == 1"),
        (
            "self.either > 3",
            "'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.either > 3",
        ),
    ];
    for (rule, expected) in cases {
        let schema = ruled(&[rule]);
        let expected = format!("<nil>: Invalid value: \"object\": {expected}");
        assert_eq!(lines(&schema.validate_cel(&full_object(), None)), [expected], "{rule}");
    }
}

#[test]
fn comparisons_with_the_old_object_go_by_the_schema() {
    let schema = ruled(&["self.set == oldSelf.set && self.free == oldSelf.free"]);
    let old = full_object();
    let mut new = old.clone();
    new["set"] = json!(["b", "a"]);
    assert_eq!(lines(&schema.validate_cel(&new, Some(&old))), Vec::<String>::new(), "a set in another order");
    new["free"]["x"]["y"] = json!(2);
    assert_eq!(schema.validate_cel(&new, Some(&old)).len(), 1, "inside of what the schema does not know");
    new = old.clone();
    new["set"] = json!(["a", "c"]);
    assert_eq!(schema.validate_cel(&new, Some(&old)).len(), 1, "another set");
}

#[test]
fn an_optional_old_value_is_there_on_create_too() {
    let schema = compiled(&json!({
        "type": "object",
        "properties": {
            "n": {
                "type": "integer",
                "x-kubernetes-validations": [
                    {"rule": "!oldSelf.hasValue() || self >= oldSelf.value()", "optionalOldSelf": true, "message": "shrinks"},
                    {"rule": "oldSelf.hasValue() || self > 0", "optionalOldSelf": true, "message": "starts at one"},
                ],
            },
        },
    }));
    assert_eq!(lines(&schema.validate_cel(&json!({"n": 0}), None)), ["n: Invalid value: 0: starts at one"]);
    assert_eq!(
        lines(&schema.validate_cel(&json!({"n": 0}), Some(&json!({})))),
        ["n: Invalid value: 0: starts at one"]
    );
    assert_eq!(
        lines(&schema.validate_cel(&json!({"n": 1}), Some(&json!({"n": 2})))),
        ["n: Invalid value: 1: shrinks"]
    );
    assert_eq!(lines(&schema.validate_cel(&json!({"n": 3}), Some(&json!({"n": 2})))), Vec::<String>::new());
}

#[test]
fn a_message_that_cannot_be_made_falls_back() {
    let schema = compiled(&json!({
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "x-kubernetes-validations": [
            {"rule": "false", "messageExpression": "self.a", "message": "plain"},
            {"rule": "1 > 2", "messageExpression": "' '"},
        ],
    }));
    assert_eq!(
        lines(&schema.validate_cel(&json!({}), None)),
        ["<nil>: Invalid value: plain", "<nil>: Invalid value: failed rule: 1 > 2"]
    );
}

/// The simulator puts thousands of objects through this on every run, so that the walk must stay cheap.
#[test]
fn ten_thousand_objects_pass_ten_rules() {
    let rules = [
        "has(self.text) && self.text != ''",
        "self.count >= 0 && self.count < 100000",
        "self.my_field == 'single'",
        "size(self.set) <= 3",
        "self.set.all(e, e.startsWith('a') || e.startsWith('b'))",
        "!has(self.deep.er.est)",
        "self.text.matches('^.{3}$')",
        "self.ratio > 1.0",
        "self.?deep.?er.hasValue()",
        "self.wait > duration('1s')",
    ];
    let schema = ruled(&rules);
    let mut object = full_object();
    for count in 0..10_000 {
        object["count"] = json!(count);
        assert!(schema.validate(&object).is_empty() && schema.validate_cel(&object, None).is_empty());
    }
}
