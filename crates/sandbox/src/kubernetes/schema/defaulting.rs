//! The defaults of a schema: filling them in, and whether they are valid values themselves. Null where the
//! schema allows none counts as absent, so it goes first: it is removed, or replaced by the default.

use serde_json::Value;

use super::cause::Cause;
use super::node::{Additional, Node};
use super::path::Path;
use super::{pruning, rule, uniqueness, validation};

/// Removes the nulls nobody allowed and fills in the defaults.
pub(super) fn apply(root: &Node, object: &mut Value) {
    remove_nulls(Some(root), object);
    fill(root, object);
}

fn remove_nulls(node: Option<&Node>, value: &mut Value) {
    let Some(node) = node else { return };
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| {
                let schema = node.member(name);
                !(value.is_null()
                    && schema.is_some_and(|schema| !schema.nullable && schema.default.is_none()))
            });
            for (name, value) in fields {
                remove_nulls(node.member(name), value);
            }
        }
        Value::Array(items) => {
            for value in items {
                remove_nulls(node.items.as_deref(), value);
            }
        }
        _ => {}
    }
}

/// Fills in the defaults.
pub(super) fn fill(node: &Node, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, property) in &node.properties {
                let Some(default) = &property.node.default else { continue };
                let absent = fields.get(name).is_none_or(|value| value.is_null() && !property.node.nullable);
                if absent {
                    fields.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in fields {
                if let Some(schema) = node.member(name) {
                    replace_null(schema, value);
                    fill(schema, value);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = node.items.as_deref() else { return };
            for value in items {
                replace_null(schema, value);
                fill(schema, value);
            }
        }
        _ => {}
    }
}

fn replace_null(schema: &Node, value: &mut Value) {
    if let (Value::Null, false, Some(default)) = (&*value, schema.nullable, &schema.default) {
        *value = default.clone();
    }
}

/// Whether every default of the schema is pruned and valid (`structuraldefaulting.ValidateDefaults`).
pub(super) fn check(node: &Node, path: &Path<'_>, causes: &mut Vec<Cause>) {
    if let Some(default) = &node.default {
        check_one(node, default, &path.field("default").bracketed(), causes);
    }
    if let Some(items) = node.items.as_deref() {
        check(items, &path.field("items"), causes);
    }
    if let Some(Additional::Schema(schema)) = &node.additional {
        check(schema, &path.field("additionalProperties"), causes);
    }
    let properties = path.field("properties");
    for (name, property) in &node.properties {
        check(&property.node, &properties.key(name), causes);
    }
}

fn check_one(node: &Node, default: &Value, field: &str, causes: &mut Vec<Cause>) {
    if pruning::has_unknown_fields(node, default) {
        causes.push(Cause::invalid(field.to_owned(), default, "must not have unknown fields"));
    }
    let mut complaints = validation::validate(node, default, None, field);
    if complaints.is_empty() {
        let place = Path::start(field);
        uniqueness::check(node, default, &place, &mut complaints);
        rule::walk::check(node, default, Some(default), &place, &mut complaints);
        if complaints.is_empty() {
            // Rules with an optional old value also see the default on a create.
            rule::walk::check(node, default, None, &place, &mut complaints);
        }
    }
    causes.append(&mut complaints);
}
