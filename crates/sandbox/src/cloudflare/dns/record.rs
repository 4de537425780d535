//! A stored record and how the API shows it.
//! Stored records never change: a change stores a new one, so that a batch can be taken back.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use super::super::world::stamp;
use super::kind::RecordType;

/// `settings` (cloudflare API docs: proxied A, AAAA and CNAME; `flatten_cname` on unproxied CNAME).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(in crate::cloudflare) struct Settings {
    #[serde(skip_serializing_if = "is_false")]
    pub(super) ipv4_only: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) ipv6_only: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) flatten_cname: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

/// What a request can say about a record, in stored form.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::cloudflare) struct Fields {
    pub(super) kind: RecordType,
    pub(super) name: String,
    pub(super) content: String,
    pub(super) data: Option<Map<String, Value>>,
    pub(super) priority: Option<u16>,
    pub(super) ttl: u64,
    pub(super) proxied: bool,
    pub(super) proxiable: bool,
    pub(super) comment: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) settings: Settings,
    pub(super) private_routing: bool,
}

/// A record.
#[derive(Clone, Debug)]
pub(in crate::cloudflare) struct Record {
    pub(in crate::cloudflare) id: String,
    pub(super) fields: Fields,
    pub(super) created_on: Timestamp,
    pub(super) comment_modified_on: Option<Timestamp>,
    pub(super) tags_modified_on: Option<Timestamp>,
    /// As the API answers it: kept, because lists and batches answer thousands.
    pub(in crate::cloudflare) answer: Arc<str>,
}

#[derive(Serialize)]
struct Shown<'a> {
    id: &'a str,
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    content: &'a str,
    proxiable: bool,
    proxied: bool,
    ttl: u64,
    settings: &'a Settings,
    meta: Empty,
    comment: Option<&'a str>,
    tags: &'a [String],
    created_on: String,
    modified_on: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment_modified_on: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags_modified_on: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u16>,
    #[serde(skip_serializing_if = "is_false")]
    private_routing: bool,
}

#[derive(Serialize)]
struct Empty {}

impl Record {
    /// A new record, or the new version of `before`.
    pub(super) fn new(id: String, fields: Fields, before: Option<&Self>, now: Timestamp) -> Self {
        let old = before.map(|record| &record.fields);
        let comment_modified_on = match (&fields.comment, old.map(|old| &old.comment)) {
            (None, _) => None,
            (new, Some(old)) if new == old => before.and_then(|record| record.comment_modified_on),
            _ => Some(now),
        };
        let tags_modified_on = match old.map(|old| &old.tags) {
            _ if fields.tags.is_empty() => None,
            Some(old) if *old == fields.tags => before.and_then(|record| record.tags_modified_on),
            _ => Some(now),
        };
        let created_on = before.map_or(now, |record| record.created_on);
        let mut record =
            Self { id, fields, created_on, comment_modified_on, tags_modified_on, answer: "".into() };
        record.answer = record.shown(now);
        record
    }

    fn shown(&self, modified_on: Timestamp) -> Arc<str> {
        let fields = &self.fields;
        let shown = Shown {
            id: &self.id,
            name: &fields.name,
            kind: fields.kind.name(),
            content: &fields.content,
            proxiable: fields.proxiable,
            proxied: fields.proxied,
            ttl: fields.ttl,
            settings: &fields.settings,
            meta: Empty {},
            comment: fields.comment.as_deref(),
            tags: &fields.tags,
            created_on: stamp(self.created_on),
            modified_on: stamp(modified_on),
            comment_modified_on: self.comment_modified_on.map(stamp),
            tags_modified_on: self.tags_modified_on.map(stamp),
            data: fields.data.as_ref(),
            priority: fields.priority,
            private_routing: fields.private_routing,
        };
        // Strings and numbers always serialise; an empty object would show up in any test.
        serde_json::to_string(&shown).unwrap_or_else(|_| "{}".to_owned()).into()
    }
}
