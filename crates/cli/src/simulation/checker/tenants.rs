//! Which namespaces an account's `spec.allowedNamespaces` admits, as its documentation says.

use jiff::Timestamp;
use serde_json::Value;

use super::super::facts::Facts;
use super::super::object::path;

/// True when the namespace may use the account at that time.
pub(super) fn is_allowed(facts: &Facts, account: &Value, namespace: &str, at: Timestamp) -> bool {
    let Some(rule) = path(account, "/spec/allowedNamespaces") else { return true };
    if namespace.is_empty() || list(&rule["names"]).any(|name| name == namespace) {
        return true;
    }
    let Some(selector) = path(rule, "/selector") else { return false };
    let labels = facts.named("Namespace", "", namespace, at).map(|found| &found["metadata"]["labels"]);
    labels.is_some_and(|labels| selects(selector, labels))
}

fn selects(selector: &Value, labels: &Value) -> bool {
    let equal = selector["matchLabels"].as_object().into_iter().flatten();
    let holds = |expression: &Value| {
        let label = labels.get(expression["key"].as_str().unwrap_or_default());
        let is_listed = label.is_some_and(|label| list(&expression["values"]).any(|value| value == label));
        match expression["operator"].as_str() {
            Some("In") => is_listed,
            Some("NotIn") => !is_listed,
            Some("Exists") => label.is_some(),
            _ => label.is_none(),
        }
    };
    equal.into_iter().all(|(key, value)| labels.get(key) == Some(value))
        && list(&selector["matchExpressions"]).all(holds)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
