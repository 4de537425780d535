//! The JSONPath subset of `additionalPrinterColumns`.

use serde_json::Value;

/// The value a printer column shows for `object`; `Null` when the path leads nowhere.
pub fn cell(json_path: &str, object: &Value) -> Value {
    let mut at = object;
    for part in json_path.split('.').filter(|part| !part.is_empty()) {
        match at.get(part) {
            Some(next) => at = next,
            None => return Value::Null,
        }
    }
    at.clone()
}
