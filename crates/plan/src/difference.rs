//! What the spec wants against what Cloudflare has, field by field, on canonical forms.
//! Compares only what the spec decides: an unset field is not ours, unless we once wrote it (design, "Fields once set").

use kinds::table::{Parents, WhenUnset};
use kinds::{Kind, Resource};
use serde_json::{Map, Value};

use crate::act::FieldDiff;
use crate::context::Desired;

/// The fields that an update has to change.
#[must_use]
pub fn differences(
    kind: &Kind,
    resource: &Resource,
    desired: &Desired,
    live: &Value,
    parents: &Parents<'_>,
) -> Vec<FieldDiff> {
    let live = (kind.hooks.canonical)(live, parents);
    let applied = resource.applied_fields();
    let mut diffs = Vec::new();
    for field in kind.fields {
        let has = live.pointer(field.wire).cloned().unwrap_or_default();
        let is_set = is_set(resource, field.name);
        let wants = match field.unset {
            WhenUnset::Kept if !is_set => continue,
            WhenUnset::Unmanaged { .. } if !is_set && !applied.contains(field.name) => continue,
            WhenUnset::Unmanaged { clear } if !is_set => cleared(kind, field.wire, clear, parents),
            _ => desired.canonical.pointer(field.wire).cloned().unwrap_or_default(),
        };
        if wants != has {
            diffs.push(FieldDiff { field: field.name, from: has, to: wants });
        }
    }
    diffs
}

/// The body that changes exactly the fields of `diffs`.
#[must_use]
pub fn update_body(kind: &Kind, resource: &Resource, desired: &Desired, diffs: &[FieldDiff]) -> Value {
    let mut body = Value::Object(Map::new());
    for diff in diffs {
        let Some(field) = kind.fields.iter().find(|field| field.name == diff.field) else { continue };
        let value = match field.unset {
            WhenUnset::Unmanaged { clear } if !is_set(resource, field.name) => {
                serde_json::from_str(clear).unwrap_or_default()
            }
            _ => desired
                .body
                .pointer(field.wire)
                .or_else(|| desired.canonical.pointer(field.wire))
                .cloned()
                .unwrap_or_default(),
        };
        put(&mut body, field.wire, value);
    }
    body
}

/// A body without the fields that have a call of their own: the create's route does not take them.
#[must_use]
pub(crate) fn without_own_calls(kind: &Kind, body: &Value) -> Value {
    let mut body = body.clone();
    for field in kind.fields.iter().filter(|field| field.own_call.is_some()) {
        let first = field.wire.split('/').nth(1).unwrap_or_default();
        if let Some(members) = body.as_object_mut() {
            members.remove(first);
        }
    }
    body
}

/// The body of a create below `parent`.
#[must_use]
pub(crate) fn create_body(kind: &Kind, body: &Value, parent: &str) -> Value {
    let mut body = without_own_calls(kind, body);
    if let Some(pointer) = kind.routes.parent_in_body {
        put(&mut body, pointer, Value::String(parent.to_owned()));
    }
    body
}

/// The names of the optional fields that the spec sets now, for `status.appliedFields`.
#[must_use]
pub fn set_fields(kind: &Kind, resource: &Resource) -> Vec<&'static str> {
    let unmanaged = |field: &&kinds::table::Field| matches!(field.unset, WhenUnset::Unmanaged { .. });
    kind.fields
        .iter()
        .filter(unmanaged)
        .filter(|field| is_set(resource, field.name))
        .map(|field| field.name)
        .collect()
}

fn is_set(resource: &Resource, field: &str) -> bool {
    resource.spec.get(field).is_some_and(|value| !value.is_null())
}

/// How a cleared field looks in canonical form.
fn cleared(kind: &Kind, wire: &str, clear: &str, parents: &Parents<'_>) -> Value {
    let mut object = Value::Object(Map::new());
    put(&mut object, wire, serde_json::from_str(clear).unwrap_or_default());
    (kind.hooks.canonical)(&object, parents).pointer(wire).cloned().unwrap_or_default()
}

/// Sets `value` at a JSON pointer, making the objects on the way.
pub(crate) fn put(target: &mut Value, pointer: &str, value: Value) {
    let mut place = target;
    for name in pointer.split('/').skip(1) {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(members) = place else { return };
        place = members.entry(name).or_insert(Value::Null);
    }
    *place = value;
}
