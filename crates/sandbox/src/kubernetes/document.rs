//! Request bodies as JSON values: parsing of JSON and YAML, noticing duplicate keys, and the parts of
//! decoding that are the same for all kinds. Leaves the schema of each kind to `admit`.

use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, de};
use serde_json::{Map, Number, Value};

use super::identity;
use super::protobuf;
use super::resource::Endpoint;
use super::status::{Reason, Status};
use super::types::{self, decoding};

/// A parsed body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    pub(crate) value: Value,
    /// What `fieldValidation` has to say of the text: keys that occur twice.
    pub(crate) complaints: Vec<String>,
    /// It comes from typed values and not from a body: every field is known, and a null is meant.
    pub(crate) is_typed: bool,
}

impl From<Value> for Document {
    fn from(value: Value) -> Self {
        Self { value, ..Self::default() }
    }
}

/// Parses a body by its media type.
pub(crate) fn parse(content_type: &str, body: &[u8]) -> Result<Document, Status> {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    if media_type.contains("yaml") {
        let value: Value = serde_saphyr::from_slice(body).map_err(|error| unreadable(&error))?;
        return Ok(Document::from(value));
    }
    if media_type == "application/vnd.kubernetes.protobuf" {
        return Ok(Document::from(protobuf::read(body).map_err(|error| unreadable(&error))?));
    }
    if !matches!(media_type, "application/json" | "") {
        let message = "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf";
        return Err(Status::new(Reason::UnsupportedMediaType, message));
    }
    let mut duplicates = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let seed = Watchful { path: String::new(), duplicates: &mut duplicates };
    let value = seed.deserialize(&mut deserializer).map_err(|error| unreadable(&error))?;
    deserializer.end().map_err(|error| unreadable(&error))?;
    let complaints = duplicates.iter().map(|path| format!("duplicate field \"{path}\"")).collect();
    Ok(Document { value, complaints, is_typed: false })
}

/// Parses the body of an object.
pub(crate) fn parse_object(endpoint: &Endpoint, content_type: &str, body: &[u8]) -> Result<Document, Status> {
    let parsed = parse(content_type, body);
    parsed.map_err(|status| match unparsable(&status) {
        Some(why) => identity::unrecognized(endpoint, &why, body),
        None => status,
    })
}

/// Parses the body of a delete, which is no object.
pub(crate) fn parse_options(content_type: &str, body: &[u8]) -> Result<Value, Status> {
    let parsed = parse(content_type, body);
    let parsed = parsed.map_err(|status| unparsable(&status).map_or(status, Status::bad_request));
    parsed.map(|document| document.value)
}

/// What the server says of a text that is no JSON. Of what is wrong with it, Go has words of its own.
fn unparsable(status: &Status) -> Option<String> {
    let why = status.message.strip_prefix(UNREADABLE)?;
    let why = if why.starts_with("EOF") { "unexpected end of JSON input" } else { why };
    Some(format!("couldn't get version/kind; json parse error: {why}"))
}

/// Parses the body of a server-side apply: YAML, which clients mostly write as JSON.
pub(crate) fn parse_apply(body: &[u8]) -> Result<Value, Status> {
    if let Ok(document) = parse("application/json", body) {
        return Ok(document.value);
    }
    let read: Result<Value, _> = serde_saphyr::from_slice(body);
    read.map_err(|error| {
        Status::bad_request(format!("error decoding patch: error converting YAML to JSON: yaml: {error}"))
    })
}

/// How the server begins to say that a body is malformed.
const UNREADABLE: &str = "error decoding the body of the request: ";

fn unreadable(error: &dyn fmt::Display) -> Status {
    Status::bad_request(format!("{UNREADABLE}{error}"))
}

