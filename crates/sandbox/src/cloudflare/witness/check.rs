//! The walk through a value beside all schemas that it must fit: those of both sources, and of each what it refers to and
//! which of its alternatives is meant. Only together do they know all fields of an object.

use serde_json::{Map, Value};

use super::facts::FACTS;
use super::misfit::{Flaw, Misfit, Place, Side, says};
use super::schema::{Branch, Id, Kind, Schema};

/// A walk. What it finds is in `found`.
#[derive(Debug)]
pub(super) struct Check<'a> {
    operation: &'a str,
    side: Side,
    pointer: String,
    pub(super) found: Vec<Misfit>,
}

impl<'a> Check<'a> {
    pub(super) fn new(operation: &'a str, side: Side) -> Self {
        Self { operation, side, pointer: String::new(), found: Vec::new() }
    }

    /// Nobody says anything about this operation or status.
    pub(super) fn no_facts(&mut self) {
        self.note(Flaw::Unheard, "facts of it", "none");
    }

    /// A part of a request, which must have facts.
    pub(super) fn part(&mut self, part: &str, value: &Value, schemas: &[Id]) {
        let is_empty = value.as_object().is_some_and(Map::is_empty);
        self.below(part, |check| {
            if !schemas.is_empty() {
                check.value(value, schemas);
            } else if part != "path" && !is_empty {
                check.note(Flaw::Unheard, "nothing", value);
            }
        });
    }

    pub(super) fn missing(&mut self, part: &str) {
        self.below(part, |check| check.note(Flaw::Missing, "something", "nothing"));
    }

    fn note(&mut self, flaw: Flaw, expected: impl std::fmt::Display, got: impl std::fmt::Display) {
        self.found.push(Misfit::new(self.place(), flaw, expected, got));
    }

