//! Hooks of DNSRecord.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::domain_name;
use crate::table::{Hooks, Invalid, Parents};

/// The hooks of the kind's row.
pub static HOOKS: Hooks = Hooks { body, canonical, key, loose_key, refuses_twins, refused: |_, _| None };

fn body(spec: &Value, _parents: &Parents<'_>) -> Result<Value, Invalid> {
    Ok(json!({ "type": text(spec, "type"), "name": domain_name::canonical(text(spec, "name")), "content": text(spec, "content") }))
}

fn canonical(wire: &Value, _parents: &Parents<'_>) -> Value {
    json!({ "type": text(wire, "type"), "name": domain_name::canonical(text(wire, "name")), "content": text(wire, "content") })
}

fn key(canonical: &Value) -> BTreeMap<&'static str, String> {
    let mut key = loose_key(canonical);
    key.insert("content", text(canonical, "content").to_owned());
    key
}

fn loose_key(canonical: &Value) -> BTreeMap<&'static str, String> {
    ["type", "name"].into_iter().map(|member| (member, text(canonical, member).to_owned())).collect()
}

fn refuses_twins(canonical: &Value) -> bool {
    text(canonical, "type") != "SRV"
}

fn text<'v>(object: &'v Value, member: &str) -> &'v str {
    object.get(member).and_then(Value::as_str).unwrap_or_default()
}
