//! Cases that scenarios cannot tell: what the API server refuses, what must hold at every moment, and hundreds of
//! objects at once. What each number stands for is in docs/reference/cases.md. This file holds the worlds they share.

mod admission;
mod credentials;
mod many;
mod replicas;
mod steady;
mod vanishing;

use std::collections::BTreeMap;

use cli::world::{ACCOUNT_ID, Options, World};
use sandbox::cloudflare::{ObjectKind, Plan};
use serde_json::{Value, json};

const KIND: &str = "DNSRecord";
const DOMAIN: &str = "example.com";

pub(crate) fn resource(kind: &str, namespace: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": kinds::names::API_VERSION,
        "kind": kind,
        "metadata": { "name": name, "namespace": namespace },
        "spec": spec,
    })
}

/// A Zone that may take over the zone of its name.
pub(crate) fn zone(namespace: &str, name: &str, domain: &str) -> Value {
    let spec = json!({ "name": domain, "accountRef": { "name": "main" } });
    let mut zone = resource("Zone", namespace, name, &spec);
    zone["metadata"]["annotations"] = json!({ kinds::names::ADOPTION_POLICY: "adopt-or-create" });
    zone
}

/// A DNSRecord of the Zone `example-com` in the namespace `default`.
pub(crate) fn record(name: &str, spec: &Value) -> Value {
    let mut spec = spec.clone();
    spec["zoneRef"] = json!({ "name": "example-com" });
    resource(KIND, "default", name, &spec)
}

/// A running world with the active zone `example.com`, on a plan that holds thousands of records; and the zone's ID.
pub(crate) async fn with_zone(options: Options) -> (World, String) {
    let mut world = World::new(options).unwrap();
    let id = world.cloudflare.add_zone(ACCOUNT_ID, DOMAIN, Plan::Pro);
    world.cloudflare.activate_zone(&id);
    world.kubernetes.apply(zone("default", "example-com", DOMAIN)).unwrap();
    world.start();
    world.settle().await;
    (world, id)
}

pub(crate) fn get(world: &World, name: &str) -> Value {
    world.kubernetes.get(KIND, Some("default"), name).unwrap()
}

pub(crate) fn patch(world: &World, name: &str, spec: &Value) {
    world.kubernetes.patch(KIND, Some("default"), name, json!({ "spec": spec })).unwrap();
}

fn ready(object: &Value) -> Option<&Value> {
    let conditions = object["status"]["conditions"].as_array()?;
    conditions.iter().find(|condition| condition["type"] == kinds::names::READY)
}

pub(crate) fn is_ready(object: &Value) -> bool {
    ready(object).is_some_and(|condition| condition["status"] == "True")
}

/// The names of all resources of a kind that are not Ready.
pub(crate) fn unready(world: &World, kind: &str) -> Vec<String> {
    let objects = world.kubernetes.list(kind);
    objects
        .iter()
        .filter(|object| !is_ready(object))
        .map(|object| object["metadata"]["name"].to_string())
        .collect()
}

/// What became of Cloudflare's records since the first `from` changes: how many changes of each kind.
pub(crate) fn changes(world: &World, from: usize) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let history = world.cloudflare.history();
    for change in history.iter().skip(from).filter(|change| change.object == ObjectKind::DnsRecord) {
        *counts.entry(format!("{:?}", change.kind)).or_default() += 1;
    }
    counts
}
