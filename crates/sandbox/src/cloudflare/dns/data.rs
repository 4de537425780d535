//! The `data` objects: one table of fields per type, used to check `data`, to compose `content` from it, and
//! to read `data` from `content`. LOC has a text form of its own, left to `loc`.

use serde_json::{Map, Number, Value};

use super::kind::RecordType;
use super::name;
use super::refusal::DnsRefusal;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// An integer from 0.
    Integer(u64),
    /// The same, also accepted as a string (cloudflare API docs: CAA flags).
    IntegerOrText(u64),
    /// A number within bounds.
    Real(f64, f64),
    Text,
    /// A host name; `.` is one.
    Host,
    Hex,
    Base64,
    OneOf(&'static [&'static str]),
}

/// How a field stands in `content`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Word,
    Quoted,
    /// The rest of the line as it is.
    Rest,
    /// The rest of the line without spaces.
    Joined,
    /// Not in `content`: `priority` of the record.
    Priority,
}

/// One field of `data`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) place: Place,
    pub(super) required: bool,
}

const U8: Shape = Shape::Integer(255);
const U16: Shape = Shape::Integer(65_535);

const fn word(name: &'static str, shape: Shape) -> Spec {
    Spec { name, shape, place: Place::Word, required: true }
}

const fn placed(name: &'static str, shape: Shape, place: Place) -> Spec {
    Spec { name, shape, place, required: true }
}

const fn optional(name: &'static str, shape: Shape, place: Place) -> Spec {
    Spec { name, shape, place, required: false }
}

const ASSOCIATION: &[Spec] = &[
    word("usage", U8),
    word("selector", U8),
    word("matching_type", U8),
    placed("certificate", Shape::Hex, Place::Joined),
];
const SERVICE: &[Spec] =
    &[word("priority", U16), word("target", Shape::Host), optional("value", Shape::Text, Place::Rest)];
const MINUTES: Shape = Shape::Integer(59);
const SECONDS: Shape = Shape::Real(0.0, 59.999);
const METRES: Shape = Shape::Real(0.0, 90_000_000.0);
const CAA: &[Spec] = &[
    word("flags", Shape::IntegerOrText(255)),
    word("tag", Shape::Text),
    placed("value", Shape::Text, Place::Quoted),
];
const CERT: &[Spec] = &[
    word("type", U16),
    word("key_tag", U16),
    word("algorithm", U8),
    placed("certificate", Shape::Base64, Place::Joined),
];
const DNSKEY: &[Spec] = &[
    word("flags", U16),
    word("protocol", U8),
    word("algorithm", U8),
    placed("public_key", Shape::Base64, Place::Joined),
];
const DS: &[Spec] = &[
    word("key_tag", U16),
    word("algorithm", U8),
    word("digest_type", U8),
    placed("digest", Shape::Hex, Place::Joined),
];
const LOC: &[Spec] = &[
    word("lat_degrees", Shape::Integer(90)),
    optional("lat_minutes", MINUTES, Place::Word),
    optional("lat_seconds", SECONDS, Place::Word),
    word("lat_direction", Shape::OneOf(&["N", "S"])),
    word("long_degrees", Shape::Integer(180)),
    optional("long_minutes", MINUTES, Place::Word),
    optional("long_seconds", SECONDS, Place::Word),
    word("long_direction", Shape::OneOf(&["E", "W"])),
    optional("altitude", Shape::Real(-100_000.0, 42_849_672.95), Place::Word),
    optional("size", METRES, Place::Word),
    optional("precision_horz", METRES, Place::Word),
    optional("precision_vert", METRES, Place::Word),
];
const NAPTR: &[Spec] = &[
    word("order", U16),
    word("preference", U16),
    placed("flags", Shape::Text, Place::Quoted),
    placed("service", Shape::Text, Place::Quoted),
    placed("regex", Shape::Text, Place::Quoted),
    word("replacement", Shape::Host),
];
const SRV: &[Spec] = &[
    placed("priority", U16, Place::Priority),
    word("weight", U16),
    word("port", U16),
    word("target", Shape::Host),
];
const SSHFP: &[Spec] =
    &[word("algorithm", U8), word("type", U8), placed("fingerprint", Shape::Hex, Place::Joined)];
const URI: &[Spec] = &[word("weight", U16), placed("target", Shape::Text, Place::Quoted)];

/// The fields of a type (cloudflare API docs: `data` objects); none for types that have only `content`.
pub(super) const fn specs(kind: RecordType) -> &'static [Spec] {
    match kind {
        RecordType::Caa => CAA,
        RecordType::Cert => CERT,
        RecordType::Dnskey => DNSKEY,
        RecordType::Ds => DS,
        RecordType::Https | RecordType::Svcb => SERVICE,
        RecordType::Loc => LOC,
        RecordType::Naptr => NAPTR,
        RecordType::Smimea | RecordType::Tlsa => ASSOCIATION,
        RecordType::Srv => SRV,
        RecordType::Sshfp => SSHFP,
        RecordType::Uri => URI,
        RecordType::A
        | RecordType::Aaaa
        | RecordType::Cname
        | RecordType::Mx
        | RecordType::Ns
        | RecordType::Openpgpkey
        | RecordType::Ptr
        | RecordType::Txt => &[],
    }
}

