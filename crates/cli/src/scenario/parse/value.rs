//! Words that stand for values: numbers, durations, JSON, objects in Kubernetes, fields.
//! Leaves it to the commands where each may stand.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::super::error::Problem;
use super::super::script::ObjectName;
use super::words::Words;
use crate::world::ResourceType;

/// The namespace of objects that name none.
const DEFAULT_NAMESPACE: &str = "default";

pub(super) fn number(word: &str) -> Result<u64, Problem> {
    word.parse().map_err(|_| Problem::Malformed { word: word.to_owned(), what: "a whole number, as in `3`" })
}

/// Virtual time passes by all that happens in it, so that centuries take for ever.
const DURATION_MAX: Duration = Duration::from_secs(366 * 24 * 3_600);

/// `500ms`, `2s`, `5m`, `10h`; at most a year.
pub(super) fn duration(word: &str) -> Result<Duration, Problem> {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let (amount, unit) = word.split_at(digits);
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => 0,
    };
    match amount.parse::<u64>() {
        Ok(amount) if millis > 0 => {
            let duration = Duration::from_millis(amount.saturating_mul(millis));
            if duration <= DURATION_MAX {
                Ok(duration)
            } else {
                Err(Problem::Malformed {
                    word: word.to_owned(),
                    what: "a duration of at most a year, `8784h`",
                })
            }
        }
        _ => {
            Err(Problem::Malformed { word: word.to_owned(), what: "a duration, as in `30s`, `5m` or `10h`" })
        }
    }
}

pub(super) fn json(text: &str) -> Result<Value, Problem> {
    serde_json::from_str(text).map_err(|_| Problem::Malformed {
        word: text.to_owned(),
        what: "JSON, as in `{\"spec\": {\"ttl\": 60}}`",
    })
}

/// A value as people write it: JSON where it is a number, a boolean, a list or an object, else text.
pub(super) fn loose(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::String(_)) | Err(_) => Value::from(text),
        Ok(value) => value,
    }
}

/// `KIND/NAME [-n NAMESPACE]`.
pub(super) fn object(words: &mut Words) -> Result<ObjectName, Problem> {
    let word = words.need("KIND/NAME")?;
    let namespace = words.take_namespace()?;
    object_of(&word, namespace)
}

pub(super) fn object_of(word: &str, namespace: Option<String>) -> Result<ObjectName, Problem> {
    let Some((kind, name)) = word.split_once('/').filter(|(_, name)| !name.is_empty()) else {
        return Err(Problem::Malformed { word: word.to_owned(), what: "KIND/NAME, as in `dnsrecord/www`" });
    };
    let resource = ResourceType::named(kind).ok_or_else(|| {
        Problem::unknown("kind", kind, ResourceType::all().map(|resource| &*resource.singular))
    })?;
    let namespace = match (resource.namespaced, namespace) {
        (true, namespace) => namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned()),
        (false, _) => String::new(),
    };
    Ok(ObjectName { resource, namespace, name: name.to_owned() })
}

/// `key=value …`; values as in [`loose`].
pub(super) fn fields_of(words: Vec<String>) -> Result<BTreeMap<String, Value>, Problem> {
    let field = |word: String| match word.split_once('=') {
        Some((key, value)) if !key.is_empty() => {
            // `content` is text even where it looks like a number.
            let value = if matches!(key, "content" | "comment") { Value::from(value) } else { loose(value) };
            Ok((key.to_owned(), value))
        }
        _ => Err(Problem::Malformed { word, what: "FIELD=VALUE, as in `ttl=120`" }),
    };
    words.into_iter().map(field).collect()
}

/// A path as it is.
pub(super) fn target(word: &str) -> Result<String, Problem> {
    if word.starts_with('/') {
        Ok(word.to_owned())
    } else {
        Err(Problem::Malformed {
            word: word.to_owned(),
            what: "a route, as in `/zones/{zone_id}/dns_records`",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_what_they_look_like_but_content_is_text() {
        let words = ["ttl=120", "proxied=true", "content=1", "data={\"a\":1}", "name=x"];
        let fields = fields_of(words.map(str::to_owned).into()).unwrap();
        let expected = json!({"ttl": 120, "proxied": true, "content": "1", "data": {"a": 1}, "name": "x"});
        assert_eq!(serde_json::to_value(fields).unwrap(), expected);
    }
}
