//! A record's spec as the body of its create, or what in it can never work. Limits that depend on the zone's plan,
//! and values that are well formed but refused, are for the refusals.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::canonical::TTL_AUTOMATIC;
use super::target::Naming;
use super::{RecordType, ZONE, address, encoding, settings, structured, target, text, zone_name};
use crate::hooks::domain_name;
use crate::hooks::member::{self, invalid};
use crate::table::{Invalid, Parents};

/// Seconds that a ttl may be on some plan (Cloudflare's error 9021); below 60 only on Enterprise.
const TTL_SECONDS: RangeInclusive<u64> = 30..=86_400;
/// A priority is 16 bits (RFC 1035, 3.3.9 for MX; RFC 7553, 4.2 for URI).
const PRIORITY_MAX: u64 = 65_535;

/// See [`crate::table::Hooks::body`].
pub(super) fn body(spec: &Value, parents: &Parents<'_>) -> Result<Value, Invalid> {
    let zone =
        zone_name(parents).ok_or_else(|| invalid(ZONE, "names a Zone whose spec.name is not known"))?;
    let record_type = record_type(spec)?;
    let name = domain_name::in_zone(member::text(spec, "name"), &zone)
        .map_err(|error| invalid("name", error.to_string()))?;
    let proxied = proxied(spec, record_type)?;

    let mut body = Map::new();
    body.insert("type".to_owned(), member::text(spec, "type").into());
    body.insert("name".to_owned(), name.into());
    match record_type.layout() {
        Some(layout) => body.insert("data".to_owned(), structured::outgoing(layout, spec, &zone)?),
        None => body.insert("content".to_owned(), content(spec, record_type, &zone)?.into()),
    };
    if record_type.has_priority() {
        body.insert("priority".to_owned(), priority(spec)?.into());
    }
    body.insert("ttl".to_owned(), if proxied { TTL_AUTOMATIC } else { ttl(spec)? }.into());
    if record_type.can_be_proxied() {
        body.insert("proxied".to_owned(), proxied.into());
    }
    if let Some(comment) = comment(spec)? {
        body.insert("comment".to_owned(), comment.into());
    }
    if let Some(tags) = tags(spec)? {
        body.insert("tags".to_owned(), tags.into());
    }
    if let Some(settings) = settings::outgoing(spec, record_type, proxied)? {
        body.insert("settings".to_owned(), settings.into());
    }
    Ok(Value::Object(body))
}

fn record_type(spec: &Value) -> Result<RecordType, Invalid> {
    RecordType::of(spec).ok_or_else(|| {
        let names: Vec<&str> = RecordType::NAMES.iter().map(|(name, _)| *name).collect();
        invalid("type", format!("is not one that kflare manages; use one of {}", names.join(", ")))
    })
}

fn content(spec: &Value, record_type: RecordType, zone: &str) -> Result<String, Invalid> {
    if member::present(spec, "data").is_some() {
        return Err(invalid("data", "is not for this type; write the value into content"));
    }
    let written = member::text(spec, "content");
    let problem = match record_type {
        _ if written.is_empty() => Some("is missing; this type needs it".to_owned()),
        RecordType::A => address::problem_v4(written).map(str::to_owned),
        RecordType::Aaaa => address::problem_v6(written).map(str::to_owned),
        RecordType::Openpgpkey => encoding::base64_problem(written).map(str::to_owned),
        _ => None,
    };
    let outgoing = match (problem, record_type) {
        (Some(problem), _) => Err(problem),
        (None, RecordType::Cname | RecordType::Ptr) => target::outgoing(written, zone, Naming::Domain),
        (None, RecordType::Ns) => target::outgoing(written, zone, Naming::Host),
        (None, RecordType::Mx) => target::outgoing(written, zone, Naming::HostOrRoot),
        (None, RecordType::Aaaa) => Ok(address::canonical_v6(written)),
        (None, RecordType::Openpgpkey) => Ok(encoding::canonical_base64(written)),
        (None, RecordType::Txt) => text::outgoing(written).map_err(|error| error.to_string()),
        (None, _) => Ok(written.to_owned()),
    };
    outgoing.map_err(|problem| invalid("content", problem))
}

fn priority(spec: &Value) -> Result<u64, Invalid> {
    let written = member::present(spec, "priority").ok_or_else(|| {
        invalid("priority", "is missing; MX and URI need it, and the lowest is tried first")
    })?;
    member::count(written)
        .filter(|priority| *priority <= PRIORITY_MAX)
        .ok_or_else(|| invalid("priority", format!("is no number from 0 to {PRIORITY_MAX}")))
}

fn proxied(spec: &Value, record_type: RecordType) -> Result<bool, Invalid> {
    let proxied = spec.get("proxied").and_then(Value::as_bool).unwrap_or_default();
    if proxied && !record_type.can_be_proxied() {
        return Err(invalid(
            "proxied",
            "only A, AAAA and CNAME can be proxied; remove it (Cloudflare: 9004)",
        ));
    }
    Ok(proxied)
}

fn ttl(spec: &Value) -> Result<u64, Invalid> {
    let Some(written) = member::present(spec, "ttl") else { return Ok(TTL_AUTOMATIC) };
    member::count(written).filter(|ttl| *ttl == TTL_AUTOMATIC || TTL_SECONDS.contains(ttl)).ok_or_else(|| {
        let (least, most) = TTL_SECONDS.into_inner();
        invalid(
            "ttl",
            format!("takes {TTL_AUTOMATIC} (automatic) or {least} to {most} seconds (Cloudflare: 9021)"),
        )
    })
}

fn comment(spec: &Value) -> Result<Option<&str>, Invalid> {
    match member::present(spec, "comment") {
        None => Ok(None),
        Some(Value::String(comment)) if !comment.contains(['\r', '\n']) => Ok(Some(comment)),
        Some(Value::String(_)) => {
            Err(invalid("comment", "has a line break in it; write it on one line (YAML: `>-`)"))
        }
        Some(_) => Err(invalid("comment", "must be text; put quotes around it")),
    }
}

fn tags(spec: &Value) -> Result<Option<Vec<&str>>, Invalid> {
    let Some(written) = member::present(spec, "tags") else { return Ok(None) };
    let tags = written.as_array().ok_or_else(|| invalid("tags", "must be a list of name:value"))?;
    tags.iter().map(tag).collect::<Result<_, _>>().map(Some)
}

fn tag(written: &Value) -> Result<&str, Invalid> {
    let tag = written.as_str().unwrap_or_default();
    let name = tag.split_once(':').map_or(tag, |(name, _)| name);
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if name.is_empty() || !name.bytes().all(allowed) {
        return Err(invalid(
            "tags",
            "each tag is name:value, the name of letters, digits, hyphens and underscores",
        ));
    }
    Ok(tag)
}
