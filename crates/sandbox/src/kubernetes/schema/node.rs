//! A node of a structural schema in the form the pipeline runs on, and how it is read from the JSON of a
//! CustomResourceDefinition. That the schema is structural is checked before (`structure`, `keyword`);
//! here only the types of the keywords are.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::cause::Cause;
use super::format;
use super::path::Path;
use super::pattern::Pattern;
use super::rule::escaping::escape;
use super::rule::{Rule, RuleSource};

/// What a value must satisfy, and what the server does with it.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) json_type: Option<JsonType>,
    /// The format, when the server checks it for this type; others are ignored.
    pub(super) format: Option<String>,
    pub(super) nullable: bool,
    pub(super) default: Option<Value>,
    pub(super) int_or_string: bool,
    pub(super) preserve_unknown: bool,
    pub(super) embedded_resource: bool,
    pub(super) list_type: Option<ListType>,
    pub(super) list_map_keys: Vec<String>,
    /// `x-kubernetes-map-type: atomic`: one manager owns it as a whole.
    pub(super) atomic_map: bool,
    pub(super) properties: BTreeMap<String, Property>,
    pub(super) additional: Option<Additional>,
    pub(super) items: Option<Box<Node>>,
    pub(super) required: Vec<String>,
    pub(super) limits: Limits,
    pub(super) choices: Choices,
    /// The rules as written, until they are compiled against the finished node.
    pub(super) rule_sources: Vec<RuleSource>,
    pub(super) rules: Vec<Rule>,
    /// Whether this node or one below has rules: the others need no walk.
    pub(super) has_rules: bool,
}

/// A field of an object.
#[derive(Debug)]
pub(super) struct Property {
    pub(super) node: Node,
    /// The name under which rules know the field; none when it cannot be written in CEL.
    pub(super) cel_name: Option<Arc<String>>,
}

/// What an object holds beside its declared fields.
#[derive(Debug)]
pub(super) enum Additional {
    /// `additionalProperties: true`: allowed, with nothing known about them.
    Unknown,
    /// `additionalProperties: false`.
    Denied,
    /// Values of one schema.
    Schema(Box<Node>),
}

/// The types of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonType {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl JsonType {
    /// The types, as the schema spells them.
    pub(super) const ALL: [Self; 6] =
        [Self::Array, Self::Boolean, Self::Integer, Self::Number, Self::Object, Self::String];

    /// The name in a schema.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    /// The type of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}

/// How the items of a list relate (`x-kubernetes-list-type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListType {
    Atomic,
    Set,
    Map,
}

/// The bounds a value must keep.
#[derive(Debug, Default)]
pub(super) struct Limits {
    pub(super) maximum: Option<f64>,
    pub(super) exclusive_maximum: bool,
    pub(super) minimum: Option<f64>,
    pub(super) exclusive_minimum: bool,
    pub(super) multiple_of: Option<f64>,
    pub(super) max_length: Option<u64>,
    pub(super) min_length: Option<u64>,
    pub(super) pattern: Option<Pattern>,
    pub(super) max_items: Option<u64>,
    pub(super) min_items: Option<u64>,
    pub(super) max_properties: Option<u64>,
    pub(super) min_properties: Option<u64>,
    pub(super) enumeration: Vec<Value>,
}

/// The junctors.
#[derive(Debug, Default)]
pub(super) struct Choices {
    pub(super) all_of: Vec<Node>,
    pub(super) any_of: Vec<Node>,
    pub(super) one_of: Vec<Node>,
    pub(super) not: Option<Box<Node>>,
}

impl Choices {
    /// Whether there are any.
    pub(super) fn is_empty(&self) -> bool {
        self.all_of.is_empty() && self.any_of.is_empty() && self.one_of.is_empty() && self.not.is_none()
    }
}

impl Node {
    /// Reads a schema; what has the wrong type is reported and left out.
    pub(super) fn read(schema: &Value, path: &Path<'_>, causes: &mut Vec<Cause>) -> Self {
        let Value::Object(fields) = schema else {
            causes.push(Cause::invalid(path.bracketed(), schema, "must be a schema object"));
            return Self::default();
        };
        let mut reader = Reader { fields, path, causes };
        let int_or_string = reader.flag("x-kubernetes-int-or-string");
        let json_type = reader.text("type").and_then(JsonType::named);
        let format =
            reader.text("format").filter(|name| format::is_checked(json_type, name)).map(str::to_owned);
        let mut node = Self {
            json_type,
            format,
            nullable: reader.flag("nullable"),
            default: fields.get("default").cloned(),
            int_or_string,
            preserve_unknown: reader.flag("x-kubernetes-preserve-unknown-fields"),
            embedded_resource: reader.flag("x-kubernetes-embedded-resource"),
            list_type: reader.text("x-kubernetes-list-type").and_then(|name| match name {
                "atomic" => Some(ListType::Atomic),
                "set" => Some(ListType::Set),
                "map" => Some(ListType::Map),
                _ => None,
            }),
            list_map_keys: reader.texts("x-kubernetes-list-map-keys"),
            atomic_map: reader.text("x-kubernetes-map-type") == Some("atomic"),
            properties: reader.properties(),
            additional: reader.additional(),
            items: reader.child("items"),
            required: reader.texts("required"),
            limits: reader.limits(),
            choices: Choices {
                all_of: reader.children("allOf"),
                any_of: reader.children("anyOf"),
                one_of: reader.children("oneOf"),
                not: reader.child("not"),
            },
            rule_sources: reader.rules(),
            rules: Vec::new(),
            has_rules: false,
        };
        node.has_rules = !node.rule_sources.is_empty() || node.below().any(|below| below.has_rules);
        node
    }

