//! What differs between two objects, field by field. Leaves what that means for the owners to `managers`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::element::Element;
use super::schema::{Kind, Schema};
use super::set::{Path, Set};

/// The fields that the second object has and the first has not, the other way round, and those that differ.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) added: Set,
    pub(crate) removed: Set,
    pub(crate) modified: Set,
}

impl Comparison {
    /// Without these fields and all below them.
    pub(crate) fn without(&self, fields: &Set) -> Self {
        Self {
            added: self.added.without(fields),
            removed: self.removed.without(fields),
            modified: self.modified.without(fields),
        }
    }

    /// What the second object sets otherwise than the first.
    pub(crate) fn set(&self) -> Set {
        self.modified.union(&self.added)
    }
}

/// Compares two objects of one type.
pub(crate) fn compare(schema: Schema<'_>, old: &Value, new: &Value) -> Comparison {
    let mut walk = Walk { path: Vec::new(), found: Comparison::default() };
    walk.values(schema, Some(old), Some(new));
    walk.found
}

struct Walk {
    path: Path,
    found: Comparison,
}

impl Walk {
    fn values(&mut self, schema: Schema<'_>, old: Option<&Value>, new: Option<&Value>) {
        let is_leaf = match (old, new) {
            (None, None) => return,
            (Some(old), Some(new)) => {
                let (before, after) = (schema.kind(old), schema.kind(new));
                if before == after {
                    self.pair(schema, after, Some(old), Some(new))
                } else {
                    // It is something else now: what was in it goes, and what is in it comes.
                    self.turned(schema, before, old, new, true);
                    self.turned(schema, after, old, new, false);
                    true
                }
            }
            (one, other) => {
                let kind = one.or(other).map_or(Kind::Scalar, |value| schema.kind(value));
                self.pair(schema, kind, one, other)
            }
        };
        if !is_leaf && old.is_none() {
            self.found.added.insert(&self.path);
        } else if !is_leaf && new.is_none() {
            self.found.removed.insert(&self.path);
        }
    }

    /// One side of a value that turned from a map into a list, or the like.
    fn turned(&mut self, schema: Schema<'_>, kind: Kind, old: &Value, new: &Value, is_old: bool) {
        let side = if is_old { old } else { new };
        let is_empty = match side {
            Value::Object(entries) => entries.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => true,
        };
        if schema.is_atomic(kind) || is_empty {
            self.note(&Some(old), &Some(new));
        } else if is_old {
            self.pair(schema, kind, Some(side), None);
        } else {
            self.pair(schema, kind, None, Some(side));
        }
    }

    /// True when the two were compared as a whole.
    fn pair(&mut self, schema: Schema<'_>, kind: Kind, old: Option<&Value>, new: Option<&Value>) -> bool {
        let is_empty = |value: Option<&Value>| match value {
            Some(Value::Object(entries)) => entries.is_empty(),
            Some(Value::Array(items)) => items.is_empty(),
            _ => true,
        };
        if schema.is_atomic(kind) || (is_empty(old) && is_empty(new)) {
            self.note(&old, &new);
            return true;
        }
        match kind {
            Kind::Scalar => {}
            Kind::Map => self.entries(schema, old.and_then(Value::as_object), new.and_then(Value::as_object)),
            Kind::List => self.items(schema, old.and_then(Value::as_array), new.and_then(Value::as_array)),
        }
        false
    }

    fn note(&mut self, old: &Option<&Value>, new: &Option<&Value>) {
        match (old, new) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            (Some(old), Some(new)) if old != new => self.found.modified.insert(&self.path),
            _ => {}
        }
    }

    fn entries(
        &mut self,
        schema: Schema<'_>,
        old: Option<&Map<String, Value>>,
        new: Option<&Map<String, Value>>,
    ) {
        let added =
            new.into_iter().flat_map(Map::keys).filter(|name| old.is_none_or(|old| !old.contains_key(*name)));
        for name in old.into_iter().flat_map(Map::keys).chain(added) {
            let Some(next) = schema.member(name).schema() else { continue };
            let get =
                |entries: Option<&Map<String, Value>>| entries.and_then(|entries| entries.get(name)).cloned();
            let (before, after) = (get(old), get(new));
            self.path.push(Element::field(name));
            self.values(next, before.as_ref(), after.as_ref());
            self.path.pop();
        }
    }

    fn items(&mut self, schema: Schema<'_>, old: Option<&Vec<Value>>, new: Option<&Vec<Value>>) {
        let mut by_element: BTreeMap<Element, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for item in old.into_iter().flatten() {
            if let Ok(element) = schema.element(item) {
                by_element.entry(element).or_default().0.push(item);
            }
        }
        for item in new.into_iter().flatten() {
            if let Ok(element) = schema.element(item) {
                by_element.entry(element).or_default().1.push(item);
            }
        }
        for (element, (before, after)) in by_element {
            self.path.push(element);
            match (before.as_slice(), after.as_slice()) {
                ([] | [_], [] | [_]) => {
                    self.values(schema.item(), before.first().copied(), after.first().copied());
                }
                // Items that occur twice are compared as a whole, and owned by their step alone.
                ([_, _, ..], [_, _, ..]) => {
                    if before != after {
                        self.found.modified.insert(&self.path);
                    }
                }
                ([_, _, ..], _) => {
                    self.values(schema.item(), None, after.first().copied());
                    self.found.removed.insert(&self.path);
                }
                _ => {
                    self.values(schema.item(), before.first().copied(), None);
                    self.found.added.insert(&self.path);
                }
            }
            self.path.pop();
        }
    }
}
