//! Objects as Kubernetes sends them, reduced to what decisions look at.
//! Knows the wire and the row of a kind; keeps nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::io;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kinds::resource::Meta;
use kinds::table::{Reference, Scope, SecretReference};
use kinds::{Key, Kind, Reason, Resource, names};
use kube::core::ApiResource;
use kube::core::DynamicResourceScope;
use kube::{Api, Client};
use plan::predict::merge;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// kubectl's copy of the whole object: half of its bytes, and never looked at.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object of any of our kinds. Unlike kube's `DynamicObject` it needs no flattening, which would buffer every
/// object twice, and drops unknown top-level fields while decoding. All that a user decides is JSON, so that no
/// object that the API server stores can stop a watch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Object {
    /// `metadata`.
    pub metadata: ObjectMeta,
    /// `spec`.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub spec: Value,
    /// `status`.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub status: Value,
}

impl kube::Resource for Object {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(dt: &ApiResource) -> Cow<'_, str> {
        dt.kind.as_str().into()
    }

    fn group(dt: &ApiResource) -> Cow<'_, str> {
        dt.group.as_str().into()
    }

    fn version(dt: &ApiResource) -> Cow<'_, str> {
        dt.version.as_str().into()
    }

    fn plural(dt: &ApiResource) -> Cow<'_, str> {
        dt.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl From<Object> for Resource {
    fn from(object: Object) -> Self {
        Self { metadata: meta(object.metadata), spec: object.spec, status: object.status }
    }
}

/// The metadata that decisions look at; managed fields, owners and kubectl's copy are dropped.
#[must_use]
pub fn meta(meta: ObjectMeta) -> Meta {
    let mut annotations = meta.annotations.unwrap_or_default();
    annotations.remove(LAST_APPLIED);
    Meta {
        name: meta.name.unwrap_or_default(),
        namespace: meta.namespace.unwrap_or_default(),
        uid: meta.uid.unwrap_or_default(),
        resource_version: meta.resource_version.unwrap_or_default(),
        generation: meta.generation.unwrap_or_default(),
        creation_timestamp: meta.creation_timestamp.map(|time| time.0),
        deletion_timestamp: meta.deletion_timestamp.map(|time| time.0),
        finalizers: meta.finalizers.unwrap_or_default(),
        labels: meta.labels.unwrap_or_default(),
        annotations,
    }
}

/// How kube addresses a kind.
#[must_use]
pub fn api_resource(kind: &Kind) -> ApiResource {
    ApiResource {
        group: names::GROUP.to_owned(),
        version: names::VERSION.to_owned(),
        api_version: names::API_VERSION.to_owned(),
        kind: kind.name.to_owned(),
        plural: kind.plural.to_owned(),
    }
}

/// The API of a kind at a key's place.
#[must_use]
pub fn api(client: &Client, kind: &Kind, key: &Key) -> Api<Object> {
    let resource = api_resource(kind);
    match kind.scope {
        Scope::Cluster => Api::all_with(client.clone(), &resource),
        Scope::Namespaced => Api::namespaced_with(client.clone(), &key.namespace, &resource),
    }
}

/// The object that a reference of a spec names; `None` when the spec leaves it out.
#[must_use]
pub fn referenced(reference: &Reference, resource: &Resource) -> Option<Key> {
    let name = resource.spec_str(&format!("/{}/name", reference.field)).filter(|name| !name.is_empty())?;
    match kinds::kind(reference.kind)?.scope {
        Scope::Cluster => Some(Key::new("", name)),
        Scope::Namespaced => {
            let namespace = resource.spec_str(&format!("/{}/namespace", reference.field));
            Some(Key::new(namespace.unwrap_or(&resource.metadata.namespace), name))
        }
    }
}

/// The Secret that a spec names, and the key in it.
#[must_use]
pub fn token_place(reference: &SecretReference, resource: &Resource) -> Option<(Key, String)> {
    let field = |name: &str| {
        resource.spec_str(&format!("/{}/{name}", reference.field)).filter(|value| !value.is_empty())
    };
    let namespace = field("namespace").unwrap_or(&resource.metadata.namespace);
    Some((Key::new(namespace, field("name")?), field("key").unwrap_or(reference.default_key).to_owned()))
}

/// The Secret that a status records as carrying our protection.
#[must_use]
pub fn protected_secret(reference: &SecretReference, resource: &Resource) -> Option<Key> {
    let (namespace, name) = resource.status_str(reference.protected_status)?.split_once('/')?;
    Some(Key::new(namespace, name))
}