    /// The schema of the named field or map value.
    pub(super) fn member(&self, name: &str) -> Option<&Node> {
        match self.properties.get(name) {
            Some(property) => Some(&property.node),
            None => self.value_schema(),
        }
    }

    /// The schema of the values of a map.
    pub(super) fn value_schema(&self) -> Option<&Node> {
        match &self.additional {
            Some(Additional::Schema(node)) => Some(node),
            Some(Additional::Unknown | Additional::Denied) | None => None,
        }
    }

    /// The fields, the items and the map values: the structural children.
    pub(super) fn below(&self) -> impl Iterator<Item = &Node> {
        let properties = self.properties.values().map(|property| &property.node);
        properties.chain(self.items.as_deref()).chain(self.value_schema())
    }

    /// The type name in messages about rules; nothing for a value of any type.
    pub(super) fn type_name(&self) -> &'static str {
        self.json_type.map_or("", JsonType::as_str)
    }
}

/// The keywords of one schema object.
struct Reader<'a> {
    fields: &'a Map<String, Value>,
    path: &'a Path<'a>,
    causes: &'a mut Vec<Cause>,
}

impl<'a> Reader<'a> {
    /// A keyword, unless it is absent, null or of the wrong type, which is reported.
    fn get<T>(&mut self, name: &str, kind: &str, read: impl Fn(&'a Value) -> Option<T>) -> Option<T> {
        let value = self.fields.get(name).filter(|value| !value.is_null())?;
        let found = read(value);
        if found.is_none() {
            let detail = format!("must be {kind}");
            self.causes.push(Cause::invalid(self.path.field(name).bracketed(), value, &detail));
        }
        found
    }

    fn flag(&mut self, name: &str) -> bool {
        self.get(name, "a boolean", Value::as_bool).unwrap_or(false)
    }

    fn text(&mut self, name: &str) -> Option<&'a str> {
        self.get(name, "a string", Value::as_str)
    }

    fn number(&mut self, name: &str) -> Option<f64> {
        self.get(name, "a number", Value::as_f64)
    }

    fn count(&mut self, name: &str) -> Option<u64> {
        self.get(name, "a non-negative integer", Value::as_u64)
    }

    fn list(&mut self, name: &str) -> &'a [Value] {
        self.get(name, "a list", Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn texts(&mut self, name: &str) -> Vec<String> {
        self.list(name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn child(&mut self, name: &str) -> Option<Box<Node>> {
        let value = self.fields.get(name).filter(|value| !value.is_null())?;
        Some(Box::new(Node::read(value, &self.path.field(name), self.causes)))
    }

    fn children(&mut self, name: &str) -> Vec<Node> {
        let place = self.path.field(name);
        let list = self.list(name);
        list.iter()
            .enumerate()
            .map(|(index, one)| Node::read(one, &place.index(index), self.causes))
            .collect()
    }

    fn properties(&mut self) -> BTreeMap<String, Property> {
        let place = self.path.field("properties");
        let Some(fields) = self.get("properties", "an object of schemas", Value::as_object) else {
            return BTreeMap::new();
        };
        let read = |(name, schema): (&String, &Value)| {
            let node = Node::read(schema, &place.key(name), self.causes);
            (name.clone(), Property { node, cel_name: escape(name).map(Arc::new) })
        };
        fields.iter().map(read).collect()
    }

    fn additional(&mut self) -> Option<Additional> {
        match self.fields.get("additionalProperties")? {
            Value::Null => None,
            Value::Bool(true) => Some(Additional::Unknown),
            Value::Bool(false) => Some(Additional::Denied),
            schema => {
                let place = self.path.field("additionalProperties");
                Some(Additional::Schema(Box::new(Node::read(schema, &place, self.causes))))
            }
        }
    }

    fn limits(&mut self) -> Limits {
        Limits {
            maximum: self.number("maximum"),
            exclusive_maximum: self.flag("exclusiveMaximum"),
            minimum: self.number("minimum"),
            exclusive_minimum: self.flag("exclusiveMinimum"),
            multiple_of: self.number("multipleOf"),
            max_length: self.count("maxLength"),
            min_length: self.count("minLength"),
            pattern: self.pattern(),
            max_items: self.count("maxItems"),
            min_items: self.count("minItems"),
            max_properties: self.count("maxProperties"),
            min_properties: self.count("minProperties"),
            enumeration: self.list("enum").to_vec(),
        }
    }

    fn pattern(&mut self) -> Option<Pattern> {
        let source = self.text("pattern").filter(|source| !source.is_empty())?;
        match Pattern::compile(source) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let field = self.path.field("pattern").bracketed();
                let detail = format!("must be a valid regular expression, but isn't: {error}");
                self.causes.push(Cause::invalid_text(field, source, &detail));
                None
            }
        }
    }

    fn rules(&mut self) -> Vec<RuleSource> {
        let place = self.path.field("x-kubernetes-validations");
        let list = self.list("x-kubernetes-validations");
        let mut rules = Vec::with_capacity(list.len());
        for (index, value) in list.iter().enumerate() {
            match serde_json::from_value(value.clone()) {
                Ok(rule) => rules.push(rule),
                Err(error) => {
                    let field = place.index(index).bracketed();
                    self.causes.push(Cause::invalid(field, value, &error.to_string()));
                }
            }
        }
        rules
    }
}
