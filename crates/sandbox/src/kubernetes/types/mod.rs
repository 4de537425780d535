//! The types of the built-in kinds: which fields they have, and by which rules lists and maps merge. Read from the
//! texts beside this file, once. Leaves defaults and validation to `kinds`.
//!
//! A text has packages, `[core io.k8s.api.core.v1]`; in each, types at the start of a line; below each, its fields:
//! name, type, and words: `required`, `always` (what Go writes although it is empty), `atomic`, `set`, `keys=a,b` (how a
//! list or a map is owned), `patch=merge`, `merge-key=a` (how a strategic merge patch changes it), `enum=A|B`,
//! `default="x"`.

pub(crate) mod decoding;
mod time;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

const TEXTS: [&str; 4] = [
    include_str!("core.txt"),
    include_str!("pod.txt"),
    include_str!("volume.txt"),
    include_str!("groups.txt"),
];

/// A type with fields.
#[derive(Debug)]
pub(crate) struct Type {
    /// `core.PodSpec`.
    pub(crate) name: &'static str,
    /// `io.k8s.api.core.v1.PodSpec`.
    pub(crate) full_name: String,
    /// Owned as a whole.
    pub(crate) is_atomic: bool,
    /// The shape of a value of this type, to be borrowed.
    pub(crate) shape: Shape,
    pub(crate) fields: Vec<Field>,
}

impl Type {
    /// An object of this type that nobody has set anything in.
    pub(crate) fn empty(&self) -> Value {
        let fields = self.fields.iter().filter_map(|field| match field.value {
            Shape::Named(name) if field.is_always => Some((field.name.to_owned(), named(name)?.empty())),
            // A list that is not left out when it is empty.
            Shape::List(_) | Shape::Map(_) if field.is_required || field.is_always => {
                Some((field.name.to_owned(), Value::Null))
            }
            _ => None,
        });
        Value::Object(fields.collect())
    }

    /// The field of that name.
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        let at = self.fields.binary_search_by(|field| field.name.cmp(name)).ok()?;
        self.fields.get(at)
    }
}

/// A field of a type.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) value: Shape,
    pub(crate) is_required: bool,
    /// There in every object, empty or not.
    pub(crate) is_always: bool,
    pub(crate) list: Relation,
    pub(crate) patch: Strategy,
    /// By which the items of a list are known to a strategic merge patch.
    pub(crate) merge_key: Option<&'static str>,
    pub(crate) choices: Vec<&'static str>,
    pub(crate) default: Option<Value>,
}

/// What a value looks like.
#[derive(Debug)]
pub(crate) enum Shape {
    Plain(Plain),
    /// Of any shape.
    Any,
    List(Box<Shape>),
    Map(Box<Shape>),
    Named(&'static str),
}

/// The values that hold no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    Text,
    Bytes,
    Time,
    MicroTime,
    Bool,
    /// With the format of the published schema: `int32`, `int64`, `double`.
    Number(&'static str),
    Quantity,
    NumberOrText,
    /// `metav1.FieldsV1`.
    Fields,
}

/// How the items of a list, or the entries of a map, are owned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Relation {
    /// As the shape has it: lists as a whole, maps and objects by entry.
    #[default]
    Usual,
    Atomic,
    Set,
    Keyed(Vec<&'static str>),
}

/// What a strategic merge patch does to a field (`patchStrategy` of the Go types).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Strategy {
    pub(crate) merges: bool,
    pub(crate) retains_keys: bool,
}

static TYPES: LazyLock<BTreeMap<&'static str, Type>> =
    LazyLock::new(|| TEXTS.into_iter().flat_map(read).collect());

/// The shape of `apiVersion`, to be borrowed.
pub(crate) static TEXT: Shape = Shape::Plain(Plain::Text);

/// The type of that name.
pub(crate) fn named(name: &str) -> Option<&'static Type> {
    TYPES.get(name)
}

/// The type of a kind that the server knows by itself, in one of the groups that serve it.
pub(crate) fn of_kind(group: &str, kind: &str) -> Option<&'static Type> {
    let package = if group.is_empty() { "core" } else { group.split('.').next().unwrap_or_default() };
    named(&format!("{package}.{kind}"))
}

