//! The keywords of a schema one by one: those the server does not support, list and map types, and the form
//! of rules (`ValidateCustomResourceDefinitionOpenAPISchema` of apiextensions-apiserver).

use serde_json::{Value, json};

use super::cause::Cause;
use super::field_path;
use super::node::{JsonType, Node};
use super::path::Path;
use super::structure::{child, flag, list, members, text};

const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const MAP_KEYS: &str = "x-kubernetes-list-map-keys";

/// The keywords of JSON schema the server refuses.
const UNSUPPORTED: [&str; 6] =
    ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];

/// Where defaults are refused, in the words of the complaint.
type Refusal<'a> = Option<&'a str>;

/// What is wrong with the keywords of a schema and of all below it.
pub(super) fn check(schema: &Value, path: &Path<'_>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if flag(schema, "nullable") {
        causes.push(Cause::forbidden(
            path.field("nullable").bracketed(),
            "nullable cannot be true at the root",
        ));
    }
    visit(schema, path, None, true, &mut causes);
    causes
}

fn visit(
    schema: &Value,
    path: &Path<'_>,
    defaults_refused: Refusal<'_>,
    is_root: bool,
    causes: &mut Vec<Cause>,
) {
    standard(schema, path, defaults_refused, causes);
    types(schema, path, causes);
    list_types(schema, path, causes);
    map_keys(schema, path, causes);
    rules(schema, path, causes);
    let has_properties = members(schema, "properties").next().is_some();
    let additional = schema.get("additionalProperties");
    if has_properties && additional.is_some_and(|value| value.is_object() || *value == Value::Bool(false)) {
        let detail = "additionalProperties and properties are mutual exclusive";
        causes.push(Cause::forbidden(path.field("additionalProperties").bracketed(), detail));
    }
    let properties = path.field("properties");
    for (name, property) in members(schema, "properties") {
        let is_meta = is_root && matches!(name.as_str(), "metadata" | "kind" | "apiVersion");
        let reason = format!("in top-level {name}");
        let refused = if is_meta { Some(reason.as_str()) } else { defaults_refused };
        visit(property, &properties.key(name), refused, false, causes);
    }
    for name in ["additionalProperties", "items", "not"] {
        if let Some(schema) = child(schema, name) {
            visit(schema, &path.field(name), defaults_refused, false, causes);
        }
    }
    for name in ["allOf", "oneOf", "anyOf"] {
        let place = path.field(name);
        for (index, schema) in list(schema, name).iter().enumerate() {
            visit(schema, &place.index(index), defaults_refused, false, causes);
        }
    }
}

fn standard(schema: &Value, path: &Path<'_>, defaults_refused: Refusal<'_>, causes: &mut Vec<Cause>) {
    if let (Some(reason), Some(_)) =
        (defaults_refused, schema.get("default").filter(|value| !value.is_null()))
    {
        let detail = format!("must not be set {reason}");
        causes.push(Cause::forbidden(path.field("default").bracketed(), &detail));
    }
    for name in UNSUPPORTED {
        if schema.get(name).is_some_and(|value| !value.is_null()) {
            causes.push(Cause::forbidden(path.field(name).bracketed(), &format!("{name} is not supported")));
        }
    }
    if schema.get("items").is_some_and(Value::is_array) {
        let detail = "items must be a schema object and not an array";
        causes.push(Cause::forbidden(path.field("items").bracketed(), detail));
    }
    if flag(schema, "uniqueItems") {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        causes.push(Cause::forbidden(path.field("uniqueItems").bracketed(), detail));
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        let field = path.field("x-kubernetes-preserve-unknown-fields").bracketed();
        causes.push(Cause::invalid(field, &Value::Bool(false), "must be true or undefined"));
    }
}

fn types(schema: &Value, path: &Path<'_>, causes: &mut Vec<Cause>) {
    let field = || path.field("type").bracketed();
    match text(schema, "type") {
        "" => {}
        "null" => {
            let detail = "type cannot be set to null, use nullable as an alternative";
            causes.push(Cause::forbidden(field(), detail));
        }
        name if JsonType::named(name).is_none() => {
            let known = JsonType::ALL.map(|one| Value::from(one.as_str()));
            causes.push(Cause::not_supported(field(), &name.into(), &known));
        }
        _ => {}
    }
}

fn list_types(schema: &Value, path: &Path<'_>, causes: &mut Vec<Cause>) {
    let own = text(schema, "type");
    for (name, wanted, known) in [
        (MAP_TYPE, "object", &["atomic", "granular"][..]),
        (LIST_TYPE, "array", &["atomic", "set", "map"][..]),
    ] {
        let value = text(schema, name);
        if value.is_empty() {
            continue;
        }
        if own != wanted {
            let detail = format!("must be {wanted} if {name} is specified");
            let field = path.field("type").bracketed();
            causes.push(match own {
                "" => Cause::required(field, &detail),
                own => Cause::invalid_text(field, own, &detail),
            });
        }
        if !known.contains(&value) {
            let known: Vec<Value> = known.iter().map(|one| Value::from(*one)).collect();
            causes.push(Cause::not_supported(path.field(name).bracketed(), &value.into(), &known));
        }
    }
    let Some(items) = child(schema, "items").filter(|_| text(schema, LIST_TYPE) == "set") else { return };
    let place = path.field("items");
    let (name, atomic) = match text(items, "type") {
        "array" => (LIST_TYPE, matches!(text(items, LIST_TYPE), "" | "atomic")),
        "object" => (MAP_TYPE, text(items, MAP_TYPE) == "atomic"),
        _ => return,
    };
    if !atomic {
        let shown = items.get(LIST_TYPE).unwrap_or(&Value::Null);
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        causes.push(Cause::invalid(place.field(name).bracketed(), shown, detail));
    }
}

