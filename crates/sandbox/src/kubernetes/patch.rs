//! The kinds of patch and how each changes an object. Leaves admission of the result to `write`, and server-side apply
//! to `applying`.

use serde_json::Value;

use super::complaint;
use super::document;
use super::form;
use super::resource::Endpoint;
use super::status::{Reason, Status, Subject};
use super::strategic;
use super::types;

/// Operations in one JSON patch (`maxJSONPatchOperations`).
const OPERATIONS_MAX: usize = 10_000;

/// A patch as it came.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    /// RFC 6902.
    Json(Value),
    /// RFC 7386.
    Merge(Value),
    /// Kubernetes' merge patch that knows lists by their keys.
    Strategic(Value),
}

impl Patch {
    /// Reads a body by its media type.
    pub(crate) fn parse(content_type: &str, body: &[u8]) -> Result<Self, Status> {
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        let read = || document::parse("application/json", body).map(|document| document.value);
        match media_type {
            "application/json-patch+json" => Ok(Self::Json(read()?)),
            "application/merge-patch+json" => Ok(Self::Merge(read()?)),
            "application/strategic-merge-patch+json" => Ok(Self::Strategic(read()?)),
            _ => Err(unsupported(
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, \
                 application/strategic-merge-patch+json",
            )),
        }
    }

    /// An error of decoding the patched object, as the server words it for patches.
    pub(crate) fn explain(&self, endpoint: &Endpoint, status: Status) -> Status {
        let Some((_, strict)) = status.message.split_once("strict decoding error") else { return status };
        let (Self::Json(patch) | Self::Merge(patch) | Self::Strategic(patch)) = self;
        let why = format!("strict decoding error{strict}");
        let cause = complaint::invalid("patch", &patch.to_string(), why);
        let subject = Subject { kind: "", ..endpoint.subject() };
        Status::invalid(Subject { group: "", ..subject }, "", vec![cause])
    }
}

fn unsupported(accepted: &str) -> Status {
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {accepted}"
    );
    Status::new(Reason::UnsupportedMediaType, message)
}

/// `stored` with the patch applied, in the form of the endpoint.
pub(crate) fn apply(endpoint: &Endpoint, stored: &Value, patch: &Patch) -> Result<Value, Status> {
    let mut value = form::from_store(endpoint, stored).into_owned();
    match patch {
        Patch::Json(operations) => apply_json(&mut value, operations)?,
        Patch::Merge(patch) => {
            check_object(patch)?;
            json_patch::merge(&mut value, patch);
        }
        Patch::Strategic(patch) => {
            if endpoint.resource.built_in.is_none() {
                return Err(unsupported(
                    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
                ));
            }
            check_object(patch)?;
            let of = types::of_kind(&endpoint.group, &endpoint.resource.kind);
            strategic::merge(&mut value, patch, of)?;
        }
    }
    Ok(value)
}

/// A scale with the patch applied: every kind of patch fits it.
pub(crate) fn apply_to_scale(scale: &Value, patch: &Patch) -> Result<Value, Status> {
    let mut value = scale.clone();
    match patch {
        Patch::Json(operations) => apply_json(&mut value, operations)?,
        Patch::Merge(patch) | Patch::Strategic(patch) => {
            check_object(patch)?;
            json_patch::merge(&mut value, patch);
        }
    }
    Ok(value)
}

fn check_object(patch: &Value) -> Result<(), Status> {
    if patch.is_object() {
        return Ok(());
    }
    Err(Status::bad_request(
        "error decoding patch: json: cannot unmarshal into Go value of type map[string]interface {}",
    ))
}

fn apply_json(value: &mut Value, operations: &Value) -> Result<(), Status> {
    let operations: json_patch::Patch = serde_json::from_value(operations.clone())
        .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?;
    if operations.0.len() > OPERATIONS_MAX {
        let message = format!(
            "The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {}",
            operations.0.len()
        );
        return Err(Status::new(Reason::RequestEntityTooLarge, message));
    }
    json_patch::patch(value, &operations).map_err(|_| Status::patch_rejected())
}
