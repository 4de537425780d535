//! What happens to an object between decoding and storing: pruning, defaults, the split between main object
//! and status, validation. Custom resources go through their schema, built-in kinds through `kinds`.
//! Leaves versions, generations and finalizers to `write`.

use serde_json::{Value, json};

use super::builtins::BuiltIn;
use super::document::{self, Document};
use super::form;
use super::kinds;
use super::names::{metadata_causes, unqualified_finalizer_causes};
use super::resource::Endpoint;
use super::status::Status;

/// What to do about fields that do not exist or occur twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// Drop them silently.
    Ignore,
    /// Drop them and say so in a `Warning` header: what the server does when not told otherwise.
    #[default]
    Warn,
    /// Refuse the request.
    Strict,
}

/// Which part of an object a request writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The object itself: status is ignored where it is a subresource.
    Main,
    /// `/status`: everything but status is ignored.
    Status,
    /// `/scale`: how many there are, and nothing else.
    Scale,
}

/// Decodes a body to the form of the store; the second value is the warnings.
pub(crate) fn decode(
    endpoint: &Endpoint,
    body: Document,
    validation: FieldValidation,
) -> Result<(Value, Vec<String>), Status> {
    let is_typed = body.is_typed;
    let mut value = body.value;
    let mut complaints = body.complaints;
    let mut unknown = document::decode_object(endpoint, &mut value)?;
    let schema = endpoint.served().and_then(|version| version.schema.as_ref());
    if validation != FieldValidation::Ignore {
        if let Some(schema) = schema {
            unknown.extend(schema.unknown_fields(&value));
        }
        complaints.extend(unknown.into_iter().map(|path| format!("unknown field \"{path}\"")));
    }
    if validation == FieldValidation::Strict && !complaints.is_empty() {
        let why = format!("strict decoding error: {}", complaints.join(", "));
        return Err(document::cannot_handle(endpoint, &why));
    }
    if validation == FieldValidation::Ignore {
        complaints.clear();
    }
    if let Some(schema) = schema {
        if is_typed {
            schema.fill(&mut value);
        } else {
            schema.prune(&mut value);
            schema.default(&mut value);
        }
    }
    let mut value = form::into_store(endpoint, value);
    if let Some(built_in) = endpoint.resource.built_in {
        kinds::decode(built_in, &mut value);
    }
    Ok((value, complaints))
}

/// Keeps status and the rest apart where the kind has a status subresource.
pub(crate) fn split_status(endpoint: &Endpoint, part: Part, new: &mut Value, old: Option<&Value>) {
    match (part, old) {
        (Part::Status, Some(old)) => {
            if endpoint.resource.built_in.is_some_and(takes_metadata_with_status) {
                if endpoint.resource.built_in == Some(BuiltIn::Deployment) {
                    set_or_remove(&mut new["metadata"], "labels", old["metadata"].get("labels").cloned());
                }
                set_or_remove(new, "spec", old.get("spec").cloned());
                return;
            }
            let status = new.get("status").cloned();
            let version = new["metadata"].get("resourceVersion").cloned();
            let uid = new["metadata"].get("uid").cloned();
            *new = old.clone();
            set_or_remove(new, "status", status);
            // The preconditions of the request stay with it.
            set_or_remove(&mut new["metadata"], "resourceVersion", version);
            set_or_remove(&mut new["metadata"], "uid", uid);
        }
        (Part::Status, None) => {}
        (Part::Main | Part::Scale, old) if endpoint.has_status() => {
            set_or_remove(new, "status", old.and_then(|old| old.get("status")).cloned());
        }
        (Part::Main | Part::Scale, _) => {}
    }
}

/// Built-in kinds whose status endpoint protects the spec alone (`PrepareForUpdate` of their status strategies).
fn takes_metadata_with_status(kind: BuiltIn) -> bool {
    use BuiltIn::{Deployment, Ingress, Namespace, ReplicaSet, Service};
    matches!(kind, Service | Ingress | Namespace | Deployment | ReplicaSet)
}

fn set_or_remove(object: &mut Value, field: &str, value: Option<Value>) {
    let Some(object) = object.as_object_mut() else { return };
    match value {
        Some(value) => {
            object.insert(field.to_owned(), value);
        }
        None => {
            object.remove(field);
        }
    }
}

/// Fills in the defaults of a built-in kind; those of a custom resource are in its schema, and filled in by `decode`.
pub(crate) fn default(endpoint: &Endpoint, value: &mut Value) {
    if let Some(built_in) = endpoint.resource.built_in {
        kinds::default(built_in, value);
    }
}

/// Fills in what the server decides, then validates. `old` is the stored object of an update.
pub(crate) fn complete(
    endpoint: &Endpoint,
    part: Part,
    new: &mut Value,
    old: Option<&Value>,
    address: u32,
) -> Result<(), Status> {
    let resource = &endpoint.resource;
    let mut causes = metadata_causes(resource.name_rule, &new["metadata"]);
    match resource.built_in {
        Some(built_in) => {
            if built_in != BuiltIn::CustomResourceDefinition {
                causes.extend(unqualified_finalizer_causes(&new["metadata"]));
            }
            kinds::allocate(built_in, &resource.group, new, old, address);
            if part != Part::Status {
                causes.extend(kinds::validate(endpoint, built_in, new, old));
            }
        }
        None => {
            if let Some(schema) = endpoint.served().and_then(|version| version.schema.as_ref()) {
                causes = match (part, old) {
                    (Part::Status, Some(old)) => schema.admit_status(causes, new, old),
                    _ => schema.admit_after(causes, new, old),
                };
            }
        }
    }
    if causes.is_empty() {
        return Ok(());
    }
    let name = new["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let mut subject = endpoint.subject();
    if resource.built_in == Some(BuiltIn::Event) {
        // Of whatever group it came through, it is one of the core group.
        subject.group = "";
    }
    Err(Status::invalid(subject, &name, causes))
}

/// What is read of a new object has the schema's defaults once more: those of its status, which the create dropped.
/// True when there were any.
pub(crate) fn read_back(endpoint: &Endpoint, value: &mut Value) -> bool {
    let Some(schema) = endpoint.served().and_then(|version| version.schema.as_ref()) else { return false };
    let had = value.get("status").is_some();
    schema.default(value);
    value.get("status").is_some() != had
}

/// True when the two differ in what `metadata.generation` counts.
pub(crate) fn differs_in_generation(endpoint: &Endpoint, new: &Value, old: &Value) -> bool {
    let counts = |field: &str| field != "metadata" && !(field == "status" && endpoint.has_status());
    let (Some(new), Some(old)) = (new.as_object(), old.as_object()) else { return false };
    let fields = new.keys().chain(old.keys());
    fields.filter(|field| counts(field)).any(|field| new.get(field) != old.get(field))
}

/// `metav1.Time`: whole seconds.
pub(crate) fn seconds(now: jiff::Timestamp) -> Value {
    json!(now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
