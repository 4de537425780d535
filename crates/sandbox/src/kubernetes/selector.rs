//! Label and field selectors: parsing and matching. Leaves to the table of resources which fields of a
//! kind may be selected.

use serde_json::Value;

use super::builtins::BuiltIn;
use super::names::{label_value_errors, qualified_name_errors};
use super::resource::Endpoint;
use super::status::Status;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
}

/// Which objects a list or a watch shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selector {
    labels: Vec<Requirement>,
    /// Path, value, and whether it must be equal.
    fields: Vec<(String, String, bool)>,
}

impl Selector {
    /// Parses the query parameters `labelSelector` and `fieldSelector`.
    pub(crate) fn parse(endpoint: &Endpoint, labels: &str, fields: &str) -> Result<Self, Status> {
        Ok(Self { labels: parse_labels(labels)?, fields: parse_fields(endpoint, fields)? })
    }

    /// True when nothing is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Matches an object in the form of the store.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        let labels = &object["metadata"]["labels"];
        let label = |key: &str| labels.get(key).and_then(Value::as_str);
        self.labels.iter().all(|requirement| match requirement {
            Requirement::In(key, values) => {
                label(key).is_some_and(|found| values.iter().any(|value| value == found))
            }
            Requirement::NotIn(key, values) => {
                label(key).is_none_or(|found| values.iter().all(|value| value != found))
            }
            Requirement::Exists(key) => label(key).is_some(),
            Requirement::Missing(key) => label(key).is_none(),
        }) && self.fields.iter().all(|(path, value, equal)| (field(object, path) == *value) == *equal)
    }
}

/// The text of a field; an absent one is empty, as the server's field sets have it.
fn field(object: &Value, path: &str) -> String {
    let found = path.split('.').try_fold(object, |at, part| at.get(part));
    match found {
        // The `source` of an Event selects by its component.
        Some(Value::Object(source)) if path == "source" => {
            let component = source.get("component").and_then(Value::as_str).unwrap_or_default();
            let reporting = object["reportingComponent"].as_str().unwrap_or_default();
            if component.is_empty() { reporting.to_owned() } else { component.to_owned() }
        }
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

fn parse_fields(endpoint: &Endpoint, text: &str) -> Result<Vec<(String, String, bool)>, Status> {
    let mut fields = Vec::new();
    for term in text.split(',').filter(|term| !term.is_empty()) {
        let (path, value, equal) = if let Some((path, value)) = term.split_once("!=") {
            (path, value, false)
        } else if let Some((path, value)) = term.split_once("==") {
            (path, value, true)
        } else if let Some((path, value)) = term.split_once('=') {
            (path, value, true)
        } else {
            return Err(Status::bad_request(format!(
                "Unable to find {:?} that match label selector \"\", field selector {text:?}: invalid selector: '{term}'; can't understand '{term}'",
                endpoint.resource.qualified_plural()
            )));
        };
        let path = stored_path(endpoint, path);
        let version = endpoint.served();
        let known = matches!(path.as_str(), "metadata.name" | "metadata.namespace")
            || version.is_some_and(|version| version.selectable.contains(&path));
        if !known {
            return Err(Status::bad_request(format!("field label not supported: {path}")));
        }
        fields.push((path, unescape(value), equal));
    }
    Ok(fields)
}

/// `events.k8s.io` calls some fields otherwise.
fn stored_path(endpoint: &Endpoint, path: &str) -> String {
    if endpoint.resource.built_in != Some(BuiltIn::Event) {
        return path.to_owned();
    }
    match path.strip_prefix("regarding.") {
        Some(rest) => format!("involvedObject.{rest}"),
        None if path == "reportingController" => "reportingComponent".to_owned(),
        None => path.to_owned(),
    }
}

/// `fields.EscapeValue` puts a backslash before commas, equals signs and backslashes.
fn unescape(value: &str) -> String {
    let mut plain = String::new();
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        plain.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    plain
}

fn parse_labels(text: &str) -> Result<Vec<Requirement>, Status> {
    let mut requirements = Vec::new();
    for term in split_terms(text) {
        let requirement = parse_requirement(term.trim())
            .map_err(|why| Status::bad_request(format!("unable to parse requirement: {why}")))?;
        requirements.push(requirement);
    }
    Ok(requirements)
}

/// Splits at the commas outside of parentheses.
fn split_terms(text: &str) -> Vec<&str> {
    let (mut terms, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms.into_iter().filter(|term| !term.trim().is_empty()).collect()
}

fn parse_requirement(term: &str) -> Result<Requirement, String> {
    if let Some(key) = term.strip_prefix('!') {
        return Ok(Requirement::Missing(checked_key(key)?));
    }
    if let Some((key, value)) = term.split_once("!=") {
        return Ok(Requirement::NotIn(checked_key(key)?, vec![checked_value(value)?]));
    }
    if let Some((key, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
        return Ok(Requirement::In(checked_key(key)?, vec![checked_value(value)?]));
    }
    if let Some((head, list)) = term.split_once('(') {
        let list = list
            .trim_end()
            .strip_suffix(')')
            .ok_or_else(|| format!("found '', expected: ',' or ')' in {term:?}"))?;
        let values = list.split(',').map(checked_value).collect::<Result<Vec<_>, _>>()?;
        let mut words = head.split_whitespace();
        return match (words.next(), words.next(), words.next()) {
            (Some(key), Some("in"), None) => Ok(Requirement::In(checked_key(key)?, values)),
            (Some(key), Some("notin"), None) => Ok(Requirement::NotIn(checked_key(key)?, values)),
            _ => Err(format!("found '{head}', expected: in, notin, =, ==, !=, gt, lt")),
        };
    }
    Ok(Requirement::Exists(checked_key(term)?))
}

fn checked_key(key: &str) -> Result<String, String> {
    let key = key.trim();
    match qualified_name_errors(key).first() {
        None => Ok(key.to_owned()),
        Some(error) => Err(format!("<nil>: Invalid value: {key:?}: {error}")),
    }
}

fn checked_value(value: &str) -> Result<String, String> {
    let value = value.trim();
    match label_value_errors(value).first() {
        None => Ok(value.to_owned()),
        Some(error) => Err(format!("values[0][]: Invalid value: {value:?}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn matches(selector: &str, labels: &Value) -> bool {
        let selector = Selector { labels: parse_labels(selector).unwrap(), fields: Vec::new() };
        selector.matches(&json!({ "metadata": { "labels": labels } }))
    }

    #[test]
    fn equality_sets_and_existence() {
        let labels = json!({ "app": "web", "tier": "front" });
        for yes in [
            "app=web",
            "app==web,tier",
            "app in (web, api)",
            "tier notin (back)",
            "!gone",
            "gone!=x",
            "gone notin (x)",
        ] {
            assert!(matches(yes, &labels), "{yes}");
        }
        for no in ["app=api", "gone", "!app", "app notin (web)", "app!=web", "gone in (x)"] {
            assert!(!matches(no, &labels), "{no}");
        }
    }

    #[test]
    fn a_broken_selector_is_a_bad_request() {
        assert_eq!(parse_labels("a b").unwrap_err().code(), 400);
        assert_eq!(parse_labels("a in (b").unwrap_err().code(), 400);
    }
}
