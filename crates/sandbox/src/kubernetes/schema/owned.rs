//! A schema as the owner of a field sees it: `x-kubernetes-list-type`, `x-kubernetes-map-type` and what is declared.
//! Leaves ownership itself to `ownership`.

use serde_json::Value;

use super::super::ownership::schema::{Allowed, Kind, Member, Schema};
use super::super::types;
use super::CompiledSchema;
use super::node::{Additional, JsonType, ListType, Node};

/// How the items of a list are owned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListOf {
    Whole,
    Set,
    Keyed,
}

/// A node, and what it has from those above it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owned<'s> {
    node: &'s Node,
    keeps_unknown: bool,
    is_root: bool,
}

impl CompiledSchema {
    /// The schema for questions of ownership.
    pub(crate) fn owned(&self) -> Schema<'_> {
        let keeps_unknown = self.root.preserve_unknown;
        Schema::Custom(Owned { node: &self.root, keeps_unknown, is_root: true })
    }
}

impl<'s> Owned<'s> {
    fn below(self, node: &'s Node) -> Schema<'s> {
        let keeps_unknown = self.keeps_unknown || node.preserve_unknown;
        Schema::Custom(Self { node, keeps_unknown, is_root: false })
    }

    /// What a value is walked as; nothing where the schema lets it be anything.
    pub(crate) fn kind(self) -> Option<Kind> {
        self.node.json_type.map(|of| match of {
            JsonType::Object => Kind::Map,
            JsonType::Array => Kind::List,
            JsonType::String | JsonType::Integer | JsonType::Number | JsonType::Boolean => Kind::Scalar,
        })
    }

    pub(crate) fn allowed(self) -> Allowed {
        match self.node.json_type {
            Some(JsonType::Integer | JsonType::Number) => Allowed::Number,
            Some(JsonType::Boolean) => Allowed::Bool,
            Some(JsonType::String) if self.node.format.is_none() => Allowed::Text,
            _ => Allowed::Any,
        }
    }

    pub(crate) fn is_atomic_map(self) -> bool {
        self.node.atomic_map
    }

    pub(crate) fn list(self) -> ListOf {
        match self.node.list_type {
            Some(ListType::Map) => ListOf::Keyed,
            Some(ListType::Set) => ListOf::Set,
            Some(ListType::Atomic) | None => ListOf::Whole,
        }
    }

    pub(crate) fn list_keys(self) -> &'s [String] {
        &self.node.list_map_keys
    }

    pub(crate) fn default(self) -> Option<&'s Value> {
        self.node.default.as_ref()
    }

    pub(crate) fn item(self) -> Schema<'s> {
        self.node.items.as_deref().map_or(Schema::Opaque, |items| self.below(items))
    }

    pub(crate) fn member(self, name: &str) -> Member<'s> {
        if self.is_root {
            match name {
                "apiVersion" | "kind" => return Member::Declared(Schema::Known(&types::TEXT, None)),
                "metadata" => {
                    if let Some(of) = types::named("meta.ObjectMeta") {
                        return Member::Declared(Schema::Known(&of.shape, None));
                    }
                }
                _ => {}
            }
        }
        if let Some(property) = self.node.properties.get(name) {
            return Member::Declared(self.below(&property.node));
        }
        match &self.node.additional {
            Some(Additional::Schema(node)) => Member::Entry(self.below(node)),
            Some(Additional::Unknown) => Member::Entry(Schema::Deduced),
            None if self.keeps_unknown || self.node.properties.is_empty() => Member::Entry(Schema::Deduced),
            Some(Additional::Denied) | None => Member::Unknown,
        }
    }
}
