//! What a write must not change and what it must know: names, versions, uids, finalizers, size. Leaves the content of
//! objects to `admit`.

use serde_json::{Value, json};

use super::admit::Part;
use super::builtins::BuiltIn;
use super::complaint;
use super::resource::Endpoint;
use super::status::{Reason, Status};
use super::store::{Key, Stored};

/// Largest object: etcd's default request limit (`--max-request-bytes`).
const OBJECT_BYTES_MAX: usize = 1_572_864;

/// Kinds that refuse a PUT without a version (`AllowUnconditionalUpdate` is false).
pub(crate) fn needs_version(built_in: BuiltIn) -> bool {
    matches!(built_in, BuiltIn::CustomResourceDefinition | BuiltIn::Lease)
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
    old: &Stored,
) -> Result<(), Status> {
    let Some(uid) = value["metadata"]["uid"].as_str().filter(|uid| *uid != old.uid()) else { return Ok(()) };
    let custom = endpoint.resource.built_in.is_none().then(|| format!("{}/", endpoint.group));
    let parts = [custom.as_deref().unwrap_or_default(), endpoint.subject().plural].concat();
    let namespace = if key.namespace.is_empty() { String::new() } else { format!("{}/", key.namespace) };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{parts}/{namespace}{}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
        key.name,
        old.uid()
    );
    Err(Status::conflict(endpoint.subject(), &key.name, &why))
}

/// A PATCH that names another uid tries to change it; one of the status changes nothing in the metadata anyway.
pub(crate) fn check_uid(
    endpoint: &Endpoint,
    key: &Key,
    part: Part,
    value: &Value,
    old: &Stored,
) -> Result<(), Status> {
    match value["metadata"]["uid"].as_str() {
        Some(uid) if uid != old.uid() && part == Part::Main => {
            let cause = complaint::invalid("metadata.uid", uid, "field is immutable");
            Err(Status::invalid(endpoint.subject(), &key.name, vec![cause]))
        }
        _ => Ok(()),
    }
}

pub(crate) fn check_version(
    endpoint: &Endpoint,
    key: &Key,
    value: &Value,
    old: &Stored,
) -> Result<(), Status> {
    match value["metadata"]["resourceVersion"].as_str() {
        None | Some("0") => Ok(()),
        Some(version) if version.parse::<u64>().is_err() => {
            let cause = complaint::invalid("metadata.resourceVersion", version, "must be a number");
            Err(Status::invalid(endpoint.subject(), &key.name, vec![cause]))
        }
        Some(version) if version != old.version.to_string() => {
            Err(Status::modified_meanwhile(endpoint.subject(), &key.name))
        }
        Some(_) => Ok(()),
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
