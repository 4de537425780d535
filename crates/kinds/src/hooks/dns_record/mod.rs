//! Hooks of DNSRecord: what a record's spec means to Cloudflare, when two records are one, and what Cloudflare would
//! refuse. The types are told apart here alone; the table, the engine and the batches know none of them.
//! A type that is not managed keeps its content as Cloudflare wrote it, and a spec of that type is refused.

mod address;
mod body;
mod canonical;
mod encoding;
mod layout;
mod line;
mod parameters;
mod part;
mod record_type;
mod refusal;
mod settings;
mod structured;
mod target;
mod text;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

use self::record_type::RecordType;
use super::member;
use crate::table::{Hooks, Parents};

/// The hooks of the kind's row.
pub static HOOKS: Hooks = Hooks {
    body: body::body,
    canonical: canonical::canonical,
    key,
    loose_key,
    refuses_twins,
    unusable: |_| None,
    recheck: |_| None,
    awaits,
    refused: refusal::refused,
};

/// The spec field that names the record's zone.
const ZONE: &str = "zoneRef";

/// The zone's name in the form that is compared, once the Zone is known.
fn zone_name(parents: &Parents<'_>) -> Option<String> {
    let name = parents.get(ZONE)?.spec_str("/name")?;
    Some(super::domain_name::canonical(name)).filter(|name| !name.is_empty())
}

// Name and type, and what tells records of one name and type apart (K13). There is one CNAME per name, so that
// another target is another content of the same record. The priority of MX and URI is no part of their content:
// Cloudflare refuses the same content a second time whatever its priority, and one that changes is a change.
fn key(canonical: &Value) -> BTreeMap<&'static str, String> {
    let mut key = loose_key(canonical);
    let record_type = RecordType::of(canonical);
    if record_type == Some(RecordType::Cname) {
        return key;
    }
    let data = canonical.get("data").filter(|data| !data.is_null());
    let content = match (data, record_type.and_then(RecordType::layout)) {
        (Some(data), Some(layout)) => structured::rendered(layout, data),
        (Some(data), None) => member::rendered(Some(data)),
        (None, _) => member::text(canonical, "content").to_owned(),
    };
    key.insert("content", content);
    key
}

/// A DS record stands only beside the NS records that delegate its name (RFC 4035, section 2.4). Applied together, either
/// may come first, and Cloudflare refuses the one that comes too early (case R11).
fn awaits(canonical: &Value) -> Option<&'static str> {
    (member::text(canonical, "type") == "DS").then_some("an NS record of the same name")
}

fn loose_key(canonical: &Value) -> BTreeMap<&'static str, String> {
    ["type", "name"].into_iter().map(|part| (part, member::text(canonical, part).to_owned())).collect()
}

fn refuses_twins(canonical: &Value) -> bool {
    RecordType::of(canonical).is_some_and(RecordType::refuses_twins)
}
