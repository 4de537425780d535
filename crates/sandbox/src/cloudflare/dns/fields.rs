//! From a request body to the stored form of a record: types, bounds, defaults, limits of the plan.
//! What stands beside it in the zone is left to `rules`.

use serde_json::{Map, Value};

use super::super::plan::Plan;
use super::super::switches::{PrivateProxied, Switches};
use super::content::{self, Payload};
use super::data::whole;
use super::kind::RecordType;
use super::name;
use super::record::{Fields, Settings};
use super::refusal::DnsRefusal;

/// Cloudflare API docs: TTL 1 means automatic, and is what every proxied record reads.
const TTL_AUTOMATIC: u64 = 1;
/// Cloudflare API docs: the largest TTL.
const TTL_MAX: u64 = 86_400;
/// Cloudflare DNS docs: characters of a tag's name and of its value.
const TAG_NAME_MAX: usize = 32;
const TAG_VALUE_MAX: usize = 100;

/// What the stored form depends on beside the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting<'a> {
    pub(super) zone: &'a str,
    pub(super) plan: Plan,
    pub(super) switches: &'a Switches,
}

/// The record that a POST, PUT (without `base`) or PATCH (with `base`) asks for.
pub(super) fn of_body(
    body: &Value,
    kind_before: Option<RecordType>,
    base: Option<&Fields>,
    setting: Setting<'_>,
) -> Result<Fields, DnsRefusal> {
    let body = body.as_object().ok_or_else(|| DnsRefusal::body("it must be an object"))?;
    let kind = kind_of(body, base)?;
    if kind_before.is_some_and(|before| before != kind) {
        return Err(DnsRefusal::TypeChange);
    }
    let name = match body.get("name").filter(|name| !name.is_null()) {
        Some(name) => {
            let name = name.as_str().ok_or_else(|| DnsRefusal::field("name"))?;
            name::in_zone(name, setting.zone, setting.switches.inner_wildcard)?
        }
        None => base.map(|base| base.name.clone()).ok_or(DnsRefusal::Name)?,
    };
    let Payload { content, data, priority } = content::payload(kind, body, base, setting.switches)?;
    let proxiable = kind.can_be_proxied() && !content::is_reserved(&content);
    let wants_proxy = flag(body, "proxied", base.is_some_and(|base| base.proxied))?;
    let proxied = proxied(kind, &content, proxiable, wants_proxy, setting.switches)?;
    let ttl = ttl(body, base, setting.plan)?;
    let settings = settings(body, base, kind, proxied)?;
    let private_routing = flag(body, "private_routing", base.is_some_and(|base| base.private_routing))?
        && kind.can_be_proxied();
    Ok(Fields {
        kind,
        name,
        content,
        data,
        priority,
        ttl: if proxied { TTL_AUTOMATIC } else { ttl },
        proxied,
        proxiable,
        comment: comment(body, base, setting.plan)?,
        tags: tags(body, base, setting.plan)?,
        settings,
        private_routing,
    })
}

fn kind_of(body: &Map<String, Value>, base: Option<&Fields>) -> Result<RecordType, DnsRefusal> {
    match (body.get("type").filter(|kind| !kind.is_null()), base) {
        (Some(kind), _) => {
            let name = kind.as_str().ok_or_else(|| DnsRefusal::field("type"))?;
            RecordType::of(name).ok_or_else(|| DnsRefusal::body("unknown record type"))
        }
        (None, Some(base)) => Ok(base.kind),
        (None, None) => Err(DnsRefusal::body("type is required")),
    }
}

/// A field that is left out keeps `kept`; null means the default.
fn flag(body: &Map<String, Value>, field: &'static str, kept: bool) -> Result<bool, DnsRefusal> {
    match body.get(field) {
        None => Ok(kept),
        Some(Value::Null) => Ok(false),
        Some(value) => value.as_bool().ok_or_else(|| DnsRefusal::field(field)),
    }
}

fn ttl(body: &Map<String, Value>, base: Option<&Fields>, plan: Plan) -> Result<u64, DnsRefusal> {
    let value = match (body.get("ttl"), base) {
        (None, Some(base)) => return Ok(base.ttl),
        (None | Some(Value::Null), _) => return Ok(TTL_AUTOMATIC),
        (Some(value), _) => value,
    };
    let min = plan.ttl_min();
    let number = value.as_f64().ok_or_else(|| DnsRefusal::field("ttl"))?;
    whole(number)
        .filter(|ttl| *ttl == TTL_AUTOMATIC || (min..=TTL_MAX).contains(ttl))
        .ok_or(DnsRefusal::Ttl { min })
}

