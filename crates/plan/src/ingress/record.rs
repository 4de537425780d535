//! Records of a zone as they stand, and the writes that they can get. A deletion cannot be built without the proof
//! that the record is ours to delete (V4).

use std::fmt;

use kinds::Key;
use kinds::names::ingress::TUNNEL_DOMAIN;
use serde_json::{Map, Value, json};

/// The content of a CNAME to this tunnel.
#[must_use]
pub fn tunnel_target(id: &str) -> String {
    format!("{}.{TUNNEL_DOMAIN}", id.to_ascii_lowercase())
}

/// A record as Cloudflare lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveRecord {
    /// Cloudflare's ID.
    pub id: String,
    /// `CNAME`, `TXT` and so on.
    pub kind: String,
    /// The whole name, in lower case.
    pub name: String,
    /// As Cloudflare spells it.
    pub content: String,
    /// Whether visitors come through Cloudflare.
    pub proxied: bool,
    /// Seconds; 1 is automatic.
    pub ttl: u64,
    /// Empty when there is none.
    pub comment: String,
    /// Whether a DNSRecord object claims it; then it is that object's alone (contract I18).
    pub is_claimed: bool,
}

impl LiveRecord {
    /// The record in an item of a zone's list; nothing if it is none.
    #[must_use]
    pub fn read(item: &Value, is_claimed: bool) -> Option<Self> {
        let text = |name| item.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            id: text("id")?,
            kind: text("type")?,
            name: text("name")?.to_ascii_lowercase(),
            content: text("content").unwrap_or_default(),
            proxied: item.get("proxied").and_then(Value::as_bool).unwrap_or_default(),
            ttl: item.get("ttl").and_then(Value::as_u64).unwrap_or(1),
            comment: text("comment").unwrap_or_default(),
            is_claimed,
        })
    }

    /// The tunnel that it points at, if it points at one.
    pub(super) fn tunnel(&self) -> Option<String> {
        let target = self.content.to_ascii_lowercase();
        let target = target.strip_suffix('.').unwrap_or(&target);
        let id = target.strip_suffix(TUNNEL_DOMAIN)?.strip_suffix('.')?;
        Some(id.to_owned())
    }
}

/// A record as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedRecord {
    /// `CNAME` or `TXT`.
    pub kind: &'static str,
    /// The whole name.
    pub name: String,
    /// What it holds.
    pub content: String,
    /// Whether visitors come through Cloudflare.
    pub proxied: bool,
    /// Nothing leaves the comment that stands.
    pub comment: Option<String>,
}

/// Automatic, which is what both records have.
const TTL: u64 = 1;

impl WantedRecord {
    /// The body of a create.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut body = json!({
            "type": self.kind, "name": self.name, "content": self.content, "proxied": self.proxied, "ttl": TTL,
        });
        if let Some(comment) = &self.comment {
            body["comment"] = json!(comment);
        }
        body
    }

    /// What of the live record differs; `same_content` says whether its content means the same.
    pub(super) fn difference(&self, live: &LiveRecord, same_content: bool) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut differs = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        if live.name != self.name {
            differs("name", json!(self.name));
        }
        if !same_content {
            differs("content", json!(self.content));
        }
        if live.proxied != self.proxied {
            differs("proxied", json!(self.proxied));
        }
        if live.ttl != TTL {
            differs("ttl", json!(TTL));
        }
        if let Some(comment) = self.comment.as_ref().filter(|comment| **comment != live.comment) {
            differs("comment", json!(comment));
        }
        fields
    }
}

/// How a CNAME is known to be ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// This TXT record beside it says so.
    Mark(String),
    /// It has the comment of the old controller's first versions.
    OldComment,
}

/// Where a CNAME of ours points, so that nobody can miss it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aim {
    /// At a tunnel that is served here.
    Ours(String),
    /// At a tunnel that Cloudflare says is deleted.
    Deleted(String),
}

/// Why a record may be changed or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// A CNAME that no active host needs: it is ours, and points where nobody else's would (contract I27).
    Unneeded(Ownership, Aim),
    /// A record of an active host that is ours.
    Owned(Ownership),
    /// A mark that says that it is ours.
    OwnMark,
    /// It already points at a tunnel of ours (contract I6).
    PointsAtUs,
    /// This Ingress asks to take it over.
    Adoption(Key),
}

/// One write to a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordWrite {
    /// A record is made.
    Create(WantedRecord),
    /// Fields of a record change.
    Update {
        /// Of the record.
        id: String,
        /// Of the record.
        kind: String,
        /// Of the record.
        name: String,
        /// Only those that differ.
        fields: Map<String, Value>,
        /// Why it may be.
        proof: Proof,
    },
    /// A record goes.
    Delete {
        /// Of the record.
        id: String,
        /// Of the record.
        kind: String,
        /// Of the record.
        name: String,
        /// Why it may be.
        proof: Proof,
    },
}

impl fmt::Display for Ownership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mark(id) => write!(f, "marked by {id}"),
            Self::OldComment => write!(f, "commented by the old controller"),
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unneeded(ownership, Aim::Ours(id)) => write!(f, "{ownership}, points at {id}"),
            Self::Unneeded(ownership, Aim::Deleted(id)) => write!(f, "{ownership}, points at deleted {id}"),
            Self::Owned(ownership) => ownership.fmt(f),
            Self::OwnMark => write!(f, "names a tunnel of ours"),
            Self::PointsAtUs => write!(f, "points at us"),
            Self::Adoption(key) => write!(f, "adopted by {key}"),
        }
    }
}

impl fmt::Display for RecordWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(wanted) => write!(f, "create {}", wanted.to_json()),
            Self::Update { id, kind, name, fields, proof } => {
                write!(f, "update {id} {kind} {name} {} ({proof})", Value::Object(fields.clone()))
            }
            Self::Delete { id, kind, name, proof } => write!(f, "delete {id} {kind} {name} ({proof})"),
        }
    }
}
