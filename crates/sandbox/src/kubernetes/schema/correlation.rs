//! Which old value belongs to a new one on an update, and whether a complaint may be let pass because the
//! value it is about did not change ("ratcheting", on since Kubernetes 1.33).

use serde_json::Value;

use super::node::{ListType, Node};

/// A new value and the old one it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Twins<'v> {
    new: &'v Value,
    old: &'v Value,
}

impl<'v> Twins<'v> {
    /// The whole objects of an update.
    pub(super) fn new(new: &'v Value, old: &'v Value) -> Self {
        Self { new, old }
    }

    /// Whether nothing changed here. Compared only when there is something to complain about.
    pub(super) fn are_equal(self) -> bool {
        self.new == self.old
    }

    /// The twins of a field or map value, where both have it and the schema knows it.
    pub(super) fn member(self, node: &Node, name: &str) -> Option<Self> {
        node.member(name)?;
        Some(Self { new: self.new.get(name)?, old: self.old.get(name)? })
    }

    /// The twins of a list item. Items of sets and of atomic lists have none; of a list without a type they
    /// go by position (`correlateOldValueForChildAtNewIndex`).
    pub(super) fn item(self, node: &Node, index: usize) -> Option<Self> {
        let new = self.new.get(index)?;
        let old = match node.list_type {
            Some(ListType::Map) => item_with_keys_of(node, new, self.old),
            Some(ListType::Set | ListType::Atomic) => None,
            None => self.old.get(index).filter(|old| !old.is_null()),
        }?;
        Some(Self { new, old })
    }
}

/// The nearest twins around a value: those of the value itself or of something that holds it. A complaint of
/// a rule passes when they are equal.
#[derive(Clone, Copy)]
pub(super) enum Nearest<'v> {
    /// The value itself has an old one.
    Own(Twins<'v>),
    /// Only something around it has.
    Around(Twins<'v>),
}

impl<'v> Nearest<'v> {
    /// Whether nothing changed within the nearest twins.
    pub(super) fn are_equal(self) -> bool {
        match self {
            Self::Own(twins) | Self::Around(twins) => twins.are_equal(),
        }
    }

    /// The nearest twins one level down, found by `find` if there are any.
    pub(super) fn below(self, find: impl FnOnce(Twins<'v>) -> Option<Twins<'v>>) -> Self {
        match self {
            Self::Own(twins) => find(twins).map_or(Self::Around(twins), Self::Own),
            Self::Around(_) => self,
        }
    }
}

/// The item of the old list that has the same keys, for lists of type map.
pub(super) fn item_with_keys_of<'v>(node: &Node, item: &Value, old: &'v Value) -> Option<&'v Value> {
    if node.list_type != Some(ListType::Map) || !item.is_object() {
        return None;
    }
    old.as_array()?.iter().find(|old| {
        old.is_object()
            && node.list_map_keys.iter().all(|key| old.get(key.as_str()) == item.get(key.as_str()))
    })
}
