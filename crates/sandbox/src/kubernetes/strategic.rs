//! Strategic merge patch for the built-in kinds, as `apimachinery/pkg/util/strategicpatch` applies it: by the merge keys
//! and strategies of the types, with the directives that kubectl writes. Leaves the types to `types`. How deep it goes is
//! bounded by the parser of bodies.

use serde_json::{Map, Value};

use super::golang;
use super::status::{Reason, Status};
use super::types::{self, Field, Shape, Type};

const DIRECTIVE: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const ORDER: &str = "$setElementOrder/";

/// Merges `patch` into an object of a type.
pub(crate) fn merge(target: &mut Value, patch: &Value, of: Option<&Type>) -> Result<(), Status> {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return Ok(());
    };
    if let Some(directive) = patch.get(DIRECTIVE) {
        *target = match directive.as_str() {
            Some("replace") => Value::Object(plain_fields(patch)),
            Some("delete") => Value::Object(Map::new()),
            _ => return Err(unknown_directive(directive, patch)),
        };
        return Ok(());
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(object) = target.as_object_mut() else { return Ok(()) };
    retain(object, patch)?;
    for (key, gone) in patch {
        if let Some(list) = key.strip_prefix(DELETE_FROM) {
            let Some(gone) = gone.as_array() else {
                return Err(refused("invalid patch format of primitive list"));
            };
            if let Some(items) = object.get_mut(list).and_then(Value::as_array_mut) {
                items.retain(|item| !gone.contains(item));
            }
        }
    }
    for (key, change) in patch.iter().filter(|(key, _)| !key.starts_with('$')) {
        let field = of.and_then(|of| of.field(key));
        merge_field(object, key, change, field, patch.get(&format!("{ORDER}{key}")))?;
    }
    for (key, order) in patch {
        let Some(list) = key.strip_prefix(ORDER).filter(|list| !patch.contains_key(*list)) else { continue };
        let field = of.and_then(|of| of.field(list));
        if let Some(items) = object.get(list).and_then(Value::as_array) {
            let sorted =
                ordered(items.clone(), order_of(order)?, items, field.and_then(|field| field.merge_key));
            object.insert(list.to_owned(), Value::Array(sorted));
        }
    }
    Ok(())
}

fn retain(object: &mut Map<String, Value>, patch: &Map<String, Value>) -> Result<(), Status> {
    let Some(retained) = patch.get(RETAIN) else { return Ok(()) };
    let Some(retained) = retained.as_array() else {
        return Err(refused("invalid patch format of retainKeys"));
    };
    let strays = |key: &String| !key.starts_with('$') && !retained.iter().any(|kept| kept == key);
    if patch.keys().any(strays) {
        return Err(refused("patch content doesn't match retainKeys list"));
    }
    object.retain(|key, _| retained.iter().any(|kept| kept == key));
    Ok(())
}

fn merge_field(
    object: &mut Map<String, Value>,
    key: &str,
    change: &Value,
    field: Option<&Field>,
    order: Option<&Value>,
) -> Result<(), Status> {
    match (object.get_mut(key), change) {
        (_, Value::Null) => {
            object.remove(key);
        }
        (Some(before @ Value::Object(_)), Value::Object(_)) => {
            merge(before, change, field.and_then(type_of))?
        }
        (Some(Value::Array(before)), Value::Array(items))
            if field.is_some_and(|field| field.patch.merges) =>
        {
            let live = before.clone();
            let mut merged = merge_list(live.clone(), items, field)?;
            if let Some(order) = order {
                let key = field.and_then(|field| field.merge_key);
                check_order(items, order_of(order)?, key)?;
                merged = ordered(merged, order_of(order)?, &live, key);
            }
            *before = merged;
        }
        _ => match plain(change) {
            Some(change) => {
                object.insert(key.to_owned(), change);
            }
            None => {
                object.remove(key);
            }
        },
    }
    Ok(())
}

/// The type of a field's value, or of its items.
fn type_of(field: &Field) -> Option<&'static Type> {
    let mut shape = &field.value;
    while let Shape::List(inner) | Shape::Map(inner) = shape {
        shape = inner;
    }
    match shape {
        Shape::Named(name) => types::named(name),
        _ => None,
    }
}