fn proxied(
    kind: RecordType,
    content: &str,
    proxiable: bool,
    wanted: bool,
    switches: &Switches,
) -> Result<bool, DnsRefusal> {
    match (wanted, proxiable) {
        (false, _) => Ok(false),
        (true, true) => Ok(true),
        (true, false) if !kind.can_be_proxied() => Err(DnsRefusal::CannotBeProxied),
        (true, false) => match switches.private_proxied {
            PrivateProxied::Refuse => Err(DnsRefusal::PrivateProxied { content: content.to_owned() }),
            PrivateProxied::StayUnproxied => Ok(false),
        },
    }
}

/// Given settings must fit the record; kept ones that no longer fit (proxied was switched) vanish.
fn settings(
    body: &Map<String, Value>,
    base: Option<&Fields>,
    kind: RecordType,
    proxied: bool,
) -> Result<Settings, DnsRefusal> {
    let may_restrict = proxied && kind.can_be_proxied();
    let may_flatten = kind == RecordType::Cname && !proxied;
    let object = match (body.get("settings"), base) {
        (None, Some(base)) => {
            let kept = base.settings;
            return Ok(Settings {
                ipv4_only: kept.ipv4_only && may_restrict,
                ipv6_only: kept.ipv6_only && may_restrict,
                flatten_cname: kept.flatten_cname && may_flatten,
            });
        }
        (None | Some(Value::Null), _) => return Ok(Settings::default()),
        (Some(value), _) => value.as_object().ok_or_else(|| DnsRefusal::field("settings"))?,
    };
    let settings = Settings {
        ipv4_only: flag(object, "ipv4_only", false)?,
        ipv6_only: flag(object, "ipv6_only", false)?,
        flatten_cname: flag(object, "flatten_cname", false)?,
    };
    let misfit = [
        (settings.ipv4_only && (!may_restrict || settings.ipv6_only), "ipv4_only"),
        (settings.ipv6_only && !may_restrict, "ipv6_only"),
        (settings.flatten_cname && !may_flatten, "flatten_cname"),
    ];
    match misfit.into_iter().find(|(wrong, _)| *wrong) {
        Some((_, setting)) => Err(DnsRefusal::Settings { setting }),
        None => Ok(settings),
    }
}

fn comment(
    body: &Map<String, Value>,
    base: Option<&Fields>,
    plan: Plan,
) -> Result<Option<String>, DnsRefusal> {
    let text = match (body.get("comment"), base) {
        (None, Some(base)) => return Ok(base.comment.clone()),
        (None | Some(Value::Null), _) => return Ok(None),
        (Some(value), _) => value.as_str().ok_or_else(|| DnsRefusal::field("comment"))?,
    };
    let max = plan.comment_max();
    if text.contains(['\r', '\n']) {
        return Err(DnsRefusal::CommentText);
    }
    if text.chars().count() > max {
        return Err(DnsRefusal::CommentLength { max });
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

fn tags(body: &Map<String, Value>, base: Option<&Fields>, plan: Plan) -> Result<Vec<String>, DnsRefusal> {
    let list = match (body.get("tags"), base) {
        (None, Some(base)) => return Ok(base.tags.clone()),
        (None | Some(Value::Null), _) => return Ok(Vec::new()),
        (Some(value), _) => value.as_array().ok_or_else(|| DnsRefusal::field("tags"))?,
    };
    let mut tags = Vec::with_capacity(list.len());
    for tag in list {
        let text = tag.as_str().ok_or_else(|| DnsRefusal::field("tags"))?;
        if !is_tag(text) {
            return Err(DnsRefusal::Tag { tag: text.to_owned() });
        }
        tags.push(text.to_owned());
    }
    tags.sort();
    tags.dedup();
    let quota = plan.tag_quota();
    if tags.len() > quota {
        return Err(DnsRefusal::TagQuota { count: tags.len(), quota });
    }
    Ok(tags)
}

fn is_tag(text: &str) -> bool {
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    !name.is_empty()
        && name.len() <= TAG_NAME_MAX
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        && value.chars().count() <= TAG_VALUE_MAX
        && !value.contains(['\r', '\n'])
}
