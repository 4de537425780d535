//! Resources that say Ready: Cloudflare holds what they ask for, by the sandbox's own reading of what they ask for.

use std::collections::BTreeMap;

use sandbox::cloudflare::{Change, OUT_OF_BAND};
use serde_json::{Map, Value, json};

use super::super::facts::Facts;
use super::super::object::{is_ready, key, path, text};
use super::account;
use crate::world::World;

/// What every record has, set in the spec or not.
const ALWAYS: [&str; 7] = ["name", "type", "content", "data", "priority", "ttl", "proxied"];
/// What is Cloudflare's own business unless the spec names it.
const OPTIONAL: [&str; 3] = ["comment", "tags", "settings"];

/// Resources that are Ready although Cloudflare, or their parent, is not as they say.
pub(super) fn lies(world: &World, facts: &Facts) -> Vec<String> {
    let records: BTreeMap<String, Value> = world
        .cloudflare
        .records_anywhere()
        .into_iter()
        .map(|(_, record)| (text(&record, "/id").to_owned(), record))
        .collect();
    let mut broken = Vec::new();
    for (kind, object) in world.resources() {
        if !is_ready(&object) {
            continue;
        }
        let paused = super::reasons::is_paused(&object);
        let found = match kind {
            // Nobody looked at it since it was paused.
            _ if paused => None,
            _ if object["status"]["observedGeneration"] != object["metadata"]["generation"] => {
                Some("it is Ready for a generation that nobody looked at".to_owned())
            }
            "DNSRecord" => record_lies(world, facts, &records, &object),
            "Zone" => zone_lies(world, &object),
            _ => account::problem(world, &object),
        };
        let (namespace, name) = key(&object);
        broken.extend(found.map(|what| format!("{kind} {namespace}/{name} is Ready, but {what}")));
    }
    broken
}

fn record_lies(
    world: &World,
    facts: &Facts,
    records: &BTreeMap<String, Value>,
    object: &Value,
) -> Option<String> {
    let (namespace, _) = key(object);
    let zone = world.kubernetes.get("Zone", Some(&namespace), text(object, "/spec/zoneRef/name"));
    let zone = zone.filter(is_ready).ok_or("its Zone is not Ready");
    let zone_id = match zone {
        Ok(zone) => text(&zone, "/status/cloudflareMetadata/zoneID").to_owned(),
        Err(why) => return Some(why.to_owned()),
    };
    if text(object, "/status/zoneID") != zone_id {
        return Some(format!("its status names zone {}, not {zone_id}", object["status"]["zoneID"]));
    }
    let id = text(object, "/status/recordID");
    let Some(record) = records.get(id) else { return Some(format!("record {id:?} does not exist")) };
    let spec = &object["spec"];
    let wanted = match world.cloudflare.judge_record(&zone_id, Some(id), &body(spec)) {
        Ok(wanted) => wanted,
        // It stays when its NS goes; only a new one would be refused.
        Err(_) if spec["type"] == "DS" => return None,
        Err(errors) => return Some(format!("Cloudflare would refuse it: {errors}")),
    };
    let is_set = |field: &&&str| path(spec, &format!("/{field}")).is_some();
    let compared = ALWAYS.iter().chain(OPTIONAL.iter().filter(is_set));
    let mut differing = compared.filter(|field| wanted[**field] != record[**field]);
    if let Some(field) = differing.next() {
        return Some(format!("its {field} is {} in Cloudflare, not {}", record[*field], wanted[*field]));
    }
    dropped(facts, object, record)
}

/// The body of a record as a spec names it; names, hosts and texts as they are written there.
pub(super) fn body(spec: &Value) -> Value {
    let mut body = Map::new();
    for field in ["name", "type", "content", "data", "priority", "ttl", "proxied", "comment", "tags"] {
        if let Some(value) = path(spec, &format!("/{field}")) {
            body.insert(field.to_owned(), value.clone());
        }
    }
    if let Some(settings) = path(spec, "/settings") {
        let wire = [("ipv4Only", "ipv4_only"), ("ipv6Only", "ipv6_only"), ("flattenCname", "flatten_cname")];
        let set = wire.into_iter().map(|(name, wire)| (wire.to_owned(), json!(settings[name] == true)));
        body.insert("settings".to_owned(), Value::Object(set.collect()));
    }
    Value::Object(body)
}

/// An optional field that kflare wrote last and that the spec no longer has.
pub(super) fn dropped(facts: &Facts, object: &Value, record: &Value) -> Option<String> {
    let life = facts.lives.get(text(object, "/metadata/uid"))?;
    // Who wiped the status took the memory of what was written.
    if life.was_tampered_with() {
        return None;
    }
    let id = text(record, "/id");
    let changes: Vec<&Change> = facts.changes.iter().filter(|change| change.id == id).collect();
    let is_empty = |value: &Value| value.is_null() || *value == json!([]) || *value == json!({});
    let unset = OPTIONAL.iter().filter(|field| path(&object["spec"], &format!("/{field}")).is_none());
    unset
        .filter(|field| !is_empty(&record[**field]))
        .find(|field| {
            let wrote = |change: &&&Change| {
                let part = |side: &Option<Value>| {
                    side.as_ref().map(|side| side[**field].clone()).unwrap_or_default()
                };
                part(&change.before) != part(&change.after)
            };
            changes.iter().rfind(wrote).is_some_and(|change| change.who != OUT_OF_BAND)
        })
        .map(|field| format!("its {field} is still {} although the spec dropped it", record[*field]))
}

fn zone_lies(world: &World, object: &Value) -> Option<String> {
    let account = world.kubernetes.get("CloudflareAccount", None, text(object, "/spec/accountRef/name"));
    if !account.as_ref().is_some_and(is_ready) {
        return Some("its CloudflareAccount is not Ready".to_owned());
    }
    let id = text(object, "/status/cloudflareMetadata/zoneID");
    let zones = world.cloudflare.zones();
    let Some(zone) = zones.iter().find(|zone| zone["id"] == id) else {
        return Some(format!("zone {id:?} does not exist"));
    };
    let wanted_account = account.map(|account| account["spec"]["accountID"].clone()).unwrap_or_default();
    let plan = path(&object["spec"], "/plan");
    [
        ("name", &zone["name"], &object["spec"]["name"]),
        ("type", &zone["type"], &object["spec"]["type"]),
        ("account", &zone["account"]["id"], &wanted_account),
        ("plan", &zone["plan"]["legacy_id"], plan.unwrap_or(&zone["plan"]["legacy_id"])),
    ]
    .into_iter()
    .find(|(_, has, wants)| has != wants)
    .map(|(what, has, wants)| format!("its {what} is {has} in Cloudflare, not {wants}"))
    .or_else(|| (zone["status"] == "moved").then(|| "the zone has moved".to_owned()))
}
