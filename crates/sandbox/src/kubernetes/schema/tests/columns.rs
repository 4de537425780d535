//! Printer columns.

use serde_json::{Value, json};

use super::super::columns::cell;

#[test]
fn a_path_leads_to_the_first_value_it_selects() {
    let object = json!({
        "metadata": {"creationTimestamp": "2026-11-30T02:42:03Z", "labels": {"a.b/c": "dotted"}},
        "spec": {"list": [{"name": "x", "n": 1}, {"name": "y", "n": 2}], "on": true},
        "status": {"conditions": [
            {"type": "Synced", "status": "True"},
            {"type": "Ready", "status": "False", "reason": "Waiting"},
        ]},
    });
    let cases = [
        (".metadata.creationTimestamp", json!("2026-11-30T02:42:03Z")),
        (".metadata.labels['a.b/c']", json!("dotted")),
        (r".metadata.labels.a\.b/c", json!("dotted")),
        (".spec.list[0].name", json!("x")),
        (".spec.list[-1].name", json!("y")),
        (".spec.list[*].name", json!("x")),
        (".spec.list[1]", json!({"name": "y", "n": 2})),
        (".spec.on", json!(true)),
        (".status.conditions[?(@.type==\"Ready\")].status", json!("False")),
        (".status.conditions[?(@.type=='Ready')].reason", json!("Waiting")),
        (".status.conditions[?(@.type == \"Ready\")].status", json!("False")),
        (".status.conditions[?(@.type!=\"Ready\")].status", json!("True")),
        (".spec.list[?(@.n>1)].name", json!("y")),
        (".spec.list[?(@.n<=1)].name", json!("x")),
        (".status.conditions[?(@.reason)].type", json!("Ready")),
        (".status.conditions[?(@.type==\"Absent\")].status", Value::Null),
        (".spec.absent.deeper", Value::Null),
        (".spec.list[9]", Value::Null),
        (".spec.list.name", Value::Null),
        (".spec[", Value::Null),
    ];
    for (path, expected) in cases {
        assert_eq!(cell(path, &object), expected, "{path}");
    }
}
