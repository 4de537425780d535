//! Records with parts, whatever their type: as Cloudflare answers them (`data`, composed `content`, and a priority at
//! the top level), all of which are one record, and as users write them (`spec.data`, or `spec.content` as zone files
//! have it). Which parts a type has is for its layout.

use serde_json::{Map, Value};

use super::layout::{self, Layout};
use crate::hooks::member::{self, invalid};
use crate::table::Invalid;

/// The `data` that says what the record is, in the form that is compared; the text of a record that cannot be read, so
/// that it equals none that can. When `data` and `content` disagree, as answers were seen to do (case B055), `data`
/// counts.
pub(super) fn canonical(layout: &Layout, wire: &Value) -> Option<Value> {
    let content = member::text(wire, "content");
    let data = member::present(wire, "data");
    // Parts of other types may stand there (case B053); only with the type's own mark is it ours.
    let is_own = |data: &&Value| layout.mark().is_some_and(|mark| !member::text(data, mark.name).is_empty());
    match (data.filter(is_own), data, content) {
        (Some(own), _, _) => Some(canonical_data(layout, own, wire)),
        (None, Some(data), "") if data.is_object() => Some(canonical_data(layout, data, wire)),
        (None, data, "") => data.cloned(),
        (None, _, content) => Some(match layout.read(content) {
            Some(data) => canonical_data(layout, &data, wire),
            None => content.into(),
        }),
    }
}

fn canonical_data(layout: &Layout, data: &Value, wire: &Value) -> Value {
    let parts = layout.parts.iter().map(|part| {
        // Cloudflare shows the priority of an SRV at the top level too, and its content leaves it out.
        let is_above = part.name == "priority" && member::present(data, part.name).is_none();
        (part.name.to_owned(), part.canonical(if is_above { wire } else { data }))
    });
    Value::Object(parts.collect())
}

/// A user's record as `data` to send: the type's parts, every one of them, and nothing else (case B053).
pub(super) fn outgoing(layout: &Layout, spec: &Value, zone: &str) -> Result<Value, Invalid> {
    let written = Written::read(layout, spec)?;
    let mut data = Map::new();
    for part in layout.parts {
        let value =
            part.outgoing(&written.data, zone).map_err(|problem| written.invalid(part.name, &problem))?;
        data.insert(part.name.to_owned(), value);
    }
    Ok(Value::Object(data))
}

/// A canonical record as it is told apart from others of its name and type.
pub(super) fn rendered(layout: &Layout, data: &Value) -> String {
    if !data.is_object() {
        return member::rendered(Some(data));
    }
    let parts: Vec<String> = layout.parts.iter().map(|part| part.rendered(data)).collect();
    parts.join(" ").trim_end().to_owned()
}

/// Least bytes of a canonical record in wire format.
pub(super) fn wire_bytes(layout: &Layout, data: &Value) -> usize {
    layout.parts.iter().map(|part| part.wire_bytes(data)).sum()
}

/// The parts of a record as a user wrote them.
struct Written {
    data: Value,
    /// The spec field they stand in; what is wrong with a part is told there.
    field: &'static str,
}

impl Written {
    fn read(layout: &Layout, spec: &Value) -> Result<Self, Invalid> {
        let shape = || format!("an object with {}", layout.names());
        let (data, field) = match (member::present(spec, "data"), member::text(spec, "content")) {
            (Some(data), "") if data.is_object() => (data.clone(), "data"),
            (Some(_), "") => return Err(invalid("data", format!("must be {}", shape()))),
            (Some(_), _) => {
                return Err(invalid("content", "cannot stand beside data, which says the same; remove one"));
            }
            (None, "") => {
                return Err(invalid("data", format!("is missing; this type needs {}", shape())));
            }
            (None, content) => {
                let problem = || format!("cannot be read; use data instead, {}", shape());
                (layout.read(content).ok_or_else(|| invalid("content", problem()))?, "content")
            }
        };
        // Parts of other types are dropped, as people copy them from answers; what no type has is a slip.
        let unknown = data.as_object().and_then(|data| data.keys().find(|name| !layout::is_known_part(name)));
        if let Some(unknown) = unknown {
            let problem = format!("is no part of any record; this type has {}", layout.names());
            return Err(invalid(&format!("data.{unknown}"), problem));
        }
        Ok(Self { data, field }.with_priority(layout, spec))
    }

    // Takes a priority that is not there from the top level of the spec, where Cloudflare shows it too.
    fn with_priority(mut self, layout: &Layout, spec: &Value) -> Self {
        if layout.part("priority").is_some()
            && member::present(&self.data, "priority").is_none()
            && let (Some(data), Some(value)) = (self.data.as_object_mut(), member::present(spec, "priority"))
        {
            data.insert("priority".to_owned(), value.clone());
        }
        self
    }

    fn invalid(&self, part: &str, problem: &str) -> Invalid {
        match self.field {
            "data" => invalid(&format!("data.{part}"), problem),
            field => invalid(field, format!("its {part} {problem}")),
        }
    }
}
