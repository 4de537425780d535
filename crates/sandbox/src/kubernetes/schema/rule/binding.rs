//! What a rule sees as `self` and `oldSelf`: JSON with its schema as a CEL value, after `UnstructuredToVal`
//! of k8s.io/apiserver. Null fields count as absent; fields the schema does not know cannot be named but
//! take part in comparisons and sizes; numbers, dates, durations and bytes go by the schema.

use std::sync::{Arc, LazyLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::parser::{Expression, Parser};
use kube_cel::cel::{Context, Value};
use serde_json::Value as Json;

use super::super::correlation::item_with_keys_of;
use super::super::node::{Additional, JsonType, ListType, Node};
use super::super::validation::EXACT_FLOAT_MAX;
use super::function::FUNCTIONS;

/// In front of the name of an unknown field. No rule can write it, as CEL names are letters and digits.
const UNNAMEABLE: char = '\0';

/// The object metadata rules can read.
const METADATA_FIELDS: [&str; 2] = ["name", "generateName"];

/// Whether a value is a resource, whose kind and metadata rules see whatever its schema says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Resource,
    Below,
}

impl Place {
    /// The place of a value below the root of the object.
    pub(super) fn of(node: &Node) -> Self {
        if node.embedded_resource { Self::Resource } else { Self::Below }
    }
}

/// Converts a value. The items of its sets and keyed lists are put in the order of `twin`, the value it will
/// be compared with, where they occur there: on the server such lists are equal in any order.
pub(super) fn bind(node: &Node, value: &Json, twin: Option<&Json>, place: Place) -> Value {
    match value {
        Json::Object(fields) if is_map(node) => {
            let schema = node.value_schema();
            let entries = fields.iter().map(|(name, value)| {
                let twin = twin.and_then(|twin| twin.get(name));
                let bound = schema.map_or(Value::Null, |schema| bind(schema, value, twin, Place::of(schema)));
                (Key::String(Arc::new(name.clone())), bound)
            });
            map(entries)
        }
        Json::Object(fields) => bind_object(node, fields, twin, place),
        Json::Array(items) => {
            let schema = node.items.as_deref();
            let ordered = in_order_of(node, items, twin);
            let bound = ordered.into_iter().map(|(item, twin)| match schema {
                Some(schema) => bind(schema, item, twin, Place::of(schema)),
                None => opaque(item),
            });
            Value::List(Arc::new(bound.collect()))
        }
        Json::String(text) => bind_text(node, text),
        Json::Number(number) => match (node.json_type, number.as_i64()) {
            (Some(JsonType::Number), _) | (_, None) => bind_float(node, number.as_f64().unwrap_or(f64::NAN)),
            (_, Some(integer)) => Value::Int(integer),
        },
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Null => Value::Null,
    }
}

fn is_map(node: &Node) -> bool {
    node.properties.is_empty() && matches!(node.additional, Some(Additional::Schema(_)))
}

/// A map value. `cel` keeps these in hash maps, so that macros over maps see the keys in any order, as they
/// do on the server; only a message made from all keys of a map could show it.
fn map(entries: impl IntoIterator<Item = (Key, Value)>) -> Value {
    Value::Map(Map { map: Arc::new(entries.into_iter().collect()) })
}

fn bind_object(
    node: &Node,
    fields: &serde_json::Map<String, Json>,
    twin: Option<&Json>,
    place: Place,
) -> Value {
    let mut entries = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        if value.is_null() {
            continue;
        }
        let is_meta = place == Place::Resource && matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
        match node.properties.get(name) {
            _ if is_meta => {
                entries.push((Key::String(Arc::new(name.clone())), bind_meta(value)));
            }
            Some(property) => {
                if let Some(cel_name) = &property.cel_name {
                    let twin = twin.and_then(|twin| twin.get(name));
                    let bound = bind(&property.node, value, twin, Place::of(&property.node));
                    entries.push((Key::String(Arc::clone(cel_name)), bound));
                }
            }
            None => {
                entries.push((Key::String(Arc::new(format!("{UNNAMEABLE}{name}"))), opaque(value)));
            }
        }
    }
    map(entries)
}

