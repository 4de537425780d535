//! What a record says: `content`, `data` and `priority` of each type, checked and in stored form.
//! Name, TTL, proxying and the rest are left to `fields`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Map, Value};

use super::super::switches::{ContentBesideData, Switches};
use super::data;
use super::kind::RecordType;
use super::name;
use super::record::Fields;
use super::refusal::DnsRefusal;
use super::txt;

/// Content, data and priority in stored form.
#[derive(Debug, Clone)]
pub(super) struct Payload {
    pub(super) content: String,
    pub(super) data: Option<Map<String, Value>>,
    pub(super) priority: Option<u16>,
}

/// What a request says about them; `base` fills in what a PATCH leaves out.
pub(super) fn payload(
    kind: RecordType,
    body: &Map<String, Value>,
    base: Option<&Fields>,
    switches: &Switches,
) -> Result<Payload, DnsRefusal> {
    let given = |field: &str| body.get(field).filter(|value| !value.is_null());
    let priority = match given("priority") {
        Some(value) => Some(priority_of(value)?),
        None => base.and_then(|base| base.priority),
    };
    let object = match given("data") {
        Some(value) => Some(value.as_object().ok_or_else(|| DnsRefusal::field("data"))?),
        None => None,
    };
    let text = match given("content") {
        Some(value) => Some(value.as_str().ok_or_else(|| DnsRefusal::field("content"))?),
        None => None,
    };
    let has_data = !data::specs(kind).is_empty();
    // Cloudflare API docs: `content` and `data` are exclusive.
    match (object.filter(|_| has_data), text, base) {
        (Some(_), Some(_), _) if switches.content_beside_data == ContentBesideData::Refuse => {
            Err(DnsRefusal::body("content and data are exclusive"))
        }
        (Some(object), _, _) => from_data(kind, object, priority, switches),
        (None, Some(text), _) if has_data => from_text(kind, text, priority, switches),
        (None, Some(text), _) => {
            let content = plain(kind, text, switches)?;
            Ok(Payload { content, data: None, priority: top_priority(kind, priority)? })
        }
        (None, None, Some(base)) => kept(kind, base, priority),
        (None, None, None) if has_data => Err(DnsRefusal::body("content or data is required")),
        (None, None, None) => Err(missing_content(kind)),
    }
}

fn kept(kind: RecordType, base: &Fields, priority: Option<u16>) -> Result<Payload, DnsRefusal> {
    let mut data = base.data.clone();
    if let (RecordType::Srv, Some(data), Some(priority)) = (kind, data.as_mut(), priority) {
        data.insert("priority".to_owned(), Value::from(priority));
    }
    let priority = if kind == RecordType::Srv { priority } else { top_priority(kind, priority)? };
    Ok(Payload { content: base.content.clone(), data, priority })
}

fn from_data(
    kind: RecordType,
    object: &Map<String, Value>,
    priority: Option<u16>,
    switches: &Switches,
) -> Result<Payload, DnsRefusal> {
    let data = data::checked(kind, object, switches.lower_case_targets)?;
    let priority = match kind {
        RecordType::Srv => {
            data.get("priority").and_then(Value::as_u64).and_then(|number| u16::try_from(number).ok())
        }
        _ => top_priority(kind, priority)?,
    };
    Ok(Payload { content: data::composed(kind, &data), data: Some(data), priority })
}

fn from_text(
    kind: RecordType,
    text: &str,
    priority: Option<u16>,
    switches: &Switches,
) -> Result<Payload, DnsRefusal> {
    let invalid = DnsRefusal::Content { kind: kind.name() };
    let object = data::parsed(kind, text, priority).ok_or(invalid)?;
    from_data(kind, &object, priority, switches)
}

fn priority_of(value: &Value) -> Result<u16, DnsRefusal> {
    let number = value.as_f64().ok_or_else(|| DnsRefusal::field("priority"))?;
    data::whole(number)
        .and_then(|number| u16::try_from(number).ok())
        .ok_or_else(|| DnsRefusal::body("priority must be between 0 and 65535"))
}

/// MX and URI need a priority; other types have none at top level.
fn top_priority(kind: RecordType, priority: Option<u16>) -> Result<Option<u16>, DnsRefusal> {
    match (kind.needs_priority(), priority) {
        (true, None) => Err(DnsRefusal::DataMissing { field: "priority" }),
        (true, some) => Ok(some),
        (false, _) => Ok(None),
    }
}

fn missing_content(kind: RecordType) -> DnsRefusal {
    match kind {
        RecordType::A => DnsRefusal::Ipv4,
        RecordType::Aaaa => DnsRefusal::Ipv6,
        RecordType::Mx => DnsRefusal::MxHost,
        _ => DnsRefusal::Content { kind: kind.name() },
    }
}

/// The stored form of `content` for types without `data`.
fn plain(kind: RecordType, text: &str, switches: &Switches) -> Result<String, DnsRefusal> {
    let refusal = || missing_content(kind);
    let host = |text: &str| {
        let is_address = text.parse::<IpAddr>().is_ok();
        name::target(text, switches.lower_case_targets).filter(|_| !is_address)
    };
    match kind {
        // Shorthand such as `1.1` and leading zeros are refused, as the parser does.
        RecordType::A => text.parse::<Ipv4Addr>().map(|address| address.to_string()).map_err(|_| refusal()),
        RecordType::Aaaa => {
            text.parse::<Ipv6Addr>().map(|address| address.to_string()).map_err(|_| refusal())
        }
        RecordType::Mx => host(text).ok_or_else(refusal),
        RecordType::Cname | RecordType::Ns | RecordType::Ptr => {
            host(text).filter(|host| host != ".").ok_or_else(refusal)
        }
        RecordType::Txt if switches.txt_quoted => txt::stored(text).ok_or_else(refusal),
        RecordType::Txt if text.is_empty() => Err(refusal()),
        RecordType::Openpgpkey => {
            let key: String = text.split_whitespace().collect();
            Some(key).filter(|key| data::is_base64(key)).ok_or_else(refusal)
        }
        _ => Ok(text.to_owned()),
    }
}

/// True for addresses that no proxy may stand before: private, reserved, and Cloudflare's own resolvers.
/// The documentation ranges (RFC 5737, 3849) are allowed, as in Cloudflare's own examples.
pub(super) fn is_reserved(content: &str) -> bool {
    match content.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => {
            let octets = address.octets();
            let shared = octets[0] == 100 && (64..128).contains(&octets[1]);
            let resolver = matches!(octets, [1, 1, 1, 1] | [1, 0, 0, 1]);
            address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || octets[0] == 0
                || octets[0] >= 224
                || shared
                || resolver
        }
        Ok(IpAddr::V6(address)) => {
            let first = address.segments()[0];
            let resolver =
                matches!(address.segments(), [0x2606, 0x4700, 0x4700, 0, 0, 0, 0, 0x1111 | 0x1001]);
            resolver
                || address.is_loopback()
                || address.is_unspecified()
                || (first & 0xfe00) == 0xfc00
                || (first & 0xffc0) == 0xfe80
                || (first & 0xff00) == 0xff00
        }
        Err(_) => false,
    }
}
