//! Services, and the cluster addresses they get. Leaves endpoints to no one: nothing routes here.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::complaint::{duplicate, invalid, invalid_raw, required, unsupported};
use super::super::names::{NameRule, name_errors};
use super::super::schema::Cause;
use super::{entries, set_default, text};

const TYPES: &[&str] = &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];
/// First of the addresses given out: 10.96.0.0/12 is kubeadm's default range; .1 is the API server's own.
const FIRST_ADDRESS: u32 = 0x0a60_0001;
/// First of the ports given out (`--service-node-port-range`).
const FIRST_NODE_PORT: u32 = 30_000;
const NODE_PORTS: u32 = 2_768;

/// How long a client keeps its Pod (`core.DefaultClientIPServiceAffinitySeconds`).
const AFFINITY_SECONDS: u32 = 10_800;

/// A Service with node ports.
fn has_node_ports(spec: &Value) -> bool {
    matches!(text(spec, "type"), "NodePort" | "LoadBalancer")
}

pub(super) fn default(new: &mut Value) {
    let Some(spec) = new.get_mut("spec").filter(|spec| spec.is_object()) else { return };
    set_default(spec, "type", json!("ClusterIP"));
    set_default(spec, "sessionAffinity", json!("None"));
    if text(spec, "sessionAffinity") == "ClientIP" {
        set_default(spec, "sessionAffinityConfig", json!({}));
        set_default(&mut spec["sessionAffinityConfig"], "clientIP", json!({}));
        set_default(
            &mut spec["sessionAffinityConfig"]["clientIP"],
            "timeoutSeconds",
            json!(AFFINITY_SECONDS),
        );
    }
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        set_default(port, "protocol", json!("TCP"));
        let number = port["port"].clone();
        set_default(port, "targetPort", number);
    }
    if text(spec, "type") != "ExternalName" {
        set_default(spec, "internalTrafficPolicy", json!("Cluster"));
    }
    if has_node_ports(spec) {
        set_default(spec, "externalTrafficPolicy", json!("Cluster"));
    }
    if text(spec, "type") == "LoadBalancer" {
        set_default(spec, "allocateLoadBalancerNodePorts", json!(true));
    }
}

/// Addresses and ports: those from before, or free ones.
pub(super) fn allocate(new: &mut Value, old: Option<&Value>, address: u32) {
    let Some(spec) = new.get_mut("spec").filter(|spec| spec.is_object()) else { return };
    if has_node_ports(spec) {
        let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
        for (index, port) in ports.into_iter().flatten().enumerate() {
            let before = old.map(|old| &old["spec"]["ports"][index]["nodePort"]).filter(|port| port.is_u64());
            let offset = (address + u32::try_from(index).unwrap_or_default()) % NODE_PORTS;
            let given = before.cloned().unwrap_or_else(|| json!(FIRST_NODE_PORT + offset));
            set_default(port, "nodePort", given);
        }
    }
    if text(spec, "type") == "ExternalName" {
        forget_addresses(spec, old);
        return;
    }
    // What has neither an address nor Pods may be in every family.
    let is_anywhere = text(spec, "clusterIP") == "None" && is_empty(&spec["selector"]);
    let (policy, families) = if is_anywhere {
        ("RequireDualStack", json!(["IPv4", "IPv6"]))
    } else {
        ("SingleStack", json!(["IPv4"]))
    };
    set_default(spec, "ipFamilyPolicy", json!(policy));
    set_default(spec, "ipFamilies", families);
    if text(spec, "clusterIP").is_empty() {
        let before = old.map(|old| text(&old["spec"], "clusterIP")).filter(|ip| !ip.is_empty());
        let free = || std::net::Ipv4Addr::from(FIRST_ADDRESS + address).to_string();
        spec["clusterIP"] = json!(before.map_or_else(free, str::to_owned));
    }
    let ip = spec["clusterIP"].clone();
    set_default(spec, "clusterIPs", json!([ip]));
    if new["status"].is_null() {
        new["status"] = json!({ "loadBalancer": {} });
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_none_or(serde_json::Map::is_empty)
}

/// A Service that becomes a name gives back what it got as anything else.
fn forget_addresses(spec: &mut Value, old: Option<&Value>) {
    let Some(old) = old else { return };
    let Some(fields) = spec.as_object_mut() else { return };
    for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"] {
        if fields.get(field) == old["spec"].get(field) {
            fields.remove(field);
        }
    }
}

pub(super) fn validate(new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let spec = &new["spec"];
    let kind = text(spec, "type");
    let mut causes = Vec::new();
    if !TYPES.contains(&kind) {
        causes.push(unsupported("spec.type", kind, TYPES));
    }
    if kind == "ExternalName" {
        if text(spec, "externalName").is_empty() {
            causes.push(required("spec.externalName", ""));
        }
    } else if entries(&spec["ports"]).is_empty() && text(spec, "clusterIP") != "None" {
        causes.push(required("spec.ports", ""));
    }
    causes.extend(port_causes(entries(&spec["ports"])));
    let before = old.map(|old| text(&old["spec"], "clusterIP")).unwrap_or_default();
    let now = text(spec, "clusterIP");
    if !before.is_empty() && before != now && kind != "ExternalName" {
        causes.push(invalid_raw("spec.clusterIPs[0]", json!([now]), "may not change once set"));
    }
    causes
}

fn port_causes(ports: &[Value]) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (mut names, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    for (index, port) in ports.iter().enumerate() {
        let at = |field: &str| format!("spec.ports[{index}].{field}");
        let name = text(port, "name");
        if name.is_empty() {
            if ports.len() > 1 {
                causes.push(required(at("name"), ""));
            }
        } else {
            let errors = name_errors(NameRule::Label, name);
            causes.extend(errors.iter().map(|error| invalid(at("name"), name, error)));
            if !names.insert(name) {
                causes.push(duplicate(at("name"), name));
            }
        }
        let number = port["port"].as_i64().unwrap_or_default();
        if !(1..=65_535).contains(&number) {
            causes.push(invalid_raw(at("port"), number, "must be between 1 and 65535, inclusive"));
        }
        if let Some(target) = port["targetPort"].as_i64().filter(|target| !(1..=65_535).contains(target)) {
            causes.push(invalid_raw(at("targetPort"), target, "must be between 1 and 65535, inclusive"));
        }
        let protocol = text(port, "protocol");
        if !PROTOCOLS.contains(&protocol) {
            causes.push(unsupported(at("protocol"), protocol, PROTOCOLS));
        }
        if !numbers.insert((number, protocol)) {
            // The server prints what it compares by, in its internal type.
            let message = format!(
                "Duplicate value: {{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{number},\"TargetPort\":0,\"NodePort\":0}}",
                json!(protocol)
            );
            causes.push(Cause { message, ..duplicate(format!("spec.ports[{index}]"), "") });
        }
    }
    causes
}