fn bind_meta(value: &Json) -> Value {
    let Json::Object(fields) = value else { return opaque_text(value) };
    let named = METADATA_FIELDS.into_iter().filter_map(|name| {
        let text = fields.get(name)?.as_str()?;
        Some((Key::String(Arc::new(name.to_owned())), Value::String(Arc::new(text.to_owned()))))
    });
    map(named)
}

/// A value no rule can look into: as its text it still compares.
fn opaque(value: &Json) -> Value {
    match value {
        Json::Null => Value::Null,
        other => Value::String(Arc::new(other.to_string())),
    }
}

fn opaque_text(value: &Json) -> Value {
    match value {
        Json::String(text) => Value::String(Arc::new(text.clone())),
        other => opaque(other),
    }
}

fn bind_float(node: &Node, float: f64) -> Value {
    // 5.0 is an integer to the validator, so it has to be one to the rules.
    if node.json_type == Some(JsonType::Integer) && float.fract() == 0.0 && float.abs() <= EXACT_FLOAT_MAX {
        return Value::Int(float as i64);
    }
    Value::Float(float)
}

fn bind_text(node: &Node, text: &str) -> Value {
    let plain = || Value::String(Arc::new(text.to_owned()));
    if node.json_type != Some(JsonType::String) {
        return plain();
    }
    let bound = match node.format.as_deref() {
        Some("date-time") => call(TIMESTAMP.as_ref(), text.to_owned()),
        Some("date") => call(TIMESTAMP.as_ref(), format!("{text}T00:00:00Z")),
        Some("duration") => call(DURATION.as_ref(), text.to_owned()),
        Some("byte") => STANDARD.decode(text).ok().map(|bytes| Value::Bytes(Arc::new(bytes))),
        _ => None,
    };
    bound.unwrap_or_else(plain)
}

/// The conversions of `cel` itself, by its own functions: its values carry types of another crate.
static TIMESTAMP: LazyLock<Option<Expression>> =
    LazyLock::new(|| Parser::new().parse("timestamp(text)").ok());
static DURATION: LazyLock<Option<Expression>> = LazyLock::new(|| Parser::new().parse("duration(text)").ok());

fn call(conversion: Option<&Expression>, text: String) -> Option<Value> {
    let mut context: Context<'_> = FUNCTIONS.new_inner_scope();
    context.add_variable_from_value("text", text);
    Value::resolve(conversion?, &context).ok()
}

/// The items with their twins: in their own order, or in the order of the twin list first.
fn in_order_of<'v>(
    node: &Node,
    items: &'v [Json],
    twin: Option<&'v Json>,
) -> Vec<(&'v Json, Option<&'v Json>)> {
    let twins = twin.and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let partner = |item: &Json, twin: &Json| match node.list_type {
        Some(ListType::Set) => item == twin,
        Some(ListType::Map) => {
            node.list_map_keys.iter().all(|key| item.get(key.as_str()) == twin.get(key.as_str()))
        }
        Some(ListType::Atomic) | None => false,
    };
    let by_position = || items.iter().enumerate().map(|(index, item)| (item, twins.get(index))).collect();
    match (node.list_type, twin) {
        (Some(ListType::Set | ListType::Map), Some(twin_list)) => {
            let known = twins
                .iter()
                .filter_map(|twin| Some((items.iter().find(|item| partner(item, twin))?, Some(twin))));
            let is_new = |item: &&Json| match node.list_type {
                Some(ListType::Map) => item_with_keys_of(node, item, twin_list).is_none(),
                _ => !twins.contains(*item),
            };
            let new = items.iter().filter(is_new).map(|item| (item, None));
            let ordered: Vec<_> = known.chain(new).collect();
            // Repeated items, which only an object from before the list had its type can have, stay put.
            if ordered.len() == items.len() { ordered } else { by_position() }
        }
        _ => by_position(),
    }
}
