//! What a body says that it is: its `kind` and `apiVersion`, and what the server answers when it is something else, or
//! nothing. Leaves the rest of the body to `document`.

use serde_json::{Map, Value};

use super::complaint;
use super::document::{cannot_handle_as, json_type};
use super::resource::Endpoint;
use super::status::{Status, Subject};

/// How much of a body an error quotes.
const QUOTED_MAX: usize = 30;
/// Where Go's scheme of kinds was made, which it names in errors.
const SCHEME: &str = "in scheme \"pkg/runtime/scheme.go:111\"";

/// 400: the body is no object of the endpoint's kind, nor of any.
pub(crate) fn unrecognized(endpoint: &Endpoint, why: &str, body: &[u8]) -> Status {
    let quoted = match body {
        [] => "<empty>".to_owned(),
        [b'{', ..] => shortened(&String::from_utf8_lossy(body)),
        _ => shortened_hex(body),
    };
    let kind = &endpoint.resource.kind;
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): {why} ({quoted})"
    ))
}

fn shortened(text: &str) -> String {
    if text.len() <= QUOTED_MAX {
        return text.to_owned();
    }
    let head: String = text.chars().take(QUOTED_MAX).collect();
    format!("{head} ...")
}

fn shortened_hex(body: &[u8]) -> String {
    let hex: String = body.iter().take(QUOTED_MAX).map(|byte| format!("{byte:02x}")).collect();
    if body.len() <= QUOTED_MAX { hex } else { format!("{hex} ...") }
}

/// Checks what `value` says that it is. A body of a built-in kind may leave it out.
pub(crate) fn check(endpoint: &Endpoint, value: &mut Value) -> Result<(), Status> {
    let is_built_in = endpoint.resource.built_in.is_some();
    if is_built_in && value.is_null() {
        *value = Value::Object(Map::new());
    }
    let found = json_type(value);
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
    if found == "null" || (found == "object" && kind.is_empty() && !is_built_in) {
        let text = value.to_string();
        let why = format!("Object 'Kind' is missing in '{text}'");
        return Err(unrecognized(endpoint, &why, text.as_bytes()));
    }
    let text = if found == "object" { String::new() } else { value.to_string() };
    let Some(object) = value.as_object_mut() else {
        let why = format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go value of type \
             struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
        );
        return Err(unrecognized(endpoint, &why, text.as_bytes()));
    };
    let api_version = endpoint.api_version();
    for (field, known) in [("kind", &endpoint.resource.kind), ("apiVersion", &api_version)] {
        let is_left_out = object.get(field).and_then(Value::as_str).is_none_or(str::is_empty);
        if is_built_in && is_left_out {
            object.insert(field.to_owned(), Value::from(known.as_str()));
        }
    }
    let given = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (kind, version) = (given("kind"), given("apiVersion"));
    if is_built_in {
        return check_built_in(endpoint, kind, version);
    }
    if version != api_version {
        return Err(Status::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({api_version})"
        )));
    }
    if kind != endpoint.resource.kind {
        let why = format!("must be {}", endpoint.resource.kind);
        let name = object.get("metadata").and_then(|metadata| metadata["name"].as_str()).unwrap_or_default();
        let subject = Subject { kind, ..endpoint.subject() };
        return Err(Status::invalid(subject, name, vec![complaint::invalid("kind", kind, why)]));
    }
    Ok(())
}

/// Go knows its kinds, and which of them can be made into which.
fn check_built_in(endpoint: &Endpoint, kind: &str, version: &str) -> Result<(), Status> {
    let expected = &endpoint.resource.kind;
    if kind == expected && version == endpoint.api_version() {
        return Ok(());
    }
    let (group, number) = version.split_once('/').unwrap_or(("", version));
    let package = |group: &str| match group.split('.').next() {
        None | Some("") => "core".to_owned(),
        Some(first) => first.to_owned(),
    };
    let why = if super::types::of_kind(group, kind).is_some() && number == endpoint.version {
        format!("converting (v1.{kind}) to ({}.{expected}): unknown conversion", package(&endpoint.group))
    } else {
        unregistered(kind, version)
    };
    Err(cannot_handle_as(kind, number, expected, &why))
}

/// What Go says of a kind that it does not know.
pub(crate) fn unregistered(kind: &str, version: &str) -> String {
    format!("no kind {kind:?} is registered for version {version:?} {SCHEME}")
}
