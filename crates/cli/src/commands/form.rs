//! What commands print for programs: the same facts as JSON or as YAML.

use anyhow::Context;
use serde_json::Value;

/// Begins each document of a stream.
const DOCUMENT: &str = "---\n";

/// One object, indented.
pub(super) fn json(value: &Value) -> String {
    format!("{value:#}\n")
}

/// One object as a YAML document.
pub(super) fn yaml(value: &Value) -> anyhow::Result<String> {
    serde_saphyr::to_string(value).context("cannot be written as YAML: please report this, and use -o json")
}

/// One object of a stream of them: a line of JSON, or a document of YAML.
pub(super) fn next_yaml(value: &Value) -> anyhow::Result<String> {
    Ok(format!("{DOCUMENT}{}", yaml(value)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_says_what_json_says() {
        let value = json!({
            "version": 1, "none": null, "empty": [], "no members": {}, "text": "(known after apply)",
            "list": [{"a": "yes", "b": "1", "c": "null", "d": true}, "a: b", "- x", "# y", "two\nlines", " led", "\u{1b}[2J"],
        });
        let text = yaml(&value).unwrap();
        let back: Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(back, value, "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        let stream = next_yaml(&value).unwrap() + &next_yaml(&json!({"b": 2})).unwrap();
        let back: Vec<Value> = serde_saphyr::from_multiple(&stream).unwrap();
        assert_eq!(back, [value, json!({"b": 2})]);
    }
}
