//! Secrets and ConfigMaps. Leaves what the data means to whoever reads it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::complaint::{forbidden, invalid, required, too_long};
use super::super::names::data_key_errors;
use super::super::schema::Cause;
use super::text;

/// `core.MaxSecretSize`, for ConfigMaps too: all values together.
const DATA_BYTES_MAX: usize = 1024 * 1024;
const IMMUTABLE: &str = "field is immutable when `immutable` is set";

/// The annotation that a token of a ServiceAccount must have.
const ACCOUNT: &str = "kubernetes.io/service-account.name";

/// Folds `stringData` into `data`.
pub(super) fn decode_secret(value: &mut Value) {
    let Some(object) = value.as_object_mut() else { return };
    let plain = object.remove("stringData").unwrap_or(Value::Null);
    let Some(plain) = plain.as_object().filter(|plain| !plain.is_empty()) else { return };
    let data = object.entry("data").or_insert_with(|| json!({}));
    if data.is_null() {
        *data = json!({});
    }
    for (key, entry) in plain {
        let entry = entry.as_str().unwrap_or_default();
        data[key.as_str()] = json!(STANDARD.encode(entry));
    }
}

fn data_causes(new: &Value, fields: &[&str]) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut size = 0;
    for field in fields {
        for (key, entry) in new[*field].as_object().into_iter().flatten() {
            let path = format!("{field}[{key}]");
            causes.extend(data_key_errors(key).iter().map(|error| invalid(path.clone(), key, error)));
            let is_plain = *field == "data" && new["kind"] == "ConfigMap";
            size +=
                entry.as_str().map_or(0, |entry| if is_plain { entry.len() } else { decoded_length(entry) });
        }
    }
    if size > DATA_BYTES_MAX {
        // A ConfigMap's complaint is about the whole object.
        let field = if fields.len() > 1 { "[]" } else { "data" };
        causes.push(too_long(field, DATA_BYTES_MAX));
    }
    causes
}

/// How many bytes a text in base64 stands for.
fn decoded_length(text: &str) -> usize {
    let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    (text.len() / 4 * 3).saturating_sub(padding)
}

fn immutable_causes(new: &Value, old: Option<&Value>, fields: &[&str]) -> Vec<Cause> {
    let Some(old) = old.filter(|old| old["immutable"] == true) else { return Vec::new() };
    let mut causes = Vec::new();
    if new["immutable"] != true {
        causes.push(forbidden("immutable", IMMUTABLE));
    }
    let empty = |value: &Value| value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    let changed =
        |field: &&&str| new[**field] != old[**field] && !(empty(&new[**field]) && empty(&old[**field]));
    causes.extend(fields.iter().filter(changed).map(|field| forbidden(*field, IMMUTABLE)));
    causes
}

/// What a type of Secret must hold (`ValidateSecret`).
fn type_causes(new: &Value, kind: &str) -> Vec<Cause> {
    let data = &new["data"];
    let has = |key: &str| data.get(key).is_some();
    let missing = |key: &str| required(format!("data[{key}]"), "");
    match kind {
        "kubernetes.io/service-account-token"
            if text(&new["metadata"]["annotations"], ACCOUNT).is_empty() =>
        {
            vec![required(format!("metadata.annotations[{ACCOUNT}]"), "")]
        }
        "kubernetes.io/dockercfg" => json_causes(data, ".dockercfg"),
        "kubernetes.io/dockerconfigjson" => json_causes(data, ".dockerconfigjson"),
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            vec![missing("username"), missing("password")]
        }
        "kubernetes.io/ssh-auth" if text(data, "ssh-privatekey").is_empty() => {
            vec![missing("ssh-privatekey")]
        }
        "kubernetes.io/tls" => {
            ["tls.crt", "tls.key"].into_iter().filter(|key| !has(key)).map(missing).collect()
        }
        _ => Vec::new(),
    }
}

/// The key is there and holds a JSON object.
fn json_causes(data: &Value, key: &str) -> Vec<Cause> {
    let Some(encoded) = data.get(key) else { return vec![required(format!("data[{key}]"), "")] };
    let bytes = STANDARD.decode(encoded.as_str().unwrap_or_default()).unwrap_or_default();
    let read: Result<serde_json::Map<String, Value>, _> = serde_json::from_slice(&bytes);
    let Err(error) = read else { return Vec::new() };
    let why = if error.is_eof() { "unexpected end of JSON input".to_owned() } else { error.to_string() };
    vec![invalid(format!("data[{key}]"), "<secret contents redacted>", why)]
}

pub(super) fn validate_secret(new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = data_causes(new, &["data"]);
    let kind = text(new, "type");
    causes.extend(type_causes(new, kind));
    if let Some(old) = old
        && old["type"] != new["type"]
    {
        causes.push(invalid("type", kind, "field is immutable"));
    }
    causes.extend(immutable_causes(new, old, &["data"]));
    causes
}

pub(super) fn validate_config_map(new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = data_causes(new, &["data", "binaryData"]);
    for key in new["data"].as_object().into_iter().flatten().map(|(key, _)| key) {
        if new["binaryData"].get(key).is_some() {
            let path = format!("data[{key}]");
            causes.push(invalid(path, key, "duplicate of key present in binaryData"));
        }
    }
    causes.extend(immutable_causes(new, old, &["data", "binaryData"]));
    causes
}
