//! Hooks of CloudflareAccount: an account is read by the ID in its spec and never written.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::table::{Hooks, Invalid, Parents};

/// The hooks of the kind's row.
pub static HOOKS: Hooks = Hooks { body, canonical, key, loose_key: key, refuses_twins: |_| true, refused: |_, _| None };

// Accounts are observed only: no request of ours ever carries a body.
fn body(_spec: &Value, _parents: &Parents<'_>) -> Result<Value, Invalid> {
    Ok(Value::Null)
}

fn canonical(wire: &Value, _parents: &Parents<'_>) -> Value {
    json!({ "id": text(wire, "id"), "name": text(wire, "name") })
}

fn key(canonical: &Value) -> BTreeMap<&'static str, String> {
    BTreeMap::from([("id", text(canonical, "id").to_owned())])
}

fn text<'v>(object: &'v Value, member: &str) -> &'v str {
    object.get(member).and_then(Value::as_str).unwrap_or_default()
}
