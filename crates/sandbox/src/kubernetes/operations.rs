//! JSON patches as the API server applies them (`gopkg.in/evanphx/json-patch.v4`): RFC 6902, with its leniency about what
//! is absent. Leaves the outcome's admission to `write`.

use serde_json::{Map, Value};

/// What the copies of one patch may add up to, in bytes of JSON (`JSONPatchMaxCopyBytes`): each may double the document.
const COPIES_MAX: usize = 3 * 1024 * 1024;

/// An operation does not fit the document. The server says no more than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Misfit;

/// Applies the operations, in order.
pub(crate) fn apply(document: &mut Value, operations: &[Map<String, Value>]) -> Result<(), Misfit> {
    let mut copied = 0;
    operations.iter().try_for_each(|operation| apply_one(document, operation, &mut copied))
}

fn apply_one(document: &mut Value, operation: &Map<String, Value>, copied: &mut usize) -> Result<(), Misfit> {
    let text = |field: &str| operation.get(field).and_then(Value::as_str);
    let path = || text("path").ok_or(Misfit);
    let from = || text("from").ok_or(Misfit);
    let value = || operation.get("value").cloned().unwrap_or(Value::Null);
    match text("op").unwrap_or_default() {
        "add" => add(document, path()?, value()),
        "remove" => remove(document, path()?),
        "replace" => replace(document, path()?, value()),
        "move" => {
            let moved = get(document, from()?)?;
            remove(document, from()?)?;
            add(document, path()?, moved)
        }
        "copy" => {
            let copy = get(document, from()?)?;
            *copied += copy.to_string().len();
            if *copied > COPIES_MAX {
                return Err(Misfit);
            }
            add(document, path()?, copy)
        }
        "test" => {
            let found = if path()?.is_empty() { document.clone() } else { get(document, path()?)? };
            if same(&found, &value()) { Ok(()) } else { Err(Misfit) }
        }
        _ => Err(Misfit),
    }
}

/// Equal as JSON texts: 1 and 1.0 differ.
fn same(one: &Value, other: &Value) -> bool {
    one == other
}

/// The object or list that a path ends in, and the last key. What is before the first slash does not count.
fn container<'d>(document: &'d mut Value, path: &str) -> Result<(&'d mut Value, String), Misfit> {
    let mut parts: Vec<String> = path.split('/').skip(1).map(unescaped).collect();
    let last = parts.pop().ok_or(Misfit)?;
    let mut at = document;
    for part in parts {
        at = match at {
            Value::Object(fields) => fields.get_mut(&part).ok_or(Misfit)?,
            Value::Array(items) => {
                let index = index(&part, items.len())?;
                items.get_mut(index).ok_or(Misfit)?
            }
            _ => return Err(Misfit),
        };
    }
    if at.is_object() || at.is_array() { Ok((at, last)) } else { Err(Misfit) }
}

fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// An index below `length`; a negative one counts from the end.
fn index(key: &str, length: usize) -> Result<usize, Misfit> {
    let digits = key.strip_prefix('+').unwrap_or(key);
    let given: isize = digits.parse().map_err(|_| Misfit)?;
    let length = isize::try_from(length).map_err(|_| Misfit)?;
    let at = if given < 0 { given + length } else { given };
    if (0..length).contains(&at) { usize::try_from(at).map_err(|_| Misfit) } else { Err(Misfit) }
}

fn get(document: &mut Value, path: &str) -> Result<Value, Misfit> {
    match container(document, path)? {
        // What is absent is null.
        (Value::Object(fields), key) => Ok(fields.get(&key).cloned().unwrap_or(Value::Null)),
        (Value::Array(items), key) => {
            let at = index(&key, items.len())?;
            items.get(at).cloned().ok_or(Misfit)
        }
        _ => Err(Misfit),
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Result<(), Misfit> {
    match container(document, path)? {
        (Value::Object(fields), key) => {
            fields.insert(key, value);
        }
        (Value::Array(items), key) => {
            let at = if key == "-" { items.len() } else { index(&key, items.len() + 1)? };
            items.insert(at, value);
        }
        _ => return Err(Misfit),
    }
    Ok(())
}

fn replace(document: &mut Value, path: &str, value: Value) -> Result<(), Misfit> {
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            return Err(Misfit);
        }
        *document = value;
        return Ok(());
    }
    match container(document, path)? {
        // A field need not be there: this is an addition, too.
        (Value::Object(fields), key) => {
            fields.insert(key, value);
        }
        (Value::Array(items), key) => {
            let at = index(&key, items.len())?;
            *items.get_mut(at).ok_or(Misfit)? = value;
        }
        _ => return Err(Misfit),
    }
    Ok(())
}

fn remove(document: &mut Value, path: &str) -> Result<(), Misfit> {
    match container(document, path)? {
        (Value::Object(fields), key) => fields.remove(&key).map(|_| ()).ok_or(Misfit),
        (Value::Array(items), key) => {
            let at = index(&key, items.len())?;
            items.remove(at);
            Ok(())
        }
        _ => Err(Misfit),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(operation: Value) -> Result<Value, Misfit> {
        let mut document = json!({ "a": 1, "list": ["x", "y"], "deep": { "b/c": true } });
        apply(&mut document, &[operation.as_object().unwrap().clone()])?;
        Ok(document)
    }

    #[test]
    fn what_is_absent_can_be_replaced_and_copied_and_not_removed() {
        assert_eq!(patched(json!({ "op": "replace", "path": "/z", "value": 2 })).unwrap()["z"], 2);
        assert_eq!(patched(json!({ "op": "copy", "from": "/z", "path": "/y" })).unwrap()["y"], Value::Null);
        assert_eq!(patched(json!({ "op": "remove", "path": "/z" })), Err(Misfit));
        assert_eq!(patched(json!({ "op": "add", "path": "/z/y", "value": 2 })), Err(Misfit));
    }

    #[test]
    fn copies_that_double_a_document_are_refused_before_they_fill_the_memory() {
        let mut document = json!({ "data": { "a": "x".repeat(1_000) } });
        let copy = |n: usize| json!({ "op": "copy", "from": "/data", "path": format!("/data/k{n}") });
        let copies: Vec<_> = (0..40).map(|n| copy(n).as_object().unwrap().clone()).collect();
        assert_eq!(apply(&mut document, &copies), Err(Misfit));
        assert!(document.to_string().len() < 2 * COPIES_MAX);
    }

    #[test]
    fn indices_count_from_either_end() {
        let list = |operation| patched(operation).map(|document| document["list"].clone());
        assert_eq!(list(json!({ "op": "remove", "path": "/list/-1" })), Ok(json!(["x"])));
        assert_eq!(
            list(json!({ "op": "add", "path": "/list/-1", "value": "z" })),
            Ok(json!(["x", "y", "z"]))
        );
        assert_eq!(list(json!({ "op": "add", "path": "/list/3", "value": "z" })), Err(Misfit));
        assert_eq!(list(json!({ "op": "replace", "path": "/list/2", "value": "z" })), Err(Misfit));
    }

    #[test]
    fn keys_are_unescaped_and_tests_compare() {
        assert!(patched(json!({ "op": "test", "path": "/deep/b~1c", "value": true })).is_ok());
        assert_eq!(patched(json!({ "op": "test", "path": "/a", "value": 2 })), Err(Misfit));
        assert!(patched(json!({ "op": "test", "path": "/z", "value": null })).is_ok());
        assert_eq!(patched(json!({ "op": "dance", "path": "/a" })), Err(Misfit));
    }
}
