//! Pods, which wait for a node that never comes. Leaves their containers to `deployment`.

use serde_json::{Value, json};

use super::super::complaint::forbidden;
use super::super::schema::Cause;
use super::{deployment, set_default};

/// What may change in the spec of a Pod (`ValidatePodUpdate`).
const CHANGEABLE: [&str; 4] =
    ["containers", "initContainers", "tolerations", "terminationGracePeriodSeconds"];

pub(super) fn default(new: &mut Value) {
    let Some(pod) = new.get_mut("spec").filter(|spec| spec.is_object()) else { return };
    deployment::default_pod(pod);
    set_default(pod, "enableServiceLinks", json!(true));
}

/// What the server decides: the account, and that it waits.
pub(super) fn allocate(new: &mut Value, old: Option<&Value>) {
    if old.is_some() {
        return;
    }
    if let Some(pod) = new.get_mut("spec").filter(|spec| spec.is_object()) {
        set_default(pod, "serviceAccountName", json!("default"));
        let account = pod["serviceAccountName"].clone();
        set_default(pod, "serviceAccount", account);
        set_default(pod, "preemptionPolicy", json!("PreemptLowerPriority"));
        set_default(pod, "priority", json!(0));
        tolerate(pod);
    }
    new["status"] = json!({ "phase": "Pending", "qosClass": "BestEffort" });
}

/// What `DefaultTolerationSeconds` adds: five minutes on a node that is lost.
fn tolerate(pod: &mut Value) {
    let mut tolerations = pod["tolerations"].as_array().cloned().unwrap_or_default();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        if !tolerations.iter().any(|known| known["key"] == key) {
            tolerations.push(
                json!({ "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 }),
            );
        }
    }
    pod["tolerations"] = Value::Array(tolerations);
}

pub(super) fn validate(new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = deployment::container_causes(&new["spec"], "spec");
    let Some(old) = old else { return causes };
    let fixed = |value: &Value| {
        let mut spec = value["spec"].clone();
        if let Some(fields) = spec.as_object_mut() {
            fields.retain(|field, _| !CHANGEABLE.contains(&field.as_str()));
        }
        spec
    };
    if fixed(new) != fixed(old) {
        let why = "pod updates may not change fields other than `spec.containers[*].image`,\
                   `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to \
                   existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was \
                   previously negative)";
        causes.push(forbidden("spec", why));
    }
    causes
}
