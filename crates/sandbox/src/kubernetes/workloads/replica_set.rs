//! ReplicaSets: as many Pods as they ask for, and what there is of them. Leaves it to nobody to start the Pods.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::admit::Part;
use super::super::builtins::BuiltIn;
use super::super::delete::DeleteOptions;
use super::super::store::{Place, Stored};
use super::super::write::Writer;
use super::{REPLICA_SET, number, owner_of};

/// Most Pods that one ReplicaSet gets here: nothing runs, and a typing error must not fill the memory.
const PODS_MAX: usize = 500;

impl Writer<'_> {
    pub(super) fn sync_replica_set(&mut self, place: &Place, set: &Arc<Stored>) {
        let pods = self.controlled(set, BuiltIn::Pod);
        let active: Vec<&(Place, Arc<Stored>)> =
            pods.iter().filter(|(_, pod)| !pod.is_terminating()).collect();
        let wanted =
            usize::try_from(number(&set.value["spec"]["replicas"])).unwrap_or_default().min(PODS_MAX);
        if !set.is_terminating() {
            for _ in active.len()..wanted {
                self.add_pod(set);
            }
            for (pod, _) in active.iter().skip(wanted) {
                self.remove_pod(set, pod);
            }
        }
        let count =
            self.controlled(set, BuiltIn::Pod).iter().filter(|(_, pod)| !pod.is_terminating()).count();
        self.report_replica_set(place, set, count);
    }

    fn add_pod(&mut self, set: &Arc<Stored>) {
        let Some(pods) = self.kind("v1", "Pod") else { return };
        let (metadata, template) = (&set.value["metadata"], &set.value["spec"]["template"]);
        let prefix = metadata["name"].as_str().unwrap_or_default();
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "generateName": format!("{prefix}-"), "namespace": metadata["namespace"],
                "labels": template["metadata"]["labels"], "ownerReferences": owner_of(set),
            },
            "spec": template["spec"],
        });
        if template["metadata"]["annotations"].is_object() {
            pod["metadata"]["annotations"] = template["metadata"]["annotations"].clone();
        }
        if let Some(made) = self.make(&pods, pod) {
            let name = made.value["metadata"]["name"].as_str().unwrap_or_default();
            self.event(set, REPLICA_SET, "SuccessfulCreate", &format!("Created pod: {name}"));
        }
    }

    fn remove_pod(&mut self, set: &Arc<Stored>, (id, key): &Place) {
        let Some(endpoint) = self.endpoint(*id) else { return };
        if self.mark_or_remove(&endpoint, key, &DeleteOptions::default()).is_ok() {
            self.event(set, REPLICA_SET, "SuccessfulDelete", &format!("Deleted pod: {}", key.name));
        }
    }

    fn report_replica_set(&mut self, place: &Place, set: &Arc<Stored>, count: usize) {
        let mut status = json!({
            "replicas": count, "observedGeneration": set.value["metadata"]["generation"], "terminatingReplicas": 0,
        });
        if count > 0 {
            status["fullyLabeledReplicas"] = json!(count);
        }
        if set.value["status"] == status {
            return;
        }
        let mut value: Value = set.value.clone();
        value["status"] = status;
        self.change(place, Part::Status, value);
    }
}
