//! The types of the built-in kinds as OpenAPI has them. They have no descriptions, but for the metadata that every
//! object has: the published texts are not ours to give. Leaves documents and paths to `openapi`.

use serde_json::{Map, Value, json};

use super::types::{self, Field, Plain, Relation, Shape, Type};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const INT_OR_STRING: &str = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";

/// What the fields mean that every object has.
const TEXTS: &[(&str, &str)] = &[
    ("annotations", "Keys and values that tools keep with an object."),
    ("apiVersion", "The group and version of the form in which this object is written."),
    ("creationTimestamp", "When the object was created. Set by the server."),
    ("deletionTimestamp", "When the deletion of the object was asked for. Set by the server."),
    ("finalizers", "What has to happen before the object is removed."),
    ("generateName", "A prefix for a name that the server completes."),
    ("generation", "Counts the changes of the desired state. Set by the server."),
    ("kind", "The kind of this object."),
    ("labels", "Keys and values to select objects by."),
    ("managedFields", "Who owns which fields. Set by the server."),
    ("metadata", "What all objects have: a name, labels, and what the server keeps of them."),
    ("name", "The name, unique within a namespace."),
    ("namespace", "The namespace of the object."),
    ("ownerReferences", "The objects that this one goes with."),
    ("resourceVersion", "Changes with every write. Set by the server."),
    ("uid", "Unique in time and space. Set by the server."),
];

/// Adds a type and all that it names.
pub(crate) fn add(schemas: &mut Map<String, Value>, of: &'static Type) {
    if schemas.contains_key(&of.full_name) {
        return;
    }
    let is_common = of.name == "meta.ObjectMeta";
    let mut schema = json!({ "type": "object" });
    if of.is_atomic {
        schema["x-kubernetes-map-type"] = json!("atomic");
    }
    let required: Vec<&str> =
        of.fields.iter().filter(|field| field.is_required).map(|field| field.name).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if is_common {
        schema["description"] =
            json!("What all objects have: a name, labels, and what the server keeps of them.");
    }
    for field in &of.fields {
        let mut property = self::field(field);
        if is_common && let Some(text) = text_of(field) {
            property["description"] = json!(text);
        }
        schema["properties"][field.name] = property;
    }
    schemas.insert(of.full_name.clone(), schema);
    for field in &of.fields {
        let mut shape = &field.value;
        while let Shape::List(inner) | Shape::Map(inner) = shape {
            shape = inner;
        }
        match shape {
            Shape::Named(name) => {
                if let Some(named) = types::named(name) {
                    add(schemas, named);
                }
            }
            Shape::Plain(plain) => {
                if let Some((name, schema)) = named_plain(*plain) {
                    schemas.insert(name, schema);
                }
            }
            Shape::Any | Shape::List(_) | Shape::Map(_) => {}
        }
    }
}

fn text_of(field: &Field) -> Option<&'static str> {
    TEXTS.iter().find(|(name, _)| *name == field.name).map(|(_, text)| *text)
}

/// A field as a property.
pub(crate) fn field(field: &Field) -> Value {
    let mut schema = shape(&field.value, true);
    if let Some(text) = text_of(field).filter(|_| ["apiVersion", "kind", "metadata"].contains(&field.name)) {
        schema["description"] = json!(text);
    }
    match &field.list {
        Relation::Usual => {}
        Relation::Atomic if matches!(field.value, Shape::List(_)) => {
            schema["x-kubernetes-list-type"] = json!("atomic")
        }
        Relation::Atomic => schema["x-kubernetes-map-type"] = json!("atomic"),
        Relation::Set => schema["x-kubernetes-list-type"] = json!("set"),
        Relation::Keyed(keys) => {
            schema["x-kubernetes-list-type"] = json!("map");
            schema["x-kubernetes-list-map-keys"] = json!(keys);
        }
    }
    let strategy = match (field.patch.merges, field.patch.retains_keys) {
        (true, true) => "merge,retainKeys",
        (true, false) => "merge",
        (false, true) => "retainKeys",
        (false, false) => "",
    };
    if !strategy.is_empty() {
        schema["x-kubernetes-patch-strategy"] = json!(strategy);
    }
    if let Some(key) = field.merge_key {
        schema["x-kubernetes-patch-merge-key"] = json!(key);
    }
    if !field.choices.is_empty() {
        schema["enum"] = json!(field.choices);
    }
    if let Some(default) = &field.default {
        schema["default"] = default.clone();
    } else if field.is_always && matches!(field.value, Shape::Named(_)) {
        schema["default"] = json!({});
    }
    schema
}

fn reference(name: &str, is_property: bool) -> Value {
    let reference = json!({ "$ref": format!("#/components/schemas/{name}") });
    // Beside a reference nothing else may stand.
    if is_property { json!({ "allOf": [reference] }) } else { reference }
}

fn shape(shape: &Shape, is_property: bool) -> Value {
    match shape {
        Shape::Any => json!({}),
        Shape::List(item) => json!({ "type": "array", "items": self::shape(item, false) }),
        Shape::Map(entry) => json!({ "type": "object", "additionalProperties": self::shape(entry, false) }),
        Shape::Named(name) => match types::named(name) {
            Some(of) => reference(&of.full_name, is_property),
            None => json!({}),
        },
        Shape::Plain(plain) => match (named_plain(*plain), plain) {
            (Some((name, _)), _) => reference(&name, is_property),
            (None, Plain::Bool) => json!({ "type": "boolean" }),
            (None, Plain::Bytes) => json!({ "type": "string", "format": "byte" }),
            (None, Plain::Number("double")) => json!({ "type": "number", "format": "double" }),
            (None, Plain::Number(format)) => json!({ "type": "integer", "format": format }),
            (None, _) => json!({ "type": "string" }),
        },
    }
}

/// The plain values that have a name of their own.
fn named_plain(plain: Plain) -> Option<(String, Value)> {
    let found = match plain {
        Plain::Time => (format!("{META}.Time"), json!({ "type": "string", "format": "date-time" })),
        Plain::MicroTime => (format!("{META}.MicroTime"), json!({ "type": "string", "format": "date-time" })),
        Plain::Fields => (format!("{META}.FieldsV1"), json!({ "type": "object" })),
        Plain::Quantity => {
            (QUANTITY.to_owned(), json!({ "oneOf": [{ "type": "string" }, { "type": "number" }] }))
        }
        Plain::NumberOrText => {
            let either = json!([{ "type": "integer" }, { "type": "string" }]);
            (INT_OR_STRING.to_owned(), json!({ "format": "int-or-string", "oneOf": either }))
        }
        Plain::Text | Plain::Bytes | Plain::Bool | Plain::Number(_) => return None,
    };
    Some(found)
}
