//! Protobuf bodies: since 1.32 kubectl writes built-in kinds in this form (`kubectl create secret`,
//! `auth can-i`) and does not fall back to JSON. Only reading: every client that writes protobuf accepts
//! JSON answers. Leaves defaults and validation to `admit`.
//!
//! `protobuf_fields.txt` holds one message per line with `number:name:type` of each field, taken by reflection
//! from the struct tags of `k8s.io/api` v0.34. Types: `s` text, `i` integer, `b` boolean, `d` float, `y`
//! bytes, `*` list, `%` map, otherwise a message; a name of `^` is written inline; `~` leaves zero values out.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// What every protobuf body of Kubernetes starts with.
const MAGIC: &[u8] = b"k8s\0";
/// Messages within messages: a Deployment needs about ten; the bound is for hostile input.
const DEPTH_MAX: usize = 32;

/// Why a body cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProtobufError {
    #[error("the body does not start with the envelope of Kubernetes")]
    NoEnvelope,
    #[error("the body ends within a field")]
    Truncated,
    #[error("no message is known for kind {0:?}")]
    UnknownKind(String),
    #[error("a field has a wire type that Kubernetes does not use")]
    WireType,
    #[error("messages are nested too deep")]
    TooDeep,
}

struct Field {
    name: &'static str,
    shape: &'static str,
    omits_zero: bool,
}

type Messages = BTreeMap<&'static str, BTreeMap<u64, Field>>;

static MESSAGES: LazyLock<Messages> = LazyLock::new(|| {
    let lines = include_str!("protobuf_fields.txt").lines();
    lines
        .filter_map(|line| {
            let mut words = line.split(' ');
            let message = words.next()?;
            Some((message, words.filter_map(field).collect()))
        })
        .collect()
});

fn field(text: &'static str) -> Option<(u64, Field)> {
    let mut parts = text.splitn(3, ':');
    let (number, name, shape) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
    let plain = shape.trim_end_matches('~');
    Some((number, Field { name, shape: plain, omits_zero: plain.len() < shape.len() }))
}

/// Reads a body in Kubernetes' protobuf envelope as the JSON it stands for.
pub(crate) fn read(body: &[u8]) -> Result<Value, ProtobufError> {
    let envelope = body.strip_prefix(MAGIC).ok_or(ProtobufError::NoEnvelope)?;
    let (mut api_version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    for part in parts(envelope)? {
        match part {
            (1, Wire::Bytes(type_meta)) => {
                for part in parts(type_meta)? {
                    match part {
                        (1, Wire::Bytes(bytes)) => api_version = text(bytes),
                        (2, Wire::Bytes(bytes)) => kind = text(bytes),
                        _ => {}
                    }
                }
            }
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let message = message_of(&api_version, &kind);
    let (message, _) = MESSAGES.get_key_value(message.as_str()).ok_or(ProtobufError::UnknownKind(message))?;
    let mut object = decode(message, raw, 0)?;
    object.insert("apiVersion".to_owned(), json!(api_version));
    object.insert("kind".to_owned(), json!(kind));
    Ok(Value::Object(object))
}

/// `core.Secret` for `v1` and `Secret`, `rbac.Role` for `rbac.authorization.k8s.io/v1` and `Role`.
fn message_of(api_version: &str, kind: &str) -> String {
    if kind == "DeleteOptions" {
        return "meta.DeleteOptions".to_owned();
    }
    let group = api_version.split_once('/').map_or("core", |(group, _)| group);
    format!("{}.{kind}", group.split('.').next().unwrap_or(group))
}

enum Wire<'b> {
    Number(u64),
    Fixed(u64),
    Bytes(&'b [u8]),
}

fn varint(bytes: &mut &[u8]) -> Result<u64, ProtobufError> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().ok_or(ProtobufError::Truncated)?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(ProtobufError::WireType)
}

fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Result<&'b [u8], ProtobufError> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or(ProtobufError::Truncated)?;
    *bytes = rest;
    Ok(taken)
}

/// The numbered fields of a message, in their order.
fn parts(mut bytes: &[u8]) -> Result<Vec<(u64, Wire<'_>)>, ProtobufError> {
    let mut parts = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let wire = match key & 7 {
            0 => Wire::Number(varint(&mut bytes)?),
            1 => Wire::Fixed(
                take(&mut bytes, 8)?.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
            ),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).map_err(|_| ProtobufError::Truncated)?;
                Wire::Bytes(take(&mut bytes, length)?)
            }
            _ => return Err(ProtobufError::WireType),
        };
        parts.push((key >> 3, wire));
    }
    Ok(parts)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn decode(message: &str, bytes: &[u8], depth: usize) -> Result<Map<String, Value>, ProtobufError> {
    if depth > DEPTH_MAX {
        return Err(ProtobufError::TooDeep);
    }
    let mut object = Map::new();
    let Some(fields) = MESSAGES.get(message) else { return Ok(object) };
    for (number, wire) in parts(bytes)? {
        // A field that this table does not know is one that this server does not keep.
        let Some(field) = fields.get(&number) else { continue };
        if field.name == "^" {
            if let Wire::Bytes(bytes) = wire {
                object.extend(decode(field.shape, bytes, depth + 1)?);
            }
        } else if let Some(item) = field.shape.strip_prefix('*') {
            let item = value(item, &wire, depth)?;
            let list = object.entry(field.name).or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(item);
            }
        } else if let (Some(item), Wire::Bytes(bytes)) = (field.shape.strip_prefix('%'), &wire) {
            let (key, item) = map_entry(item, bytes, depth)?;
            let map = object.entry(field.name).or_insert_with(|| json!({}));
            map[key] = item;
        } else {
            let value = value(field.shape, &wire, depth)?;
            if !(field.omits_zero && is_zero(&value)) {
                object.insert(field.name.to_owned(), value);
            }
        }
    }
    Ok(object)
}

