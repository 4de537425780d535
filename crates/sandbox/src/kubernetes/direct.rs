//! The server without HTTP: what tests, scenarios and checkers see and do. These calls run full admission
//! but leave no line in the log and meet no faults.

use std::net::SocketAddr;

use serde_json::{Map, Value, json};

use super::ApiServer;
use super::admit::{FieldValidation, Part};
use super::crd;
use super::delete::DeleteOptions;
use super::document::Document;
use super::patch::Patch;
use super::resource::Endpoint;
use super::status::{Reason, Status};
use super::store::{Key, State};
use super::tracking::{SERVER, without_owners};
use super::write::{WriteOptions, Writer};

/// The managers of what people do here, as kubectl calls them.
const APPLIES: &str = "kubectl-client-side-apply";
const PATCHES: &str = "kubectl-patch";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

impl ApiServer {
    /// Serves these CustomResourceDefinitions at once; existing ones are updated.
    pub fn install_crds(&self, crds: &[Value]) -> Result<(), Status> {
        let mut state = self.state();
        let endpoint = state.registry.for_object(crd::API_VERSION, crd::KIND);
        let endpoint = endpoint.ok_or_else(Status::no_such_resource)?;
        for definition in crds {
            let key = Key::new(None, definition["metadata"]["name"].as_str().unwrap_or_default());
            let known = state.find(endpoint.resource.id, &key).is_some();
            let mut writer = self.writer(&mut state);
            // Not by `apply`: its annotation would hold the whole schema, and annotations are bounded.
            if known {
                writer.patch(&endpoint, &key, Part::Main, &Patch::merge(definition.clone()))?;
            } else {
                writer.create(&endpoint, None, Document::from(definition.clone()))?;
            }
        }
        Ok(())
    }

    /// An object by kind, plural or short name, in its storage version. No namespace means `default` for
    /// namespaced kinds, here and below.
    #[must_use]
    pub fn get(&self, kind: &str, namespace: Option<&str>, name: &str) -> Option<Value> {
        let state = self.state();
        let endpoint = state.registry.by_word(kind)?;
        let key = key(&endpoint, namespace, name);
        state.find(endpoint.resource.id, &key).map(|object| without_owners(&object.value))
    }

    /// All objects of a kind, by namespace and name; none when the kind is not served.
    #[must_use]
    pub fn list(&self, kind: &str) -> Vec<Value> {
        let state = self.state();
        let Some(endpoint) = state.registry.by_word(kind) else { return Vec::new() };
        let collection = state.collection(endpoint.resource.id);
        collection
            .map(|all| all.objects.values().map(|object| without_owners(&object.value)).collect())
            .unwrap_or_default()
    }

    /// Creates an object, or changes it as `kubectl apply` would: what the last apply set and this one
    /// does not is removed.
    pub fn apply(&self, object: Value) -> Result<Value, Status> {
        self.apply_with(object, FieldValidation::Ignore)
    }

    /// What `kubectl apply` sends for an object: it as it is, with an annotation that remembers it, or the merge patch that
    /// makes what is found so.
    #[must_use]
    pub fn client_side_apply(found: Option<&Value>, object: Value) -> Value {
        let mut desired = with_last_applied(object);
        let Some(found) = found else {
            if let Some(metadata) = desired["metadata"].as_object_mut() {
                metadata.remove("resourceVersion");
            }
            return desired;
        };
        let last = found["metadata"]["annotations"][LAST_APPLIED].as_str().unwrap_or("{}");
        let last: Value = serde_json::from_str(last).unwrap_or_default();
        three_way(&last, &desired)
    }

    /// The same, but fields that the schema does not know are refused, as kubectl has it.
    pub fn apply_strictly(&self, object: Value) -> Result<Value, Status> {
        self.apply_with(object, FieldValidation::Strict)
    }

    fn apply_with(&self, object: Value, field_validation: FieldValidation) -> Result<Value, Status> {
        if !object["metadata"].is_object() {
            return Err(Status::bad_request("the object has no metadata"));
        }
        let mut state = self.state();
        let word = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (word("apiVersion"), word("kind"));
        let endpoint = state.registry.for_object(&api_version, &kind).ok_or_else(|| {
            Status::new(Reason::NotFound, format!("no matches for kind {kind:?} in version {api_version:?}"))
        })?;
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let key = key(&endpoint, object["metadata"]["namespace"].as_str(), name);
        let found = state.find(endpoint.resource.id, &key).cloned();
        let wanted = Self::client_side_apply(found.as_ref().map(|found| &found.value), object);
        let options = WriteOptions { dry_run: false, field_validation, manager: APPLIES.to_owned() };
        let mut writer = Writer::new(&mut state, self.inner.clock.now(), options).by_scene();
        let stored = match found {
            None => {
                let namespace = endpoint.resource.namespaced.then_some(key.namespace.as_str());
                writer.create(&endpoint, namespace, Document::from(wanted))?
            }
            Some(_) => writer.patch(&endpoint, &key, Part::Main, &Patch::merge(wanted))?,
        };
        Ok(without_owners(&stored.value))
    }

