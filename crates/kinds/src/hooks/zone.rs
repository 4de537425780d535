//! Hooks of Zone: one domain, whatever its spelling. The account is put into the create's body by the route, and the
//! plan is changed by a call of its own; both stand in the table.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::domain_name;
use super::member::{self, invalid};
use crate::table::{Hooks, Invalid, Parents};

/// The hooks of the kind's row. Cloudflare refuses a second zone of one name in any account (1061).
pub static HOOKS: Hooks =
    Hooks { body, canonical, key, loose_key: key, refuses_twins: |_| true, refused: |_, _| None };

/// What Cloudflare makes of a zone whose type nobody names.
const TYPE_DEFAULT: &str = "full";

// The plan is part of the body only when the user names one: it is what the spec decides, at its wire place.
fn body(spec: &Value, _parents: &Parents<'_>) -> Result<Value, Invalid> {
    let name = domain_name::parse(member::text(spec, "name"))
        .map_err(|error| invalid("name", format!("{error} (Cloudflare: 1002)")))?;
    let mut body = json!({ "name": name, "type": zone_type(spec) });
    if let Some(plan) = spec.get("plan").and_then(Value::as_str) {
        body["plan"] = json!({ "legacy_id": plan });
    }
    Ok(body)
}

// Cloudflare lists some zones in Unicode and some in punycode (case B059).
fn canonical(wire: &Value, _parents: &Parents<'_>) -> Value {
    let text_or_null = |pointer| wire.pointer(pointer).filter(|value| value.is_string()).cloned();
    json!({
        "name": domain_name::canonical(member::text(wire, "name")),
        "type": zone_type(wire),
        "plan": { "legacy_id": text_or_null("/plan/legacy_id") },
        "account": { "id": text_or_null("/account/id") },
    })
}

fn key(canonical: &Value) -> BTreeMap<&'static str, String> {
    BTreeMap::from([("name", member::text(canonical, "name").to_owned())])
}

fn zone_type(zone: &Value) -> &str {
    match member::text(zone, "type") {
        "" => TYPE_DEFAULT,
        named => named,
    }
}
