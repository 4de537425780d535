//! The cells of the built-in kinds' tables, as `pkg/printers/internalversion` writes them. Leaves it to
//! `table` which kind has which.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::age as duration;

const NONE: &str = "<none>";
const UNKNOWN: &str = "<unknown>";
const UNSET: &str = "<unset>";
/// Hosts that a table shows before it says how many more there are.
const HOSTS_SHOWN: usize = 3;

fn str_at<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn list_at<'v>(object: &'v Value, pointer: &str) -> &'v [Value] {
    object.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn or_none(text: String) -> Value {
    Value::String(if text.is_empty() { NONE.to_owned() } else { text })
}

fn since(timestamp: &str, now: Timestamp) -> Value {
    json!(if timestamp.is_empty() { UNKNOWN.to_owned() } else { duration::since(timestamp, now) })
}

fn pairs(map: &Value) -> String {
    let pairs = map.as_object().into_iter().flatten();
    let pairs: Vec<String> =
        pairs.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    pairs.join(",")
}

pub(crate) fn name(object: &Value, _: Timestamp) -> Value {
    object["metadata"]["name"].clone()
}

pub(crate) fn age(object: &Value, now: Timestamp) -> Value {
    since(str_at(object, "/metadata/creationTimestamp"), now)
}

pub(crate) fn created_at(object: &Value, _: Timestamp) -> Value {
    object["metadata"]["creationTimestamp"].clone()
}

pub(crate) fn phase(object: &Value, _: Timestamp) -> Value {
    json!(str_at(object, "/status/phase"))
}

pub(crate) fn kind_of(object: &Value, _: Timestamp) -> Value {
    json!(str_at(object, "/type"))
}

pub(crate) fn data_count(object: &Value, _: Timestamp) -> Value {
    let count = |field: &str| object[field].as_object().map_or(0, serde_json::Map::len);
    json!(count("data") + count("binaryData"))
}

pub(crate) fn service_type(object: &Value, _: Timestamp) -> Value {
    json!(str_at(object, "/spec/type"))
}

pub(crate) fn cluster_ip(object: &Value, _: Timestamp) -> Value {
    or_none(str_at(object, "/spec/clusterIP").to_owned())
}

pub(crate) fn external_ip(object: &Value, _: Timestamp) -> Value {
    if str_at(object, "/spec/type") == "ExternalName" {
        return or_none(str_at(object, "/spec/externalName").to_owned());
    }
    let given = list_at(object, "/spec/externalIPs").iter().filter_map(Value::as_str);
    let addresses: Vec<&str> = given.chain(addresses(object)).collect();
    if addresses.is_empty() && str_at(object, "/spec/type") == "LoadBalancer" {
        return json!("<pending>");
    }
    or_none(addresses.join(","))
}

fn addresses(object: &Value) -> impl Iterator<Item = &str> {
    let ingress = list_at(object, "/status/loadBalancer/ingress");
    ingress.iter().filter_map(|entry| entry["ip"].as_str().or_else(|| entry["hostname"].as_str()))
}

pub(crate) fn service_ports(object: &Value, _: Timestamp) -> Value {
    let ports: Vec<String> = list_at(object, "/spec/ports")
        .iter()
        .map(|port| {
            let protocol = str_at(port, "/protocol");
            match port["nodePort"].as_u64() {
                Some(node) if node > 0 => format!("{}:{node}/{protocol}", port["port"]),
                _ => format!("{}/{protocol}", port["port"]),
            }
        })
        .collect();
    or_none(ports.join(","))
}

pub(crate) fn service_selector(object: &Value, _: Timestamp) -> Value {
    or_none(pairs(&object["spec"]["selector"]))
}

pub(crate) fn reason(object: &Value, _: Timestamp) -> Value {
    json!(str_at(object, "/reason"))
}

pub(crate) fn message(object: &Value, _: Timestamp) -> Value {
    json!(str_at(object, "/message").trim())
}

pub(crate) fn event_object(object: &Value, _: Timestamp) -> Value {
    let kind = str_at(object, "/involvedObject/kind").to_lowercase();
    let name = str_at(object, "/involvedObject/name");
    json!(if kind.is_empty() { format!("/{name}") } else { format!("{kind}/{name}") })
}

pub(crate) fn event_field(object: &Value, _: Timestamp) -> Value {
    json!(str_at(object, "/involvedObject/fieldPath"))
}

