//! The kinds of patch and how each changes an object. Leaves admission of the result to `write`, and server-side apply
//! to `applying`.

use serde_json::{Map, Value};

use super::complaint;
use super::document::{self, Document, json_type};
use super::form;
use super::golang;
use super::operations;
use super::resource::Endpoint;
use super::status::{Reason, Status, Subject};
use super::strategic;
use super::types;

/// Operations in one JSON patch (`maxJSONPatchOperations`).
const OPERATIONS_MAX: usize = 10_000;

/// The operations of a JSON patch.
type Operations = Vec<Map<String, Value>>;

/// How an error begins of a patch that is of another type.
const DECODING: &str = "error decoding patch: ";

/// What a patch does.
#[derive(Clone, Debug)]
enum Change {
    /// RFC 6902.
    Json(Operations),
    /// RFC 7386.
    Merge(Value),
    /// Kubernetes' merge patch that knows lists by their keys.
    Strategic(Value),
}

/// A patch as it came.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    change: Change,
    /// What `fieldValidation` has to say of its text.
    complaints: Vec<String>,
}

impl Patch {
    /// RFC 7386.
    pub(crate) fn merge(patch: Value) -> Self {
        Self { change: Change::Merge(patch), complaints: Vec::new() }
    }

    /// Reads a body by its media type.
    pub(crate) fn parse(endpoint: &Endpoint, content_type: &str, body: &[u8]) -> Result<Self, Status> {
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        let read = || {
            document::parse("application/json", body).map_err(|_| Status::bad_request("invalid JSON patch"))
        };
        match media_type {
            "application/json-patch+json" => {
                let Document { value, complaints, .. } = read()?;
                let (operations, unknown) = operations_of(value)?;
                let complaints = complaints.into_iter().chain(unknown);
                let complaints = complaints.map(|complaint| format!("json patch {complaint}")).collect();
                Ok(Self { change: Change::Json(operations), complaints })
            }
            "application/merge-patch+json" => {
                let Document { value, complaints, .. } = read()?;
                if value.is_null() {
                    return Err(Status::bad_request("Invalid JSON Patch"));
                }
                Ok(Self { change: Change::Merge(fields_of(value)?), complaints })
            }
            "application/strategic-merge-patch+json" if endpoint.resource.built_in.is_some() => {
                let Document { value, complaints, .. } = read()?;
                let patch = fields_of(value)
                    .map_err(|status| Status::bad_request(status.message.trim_start_matches(DECODING)));
                Ok(Self { change: Change::Strategic(patch?), complaints })
            }
            _ if endpoint.resource.built_in.is_none() => Err(unsupported()),
            // What no patch is sent as does not reach the handler.
            _ => Err(Status::bare(Reason::UnsupportedMediaType, "415: Unsupported Media Type")),
        }
    }

    /// `stored` with the patch applied, in the form of the endpoint.
    pub(crate) fn apply(&self, endpoint: &Endpoint, stored: &Value) -> Result<Document, Status> {
        let mut value = form::from_store(endpoint, stored).into_owned();
        match &self.change {
            Change::Json(operations) => apply_json(&mut value, operations)?,
            Change::Merge(patch) => json_patch::merge(&mut value, patch),
            Change::Strategic(patch) => {
                let of = types::of_kind(&endpoint.group, &endpoint.resource.kind);
                strategic::merge(&mut value, patch, of)?;
            }
        }
        Ok(Document { value, complaints: self.complaints.clone(), is_typed: false })
    }
}

impl Patch {
    /// What an error about the outcome quotes: the patched object or, of a strategic merge, the patch.
    pub(crate) fn quoted(&self, patched: &Value) -> String {
        match &self.change {
            Change::Strategic(patch) => golang::plain(patch),
            Change::Json(_) | Change::Merge(_) => patched.to_string(),
        }
    }
}

/// An error of decoding the patched object, as the server words it for patches.
pub(crate) fn explain(patched: &str, status: Status) -> Status {
    let Some((_, why)) = status.message.split_once(" cannot be handled as a ") else { return status };
    let why = why.split_once(": ").map_or(why, |(_, why)| why);
    let cause = complaint::invalid("patch", patched, why);
    Status::invalid(Subject { group: "", plural: "", kind: "" }, "", vec![cause])
}

/// The patches of a custom resource.
fn unsupported() -> Status {
    let message = "the body of the request was in an unknown format - accepted media types include: \
                   application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
    Status::new(Reason::UnsupportedMediaType, message)
}

/// The operations of a JSON patch, and what they hold too much.
fn operations_of(value: Value) -> Result<(Operations, Vec<String>), Status> {
    const FIELDS: &[&str] = &["op", "path", "from", "value"];
    let mistyped = |found: &Value, wanted: &str| {
        let found = json_type(found);
        Status::bad_request(format!("error decoding patch: json: cannot unmarshal {found} into Go {wanted}"))
    };
    let Value::Array(items) = value else {
        return Err(mistyped(&value, "value of type []handlers.jsonPatchOp"));
    };
    let (mut operations, mut unknown) = (Vec::new(), Vec::new());
    for (index, item) in items.into_iter().enumerate() {
        let Value::Object(operation) = item else {
            return Err(mistyped(&item, "value of type handlers.jsonPatchOp"));
        };
        for (field, value) in &operation {
            if !FIELDS.contains(&field.as_str()) {
                unknown.push(format!("unknown field \"[{index}].{field}\""));
            } else if field != "value" && !value.is_string() && !value.is_null() {
                let wanted = format!("struct field jsonPatchOp.{field} of type string");
                return Err(mistyped(value, &wanted));
            }
        }
        operations.push(operation);
    }
    Ok((operations, unknown))
}

fn fields_of(patch: Value) -> Result<Value, Status> {
    match patch {
        Value::Object(_) => Ok(patch),
        // To Go, null is a map without entries.
        Value::Null => Ok(Value::Object(Map::new())),
        other => Err(Status::bad_request(format!(
            "{DECODING}json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            json_type(&other)
        ))),
    }
}

/// A scale with the patch applied: every kind of patch fits it.
pub(crate) fn apply_to_scale(scale: &Value, patch: &Patch) -> Result<Value, Status> {
    let mut value = scale.clone();
    match &patch.change {
        Change::Json(operations) => apply_json(&mut value, operations)?,
        Change::Merge(patch) | Change::Strategic(patch) => json_patch::merge(&mut value, patch),
    }
    Ok(value)
}

fn apply_json(value: &mut Value, patch: &[Map<String, Value>]) -> Result<(), Status> {
    if patch.len() > OPERATIONS_MAX {
        let message = format!(
            "The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {}",
            patch.len()
        );
        return Err(Status::new(Reason::RequestEntityTooLarge, message));
    }
    operations::apply(value, patch).map_err(|_| Status::patch_rejected())
}
