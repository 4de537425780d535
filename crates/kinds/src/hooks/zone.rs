//! Hooks of Zone.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::domain_name;
use crate::table::{Hooks, Invalid, Parents};

/// The hooks of the kind's row.
pub static HOOKS: Hooks = Hooks { body, canonical, key, loose_key: key, refuses_twins: |_| true, refused: |_, _| None };

fn body(spec: &Value, _parents: &Parents<'_>) -> Result<Value, Invalid> {
    let name = spec.get("name").and_then(Value::as_str).unwrap_or_default();
    let kind = spec.get("type").and_then(Value::as_str).unwrap_or("full");
    Ok(json!({ "name": domain_name::canonical(name), "type": kind }))
}

fn canonical(wire: &Value, _parents: &Parents<'_>) -> Value {
    let text = |pointer: &str| wire.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    json!({
        "name": domain_name::canonical(text("/name")),
        "type": text("/type"),
        "plan": { "legacy_id": text("/plan/legacy_id") },
        "account": { "id": text("/account/id") },
    })
}

fn key(canonical: &Value) -> BTreeMap<&'static str, String> {
    let name = canonical.get("name").and_then(Value::as_str).unwrap_or_default();
    BTreeMap::from([("name", name.to_owned())])
}
