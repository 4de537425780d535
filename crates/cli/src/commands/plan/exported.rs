//! Manifests that came from a cluster, as `kubectl get -o yaml` prints objects: what the API server writes into them is
//! nothing that a manifest asks for. Says where such a part stands in the way of `kubectl apply`.

use serde_json::Value;

use crate::commands::refusal::Refusal;
use crate::commands::sandbox::manifest::Manifest;

/// Metadata that only the API server writes.
const SERVERS: &[&str] = &[
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// An object without what the API server writes into it.
pub(super) fn without_the_servers(mut object: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|field, _| !SERVERS.contains(&field.as_str()));
    }
    object
}

/// The refusal of a manifest that names an object which is not the one that stands there now.
pub(super) fn other_object(manifest: &Manifest, live: &str) -> Option<Refusal> {
    let uid = metadata(manifest, "uid").filter(|uid| *uid != live)?;
    let complaint = format!(
        "metadata.uid {uid} is another object's: the cluster's has {live}, for it was deleted and made again since; \
         kubectl apply refuses that, so remove metadata.uid from the file"
    );
    Some(Refusal::of_field(manifest, &["metadata", "uid"], &complaint))
}

/// What is said of a manifest that was written down before somebody changed the object.
pub(super) fn outdated(manifest: &Manifest, live: &str) -> Option<String> {
    metadata(manifest, "resourceVersion").filter(|version| *version != live)?;
    let place = manifest.place_of(["metadata", "resourceVersion"].into_iter());
    Some(format!(
        "{}: {} has changed since this metadata.resourceVersion, so kubectl apply will say that the object has been \
         modified; remove it from the file",
        place.short(),
        manifest.title()
    ))
}

fn metadata<'m>(manifest: &'m Manifest, field: &str) -> Option<&'m str> {
    manifest.object["metadata"][field].as_str().filter(|value| !value.is_empty())
}
