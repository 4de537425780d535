//! What the controllers of a cluster do by themselves: garbage collection of dependents, the end of
//! namespaces, the end of custom resource definitions. Runs to its end inside the write that caused it, so
//! that a run is the same every time. Leaves single writes to `write` and `delete`.

use serde_json::{Value, json};

use super::admit::{self, Part};
use super::crd;
use super::delete::{CRD_CLEANUP, DeleteOptions, FOREGROUND, ORPHAN, Propagation};
use super::resource::{Endpoint, ResourceId};
use super::store::{Key, Place, Stored, Unsettled};
use super::tracking::{self, Tracker};
use super::write::{Writer, is_free};

impl Writer<'_> {
    /// Does all that follows from the writes so far.
    pub(crate) fn settle(&mut self) {
        // What controllers write is settled by the one that is at work.
        if std::mem::replace(&mut self.is_settling, true) {
            return;
        }
        while let Some(work) = self.state.unsettled.pop_front() {
            match work {
                Unsettled::Owner(uid) => self.settle_owner(&uid),
                Unsettled::Dependent(place) => self.settle_dependent(&place),
                Unsettled::Held(place) => self.settle_held(&place),
                Unsettled::Emptying(name) => self.empty_namespace(&name),
                Unsettled::Namespace(name) => self.settle_namespace(&name),
                Unsettled::Withdrawing(of) => self.withdraw(of),
                Unsettled::Definition(of) => self.settle_definition(of),
                Unsettled::Workload(place) => self.settle_workload(&place),
            }
        }
        self.is_settling = false;
    }

    pub(super) fn endpoint(&self, id: ResourceId) -> Option<Endpoint> {
        let resource = self.state.registry.get(id)?;
        Some(Endpoint {
            resource: resource.clone(),
            group: resource.group.clone(),
            version: resource.storage.clone(),
        })
    }

    fn settle_owner(&mut self, uid: &str) {
        for place in self.state.dependents(uid) {
            self.settle_dependent(&place);
        }
    }

    /// The garbage collector's `attemptToDeleteItem`: deletes what has lost all its owners, and forgets the
    /// lost ones of what has others.
    fn settle_dependent(&mut self, place: &Place) {
        let (id, key) = place;
        let Some(object) = self.state.find(*id, key).cloned() else { return };
        if object.is_terminating() && !object.finalizers().any(|name| name == FOREGROUND) {
            // What is going by itself is left to go.
            return;
        }
        let owners = object.value["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        let (mut solid, mut lost, mut waiting) = (Vec::new(), 0, 0);
        for owner in owners {
            match self.owner_state(&owner, &key.namespace) {
                OwnerState::Absent => lost += 1,
                OwnerState::WaitsForDependents => {
                    waiting += 1;
                    solid.push(owner);
                }
                OwnerState::Present => solid.push(owner),
            }
        }
        let Some(endpoint) = self.endpoint(*id) else { return };
        if solid.len() > waiting {
            if lost > 0 {
                let mut value = object.value.clone();
                set_or_remove(&mut value["metadata"], "ownerReferences", solid);
                self.put_as_collector(*id, key.clone(), value, &object);
            }
        } else if lost + waiting > 0 && !object.is_terminating() {
            let propagation = if waiting > 0 { Propagation::Foreground } else { Propagation::Background };
            let options = DeleteOptions { propagation: Some(propagation), ..DeleteOptions::default() };
            // It exists and there is no precondition: the only refusal is of an immortal namespace.
            let _ = self.mark_or_remove(&endpoint, key, &options);
        }
    }

    fn owner_state(&self, owner: &Value, namespace: &str) -> OwnerState {
        let text = |field: &str| owner[field].as_str().unwrap_or_default();
        let Some(endpoint) = self.state.registry.for_object(text("apiVersion"), text("kind")) else {
            // A kind that is not served may exist elsewhere: the collector never deletes on doubt.
            return OwnerState::Present;
        };
        let namespace = if endpoint.resource.namespaced { namespace } else { "" };
        match self.state.find_named(&endpoint, namespace, text("name")) {
            Some(found) if found.uid() == text("uid") => {
                let waits = found.is_terminating() && found.finalizers().any(|name| name == FOREGROUND);
                if waits { OwnerState::WaitsForDependents } else { OwnerState::Present }
            }
            _ => OwnerState::Absent,
        }
    }

    /// An object that is going and holds one of the collector's own finalizers.
    fn settle_held(&mut self, place: &Place) {
        let (id, key) = place;
        let Some(object) = self.state.find(*id, key).cloned() else { return };
        if !object.is_terminating() {
            return;
        }
        let uid = object.uid().to_owned();
        if object.finalizers().any(|name| name == ORPHAN) {
            for (of, dependent) in self.state.dependents(&uid) {
                let Some(found) = self.state.find(of, &dependent).cloned() else { continue };
                let mut value = found.value.clone();
                let owners = value["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
                let others = owners.into_iter().filter(|owner| owner["uid"] != json!(uid)).collect();
                set_or_remove(&mut value["metadata"], "ownerReferences", others);
                self.put_as_collector(of, dependent, value, &found);
            }
            self.release(place, ORPHAN);
        } else if object.finalizers().any(|name| name == FOREGROUND) {
            let blocked = self.state.dependents(&uid).iter().any(|(of, dependent)| {
                let found = self.state.find(*of, dependent);
                let owners = found.and_then(|found| found.value["metadata"]["ownerReferences"].as_array());
                let blocks =
                    |owner: &Value| owner["uid"] == json!(uid) && owner["blockOwnerDeletion"] == true;
                owners.into_iter().flatten().any(blocks)
            });
            if !blocked {
                self.release(place, FOREGROUND);
            }
        }
    }

    /// What the garbage collector writes, it owns.
    fn put_as_collector(&mut self, id: ResourceId, key: Key, mut value: Value, old: &Stored) {
        const COLLECTOR: &str = "kube-controller-manager";
        if let Some(endpoint) = self.endpoint(id).filter(|_| self.state.tells_owners) {
            let given = tracking::take(&mut value);
            let tracker = Tracker::new(&endpoint, Part::Main, self.now);
            let owners = tracker.after_update(Some(&old.value), &value, given, COLLECTOR);
            tracking::put(&mut value, &owners, Some(&old.value));
        }
        self.state.put(id, key, value);
    }

    /// Takes one finalizer away, and the object with the last one.
    fn release(&mut self, (id, key): &Place, finalizer: &str) {
        let Some(object) = self.state.find(*id, key).cloned() else { return };
        let mut value = object.value.clone();
        let others = object.finalizers().filter(|name| *name != finalizer).map(|name| json!(name)).collect();
        set_or_remove(&mut value["metadata"], "finalizers", others);
        if is_free(&value) {
            self.state.remove(*id, key, object.value.clone());
        } else {
            self.state.put(*id, key.clone(), value);
        }
    }

    /// The namespace controller: deletes the content of a namespace that is going, and says what remains.
    fn empty_namespace(&mut self, name: &str) {
        let mut left = Vec::new();
        for id in self.namespaced_resources() {
            let Some(endpoint) = self.endpoint(id) else { continue };
            for key in self.keys_in(id, Some(name)) {
                let _ = self.mark_or_remove(&endpoint, &key, &DeleteOptions::default());
            }
            let remaining = self.keys_in(id, Some(name));
            left.extend(remaining.into_iter().map(|key| (endpoint.resource.qualified_plural(), (id, key))));
        }
        let Some(namespaces) = self.state.registry.for_object("v1", "Namespace") else { return };
        if !left.is_empty()
            && let Some(namespace) = self.state.find_named(&namespaces, "", name).cloned()
        {
            let mut value = namespace.value.clone();
            value["status"]["conditions"] = self.namespace_conditions(&left);
            self.state.put(namespaces.resource.id, Key::new(None, name), value);
        }
        self.settle_namespace(name);
    }

    /// Lets a namespace go that is going and empty.
    fn settle_namespace(&mut self, name: &str) {
        let Some(namespaces) = self.state.registry.for_object("v1", "Namespace") else { return };
        let Some(namespace) = self.state.find_named(&namespaces, "", name).cloned() else { return };
        let holds = |id: &ResourceId| {
            self.state.collection(*id).is_some_and(|all| all.range(Some(name)).next().is_some())
        };
        if !namespace.is_terminating() || self.namespaced_resources().iter().any(holds) {
            return;
        }
        let (id, key) = (namespaces.resource.id, Key::new(None, name));
        let mut value = namespace.value.clone();
        if let Some(spec) = value["spec"].as_object_mut() {
            spec.remove("finalizers");
        }
        if is_free(&value) {
            self.state.remove(id, &key, value);
        } else if value != namespace.value {
            self.state.put(id, key, value);
        }
    }

    fn namespaced_resources(&self) -> Vec<ResourceId> {
        self.state.registry.all().filter(|resource| resource.namespaced).map(|resource| resource.id).collect()
    }

    fn keys_in(&self, id: ResourceId, namespace: Option<&str>) -> Vec<Key> {
        let collection = self.state.collection(id);
        collection.map(|all| all.range(namespace).map(|(key, _)| key.clone()).collect()).unwrap_or_default()
    }

    /// The conditions that tell people what a namespace waits for.
    fn namespace_conditions(&self, left: &[(String, Place)]) -> Value {
        let mut resources: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
        let mut finalizers: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
        for (resource, (id, key)) in left {
            *resources.entry(resource).or_default() += 1;
            for finalizer in self.state.find(*id, key).iter().flat_map(|object| object.finalizers()) {
                *finalizers.entry(finalizer.to_owned()).or_default() += 1;
            }
        }
        let remaining: Vec<String> = resources
            .iter()
            .map(|(resource, count)| format!("{resource} has {count} resource instances"))
            .collect();
        let held: Vec<String> = finalizers
            .iter()
            .map(|(finalizer, count)| format!("{finalizer} in {count} resource instances"))
            .collect();
        let now = admit::seconds(self.now);
        let condition = |kind: &str, bad: bool, reason: &str, message: String| {
            let status = if bad { "True" } else { "False" };
            json!({ "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now })
        };
        let (content, content_text) = if remaining.is_empty() {
            ("ContentRemoved", "All content successfully removed".to_owned())
        } else {
            ("SomeResourcesRemain", format!("Some resources are remaining: {}", remaining.join(", ")))
        };
        let (finalizer, finalizer_text) = if held.is_empty() {
            ("ContentHasNoFinalizers", "All content-preserving finalizers finished".to_owned())
        } else {
            (
                "SomeFinalizersRemain",
                format!("Some content in the namespace has finalizers remaining: {}", held.join(", ")),
            )
        };
        json!([
            condition(
                "NamespaceDeletionDiscoveryFailure",
                false,
                "ResourcesDiscovered",
                "All resources successfully discovered".to_owned()
            ),
            condition(
                "NamespaceDeletionGroupVersionParsingFailure",
                false,
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed".to_owned()
            ),
            condition(
                "NamespaceDeletionContentFailure",
                false,
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization".to_owned()
            ),
            condition("NamespaceContentRemaining", !remaining.is_empty(), content, content_text),
            condition("NamespaceFinalizersRemaining", !held.is_empty(), finalizer, finalizer_text),
        ])
    }

    /// Deletes the objects of a definition that is going.
    fn withdraw(&mut self, of: ResourceId) {
        let Some(endpoint) = self.endpoint(of) else { return };
        for key in self.keys_in(of, None) {
            let _ = self.mark_or_remove(&endpoint, &key, &DeleteOptions::default());
        }
        self.settle_definition(of);
    }

    /// Lets a definition go that is going and has no objects left.
    fn settle_definition(&mut self, of: ResourceId) {
        let Some(resource) = self.state.registry.get(of).cloned() else { return };
        if resource.built_in.is_some() {
            crd::withdraw_orphans(self.state);
            return;
        }
        let Some(crds) = self.state.registry.for_object(crd::API_VERSION, crd::KIND) else { return };
        let key = Key::new(None, &resource.qualified_plural());
        let Some(definition) = self.state.find(crds.resource.id, &key).cloned() else { return };
        let empty = self.state.collection(of).is_none_or(|all| all.objects.is_empty());
        if definition.is_terminating() && empty && definition.finalizers().any(|name| name == CRD_CLEANUP) {
            self.release(&(crds.resource.id, key), CRD_CLEANUP);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    Present,
    WaitsForDependents,
    Absent,
}

/// Sets a list; an empty one is left out, as the server leaves it out.
fn set_or_remove(metadata: &mut Value, field: &str, list: Vec<Value>) {
    let Some(metadata) = metadata.as_object_mut() else { return };
    if list.is_empty() {
        metadata.remove(field);
    } else {
        metadata.insert(field.to_owned(), Value::Array(list));
    }
}
