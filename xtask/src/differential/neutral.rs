//! What may differ between two servers that behave alike: uids, versions, times, tokens, generated names and addresses.
//! Each is replaced by its number in the order in which the server showed it, so that what was equal stays equal.

use regex::Regex;
use serde_json::{Map, Value, json};

/// What one server has shown in one sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    uids: Vec<String>,
    versions: Vec<String>,
    names: Vec<String>,
}

/// The patterns of what is replaced.
#[derive(Debug)]
pub(crate) struct Patterns {
    uid: Regex,
    time: Regex,
    age: Regex,
    /// Versions that errors quote.
    version: Regex,
    /// The patched object that an error about it quotes, with its fields in the order of Go's structs.
    patched: Regex,
}

impl Patterns {
    pub(crate) fn new() -> anyhow::Result<Self> {
        Ok(Self {
            uid: Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")?,
            time: Regex::new("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")?,
            age: Regex::new("^[0-9]+[smh]$")?,
            version: Regex::new(
                r"(ResourceVersion in (?:precondition|the precondition|record) \()[0-9]+|(resource version: )[0-9]+( \()[0-9]+|(resource version: )[0-9]+(, current: )[0-9]+",
            )?,
            patched: Regex::new(r#"(^|patch: )(Invalid value: )"\{(?:[^"\\]|\\.)*\}": "#)?,
        })
    }
}

impl Seen {
    /// The answer without what may differ.
    pub(crate) fn neutral(&mut self, patterns: &Patterns, value: &Value) -> Value {
        match value {
            Value::Object(fields) => self.object(patterns, fields),
            Value::Array(items) => items.iter().map(|item| self.neutral(patterns, item)).collect(),
            Value::String(text) => json!(self.text(patterns, text)),
            other => other.clone(),
        }
    }

    fn object(&mut self, patterns: &Patterns, fields: &Map<String, Value>) -> Value {
        let is_list = fields.get("items").is_some_and(|items| items.is_array() || items.is_null())
            || fields.contains_key("rows");
        // The name that a server generated is known before it is met elsewhere.
        if let (Some(prefix), Some(name)) = (text(fields, "generateName"), text(fields, "name"))
            && name.starts_with(prefix)
            && !self.names.iter().any(|known| known == name)
        {
            self.names.push(name.to_owned());
        }
        if let Some(name) = refused_name(fields) {
            self.names.push(name);
        }
        let mut out = Map::new();
        for (key, value) in fields {
            let value = match (key.as_str(), value) {
                // Their order is that of their times, which pass a second now and then.
                ("managedFields", Value::Array(entries)) => {
                    let mut entries: Vec<Value> =
                        entries.iter().map(|entry| self.neutral(patterns, entry)).collect();
                    entries.sort_by_key(ToString::to_string);
                    Value::Array(entries)
                }
                // Discovery lists the resources of a group as they came up.
                ("resources", Value::Array(resources)) => {
                    let mut resources = resources.clone();
                    resources.sort_by_key(|resource| resource["name"].to_string());
                    resources.iter().map(|resource| self.neutral(patterns, resource)).collect()
                }
                ("cells", Value::Array(cells)) => cells
                    .iter()
                    .map(|cell| match cell.as_str() {
                        Some(text) if patterns.age.is_match(text) => json!("<age>"),
                        _ => cell.clone(),
                    })
                    .collect(),
                ("metadata", Value::Object(metadata)) if is_list => {
                    let mut metadata = metadata.clone();
                    for (field, stands_for) in [("resourceVersion", "<now>"), ("continue", "<token>")] {
                        if text(&metadata, field).is_some_and(|text| !text.is_empty()) {
                            metadata.insert(field.to_owned(), json!(stands_for));
                        }
                    }
                    Value::Object(metadata)
                }
                ("resourceVersion", Value::String(version)) => json!(self.version(version)),
                (
                    "creationTimestamp" | "deletionTimestamp" | "time" | "lastTransitionTime"
                    | "lastUpdateTime",
                    Value::String(time),
                ) if patterns.time.is_match(time) => json!("<time>"),
                ("clusterIP", Value::String(address)) if address.starts_with("10.") => json!("<address>"),
                ("clusterIPs", Value::Array(addresses)) => addresses
                    .iter()
                    .map(|address| match address.as_str() {
                        Some(text) if text.starts_with("10.") => json!("<address>"),
                        _ => address.clone(),
                    })
                    .collect(),
                ("nodePort", Value::Number(port)) if port.as_u64() > Some(0) => json!("<port>"),
                (_, value) => self.neutral(patterns, value),
            };
            // Owners are keys of managed fields.
            out.insert(self.text(patterns, key), value);
        }
        Value::Object(out)
    }

