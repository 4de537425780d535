//! Hooks of DNSRecord: what a record's spec means to Cloudflare, when two records are one, and what Cloudflare would
//! refuse. The types are told apart here alone; the table, the engine and the batches know none of them.
//! A type that is not managed keeps its content as Cloudflare wrote it, and a spec of that type is refused.

mod address;
mod authority;
mod body;
mod canonical;
mod refusal;
mod service;
mod structured;
mod target;
mod text;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

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
    refused: refusal::refused,
};

/// The spec field that names the record's zone.
const ZONE: &str = "zoneRef";

/// The record types that kflare manages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordType {
    A,
    Aaaa,
    Caa,
    Cname,
    Mx,
    Srv,
    Txt,
}

impl RecordType {
    const NAMES: &[(&str, Self)] = &[
        ("A", Self::A),
        ("AAAA", Self::Aaaa),
        ("CAA", Self::Caa),
        ("CNAME", Self::Cname),
        ("MX", Self::Mx),
        ("SRV", Self::Srv),
        ("TXT", Self::Txt),
    ];

    /// The type of a spec, a body or an object of Cloudflare's.
    fn of(record: &Value) -> Option<Self> {
        let written = member::text(record, "type");
        Self::NAMES.iter().find(|(name, _)| *name == written).map(|(_, found)| *found)
    }

    /// Whether Cloudflare can put its proxy before such a record.
    fn can_be_proxied(self) -> bool {
        matches!(self, Self::A | Self::Aaaa | Self::Cname)
    }
}

/// The zone's name in the form that is compared, once the Zone is known.
fn zone_name(parents: &Parents<'_>) -> Option<String> {
    let name = parents.get(ZONE)?.spec_str("/name")?;
    Some(super::domain_name::canonical(name)).filter(|name| !name.is_empty())
}

// Name and type, and what tells records of one name and type apart (K13). There is one CNAME per name, so that
// another target is another content of the same record.
fn key(canonical: &Value) -> BTreeMap<&'static str, String> {
    let mut key = loose_key(canonical);
    let data = canonical.get("data").unwrap_or(&Value::Null);
    let content = member::text(canonical, "content");
    let content = match RecordType::of(canonical) {
        Some(RecordType::Cname) => return key,
        Some(RecordType::Caa) => authority::rendered(data),
        Some(RecordType::Srv) => service::rendered(data),
        Some(RecordType::Mx) => format!("{} {content}", member::rendered(canonical.get("priority"))),
        Some(RecordType::A | RecordType::Aaaa | RecordType::Txt) => content.to_owned(),
        None if content.is_empty() => member::rendered(Some(data)),
        None => content.to_owned(),
    };
    key.insert("content", content);
    key
}

fn loose_key(canonical: &Value) -> BTreeMap<&'static str, String> {
    ["type", "name"].into_iter().map(|part| (part, member::text(canonical, part).to_owned())).collect()
}

// Cloudflare answers 81058 to a second identical record, but takes an identical SRV twice (case B051,
// cloudflare/terraform-provider-cloudflare#750). What is not known of a type costs a look before its create.
fn refuses_twins(canonical: &Value) -> bool {
    RecordType::of(canonical).is_some_and(|record_type| record_type != RecordType::Srv)
}
