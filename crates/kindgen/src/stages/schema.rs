//! The structural schema of a kind's objects, as the API server takes it: types, bounds, defaults and CEL rules.

use serde_json::{Map, Value, json};

use crate::names::paragraphs;
use crate::project::{Kind, Project};
use crate::table::{Field, Lifecycle, ListType, Rule, Type};

/// `openAPIV3Schema`.
pub(super) fn of(project: &Project, kind: &Kind) -> Value {
    let table = &kind.table;
    let mut spec = object(&table.spec);
    spec.insert("description".to_owned(), json!(format!("What the {} asks for.", table.kind)));
    rules(&mut spec, &table.rules);
    let mut status = object(&table.status);
    status.insert("description".to_owned(), json!(format!("What kflare says of the {}.", table.kind)));
    // Tools that compute readiness (kstatus) take an object without any status as done; a generation that no object
    // has says that nobody has looked at it yet.
    status.insert("default".to_owned(), json!({ "observedGeneration": -1 }));
    if let Some(Value::Object(properties)) = status.get_mut("properties") {
        properties.extend(common(table.lifecycle));
    }
    json!({
        "type": "object",
        "description": paragraphs(&table.purpose),
        "required": ["spec"],
        "properties": {
            "apiVersion": {
                "type": "string",
                "description": format!("`{}/{}`.", project.manager.group, project.manager.version),
            },
            "kind": { "type": "string", "description": format!("`{}`.", table.kind) },
            "metadata": { "type": "object" },
            "spec": spec,
            "status": status,
        },
    })
}

/// Status fields that every kind has.
fn common(lifecycle: Lifecycle) -> Map<String, Value> {
    let mut fields = Map::new();
    let generation = json!({
        "type": "integer",
        "format": "int64",
        "description": "The generation that this status was written for; -1 until the first one is.",
    });
    fields.insert("observedGeneration".to_owned(), generation);
    if lifecycle == Lifecycle::Managed {
        let applied = json!({
            "type": "array",
            "description": "The spec fields that kflare has written, which it takes back when they leave the spec.",
            "items": { "type": "string" },
            "x-kubernetes-list-type": "set",
        });
        fields.insert("appliedFields".to_owned(), applied);
        let adopted = json!({
            "type": "string",
            "description": "The ID of the object that kflare took over instead of making it; it is kept by default.",
        });
        fields.insert("adoptedID".to_owned(), adopted);
    }
    fields.insert("conditions".to_owned(), conditions());
    fields
}

// The limits are those of `meta/v1.Condition`, so that a condition of ours fits wherever one of Kubernetes' does.
fn conditions() -> Value {
    let reason = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
    let kind = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
    json!({
        "type": "array",
        "description": "`Ready`: whether Cloudflare is as the spec says, and why not.",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "required": ["lastTransitionTime", "message", "reason", "status", "type"],
            "properties": {
                "type": {
                    "type": "string", "description": "`Ready`.", "maxLength": 316, "pattern": kind,
                },
                "status": {
                    "type": "string", "description": "Whether it is so.", "enum": ["True", "False", "Unknown"],
                },
                "reason": {
                    "type": "string", "description": "One word that says why.",
                    "minLength": 1, "maxLength": 1024, "pattern": reason,
                },
                "message": {
                    "type": "string", "description": "A sentence that says why.", "maxLength": 32768,
                },
                "lastTransitionTime": {
                    "type": "string", "description": "When `status` last changed.", "format": "date-time",
                },
                "observedGeneration": {
                    "type": "integer", "description": "The generation that it was written for.",
                    "format": "int64", "minimum": 0,
                },
            },
        },
    })
}

fn object(fields: &[Field]) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.clone(), property(field))).collect();
    schema.insert("properties".to_owned(), Value::Object(properties));
    let mut required: Vec<&str> =
        fields.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
    required.sort_unstable();
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

fn property(field: &Field) -> Value {
    let mut schema = match field.type_ {
        Type::Object => object(&field.fields),
        _ => Map::new(),
    };
    let item = || field.item.as_deref().map_or(Value::Null, property);
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            schema.insert(name.to_owned(), value);
        }
    };
    set("type", Some(json!(type_name(field.type_))));
    set("description", (!field.doc.trim().is_empty()).then(|| json!(paragraphs(&field.doc))));
    set("default", field.default.as_ref().map(|default| json!(default)));
    set("enum", (!field.values.is_empty()).then(|| json!(field.values)));
    set("minimum", field.min.map(|bound| json!(bound)));
    set("maximum", field.max.map(|bound| json!(bound)));
    set("minLength", field.min_length.map(|bound| json!(bound)));
    set("maxLength", field.max_length.map(|bound| json!(bound)));
    set("pattern", field.pattern.as_ref().map(|pattern| json!(pattern)));
    set("minItems", field.min_items.map(|bound| json!(bound)));
    set("maxItems", field.max_items.map(|bound| json!(bound)));
    set("maxProperties", field.max_properties.map(|bound| json!(bound)));
    let format = field.format.clone().or_else(|| integer_format(field).map(str::to_owned));
    set("format", format.map(|format| json!(format)));
    match field.type_ {
        Type::List => {
            set("items", Some(item()));
            let list = if field.list == Some(ListType::Set) { "set" } else { "atomic" };
            set("x-kubernetes-list-type", Some(json!(list)));
        }
        Type::Map => set("additionalProperties", Some(item())),
        Type::Free => set("x-kubernetes-preserve-unknown-fields", Some(json!(true))),
        Type::String | Type::Integer | Type::Boolean | Type::Object => {}
    }
    if field.immutable {
        let message = format!("{}: is immutable; delete the object and create it anew", field.name);
        rules(&mut schema, &[Rule { rule: "self == oldSelf".to_owned(), message }]);
    }
    rules(&mut schema, &field.rules);
    Value::Object(schema)
}

fn type_name(type_: Type) -> &'static str {
    match type_ {
        Type::String => "string",
        Type::Integer => "integer",
        Type::Boolean => "boolean",
        Type::Object | Type::Map | Type::Free => "object",
        Type::List => "array",
    }
}

fn integer_format(field: &Field) -> Option<&'static str> {
    let small = matches!((field.min, field.max), (Some(-0x8000_0000..), Some(..=0x7FFF_FFFF)));
    (field.type_ == Type::Integer).then_some(if small { "int32" } else { "int64" })
}

fn rules(schema: &mut Map<String, Value>, rules: &[Rule]) {
    if rules.is_empty() {
        return;
    }
    let entry = schema.entry("x-kubernetes-validations").or_insert_with(|| json!([]));
    if let Value::Array(list) = entry {
        list.extend(rules.iter().map(|rule| json!({ "rule": rule.rule, "message": rule.message })));
    }
}