    fn version(&mut self, version: &str) -> String {
        if version.is_empty() || version == "0" || version.parse::<u64>().is_err() {
            return version.to_owned();
        }
        format!("<version {}>", number(&mut self.versions, version))
    }

    fn text(&mut self, patterns: &Patterns, text: &str) -> String {
        let mut text = patterns
            .uid
            .replace_all(text, |found: &regex::Captures<'_>| {
                format!("<uid {}>", number(&mut self.uids, &found[0]))
            })
            .into_owned();
        for (at, name) in self.names.iter().enumerate() {
            if text.contains(name.as_str()) {
                text = text.replace(name.as_str(), &format!("<name {at}>"));
            }
        }
        let text = patterns.patched.replace(&text, "$1$2<the patched object>: ");
        patterns.version.replace_all(&text, "$1$2$4<version>$3$5").into_owned()
    }
}

/// The name that was generated for an object that was refused for its `generateName`.
fn refused_name(status: &Map<String, Value>) -> Option<String> {
    let causes = status.get("details")?.get("causes")?.as_array()?;
    let value = |field: &str| {
        let cause = causes.iter().find(|cause| cause["field"] == field)?;
        let message = cause["message"].as_str()?.strip_prefix("Invalid value: \"")?;
        message.split_once('"').map(|(value, _)| value.to_owned())
    };
    let (prefix, name) = (value("metadata.generateName")?, value("metadata.name")?);
    name.starts_with(&prefix).then_some(name)
}

fn text<'f>(fields: &'f Map<String, Value>, field: &str) -> Option<&'f str> {
    fields.get(field).and_then(Value::as_str)
}

fn number(known: &mut Vec<String>, text: &str) -> usize {
    if let Some(at) = known.iter().position(|known| known == text) {
        return at + 1;
    }
    known.push(text.to_owned());
    known.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neutral(seen: &mut Seen, value: &Value) -> Value {
        seen.neutral(&Patterns::new().unwrap(), value)
    }

    #[test]
    fn a_version_that_stays_is_told_from_one_that_moves() {
        let of = |version: &str| json!({ "metadata": { "resourceVersion": version } });
        let mut seen = Seen::default();
        let first = neutral(&mut seen, &of("11"));
        assert_eq!(neutral(&mut seen, &of("11")), first);
        assert_ne!(neutral(&mut seen, &of("12")), first);
    }

    #[test]
    fn times_of_the_server_are_dropped_and_their_form_is_kept() {
        let mut seen = Seen::default();
        let of = |time: &str| json!({ "creationTimestamp": time });
        assert_eq!(neutral(&mut seen, &of("2026-01-02T03:04:05Z")), of("<time>"));
        assert_eq!(neutral(&mut seen, &of("2026-01-02T03:04:05.1Z")), of("2026-01-02T03:04:05.1Z"));
    }

    #[test]
    fn generated_names_and_uids_are_replaced_wherever_they_stand() {
        let mut seen = Seen::default();
        let made = json!({ "metadata": { "generateName": "a-", "name": "a-x7x7x", "uid": "01234567-89ab-cdef-0123-456789abcdef" } });
        let made = neutral(&mut seen, &made);
        assert_eq!(made["metadata"]["name"], "<name 0>");
        assert_eq!(made["metadata"]["uid"], "<uid 1>");
        assert_eq!(
            neutral(&mut seen, &json!("configmaps \"a-x7x7x\" not found")),
            "configmaps \"<name 0>\" not found"
        );
    }
}
