//! What Cloudflare would refuse of a record that is well formed: limits of the zone's plan, and values that cannot
//! serve. Found before a call is spent on it, so that one bad record never costs a batch (case B074). Only what is
//! certain: while the plan is not known, none of its limits counts.

use std::net::IpAddr;

use serde_json::Value;

use super::canonical::TTL_AUTOMATIC;
use super::{RecordType, ZONE, address, encoding, structured, text};
use crate::hooks::member::{self, invalid};
use crate::table::{Invalid, Parents};

/// What a plan allows a record (Cloudflare's table of record attributes by plan; error 9021 for the ttl).
struct Limits {
    /// How messages call the plan.
    plan: &'static str,
    comment_characters: usize,
    tags: usize,
    ttl_seconds_min: u64,
}

const FREE: Limits = Limits { plan: "Free", comment_characters: 100, tags: 0, ttl_seconds_min: 60 };
const PAID: Limits =
    Limits { plan: "Pro or Business", comment_characters: 500, tags: 20, ttl_seconds_min: 60 };
const ENTERPRISE: Limits =
    Limits { plan: "Enterprise", comment_characters: 500, tags: 20, ttl_seconds_min: 30 };

/// See [`crate::table::Hooks::refused`].
pub(super) fn refused(canonical: &Value, parents: &Parents<'_>) -> Option<Invalid> {
    let plan =
        parents.get(ZONE).and_then(|zone| zone.status_str("/cloudflareMetadata/plan")).unwrap_or_default();
    Limits::of(plan).and_then(|limits| limits.refused(canonical)).or_else(|| refused_value(canonical))
}

impl Limits {
    /// The limits of a plan by its `legacy_id`; partners' plans carry the plan they resell in their name.
    fn of(plan: &str) -> Option<&'static Self> {
        match plan.strip_prefix("partners_").unwrap_or(plan) {
            "free" => Some(&FREE),
            "pro" | "pro_plus" | "business" => Some(&PAID),
            "enterprise" => Some(&ENTERPRISE),
            _ => None,
        }
    }

    fn refused(&self, canonical: &Value) -> Option<Invalid> {
        let Self { plan, comment_characters, tags, ttl_seconds_min } = self;
        let comment = member::text(canonical, "comment").chars().count();
        if comment > *comment_characters {
            let problem = format!(
                "has {comment} characters; a zone on {plan} takes {comment_characters}, so shorten it"
            );
            return Some(invalid("comment", problem));
        }
        let count = canonical.get("tags").and_then(Value::as_array).map_or(0, Vec::len);
        if count > *tags {
            let problem = match tags {
                0 => {
                    format!("a zone on {plan} takes none; remove them or change the plan (Cloudflare: 9300)")
                }
                most => format!("are {count}; a zone on {plan} takes {most} per record (Cloudflare: 9300)"),
            };
            return Some(invalid("tags", problem));
        }
        let ttl = canonical.get("ttl").and_then(Value::as_u64)?;
        (ttl != TTL_AUTOMATIC && ttl < *ttl_seconds_min).then(|| {
            let problem =
                format!("a zone on {plan} takes {ttl_seconds_min} seconds or more, or 1 (Cloudflare: 9021)");
            invalid("ttl", problem)
        })
    }
}

// What no plan can serve.
fn refused_value(canonical: &Value) -> Option<Invalid> {
    let content = member::text(canonical, "content");
    let is_address = |target: &str| target.parse::<IpAddr>().is_ok();
    match RecordType::of(canonical)? {
        RecordType::A | RecordType::Aaaa => {
            let proxied = canonical.get("proxied").and_then(Value::as_bool).unwrap_or_default();
            (proxied && address::is_unreachable(content)).then(|| {
                let problem = "is private or reserved, which the proxy cannot reach; set proxied to false or use a \
                               public address (Cloudflare: 9003)";
                invalid("content", problem)
            })
        }
        RecordType::Cname if content == member::text(canonical, "name") => {
            Some(invalid("content", "is the record's own name; point it to another host (Cloudflare: 9039)"))
        }
        RecordType::Cname if is_address(content) => {
            Some(invalid("content", "is an address; use type A or AAAA for it (Cloudflare: 9007)"))
        }
        RecordType::Mx if is_address(content) => {
            Some(invalid("content", "is an address; name the mail host (Cloudflare: 9009)"))
        }
        RecordType::Ns | RecordType::Ptr if is_address(content) => {
            Some(invalid("content", "is an address; name the host (Cloudflare: 9007)"))
        }
        RecordType::Srv
            if canonical.pointer("/data/target").and_then(Value::as_str).is_some_and(is_address) =>
        {
            Some(invalid("data.target", "is an address; name the host (RFC 2782)"))
        }
        record_type => too_long(record_type, canonical),
    }
}

// More than a record can hold. A text is measured when it is read, as its strings count.
fn too_long(record_type: RecordType, canonical: &Value) -> Option<Invalid> {
    let (field, bytes) = match (record_type.layout(), canonical.get("data")) {
        (Some(layout), Some(data)) => {
            let last = layout.parts.last()?.name;
            (format!("data.{last}"), structured::wire_bytes(layout, data))
        }
        _ if record_type == RecordType::Openpgpkey => {
            ("content".to_owned(), encoding::base64_bytes(member::text(canonical, "content")))
        }
        _ => return None,
    };
    (bytes > text::WIRE_BYTES_MAX).then(|| {
        let most = text::WIRE_BYTES_MAX;
        invalid(
            &field,
            format!("makes a record of {bytes} bytes, more than {most} (Cloudflare: 9015); shorten it"),
        )
    })
}
