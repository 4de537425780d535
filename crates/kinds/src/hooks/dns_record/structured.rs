//! Reading what a user wrote for a record type with parts (CAA, SRV): `spec.data`, or `spec.content` as zone files
//! write it. Which parts a type has, and their bounds, is for the type's module.

use serde_json::Value;

use crate::hooks::member::{self, invalid};
use crate::table::Invalid;

/// The parts of a record as a user wrote them.
pub(super) struct Written {
    data: Value,
    /// The spec field they stand in; what is wrong with a part is told there.
    field: &'static str,
}

impl Written {
    /// The parts of a spec: `shape` names them for who left them out, `parts` takes a content apart.
    pub(super) fn read(spec: &Value, shape: &str, parts: fn(&str) -> Option<Value>) -> Result<Self, Invalid> {
        let content = member::text(spec, "content");
        match (member::present(spec, "data"), content) {
            (Some(data), "") if data.is_object() => Ok(Self { data: data.clone(), field: "data" }),
            (Some(_), "") => Err(invalid("data", format!("must be {shape}"))),
            (Some(_), _) => {
                Err(invalid("content", "cannot stand beside data, which says the same; remove one"))
            }
            (None, "") => Err(invalid("data", format!("is missing; this type needs {shape}"))),
            (None, content) => match parts(content) {
                Some(data) => Ok(Self { data, field: "content" }),
                None => Err(invalid("content", format!("cannot be read; use data instead, {shape}"))),
            },
        }
    }

    /// Takes a part that is not there from the top level of the spec, where Cloudflare shows it too.
    pub(super) fn or_top_level(mut self, part: &str, spec: &Value) -> Self {
        if member::present(&self.data, part).is_none()
            && let (Some(data), Some(value)) = (self.data.as_object_mut(), member::present(spec, part))
        {
            data.insert(part.to_owned(), value.clone());
        }
        self
    }

    /// A part that is a number up to `most`.
    pub(super) fn number(&self, part: &str, most: u64) -> Result<u64, Invalid> {
        let value = member::present(&self.data, part)
            .ok_or_else(|| self.invalid(part, format!("is missing; write a number from 0 to {most}")))?;
        member::count(value)
            .filter(|number| *number <= most)
            .ok_or_else(|| self.invalid(part, format!("is no number from 0 to {most}")))
    }

    /// A part that is a text and not empty.
    pub(super) fn text(&self, part: &str) -> Result<&str, Invalid> {
        match member::text(&self.data, part) {
            "" => Err(self.invalid(part, "is missing; write it as text")),
            text => Ok(text),
        }
    }

    /// What is wrong with a part, told at the place where the user wrote it.
    pub(super) fn invalid(&self, part: &str, problem: impl AsRef<str>) -> Invalid {
        let problem = problem.as_ref();
        match self.field {
            "data" => invalid(&format!("data.{part}"), problem),
            field => invalid(field, format!("its {part} {problem}")),
        }
    }
}
