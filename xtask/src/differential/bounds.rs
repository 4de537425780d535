//! Sequences from the schemas of our definitions: for each bound of each field a value inside and one outside, each as a
//! create that is only tried, beside the rest of a sample. Leaves the rules in CEL to the table.

use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::pair;
use super::sequence::{Sequence, Step};

/// Longest text that is made to be one too long; longer ones would say nothing new.
const TEXT_MAX: u64 = 20_000;

/// All sequences, one for each field that has a schema.
pub(crate) fn sequences(root: &Path) -> anyhow::Result<Vec<Sequence>> {
    let mut all = Vec::new();
    for definition in pair::definitions(root)? {
        let plural = definition["spec"]["names"]["plural"].as_str().unwrap_or_default();
        let path = root.join(format!("testing/differential/samples/{plural}.yaml"));
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
        let sample: Value = serde_saphyr::from_str(&text)?;
        let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        for part in ["spec", "status"] {
            let mut walk = Walk { plural, sample: &sample, all: &mut all };
            walk.field(&[part.to_owned()], &schema["properties"][part]);
        }
    }
    Ok(all)
}

struct Walk<'a> {
    plural: &'a str,
    sample: &'a Value,
    all: &'a mut Vec<Sequence>,
}

impl Walk<'_> {
    fn field(&mut self, path: &[String], schema: &Value) {
        let values = values(schema);
        let name = format!("schema of {}: {}", self.plural, path.join("."));
        let requests = values.into_iter().flat_map(|value| self.tries(path, &value)).collect();
        self.all.push(Sequence { name, requests });
        for (field, below) in schema["properties"].as_object().into_iter().flatten() {
            self.field(&[path, std::slice::from_ref(field)].concat(), below);
        }
        if schema["items"].is_object() {
            self.field(&[path, &["0".to_owned()]].concat(), &schema["items"]);
        }
        if schema["additionalProperties"].is_object() {
            self.field(&[path, &["key".to_owned()]].concat(), &schema["additionalProperties"]);
        }
    }

    /// The sample with that value there. A status cannot be created: it is written to an object that is.
    fn tries(&self, path: &[String], value: &Value) -> Vec<Step> {
        let mut object = self.sample.clone();
        object["metadata"] = json!({ "name": "{ns}" });
        put(&mut object, path, value.clone());
        let plural = self.plural;
        if path.first().is_some_and(|part| part == "status") {
            let status = object["status"].clone();
            let made = json!({ "metadata": { "name": "{ns}" }, "spec": self.sample["spec"] });
            // The first of them makes the object; the others are told that it exists.
            return vec![
                step(&format!("POST {plural}"), made),
                Step {
                    media: Some("merge".to_owned()),
                    ..step(&format!("PATCH {plural}/{{ns}}/status?dryRun=All"), json!({ "status": status }))
                },
            ];
        }
        vec![step(&format!("POST {plural}?dryRun=All&fieldValidation=Strict"), object)]
    }
}

fn step(ask: &str, body: Value) -> Step {
    Step { ask: ask.to_owned(), body: Some(body), ..Step::default() }
}

/// Sets a value, making what is above it.
fn put(object: &mut Value, path: &[String], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *object = value;
        return;
    };
    if first == "0" {
        if !object.is_array() {
            *object = json!([null]);
        }
        put(&mut object[0], rest, value);
        return;
    }
    if !object.is_object() {
        *object = json!({});
    }
    put(&mut object[first.as_str()], rest, value);
}

/// Values of each type, and around each bound.
fn values(schema: &Value) -> Vec<Value> {
    let mut values =
        vec![json!(null), json!("text"), json!(7), json!(1.5), json!(true), json!([]), json!({})];
    for value in schema["enum"].as_array().into_iter().flatten() {
        values.push(value.clone());
    }
    for (bound, step) in [("minimum", -1), ("maximum", 1)] {
        if let Some(limit) = schema[bound].as_i64() {
            values.extend([json!(limit), json!(limit + step)]);
        }
    }
    if schema["format"] == "int32" {
        values.push(json!(i64::from(i32::MAX) + 1));
    }
    for bound in ["minLength", "maxLength"] {
        if let Some(limit) = schema[bound].as_u64().filter(|limit| *limit < TEXT_MAX) {
            let text = |length: u64| json!(format!("{{fill:{length}}}"));
            values.extend([text(limit.saturating_sub(1)), text(limit), text(limit + 1)]);
        }
    }
    if schema["pattern"].is_string() {
        let texts =
            ["", " ", "a b", "a\nb", "example.com", "example.com.", ".example.com", "ä.example", "a..b", "A"];
        values.extend(texts.iter().map(|text| json!(text)));
        values.extend(
            ["0123456789abcdef0123456789abcdef", "0123456789ABCDEF0123456789abcdef"].map(|text| json!(text)),
        );
    }
    if schema["format"] == "date-time" {
        values.extend(["2026-01-02T03:04:05Z", "2026-01-02", "2026-13-02T03:04:05Z"].map(|text| json!(text)));
    }
    for bound in ["minItems", "maxItems"] {
        if let Some(limit) = schema[bound].as_u64() {
            let item = |at: u64| {
                if schema["items"]["type"] == "object" { json!({}) } else { json!(format!("i{at}")) }
            };
            let list = |length: u64| Value::Array((0..length).map(item).collect());
            values.extend([list(limit), list(limit + 1)]);
        }
    }
    if schema["type"] == "array" {
        values.extend([json!([null]), json!(["a", "a"]), json!([{}, {}]), json!([1])]);
    }
    if let Some(limit) = schema["maxProperties"].as_u64() {
        let object =
            |size: u64| (0..size).map(|at| (format!("p{at}"), json!("v"))).collect::<serde_json::Map<_, _>>();
        values.extend([Value::Object(object(limit)), Value::Object(object(limit + 1))]);
    }
    if schema["type"] == "object" {
        values.push(json!({ "unknown": 1 }));
    }
    values
}
