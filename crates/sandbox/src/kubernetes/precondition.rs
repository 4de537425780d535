//! What a write must not change and what it must know: names, versions, uids, finalizers, size. Leaves the content of
//! objects to `admit`.

use serde_json::{Value, json};

use super::admit::Part;
use super::builtins::BuiltIn;
use super::complaint;
use super::resource::Endpoint;
use super::status::{Reason, Status, Subject};
use super::store::{Key, Stored};

/// Largest object: etcd's default request limit (`--max-request-bytes`).
const OBJECT_BYTES_MAX: usize = 1_572_864;

/// Kinds that refuse a PUT without a version (`AllowUnconditionalUpdate` is false).
pub(crate) fn needs_version(built_in: BuiltIn) -> bool {
    matches!(built_in, BuiltIn::CustomResourceDefinition | BuiltIn::Lease)
}

/// Drops owners that an object names twice; the warning says so.
pub(crate) fn once_each_owner(value: &mut Value) -> Option<String> {
    let owners = value["metadata"].get_mut("ownerReferences")?.as_array_mut()?;
    let mut kept: Vec<Value> = Vec::new();
    let mut twice: Vec<String> = Vec::new();
    for owner in std::mem::take(owners) {
        if kept.contains(&owner) {
            let uid = owner["uid"].as_str().unwrap_or_default().to_owned();
            if !twice.contains(&uid) {
                twice.push(uid);
            }
        } else {
            kept.push(owner);
        }
    }
    *owners = kept;
    (!twice.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may \
             reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            twice.join(", ")
        )
    })
}

/// Kinds of which a PUT makes an object that is not there (`AllowCreateOnUpdate`).
pub(crate) fn is_made_by_put(endpoint: &Endpoint) -> bool {
    let Some(built_in) = endpoint.resource.built_in else { return false };
    matches!(
        built_in,
        BuiltIn::Service
            | BuiltIn::Event
            | BuiltIn::Lease
            | BuiltIn::Role
            | BuiltIn::RoleBinding
            | BuiltIn::ClusterRole
            | BuiltIn::ClusterRoleBinding
    )
}

/// An update is of the object that its path names.
pub(crate) fn check_name(key: &Key, value: &Value) -> Result<(), Status> {
    let name = &key.name;
    match value["metadata"]["name"].as_str().unwrap_or_default() {
        "" => Err(Status::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        given if given != name => Err(Status::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        ))),
        _ => Ok(()),
    }
}

/// Puts the namespace of the path into the object, and refuses another one.
pub(crate) fn place(endpoint: &Endpoint, namespace: Option<&str>, value: &mut Value) -> Result<(), Status> {
    let given = value["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    let Some(metadata) = value["metadata"].as_object_mut() else { return Ok(()) };
    match namespace {
        Some(namespace) if given.is_empty() || given == namespace => {
            metadata.insert("namespace".to_owned(), json!(namespace));
            Ok(())
        }
        Some(_) => Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        )),
        None if endpoint.resource.namespaced => {
            Err(Status::bad_request("an empty namespace may not be set during creation"))
        }
        None => {
            metadata.remove("namespace");
            Ok(())
        }
    }
}

/// A PUT of another object of the same name is a conflict, on the status, too.
pub(crate) fn check_replaced(
    endpoint: &Endpoint,
    key: &Key,
    value: &Value,
    old_uid: &str,
    dry_run: bool,
) -> Result<(), Status> {
    let Some(uid) = value["metadata"]["uid"].as_str().filter(|uid| *uid != old_uid) else { return Ok(()) };
    let custom = endpoint.resource.built_in.is_none().then(|| format!("{}/", endpoint.group));
    let folder = match endpoint.resource.built_in {
        Some(BuiltIn::Service) => "services/specs",
        Some(BuiltIn::Ingress) => "ingress",
        _ => endpoint.subject().plural,
    };
    let parts = [custom.as_deref().unwrap_or_default(), folder].concat();
    let namespace = if key.namespace.is_empty() { String::new() } else { format!("{}/", key.namespace) };
    // What is only tried does not reach the store, which puts its root in front of the key.
    let root = if dry_run { "" } else { "/registry" };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {root}/{parts}/{namespace}{}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {old_uid}",
        key.name
    );
    Err(Status::conflict(endpoint.subject(), &key.name, &why))
}

