//! A record in the form in which equal means "Cloudflare treats them as one": from Cloudflare's object or from our
//! own body, whatever its members hold.

use serde_json::{Map, Value};

use super::{RecordType, address, encoding, settings, structured, target, text};
use crate::hooks::{domain_name, member};
use crate::table::Parents;

/// `ttl: 1` means that Cloudflare chooses; it stores nothing else for proxied records, and 1 when none is given.
pub(super) const TTL_AUTOMATIC: u64 = 1;

/// See [`crate::table::Hooks::canonical`].
pub(super) fn canonical(wire: &Value, _parents: &Parents<'_>) -> Value {
    let record_type = RecordType::of(wire);
    let proxied = record_type.is_none_or(RecordType::can_be_proxied)
        && wire.get("proxied").and_then(Value::as_bool).unwrap_or_default();
    let ttl = if proxied { Value::from(TTL_AUTOMATIC) } else { member::number(wire, "ttl", TTL_AUTOMATIC) };

    let mut record = Map::new();
    record.insert("type".to_owned(), member::text(wire, "type").into());
    record.insert("name".to_owned(), domain_name::canonical(member::text(wire, "name")).into());
    record.insert("ttl".to_owned(), ttl);
    record.insert("proxied".to_owned(), proxied.into());
    record.insert("comment".to_owned(), comment(wire));
    record.insert("tags".to_owned(), tags(wire).into());
    record.extend(settings::canonical(wire).map(|settings| ("settings".to_owned(), settings.into())));
    // No field of a spec, but a record that has it is another one than kflare makes.
    record.extend(
        wire.get("private_routing")
            .filter(|on| **on == Value::Bool(true))
            .map(|on| ("private_routing".to_owned(), on.clone())),
    );
    record.extend(value(record_type, wire));
    if record_type.is_some_and(RecordType::has_priority) {
        record.insert("priority".to_owned(), member::number(wire, "priority", 0));
    }
    Value::Object(record)
}

// The member that says what the record is: data where the type has parts, else content. Members of other types are
// ignored (case B053).
fn value(record_type: Option<RecordType>, wire: &Value) -> Option<(String, Value)> {
    let content = member::text(wire, "content");
    if let Some(layout) = record_type.and_then(RecordType::layout) {
        return Some(("data".to_owned(), structured::canonical(layout, wire)?));
    }
    let (name, value) = match record_type {
        Some(RecordType::A) => ("content", address::canonical_v4(content).into()),
        Some(RecordType::Aaaa) => ("content", address::canonical_v6(content).into()),
        Some(RecordType::Cname | RecordType::Mx | RecordType::Ns | RecordType::Ptr) => {
            ("content", target::canonical(content).into())
        }
        Some(RecordType::Txt) => ("content", text::canonical(content).into()),
        Some(RecordType::Openpgpkey) => ("content", encoding::canonical_base64(content).into()),
        None if content.is_empty() => ("data", member::present(wire, "data")?.clone()),
        Some(_) | None => ("content", content.into()),
    };
    Some((name.to_owned(), value))
}

// An empty comment is stored as none.
fn comment(wire: &Value) -> Value {
    match member::text(wire, "comment") {
        "" => Value::Null,
        comment => comment.into(),
    }
}

// A set: returned sorted, names whatever their case.
fn tags(wire: &Value) -> Vec<String> {
    let written = wire.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut tags: Vec<String> = written
        .map(|tag| match tag.split_once(':') {
            Some((name, value)) => format!("{}:{value}", name.to_ascii_lowercase()),
            None => tag.to_ascii_lowercase(),
        })
        .collect();
    tags.sort();
    tags.dedup();
    tags
}
