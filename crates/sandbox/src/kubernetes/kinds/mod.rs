//! The rules of the built-in kinds, as far as users and operators meet them: what is filled in, what is
//! refused and in which words (`k8s.io/kubernetes/pkg/apis/*/validation`). Leaves metadata to `names`.

mod config;
mod deployment;
mod event;
mod ingress;
mod pod;
mod rbac;
mod service;

use serde_json::{Value, json};

use super::builtins::BuiltIn;
use super::complaint::invalid_raw;
use super::crd;
use super::resource::Endpoint;
use super::schema::Cause;
use super::types::{self, Type};

/// Brings the body of a request into the form of the store.
pub(crate) fn decode(built_in: BuiltIn, value: &mut Value) {
    if built_in == BuiltIn::Secret {
        config::decode_secret(value);
    }
}

/// Fills in what an object has that its author left out: the defaults of its type.
pub(crate) fn default(built_in: BuiltIn, new: &mut Value) {
    match built_in {
        BuiltIn::Namespace => default_namespace(new),
        BuiltIn::Secret => set_default(new, "type", json!("Opaque")),
        BuiltIn::Service => service::default(new),
        BuiltIn::Deployment => deployment::default(new),
        BuiltIn::ReplicaSet => deployment::default_replica_set(new),
        BuiltIn::Pod => pod::default(new),
        BuiltIn::RoleBinding | BuiltIn::ClusterRoleBinding => rbac::default_binding(new),
        BuiltIn::CustomResourceDefinition => crd::default(new),
        BuiltIn::Ingress
        | BuiltIn::Event
        | BuiltIn::EndpointSlice
        | BuiltIn::ConfigMap
        | BuiltIn::ServiceAccount
        | BuiltIn::Lease
        | BuiltIn::IngressClass
        | BuiltIn::Role
        | BuiltIn::ClusterRole => {}
    }
}

/// Fills in what the server decides, and nobody owns; `address` is a free number for a Service.
pub(crate) fn allocate(built_in: BuiltIn, group: &str, new: &mut Value, old: Option<&Value>, address: u32) {
    if old.is_none() {
        let kind = text(new, "kind").to_owned();
        let empty = types::of_kind(group, &kind).map(Type::empty);
        if let Some(status) = empty.as_ref().and_then(|empty| empty.get("status")) {
            new["status"] = status.clone();
        }
    }
    match built_in {
        BuiltIn::Namespace => allocate_namespace(new, old),
        BuiltIn::Event => event::allocate(new),
        // Go writes them even when there are none.
        BuiltIn::Role | BuiltIn::ClusterRole => nulls(new, &["rules"]),
        BuiltIn::Service => service::allocate(new, old, address),
        BuiltIn::Pod => pod::allocate(new, old),
        BuiltIn::ReplicaSet if old.is_none() => new["status"] = json!({ "replicas": 0 }),
        _ => {}
    }
}

/// What is wrong with an object; `old` is the stored object of an update.
pub(crate) fn validate(
    endpoint: &Endpoint,
    built_in: BuiltIn,
    new: &Value,
    old: Option<&Value>,
) -> Vec<Cause> {
    match built_in {
        BuiltIn::Secret => config::validate_secret(new, old),
        BuiltIn::ConfigMap => config::validate_config_map(new, old),
        BuiltIn::Service => service::validate(new, old),
        BuiltIn::Deployment => deployment::validate(new, old, "deployment"),
        BuiltIn::Pod => pod::validate(new, old),
        BuiltIn::ReplicaSet => deployment::validate(new, old, "replica set"),
        BuiltIn::Event => event::validate(endpoint, new, old),
        BuiltIn::Lease => validate_lease(new),
        BuiltIn::Ingress => ingress::validate(new, old),
        BuiltIn::IngressClass => ingress::validate_class(new, old),
        BuiltIn::Role | BuiltIn::ClusterRole => rbac::validate_role(new),
        BuiltIn::RoleBinding | BuiltIn::ClusterRoleBinding => rbac::validate_binding(new, old),
        BuiltIn::CustomResourceDefinition => {
            let mut causes = crd::validate(new);
            causes.extend(old.into_iter().flat_map(|old| crd::validate_update(new, old)));
            causes
        }
        BuiltIn::Namespace | BuiltIn::ServiceAccount | BuiltIn::EndpointSlice => Vec::new(),
    }
}

fn default_namespace(new: &mut Value) {
    let name = new["metadata"]["name"].clone();
    if new["metadata"]["labels"].is_null() {
        new["metadata"]["labels"] = json!({});
    }
    new["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
}

fn allocate_namespace(new: &mut Value, old: Option<&Value>) {
    match old {
        None => {
            new["spec"] = json!({ "finalizers": ["kubernetes"] });
            new["status"] = json!({ "phase": "Active" });
        }
        // `spec.finalizers` is written through `/finalize` alone.
        Some(old) => new["spec"] = old["spec"].clone(),
    }
}

fn validate_lease(new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &new["spec"];
    if let Some(seconds) = spec["leaseDurationSeconds"].as_i64()
        && seconds <= 0
    {
        causes.push(invalid_raw("spec.leaseDurationSeconds", seconds, "must be greater than 0"));
    }
    if let Some(transitions) = spec["leaseTransitions"].as_i64()
        && transitions < 0
    {
        causes.push(invalid_raw("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
    }
    causes
}

/// Sets fields that are absent, or lists without entries, to null: so they come back from the store.
fn nulls(object: &mut Value, names: &[&str]) {
    let Some(fields) = object.as_object_mut() else { return };
    for name in names {
        let field = fields.entry(*name).or_insert(Value::Null);
        if field.as_array().is_some_and(Vec::is_empty) {
            *field = Value::Null;
        }
    }
}

/// Sets a field that is absent or null.
fn set_default(object: &mut Value, field: &str, value: Value) {
    if let Some(fields) = object.as_object_mut()
        && fields.get(field).is_none_or(Value::is_null)
    {
        fields.insert(field.to_owned(), value);
    }
}

/// The text of a field; empty when it has none.
fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// The entries of a list; none when it is absent.
fn entries(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
