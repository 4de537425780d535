//! Label and field selectors: parsing and matching. Leaves to the table of resources which fields of a
//! kind may be selected.

use serde_json::Value;

use super::builtins::BuiltIn;
use super::labels::{self, Requirement};
use super::resource::Endpoint;
use super::status::Status;

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
        Ok(Self {
            labels: labels::parse(labels).map_err(Status::bad_request)?,
            fields: parse_fields(endpoint, fields)?,
        })
    }

    /// True when nothing is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Matches an object in the form of the store.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        let labels = &object["metadata"]["labels"];
        self.labels.iter().all(|requirement| requirement.matches(labels))
            && self.fields.iter().all(|(path, value, equal)| (field(object, path) == *value) == *equal)
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
    for term in split_terms(text) {
        let Some((path, value, equal)) = split_term(term) else {
            return Err(Status::bad_request(format!(
                "invalid selector: '{text}'; can't understand '{term}'"
            )));
        };
        let stored = stored_path(endpoint, path);
        let has_namespace = endpoint.resource.namespaced || endpoint.resource.built_in.is_some();
        let known = stored == "metadata.name"
            || (stored == "metadata.namespace" && has_namespace)
            || endpoint.served().is_some_and(|version| version.selectable.contains(&stored));
        if !known {
            return Err(Status::bad_request(unknown_field(endpoint, path)));
        }
        let value = unescape(value).map_err(Status::bad_request)?;
        fields.push((stored, value, equal));
    }
    Ok(fields)
}

/// Kinds with fields of their own have a conversion of their own, with words of its own.
fn unknown_field(endpoint: &Endpoint, path: &str) -> String {
    let has_own = match endpoint.resource.built_in {
        Some(kind) => {
            matches!(kind, BuiltIn::Namespace | BuiltIn::Secret | BuiltIn::Service | BuiltIn::Event)
        }
        None => true,
    };
    if has_own {
        return format!("field label not supported: {path}");
    }
    format!("{path:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
}

/// The terms, in the order of the alphabet; a comma after a backslash separates nothing.
fn split_terms(text: &str) -> Vec<&str> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms.sort_unstable();
    terms.retain(|term| !term.is_empty());
    terms
}

/// Path, value, and whether it must be equal, split at the first operator.
fn split_term(term: &str) -> Option<(&str, &str, bool)> {
    term.char_indices().find_map(|(at, _)| {
        let (path, rest) = term.split_at(at);
        let operators = [("!=", false), ("==", true), ("=", true)];
        operators.iter().find_map(|(operator, equal)| Some((path, rest.strip_prefix(operator)?, *equal)))
    })
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
fn unescape(value: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => plain.push(escaped),
                other => {
                    let other = other.map(String::from).unwrap_or_default();
                    return Err(format!("invalid field selector: invalid escape sequence: \\{other}"));
                }
            },
            ',' | '=' => {
                // Go prints a rune as its number.
                let number = u32::from(character);
                return Err(format!("invalid field selector: unescaped character in value: {number}"));
            }
            other => plain.push(other),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_split_at_commas_and_the_first_operator() {
        assert_eq!(split_terms(r"b=1,a=x\,y,"), [r"a=x\,y", "b=1"]);
        assert_eq!(split_term("a!=b"), Some(("a", "b", false)));
        assert_eq!(split_term("a==b"), Some(("a", "b", true)));
        assert_eq!(split_term("a"), None);
    }

    #[test]
    fn values_are_unescaped() {
        assert_eq!(unescape(r"x\,y"), Ok("x,y".to_owned()));
        assert!(unescape("x=y").is_err());
        assert!(unescape(r"x\y").is_err());
    }
}
