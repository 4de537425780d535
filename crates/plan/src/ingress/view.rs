//! What of Ingresses, Services and IngressClasses counts here, read tolerantly: absent and null fields have their
//! default, fields that nobody uses are not looked at. A used field of a wrong type makes the object unreadable, which
//! is never the same as empty (V3).

use std::collections::BTreeMap;

use jiff::Timestamp;
use kinds::Key;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Why an object cannot be read: what its JSON has that no such object can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the object cannot be read: {0}")]
pub struct Unreadable(pub String);

/// An Ingress.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Ingress {
    /// Names, times and annotations.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Metadata,
    #[serde(deserialize_with = "or_default")]
    pub(super) spec: Spec,
}

/// What counts of an object's metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    #[serde(deserialize_with = "or_default")]
    name: String,
    #[serde(deserialize_with = "or_default")]
    namespace: String,
    creation_timestamp: Option<String>,
    deletion_timestamp: Option<String>,
    /// `metadata.annotations`.
    #[serde(deserialize_with = "or_default")]
    pub annotations: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Spec {
    pub(super) ingress_class_name: Option<String>,
    pub(super) default_backend: Option<Backend>,
    #[serde(deserialize_with = "or_default")]
    pub(super) rules: Vec<Rule>,
    #[serde(deserialize_with = "or_default")]
    tls: Vec<IgnoredAny>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Rule {
    #[serde(deserialize_with = "or_default")]
    pub(super) host: String,
    pub(super) http: Option<Http>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Http {
    #[serde(deserialize_with = "or_default")]
    pub(super) paths: Vec<PathEntry>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PathEntry {
    #[serde(deserialize_with = "or_default")]
    pub(super) path: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) path_type: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) backend: Backend,
}

/// A backend; one without a Service is a resource, which no tunnel can reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Backend {
    pub(super) service: Option<ServiceBackend>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct ServiceBackend {
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) port: BackendPort,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct BackendPort {
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) number: i64,
}

/// A Service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Service {
    #[serde(deserialize_with = "or_default")]
    pub(super) spec: ServiceSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ServiceSpec {
    #[serde(rename = "type", deserialize_with = "or_default")]
    kind: String,
    #[serde(rename = "clusterIP", deserialize_with = "or_default")]
    cluster_ip: String,
    #[serde(deserialize_with = "or_default")]
    external_name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) ports: Vec<ServicePort>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct ServicePort {
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) port: i64,
}

/// An IngressClass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct IngressClass {
    #[serde(deserialize_with = "or_default")]
    pub(super) spec: ClassSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct ClassSpec {
    #[serde(deserialize_with = "or_default")]
    pub(super) controller: String,
    pub(super) parameters: Option<Parameters>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Parameters {
    #[serde(deserialize_with = "or_default")]
    pub(super) api_group: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) kind: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) namespace: String,
}

impl Ingress {
    /// The Ingress in this JSON.
    pub fn read(object: &Value) -> Result<Self, Unreadable> {
        read(object)
    }

    /// Whether it has a `tls` section, which a tunnel has no use for.
    pub(super) const fn has_tls(&self) -> bool {
        !self.spec.tls.is_empty()
    }
}

impl Service {
    /// The Service in this JSON.
    pub fn read(object: &Value) -> Result<Self, Unreadable> {
        read(object)
    }

    /// Whether it has no address of its own.
    pub(super) fn is_headless(&self) -> bool {
        self.spec.cluster_ip == "None"
    }

    /// The name that it stands for, without the dot that may end it.
    pub(super) fn external_name(&self) -> Option<&str> {
        let ServiceSpec { kind, external_name, .. } = &self.spec;
        let name = external_name.strip_suffix('.').unwrap_or(external_name);
        (kind == "ExternalName" || (kind.is_empty() && !name.is_empty())).then_some(name)
    }
}

impl IngressClass {
    /// The IngressClass in this JSON.
    pub fn read(object: &Value) -> Result<Self, Unreadable> {
        read(object)
    }
}

impl Metadata {
    /// What of an object that cannot be read can still be told: whose it is, when it was made, whether it goes.
    #[must_use]
    pub fn salvage(object: &Value) -> Self {
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        Self {
            name: text("/metadata/name").unwrap_or_default(),
            namespace: text("/metadata/namespace").unwrap_or_default(),
            creation_timestamp: text("/metadata/creationTimestamp"),
            deletion_timestamp: text("/metadata/deletionTimestamp"),
            annotations: BTreeMap::new(),
        }
    }

    /// Namespace and name.
    #[must_use]
    pub fn key(&self) -> Key {
        Key::new(self.namespace.clone(), self.name.clone())
    }

    /// When it was made; what does not say so counts as the youngest of all.
    #[must_use]
    pub fn created(&self) -> Timestamp {
        self.creation_timestamp.as_deref().and_then(|text| text.parse().ok()).unwrap_or(Timestamp::MAX)
    }

    /// Whether it is being deleted.
    #[must_use]
    pub const fn is_going(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// The value of an annotation.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key).map(String::as_str)
    }
}

fn read<T: DeserializeOwned>(object: &Value) -> Result<T, Unreadable> {
    T::deserialize(object).map_err(|error| Unreadable(error.to_string()))
}

/// Null is as good as absent, as for every reader of Kubernetes objects.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(json: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(json)?.unwrap_or_default())
}
