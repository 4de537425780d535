//! Tests of the record hooks, as the engine calls them: spec, body, what Cloudflare makes of it, and back.
//! Named after the situation, with the number of the case it comes from.

mod body;
mod canonical;
mod random;
mod refusal;
mod spelling;
mod totality;

use serde_json::{Value, json};

use super::HOOKS;
use crate::Resource;
use crate::table::{Invalid, Parents};

/// A Zone as it stands in Kubernetes; an empty plan is one that is not known yet.
fn zone(name: &str, plan: &str) -> Resource {
    Resource {
        spec: json!({ "name": name }),
        status: json!({ "cloudflareMetadata": { "zoneID": "z1", "plan": plan, "status": "active" } }),
        ..Resource::default()
    }
}

fn body_in(spec: &Value, zone: &Resource) -> Result<Value, Invalid> {
    (HOOKS.body)(spec, &Parents::from([("zoneRef", zone)]))
}

/// The body of a spec in example.com.
fn body(spec: &Value) -> Result<Value, Invalid> {
    body_in(spec, &zone("example.com", "free"))
}

fn canonical(wire: &Value) -> Value {
    (HOOKS.canonical)(wire, &Parents::new())
}

/// The canonical form of a spec in example.com, or the field that cannot work.
fn desired(spec: &Value) -> Result<Value, String> {
    body(spec).map(|body| canonical(&body)).map_err(|invalid| invalid.field)
}

/// What a spec comes to: its refusal in a zone of that plan.
fn refused(spec: &Value, plan: &str) -> Option<Invalid> {
    let zone = zone("example.com", plan);
    let parents = Parents::from([("zoneRef", &zone)]);
    let body = body(spec).unwrap_or_else(|invalid| panic!("{spec}: {invalid}"));
    (HOOKS.refused)(&(HOOKS.canonical)(&body, &parents), &parents)
}

/// `members` laid over `base`.
fn with(base: &Value, members: &Value) -> Value {
    let mut record = base.clone();
    if let (Some(record), Some(members)) = (record.as_object_mut(), members.as_object()) {
        record.extend(members.clone());
    }
    record
}
