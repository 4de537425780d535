//! A Kubernetes object of one of our kinds as the engine sees it: metadata in types, spec and status as JSON.
//! Erased on purpose, so that the engine is compiled once for all kinds; the typed forms are generated.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::names;

/// Namespace and name; cluster-scoped objects have an empty namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

impl Key {
    /// A key of a namespaced object.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{}/{}", self.namespace, self.name)
        }
    }
}

/// The metadata that decisions look at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta {
    /// `metadata.name`.
    pub name: String,
    /// Empty for cluster-scoped objects.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Tells two objects of one name apart.
    pub uid: String,
    /// The version that conditional writes name.
    pub resource_version: String,
    /// Grows with every change of the spec.
    pub generation: i64,
    /// When the API server took the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Timestamp>,
    /// When a deletion was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Timestamp>,
    /// Who still has something to do before the object may go.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<String>,
    /// Labels; our claims are among them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations; our marks and the user's policies are among them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// An object of one of our kinds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resource {
    /// `metadata`, as far as decisions need it.
    pub metadata: Meta,
    /// `spec` as stored.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub spec: Value,
    /// `status` as stored; null when there is none.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub status: Value,
}

impl Resource {
    /// Namespace and name.
    #[must_use]
    pub fn key(&self) -> Key {
        Key { namespace: self.metadata.namespace.clone(), name: self.metadata.name.clone() }
    }

    /// True once a deletion was asked for.
    #[must_use]
    pub fn is_deleting(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// True when our finalizer is on it.
    #[must_use]
    pub fn has_finalizer(&self) -> bool {
        self.metadata.finalizers.iter().any(|finalizer| finalizer == names::FINALIZER)
    }

    /// A label's value.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.metadata.labels.get(key).map(String::as_str)
    }

    /// An annotation's value; an empty one counts as absent.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata.annotations.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A string field by JSON pointer below `spec`.
    #[must_use]
    pub fn spec_str(&self, pointer: &str) -> Option<&str> {
        self.spec.pointer(pointer).and_then(Value::as_str)
    }

    /// A string field by JSON pointer below `status`; an empty one counts as absent.
    #[must_use]
    pub fn status_str(&self, pointer: &str) -> Option<&str> {
        self.status.pointer(pointer).and_then(Value::as_str).filter(|value| !value.is_empty())
    }

    /// The `Ready` condition's `status`: `True`, `False` or `Unknown`.
    #[must_use]
    pub fn ready(&self) -> Option<&str> {
        self.condition()?.get("status")?.as_str()
    }

    /// The `Ready` condition.
    #[must_use]
    pub fn condition(&self) -> Option<&Value> {
        self.status
            .get("conditions")?
            .as_array()?
            .iter()
            .find(|condition| condition.get("type").and_then(Value::as_str) == Some(names::READY))
    }

    /// The generation that the status is about.
    #[must_use]
    pub fn observed_generation(&self) -> Option<i64> {
        self.status.get("observedGeneration").and_then(Value::as_i64)
    }

    /// Names of the spec fields that we once wrote to Cloudflare (`status.appliedFields`).
    #[must_use]
    pub fn applied_fields(&self) -> BTreeSet<&str> {
        let fields = self.status.get("appliedFields").and_then(Value::as_array);
        fields.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}
