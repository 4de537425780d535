//! What the owner of a field has to know of its type: whether it is owned as a whole, and by which keys the items of
//! a list are known. One view on the types of the built-in kinds and on the schemas of custom resources.

use serde_json::Value;

use super::super::schema::{ListOf, Owned};
use super::super::types::{self, Field, Plain, Relation, Shape};
use super::element::{Element, Scalar};

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Schema<'s> {
    /// Of a built-in kind: its shape, and the field that says how it is owned.
    Known(&'s Shape, Option<&'s Field>),
    /// Of a custom resource.
    Custom(Owned<'s>),
    /// Told by the value: objects are owned by field, lists as a whole.
    Deduced,
    /// The same, but objects are owned as a whole, too.
    Opaque,
}

/// What a value is walked as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Map,
    Scalar,
    List,
}

/// What a type knows of a field's name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Member<'s> {
    Declared(Schema<'s>),
    /// An entry of a map.
    Entry(Schema<'s>),
    Unknown,
}

impl<'s> Member<'s> {
    pub(crate) fn schema(self) -> Option<Schema<'s>> {
        match self {
            Self::Declared(schema) | Self::Entry(schema) => Some(schema),
            Self::Unknown => None,
        }
    }

    pub(crate) fn is_declared(self) -> bool {
        matches!(self, Self::Declared(_))
    }
}

/// The values that a scalar may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowed {
    Number,
    Text,
    Bool,
    Any,
}

impl<'s> Schema<'s> {
    /// The object of a built-in kind.
    pub(crate) fn built_in(group: &str, kind: &str) -> Self {
        // A kind without a type would be one that the table of types lacks, which its own test rules out.
        types::of_kind(group, kind).map_or(Schema::Deduced, |of| Schema::Known(&of.shape, None))
    }

    /// What a value is walked as: what it is, where the type lets it be that.
    pub(crate) fn kind(self, value: &Value) -> Kind {
        let wanted = match value {
            Value::Object(_) => Some(Kind::Map),
            Value::Array(_) => Some(Kind::List),
            Value::Null => None,
            _ => Some(Kind::Scalar),
        };
        match self {
            Self::Known(shape, _) => match shape {
                Shape::List(_) => Kind::List,
                Shape::Map(_) | Shape::Named(_) => Kind::Map,
                Shape::Plain(Plain::Fields) | Shape::Any => wanted.unwrap_or(Kind::Map),
                Shape::Plain(_) => Kind::Scalar,
            },
            Self::Custom(node) => node.kind().unwrap_or(wanted.unwrap_or(Kind::Map)),
            Self::Deduced | Self::Opaque => wanted.unwrap_or(Kind::Map),
        }
    }

    /// True for a list or a map that has one owner.
    pub(crate) fn is_atomic(self, kind: Kind) -> bool {
        match (self, kind) {
            (_, Kind::Scalar) | (Self::Opaque, _) | (Self::Deduced, Kind::List) => true,
            (Self::Deduced, Kind::Map) => false,
            (Self::Known(shape, field), Kind::Map) => {
                let named =
                    matches!(shape, Shape::Named(name) if types::named(name).is_some_and(|of| of.is_atomic));
                named
                    || matches!(shape, Shape::Any | Shape::Plain(_))
                    || field.is_some_and(|field| field.list == Relation::Atomic)
            }
            (Self::Known(_, field), Kind::List) => {
                field.is_none_or(|field| matches!(field.list, Relation::Usual | Relation::Atomic))
            }
            (Self::Custom(node), Kind::Map) => node.is_atomic_map(),
            (Self::Custom(node), Kind::List) => node.list() == ListOf::Whole,
        }
    }

    /// The type of a field or of a map's entry.
    pub(crate) fn member(self, name: &str) -> Member<'s> {
        match self {
            Self::Known(Shape::Named(of), _) => match types::named(of).and_then(|of| of.field(name)) {
                Some(field) => Member::Declared(Schema::Known(&field.value, Some(field))),
                None => Member::Unknown,
            },
            Self::Known(Shape::Map(inner), _) => Member::Entry(Schema::Known(inner, None)),
            Self::Known(..) | Self::Opaque => Member::Entry(Schema::Opaque),
            Self::Deduced => Member::Entry(Schema::Deduced),
            Self::Custom(node) => node.member(name),
        }
    }

    /// The type of a list's items.
    pub(crate) fn item(self) -> Self {
        match self {
            Self::Known(Shape::List(inner), _) => Schema::Known(inner, None),
            Self::Known(..) | Self::Deduced | Self::Opaque => Schema::Opaque,
            Self::Custom(node) => node.item(),
        }
    }

    /// What a scalar may be.
    pub(crate) fn allowed(self) -> Allowed {
        match self {
            Self::Known(Shape::Plain(plain), _) => match plain {
                Plain::Text | Plain::Bytes => Allowed::Text,
                Plain::Bool => Allowed::Bool,
                Plain::Number(_) => Allowed::Number,
                Plain::Time | Plain::MicroTime | Plain::Quantity | Plain::NumberOrText | Plain::Fields => {
                    Allowed::Any
                }
            },
            Self::Custom(node) => node.allowed(),
            Self::Known(..) | Self::Deduced | Self::Opaque => Allowed::Any,
        }
    }

    /// The step that leads to an item of a list whose items have owners of their own.
    pub(crate) fn element(self, item: &Value) -> Result<Element, String> {
        let keys: Vec<String> = match self {
            Self::Known(_, Some(field)) => match &field.list {
                Relation::Keyed(keys) => keys.iter().map(|&key| key.to_owned()).collect(),
                Relation::Set => Vec::new(),
                Relation::Usual | Relation::Atomic => {
                    return Err("invalid indexing of non-associative list".into());
                }
            },
            Self::Custom(node) => match node.list() {
                ListOf::Keyed => node.list_keys().to_vec(),
                ListOf::Set => Vec::new(),
                ListOf::Whole => return Err("invalid indexing of non-associative list".into()),
            },
            _ => return Err("invalid indexing of non-associative list".into()),
        };
        if keys.is_empty() {
            return set_element(item);
        }
        let Some(fields) = item.as_object() else {
            let what = if item.is_null() { "a null element" } else { "non-map elements" };
            return Err(format!("associative list with keys may not have {what}"));
        };
        let item_type = self.item();
        let mut found = Vec::new();
        for key in &keys {
            if let Some(value) = fields.get(key).cloned().or_else(|| item_type.default_of(key)) {
                found.push((key.clone(), Scalar(value)));
            }
        }
        if found.is_empty() {
            let names = keys.iter().map(|key| format!("{key:?}")).collect::<Vec<_>>().join(" ");
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{names}] \
                 (and doesn't have default values for any key fields)"
            ));
        }
        found.sort();
        Ok(Element::Key(found))
    }

    fn default_of(self, key: &str) -> Option<Value> {
        match self.member(key) {
            Member::Declared(Self::Known(_, Some(field))) => field.default.clone(),
            Member::Declared(Self::Custom(node)) => node.default().cloned(),
            _ => None,
        }
    }
}

fn set_element(item: &Value) -> Result<Element, String> {
    match item {
        Value::Object(_) => Err("associative list without keys has an element that's a map type".into()),
        Value::Array(_) => Err("not supported: associative list with lists as elements".into()),
        Value::Null => Err("associative list without keys has an element that's an explicit null".into()),
        plain => Ok(Element::Value(Scalar(plain.clone()))),
    }
}