    fn place(&self) -> Place<'_> {
        Place { operation: self.operation, side: self.side, pointer: &self.pointer }
    }

    fn below(&mut self, name: &str, look: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
        look(self);
        self.pointer.truncate(length);
    }

    /// A value and every schema that it must fit.
    pub(super) fn value(&mut self, value: &Value, schemas: &[Id]) {
        let parts = self.meant(value, schemas);
        for part in &parts {
            self.own(value, FACTS.schemas.get(*part));
        }
        match value {
            Value::Object(members) => self.object(members, &parts),
            Value::Array(items) => {
                let schemas: Vec<Id> =
                    parts.iter().filter_map(|part| FACTS.schemas.get(*part).items).collect();
                for (at, item) in items.iter().enumerate().filter(|_| !schemas.is_empty()) {
                    self.below(&at.to_string(), |check| check.value(item, &schemas));
                }
            }
            _ => {}
        }
    }

    /// The schemas, what must fit with them, and of each choice the branch that is meant. A schema of which no branch can be
    /// meant says nothing more: it does not know this sort of value.
    fn meant(&mut self, value: &Value, schemas: &[Id]) -> Vec<Id> {
        let mut parts = FACTS.schemas.parts(schemas);
        let mut strange = Vec::new();
        let mut at = 0;
        while let Some(part) = parts.get(at).copied() {
            let schema = FACTS.schemas.get(part);
            for branches in &schema.choices {
                match self.choose(value, branches, schema) {
                    Some(branch) => {
                        let more = FACTS.schemas.parts(&[branch]).into_iter();
                        let new: Vec<Id> = more.filter(|id| !parts.contains(id)).collect();
                        parts.extend(new);
                    }
                    None => strange.push(part),
                }
            }
            at += 1;
        }
        parts.retain(|part| !strange.contains(part));
        parts
    }

    /// The branch that fits, else the one from which the value differs least.
    fn choose(&mut self, value: &Value, branches: &[Branch], schema: &Schema) -> Option<Id> {
        let fitting: Vec<&Branch> =
            branches.iter().filter(|branch| branch.contradiction(value).is_none()).collect();
        let Some(first) = fitting.first() else {
            let name = branches.iter().find_map(|branch| branch.contradiction(value))?;
            let got = value.get(name).unwrap_or(&Value::Null);
            let expected = says(schema.source, "the value of one of the alternatives");
            self.below(name, |check| check.note(Flaw::Enum, expected, got));
            return None;
        };
        if fitting.len() == 1 {
            return Some(first.schema);
        }
        let misfits = |branch: &&&Branch| {
            let mut trial = Check::new(self.operation, self.side);
            trial.value(value, &[branch.schema]);
            trial.found.len()
        };
        fitting.iter().min_by_key(misfits).map(|branch| branch.schema)
    }

    /// What one schema says of the value itself.
    fn own(&mut self, value: &Value, schema: &Schema) {
        let says = |what: String| says(schema.source, what);
        if !schema.types.is_empty() && !schema.types.iter().any(|kind| kind.fits(value)) {
            let types: Vec<&str> = schema.types.iter().copied().map(Kind::name).collect();
            let flaw = if value.is_null() { Flaw::Null } else { Flaw::Type };
            return self.note(flaw, says(types.join(" or ")), value);
        }
        if let Some(values) = &schema.values
            && !values.contains(value)
        {
            let flaw = if value.is_null() { Flaw::Null } else { Flaw::Enum };
            let values: Vec<String> = values.iter().map(Value::to_string).collect();
            return self.note(flaw, says(format!("one of {}", values.join(", "))), value);
        }
        if let Some(number) = value.as_f64() {
            self.bound(number, schema.range, schema, "", value);
        }
        if let Some(text) = value.as_str() {
            self.bound(text.chars().count(), schema.length, schema, " characters", value);
            let pattern = schema.pattern.as_ref().filter(|pattern| !pattern.is_match(text));
            if let Some(pattern) = pattern {
                self.note(Flaw::Form, says(format!("what matches {pattern}")), value);
            }
            if let Some(format) = schema.format.filter(|format| !format.fits(text)) {
                self.note(Flaw::Form, says(format!("a {}", format.name())), value);
            }
        }
        if let Some(items) = value.as_array() {
            self.bound(items.len(), schema.count, schema, " items", value);
        }
    }

    fn bound<T: PartialOrd + std::fmt::Display>(
        &mut self,
        size: T,
        (least, most): (Option<T>, Option<T>),
        schema: &Schema,
        unit: &str,
        value: &Value,
    ) {
        if let Some(least) = least.filter(|least| size < *least) {
            self.note(Flaw::Bound, says(schema.source, format!("at least {least}{unit}")), value);
        }
        if let Some(most) = most.filter(|most| size > *most) {
            self.note(Flaw::Bound, says(schema.source, format!("at most {most}{unit}")), value);
        }
    }

    fn object(&mut self, members: &Map<String, Value>, parts: &[Id]) {
        let is_request = self.side == Side::Request;
        for part in parts {
            let schema = FACTS.schemas.get(*part);
            for name in schema.required.iter().filter(|name| !members.contains_key(*name)) {
                let known = known(name, parts);
                let is_elsewhere = FACTS.schemas.parts(&known).into_iter().any(|id| {
                    let schema = FACTS.schemas.get(id);
                    if is_request { schema.is_read_only } else { schema.is_write_only }
                });
                if !is_elsewhere {
                    let expected = says(schema.source, "the field");
                    self.below(name, |check| check.note(Flaw::Missing, expected, "nothing"));
                }
            }
        }
        let closed = parts
            .iter()
            .map(|part| FACTS.schemas.get(*part))
            .any(|schema| !schema.properties.is_empty() && !schema.is_open);
        for (name, value) in members {
            let schemas = known(name, parts);
            if schemas.is_empty() {
                if closed {
                    self.below(name, |check| {
                        let misfit = Misfit::new(check.place(), Flaw::Unknown, "no such field", value);
                        check.found.push(misfit.of(members));
                    });
                }
                continue;
            }
            let readers = FACTS.schemas.parts(&schemas);
            let reader =
                readers.into_iter().map(|id| FACTS.schemas.get(id)).find(|schema| schema.is_read_only);
            if let Some(schema) = reader.filter(|_| is_request) {
                let expected = says(schema.source, "no field that only answers have");
                self.below(name, |check| check.note(Flaw::ReadOnly, expected, value));
            }
            self.below(name, |check| check.value(value, &schemas));
        }
    }
}

/// What the schemas say of a field.
fn known(name: &str, parts: &[Id]) -> Vec<Id> {
    let of = |part: &Id| {
        let schema = FACTS.schemas.get(*part);
        schema.properties.get(name).or(schema.additional.as_ref()).copied()
    };
    parts.iter().filter_map(of).collect()
}
