//! Strategic merge patch for the built-in kinds, as `apimachinery/pkg/util/strategicpatch` applies it: by the merge keys
//! and strategies of the types, with the directives that kubectl writes. Leaves the types to `types`. How deep it goes is
//! bounded by the parser of bodies.

use std::collections::{BTreeMap, BTreeSet};

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
            Some("replace") => Value::Object(without_directive(patch)),
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
    for (key, order) in patch {
        if let Some(list) = key.strip_prefix(ORDER) {
            merge_ordered(object, list, patch.get(list), order, of.and_then(|of| of.field(list)))?;
        }
    }
    for (key, change) in patch.iter().filter(|(key, _)| !key.starts_with('$')) {
        // What has an order was merged with it.
        if !patch.contains_key(&format!("{ORDER}{key}")) {
            merge_field(object, key, change, of.and_then(|of| of.field(key)))?;
        }
    }
    for (key, gone) in patch {
        let (Some(list), Some(gone)) = (key.strip_prefix(DELETE_FROM), gone.as_array()) else { continue };
        if let Some(items) = object.get_mut(list).and_then(Value::as_array_mut) {
            let gone = index(gone, None);
            items.retain(|item| !gone.contains_key(&name(item, None)));
        }
    }
    Ok(())
}

/// What an item is known by: its key, or itself.
fn name(item: &Value, key: Option<&str>) -> String {
    match key {
        Some(key) => item.get(key).map(Value::to_string).unwrap_or_default(),
        None => item.to_string(),
    }
}

/// Where each item stands first: a list may be long, and is looked through for each item of another.
fn index(items: &[Value], key: Option<&str>) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        found.entry(name(item, key)).or_insert(at);
    }
    found
}

fn retain(object: &mut Map<String, Value>, patch: &Map<String, Value>) -> Result<(), Status> {
    let Some(retained) = patch.get(RETAIN) else { return Ok(()) };
    let wrong = || refused("invalid patch format of retainKeys");
    let retained = retained.as_array().ok_or_else(wrong)?;
    let is_kept = |key: &String| retained.iter().any(|kept| kept == key);
    let counts = |key: &str| key != RETAIN && !key.starts_with(DELETE_FROM) && !key.starts_with(ORDER);
    if patch.iter().any(|(key, value)| counts(key) && !value.is_null() && !is_kept(key)) {
        return Err(wrong());
    }
    object.retain(|key, _| is_kept(key));
    Ok(())
}