fn map_entry(shape: &str, bytes: &[u8], depth: usize) -> Result<(String, Value), ProtobufError> {
    let (mut key, mut item) = (String::new(), Value::Null);
    for part in parts(bytes)? {
        match part {
            (1, Wire::Bytes(bytes)) => key = text(bytes),
            (2, wire) => item = value(shape, &wire, depth)?,
            _ => {}
        }
    }
    if item.is_null() && matches!(shape, "s" | "y") {
        item = json!("");
    }
    Ok((key, item))
}

fn value(shape: &str, wire: &Wire<'_>, depth: usize) -> Result<Value, ProtobufError> {
    Ok(match (shape, wire) {
        ("i", Wire::Number(number)) => json!(number.cast_signed()),
        ("b", Wire::Number(number)) => json!(*number != 0),
        ("d", Wire::Fixed(bits)) => json!(f64::from_bits(*bits)),
        ("s", Wire::Bytes(bytes)) => json!(text(bytes)),
        ("y", Wire::Bytes(bytes)) => json!(STANDARD.encode(bytes)),
        ("time", Wire::Bytes(bytes)) => time(bytes)?,
        ("quantity", Wire::Bytes(bytes)) => first_text(bytes)?,
        ("raw", Wire::Bytes(bytes)) => {
            let inner = first_text(bytes)?;
            serde_json::from_str(inner.as_str().unwrap_or_default()).unwrap_or_default()
        }
        ("either", Wire::Bytes(bytes)) => int_or_string(bytes)?,
        ("items", Wire::Bytes(bytes)) => {
            let items = parts(bytes)?.into_iter().filter_map(|part| match part {
                (1, Wire::Bytes(bytes)) => Some(json!(text(bytes))),
                _ => None,
            });
            items.collect()
        }
        (message, Wire::Bytes(bytes)) => Value::Object(decode(message, bytes, depth + 1)?),
        _ => return Err(ProtobufError::WireType),
    })
}

fn first_text(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let found = parts(bytes)?.into_iter().find_map(|part| match part {
        (1, Wire::Bytes(bytes)) => Some(json!(text(bytes))),
        _ => None,
    });
    Ok(found.unwrap_or_default())
}

fn time(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let (mut seconds, mut nanos) = (0, 0);
    for part in parts(bytes)? {
        match part {
            (1, Wire::Number(number)) => seconds = number.cast_signed(),
            (2, Wire::Number(number)) => nanos = i32::try_from(number).unwrap_or_default(),
            _ => {}
        }
    }
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let Ok(time) = Timestamp::new(seconds, nanos) else { return Ok(Value::Null) };
    let format = if nanos == 0 { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S.%6fZ" };
    Ok(json!(time.strftime(format).to_string()))
}

fn int_or_string(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let (mut is_text, mut number, mut string) = (false, 0, String::new());
    for part in parts(bytes)? {
        match part {
            (1, Wire::Number(kind)) => is_text = kind == 1,
            (2, Wire::Number(value)) => number = value.cast_signed(),
            (3, Wire::Bytes(bytes)) => string = text(bytes),
            _ => {}
        }
    }
    Ok(if is_text { json!(string) } else { json!(number) })
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        // A struct is written even when it is empty, as Go's encoder writes it in JSON.
        Value::Array(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(fields: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (number, content) in fields {
            bytes.extend([number << 3 | 2, u8::try_from(content.len()).unwrap()]);
            bytes.extend(*content);
        }
        bytes
    }

    #[test]
    fn a_secret_that_kubectl_creates_is_read() {
        let metadata = message(&[(1, b"token"), (2, b""), (8, b"")]);
        let entry = message(&[(1, b"a"), (2, b"b")]);
        let secret = message(&[(1, &metadata), (2, &entry), (3, b"Opaque")]);
        let type_meta = message(&[(1, b"v1"), (2, b"Secret")]);
        let body = [MAGIC, &message(&[(1, &type_meta), (2, &secret)])].concat();
        assert_eq!(
            read(&body).unwrap(),
            json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "token" },
                "data": { "a": "Yg==" }, "type": "Opaque" })
        );
    }

    #[test]
    fn broken_bodies_are_refused() {
        assert_eq!(read(b"{}"), Err(ProtobufError::NoEnvelope));
        assert_eq!(read(b"k8s\0\x0a\x7f"), Err(ProtobufError::Truncated));
        let body = [MAGIC, &message(&[(1, &message(&[(2, b"Pod")]))])].concat();
        assert_eq!(read(&body), Err(ProtobufError::UnknownKind("core.Pod".into())));
    }

    #[test]
    fn times_and_ports_have_their_own_form() {
        assert_eq!(time(&[0x08, 0x80, 0xa3, 0x05]).unwrap(), "1970-01-02T00:00:00Z");
        assert_eq!(int_or_string(&[0x08, 0x01, 0x1a, 0x01, b'x']).unwrap(), "x");
        assert_eq!(int_or_string(&[0x08, 0x00, 0x10, 0x50]).unwrap(), 80);
    }
}