/// Fields of the metadata that an update names otherwise than they are. A status changes none of them anyway.
pub(crate) fn check_immutable(
    endpoint: &Endpoint,
    key: &Key,
    part: Part,
    value: &Value,
    old: &Stored,
) -> Result<(), Status> {
    const WHY: &str = "field is immutable";
    if part != Part::Main {
        return Ok(());
    }
    let (new, old) = (&value["metadata"], &old.value["metadata"]);
    let mut causes = Vec::new();
    if let Some(uid) = new["uid"].as_str().filter(|uid| *uid != old["uid"]) {
        causes.push(complaint::invalid("metadata.uid", uid, WHY));
    }
    if let Some(time) = new["deletionTimestamp"].as_str().filter(|_| old["deletionTimestamp"].is_null()) {
        causes.push(complaint::invalid("metadata.deletionTimestamp", time, WHY));
    }
    let grace = "deletionGracePeriodSeconds";
    if let Some(seconds) = new[grace].as_i64().filter(|seconds| old[grace] != *seconds) {
        causes.push(complaint::invalid_raw(format!("metadata.{grace}"), seconds, WHY));
    }
    if causes.is_empty() { Ok(()) } else { Err(Status::invalid(endpoint.subject(), &key.name, causes)) }
}

/// The version that an update names; 0 when it names none.
pub(crate) fn asked_version(value: &Value) -> Result<u64, Status> {
    match value["metadata"]["resourceVersion"].as_str() {
        None | Some("") => Ok(0),
        Some(text) => text
            .parse()
            .map_err(|_| Status::unknown(format!("strconv.ParseUint: parsing {text:?}: invalid syntax"))),
    }
}

/// An update is of the version that it names; only some kinds need not name one.
pub(crate) fn check_version(
    endpoint: &Endpoint,
    key: &Key,
    value: &Value,
    old: &Stored,
) -> Result<(), Status> {
    match asked_version(value)? {
        0 if endpoint.resource.built_in.is_none_or(needs_version) => {
            let why = "must be specified for an update";
            let cause = complaint::invalid_raw("metadata.resourceVersion", 0, why);
            let subject = endpoint.subject();
            Err(Status::invalid(Subject { kind: subject.plural, ..subject }, &key.name, vec![cause]))
        }
        0 => Ok(()),
        version if version != old.version => Err(Status::modified_meanwhile(endpoint.subject(), &key.name)),
        _ => Ok(()),
    }
}

/// What a client cannot change in `metadata`.
pub(crate) fn carry_metadata(value: &mut Value, old: &Value) {
    let Some(metadata) = value["metadata"].as_object_mut() else { return };
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "generation",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "resourceVersion",
    ] {
        match old["metadata"].get(field) {
            Some(kept) => {
                metadata.insert(field.to_owned(), kept.clone());
            }
            None => {
                metadata.remove(field);
            }
        }
    }
}

pub(crate) fn check_finalizers(
    endpoint: &Endpoint,
    key: &Key,
    value: &Value,
    old: &Stored,
) -> Result<(), Status> {
    if !old.is_terminating() {
        return Ok(());
    }
    let before: Vec<&str> = old.finalizers().collect();
    let added: Vec<&str> = value["metadata"]["finalizers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|finalizer| !before.contains(finalizer))
        .collect();
    if added.is_empty() {
        return Ok(());
    }
    let list = added.iter().map(|finalizer| format!("{finalizer:?}")).collect::<Vec<_>>().join(", ");
    let why = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{list}}}"
    );
    let cause = complaint::forbidden("metadata.finalizers", why);
    Err(Status::invalid(endpoint.subject(), &key.name, vec![cause]))
}

pub(crate) fn check_size(value: &Value) -> Result<(), Status> {
    // Serialising every object to measure it would cost more than all the rest of a write.
    if roughly(value) > OBJECT_BYTES_MAX / 4 && value.to_string().len() > OBJECT_BYTES_MAX {
        let message = "etcdserver: request is too large";
        return Err(Status::new(Reason::RequestEntityTooLarge, message));
    }
    Ok(())
}

/// The size of a value without punctuation and escapes: at least a quarter of its size as JSON, but for
/// texts that are mostly control characters.
fn roughly(value: &Value) -> usize {
    const SCALAR: usize = 8;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => SCALAR,
        Value::String(text) => text.len() + SCALAR,
        Value::Array(items) => items.iter().map(roughly).sum::<usize>() + SCALAR,
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| key.len() + roughly(value)).sum::<usize>() + SCALAR
        }
    }
}
