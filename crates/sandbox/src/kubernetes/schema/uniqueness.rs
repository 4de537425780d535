//! The items of a list of type set, and the keys of a list of type map, are unique
//! (`listtype.ValidateListSetsAndMaps`); embedded resources say what they are (`objectmeta.Validate`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::cause::Cause;
use super::node::{ListType, Node};
use super::path::Path;

/// Reports every second occurrence, and what embedded resources lack.
pub(super) fn check(node: &Node, value: &Value, path: &Path<'_>, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(fields) => {
            if node.embedded_resource {
                check_resource(fields, path, causes);
            }
            for (name, value) in fields {
                if let Some(property) = node.properties.get(name) {
                    check(&property.node, value, &path.field(name), causes);
                } else if let Some(schema) = node.value_schema() {
                    check(schema, value, &path.key(name), causes);
                }
            }
        }
        Value::Array(items) => {
            match node.list_type {
                Some(ListType::Set) => {
                    for index in repeated(items.iter().map(Value::to_string)) {
                        causes.push(Cause::duplicate(path.index(index).bracketed(), &items[index]));
                    }
                }
                Some(ListType::Map) => check_keys(node, items, path, causes),
                Some(ListType::Atomic) | None => {}
            }
            if let Some(schema) = node.items.as_deref() {
                for (index, item) in items.iter().enumerate() {
                    check(schema, item, &path.index(index), causes);
                }
            }
        }
        _ => {}
    }
}

fn check_keys(node: &Node, items: &[Value], path: &Path<'_>, causes: &mut Vec<Cause>) {
    if let Some(index) = items.iter().position(|item| !item.is_object() && !item.is_null()) {
        let detail = "must be an object for an array of list-type map";
        causes.push(Cause::invalid(path.index(index).bracketed(), &items[index], detail));
        return;
    }
    let keys: Vec<Value> = items.iter().map(|item| keys_of(node, item)).collect();
    for index in repeated(keys.iter().map(Value::to_string)) {
        causes.push(Cause::duplicate(path.index(index).bracketed(), &keys[index]));
    }
}

fn keys_of(node: &Node, item: &Value) -> Value {
    let keys =
        node.list_map_keys.iter().filter_map(|key| Some((key.clone(), item.get(key.as_str())?.clone())));
    Value::Object(keys.collect::<Map<_, _>>())
}

/// The positions of second occurrences; a third is not reported again.
fn repeated(items: impl Iterator<Item = String>) -> Vec<usize> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut second = Vec::new();
    for (index, item) in items.enumerate() {
        let times = seen.entry(item).or_insert(0);
        *times += 1;
        if *times == 2 {
            second.push(index);
        }
    }
    second
}

fn check_resource(fields: &Map<String, Value>, path: &Path<'_>, causes: &mut Vec<Cause>) {
    for name in ["apiVersion", "kind"] {
        let field = path.field(name).bracketed();
        match fields.get(name) {
            None => causes.push(Cause::required(field, "")),
            Some(Value::String(text)) if text.is_empty() => {
                causes.push(Cause::invalid_text(field, text, "must not be empty"));
            }
            Some(Value::String(_)) => {}
            Some(other) => causes.push(Cause::invalid(field, other, "must be a string")),
        }
    }
}