/// Checks `data` and brings it to the stored form: this type's fields only, numbers as numbers.
pub(super) fn checked(
    kind: RecordType,
    given: &Map<String, Value>,
    lower: bool,
) -> Result<Map<String, Value>, DnsRefusal> {
    let mut stored = Map::new();
    for spec in specs(kind) {
        let value = match given.get(spec.name) {
            None | Some(Value::Null) if spec.required => {
                return Err(DnsRefusal::DataMissing { field: spec.name });
            }
            None | Some(Value::Null) => match spec.shape {
                Shape::Text => Value::from(""),
                _ => Value::from(0),
            },
            Some(value) => checked_value(spec, value, lower)?,
        };
        stored.insert(spec.name.to_owned(), value);
    }
    Ok(stored)
}

fn checked_value(spec: &Spec, value: &Value, lower: bool) -> Result<Value, DnsRefusal> {
    let wrong_type = || DnsRefusal::field(format!("data.{}", spec.name));
    let invalid = || DnsRefusal::body(format!("data.{} is invalid", spec.name));
    match spec.shape {
        Shape::Integer(max) => integer(value)
            .ok_or_else(wrong_type)
            .and_then(|number| number.filter(|number| *number <= max).map(Value::from).ok_or_else(invalid)),
        Shape::IntegerOrText(max) => {
            let parsed = value.as_str().and_then(|text| text.parse::<u64>().ok()).map(Value::from);
            let number = parsed.as_ref().unwrap_or(value);
            checked_value(&Spec { shape: Shape::Integer(max), ..*spec }, number, lower)
        }
        Shape::Real(min, max) => {
            let number = value.as_f64().ok_or_else(wrong_type)?;
            if (min..=max).contains(&number) { Ok(value.clone()) } else { Err(invalid()) }
        }
        _ => {
            let text = value.as_str().ok_or_else(wrong_type)?;
            checked_text(spec.shape, text, lower).map(Value::from).ok_or_else(invalid)
        }
    }
}

/// None: no number. `Some(None)`: a number that is negative or has a fraction.
fn integer(value: &Value) -> Option<Option<u64>> {
    let number = value.as_number()?;
    Some(number.as_u64().or_else(|| number.as_f64().and_then(whole)))
}

/// A float that is a whole number, such as `300.0`.
pub(super) fn whole(number: f64) -> Option<u64> {
    (number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0).then_some(number as u64)
}

fn checked_text(shape: Shape, text: &str, lower: bool) -> Option<String> {
    let compact = || text.split_whitespace().collect::<String>();
    match shape {
        Shape::Host => name::target(text, lower),
        Shape::Hex => {
            Some(compact()).filter(|hex| !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
        }
        Shape::Base64 => Some(compact()).filter(|text| is_base64(text)),
        Shape::OneOf(words) => words.contains(&text).then(|| text.to_owned()),
        _ => Some(text.to_owned()).filter(|text| !text.contains(['\r', '\n'])),
    }
}

pub(super) fn is_base64(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
}

/// Composes `content`.
pub(super) fn composed(kind: RecordType, data: &Map<String, Value>) -> String {
    if kind == RecordType::Loc {
        return super::loc::text(data);
    }
    let mut words = Vec::new();
    for spec in specs(kind) {
        let text = match data.get(spec.name) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        match spec.place {
            Place::Priority => {}
            Place::Rest if text.is_empty() => {}
            Place::Quoted => words.push(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))),
            Place::Word | Place::Rest | Place::Joined => words.push(text),
        }
    }
    words.join(" ")
}

/// Reads `data` from `content`; the values still need [`checked`].
pub(super) fn parsed(kind: RecordType, content: &str, priority: Option<u16>) -> Option<Map<String, Value>> {
    if kind == RecordType::Loc {
        return super::loc::data(content);
    }
    let mut rest = content.trim();
    let mut data = Map::new();
    for spec in specs(kind) {
        let text = match spec.place {
            Place::Priority => {
                data.insert(spec.name.to_owned(), Value::from(priority?));
                continue;
            }
            Place::Rest => std::mem::take(&mut rest).to_owned(),
            Place::Joined => std::mem::take(&mut rest).split_whitespace().collect(),
            Place::Word | Place::Quoted => {
                let (text, after) = token(rest)?;
                rest = after;
                text
            }
        };
        let value = match spec.shape {
            Shape::Integer(_) | Shape::IntegerOrText(_) => Value::Number(text.parse::<Number>().ok()?),
            _ => Value::String(text),
        };
        data.insert(spec.name.to_owned(), value);
    }
    rest.is_empty().then_some(data)
}

/// The first word, quoted or not, and what follows.
fn token(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        return (!word.is_empty()).then(|| (word.to_owned(), rest.trim_start()));
    };
    let mut out = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((out, quoted.get(at + 1..)?.trim_start())),
            '\\' => out.push(chars.next()?.1),
            plain => out.push(plain),
        }
    }
    None
}
