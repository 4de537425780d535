//! What the API server would make of a manifest: defaults, pruning, validation, and how `kubectl apply` lays it over
//! what is there. Asks the one in memory with our CustomResourceDefinitions, so that no cluster is touched.

use std::fmt;

use jiff::Timestamp;
use sandbox::clock::Clock;
use sandbox::kubernetes::{ApiServer, Reason, Status};
use serde_json::{Value, json};

use super::field;
use crate::commands::sandbox::manifest::{Manifest, Place};

/// Where kubectl keeps what it applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The seed of the server's uids, which nobody sees.
const SEED: u64 = 0;

/// Begins each unknown field in the server's words.
const UNKNOWN: &str = "unknown field \"";

/// What the API server names as the field of a complaint about none.
const NO_FIELD: &str = "<nil>";

/// An API server in memory that takes manifests one by one.
pub(super) struct Admission {
    server: ApiServer,
}

/// Why a manifest is refused, one line for each complaint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) struct Refusal(Vec<(Place, String)>);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (place, complaint)) in self.0.iter().enumerate() {
            let end = if index + 1 == self.0.len() { "" } else { "\n" };
            write!(f, "{place}: {complaint}{end}")?;
        }
        Ok(())
    }
}

impl Refusal {
    /// One complaint about a whole manifest.
    pub(super) fn of(manifest: &Manifest, complaint: &str) -> Self {
        Self(vec![(manifest.place.clone(), format!("{}: {complaint}", manifest.title()))])
    }
}

impl Admission {
    /// A server that knows our kinds.
    ///
    /// # Errors
    /// When our own CustomResourceDefinitions are refused: a bug.
    pub(super) fn new(now: Timestamp) -> Result<Self, Status> {
        let server = ApiServer::new(Clock::starting_at(now), SEED);
        let crds: Vec<Value> = kinds::CRDS.iter().filter_map(|crd| serde_json::from_str(crd).ok()).collect();
        server.install_crds(&crds)?;
        Ok(Self { server })
    }

    /// A namespace that exists.
    pub(super) fn namespace(&self, name: &str) {
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
        // One that is refused shows with the first object in it.
        let _ = self.server.apply(namespace);
    }

    /// The object that comes of applying a manifest over `base`, the cluster's object.
    ///
    /// # Errors
    /// [`Refusal`], with the words of an API server.
    pub(super) fn apply(&self, manifest: &Manifest, base: Option<&Value>) -> Result<Value, Refusal> {
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
        self.server.apply_strictly(manifest.object.clone()).map_err(|status| refusal(manifest, &status))
    }

    /// Puts an object there as the cluster has it.
    fn seed(&self, base: &Value) -> Result<(), Status> {
        let text = |pointer: &str| base.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (kind, namespace, name) = (text("/kind"), text("/metadata/namespace"), text("/metadata/name"));
        let (labels, annotations) = (&base["metadata"]["labels"], &base["metadata"]["annotations"]);
        let last_applied = annotations.get(LAST_APPLIED).cloned().unwrap_or_default();
        let object = json!({
            "apiVersion": base["apiVersion"], "kind": kind, "spec": base["spec"],
            "metadata": { "name": name, "namespace": namespace, "labels": labels, "annotations": annotations },
        });
        self.server.apply(without_null(object))?;
        // Not what was just applied, but what kubectl applied last says which fields a manifest no longer has.
        let patch = json!({ "metadata": { "annotations": { LAST_APPLIED: last_applied } } });
        self.server.patch(kind, Some(namespace), name, patch).map(drop)
    }
}

/// An object without absent members, which the wire does not have either.
fn without_null(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|_, value| !value.is_null() && value != "");
    }
    object
}

fn refusal(manifest: &Manifest, status: &Status) -> Refusal {
    let unknown: Vec<&str> =
        status.message.split(UNKNOWN).skip(1).filter_map(|rest| rest.split('"').next()).collect();
    if !unknown.is_empty() {
        return Refusal(unknown.into_iter().map(|path| unknown_field(manifest, path)).collect());
    }
    if status.reason == Reason::NotFound && status.message.starts_with("no matches") {
        return Refusal(vec![(manifest.place_of(["kind"].into_iter()), unknown_kind(manifest))]);
    }
    let causes = &status.details.causes;
    if status.reason != Reason::Invalid || causes.iter().all(|cause| cause.field == NO_FIELD) {
        return Refusal::of(manifest, &status.message);
    }
    let of_cause = |cause: &sandbox::kubernetes::StatusCause| {
        let place = manifest.place_of(field::parts(&cause.field));
        (place, format!("{}: {}: {}", manifest.title(), cause.field, cause.message))
    };
    // That a rule was not looked at because of another complaint helps nobody.
    Refusal(causes.iter().filter(|cause| cause.field != NO_FIELD).map(of_cause).collect())
}

fn unknown_field(manifest: &Manifest, path: &str) -> (Place, String) {
    let kind = manifest.object["kind"].as_str().unwrap_or_default();
    let names = field::siblings(kind, path);
    let word = field::parts(path).last().unwrap_or(path);
    let hint = match field::nearest(word, names.iter().map(String::as_str)) {
        Some(name) => format!("did you mean {name}?"),
        None if names.is_empty() => "nothing is known there".to_owned(),
        None => format!("known are {}", names.join(", ")),
    };
    (manifest.place_of(field::parts(path)), format!("{}: unknown field {path}; {hint}", manifest.title()))
}

fn unknown_kind(manifest: &Manifest) -> String {
    let word = |field: &str| manifest.object[field].as_str().unwrap_or_default();
    let (api_version, kind) = (word("apiVersion"), word("kind"));
    let names = || kinds::KINDS.iter().map(|kind| kind.name);
    if names().any(|name| name == kind) {
        return format!("{kind} is of apiVersion {}, not {api_version}", kinds::names::API_VERSION);
    }
    match field::nearest(kind, names()) {
        Some(name) => format!("there is no kind {kind} in {api_version}; did you mean {name}?"),
        None => {
            let names: Vec<&str> = names().collect();
            format!("there is no kind {kind} in {api_version}; known are {}", names.join(", "))
        }
    }
}