fn map_keys(schema: &Value, path: &Path<'_>, causes: &mut Vec<Cause>) {
    let keys = list(schema, MAP_KEYS);
    let list_type = text(schema, LIST_TYPE);
    if !keys.is_empty() && list_type != "map" {
        let field = path.field(LIST_TYPE).bracketed();
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        causes.push(match list_type {
            "" => Cause::required(field, detail),
            other => Cause::invalid_text(field, other, detail),
        });
    }
    let Some(items) = child(schema, "items") else {
        if list_type == "map" {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            causes.push(Cause::required(path.field("items").bracketed(), detail));
        }
        return;
    };
    let place = path.field("items");
    if matches!(list_type, "map" | "set") && flag(items, "nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        causes.push(Cause::forbidden(place.field("nullable").bracketed(), &detail));
    }
    if list_type != "map" {
        return;
    }
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        causes.push(Cause::required(path.field(MAP_KEYS).bracketed(), detail));
    }
    if text(items, "type") != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        causes.push(Cause::invalid_text(place.field("type").bracketed(), text(items, "type"), detail));
        return;
    }
    let names: Vec<&str> = keys.iter().filter_map(Value::as_str).collect();
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            let field = path.field(MAP_KEYS).bracketed();
            causes.push(Cause::invalid(field, &json!(keys), "must not contain duplicate entries"));
        }
        match child(items, "properties").and_then(|properties| properties.get(*name)) {
            Some(property) => key_property(items, name, property, &place, causes),
            None => {
                let field = path.field(MAP_KEYS).bracketed();
                causes.push(Cause::invalid(
                    field,
                    &json!(keys),
                    "entries must all be names of item properties",
                ));
            }
        }
    }
}

fn key_property(items: &Value, name: &str, property: &Value, place: &Path<'_>, causes: &mut Vec<Cause>) {
    let properties = place.field("properties");
    let place = properties.key(name);
    if matches!(text(property, "type"), "array" | "object") {
        let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        causes.push(Cause::invalid_text(place.field("type").bracketed(), text(items, "type"), detail));
    }
    let is_required = list(items, "required").iter().any(|one| one.as_str() == Some(name));
    if !is_required && property.get("default").is_none_or(Value::is_null) {
        let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
        causes.push(Cause::required(place.field("default").bracketed(), detail));
    }
    if flag(property, "nullable") {
        let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
        causes.push(Cause::forbidden(place.field("nullable").bracketed(), detail));
    }
}

fn rules(schema: &Value, path: &Path<'_>, causes: &mut Vec<Cause>) {
    let place = path.field("x-kubernetes-validations");
    for (index, rule) in list(schema, "x-kubernetes-validations").iter().enumerate() {
        let place = place.index(index);
        let (expression, message) = (text(rule, "rule").trim(), text(rule, "message"));
        let field = |name: &str| place.field(name).bracketed();
        if expression.is_empty() {
            causes.push(Cause::required(field("rule"), "rule is not specified"));
        } else if !message.is_empty() && message.trim().is_empty() {
            causes.push(Cause::invalid_text(field("message"), message, "must be non-empty if specified"));
        } else if has_newlines(message.trim()) {
            causes.push(Cause::invalid_text(field("message"), message, "must not contain line breaks"));
        } else if has_newlines(expression) && message.trim().is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            causes.push(Cause::required(field("message"), detail));
        }
        let expression = text(rule, "messageExpression");
        if !expression.is_empty() && expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            causes.push(Cause::required(field("messageExpression"), detail));
        }
        if let Some(reason) = rule.get("reason").filter(|reason| !reason.is_null()) {
            let known =
                ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
            if !known.iter().any(|one| reason.as_str() == Some(*one)) {
                causes.push(Cause::not_supported(field("reason"), reason, &known.map(Value::from)));
            }
        }
        let field_path = text(rule, "fieldPath");
        if has_newlines(field_path) {
            causes.push(Cause::invalid_text(field("fieldPath"), field_path, "must not contain line breaks"));
        }
        let leads_nowhere = || {
            let node = Node::read(schema, path, &mut Vec::new());
            field_path::normalize(field_path, &node).is_none()
        };
        if !field_path.is_empty() && leads_nowhere() {
            causes.push(Cause::invalid_text(field("fieldPath"), field_path, "must be a valid path"));
        }
    }
}

fn has_newlines(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
