//! Looking into objects of Kubernetes and Cloudflare as plain JSON.

use serde_json::Value;

/// What stands at a JSON pointer.
pub(super) fn path<'o>(object: &'o Value, pointer: &str) -> Option<&'o Value> {
    object.pointer(pointer).filter(|value| !value.is_null())
}

/// The text at a JSON pointer; empty when there is none.
pub(super) fn text<'o>(object: &'o Value, pointer: &str) -> &'o str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// An annotation; empty when it is not there.
pub(super) fn annotation<'o>(object: &'o Value, key: &str) -> &'o str {
    object["metadata"]["annotations"][key].as_str().unwrap_or_default()
}

/// A label; empty when it is not there.
pub(super) fn label<'o>(object: &'o Value, key: &str) -> &'o str {
    object["metadata"]["labels"][key].as_str().unwrap_or_default()
}

/// True when its deletion was asked for.
pub(super) fn is_going(object: &Value) -> bool {
    path(object, "/metadata/deletionTimestamp").is_some()
}

/// Status, reason and message of the Ready condition; empty without one.
pub(super) fn ready(object: &Value) -> (&str, &str, &str) {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let ready = conditions.into_iter().find(|condition| condition["type"] == kinds::names::READY);
    let part = |field| ready.and_then(|ready| ready[field].as_str()).unwrap_or_default();
    (part("status"), part("reason"), part("message"))
}

/// True when an object is Ready.
pub(super) fn is_ready(object: &Value) -> bool {
    ready(object).0 == "True"
}

/// Its namespace and name.
pub(super) fn key(object: &Value) -> (String, String) {
    (text(object, "/metadata/namespace").to_owned(), text(object, "/metadata/name").to_owned())
}
