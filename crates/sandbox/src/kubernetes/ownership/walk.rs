//! Walks over one object: which fields it sets, whether it fits its type, and what remains of it without some of its
//! fields. Leaves walks over two objects to `compare` and `merge`. How deep they go is bounded by the parser of bodies.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::golang;
use super::element::Element;
use super::schema::{Allowed, Kind, Member, Schema};
use super::set::{Path, Set};

/// The fields that an object sets.
pub(crate) fn fields(schema: Schema<'_>, object: &Value) -> Set {
    let mut set = Set::default();
    collect(schema, object, &mut Vec::new(), &mut set);
    set
}

fn collect(schema: Schema<'_>, value: &Value, path: &mut Path, set: &mut Set) {
    let kind = schema.kind(value);
    if schema.is_atomic(kind) {
        set.insert(path);
        return;
    }
    match (kind, value) {
        (Kind::Map, Value::Object(entries)) => {
            for (name, entry) in entries {
                let member = schema.member(name);
                let Some(next) = member.schema() else { continue };
                path.push(Element::field(name));
                collect(next, entry, path, set);
                let is_leaf = entry.is_null() || entry.as_object().is_some_and(Map::is_empty);
                if is_leaf || !member.is_declared() {
                    set.insert(path);
                }
                path.pop();
            }
        }
        (Kind::List, Value::Array(items)) => {
            let elements: Vec<Option<Element>> = items.iter().map(|item| schema.element(item).ok()).collect();
            let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
            for element in elements.iter().flatten() {
                if !seen.insert(element) {
                    twice.insert(element);
                }
            }
            for (item, element) in items.iter().zip(&elements) {
                let Some(element) = element else { continue };
                path.push(element.clone());
                if !twice.contains(element) {
                    collect(schema.item(), item, path, set);
                }
                set.insert(path);
                path.pop();
            }
        }
        _ => {}
    }
}

/// What does not fit the type of an object that is applied, each with its path.
pub(crate) fn check(schema: Schema<'_>, object: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    check_value(schema, object, String::new(), &mut errors);
    errors
}

fn check_value(schema: Schema<'_>, value: &Value, path: String, errors: &mut Vec<String>) {
    let mut report = |path: &str, why: &str| {
        errors.push(if path.is_empty() { why.to_owned() } else { format!("{path}: {why}") });
    };
    match (schema.kind(value), value) {
        (_, Value::Null) => {}
        (Kind::Scalar, _) => {
            if let Some(wanted) = unfit(schema.allowed(), value) {
                report(&path, &format!("expected {wanted}, got {}", spoken(schema.allowed(), value)));
            }
        }
        (Kind::Map, Value::Object(entries)) => {
            for (name, entry) in entries {
                let path = format!("{path}.{name}");
                match schema.member(name) {
                    Member::Declared(next) | Member::Entry(next) => check_value(next, entry, path, errors),
                    // Of what a map does not know the server names one.
                    Member::Unknown => {
                        errors.push(format!("{path}: field not declared in schema"));
                        return;
                    }
                }
            }
        }
        (Kind::List, Value::Array(items)) => check_items(schema, items, &path, errors),
        (Kind::Map, _) => report(&path, &format!("expected map, got {}", shown(value))),
        (Kind::List, _) => report(&path, &format!("expected list, got {}", shown(value))),
    }
}

fn check_items(schema: Schema<'_>, items: &[Value], path: &str, errors: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let step = if schema.is_atomic(Kind::List) {
            format!("[{index}]")
        } else {
            match schema.element(item) {
                Err(why) => {
                    errors.push(format!("{path}: element {index}: {why}"));
                    return;
                }
                Ok(element) => {
                    let step = element.to_string();
                    if !seen.insert(element) {
                        errors.push(format!("{path}: duplicate entries for key {step}"));
                    }
                    step
                }
            }
        };
        check_value(schema.item(), item, format!("{path}{step}"), errors);
    }
}

fn unfit(allowed: Allowed, value: &Value) -> Option<&'static str> {
    match allowed {
        Allowed::Number => (!value.is_number()).then_some("numeric (int or float)"),
        Allowed::Text => (!value.is_string()).then_some("string"),
        Allowed::Bool => (!value.is_boolean()).then_some("boolean"),
        Allowed::Any => (value.is_object() || value.is_array()).then_some("any scalar"),
    }
}

/// How the server names a value that is no scalar of the wanted type; each of its messages prints it otherwise.
fn spoken(allowed: Allowed, value: &Value) -> String {
    match (allowed, value) {
        (Allowed::Number, Value::String(_)) => "string".to_owned(),
        (Allowed::Number, Value::Bool(_)) => "bool".to_owned(),
        (Allowed::Number, Value::Object(_)) => "map[string]interface {}".to_owned(),
        (Allowed::Number, Value::Array(_)) => "[]interface {}".to_owned(),
        (Allowed::Text, value) => format!("&value.valueUnstructured{{Value:{}}}", golang::literal(value)),
        _ => shown(value),
    }
}

/// Go's `%v` of a value in the server's own wrapping.
fn shown(value: &Value) -> String {
    format!("&{{{}}}", golang::plain(value))
}

/// An object without some of its fields; `None` when nothing is left of it.
pub(crate) fn without(schema: Schema<'_>, value: &Value, gone: &Set) -> Option<Value> {
    let kind = schema.kind(value);
    match (kind, value) {
        (Kind::Scalar, _) => Some(value.clone()),
        (Kind::Map, Value::Object(entries)) if !schema.is_atomic(kind) => {
            let mut left = Map::new();
            for (name, entry) in entries {
                let element = Element::field(name);
                if gone.has(&element) {
                    continue;
                }
                let kept = match (gone.below(&element), schema.member(name).schema()) {
                    (Some(below), Some(next)) => without(next, entry, below).unwrap_or(Value::Null),
                    _ => entry.clone(),
                };
                left.insert(name.clone(), kept);
            }
            (!left.is_empty()).then_some(Value::Object(left))
        }
        (Kind::List, Value::Array(items)) if !schema.is_atomic(kind) => {
            let mut left = Vec::new();
            for item in items {
                let Ok(element) = schema.element(item) else {
                    left.push(item.clone());
                    continue;
                };
                if gone.has(&element) {
                    continue;
                }
                left.push(match gone.below(&element) {
                    Some(below) => without(schema.item(), item, below).unwrap_or(Value::Null),
                    None => item.clone(),
                });
            }
            (!left.is_empty()).then_some(Value::Array(left))
        }
        _ => None,
    }
}