fn merge_list(live: Vec<Value>, items: &[Value], field: Option<&Field>) -> Result<Vec<Value>, Status> {
    let is_map = live.iter().chain(items).any(Value::is_object);
    let key = field.and_then(|field| field.merge_key);
    let (Some(key), true) = (key, is_map) else {
        let mut both = live.clone();
        both.extend(items.iter().filter(|item| !live.contains(item)).cloned());
        return Ok(ordered(both, items, &live, None));
    };
    let mut left = live.clone();
    let (mut wanted, mut is_replaced) = (Vec::new(), false);
    for item in items {
        let Some(fields) = item.as_object() else {
            return Err(refused("list element types are not identical"));
        };
        match fields.get(DIRECTIVE).map(|directive| (directive.as_str(), directive)) {
            None => wanted.push(item),
            Some((Some("delete"), _)) => {
                let gone = fields.get(key).ok_or_else(|| no_key(fields, key))?;
                left.retain(|have| have.get(key) != Some(gone));
            }
            Some((Some("replace"), _)) => is_replaced = true,
            Some((Some("merge"), _)) => {
                return Err(refused("merging lists cannot yet be specified in the patch"));
            }
            Some((_, directive)) => return Err(unknown_directive(directive, fields)),
        }
    }
    if is_replaced {
        return Ok(wanted.into_iter().filter_map(plain).collect());
    }
    let of = field.and_then(type_of);
    for item in &wanted {
        let name = item.get(key).ok_or_else(|| no_key(item.as_object().unwrap_or(&Map::new()), key))?;
        match left.iter_mut().find(|have| have.get(key) == Some(name)) {
            Some(have) => merge(have, item, of)?,
            None => left.extend(plain(item)),
        }
    }
    let order: Vec<Value> = wanted.into_iter().cloned().collect();
    Ok(ordered(left, &order, &live, Some(key)))
}

/// A list in the order that is wanted. Items that it does not name keep their order, and stand before the first of those
/// named that came after them.
fn ordered(items: Vec<Value>, order: &[Value], live: &[Value], key: Option<&str>) -> Vec<Value> {
    let rank = |list: &[Value], item: &Value| {
        list.iter().position(|other| match key {
            Some(key) => other.get(key) == item.get(key),
            None => other == item,
        })
    };
    let (mut named, mut others): (Vec<Value>, Vec<Value>) =
        items.into_iter().partition(|item| rank(order, item).is_some());
    named.sort_by_key(|item| rank(order, item));
    others.sort_by_key(|item| rank(live, item));
    let mut sorted = Vec::with_capacity(named.len() + others.len());
    let mut others = others.into_iter().peekable();
    for item in named {
        let place = rank(live, &item);
        while let Some(other) = others.peek() {
            match (rank(live, other), place) {
                (Some(at), Some(place)) if at < place => sorted.extend(others.next()),
                _ => break,
            }
        }
        sorted.push(item);
    }
    sorted.extend(others);
    sorted
}

fn order_of(order: &Value) -> Result<&[Value], Status> {
    order.as_array().map(Vec::as_slice).ok_or_else(|| refused("invalid patch format of setElementOrder list"))
}

/// What a patch sets has to come in the order that it asks for.
fn check_order(items: &[Value], order: &[Value], key: Option<&str>) -> Result<(), Status> {
    let same = |item: &Value, wanted: &Value| match key {
        Some(key) => item.get(key) == wanted.get(key),
        None => item == wanted,
    };
    let mut wanted = order.iter();
    let mut plain = items.iter().filter(|item| item.get(DIRECTIVE).is_none());
    if order.is_empty() || plain.all(|item| wanted.any(|wanted| same(item, wanted))) {
        return Ok(());
    }
    let text = |list: &[Value]| list.iter().map(golang::plain).collect::<Vec<_>>().join(" ");
    let why = format!(
        "The order in patch list:\n[{}]\n doesn't match $setElementOrder list:\n[{}]\n",
        text(items),
        text(order)
    );
    Err(refused(&why))
}

/// What a patch sets where there was nothing: without its directives and nulls. `None`: it is a directive itself.
fn plain(value: &Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => {
            match fields.get(DIRECTIVE).and_then(Value::as_str) {
                Some("replace") => Some(Value::Object(plain_fields(fields))),
                _ => None,
            }
        }
        Value::Object(fields) => Some(Value::Object(plain_fields(fields))),
        Value::Array(items) => Some(Value::Array(items.iter().filter_map(plain).collect())),
        other => Some(other.clone()),
    }
}

fn plain_fields(fields: &Map<String, Value>) -> Map<String, Value> {
    let kept = fields.iter().filter(|(key, value)| !key.starts_with('$') && !value.is_null());
    kept.filter_map(|(key, value)| Some((key.clone(), plain(value)?))).collect()
}

fn refused(why: &str) -> Status {
    Status::new(Reason::Unknown, why)
}

fn unknown_directive(directive: &Value, patch: &Map<String, Value>) -> Status {
    let directive = directive.as_str().map_or_else(|| directive.to_string(), str::to_owned);
    refused(&format!(
        "unknown patch type: {directive} in map: {}",
        golang::plain(&Value::Object(patch.clone()))
    ))
}

