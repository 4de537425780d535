//! Shadow metadata: which records a delegation inside the zone hides, computed when it is asked for
//! (cloudflare DNS docs: shadowed records). Nothing of it is stored, and nothing is refused because of it.

use std::borrow::Cow;

use serde::Serialize;

use super::super::query::Query;
use super::kind::RecordType;
use super::record::Record;
use super::refusal::DnsRefusal;
use super::store::Records;

/// Cloudflare DNS docs: a page or batch with more records comes without the metadata.
const RECORDS_MAX: usize = 1_000;
/// Cloudflare DNS docs: the count means "at least" here.
const COUNT_MAX: usize = 10_000;

#[derive(Serialize)]
struct Meta<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shadowed_by: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_glue: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dead_glue: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shadowed_records_count: Option<usize>,
}

/// What a request asks of the metadata.
#[derive(Debug)]
pub(super) struct Shadow<'a> {
    records: &'a Records,
    zone: &'a str,
    is_included: bool,
}

impl<'a> Shadow<'a> {
    /// `answered` is how many records the answer has.
    pub(super) fn of(query: &Query, records: &'a Records, zone: &'a str, answered: usize) -> Self {
        Self { records, zone, is_included: is_asked(query) && answered <= RECORDS_MAX }
    }

    /// The record as the answer shows it.
    pub(super) fn show<'r>(&self, record: &'r Record) -> Cow<'r, str> {
        if !self.is_included {
            return Cow::Borrowed(&record.answer);
        }
        let meta = serde_json::to_string(&self.meta(record)).unwrap_or_else(|_| "{}".to_owned());
        // Quotes inside values are escaped, so that this text can only be the field.
        Cow::Owned(record.answer.replacen(r#","meta":{},"#, &format!(r#","meta":{meta},"#), 1))
    }

    fn meta(&self, record: &Record) -> Meta<'a> {
        let fields = &record.fields;
        let shadowing: Vec<&'a Record> = ancestors(&fields.name, self.zone)
            .filter(|name| *name != fields.name || !stays_at_delegation(fields.kind))
            .flat_map(|name| self.records.of_type(name, RecordType::Ns))
            .map(AsRef::as_ref)
            .collect();
        let is_address = matches!(fields.kind, RecordType::A | RecordType::Aaaa);
        let supports = |ns: &&&Record| is_address && ns.fields.content.eq_ignore_ascii_case(&fields.name);
        let glue = shadowing.iter().find(supports);
        let is_dead = glue.is_some_and(|glue| {
            shadowing.iter().any(|other| other.fields.name.len() < glue.fields.name.len())
        });
        let is_delegation = fields.kind == RecordType::Ns && fields.name != self.zone && shadowing.is_empty();
        let count = if is_delegation {
            self.records.count_where(|name, kind| is_below(name, kind, &fields.name))
        } else {
            0
        };
        Meta {
            shadowed_by: shadowing.iter().map(|ns| ns.id.as_str()).collect(),
            is_glue: glue.map(|_| true),
            dead_glue: is_dead.then_some(true),
            shadowed_records_count: Some(count.min(COUNT_MAX)).filter(|count| *count > 0),
        }
    }
}

fn is_asked(query: &Query) -> bool {
    query.get("include_shadow_metadata") == Some("true")
}

/// The name and the names above it, without the zone's own.
fn ancestors<'n>(name: &'n str, zone: &str) -> impl Iterator<Item = &'n str> {
    let above = |name: &&'n str| name.split_once('.').map(|(_, rest)| rest);
    std::iter::successors(Some(name), above).take_while(move |name| *name != zone && name.len() > zone.len())
}

/// NS are the delegation and DS belongs to it: neither is shadowed by it.
fn stays_at_delegation(kind: RecordType) -> bool {
    matches!(kind, RecordType::Ns | RecordType::Ds)
}

fn is_below(name: &str, kind: RecordType, delegation: &str) -> bool {
    if name == delegation {
        return !stays_at_delegation(kind);
    }
    name.strip_suffix(delegation).is_some_and(|rest| rest.ends_with('.'))
}

/// The two filters of lists that go by delegation.
#[derive(Debug, Default)]
pub(super) struct ShadowFilter {
    shadowed_by: Option<String>,
    shadowing: Option<String>,
}

impl ShadowFilter {
    pub(super) fn of(query: &Query, zone: &str) -> Result<Self, DnsRefusal> {
        let name = |field: &str| match query.get(field).map(str::to_ascii_lowercase) {
            Some(name) if name.strip_suffix(zone).is_some_and(|rest| rest.ends_with('.')) => Ok(Some(name)),
            Some(_) => Err(DnsRefusal::body(format!("{field} must be a subdomain of the zone"))),
            None => Ok(None),
        };
        let filter = Self { shadowed_by: name("shadowed_by_name")?, shadowing: name("shadowing_name")? };
        if filter.shadowed_by.is_some() && !is_asked(query) {
            return Err(DnsRefusal::body("shadowed_by_name needs include_shadow_metadata=true"));
        }
        Ok(filter)
    }

    pub(super) fn keeps(&self, record: &Record, zone: &str) -> bool {
        let fields = &record.fields;
        let below = |name: &String| is_below(&fields.name, fields.kind, name);
        let above = |name: &String| {
            fields.kind == RecordType::Ns && ancestors(name, zone).any(|above| above == fields.name)
        };
        self.shadowed_by.as_ref().is_none_or(below) && self.shadowing.as_ref().is_none_or(above)
    }
}
