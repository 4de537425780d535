//! What the controllers of Deployments and ReplicaSets do on a cluster without nodes: there are ReplicaSets and Pods, and
//! the Pods stay Pending. Written from `pkg/controller/{deployment,replicaset}` (v1.37). Runs to its end inside the write
//! that caused it, as `settle` does.
//!
//! Known differences: no progress deadline passes, and events that are alike are counted and never combined.

mod deployment;
mod proportion;
mod replica_set;
mod revision;
mod status;

use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::admit::{self, Part};
use super::builtins::BuiltIn;
use super::document::Document;
use super::resource::Endpoint;
use super::store::{Key, Place, Stored};
use super::write::Writer;

/// The manager of what controllers write.
const CONTROLLER: &str = "kube-controller-manager";
const DEPLOYMENT: &str = "deployment-controller";
const REPLICA_SET: &str = "replicaset-controller";
/// What the template of a ReplicaSet is known by.
const HASH: &str = "pod-template-hash";

impl Writer<'_> {
    /// Lets the controllers look at a workload that was written.
    pub(crate) fn settle_workload(&mut self, place: &Place) {
        let built_in = self.state.registry.get(place.0).and_then(|resource| resource.built_in);
        let Some(object) = self.state.find(place.0, &place.1).cloned() else { return };
        match built_in {
            Some(BuiltIn::Deployment) => self.sync_deployment(place, &object),
            Some(BuiltIn::ReplicaSet) => self.sync_replica_set(place, &object),
            _ => {}
        }
    }

    /// Lets the controllers look at whatever owns an object that was written or went.
    pub(crate) fn wake_owner(&mut self, object: &Stored) {
        let metadata = &object.value["metadata"];
        let owner = entries(&metadata["ownerReferences"]).iter().find(|owner| owner["controller"] == true);
        let Some(owner) = owner else { return };
        let text = |field: &str| owner[field].as_str().unwrap_or_default();
        let Some(endpoint) = self.state.registry.for_object(text("apiVersion"), text("kind")) else { return };
        if matches!(endpoint.resource.built_in, Some(BuiltIn::Deployment | BuiltIn::ReplicaSet)) {
            let key = Key::new(metadata["namespace"].as_str(), text("name"));
            self.settle_workload_later((endpoint.resource.id, key));
        }
    }

    fn settle_workload_later(&mut self, place: Place) {
        self.state.unsettled.push_back(super::store::Unsettled::Workload(place));
    }

    /// What a workload controls, of one kind, oldest first.
    fn controlled(&self, owner: &Stored, kind: BuiltIn) -> Vec<(Place, Arc<Stored>)> {
        let is_kind = |place: &Place| {
            self.state.registry.get(place.0).and_then(|resource| resource.built_in) == Some(kind)
        };
        let places = self.state.dependents(owner.uid()).into_iter().filter(is_kind);
        let mut found: Vec<(Place, Arc<Stored>)> = places
            .filter_map(|place| {
                let object = self.state.find(place.0, &place.1).cloned()?;
                Some((place, object))
            })
            .collect();
        found.sort_by_key(|(_, object)| {
            let made = object.value["metadata"]["creationTimestamp"].as_str().unwrap_or_default().to_owned();
            (made, revision::of(&object.value))
        });
        found
    }

    fn kind(&self, api_version: &str, kind: &str) -> Option<Endpoint> {
        self.state.registry.for_object(api_version, kind)
    }

    /// Makes an object on behalf of a controller. A refusal (of a namespace that is going) is tried again by nobody.
    fn make(&mut self, endpoint: &Endpoint, object: Value) -> Option<Arc<Stored>> {
        let manager = std::mem::replace(&mut self.options.manager, CONTROLLER.to_owned());
        let namespace = object["metadata"]["namespace"].as_str().map(str::to_owned);
        let made = self.create(endpoint, namespace.as_deref(), Document::from(object));
        self.options.manager = manager;
        made.ok()
    }

    /// Changes an object on behalf of a controller.
    fn change(&mut self, place: &Place, part: Part, value: Value) {
        let Some(old) = self.state.find(place.0, &place.1).cloned() else { return };
        let Some(endpoint) = self.endpoint(place.0) else { return };
        let manager = std::mem::replace(&mut self.options.manager, CONTROLLER.to_owned());
        // Only its own changes are in it: there is nothing that could be refused.
        let _ = self.update_from(&endpoint, &place.1, part, Document::from(value), &old, None);
        self.options.manager = manager;
    }

    /// Reports what a controller did; the same again is counted.
    fn event(&mut self, about: &Stored, source: &str, reason: &str, message: &str) {
        let Some(events) = self.kind("v1", "Event") else { return };
        let (value, now) = (&about.value, admit::seconds(self.now));
        let metadata = &value["metadata"];
        let name = metadata["name"].as_str().unwrap_or_default();
        let namespace = metadata["namespace"].as_str();
        let is_same = |event: &Value| {
            let of = &event["involvedObject"]["uid"];
            *of == about.uid() && event["reason"] == reason && event["message"] == message
        };
        let all = self.state.collection(events.resource.id).into_iter();
        let known = all.flat_map(|all| all.range(namespace)).find(|(_, event)| is_same(&event.value));
        if let Some((key, known)) = known {
            let (key, mut again) = (key.clone(), known.value.clone());
            again["count"] = json!(again["count"].as_u64().unwrap_or(1) + 1);
            again["lastTimestamp"] = now;
            self.change(&(events.resource.id, key), Part::Main, again);
            return;
        }
        // The names of later ones are greater, as those that have the time in them.
        let moment = self.now.as_nanosecond() + i128::from(self.state.version);
        let event = json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": { "name": format!("{name}.{moment:x}"), "namespace": namespace },
            "involvedObject": {
                "apiVersion": value["apiVersion"], "kind": value["kind"], "name": name,
                "namespace": metadata["namespace"], "uid": about.uid(), "resourceVersion": about.version.to_string(),
            },
            "reason": reason, "message": message, "type": "Normal", "count": 1,
            "firstTimestamp": now, "lastTimestamp": now,
            "source": { "component": source }, "reportingComponent": source,
        });
        self.make(&events, event);
    }
}

/// The entries of a list; none when it is absent.
fn entries(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

fn digest(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.as_bytes());
        hasher.update([0]);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A reference to the controller of an object.
fn owner_of(owner: &Stored) -> Value {
    let value = &owner.value;
    json!([{
        "apiVersion": value["apiVersion"], "kind": value["kind"], "name": value["metadata"]["name"],
        "uid": owner.uid(), "controller": true, "blockOwnerDeletion": true,
    }])
}
