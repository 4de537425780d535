//! JSON values as YAML and as JSON text, keys in one fixed order whatever map type the build chose.
//! Writes only what generated files need; nothing reads YAML here.

use serde_json::Value;

/// A block document: keys sorted, as tools of Kubernetes write them.
pub(crate) fn document(value: &Value) -> String {
    let mut text = String::new();
    block(&mut text, &sorted(value), 0);
    text
}

/// Members of an object in the order given, for manifests that people read; objects inside are sorted by `order`.
pub(crate) fn ordered(value: &Value, order: &[&str]) -> String {
    let mut text = String::new();
    if let Value::Object(map) = value {
        let known = order.iter().filter_map(|name| map.get_key_value(*name));
        let rest = map.iter().filter(|(name, _)| !order.contains(&name.as_str()));
        known.chain(rest).for_each(|(name, value)| member(&mut text, name, value, 0));
    }
    text
}

/// Indented JSON with sorted keys and a final newline.
pub(crate) fn json(value: &Value) -> String {
    format!("{:#}\n", sorted(value))
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            Value::Object(members.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        scalar => scalar.clone(),
    }
}

fn block(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| member(text, name, value, indent)),
        Value::Array(items) => items.iter().for_each(|value| item(text, value, indent)),
        scalar => text.push_str(&format!("{}{}\n", " ".repeat(indent), inline(scalar))),
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

fn member(text: &mut String, name: &str, value: &Value, indent: usize) {
    let margin = " ".repeat(indent);
    let name = scalar(name);
    if is_block(value) {
        // A list stands at its key's own margin.
        let inner = if value.is_array() { indent } else { indent + 2 };
        text.push_str(&format!("{margin}{name}:\n"));
        block(text, value, inner);
    } else if let Some(lines) = value.as_str().filter(|text| text.contains('\n')) {
        text.push_str(&format!("{margin}{name}: |-\n"));
        for line in lines.lines() {
            let line = format!("{margin}  {line}");
            text.push_str(line.trim_end());
            text.push('\n');
        }
    } else {
        text.push_str(&format!("{margin}{name}: {}\n", inline(value)));
    }
}

fn item(text: &mut String, value: &Value, indent: usize) {
    if !is_block(value) {
        text.push_str(&format!("{}- {}\n", " ".repeat(indent), inline(value)));
        return;
    }
    // The first line of the item takes the place of its own indentation.
    let mut inner = String::new();
    block(&mut inner, value, indent + 2);
    text.push_str(&format!("{}- {}", " ".repeat(indent), inner.trim_start()));
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Object(_) => "{}".to_owned(),
        Value::Array(_) => "[]".to_owned(),
        other => other.to_string(),
    }
}

/// A string without quotes where every YAML reader takes it for that string, else as in JSON, which YAML includes.
pub(crate) fn scalar(text: &str) -> String {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '.' || c == '/' || c == '_');
    let ends = !text.ends_with([' ', ':']);
    let plain = !text.contains(": ") && !text.contains(" #") && !text.chars().any(char::is_control);
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "yes" | "no" | "on" | "off" | "null" | "y" | "n" | ".nan" | ".inf"
    );
    let number = text.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit());
    if starts && ends && plain && !word && !number { text.to_owned() } else { Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_reads_back_as_it_was() {
        let value = json!({
            "empty": {}, "none": [], "text": "a: b", "word": "true", "number": "1.5", "hash": "a #b",
            "lines": "one\n\ntwo", "list": [{ "b": 1, "a": [true, null] }, "x", { "deep": { "er": "y" } }],
            "quote": "it's \"so\" \\d", "jsonPath": ".status.x[?(@.type==\"Ready\")].status", "-1": -1,
        });
        let read: Value = serde_saphyr::from_str(&document(&value)).expect("our YAML parses");
        assert_eq!(read, value);
    }

    #[test]
    fn keys_are_sorted_or_as_asked() {
        let value = json!({ "b": 1, "a": 2, "c": 3 });
        assert_eq!(document(&value), "a: 2\nb: 1\nc: 3\n");
        assert_eq!(ordered(&value, &["c", "a"]), "c: 3\na: 2\nb: 1\n");
    }
}
