//! SRV records: where a service runs. Cloudflare answers them as `data`, as composed `content` and with the priority
//! at the top level too; all are one record.

use serde_json::{Value, json};

use super::structured::Written;
use super::target::{self, Naming};
use crate::hooks::member;
use crate::table::Invalid;

/// Priority, weight and port are 16 bits each (RFC 2782).
pub(super) const NUMBER_MAX: u64 = 65_535;

/// The record in the form that is compared, from `data`, or from `content` when there is none.
pub(super) fn canonical(wire: &Value) -> Value {
    let content = member::text(wire, "content");
    // Data of other types may stand there (case B053); only with a target is it ours.
    let data = match wire.get("data").filter(|data| data.get("target").is_some()) {
        Some(data) => data.clone(),
        None => parts(content).unwrap_or_else(|| json!({ "target": content })),
    };
    let priority = if member::present(&data, "priority").is_some() { &data } else { wire };
    json!({
        "priority": member::number(priority, "priority", 0),
        "weight": member::number(&data, "weight", 0),
        "port": member::number(&data, "port", 0),
        "target": target::canonical(member::text(&data, "target")),
    })
}

/// A user's record as `data` to send.
pub(super) fn outgoing(spec: &Value, zone: &str) -> Result<Value, Invalid> {
    let written = Written::read(spec, "an object with priority, weight, port and target", parts)?;
    let written = written.or_top_level("priority", spec);
    let target = written.text("target")?;
    Ok(json!({
        "priority": written.number("priority", NUMBER_MAX)?,
        "weight": written.number("weight", NUMBER_MAX)?,
        "port": written.number("port", NUMBER_MAX)?,
        "target": target::outgoing(target, zone, Naming::Host).map_err(|problem| written.invalid("target", problem))?,
    }))
}

/// A canonical record as it is told apart from others of its name.
pub(super) fn rendered(data: &Value) -> String {
    ["priority", "weight", "port", "target"].map(|part| member::rendered(data.get(part))).join(" ")
}

// As zone files write it, `priority weight port target`, or as Cloudflare does, without the priority.
fn parts(content: &str) -> Option<Value> {
    let words: Vec<&str> = content.split_whitespace().collect();
    match words[..] {
        [weight, port, target] => Some(json!({ "weight": weight, "port": port, "target": target })),
        [priority, weight, port, target] => {
            Some(json!({ "priority": priority, "weight": weight, "port": port, "target": target }))
        }
        _ => None,
    }
}
