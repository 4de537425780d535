//! Sets of fields, as `fieldsV1` writes them. A field and what is below it are members each for itself.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::element::Element;
use super::schema::Schema;

/// Says in `fieldsV1` that a field itself is a member, beside those below it.
const SELF: &str = ".";

/// A path from the top of an object to a field.
pub(crate) type Path = Vec<Element>;

/// A path as errors print it.
pub(crate) fn print(path: &[Element]) -> String {
    path.iter().map(Element::to_string).collect()
}

/// A set of fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Set(BTreeMap<Element, Entry>);

#[derive(Clone, Debug, Default, PartialEq)]
struct Entry {
    is_member: bool,
    below: Set,
}

impl Entry {
    fn is_empty(&self) -> bool {
        !self.is_member && self.below.is_empty()
    }
}

impl Set {
    /// The set of these fields, by the names on the way to each.
    pub(crate) fn of(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            set.insert(&path.iter().map(|name| Element::field(name)).collect::<Path>());
        }
        set
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a field; the object as a whole is never a member.
    pub(crate) fn insert(&mut self, path: &[Element]) {
        match path {
            [] => {}
            [last] => self.0.entry(last.clone()).or_default().is_member = true,
            [first, rest @ ..] => self.0.entry(first.clone()).or_default().below.insert(rest),
        }
    }

    pub(crate) fn has(&self, element: &Element) -> bool {
        self.0.get(element).is_some_and(|entry| entry.is_member)
    }

    /// What is below an element.
    pub(crate) fn below(&self, element: &Element) -> Option<&Self> {
        self.0.get(element).map(|entry| &entry.below).filter(|below| !below.is_empty())
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.absorb(other);
        all
    }

    fn absorb(&mut self, other: &Self) {
        for (element, theirs) in &other.0 {
            let ours = self.0.entry(element.clone()).or_default();
            ours.is_member |= theirs.is_member;
            ours.below.absorb(&theirs.below);
        }
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.combined(|element, ours| {
            let theirs = other.0.get(element)?;
            let is_member = ours.is_member && theirs.is_member;
            Some(Entry { is_member, below: ours.below.intersection(&theirs.below) })
        })
    }

    /// True when they have a member in common.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.0.iter().any(|(element, ours)| {
            let theirs = other.0.get(element);
            theirs
                .is_some_and(|theirs| (ours.is_member && theirs.is_member) || ours.below.meets(&theirs.below))
        })
    }

    /// Without the members of `other`. What is below a member stays.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        self.combined(|element, ours| {
            let Some(theirs) = other.0.get(element) else { return Some(ours.clone()) };
            let is_member = ours.is_member && !theirs.is_member;
            Some(Entry { is_member, below: ours.below.difference(&theirs.below) })
        })
    }

    /// Without the members of `other` and all that is below them.
    pub(crate) fn without(&self, other: &Self) -> Self {
        self.combined(|element, ours| match other.0.get(element) {
            None => Some(ours.clone()),
            Some(theirs) if theirs.is_member => None,
            Some(theirs) => {
                Some(Entry { is_member: ours.is_member, below: ours.below.without(&theirs.below) })
            }
        })
    }

    fn combined(&self, combine: impl Fn(&Element, &Entry) -> Option<Entry>) -> Self {
        let entries = self.0.iter().filter_map(|(element, entry)| {
            let entry = combine(element, entry).filter(|entry| !entry.is_empty())?;
            Some((element.clone(), entry))
        });
        Self(entries.collect())
    }

    /// With every declared field on the way to a member, which sets leave out as a rule.
    pub(crate) fn with_named_fields(&self, schema: Schema<'_>) -> Self {
        let entries = self.0.iter().map(|(element, entry)| {
            let (declared, next) = match element {
                Element::Field(name) => {
                    let member = schema.member(name);
                    (member.is_declared(), member.schema())
                }
                Element::Key(_) => (false, Some(schema.item())),
                Element::Value(_) | Element::Index(_) => (false, None),
            };
            let is_member = entry.is_member || (declared && !entry.below.is_empty());
            let below = next.map_or_else(|| entry.below.clone(), |next| entry.below.with_named_fields(next));
            (element.clone(), Entry { is_member, below })
        });
        Self(entries.collect())
    }

    /// All members, in order.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.collect(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect(&self, prefix: &mut Path, paths: &mut Vec<Path>) {
        // The members of a level come before what is below any of them.
        for (element, _) in self.0.iter().filter(|(_, entry)| entry.is_member) {
            prefix.push(element.clone());
            paths.push(prefix.clone());
            prefix.pop();
        }
        for (element, entry) in &self.0 {
            prefix.push(element.clone());
            entry.below.collect(prefix, paths);
            prefix.pop();
        }
    }

    /// As `fieldsV1`.
    pub(crate) fn to_value(&self) -> Value {
        let entry = |(element, entry): (&Element, &Entry)| {
            let mut below = entry.below.to_value();
            if entry.is_member && !entry.below.is_empty() {
                below[SELF] = json!({});
            }
            (element.to_text(), below)
        };
        Value::Object(self.0.iter().map(entry).collect::<Map<_, _>>())
    }

    /// Reads `fieldsV1`; `None` when it is none. Its depth is that of a request's body, which is bounded.
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        let mut set = Self::default();
        for (text, below) in value.as_object()? {
            if text == SELF {
                continue;
            }
            // What a later server writes is passed over.
            let Some(element) = Element::parse(text) else { continue };
            let fields = below.as_object()?;
            let is_member = fields.is_empty() || fields.contains_key(SELF);
            set.0.insert(element, Entry { is_member, below: Self::from_value(below)? });
        }
        Some(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(value: Value) -> Set {
        Set::from_value(&value).unwrap()
    }

    #[test]
    fn a_set_is_read_and_written_as_it_is() {
        let value = json!({ "f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
            "f:spec": { "f:l": { "k:{\"name\":\"a\",\"port\":80}": { ".": {}, "f:x": {} }, "v:\"one\"": {} } } });
        assert_eq!(set(value.clone()).to_value(), value);
        assert!(Set::from_value(&json!({ "f:a": 1 })).is_none());
        assert_eq!(set(json!({ "x": {}, "k:[]": {} })), Set::default());
    }

    #[test]
    fn a_difference_leaves_what_is_below_and_the_recursive_one_does_not() {
        let all = set(json!({ "f:a": { ".": {}, "f:b": {} }, "f:c": {} }));
        let gone = set(json!({ "f:a": {} }));
        assert_eq!(all.difference(&gone).to_value(), json!({ "f:a": { "f:b": {} }, "f:c": {} }));
        assert_eq!(all.without(&gone).to_value(), json!({ "f:c": {} }));
        assert_eq!(all.intersection(&gone).to_value(), json!({ "f:a": {} }));
        assert_eq!(gone.union(&all), all);
    }
}
