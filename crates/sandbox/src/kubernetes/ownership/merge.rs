//! The object that results when a configuration is applied to a stored object: what it sets is set, all else stays.
//! Leaves removal of what was applied before to `managers`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::element::Element;
use super::schema::{Kind, Schema};

/// `live` with what `applied` sets.
pub(crate) fn merge(schema: Schema<'_>, live: &Value, applied: &Value) -> Result<Value, String> {
    Ok(values(schema, Some(live), Some(applied))?.unwrap_or(Value::Null))
}

fn values(
    schema: Schema<'_>,
    live: Option<&Value>,
    applied: Option<&Value>,
) -> Result<Option<Value>, String> {
    let Some(applied) = applied else { return Ok(live.cloned()) };
    let kind = schema.kind(applied);
    let is_empty = |value: Option<&Value>| match value {
        Some(Value::Object(entries)) => entries.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => true,
    };
    let other = live.is_some_and(|live| !live.is_null() && schema.kind(live) != kind);
    if schema.is_atomic(kind) || other || (is_empty(live) && is_empty(Some(applied))) {
        return Ok(Some(applied.clone()));
    }
    match kind {
        Kind::Scalar => Ok(Some(applied.clone())),
        Kind::Map => entries(schema, live.and_then(Value::as_object), applied.as_object()).map(Some),
        Kind::List => {
            let none = Vec::new();
            let live = live.and_then(Value::as_array).unwrap_or(&none);
            let applied = applied.as_array().unwrap_or(&none);
            items(schema, live, applied).map(Value::Array).map(Some)
        }
    }
}

fn entries(
    schema: Schema<'_>,
    live: Option<&Map<String, Value>>,
    applied: Option<&Map<String, Value>>,
) -> Result<Value, String> {
    let mut merged = live.cloned().unwrap_or_default();
    for (name, value) in applied.into_iter().flatten() {
        let before = live.and_then(|live| live.get(name));
        let next = schema.member(name).schema().unwrap_or(Schema::Deduced);
        if let Some(value) = values(next, before, Some(value)).map_err(|why| format!(".{name}{why}"))? {
            merged.insert(name.clone(), value);
        }
    }
    Ok(Value::Object(merged))
}

/// A list whose items have keys: those of the stored list stay where they are, those of the applied one come in its
/// order, and what both have is merged.
fn items(schema: Schema<'_>, live: &[Value], applied: &[Value]) -> Result<Vec<Value>, String> {
    let step =
        |index: usize, item: &Value| schema.element(item).map_err(|why| format!(": element {index}: {why}"));
    let ours: Vec<Element> =
        live.iter().enumerate().map(|(index, item)| step(index, item)).collect::<Result<_, _>>()?;
    let theirs: Vec<Element> =
        applied.iter().enumerate().map(|(index, item)| step(index, item)).collect::<Result<_, _>>()?;
    let mut live_at: BTreeMap<&Element, Option<&Value>> = BTreeMap::new();
    for (element, item) in ours.iter().zip(live) {
        // An item that occurs twice is not merged with either.
        live_at.entry(element).and_modify(|known| *known = None).or_insert(Some(item));
    }
    let applied_at: BTreeMap<&Element, &Value> = theirs.iter().zip(applied).collect();
    let merged = |element: &Element| {
        let before = live_at.get(element).copied().flatten();
        values(schema.item(), before, applied_at.get(element).copied())
            .map_err(|why| format!("{element}{why}"))
    };
    let mut shared = theirs.iter().filter(|element| live_at.contains_key(element));
    let mut next_shared = shared.next();
    let mut done: BTreeSet<&Element> = BTreeSet::new();
    let mut out = Vec::new();
    let (mut left, mut right) = (0, 0);
    while left < ours.len() || right < theirs.len() {
        if let (Some(our), Some(their)) = (ours.get(left), theirs.get(right)) {
            if our == their {
                done.insert(our);
                out.extend(merged(our)?);
                (left, right) = (left + 1, right + 1);
                next_shared = shared.next();
                continue;
            }
            if applied_at.contains_key(our) && next_shared.is_some_and(|next| next != our) {
                left += 1;
                continue;
            }
        }
        if let Some(our) = ours.get(left) {
            if !applied_at.contains_key(our) {
                out.extend(live.get(left).cloned());
                left += 1;
                continue;
            }
            if done.contains(our) {
                left += 1;
            }
        }
        if let Some(their) = theirs.get(right) {
            done.insert(their);
            out.extend(merged(their)?);
            right += 1;
            if next_shared == Some(their) {
                next_shared = shared.next();
            }
        }
    }
    Ok(out)
}
