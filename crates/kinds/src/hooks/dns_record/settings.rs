//! Settings of a record: how Cloudflare serves what it says. Camel case in specs, as Cloudflare has them on the wire;
//! false unless set, and absent or `{}` for most records.

use serde_json::{Map, Value};

use crate::hooks::member::{self, invalid};
use crate::table::Invalid;

use super::RecordType;

/// Every setting: its name in a spec and on the wire.
const SETTINGS: [(&str, &str); 3] =
    [("ipv4Only", "ipv4_only"), ("ipv6Only", "ipv6_only"), ("flattenCname", "flatten_cname")];

/// The settings that are on, if any is.
pub(super) fn canonical(wire: &Value) -> Option<Map<String, Value>> {
    let mut settings = wire.get("settings")?.as_object()?.clone();
    settings.retain(|_, value| !matches!(value, Value::Null | Value::Bool(false)));
    (!settings.is_empty()).then_some(settings)
}

/// A user's settings as they are sent: those that are named and that the type can have, off ones too, so that they are
/// turned off whether Cloudflare replaces settings as a whole or merges them.
pub(super) fn outgoing(
    spec: &Value,
    record_type: RecordType,
    proxied: bool,
) -> Result<Option<Map<String, Value>>, Invalid> {
    let Some(written) = member::present(spec, "settings") else { return Ok(None) };
    let mut settings = Map::new();
    for (name, wire) in SETTINGS {
        let Some(value) = member::present(written, name) else { continue };
        let on = value
            .as_bool()
            .ok_or_else(|| invalid(&format!("settings.{name}"), "must be true or false, without quotes"))?;
        settings.insert(wire.to_owned(), on.into());
    }
    let is_on = |wire: &str| settings.get(wire) == Some(&Value::Bool(true));
    let problem = if is_on("ipv4_only") && is_on("ipv6_only") {
        Some(("ipv4Only", "excludes ipv6Only; set one of them to false"))
    } else if is_on("ipv4_only") && !proxied {
        Some(("ipv4Only", "needs a proxied record; set proxied to true or remove it (Cloudflare: 9041)"))
    } else if is_on("ipv6_only") && !proxied {
        Some(("ipv6Only", "needs a proxied record; set proxied to true or remove it (Cloudflare: 9041)"))
    } else if is_on("flatten_cname") && record_type != RecordType::Cname {
        Some(("flattenCname", "is for CNAME records alone; remove it (Cloudflare: 9041)"))
    } else if is_on("flatten_cname") && proxied {
        Some(("flattenCname", "does nothing for a proxied record; remove it (Cloudflare: 9041)"))
    } else {
        None
    };
    match problem {
        Some((name, problem)) => Err(invalid(&format!("settings.{name}"), problem)),
        None => {
            settings.retain(|wire, _| wire != "flatten_cname" || record_type == RecordType::Cname);
            Ok(record_type.can_be_proxied().then_some(settings))
        }
    }
}
