//! The pipeline against the texts of a real API server (v1.34), on a schema like those of this project.

mod columns;
mod compile;
mod defaults;
mod hostile;
mod rules;
mod values;

use serde_json::{Value, json};

use super::{Cause, CompiledSchema};

/// The schema of a DNS record.
fn record_schema() -> Value {
    json!({
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": {
                "type": "object",
                "required": ["name", "type"],
                "properties": {
                    "name": {
                        "type": "string", "minLength": 1, "maxLength": 253,
                        "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "name is immutable"}],
                    },
                    "type": {"type": "string", "enum": ["A", "AAAA", "CNAME", "SRV"]},
                    "content": {"type": "string", "maxLength": 2048},
                    "ttl": {
                        "type": "integer", "format": "int32", "minimum": 1, "maximum": 86400,
                        "x-kubernetes-validations": [
                            {"rule": "self == 1 || self >= 30", "message": "must be 1 (automatic) or at least 30"},
                        ],
                    },
                    "proxied": {"type": "boolean", "default": false},
                    "priority": {"type": "integer", "minimum": 0, "maximum": 65535},
                    "comment": {"type": "string", "maxLength": 5},
                    "weight": {"type": "number", "exclusiveMinimum": true, "minimum": 0.5, "multipleOf": 0.25},
                    "port": {"x-kubernetes-int-or-string": true},
                    "expires": {"type": "string", "format": "date-time"},
                    "zone_id": {"type": "string", "pattern": "^[0-9a-f]{4}$"},
                    "alias": {"type": "string", "nullable": true},
                    "tags": {
                        "type": "array", "maxItems": 3, "x-kubernetes-list-type": "set",
                        "items": {"type": "string"},
                    },
                    "labels": {
                        "type": "object", "maxProperties": 2, "additionalProperties": {"type": "string"},
                    },
                    "ports": {
                        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                        "items": {
                            "type": "object", "required": ["name"],
                            "properties": {
                                "name": {"type": "string"},
                                "number": {
                                    "type": "integer",
                                    "x-kubernetes-validations": [{"rule": "self >= oldSelf"}],
                                },
                            },
                        },
                    },
                    "data": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                },
                "x-kubernetes-validations": record_rules(),
            },
            "status": {
                "type": "object",
                "default": {"observedGeneration": -1},
                "properties": {"observedGeneration": {"type": "integer", "format": "int64"}},
            },
        },
    })
}

/// The rules over the whole spec of a DNS record.
fn record_rules() -> Value {
    json!([
        {"rule": "!has(self.data) || !has(self.content)", "message": "data and content exclude each other"},
        {
            "rule": "self.type != 'SRV' || has(self.data)", "message": "SRV needs data",
            "reason": "FieldValueRequired", "fieldPath": ".data",
        },
        {
            "rule": "!has(self.zone_id) || self.zone_id != 'dead'",
            "messageExpression": "'zone ' + self.zone_id + ' is gone'",
        },
    ])
}

fn record() -> CompiledSchema {
    compiled(&record_schema())
}

fn compiled(schema: &Value) -> CompiledSchema {
    match CompiledSchema::compile(schema) {
        Ok(schema) => schema,
        Err(causes) => panic!("does not compile: {}", lines(&causes).join("\n")),
    }
}

/// A sound record with the given fields of its spec replaced; null removes one.
fn object(fields: Value) -> Value {
    let mut object = json!({
        "apiVersion": "example.com/v1", "kind": "DNSRecord", "metadata": {"name": "www"},
        "spec": {"name": "www", "type": "A", "content": "192.0.2.1"},
    });
    json_patch::merge(&mut object["spec"], &fields);
    object
}

/// The same, with nulls kept.
fn object_with(name: &str, value: Value) -> Value {
    let mut object = object(json!({}));
    object["spec"][name] = value;
    object
}

/// The complaints as kubectl prints them.
fn lines(causes: &[Cause]) -> Vec<String> {
    causes.iter().map(Cause::to_string).collect()
}