fn no_key(item: &Map<String, Value>, key: &str) -> Status {
    refused(&format!(
        "map: {} does not contain declared merge key: {key}",
        golang::plain(&Value::Object(item.clone()))
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(kind: &str, mut target: Value, patch: Value) -> Result<Value, String> {
        merge(&mut target, &patch, types::named(kind)).map_err(|status| status.message)?;
        Ok(target)
    }

    #[test]
    fn a_container_changes_by_name_and_its_neighbour_stays() {
        let target = json!({ "containers": [
            { "name": "a", "image": "1", "env": [{ "name": "X", "value": "1" }] }, { "name": "b", "image": "1" },
        ]});
        let patch = json!({
            "$setElementOrder/containers": [{ "name": "b" }, { "name": "a" }],
            "containers": [{ "name": "a", "image": "2", "env": [{ "name": "Y", "value": "2" }] }],
        });
        let wanted = json!({ "containers": [
            { "name": "b", "image": "1" },
            { "name": "a", "image": "2", "env": [{ "name": "Y", "value": "2" }, { "name": "X", "value": "1" }] },
        ]});
        assert_eq!(merged("core.PodSpec", target, patch).unwrap(), wanted);
    }

    #[test]
    fn directives_delete_and_replace_items_objects_and_keys() {
        let ports = json!({ "ports": [{ "port": 80 }, { "port": 443 }], "selector": { "a": "1" }, "type": "ClusterIP" });
        let patch = json!({ "ports": [{ "$patch": "delete", "port": 80 }], "selector": { "$patch": "replace", "b": "2" } });
        let wanted = json!({ "ports": [{ "port": 443 }], "selector": { "b": "2" }, "type": "ClusterIP" });
        assert_eq!(merged("core.ServiceSpec", ports.clone(), patch).unwrap(), wanted);
        let patch =
            json!({ "ports": [{ "port": 1 }, { "$patch": "replace" }], "selector": { "$patch": "delete" } });
        let wanted = json!({ "ports": [{ "port": 1 }], "selector": {}, "type": "ClusterIP" });
        assert_eq!(merged("core.ServiceSpec", ports, patch).unwrap(), wanted);
        let strategy = json!({ "type": "RollingUpdate", "rollingUpdate": {} });
        let patch = json!({ "$retainKeys": ["type"], "type": "Recreate" });
        assert_eq!(
            merged("apps.DeploymentStrategy", strategy, patch).unwrap(),
            json!({ "type": "Recreate" })
        );
    }

    #[test]
    fn sets_grow_and_shrink_and_lists_without_a_key_are_replaced() {
        let target = json!({ "finalizers": ["x", "y"], "labels": { "a": "1" } });
        let patch = json!({ "finalizers": ["z"], "$deleteFromPrimitiveList/finalizers": ["x"],
            "$setElementOrder/finalizers": ["y", "z"], "labels": { "a": null, "b": "2" } });
        let wanted = json!({ "finalizers": ["y", "z"], "labels": { "b": "2" } });
        assert_eq!(merged("meta.ObjectMeta", target, patch).unwrap(), wanted);
        let target = json!({ "command": ["a"], "name": "x" });
        let patch = json!({ "command": ["b", "c"] });
        assert_eq!(
            merged("core.Container", target, patch).unwrap(),
            json!({ "command": ["b", "c"], "name": "x" })
        );
    }

    #[test]
    fn what_the_server_does_not_understand_is_refused() {
        let target = json!({ "containers": [{ "name": "a" }], "strategy": {} });
        for (patch, why) in [
            (json!({ "containers": [{ "image": "x" }] }), "does not contain declared merge key: name"),
            (
                json!({ "containers": [{ "$patch": "merge", "name": "a" }] }),
                "merging lists cannot yet be specified",
            ),
            (json!({ "$patch": "shuffle" }), "unknown patch type: shuffle"),
            (json!({ "$retainKeys": ["x"], "hostname": "y" }), "doesn't match retainKeys list"),
            (json!({ "$retainKeys": 1 }), "invalid patch format of retainKeys"),
            (
                json!({ "$setElementOrder/containers": 1, "containers": [{ "name": "a" }] }),
                "setElementOrder list",
            ),
            (
                json!({ "$setElementOrder/containers": [{ "name": "b" }], "containers": [{ "name": "a" }] }),
                "The order in patch list",
            ),
        ] {
            let error = merged("core.PodSpec", target.clone(), patch.clone()).unwrap_err();
            assert!(error.contains(why), "{patch}: {error}");
        }
    }
}
