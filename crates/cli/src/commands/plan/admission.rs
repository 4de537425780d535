//! What the API server would make of a manifest: defaults, pruning, validation, and how `kubectl apply` lays it over
//! what is there. Asks the one in memory with our CustomResourceDefinitions, so that no cluster is touched.

use jiff::Timestamp;
use sandbox::clock::Clock;
use sandbox::kubernetes::{ApiServer, Status};
use serde_json::{Value, json};

use super::exported::without_the_servers;
use crate::commands::refusal::Refusal;
use crate::commands::sandbox::manifest::Manifest;

/// Where kubectl keeps what it applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The seed of the server's uids, which nobody sees.
const SEED: u64 = 0;

/// An API server in memory that takes manifests one by one.
pub(in crate::commands) struct Admission {
    server: ApiServer,
}

impl Admission {
    /// A server that knows our kinds.
    ///
    /// # Errors
    /// When our own CustomResourceDefinitions are refused: a bug.
    pub(in crate::commands) fn new(now: Timestamp) -> Result<Self, Status> {
        let server = ApiServer::new(Clock::starting_at(now), SEED);
        let crds: Vec<Value> = kinds::CRDS.iter().filter_map(|crd| serde_json::from_str(crd).ok()).collect();
        server.install_crds(&crds)?;
        Ok(Self { server })
    }

    /// A namespace that exists.
    pub(in crate::commands) fn namespace(&self, name: &str) {
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
        // One that is refused shows with the first object in it.
        let _ = self.server.apply(namespace);
    }

    /// The object that comes of applying a manifest over `base`, the cluster's object.
    ///
    /// # Errors
    /// [`Refusal`], with the words of an API server.
    pub(in crate::commands) fn apply(
        &self,
        manifest: &Manifest,
        base: Option<&Value>,
    ) -> Result<Value, Refusal> {
        if let Some(base) = base {
            self.seed(base).map_err(|status| {
                let complaint = format!(
                    "the cluster's object does not fit the CustomResourceDefinition of this kflare; \
                     are those of the cluster older? ({})",
                    status.message
                );
                Refusal::of(manifest, &complaint)
            })?;
        }
        let asked = without_the_servers(manifest.object.clone());
        self.server.apply_strictly(asked).map_err(|status| Refusal::read(manifest, &status))
    }

    /// Puts an object there as the cluster has it.
    fn seed(&self, base: &Value) -> Result<(), Status> {
        let text = |pointer: &str| base.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (kind, namespace, name) = (text("/kind"), text("/metadata/namespace"), text("/metadata/name"));
        let (labels, annotations) = (&base["metadata"]["labels"], &base["metadata"]["annotations"]);
        let last_applied = annotations.get(LAST_APPLIED).map(last_asked).unwrap_or_default();
        let object = json!({
            "apiVersion": base["apiVersion"], "kind": kind, "spec": base.get("spec").unwrap_or(&json!({})),
            "metadata": {
                "name": name, "namespace": namespace, "labels": labels, "annotations": annotations,
                "finalizers": base["metadata"]["finalizers"],
            },
        });
        self.server.apply(without_null(object))?;
        // Not what was just applied, but what kubectl applied last says which fields a manifest no longer has.
        let patch = json!({ "metadata": { "annotations": { LAST_APPLIED: last_applied } } });
        self.server.patch(kind, Some(namespace), name, patch).map(drop)
    }
}

/// What kubectl applied last, as far as it asked for something. Text that is no object is left to the API server.
fn last_asked(text: &Value) -> Value {
    let object = text.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    object.map_or_else(|| text.clone(), |object| json!(without_the_servers(object).to_string()))
}

/// An object without absent members, which the wire does not have either.
fn without_null(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|_, value| !value.is_null() && value != "");
    }
    object
}
