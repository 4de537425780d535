//! Hooks of CloudflareAccount: an account is named by the ID in its spec, read and never written.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::member;
use crate::table::{Hooks, Invalid, Parents};

/// The hooks of the kind's row.
pub static HOOKS: Hooks =
    Hooks { body, canonical, key, loose_key: key, refuses_twins: |_| true, refused: |_, _| None };

// Never sent: the ID is all that the spec decides, and makes the spec's key the account's.
fn body(spec: &Value, _parents: &Parents<'_>) -> Result<Value, Invalid> {
    Ok(json!({ "id": member::text(spec, "accountID") }))
}

fn canonical(wire: &Value, _parents: &Parents<'_>) -> Value {
    json!({ "id": member::text(wire, "id"), "name": member::text(wire, "name") })
}

fn key(canonical: &Value) -> BTreeMap<&'static str, String> {
    BTreeMap::from([("id", member::text(canonical, "id").to_owned())])
}
