//! Hostile manifests: what the API server takes of them is carried out or refused in words.

use cli::commands::log::Format;
use serde_json::{Value, json};

use super::{STEERING, object, record, watched, zone};

/// As much as an annotation may hold beside the copy of the object that kubectl keeps in another.
const ANNOTATION: usize = 80 * 1_024;

/// The annotations that people set and those that we set, which people can change.
fn annotated(key: &str, value: &str) -> Value {
    let mut record = record("www", "192.0.2.1");
    record["metadata"]["annotations"] = json!({ key: value });
    record
}

#[test]
fn annotations_of_any_text_are_read_or_told_in_a_harmless_line() {
    let long = "x".repeat(ANNOTATION);
    let nested = format!("{{\"until\": {}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
    for key in kinds::names::ANNOTATIONS {
        for (at, value) in [STEERING, &long, &nested].into_iter().enumerate() {
            let format = if at == 0 { Format::Text } else { Format::Json };
            let (taken, shown) = watched(format, &[zone(), annotated(key, value)], |transport| transport);
            assert_eq!(taken, 2, "an annotation holds any text");
            shown.is_fit(&format!("{key}, value {at}"));
        }
    }
}

#[test]
fn labels_that_claim_what_is_nobodys_are_told_in_a_harmless_line() {
    for value in ["A".repeat(63), "..-_..a".to_owned(), String::new(), "0".repeat(32)] {
        let mut record = record("www", "192.0.2.1");
        // A label begins and ends with a letter or digit; what does not is not taken.
        record["metadata"]["labels"] = json!({"kflare.dev/record-id": value, "kflare.dev/zone-id": value});
        let (_, shown) = watched(Format::Json, &[zone(), record], |transport| transport);
        shown.is_fit(&format!("the label {value:?}"));
    }
}

#[test]
fn specs_of_any_text_are_carried_out_or_told_in_a_harmless_line() {
    let long = "x".repeat(MEGABYTE);
    let mut taken_at_all = 0;
    let texts = [STEERING, "\u{202e}", "a\0b", "\u{1b}[2J", "\u{9b}", "☃\u{200f}", &long];
    for (at, text) in texts.into_iter().enumerate() {
        let spec = |kind: &str, part: Value| {
            let mut spec = json!({"zoneRef": {"name": "example-com"}, "name": "a", "type": kind});
            spec.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
            spec
        };
        let specs = [
            spec("TXT", json!({"content": text})),
            spec("TXT", json!({"content": "x", "comment": text})),
            spec("TXT", json!({"content": "x", "tags": [text, format!("a:{text}")]})),
            spec("TXT", json!({"content": "x", "name": text})),
            spec("CNAME", json!({"content": text})),
            spec("CAA", json!({"data": {"flags": 0, "tag": "issue", "value": text}})),
            spec("NAPTR", json!({"content": format!("1 2 \"{text}\" \"\" \"\" .")})),
            spec("A", json!({"content": text, "zoneRef": {"name": text}})),
        ];
        let records =
            specs.into_iter().enumerate().map(|(n, spec)| object("DNSRecord", &format!("r{n}"), spec));
        let zones = [zone(), object("Zone", "other", json!({"name": text, "accountRef": {"name": text}}))];
        let objects: Vec<Value> = zones.into_iter().chain(records).collect();
        let format = if at % 2 == 0 { Format::Text } else { Format::Json };
        let (taken, shown) = watched(format, &objects, |transport| transport);
        let shown_text: String = text.chars().take(20).collect();
        shown.is_fit(&format!("the text {shown_text:?}"));
        taken_at_all += taken;
    }
    // The schema bounds what it can; a TXT may hold any character.
    assert!(taken_at_all > texts.len() * 2, "only {taken_at_all} objects were taken");
}

/// Bytes of what is too long.
const MEGABYTE: usize = 1_024 * 1_024;
