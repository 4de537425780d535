//! The schemas of the real kinds: structural, bounded where CEL looks, and with messages that help.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::{Map, Value, json};

use super::{real, toy};
use crate::{Project, generate};

/// The CRDs of all projects at hand, by name.
fn crds(project: &Project) -> Vec<(String, Value)> {
    let files = generate(project).into_iter().filter(|file| file.path.ends_with(".json"));
    files.map(|file| (file.path, serde_json::from_str(&file.text).expect("JSON"))).collect()
}

fn schema(plural: &str) -> Value {
    let crds = crds(&real());
    let (_, crd) = crds.iter().find(|(path, _)| path.ends_with(&format!("/{plural}.json"))).expect("a kind");
    crd.pointer("/spec/versions/0/schema/openAPIV3Schema").expect("a schema").clone()
}

/// Calls `look` on every node below a schema, with its path.
fn walk(path: &str, node: &Value, look: &mut dyn FnMut(&str, &Map<String, Value>)) {
    let node = node.as_object().unwrap_or_else(|| panic!("{path} is no schema"));
    look(path, node);
    for (name, inner) in node.get("properties").and_then(Value::as_object).into_iter().flatten() {
        walk(&format!("{path}.{name}"), inner, look);
    }
    for word in ["items", "additionalProperties"] {
        if let Some(inner) = node.get(word) {
            walk(&format!("{path}[]"), inner, look);
        }
    }
}

