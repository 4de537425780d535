//! Strategic merge patch for the built-in kinds: lists whose entries have a key are merged by it, with the
//! directives that kubectl writes. Leaves the schema out: the keys are those of the lists our kinds have.

use serde_json::{Map, Value};

use super::status::Status;

/// Lists that merge by a key (`patchMergeKey` of the Go types of the kinds served here).
const KEYED_LISTS: &[(&str, &[&str])] = &[
    // A Service's ports merge by `port`, a container's by `containerPort`.
    ("ports", &["containerPort", "port"]),
    ("containers", &["name"]),
    ("initContainers", &["name"]),
    ("env", &["name"]),
    ("volumes", &["name"]),
    ("volumeMounts", &["mountPath"]),
    ("imagePullSecrets", &["name"]),
    ("secrets", &["name"]),
    ("hostAliases", &["ip"]),
    ("topologySpreadConstraints", &["topologyKey"]),
    ("conditions", &["type"]),
    ("ownerReferences", &["uid"]),
];

/// Lists of plain values that merge as sets.
const SETS: &[&str] = &["finalizers"];

const DIRECTIVE: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const ORDER: &str = "$setElementOrder/";

/// Merges `patch` into `target`.
pub(crate) fn merge(target: &mut Value, patch: &Value) -> Result<(), Status> {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return Ok(());
    };
    match patch.get(DIRECTIVE).and_then(Value::as_str) {
        Some("replace") => {
            *target = Value::Object(without_directives(patch));
            return Ok(());
        }
        Some("delete") => {
            *target = Value::Object(Map::new());
            return Ok(());
        }
        Some("merge") | None => {}
        Some(other) => return Err(unknown_directive(other)),
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(object) = target.as_object_mut() else { return Ok(()) };
    if let Some(kept) = patch.get(RETAIN).and_then(Value::as_array) {
        object.retain(|key, _| kept.iter().any(|kept| kept == key));
    }
    for (key, change) in patch {
        if let Some(list) = key.strip_prefix(DELETE_FROM) {
            delete_from(object, list, change);
        } else if !key.starts_with('$') {
            merge_field(object, key, change)?;
        }
    }
    for (key, order) in patch {
        if let Some(list) = key.strip_prefix(ORDER) {
            set_order(object, list, order);
        }
    }
    Ok(())
}

fn unknown_directive(directive: &str) -> Status {
    Status::bad_request(format!("unable to find api field: unknown patch directive {directive:?}"))
}

fn without_directives(patch: &Map<String, Value>) -> Map<String, Value> {
    patch
        .iter()
        .filter(|(key, _)| !key.starts_with('$'))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn merge_field(object: &mut Map<String, Value>, key: &str, change: &Value) -> Result<(), Status> {
    match change {
        Value::Null => {
            object.remove(key);
        }
        Value::Object(fields) if fields.get(DIRECTIVE).is_some_and(|directive| directive == "delete") => {
            object.remove(key);
        }
        Value::Object(_) => merge(object.entry(key.to_owned()).or_insert(Value::Null), change)?,
        Value::Array(items) => {
            let merge_key = merge_key(key, items);
            let before = object.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            let after = if let Some(merge_key) = merge_key {
                merge_list(before, items, merge_key)?
            } else if SETS.contains(&key) {
                union(before, items)
            } else {
                items.clone()
            };
            object.insert(key.to_owned(), Value::Array(after));
        }
        _ => {
            object.insert(key.to_owned(), change.clone());
        }
    }
    Ok(())
}

/// The key that a list merges by: the first of its candidates that the patch uses.
fn merge_key(list: &str, items: &[Value]) -> Option<&'static str> {
    let (_, candidates) = KEYED_LISTS.iter().find(|(name, _)| *name == list)?;
    candidates.iter().copied().find(|key| items.iter().any(|item| item.get(key).is_some()))
}

fn union(mut before: Vec<Value>, items: &[Value]) -> Vec<Value> {
    for item in items {
        if !before.contains(item) {
            before.push(item.clone());
        }
    }
    before
}

