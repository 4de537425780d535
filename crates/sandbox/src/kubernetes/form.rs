//! The two faces of one object: the form of the store and the form of the version that a request came
//! through. Events are one store with two groups; other kinds differ by `apiVersion` alone (CRDs without a
//! conversion webhook).

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::builtins::BuiltIn;
use super::resource::Endpoint;

/// Fields of an Event as the store (core/v1) and as `events.k8s.io/v1` call them
/// (`pkg/apis/events/v1/conversion.go`).
const EVENT_FIELDS: &[(&str, &str)] = &[
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// Fields that the core group always has.
const OPTIONAL: &[&str] = &["reportingController", "reportingInstance"];

/// `value`, which came through `endpoint`, in the form of the store.
pub(crate) fn into_store(endpoint: &Endpoint, mut value: Value) -> Value {
    if endpoint.is_storage_form() {
        return value;
    }
    if endpoint.resource.built_in == Some(BuiltIn::Event) {
        value = renamed(value, |field| {
            EVENT_FIELDS.iter().find(|(_, events)| *events == field).map(|(core, _)| *core)
        });
    }
    value["apiVersion"] = json!(endpoint.resource.storage_api_version());
    value
}

/// A stored value in the form of `endpoint`.
pub(crate) fn from_store<'a>(endpoint: &Endpoint, value: &'a Value) -> Cow<'a, Value> {
    if endpoint.is_storage_form() {
        return Cow::Borrowed(value);
    }
    let mut value = value.clone();
    if endpoint.resource.built_in == Some(BuiltIn::Event) {
        value = renamed(value, |field| {
            EVENT_FIELDS.iter().find(|(core, _)| *core == field).map(|(_, events)| *events)
        });
    }
    value["apiVersion"] = json!(endpoint.api_version());
    if endpoint.resource.built_in == Some(BuiltIn::Event)
        && let Some(fields) = value.as_object_mut()
    {
        // The newer group leaves out what is empty.
        fields.retain(|name, value| !(OPTIONAL.contains(&name.as_str()) && *value == ""));
    }
    Cow::Owned(value)
}

fn renamed<'n>(value: Value, new_name: impl Fn(&str) -> Option<&'n str>) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(field, value)| (new_name(&field).map_or(field, str::to_owned), value))
                .collect::<Map<_, _>>(),
        ),
        other => other,
    }
}
