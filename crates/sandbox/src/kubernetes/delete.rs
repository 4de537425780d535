//! Deletion: preconditions, propagation, finalizers, and removal when nothing holds an object. Leaves
//! what a removal means for other objects to `settle`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::admit;
use super::builtins::BuiltIn;
use super::complaint;
use super::resource::Endpoint;
use super::schema::Cause;
use super::status::{Status, Subject};
use super::store::{Key, Stored, Unsettled};
use super::write::{NAMESPACES, Writer, is_free};

/// Holds an object until its dependents are gone (`metav1.FinalizerDeleteDependents`).
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// Holds an object until its dependents have forgotten it (`metav1.FinalizerOrphanDependents`).
pub(crate) const ORPHAN: &str = "orphan";
/// Holds a CustomResourceDefinition until its objects are gone.
pub(crate) const CRD_CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
/// Namespaces that the server does not let go (`NamespaceLifecycle`).
const IMMORTAL: &[&str] = &["default", "kube-system", "kube-public"];

/// What happens to dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    Background,
    Foreground,
    Orphan,
}

/// `metav1.DeleteOptions`, as far as it means something here.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    /// Absent: as the object's finalizers say, or in the background.
    pub(crate) propagation: Option<Propagation>,
}

impl DeleteOptions {
    /// Reads a body; absent and empty bodies mean nothing special.
    pub(crate) fn from_body(body: &Value) -> Result<Self, Status> {
        let preconditions = &body["preconditions"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let propagation = match body["propagationPolicy"].as_str() {
            Some(_) if body["orphanDependents"].is_boolean() => {
                let why = "orphanDependents and deletionPropagation cannot be both set";
                let policy = body["propagationPolicy"].as_str().unwrap_or_default();
                return Err(refused(complaint::invalid("propagationPolicy", policy, why)));
            }
            Some(policy) => Some(Propagation::parse(policy)?),
            None => match body["orphanDependents"].as_bool() {
                Some(true) => Some(Propagation::Orphan),
                Some(false) => Some(Propagation::Background),
                None => None,
            },
        };
        Ok(Self {
            uid: text(&preconditions["uid"]),
            resource_version: text(&preconditions["resourceVersion"]),
            propagation,
        })
    }
}

impl Propagation {
    pub(crate) fn parse(policy: &str) -> Result<Self, Status> {
        match policy {
            "Background" => Ok(Self::Background),
            "Foreground" => Ok(Self::Foreground),
            "Orphan" => Ok(Self::Orphan),
            other => {
                let known = &["Foreground", "Background", "Orphan", "nil"];
                Err(refused(complaint::unsupported("propagationPolicy", other, known)))
            }
        }
    }
}

/// What is wrong with the options of a delete.
pub(crate) fn refused(cause: Cause) -> Status {
    let subject = Subject { group: "meta.k8s.io", plural: "", kind: "DeleteOptions" };
    Status::invalid(subject, "", vec![cause])
}

/// What a delete did.
#[derive(Clone, Debug)]
pub(crate) enum Deleted {
    /// It is gone; the last version.
    Gone(Arc<Stored>),
    /// It waits for its finalizers.
    Waiting(Arc<Stored>),
}

impl Writer<'_> {
    /// DELETE on an object.
    pub(crate) fn delete(
        &mut self,
        endpoint: &Endpoint,
        key: &Key,
        options: &DeleteOptions,
    ) -> Result<Deleted, Status> {
        let deleted = self.mark_or_remove(endpoint, key, options)?;
        self.settle();
        Ok(deleted)
    }