pub(crate) fn event_source(object: &Value, _: Timestamp) -> Value {
    let parts = [str_at(object, "/source/component"), str_at(object, "/source/host")];
    let old = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    if !old.is_empty() {
        return json!(old);
    }
    let parts = [str_at(object, "/reportingComponent"), str_at(object, "/reportingInstance")];
    json!(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "))
}

fn first_time(object: &Value) -> &str {
    let first = str_at(object, "/firstTimestamp");
    if first.is_empty() { str_at(object, "/eventTime") } else { first }
}

pub(crate) fn first_seen(object: &Value, now: Timestamp) -> Value {
    since(first_time(object), now)
}

pub(crate) fn last_seen(object: &Value, now: Timestamp) -> Value {
    let series = str_at(object, "/series/lastObservedTime");
    let last = if series.is_empty() { str_at(object, "/lastTimestamp") } else { series };
    since(if last.is_empty() { first_time(object) } else { last }, now)
}

pub(crate) fn event_count(object: &Value, _: Timestamp) -> Value {
    let count = object["series"]["count"].as_u64().or_else(|| object["count"].as_u64());
    json!(count.filter(|count| *count > 0).unwrap_or(1).to_string())
}

pub(crate) fn holder(object: &Value, _: Timestamp) -> Value {
    json!(str_at(object, "/spec/holderIdentity"))
}

fn count_at(object: &Value, pointer: &str) -> u64 {
    object.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

pub(crate) fn ready(object: &Value, _: Timestamp) -> Value {
    json!(format!("{}/{}", count_at(object, "/status/readyReplicas"), count_at(object, "/spec/replicas")))
}

pub(crate) fn updated(object: &Value, _: Timestamp) -> Value {
    json!(count_at(object, "/status/updatedReplicas"))
}

pub(crate) fn available(object: &Value, _: Timestamp) -> Value {
    json!(count_at(object, "/status/availableReplicas"))
}

pub(crate) fn desired(object: &Value, _: Timestamp) -> Value {
    json!(count_at(object, "/spec/replicas"))
}

pub(crate) fn current(object: &Value, _: Timestamp) -> Value {
    json!(count_at(object, "/status/replicas"))
}

pub(crate) fn ready_count(object: &Value, _: Timestamp) -> Value {
    json!(count_at(object, "/status/readyReplicas"))
}

pub(crate) fn scope(object: &Value, _: Timestamp) -> Value {
    json!(str_at(object, "/spec/scope"))
}

pub(crate) fn served_versions(object: &Value, _: Timestamp) -> Value {
    let served = list_at(object, "/spec/versions").iter().filter(|version| version["served"] == true);
    let names = served.map(|version| {
        let mark = if version["storage"] == true { "(storage)" } else { "" };
        format!("{}{mark}", version["name"].as_str().unwrap_or_default())
    });
    json!(names.collect::<Vec<_>>().join(","))
}

pub(crate) fn defined_group(object: &Value, _: Timestamp) -> Value {
    json!(str_at(object, "/spec/group"))
}

pub(crate) fn defined_kind(object: &Value, _: Timestamp) -> Value {
    json!(str_at(object, "/spec/names/kind"))
}

pub(crate) fn defined_short_names(object: &Value, _: Timestamp) -> Value {
    let names = list_at(object, "/spec/names/shortNames").iter().filter_map(Value::as_str);
    json!(names.collect::<Vec<_>>().join(","))
}

pub(crate) fn established(object: &Value, _: Timestamp) -> Value {
    let is_true = |condition: &Value| condition["type"] == "Established" && condition["status"] == "True";
    json!(list_at(object, "/status/conditions").iter().any(is_true))
}

pub(crate) fn none(_: &Value, _: Timestamp) -> Value {
    json!(NONE)
}

pub(crate) fn pod_ready(object: &Value, _: Timestamp) -> Value {
    let ready = list_at(object, "/status/containerStatuses").iter().filter(|status| status["ready"] == true);
    json!(format!("{}/{}", ready.count(), list_at(object, "/spec/containers").len()))
}

pub(crate) fn pod_status(object: &Value, now: Timestamp) -> Value {
    if object["metadata"]["deletionTimestamp"].is_string() {
        json!("Terminating")
    } else {
        phase(object, now)
    }
}

pub(crate) fn restarts(object: &Value, _: Timestamp) -> Value {
    let counts = list_at(object, "/status/containerStatuses").iter();
    json!(counts.filter_map(|status| status["restartCount"].as_u64()).sum::<u64>().to_string())
}

pub(crate) fn address_type(object: &Value, _: Timestamp) -> Value {
    object["addressType"].clone()
}

pub(crate) fn slice_ports(object: &Value, _: Timestamp) -> Value {
    let ports: Vec<String> = list_at(object, "/ports").iter().map(|port| port["port"].to_string()).collect();
    json!(if ports.is_empty() { UNSET.to_owned() } else { ports.join(",") })
}

pub(crate) fn slice_addresses(object: &Value, _: Timestamp) -> Value {
    let all = list_at(object, "/endpoints").iter().flat_map(|endpoint| list_at(endpoint, "/addresses"));
    let addresses: Vec<&str> = all.filter_map(Value::as_str).collect();
    json!(if addresses.is_empty() { UNSET.to_owned() } else { addresses.join(",") })
}

fn container_texts(object: &Value, field: &str) -> Value {
    let containers = list_at(object, "/spec/template/spec/containers").iter();
    json!(containers.filter_map(|container| container[field].as_str()).collect::<Vec<_>>().join(","))
}

pub(crate) fn containers(object: &Value, _: Timestamp) -> Value {
    container_texts(object, "name")
}

pub(crate) fn images(object: &Value, _: Timestamp) -> Value {
    container_texts(object, "image")
}

pub(crate) fn deployment_selector(object: &Value, _: Timestamp) -> Value {
    or_none(pairs(&object["spec"]["selector"]["matchLabels"]))
}

pub(crate) fn ingress_class(object: &Value, _: Timestamp) -> Value {
    let annotation = &object["metadata"]["annotations"]["kubernetes.io/ingress.class"];
    let class = object["spec"]["ingressClassName"].as_str().or_else(|| annotation.as_str());
    or_none(class.unwrap_or_default().to_owned())
}

pub(crate) fn hosts(object: &Value, _: Timestamp) -> Value {
    let hosts: Vec<&str> =
        list_at(object, "/spec/rules").iter().filter_map(|rule| rule["host"].as_str()).collect();
    match hosts.as_slice() {
        [] => json!("*"),
        shown if shown.len() <= HOSTS_SHOWN => json!(shown.join(",")),
        many => {
            let shown = many.iter().take(HOSTS_SHOWN).copied().collect::<Vec<_>>().join(",");
            json!(format!("{shown} + {} more...", many.len() - HOSTS_SHOWN))
        }
    }
}

pub(crate) fn ingress_address(object: &Value, _: Timestamp) -> Value {
    json!(addresses(object).collect::<Vec<_>>().join(","))
}

pub(crate) fn ingress_ports(object: &Value, _: Timestamp) -> Value {
    json!(if list_at(object, "/spec/tls").is_empty() { "80" } else { "80, 443" })
}

pub(crate) fn controller(object: &Value, _: Timestamp) -> Value {
    json!(str_at(object, "/spec/controller"))
}

pub(crate) fn parameters(object: &Value, _: Timestamp) -> Value {
    let parameters = &object["spec"]["parameters"];
    if parameters.is_null() {
        return json!(NONE);
    }
    let group = str_at(parameters, "/apiGroup");
    let dot = if group.is_empty() { "" } else { "." };
    json!(format!("{}{dot}{group}/{}", str_at(parameters, "/kind"), str_at(parameters, "/name")))
}

pub(crate) fn role(object: &Value, _: Timestamp) -> Value {
    json!(format!("{}/{}", str_at(object, "/roleRef/kind"), str_at(object, "/roleRef/name")))
}

fn subjects(object: &Value, kind: &str) -> Value {
    let wanted = list_at(object, "/subjects").iter().filter(|subject| subject["kind"] == kind);
    let names: BTreeSet<String> = wanted
        .map(|subject| match subject["namespace"].as_str() {
            Some(namespace) => format!("{namespace}/{}", str_at(subject, "/name")),
            None => str_at(subject, "/name").to_owned(),
        })
        .collect();
    json!(names.into_iter().collect::<Vec<_>>().join(", "))
}

pub(crate) fn users(object: &Value, _: Timestamp) -> Value {
    subjects(object, "User")
}

pub(crate) fn groups(object: &Value, _: Timestamp) -> Value {
    subjects(object, "Group")
}

pub(crate) fn service_accounts(object: &Value, _: Timestamp) -> Value {
    subjects(object, "ServiceAccount")
}