fn merge_list(mut list: Vec<Value>, items: &[Value], key: &str) -> Result<Vec<Value>, Status> {
    if items.iter().any(|item| item[DIRECTIVE] == "replace") {
        return Ok(items.iter().filter(|item| item.get(key).is_some()).map(plain).collect());
    }
    for item in items {
        let found = list.iter().position(|have| have.get(key) == item.get(key));
        match (item[DIRECTIVE].as_str(), found) {
            (Some("delete"), Some(at)) => {
                list.remove(at);
            }
            (Some("delete"), None) => {}
            (Some("merge") | None, Some(at)) => {
                if let Some(target) = list.get_mut(at) {
                    merge(target, item)?;
                }
            }
            (Some("merge") | None, None) => {
                let mut added = Value::Object(Map::new());
                merge(&mut added, item)?;
                list.push(added);
            }
            (Some(other), _) => return Err(unknown_directive(other)),
        }
    }
    Ok(list)
}

fn plain(item: &Value) -> Value {
    item.as_object().map_or_else(|| item.clone(), |item| Value::Object(without_directives(item)))
}

fn delete_from(object: &mut Map<String, Value>, list: &str, gone: &Value) {
    let gone = gone.as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(items) = object.get_mut(list).and_then(Value::as_array_mut) {
        items.retain(|item| !gone.contains(item));
    }
}

/// Sorts a list as the directive says; entries that it does not name stay behind those it does.
fn set_order(object: &mut Map<String, Value>, list: &str, order: &Value) {
    let order = order.as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(items) = object.get_mut(list).and_then(Value::as_array_mut) else { return };
    let rank = |item: &Value| {
        let named = order.iter().position(|wanted| match wanted.as_object() {
            // An entry of the order is the key alone: `{"name": "web"}`.
            Some(fields) => fields.iter().all(|(key, value)| item.get(key) == Some(value)),
            None => wanted == item,
        });
        named.unwrap_or(usize::MAX)
    };
    items.sort_by_key(rank);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_container_changes_by_name_and_its_neighbour_stays() {
        let mut target = json!({ "spec": { "containers": [
            { "name": "a", "image": "1", "env": [{ "name": "X", "value": "1" }] }, { "name": "b", "image": "1" },
        ]}});
        let patch = json!({ "spec": {
            "$setElementOrder/containers": [{ "name": "b" }, { "name": "a" }],
            "containers": [{ "name": "a", "image": "2" }],
        }});
        merge(&mut target, &patch).unwrap();
        assert_eq!(
            target["spec"]["containers"],
            json!([
                { "name": "b", "image": "1" },
                { "name": "a", "image": "2", "env": [{ "name": "X", "value": "1" }] },
            ])
        );
    }

    #[test]
    fn a_delete_directive_removes_one_entry() {
        let mut target = json!({ "ports": [{ "port": 80 }, { "port": 443 }] });
        merge(&mut target, &json!({ "ports": [{ "$patch": "delete", "port": 80 }] })).unwrap();
        assert_eq!(target, json!({ "ports": [{ "port": 443 }] }));
    }

    #[test]
    fn retained_keys_drop_the_others() {
        let mut target = json!({ "strategy": { "type": "RollingUpdate", "rollingUpdate": {} } });
        let patch = json!({ "strategy": { "$retainKeys": ["type"], "type": "Recreate" } });
        merge(&mut target, &patch).unwrap();
        assert_eq!(target, json!({ "strategy": { "type": "Recreate" } }));
    }

    #[test]
    fn null_deletes_and_finalizers_are_a_set() {
        let mut target = json!({ "metadata": { "labels": { "a": "1" }, "finalizers": ["x"] } });
        merge(&mut target, &json!({ "metadata": { "labels": { "a": null }, "finalizers": ["y"] } })).unwrap();
        assert_eq!(target, json!({ "metadata": { "labels": {}, "finalizers": ["x", "y"] } }));
    }
}