    /// Applies a merge patch to an object.
    pub fn patch(
        &self,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
        merge_patch: Value,
    ) -> Result<Value, Status> {
        self.patch_part(kind, namespace, name, Part::Main, merge_patch)
    }

    /// Applies a merge patch to the status of an object.
    pub fn patch_status(
        &self,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
        merge_patch: Value,
    ) -> Result<Value, Status> {
        self.patch_part(kind, namespace, name, Part::Status, merge_patch)
    }

    fn patch_part(
        &self,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
        part: Part,
        merge_patch: Value,
    ) -> Result<Value, Status> {
        let mut state = self.state();
        let endpoint = state.registry.by_word(kind).ok_or_else(Status::no_such_resource)?;
        let key = key(&endpoint, namespace, name);
        let patch = Patch::merge(merge_patch);
        self.writer(&mut state)
            .patch(&endpoint, &key, part, &patch)
            .map(|stored| without_owners(&stored.value))
    }

    /// Deletes an object; it stays while finalizers hold it.
    pub fn delete(&self, kind: &str, namespace: Option<&str>, name: &str) -> Result<(), Status> {
        let mut state = self.state();
        let endpoint = state.registry.by_word(kind).ok_or_else(Status::no_such_resource)?;
        let key = key(&endpoint, namespace, name);
        self.writer(&mut state).delete(&endpoint, &key, &DeleteOptions::default()).map(drop)
    }

    /// Forgets all events so far, as a compaction of etcd does: watches from older versions get 410, and so
    /// do continue tokens.
    pub fn compact(&self) {
        self.state().compact();
    }

    /// A kubeconfig for this server at `address`.
    #[must_use]
    pub fn kubeconfig(&self, address: SocketAddr) -> String {
        // A user without credentials would make kubectl ask for a name: a token that means nothing stops it.
        format!(
            "apiVersion: v1\nkind: Config\nclusters:\n- name: sandbox\n  cluster:\n    server: http://{address}\n\
             contexts:\n- name: sandbox\n  context:\n    cluster: sandbox\n    namespace: default\n    user: sandbox\n\
             current-context: sandbox\nusers:\n- name: sandbox\n  user:\n    token: sandbox\n"
        )
    }

    pub(super) fn bootstrap(&self) {
        let mut state = self.state();
        let Some(endpoint) = state.registry.for_object("v1", "Namespace") else { return };
        for name in ["default", "kube-system"] {
            let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
            // The names are valid and the store is empty: there is nothing to refuse.
            let mut writer = self.writer(&mut state);
            writer.options.manager = SERVER.to_owned();
            let _ = writer.create(&endpoint, None, Document::from(namespace));
        }
    }

    fn writer<'s>(&self, state: &'s mut State) -> Writer<'s> {
        let field_validation = FieldValidation::Ignore;
        let options = WriteOptions { dry_run: false, field_validation, manager: PATCHES.to_owned() };
        Writer::new(state, self.inner.clock.now(), options).by_scene()
    }
}

fn key(endpoint: &Endpoint, namespace: Option<&str>, name: &str) -> Key {
    let namespace = endpoint.resource.namespaced.then(|| namespace.unwrap_or("default"));
    Key::new(namespace, name)
}

fn with_last_applied(mut object: Value) -> Value {
    if let Some(annotations) = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
    }
    let text = format!("{object}\n");
    if !object["metadata"]["annotations"].is_object() {
        object["metadata"]["annotations"] = json!({});
    }
    object["metadata"]["annotations"][LAST_APPLIED] = json!(text);
    object
}

/// A merge patch that sets what `desired` says and removes what only `last` said.
fn three_way(last: &Value, desired: &Value) -> Value {
    let (Some(last), Some(desired)) = (last.as_object(), desired.as_object()) else { return desired.clone() };
    let mut patch: Map<String, Value> = desired
        .iter()
        .map(|(field, value)| {
            (field.clone(), last.get(field).map_or_else(|| value.clone(), |last| three_way(last, value)))
        })
        .collect();
    for field in last.keys().filter(|field| !desired.contains_key(*field)) {
        patch.insert(field.clone(), Value::Null);
    }
    Value::Object(patch)
}