    /// A delete without what follows from it.
    pub(crate) fn mark_or_remove(
        &mut self,
        endpoint: &Endpoint,
        key: &Key,
        options: &DeleteOptions,
    ) -> Result<Deleted, Status> {
        let id = endpoint.resource.id;
        let old = self.state.find(id, key).cloned();
        let old = old.ok_or_else(|| Status::not_found(endpoint.subject(), &key.name))?;
        check_preconditions(endpoint, key, options, &old)?;
        let built_in = endpoint.resource.built_in;
        if built_in == Some(BuiltIn::Namespace) && IMMORTAL.contains(&key.name.as_str()) {
            return Err(Status::forbidden(NAMESPACES, &key.name, "this namespace may not be deleted"));
        }
        let mut value = old.value.clone();
        hold(&mut value, built_in, options.propagation);
        if is_free(&value) {
            if self.options.dry_run {
                return Ok(Deleted::Gone(old));
            }
            let mut last = old.value.clone();
            if built_in == Some(BuiltIn::Pod) && !old.is_terminating() {
                // A Pod ends gracefully, and the watches see that, even when there is no node that could wait.
                self.terminate(&mut last, built_in);
                last = self.state.put(id, key.clone(), last).value.clone();
            }
            let removed = self.state.remove(id, key, last);
            return removed
                .map(Deleted::Gone)
                .ok_or_else(|| Status::not_found(endpoint.subject(), &key.name));
        }
        if !old.is_terminating() {
            self.terminate(&mut value, built_in);
        }
        if value == old.value {
            return Ok(Deleted::Waiting(old));
        }
        if self.options.dry_run {
            return Ok(Deleted::Waiting(Arc::new(Stored::new(value, old.version))));
        }
        let stored = self.state.put(id, key.clone(), value);
        match built_in {
            Some(BuiltIn::Namespace) => {
                self.state.unsettled.push_back(Unsettled::Emptying(key.name.clone()));
            }
            Some(BuiltIn::CustomResourceDefinition) => {
                if let Some(of) = super::crd::resource_of(self.state, &stored.value) {
                    self.state.unsettled.push_back(Unsettled::Withdrawing(of));
                }
            }
            _ => {}
        }
        self.state.unsettled.push_back(Unsettled::Owner(stored.uid().to_owned()));
        self.state.unsettled.push_back(Unsettled::Held((id, key.clone())));
        Ok(Deleted::Waiting(stored))
    }

    /// Says that an object is going.
    fn terminate(&self, value: &mut Value, built_in: Option<BuiltIn>) {
        value["metadata"]["deletionTimestamp"] = admit::seconds(self.now);
        if let Some(generation) = value["metadata"]["generation"].as_u64() {
            value["metadata"]["generation"] = json!(generation + 1);
        }
        if built_in == Some(BuiltIn::Namespace) {
            value["status"]["phase"] = json!("Terminating");
        } else {
            value["metadata"]["deletionGracePeriodSeconds"] = json!(0);
        }
    }
}

/// Sets the finalizers that the server itself needs for this deletion; a later one changes those of an earlier one.
fn hold(value: &mut Value, built_in: Option<BuiltIn>, asked: Option<Propagation>) {
    let is_first = !value["metadata"]["deletionTimestamp"].is_string();
    let before = value["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
    let has = |finalizer: &str| before.iter().any(|have| have == finalizer);
    let propagation = asked.unwrap_or(if has(ORPHAN) {
        Propagation::Orphan
    } else if has(FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    });
    let own = match propagation {
        Propagation::Background => None,
        Propagation::Foreground => Some(FOREGROUND),
        Propagation::Orphan => Some(ORPHAN),
    };
    let mut after = before.clone();
    after.retain(|finalizer| {
        own.is_some_and(|own| finalizer == own) || !(finalizer == FOREGROUND || finalizer == ORPHAN)
    });
    let cleanup = (is_first && built_in == Some(BuiltIn::CustomResourceDefinition)).then_some(CRD_CLEANUP);
    for finalizer in own.into_iter().chain(cleanup) {
        if !after.iter().any(|have| have == finalizer) {
            after.push(json!(finalizer));
        }
    }
    if after == before {
        return;
    }
    if after.is_empty() {
        if let Some(metadata) = value["metadata"].as_object_mut() {
            metadata.remove("finalizers");
        }
    } else {
        value["metadata"]["finalizers"] = Value::Array(after);
    }
}

fn check_preconditions(
    endpoint: &Endpoint,
    key: &Key,
    options: &DeleteOptions,
    old: &Stored,
) -> Result<(), Status> {
    // The kind stands where the plural stands otherwise.
    let subject = Subject { plural: &endpoint.resource.kind, ..endpoint.subject() };
    if let Some(uid) = &options.uid
        && uid != old.uid()
    {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
            old.uid()
        );
        return Err(Status::conflict(subject, &key.name, &why));
    }
    if let Some(version) = &options.resource_version
        && *version != old.version.to_string()
    {
        let why = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). The object might have been modified",
            old.version
        );
        return Err(Status::conflict(subject, &key.name, &why));
    }
    Ok(())
}