fn merge_field(
    object: &mut Map<String, Value>,
    key: &str,
    change: &Value,
    field: Option<&Field>,
) -> Result<(), Status> {
    match (object.get_mut(key), change) {
        (_, Value::Null) => {
            object.remove(key);
        }
        (Some(before @ Value::Object(_)), Value::Object(_)) => {
            merge(before, change, field.and_then(type_of))?
        }
        (Some(Value::Array(before)), Value::Array(items)) => {
            // A list that does not merge is taken as it is: its type knows no directives and drops them.
            *before = if field.is_some_and(|field| field.patch.merges) {
                merge_list(before, items, field)?.0
            } else {
                items.clone()
            };
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

/// A list whose order the patch asks for.
fn merge_ordered(
    object: &mut Map<String, Value>,
    list: &str,
    change: Option<&Value>,
    order: &Value,
    field: Option<&Field>,
) -> Result<(), Status> {
    let array = |value: &Value| {
        let array = value.as_array().cloned();
        array.ok_or_else(|| {
            refused(&format!("expected a []interface {{}}, but received a {}", go_type(value)))
        })
    };
    let order = array(order)?;
    let live = object.get(list).filter(|live| !live.is_null()).map(array).transpose()?;
    let items = change.map(array).transpose()?;
    let key = field.and_then(|field| field.merge_key);
    check_order(items.as_deref().unwrap_or_default(), &order, key)?;
    let before = live.clone().unwrap_or_default();
    let (merged, before) = match (&live, &items) {
        (None, None) => return Ok(()),
        (Some(live), None) => (live.clone(), before),
        (None, Some(items)) => (items.iter().filter_map(plain).collect(), before),
        (Some(live), Some(items)) if field.is_some_and(|field| field.patch.merges) => {
            merge_list(live, items, field)?
        }
        (Some(_), Some(items)) => (items.clone(), before),
    };
    if let Some(key) = key {
        check_keys(&merged, key)?;
    }
    let mut all = live.iter().chain(&items).flatten();
    let Some(first) = all.next() else { return Err(refused("no elements in any of the given slices")) };
    if all.any(|item| go_type(item) != go_type(first)) {
        return Err(refused("list element types are not identical"));
    }
    let sorted = ordered(merged, &order, &before, key);
    object.insert(list.to_owned(), Value::Array(sorted));
    Ok(())
}

fn check_keys(items: &[Value], key: &str) -> Result<(), Status> {
    match items.iter().filter_map(Value::as_object).find(|item| !item.contains_key(key)) {
        Some(item) => Err(no_key(item, key)),
        None => Ok(()),
    }
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

/// The merged list, and the order that those of its items keep to which nothing gives another.
fn merge_list(
    live: &[Value],
    items: &[Value],
    field: Option<&Field>,
) -> Result<(Vec<Value>, Vec<Value>), Status> {
    let is_map = live.iter().chain(items).any(Value::is_object);
    let key = field.and_then(|field| field.merge_key);
    let (Some(key), true) = (key, is_map) else {
        let mut known = BTreeSet::new();
        let both = live.iter().chain(items).filter(|item| known.insert(name(item, None))).cloned().collect();
        return Ok((ordered(both, items, live, None), live.to_vec()));
    };
    let mut left = live.to_vec();
    let (mut wanted, mut gone, mut is_replaced) = (Vec::new(), BTreeSet::new(), false);
    for item in items {
        let Some(fields) = item.as_object() else {
            return Err(refused("list element types are not identical"));
        };
        match fields.get(DIRECTIVE).map(|directive| (directive.as_str(), directive)) {
            None => wanted.push(item.clone()),
            Some((Some("delete"), _)) => {
                fields.get(key).ok_or_else(|| no_key(fields, key))?;
                gone.insert(name(item, Some(key)));
            }
            Some((Some("replace"), _)) => is_replaced = true,
            Some((Some("merge"), _)) => {
                return Err(refused("merging lists cannot yet be specified in the patch"));
            }
            Some((_, directive)) => return Err(unknown_directive(directive, fields)),
        }
    }
    check_keys(&wanted, key)?;
    if is_replaced {
        return Ok((wanted, live.to_vec()));
    }
    left.retain(|have| !gone.contains(&name(have, Some(key))));
    let before = left.clone();
    let mut places = index(&left, Some(key));
    let of = field.and_then(type_of);
    for item in &wanted {
        let at = places.entry(name(item, Some(key))).or_insert(left.len());
        match left.get_mut(*at) {
            Some(have) => merge(have, item, of)?,
            None => left.push(item.clone()),
        }
    }
    // The real server keeps what comes in the places of what went.
    let places = left.iter().take(live.len()).cloned().collect();
    Ok((ordered(left, &wanted, &before, Some(key)), places))
}

/// A list in the order that is wanted. Items that it does not name keep their order, and stand before the first of those
/// named that came after them.
fn ordered(items: Vec<Value>, order: &[Value], live: &[Value], key: Option<&str>) -> Vec<Value> {
    let (order, live) = (index(order, key), index(live, key));
    let rank = |list: &BTreeMap<String, usize>, item: &Value| list.get(&name(item, key)).copied();
    let (mut named, mut others): (Vec<Value>, Vec<Value>) =
        items.into_iter().partition(|item| rank(&order, item).is_some());
    named.sort_by_cached_key(|item| rank(&order, item));
    others.sort_by_cached_key(|item| rank(&live, item));
    let mut sorted = Vec::with_capacity(named.len() + others.len());
    let mut others = others.into_iter().peekable();
    for item in named {
        let place = rank(&live, &item);
        while let Some(other) = others.peek() {
            match (rank(&live, other), place) {
                (Some(at), Some(place)) if at < place => sorted.extend(others.next()),
                _ => break,
            }
        }
        sorted.push(item);
    }
    sorted.extend(others);
    sorted
}

/// What a patch sets has to come in the order that it asks for.
fn check_order(items: &[Value], order: &[Value], key: Option<&str>) -> Result<(), Status> {
    let same = |item: &Value, wanted: &Value| match key {
        Some(key) => item.get(key) == wanted.get(key),
        None => item == wanted,
    };
    let is_deleted =
        |item: &&Value| key.is_some() && item.get(DIRECTIVE).is_some_and(|directive| directive == "delete");
    let set: Vec<&Value> = items.iter().filter(|item| !is_deleted(item)).collect();
    let (mut at, mut next) = (0, 0);
    while let (Some(item), Some(wanted)) = (set.get(at), order.get(next)) {
        if item.get(DIRECTIVE).is_some() {
            at += 1;
            continue;
        }
        if let (Some(key), Some(fields)) = (key, item.as_object())
            && !fields.contains_key(key)
        {
            return Err(no_key(fields, key));
        }
        at += usize::from(same(item, wanted));
        next += 1;
    }
    if order.is_empty() || items.is_empty() || at >= set.len() {
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

/// What a patch sets where there was nothing: without nulls, and without what has a directive.
fn plain(value: &Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => None,
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| !value.is_null());
            Some(Value::Object(kept.filter_map(|(key, value)| Some((key.clone(), plain(value)?))).collect()))
        }
        Value::Array(items) => Some(Value::Array(items.iter().filter_map(plain).collect())),
        other => Some(other.clone()),
    }
}

fn without_directive(fields: &Map<String, Value>) -> Map<String, Value> {
    fields
        .iter()
        .filter(|(key, _)| *key != DIRECTIVE)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// What Go calls the type of a decoded value.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
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
    fn an_order_moves_what_it_names_and_keeps_the_others_where_they_were() {
        let target = json!({ "ports": [{ "port": 1 }, { "port": 2 }, { "port": 3 }] });
        let patch =
            json!({ "$setElementOrder/ports": [{ "port": 4 }, { "port": 3 }], "ports": [{ "port": 4 }] });
        let wanted = json!({ "ports": [{ "port": 4 }, { "port": 1 }, { "port": 2 }, { "port": 3 }] });
        assert_eq!(merged("core.ServiceSpec", target.clone(), patch).unwrap(), wanted);
        // What was deleted and comes again has no place from before.
        let patch = json!({ "ports": [{ "port": 3 }, { "$patch": "delete", "port": 3 }] });
        let wanted = json!({ "ports": [{ "port": 3 }, { "port": 1 }, { "port": 2 }] });
        assert_eq!(merged("core.ServiceSpec", target, patch).unwrap(), wanted);
        let patch = json!({ "ports": [{ "port": 1, "name": null }, { "$patch": "delete", "port": 2 }] });
        assert_eq!(
            merged("core.ServiceSpec", json!({}), patch).unwrap(),
            json!({ "ports": [{ "port": 1 }] })
        );
    }

    #[test]
    fn lists_as_long_as_a_body_can_hold_are_merged_without_looking_through_them_for_each_item() {
        let ports = |shift: u32| (0..30_000).map(|port| json!({ "port": port + shift })).collect::<Vec<_>>();
        let target = json!({ "ports": ports(0), "externalIPs": (0..30_000).collect::<Vec<_>>() });
        let patch = json!({ "ports": ports(15_000), "$setElementOrder/ports": ports(15_000),
            "$deleteFromPrimitiveList/externalIPs": (0..29_000).collect::<Vec<_>>() });
        let long = merged("core.ServiceSpec", target, patch).unwrap();
        let length = |list: &str| long[list].as_array().unwrap().len();
        assert_eq!((length("ports"), length("externalIPs")), (45_000, 1_000));
        let twice = json!({ "finalizers": ["x", "x", "y"] });
        let set = merged("meta.ObjectMeta", json!({ "finalizers": ["x"] }), twice).unwrap();
        assert_eq!(set, json!({ "finalizers": ["x", "y"] }));
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
            (json!({ "$retainKeys": ["x"], "hostname": "y" }), "invalid patch format of retainKeys"),
            (json!({ "$retainKeys": 1 }), "invalid patch format of retainKeys"),
            (
                json!({ "$setElementOrder/containers": 1, "containers": [{ "name": "a" }] }),
                "expected a []interface {}, but received a int64",
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
