//! The `fieldPath` of a rule: a path from the rule's node to one of its fields (`ValidFieldPath` of
//! apiextensions-apiserver), with dots and single-quoted names in brackets.

use super::node::Node;

/// The path in the form complaints print it, or none when it leads to no field of the schema.
pub(super) fn normalize(text: &str, node: &Node) -> Option<String> {
    let mut at = node;
    let mut normalized = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, tail) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
            None => quoted(rest)?,
        };
        rest = tail;
        if let Some(property) = at.properties.get(name) {
            if !normalized.is_empty() {
                normalized.push('.');
            }
            normalized.push_str(name);
            at = &property.node;
        } else if at.properties.is_empty() {
            normalized.push_str(&format!("[{name}]"));
            at = at.value_schema()?;
        } else {
            return None;
        }
    }
    (!normalized.is_empty()).then_some(normalized)
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix("['")?;
    let end = inner.find("']")?;
    Some((&inner[..end], &inner[end + "']".len()..]))
}
