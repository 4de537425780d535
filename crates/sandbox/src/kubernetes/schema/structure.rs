//! Whether a schema is structural (`ValidateStructural` of apiextensions-apiserver): every value has a type,
//! junctors only restrict what is declared outside of them, metadata is left alone.

use serde_json::{Map, Value, json};

use super::cause::Cause;
use super::path::Path;
use super::pattern::Pattern;

/// Where a schema stands, which decides how an absent type is worded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

/// What keeps a schema from being structural, sorted as the server sorts it.
pub(super) fn check(schema: &Value, path: &Path<'_>) -> Vec<Cause> {
    let mut causes = Vec::new();
    invariants(schema, Level::Root, path, &mut causes);
    junctors_complete(schema, Some(schema), path, path, &mut causes);
    causes.sort_by_key(Cause::to_string);
    causes
}

/// A boolean keyword.
pub(super) fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// A keyword that is a string; empty when absent.
pub(super) fn text<'s>(schema: &'s Value, name: &str) -> &'s str {
    schema.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The sub-schemas of a keyword that holds an object of them.
pub(super) fn members<'s>(schema: &'s Value, name: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
    schema.get(name).and_then(Value::as_object).map(Map::iter).into_iter().flatten()
}

/// The sub-schemas of a keyword that holds a list of them.
pub(super) fn list<'s>(schema: &'s Value, name: &str) -> &'s [Value] {
    schema.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The sub-schema of a keyword that holds one.
pub(super) fn child<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema.get(name).filter(|value| value.is_object())
}

fn invariants(schema: &Value, level: Level, path: &Path<'_>, causes: &mut Vec<Cause>) {
    if text(schema, "type") == "array" && schema.get("items").is_none_or(Value::is_null) {
        causes.push(Cause::required(path.field("items").bracketed(), "must be specified"));
    }
    if let Some(items) = child(schema, "items") {
        invariants(items, Level::Item, &path.field("items"), causes);
    }
    let properties = path.field("properties");
    for (name, property) in members(schema, "properties") {
        invariants(property, Level::Field, &properties.key(name), causes);
    }
    let has_additional = schema.get("additionalProperties").is_some_and(|value| !value.is_null());
    let additional = path.field("additionalProperties");
    if has_additional && level == Level::Root {
        causes.push(Cause::forbidden(additional.bracketed(), "must not be used at the root"));
    }
    if let Some(values) = child(schema, "additionalProperties") {
        invariants(values, Level::Field, &additional, causes);
    }
    if has_additional && flag(schema, EMBEDDED) {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        causes.push(Cause::forbidden(additional.bracketed(), detail));
    }
    extensions(schema, path, causes);
    own_type(schema, level, path, causes);
    metadata(schema, level, path, causes);
    junctors(schema, &exceptions(schema), path, causes);
    if flag(schema, EMBEDDED) && !flag(schema, PRESERVE) && members(schema, "properties").next().is_none() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        causes.push(Cause::required(properties.bracketed(), detail));
    }
}

fn extensions(schema: &Value, path: &Path<'_>, causes: &mut Vec<Cause>) {
    for name in [PRESERVE, EMBEDDED] {
        if flag(schema, INT_OR_STRING) && flag(schema, name) {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            causes.push(Cause::invalid(path.field(name).bracketed(), &Value::Bool(true), detail));
        }
    }
}

fn own_type(schema: &Value, level: Level, path: &Path<'_>, causes: &mut Vec<Cause>) {
    let own = text(schema, "type");
    let field = path.field("type").bracketed();
    if flag(schema, EMBEDDED) && own != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        causes.push(match own {
            "" => Cause::required(field, detail),
            own => Cause::invalid_text(field, own, detail),
        });
    } else if own.is_empty() && !flag(schema, INT_OR_STRING) && !flag(schema, PRESERVE) {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        causes.push(Cause::required(field, detail));
    } else if level == Level::Root && !own.is_empty() && own != "object" {
        causes.push(Cause::invalid_text(field, own, "must be object at the root"));
    }
}

/// The metadata of a resource is declared by the server; a schema may only restrict its name.
fn metadata(schema: &Value, level: Level, path: &Path<'_>, causes: &mut Vec<Cause>) {
    let is_resource = level == Level::Root || flag(schema, EMBEDDED);
    let properties = path.field("properties");
    for (name, wanted) in [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")] {
        let Some(property) = schema.get("properties").and_then(|properties| properties.get(name)) else {
            continue;
        };
        let place = properties.key(name);
        let own = text(property, "type");
        if is_resource && own != wanted {
            let field = place.field("type").bracketed();
            causes.push(Cause::invalid_text(field, own, &format!("must be {wanted}")));
        }
        if level == Level::Root && name == "metadata" {
            let allowed = |key: &str| matches!(key, "type" | "properties" | "description" | "default");
            let named = |(name, _): (&String, &Value)| matches!(name.as_str(), "name" | "generateName");
            let plain = property.as_object().is_none_or(|fields| fields.keys().all(|key| allowed(key)));
            if !plain || !members(property, "properties").all(named) {
                let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
                causes.push(Cause::forbidden(place.bracketed(), detail));
            }
        }
    }
}

