//! One schema, ready to be asked: the keywords that the facts use, and no other. A keyword that is not here fails to load,
//! so that none is passed over in silence.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::facts::{Source, Unusable};
use super::format::Format;

/// The place of a schema among all.
pub(super) type Id = usize;

/// A schema as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct Written {
    #[serde(rename = "$ref")]
    reference: Option<String>,
    #[serde(rename = "type")]
    types: Option<Types>,
    #[serde(rename = "enum")]
    values: Option<Vec<Value>>,
    properties: BTreeMap<String, Self>,
    required: Vec<String>,
    additional_properties: Option<Additional>,
    items: Option<Box<Self>>,
    all_of: Vec<Self>,
    any_of: Vec<Self>,
    one_of: Vec<Self>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    min_length: Option<usize>,
    max_length: Option<usize>,
    min_items: Option<usize>,
    max_items: Option<usize>,
    pattern: Option<String>,
    format: Option<Format>,
    read_only: bool,
    write_only: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Types {
    One(Kind),
    Some(Vec<Kind>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Additional {
    Any(bool),
    Of(Box<Written>),
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    pub(super) fn fits(self, value: &Value) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            Self::Number => value.is_number(),
            Self::String => value.is_string(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

/// A schema.
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) source: Source,
    reference: Option<String>,
    /// What must fit too: what it refers to and every member of `allOf`.
    pub(super) also: Vec<Id>,
    /// Of each group one must fit.
    pub(super) choices: Vec<Vec<Branch>>,
    /// Empty: any.
    pub(super) types: Vec<Kind>,
    pub(super) values: Option<Vec<Value>>,
    pub(super) properties: BTreeMap<String, Id>,
    pub(super) required: Vec<String>,
    /// What further fields must fit, where the source says so; else a schema with properties knows no further ones.
    pub(super) additional: Option<Id>,
    pub(super) is_open: bool,
    pub(super) items: Option<Id>,
    pub(super) range: (Option<f64>, Option<f64>),
    pub(super) length: (Option<usize>, Option<usize>),
    pub(super) count: (Option<usize>, Option<usize>),
    pub(super) pattern: Option<Regex>,
    pub(super) format: Option<Format>,
    pub(super) is_read_only: bool,
    pub(super) is_write_only: bool,
}

/// One schema of a choice, and the fields that tell at once whether it is meant: `type` of a record.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) schema: Id,
    pub(super) marks: Vec<(String, Vec<Value>)>,
}

impl Branch {
    /// The field that shows that another branch is meant.
    pub(super) fn contradiction(&self, value: &Value) -> Option<&str> {
        let differs =
            |name: &str, values: &[Value]| value.get(name).is_some_and(|value| !values.contains(value));
        self.marks.iter().find(|(name, values)| differs(name, values)).map(|(name, _)| name.as_str())
    }
}

/// All schemas of all sources.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    all: Vec<Schema>,
    named: BTreeMap<(Source, String), Id>,
}

impl Schemas {
    pub(super) fn get(&self, id: Id) -> &Schema {
        &self.all[id]
    }

    /// Takes a schema in, with all that stand in it.
    pub(super) fn add(&mut self, source: Source, written: Written) -> Result<Id, Unusable> {
        let mut also = Vec::new();
        for part in written.all_of {
            also.push(self.add(source, part)?);
        }
        let mut choices = Vec::new();
        for group in [written.any_of, written.one_of].into_iter().filter(|group| !group.is_empty()) {
            let mut branches = Vec::new();
            for part in group {
                branches.push(Branch { schema: self.add(source, part)?, marks: Vec::new() });
            }
            choices.push(branches);
        }
        let mut properties = BTreeMap::new();
        for (name, part) in written.properties {
            properties.insert(name, self.add(source, part)?);
        }
        let (additional, is_open) = match written.additional_properties {
            Some(Additional::Of(part)) => (Some(self.add(source, *part)?), true),
            Some(Additional::Any(any)) => (None, any),
            None => (None, false),
        };
        let items = written.items.map(|part| self.add(source, *part)).transpose()?;
        let pattern = written.pattern.map(|pattern| Regex::new(&pattern)).transpose();
        self.all.push(Schema {
            source,
            reference: written.reference,
            also,
            choices,
            types: match written.types {
                None => Vec::new(),
                Some(Types::One(kind)) => vec![kind],
                Some(Types::Some(kinds)) => kinds,
            },
            values: written.values,
            properties,
            required: written.required,
            additional,
            is_open,
            items,
            range: (written.minimum, written.maximum),
            length: (written.min_length, written.max_length),
            count: (written.min_items, written.max_items),
            pattern: pattern.map_err(Box::new)?,
            format: written.format,
            is_read_only: written.read_only,
            is_write_only: written.write_only,
        });
        Ok(self.all.len() - 1)
    }

    /// Gives a schema the name that others call it by.
    pub(super) fn name(&mut self, source: Source, name: String, id: Id) {
        self.named.insert((source, name), id);
    }

    /// Finds what is referred to, and what tells the branches of each choice apart. After all are in.
    pub(super) fn link(&mut self) -> Result<(), Unusable> {
        for id in 0..self.all.len() {
            let schema = &self.all[id];
            let Some(path) = &schema.reference else { continue };
            let name = path.strip_prefix("#/schemas/").unwrap_or(path);
            let target = self.named.get(&(schema.source, name.to_owned()));
            let target = *target.ok_or_else(|| Unusable::Reference(path.clone()))?;
            self.all[id].also.push(target);
        }
        for id in 0..self.all.len() {
            for group in 0..self.all[id].choices.len() {
                for branch in 0..self.all[id].choices[group].len() {
                    let marks = self.marks(self.all[id].choices[group][branch].schema);
                    self.all[id].choices[group][branch].marks = marks;
                }
            }
        }
        Ok(())
    }

    /// The fields of which a schema takes only some values.
    fn marks(&self, id: Id) -> Vec<(String, Vec<Value>)> {
        let mut marks = Vec::new();
        for part in self.parts(&[id]) {
            for (name, property) in &self.get(part).properties {
                marks.extend(self.get(*property).values.clone().map(|values| (name.clone(), values)));
            }
        }
        marks
    }

    /// These schemas and all that must fit with them, choices aside.
    pub(super) fn parts(&self, ids: &[Id]) -> Vec<Id> {
        let mut parts: Vec<Id> = Vec::new();
        let mut open: Vec<Id> = ids.iter().rev().copied().collect();
        while let Some(id) = open.pop() {
            if !parts.contains(&id) {
                parts.push(id);
                open.extend(self.get(id).also.iter().rev());
            }
        }
        parts
    }
}
