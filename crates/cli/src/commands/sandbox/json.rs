//! JSON as programs print it: values one after another in one text, each with its line, within the bounds of `yaml`.
//! What a value means, and in which file it stands, is left to `manifest`.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Deserializer, Map, Value};

use super::yaml::{DEPTH_MAX, Fault, NODES_MAX, too_deep, too_many, twice};

/// A value's text with the line of its first character, from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'t> {
    pub(super) line: usize,
    pub(super) text: &'t str,
}

/// How far a text that is not all JSON could be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken {
    /// Whole values that stand before the fault.
    pub(super) values: usize,
    pub(super) fault: Fault,
}

/// Parts a text into its values.
pub(super) fn split(text: &str) -> Result<Vec<Part<'_>>, Broken> {
    let mut stream = Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let mut parts = Vec::new();
    let (mut counted, mut line) = (0, 1);
    loop {
        let before = stream.byte_offset();
        match stream.next() {
            None => return Ok(parts),
            Some(Err(error)) => {
                return Err(Broken { values: parts.len(), fault: fault(&error, "not JSON: ") });
            }
            Some(Ok(IgnoredAny)) => {
                let read = text.get(before..stream.byte_offset()).unwrap_or_default();
                let start = before + read.len() - read.trim_start().len();
                line += text.get(counted..start).unwrap_or_default().matches('\n').count();
                counted = start;
                parts.push(Part { line, text: read.trim() });
            }
        }
    }
}

/// Reads one value. A key that stands twice is a mistake, as in YAML, and not two values of which one counts.
pub(super) fn parse(text: &str) -> Result<Value, Fault> {
    let left = Cell::new(NODES_MAX);
    let seed = Bounded { left: &left, depth: 0 };
    seed.deserialize(&mut Deserializer::from_str(text)).map_err(|error| fault(&error, ""))
}

/// The library adds the line of its text, the caller names one of the file.
fn fault(error: &serde_json::Error, before: &str) -> Fault {
    let text = error.to_string();
    let said = text.rsplit_once(" at line ").map_or(text.as_str(), |(said, _)| said);
    Fault { line: Some(error.line()).filter(|line| *line > 0), said: format!("{before}{said}") }
}

/// A value within the bounds.
#[derive(Clone, Copy)]
struct Bounded<'c> {
    /// Values and keys that may still come.
    left: &'c Cell<usize>,
    depth: usize,
}

impl Bounded<'_> {
    fn count<E: serde::de::Error>(self) -> Result<(), E> {
        let left = self.left.get().checked_sub(1).ok_or_else(|| E::custom(too_many()))?;
        self.left.set(left);
        Ok(())
    }

    fn within<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth == DEPTH_MAX {
            return Err(E::custom(too_deep()));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let within = self.within()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(within)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let within = self.within()?;
        let mut map = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            self.count()?;
            if map.contains_key(&key) {
                return Err(A::Error::custom(twice(Some(&key))));
            }
            map.insert(key, fields.next_value_seed(within)?);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_know_their_lines() {
        let parts = split("\n{\"a\":\n1}\n\n{\"b\": 2} {\"c\": 3}").unwrap();
        let seen: Vec<_> = parts.iter().map(|part| (part.line, part.text)).collect();
        assert_eq!(seen, [(2, "{\"a\":\n1}"), (5, "{\"b\": 2}"), (5, "{\"c\": 3}")]);
    }

    #[test]
    fn a_fault_knows_what_stands_before_it() {
        let broken = split("{\"a\": 1}\n{\"b\": [2}\n").unwrap_err();
        assert_eq!((broken.values, broken.fault.line), (1, Some(2)));
        assert_eq!(broken.fault.said, "not JSON: expected `,` or `]`");
    }

    #[test]
    fn what_json_can_say_is_read_within_bounds() {
        let text = "{\t\"a\": [1, -2, 0.5, true, null, \"\\ud83d\\ude00\\/\"]}";
        assert_eq!(parse(text).unwrap(), json!({"a": [1, -2, 0.5, true, null, "😀/"]}));
        let twice = parse("{\"a\": {\"b\": 1,\n\"b\": 2}}").unwrap_err();
        assert_eq!(twice.line, Some(2));
        assert_eq!(twice.said, r#"the key "b" stands twice in one mapping: remove one of them"#);
        let deep = format!("{}{}", "[".repeat(DEPTH_MAX + 1), "]".repeat(DEPTH_MAX + 1));
        assert!(parse(&deep).unwrap_err().said.starts_with("nested more than 64 levels deep"));
        let long = format!("[{}0]", "0,".repeat(NODES_MAX));
        assert!(parse(&long).unwrap_err().said.starts_with("one document with more than"));
    }
}