/// What must differ for an event to cause a run of the object itself (design §3, own echoes).
#[must_use]
pub fn fingerprint(resource: &Resource) -> u64 {
    let Meta { uid, generation, deletion_timestamp, finalizers, labels, annotations, .. } =
        &resource.metadata;
    digest(&(uid, generation, deletion_timestamp, finalizers, labels, annotations, &resource.status))
}

/// What must differ for an event to wake the objects that refer to this one: what they can see of it.
#[must_use]
pub fn visible(kind: &Kind, resource: &Resource) -> u64 {
    let Meta { uid, generation, .. } = &resource.metadata;
    // The plan that bounds what lies below, as the parent shows it: it may be changed in the dashboard.
    let below =
        kinds::KINDS.iter().filter(|below| below.parent().is_some_and(|parent| parent.kind == kind.name));
    let bounds: Vec<_> = below.filter_map(|below| resource.status_str(below.routes.batch?.plan)).collect();
    digest(&(uid, generation, resource.is_deleting(), resource.ready(), kind.shown_id(resource), bounds))
}

/// Hash of what a resource wants, as far as its spec can never change: its name, and its type where it has one.
#[must_use]
pub fn wants(kind: &Kind, resource: &Resource) -> u64 {
    let lasting = kind.fields.iter().filter(|field| field.immutable);
    let wanted: Vec<String> = lasting
        .map(|field| resource.spec.get(field.name).and_then(Value::as_str).unwrap_or_default().to_lowercase())
        .collect();
    digest(&wanted)
}

/// Its status says that something in Cloudflare is in its way, or that there is nothing to adopt: what other resources
/// make of Cloudflare may change that.
#[must_use]
pub fn is_at_odds(kind: &Kind, resource: &Resource) -> bool {
    let reason = resource.condition().and_then(|condition| condition.get("reason")).and_then(Value::as_str);
    let odds = [kind.identity.conflict, Reason::AlreadyExists, Reason::NotFound];
    odds.iter().any(|odds| reason == Some(odds.name()))
}

/// `base` as `patch`, a JSON merge patch of the whole object, leaves it.
#[must_use]
pub fn patched(base: &Resource, patch: &Value) -> Option<Resource> {
    let mut whole = serde_json::to_value(base).ok()?;
    merge(&mut whole, patch);
    serde_json::from_value(whole).ok()
}

/// The merge patch that turns `from` into `to`; `None` when they are equal.
#[must_use]
pub fn difference(from: &Value, to: &Value) -> Option<Value> {
    if from == to {
        return None;
    }
    let (Value::Object(from), Value::Object(to)) = (from, to) else { return Some(to.clone()) };
    let mut patch = serde_json::Map::new();
    for name in from.keys().filter(|name| !to.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in to {
        let before = from.get(name).unwrap_or(&Value::Null);
        if let Some(value) = difference(before, value) {
            patch.insert(name.clone(), value);
        }
    }
    Some(Value::Object(patch))
}

/// Labels of an object's metadata.
#[must_use]
pub fn labels(meta: &ObjectMeta) -> BTreeMap<String, String> {
    meta.labels.clone().unwrap_or_default()
}

/// A hash of a value's JSON, stable within one process; maps here are sorted, so equal values have equal JSON.
fn digest(value: &impl Serialize) -> u64 {
    struct Sink(DefaultHasher);
    impl io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut sink = Sink(DefaultHasher::new());
    // Neither the sink nor the serialisation of these values can fail.
    let _ = serde_json::to_writer(&mut sink, value);
    sink.0.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_applied_gives_the_target() {
        let table = [
            (json!({"a": 1, "b": {"c": 2, "d": 3}}), json!({"a": 1, "b": {"d": 4}, "e": [1]})),
            (Value::Null, json!({"a": {"b": 1}})),
            (json!({"a": [1, 2]}), json!({"a": [2]})),
            (json!({"a": 1}), json!({})),
        ];
        for (from, to) in table {
            let mut merged = from.clone();
            merge(&mut merged, &difference(&from, &to).unwrap());
            assert_eq!(merged, to);
            assert_eq!(difference(&to, &to), None);
        }
    }

    #[test]
    fn an_echo_differs_only_in_what_counts() {
        let mut resource = Resource::default();
        let before = fingerprint(&resource);
        resource.metadata.resource_version = "7".to_owned();
        assert_eq!(fingerprint(&resource), before);
        for change in [
            json!({"metadata": {"labels": {"a": "b"}}}),
            json!({"metadata": {"generation": 2}}),
            json!({"metadata": {"finalizers": ["x"]}}),
            json!({"status": {"a": 1}}),
            json!({"metadata": {"annotations": {"a": "b"}}}),
            json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}),
        ] {
            assert_ne!(fingerprint(&patched(&resource, &change).unwrap()), before, "{change}");
        }
    }
}