fn every_node(look: &mut dyn FnMut(&str, &Map<String, Value>)) {
    let toy = Project::load(&toy()).expect("the toy is in order");
    for (name, crd) in crds(&real()).into_iter().chain(crds(&toy)) {
        walk(&name, &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"], look);
    }
}

#[test]
fn schemas_are_structural() {
    const KNOWN: &[&str] = &[
        "type",
        "description",
        "default",
        "enum",
        "format",
        "pattern",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "maxProperties",
        "required",
        "properties",
        "items",
        "additionalProperties",
        "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ];
    every_node(&mut |path, node| {
        for word in node.keys() {
            assert!(KNOWN.contains(&word.as_str()), "{path}: {word} is not structural, or nobody needs it");
        }
        let has = |word: &str| node.contains_key(word);
        match node.get("type").and_then(Value::as_str) {
            Some("object") => {
                assert!(!(has("properties") && has("additionalProperties")), "{path}: both kinds of members");
                let properties = node.get("properties").and_then(Value::as_object);
                for name in node.get("required").and_then(Value::as_array).into_iter().flatten() {
                    let name = name.as_str().expect("a name");
                    assert!(properties.is_some_and(|known| known.contains_key(name)), "{path}: no {name}");
                }
            }
            Some("array") => {
                assert!(has("items") && has("x-kubernetes-list-type"), "{path}: items or list type")
            }
            Some("string" | "integer" | "boolean") => assert!(!has("properties") && !has("items"), "{path}"),
            other => panic!("{path}: type {other:?}"),
        }
        if node.get("x-kubernetes-list-type") == Some(&json!("map")) {
            let keys = node["x-kubernetes-list-map-keys"].as_array().expect("a map has keys");
            let required = node["items"]["required"].as_array().expect("keys are required");
            assert!(keys.iter().all(|key| required.contains(key)), "{path}: a key that may be missing");
        }
    });
}

// The API server estimates the cost of a rule from the bounds of what it looks at and refuses a CRD that could be
// too dear.
#[test]
fn whatever_users_write_is_bounded() {
    every_node(&mut |path, node| {
        let Some((_, below)) = path.split_once(".spec.") else { return };
        if !path.starts_with("crates/") || path.contains("redwidgets") || path.contains("shelves") {
            return;
        }
        let has = |word: &str| node.contains_key(word);
        match node["type"].as_str() {
            Some("string") => assert!(has("maxLength") || has("enum"), "{below}: maxLength"),
            Some("array") => assert!(has("maxItems"), "{below}: maxItems"),
            Some("integer") => assert!(has("minimum") && has("maximum"), "{below}: minimum and maximum"),
            Some("object") if !has("properties") => assert!(has("maxProperties"), "{below}: maxProperties"),
            _ => {}
        }
    });
}

#[test]
fn defaults_are_values_of_their_fields() {
    every_node(&mut |path, node| {
        let Some(default) = node.get("default") else { return };
        match node["type"].as_str() {
            Some("string") => assert!(default.is_string(), "{path}"),
            Some("integer") => assert!(default.is_i64(), "{path}"),
            Some("boolean") => assert!(default.is_boolean(), "{path}"),
            _ => assert_eq!(default, &json!({ "observedGeneration": -1 }), "{path}"),
        }
        if let Some(values) = node.get("enum").and_then(Value::as_array) {
            assert!(values.contains(default), "{path}");
        }
    });
}

#[test]
fn every_rule_names_its_field_in_a_message_that_fits() {
    every_node(&mut |path, node| {
        for rule in node.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten() {
            let message = rule["message"].as_str().expect("a message");
            let named = message.split([':', ' ', ',']).next().unwrap_or_default();
            let here = path.rsplit(['.', ']']).next().unwrap_or_default();
            let inside = node.get("properties").and_then(Value::as_object);
            let names_it = named == here || inside.is_some_and(|inside| inside.contains_key(named));
            assert!(names_it, "{path}: {message:?} begins with no field of it");
            // The API server's limit of a message.
            assert!(message.len() <= 2048 && !message.contains('\n'), "{path}: {message:?}");
            assert!(message.contains([';', ':']), "{path}: {message:?} says no fix");
            let rule = rule["rule"].as_str().expect("a rule");
            let (open, close) = (rule.matches(['(', '[']).count(), rule.matches([')', ']']).count());
            assert_eq!(open, close, "{path}: {rule}");
        }
    });
}

#[test]
fn everything_is_described() {
    every_node(&mut |path, node| {
        let plain = path.ends_with("[]") || path.ends_with(".metadata");
        assert!(plain || node.get("description").is_some_and(|text| text != ""), "{path}");
    });
}

#[test]
fn yaml_and_json_say_the_same() {
    let files = generate(&real());
    for (path, json) in crds(&real()) {
        let name = path.rsplit('/').next().unwrap_or_default().replace(".json", ".yaml");
        let yaml = files.iter().find(|file| file.path == format!("deploy/crds/{name}")).expect("the YAML");
        let read: Value = serde_saphyr::from_str(&yaml.text).expect("our YAML parses");
        assert_eq!(read, json, "{name}");
    }
}

#[test]
fn names_labels_and_columns() {
    let mut names = BTreeSet::new();
    for (path, crd) in crds(&real()) {
        let spec = &crd["spec"];
        let all = [&spec["names"]["plural"], &spec["names"]["singular"], &spec["names"]["shortNames"][0]];
        for name in all {
            assert!(names.insert(name.as_str().expect("a name").to_owned()), "{path}: {name} twice");
        }
        let columns = spec["versions"][0]["additionalPrinterColumns"].as_array().expect("columns");
        let heads: Vec<_> = columns.iter().filter_map(|column| column["name"].as_str()).collect();
        assert_eq!(heads[heads.len() - 4..], ["Ready", "Reason", "Age", "Message"], "{path}");
        assert_eq!(spec["names"]["categories"], json!(["cloudflare"]), "{path}");
        assert_eq!(spec["versions"][0]["subresources"], json!({ "status": {} }), "{path}");
    }
}

#[test]
fn bounds_of_a_record() {
    let spec = &schema("dnsrecords")["properties"]["spec"]["properties"];
    let bounds = |field: &str| (spec[field]["minimum"].clone(), spec[field]["maximum"].clone());
    assert_eq!(bounds("ttl"), (json!(1), json!(86_400)));
    assert_eq!(bounds("priority"), (json!(0), json!(65_535)));
    assert_eq!(spec["comment"]["maxLength"], json!(500));
    assert_eq!(spec["tags"]["maxItems"], json!(20));
    assert_eq!(spec["data"]["x-kubernetes-preserve-unknown-fields"], json!(true));
}

#[test]
fn names_of_zones() {
    let spec = &schema("zones")["properties"]["spec"]["properties"];
    let rules = spec["name"]["x-kubernetes-validations"].as_array().expect("rules");
    let pattern = rules.iter().find_map(|rule| rule["rule"].as_str()?.strip_prefix("self.matches('"));
    let pattern = pattern.and_then(|rest| rest.strip_suffix("')")).expect("a pattern").replace(r"\\", r"\");
    let pattern = Regex::new(&pattern).expect("RE2");
    for name in
        ["example.com", "müller.example", "xn--mller-kva.example", "a.b.co", "Example.COM.", "1a.xn--p1ai"]
    {
        assert!(pattern.is_match(name), "{name}");
    }
    for name in [
        "example",
        "exa mple.com",
        "-a.com",
        "a-.com",
        "a..com",
        ".com",
        "a_b.com",
        "10.0.0.1",
        "*.example.com",
    ] {
        assert!(!pattern.is_match(name), "{name}");
    }
}