/// Builds a value and remembers the paths of keys that occur twice.
struct Watchful<'a> {
    path: String,
    duplicates: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Watchful<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Watchful<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        loop {
            let seed = Watchful {
                path: format!("{}[{}]", self.path, array.len()),
                duplicates: &mut *self.duplicates,
            };
            let Some(item) = items.next_element_seed(seed)? else { break };
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let path = if self.path.is_empty() { key.clone() } else { format!("{}.{key}", self.path) };
            if object.contains_key(&key) {
                self.duplicates.push(path.clone());
            }
            let value = entries.next_value_seed(Watchful { path, duplicates: &mut *self.duplicates })?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// The owners of fields. An empty list of them is not one that is left out.
const MANAGED: &str = "managedFields";

/// Checks that `value` is an object of the endpoint's kind and brings its metadata into the form of the
/// store. Returns the metadata fields that do not exist.
pub(crate) fn decode_object(endpoint: &Endpoint, value: &mut Value) -> Result<Vec<String>, Status> {
    identity::check(endpoint, value)?;
    let mut unknown = decode_built_in(endpoint, value)?;
    let Some(object) = value.as_object_mut() else { return Ok(Vec::new()) };
    let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if metadata.is_null() {
        *metadata = Value::Object(Map::new());
    }
    let found = json_type(metadata);
    let Some(metadata) = metadata.as_object_mut() else {
        let why = format!("json: cannot unmarshal {found} into Go value of type v1.ObjectMeta");
        return Err(cannot_handle(endpoint, &why));
    };
    unknown.extend(decode_metadata(endpoint, metadata)?);
    metadata.retain(|key, value| match key.as_str() {
        "selfLink" => false,
        // An empty list means to forget them all.
        "managedFields" => value.is_array(),
        _ => !is_zero(value),
    });
    Ok(unknown)
}

/// Go leaves fields with these values out (`omitempty`).
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Brings an object of a built-in kind into its type. Returns the paths of fields that it does not have.
fn decode_built_in(endpoint: &Endpoint, value: &mut Value) -> Result<Vec<String>, Status> {
    let of = types::of_kind(&endpoint.group, &endpoint.resource.kind);
    let Some(of) = endpoint.resource.built_in.and(of) else { return Ok(Vec::new()) };
    let managed = value["metadata"].get(MANAGED).filter(|managed| managed.is_array()).cloned();
    let decoded = decoding::decode(of, value, "").map_err(|why| cannot_handle(endpoint, &why))?;
    if let (Some(managed), Some(metadata)) = (managed, value["metadata"].as_object_mut()) {
        metadata.insert(MANAGED.to_owned(), managed);
    }
    Ok(decoded.unknown)
}

/// Brings metadata into its type. Returns the paths of fields that it does not have.
fn decode_metadata(endpoint: &Endpoint, metadata: &mut Map<String, Value>) -> Result<Vec<String>, Status> {
    let Some(of) = types::named("meta.ObjectMeta") else { return Ok(Vec::new()) };
    let managed = metadata.get(MANAGED).filter(|managed| managed.is_array()).cloned();
    let mut value = Value::Object(std::mem::take(metadata));
    // What has no Go type has its metadata decoded alone; what has one has nothing unknown left.
    let decoded = decoding::decode(of, &mut value, "").map(|decoded| decoded.below("metadata"));
    let decoded = decoded.map_err(|why| cannot_handle(endpoint, &why))?;
    if let Value::Object(fields) = value {
        *metadata = fields;
    }
    if let Some(managed) = managed {
        metadata.insert(MANAGED.to_owned(), managed);
    }
    Ok(decoded.unknown)
}

pub(crate) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// 400: the body cannot be read as an object of this kind.
pub(crate) fn cannot_handle(endpoint: &Endpoint, why: &str) -> Status {
    let kind = &endpoint.resource.kind;
    cannot_handle_as(kind, &endpoint.version, kind, why)
}

/// The same, for a body that says that it is something else.
pub(crate) fn cannot_handle_as(kind: &str, version: &str, expected: &str, why: &str) -> Status {
    Status::bad_request(format!("{kind} in version \"{version}\" cannot be handled as a {expected}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_occurs_twice_is_noticed_and_the_last_one_counts() {
        let document = parse("application/json", br#"{"spec":{"a":1,"a":2,"l":[{"b":1,"b":1}]}}"#).unwrap();
        assert_eq!(document.complaints, ["duplicate field \"spec.a\"", "duplicate field \"spec.l[0].b\""]);
        assert_eq!(document.value["spec"]["a"], 2);
    }

    #[test]
    fn yaml_bodies_are_read_too() {
        let document = parse("application/yaml", b"kind: X\nspec:\n  ttl: 60\n").unwrap();
        assert_eq!(document.value["spec"]["ttl"], 60);
    }
}