fn read(text: &'static str) -> Vec<(&'static str, Type)> {
    let mut found: Vec<(&'static str, Type)> = Vec::new();
    let (mut package, mut full) = ("", "");
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(head) = line.strip_prefix('[') {
            (package, full) = head.trim_end_matches(']').split_once(' ').unwrap_or_default();
        } else if let Some(field) = line.strip_prefix("  ") {
            if let Some((_, last)) = found.last_mut() {
                last.fields.push(read_field(field));
            }
        } else {
            let (name, words) = line.split_once(' ').unwrap_or((line, ""));
            let qualified: &'static str = String::leak(format!("{package}.{name}"));
            let full_name = format!("{full}.{name}");
            let is_atomic = words == "atomic";
            let shape = Shape::Named(qualified);
            found
                .push((qualified, Type { name: qualified, full_name, is_atomic, shape, fields: Vec::new() }));
        }
    }
    found
}

fn read_field(line: &'static str) -> Field {
    let mut words = line.split(' ');
    let name = words.next().unwrap_or_default();
    let mut first = words.next().unwrap_or_default();
    let mut shape: Vec<&'static str> = Vec::new();
    // `map []string` is the one shape of two words.
    while first == "map" {
        shape.push(first);
        first = words.next().unwrap_or_default();
    }
    shape.push(first);
    let mut field = Field {
        name,
        value: read_shape(&shape),
        is_required: false,
        is_always: false,
        list: Relation::Usual,
        patch: Strategy::default(),
        merge_key: None,
        choices: Vec::new(),
        default: None,
    };
    for word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("required", _) => field.is_required = true,
            ("always", _) => field.is_always = true,
            ("atomic", _) => field.list = Relation::Atomic,
            ("set", _) => field.list = Relation::Set,
            ("keys", keys) => field.list = Relation::Keyed(keys.split(',').collect()),
            ("patch", strategy) => {
                field.patch.merges = strategy.split(',').any(|one| one == "merge");
                field.patch.retains_keys = strategy.split(',').any(|one| one == "retainKeys");
            }
            ("merge-key", key) => field.merge_key = Some(key),
            ("enum", choices) => field.choices = choices.split('|').collect(),
            ("default", value) => field.default = serde_json::from_str(value).ok(),
            _ => {}
        }
    }
    field
}

fn read_shape(words: &[&'static str]) -> Shape {
    let [word, rest @ ..] = words else { return Shape::Any };
    if *word == "map" {
        return Shape::Map(Box::new(read_shape(rest)));
    }
    if let Some(item) = word.strip_prefix("[]") {
        return Shape::List(Box::new(read_shape(&[item])));
    }
    match *word {
        "string" => Shape::Plain(Plain::Text),
        "bytes" => Shape::Plain(Plain::Bytes),
        "time" => Shape::Plain(Plain::Time),
        "micro-time" => Shape::Plain(Plain::MicroTime),
        "bool" => Shape::Plain(Plain::Bool),
        "int32" | "int64" | "double" => Shape::Plain(Plain::Number(word)),
        "quantity" => Shape::Plain(Plain::Quantity),
        "int-or-string" => Shape::Plain(Plain::NumberOrText),
        "fields" => Shape::Plain(Plain::Fields),
        "any" => Shape::Any,
        name => Shape::Named(name),
    }
}

#[cfg(test)]
mod tests {
    use super::super::builtins;
    use super::*;

    #[test]
    fn every_built_in_kind_has_a_type_and_every_name_leads_to_one() {
        let registry = builtins::registry();
        for resource in registry.all() {
            for group in std::iter::once(&resource.group).chain(&resource.other_group) {
                assert!(of_kind(group, &resource.kind).is_some(), "{group} {}", resource.kind);
            }
        }
        for (name, of) in &*TYPES {
            assert!(of.fields.is_sorted_by_key(|field| field.name), "{name}");
            for field in &of.fields {
                let mut shape = &field.value;
                while let Shape::List(inner) | Shape::Map(inner) = shape {
                    shape = inner;
                }
                if let Shape::Named(wanted) = shape {
                    assert!(named(wanted).is_some(), "{name}.{}: {wanted}", field.name);
                }
            }
        }
    }

    #[test]
    fn an_empty_object_has_what_go_cannot_leave_out() {
        let empty = serde_json::json!({ "metadata": {}, "status": {},
            "spec": { "strategy": {}, "template": { "metadata": {}, "spec": { "containers": null } } } });
        assert_eq!(named("apps.Deployment").unwrap().empty(), empty);
    }

    #[test]
    fn the_rules_of_a_list_are_read() {
        let ports = named("core.Container").unwrap().field("ports").unwrap();
        assert_eq!(ports.list, Relation::Keyed(vec!["containerPort", "protocol"]));
        assert_eq!((ports.patch.merges, ports.merge_key), (true, Some("containerPort")));
        assert_eq!(
            named("core.ContainerPort").unwrap().field("protocol").unwrap().default,
            Some("TCP".into())
        );
        assert!(named("meta.LabelSelector").unwrap().is_atomic);
    }
}