/// Junctors that may name types, because that is how int-or-string was written before it had a keyword.
struct Exceptions {
    any_of: bool,
    first_all_of: bool,
}

fn exceptions(schema: &Value) -> Exceptions {
    let types = json!([{"type": "integer"}, {"type": "string"}]);
    let is_types = |schema: &Value| schema.get("anyOf") == Some(&types);
    Exceptions { any_of: is_types(schema), first_all_of: list(schema, "allOf").first().is_some_and(is_types) }
}

fn junctors(schema: &Value, exceptions: &Exceptions, path: &Path<'_>, causes: &mut Vec<Cause>) {
    for name in ["anyOf", "allOf", "oneOf"] {
        let place = path.field(name);
        for (index, nested_schema) in list(schema, name).iter().enumerate() {
            if name == "anyOf" && exceptions.any_of {
                continue;
            }
            let any_of = name == "allOf" && index == 0 && exceptions.first_all_of;
            nested(nested_schema, any_of, &place.index(index), causes);
        }
    }
    if let Some(not) = child(schema, "not") {
        nested(not, false, &path.field("not"), causes);
    }
    let pattern = text(schema, "pattern");
    if let Err(error) = Pattern::compile(pattern) {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        causes.push(Cause::invalid_text(path.field("pattern").bracketed(), pattern, &detail));
    }
}

/// A schema within a junctor may restrict values, not declare them.
fn nested(schema: &Value, skip_any_of: bool, path: &Path<'_>, causes: &mut Vec<Cause>) {
    junctors(schema, &Exceptions { any_of: skip_any_of, first_all_of: false }, path, causes);
    if let Some(items) = child(schema, "items") {
        nested(items, false, &path.field("items"), causes);
    }
    let properties = path.field("properties");
    for (name, property) in members(schema, "properties") {
        nested(property, false, &properties.key(name), causes);
    }
    let forbidden = [
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("nullable", "must be false to be structural"),
        ("externalDocs", "must be undefined to be structural"),
        (PRESERVE, "must be false to be structural"),
        (EMBEDDED, "must be false to be structural"),
        (INT_OR_STRING, "must be false to be structural"),
        ("x-kubernetes-list-map-keys", "must be empty to be structural"),
        ("x-kubernetes-list-type", "must be undefined to be structural"),
        ("x-kubernetes-map-type", "must be undefined to be structural"),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ];
    for (name, detail) in forbidden {
        let set = match schema.get(name) {
            None | Some(Value::Null | Value::Bool(false)) => {
                name == "additionalProperties" && schema.get(name).is_some()
            }
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Array(items)) => !items.is_empty(),
            Some(_) => true,
        };
        if set {
            causes.push(Cause::forbidden(path.field(name).bracketed(), detail));
        }
    }
    if members(schema, "properties").any(|(name, _)| name == "metadata") {
        let detail = "must not be specified in a nested context";
        causes.push(Cause::forbidden(properties.key("metadata").bracketed(), detail));
    }
}

/// What a junctor talks about has to be declared outside of it. The server checks this for the junctors at
/// the root only.
fn junctors_complete(
    schema: &Value,
    declared: Option<&Value>,
    declared_path: &Path<'_>,
    path: &Path<'_>,
    causes: &mut Vec<Cause>,
) {
    if let Some(not) = child(schema, "not") {
        complete(not, declared, declared_path, &path.field("not"), causes);
    }
    for name in ["allOf", "anyOf", "oneOf"] {
        let place = path.field(name);
        for (index, nested_schema) in list(schema, name).iter().enumerate() {
            complete(nested_schema, declared, declared_path, &place.index(index), causes);
        }
    }
}

fn complete(
    schema: &Value,
    declared: Option<&Value>,
    declared_path: &Path<'_>,
    path: &Path<'_>,
    causes: &mut Vec<Cause>,
) {
    let Some(declared_schema) = declared else {
        let detail = format!("because it is defined in {}", path.bracketed());
        causes.push(Cause::required(declared_path.bracketed(), &detail));
        return;
    };
    junctors_complete(schema, declared, declared_path, path, causes);
    if let Some(items) = child(schema, "items") {
        let place = declared_path.field("items");
        complete(items, child(declared_schema, "items"), &place, &path.field("items"), causes);
    }
    let (declared_properties, properties) = (declared_path.field("properties"), path.field("properties"));
    for (name, property) in members(schema, "properties") {
        let declared = child(declared_schema, "properties").and_then(|declared| declared.get(name));
        complete(property, declared, &declared_properties.key(name), &properties.key(name), causes);
    }
}
