//! The members of JSON objects as Go's encoding/json finds them: without regard to case, `null` as if it were not
//! there, unknown ones left alone, and types as strict as Go's.

use serde_json::{Map, Value};

use super::refusal::{Cause, Expected, Place, Refusal};

/// An object and where it stands.
pub(super) struct Members<'a> {
    place: Place,
    /// None for `null`, which says nothing.
    map: Option<&'a Map<String, Value>>,
}

impl<'a> Members<'a> {
    pub(super) fn read(value: &'a Value, place: Place) -> Result<Self, Refusal> {
        match value {
            Value::Null => Ok(Self { place, map: None }),
            Value::Object(map) => Ok(Self { place, map: Some(map) }),
            _ => Err(place.refuse(Cause::Type(Expected::Object))),
        }
    }

    pub(super) fn place(&self, name: &str) -> Place {
        self.place.below(name)
    }

    /// The member that Go reads into a field.
    pub(super) fn get(&self, name: &str) -> Result<Option<&'a Value>, Refusal> {
        let mut found: Option<(&str, &Value)> = None;
        for (key, value) in self.map.into_iter().flatten().filter(|(key, _)| same_field(key, name)) {
            if let Some((other, _)) = found {
                return Err(self.place(name).refuse(Cause::SameField(other.to_owned(), key.clone())));
            }
            found = Some((key, value));
        }
        Ok(found.map(|(_, value)| value).filter(|value| !value.is_null()))
    }

    pub(super) fn object(&self, name: &str) -> Result<Option<Self>, Refusal> {
        self.get(name)?.map(|value| Self::read(value, self.place(name))).transpose()
    }

    pub(super) fn list(&self, name: &str) -> Result<&'a [Value], Refusal> {
        match self.get(name)? {
            None => Ok(&[]),
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(self.wrong(name, Expected::List)),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        self.typed(name, Expected::Text, Value::as_str)
    }

    pub(super) fn boolean(&self, name: &str) -> Result<Option<bool>, Refusal> {
        self.typed(name, Expected::Boolean, Value::as_bool)
    }

    pub(super) fn integer(&self, name: &str, expected: Expected) -> Result<Option<i64>, Refusal> {
        self.typed(name, expected, Value::as_i64)
    }

    pub(super) fn natural(&self, name: &str) -> Result<Option<u64>, Refusal> {
        self.typed(name, Expected::Natural, Value::as_u64)
    }

    fn typed<T>(
        &self,
        name: &str,
        expected: Expected,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.wrong(name, expected))
    }

    fn wrong(&self, name: &str, expected: Expected) -> Refusal {
        self.place(name).refuse(Cause::Type(expected))
    }
}

/// Go folds names by Unicode: `ſ` is an `s`, and the Kelvin sign a `k`.
fn same_field(key: &str, name: &str) -> bool {
    let folded = |c: char| match c {
        '\u{17F}' => 's',
        '\u{212A}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    key.chars().map(folded).eq(name.chars().map(folded))
}
