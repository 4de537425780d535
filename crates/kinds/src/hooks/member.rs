//! Reading one member of a JSON object that may hold anything. Knows nothing of any kind.

use serde_json::Value;

use crate::table::Invalid;

/// Largest float that is taken for a whole number: up to 2^53 every whole number has a float of its own.
const WHOLE_FLOAT_MAX: f64 = 9_007_199_254_740_992.0;

/// A member, unless it is absent or null.
pub(super) fn present<'v>(object: &'v Value, member: &str) -> Option<&'v Value> {
    object.get(member).filter(|value| !value.is_null())
}

/// A member's text; empty when it is absent or no text.
pub(super) fn text<'v>(object: &'v Value, member: &str) -> &'v str {
    object.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// A whole number that is not negative, however it is written: `10`, `10.0` or `"10"`. Cloudflare takes CAA flags
/// as text and answers them as numbers, and JSON does not tell 10 from 10.0.
pub(super) fn count(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let float = number.as_f64()?;
            (float.fract() == 0.0 && (0.0..=WHOLE_FLOAT_MAX).contains(&float)).then_some(float as u64)
        }),
        Value::String(digits) => digits.parse().ok(),
        _ => None,
    }
}

/// A member as a number to compare: `unset` when it is absent, and as it is when it is no number, so that what
/// cannot be read never looks equal to something that can.
pub(super) fn number(object: &Value, member: &str, unset: u64) -> Value {
    present(object, member)
        .map_or_else(|| Value::from(unset), |value| count(value).map_or_else(|| value.clone(), Value::from))
}

/// A value as part of a key: texts without quotes, everything else as JSON.
pub(super) fn rendered(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// What is wrong with a spec field.
pub(super) fn invalid(field: &str, problem: impl Into<String>) -> Invalid {
    Invalid { field: field.to_owned(), problem: problem.into() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_count_is_read_however_it_is_written() {
        for (value, expected) in [
            (json!(10), Some(10)),
            (json!(10.0), Some(10)),
            (json!("10"), Some(10)),
            (json!(10.5), None),
            (json!(-1), None),
            (json!(-1.0), None),
            (json!(1e300), None),
            (json!("ten"), None),
            (json!(""), None),
            (json!(true), None),
            (json!([10]), None),
        ] {
            assert_eq!(count(&value), expected, "{value}");
        }
    }

    #[test]
    fn what_is_no_number_stays_as_it_is() {
        assert_eq!(number(&json!({}), "ttl", 1), json!(1));
        assert_eq!(number(&json!({ "ttl": null }), "ttl", 1), json!(1));
        assert_eq!(number(&json!({ "ttl": "soon" }), "ttl", 1), json!("soon"));
        assert_eq!(number(&json!(["ttl"]), "ttl", 1), json!(1));
    }
}
