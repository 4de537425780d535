//! The revisions of a Deployment: one ReplicaSet for each template, its number, and what its annotations remember.

use serde_json::{Map, Value, json};

use super::{HASH, digest, number, owner_of};
use crate::kubernetes::store::Stored;

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MAX: &str = "deployment.kubernetes.io/max-replicas";
/// What a ReplicaSet does not take over from its Deployment.
const NOT_TAKEN: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    REVISION,
    HISTORY,
    DESIRED,
    MAX,
];

/// The revision that an object says it has; 0 for none.
pub(super) fn of(value: &Value) -> i64 {
    annotation(value, REVISION)
}

pub(super) fn annotation(value: &Value, name: &str) -> i64 {
    value["metadata"]["annotations"][name].as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// True when the ReplicaSet is of that template.
pub(super) fn is_of(set: &Value, deployment: &Value) -> bool {
    let bare = |template: &Value| {
        let mut template = template.clone();
        if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
            labels.remove(HASH);
        }
        template
    };
    bare(&set["spec"]["template"]) == bare(&deployment["spec"]["template"])
}

/// The ReplicaSet that a template asks for.
pub(super) fn new_set(deployment: &Stored, replicas: i64, most: i64, revision: i64) -> Value {
    let value = &deployment.value;
    let hash = hash(&value["spec"]["template"]);
    let mut template = value["spec"]["template"].clone();
    template["metadata"]["labels"][HASH] = json!(hash);
    let mut selector = value["spec"]["selector"].clone();
    selector["matchLabels"][HASH] = json!(hash);
    let mut set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{}-{hash}", value["metadata"]["name"].as_str().unwrap_or_default()),
            "namespace": value["metadata"]["namespace"], "labels": template["metadata"]["labels"],
            "ownerReferences": owner_of(deployment),
        },
        "spec": { "replicas": replicas, "selector": selector, "template": template },
    });
    if number(&value["spec"]["minReadySeconds"]) > 0 {
        set["spec"]["minReadySeconds"] = value["spec"]["minReadySeconds"].clone();
    }
    annotate(&mut set, value, revision);
    set_sizes(&mut set, number(&value["spec"]["replicas"]), most);
    set
}

/// Ten letters of the alphabet that the server uses for names.
fn hash(template: &Value) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let digest = digest(&[&template.to_string()]);
    let letters = digest.as_bytes().chunks(2).take(10).map(|pair| {
        let byte = pair.iter().fold(0_usize, |sum, digit| sum * 31 + usize::from(*digit));
        char::from(ALPHABET[byte % ALPHABET.len()])
    });
    letters.collect()
}

/// Takes over the annotations of the Deployment and the number of the revision.
pub(super) fn annotate(set: &mut Value, deployment: &Value, revision: i64) {
    let mut annotations: Map<String, Value> =
        set["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
    for (name, value) in deployment["metadata"]["annotations"].as_object().into_iter().flatten() {
        if !NOT_TAKEN.contains(&name.as_str()) {
            annotations.insert(name.clone(), value.clone());
        }
    }
    let before = of(set);
    if before < revision {
        if before > 0 {
            let mut history: Vec<String> = annotations
                .get(HISTORY)
                .and_then(Value::as_str)
                .map(|text| text.split(',').map(str::to_owned).collect())
                .unwrap_or_default();
            history.push(before.to_string());
            annotations.insert(HISTORY.to_owned(), json!(history.join(",")));
        }
        annotations.insert(REVISION.to_owned(), json!(revision.to_string()));
    }
    set["metadata"]["annotations"] = Value::Object(annotations);
}

/// Remembers how many the Deployment wanted, and how many it may have.
pub(super) fn set_sizes(set: &mut Value, desired: i64, most: i64) {
    set["metadata"]["annotations"][DESIRED] = json!(desired.to_string());
    set["metadata"]["annotations"][MAX] = json!(most.to_string());
}
