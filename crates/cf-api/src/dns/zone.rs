//! Requests for zones (cloudflare-api.md 3.2).

use crate::limits::ZONES_PER_PAGE;
use crate::page::Pages;
use crate::request::{Method, PathError, Request, check};
use serde_json::{Value, json};

const ZONES: &str = "/zones";
const ZONE: &str = "/zones/{zone_id}";
const SUBSCRIPTION: &str = "/zones/{zone_id}/subscription";

/// A property of a zone. Cloudflare takes exactly one per PATCH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ZoneProperty {
    /// Whether Cloudflare only answers DNS.
    Paused(bool),
    /// `full`, `partial`, `secondary` or `internal`.
    Type(String),
    /// Custom name servers (Business and up).
    VanityNameServers(Vec<String>),
}

impl ZoneProperty {
    fn body(self) -> Value {
        match self {
            ZoneProperty::Paused(paused) => json!({ "paused": paused }),
            ZoneProperty::Type(kind) => json!({ "type": kind }),
            ZoneProperty::VanityNameServers(servers) => json!({ "vanity_name_servers": servers }),
        }
    }
}

/// The zones of exactly this name in this account. A token for one zone may ask this, though not list all
/// (B148); without the account, a zone of the same name in another one could be taken for it (B155).
///
/// # Errors
/// [`PathError::Empty`] or [`PathError::Malformed`] when name or account can't be one: Cloudflare would
/// ignore an empty filter and list every zone.
pub fn find_zone(name: &str, account: &str) -> Result<Pages, PathError> {
    check(ZONES, "name", name)?;
    check(ZONES, "account_id", account)?;
    let request = Request::new(Method::Get, ZONES, &[])?.query("name", name).query("account.id", account);
    Ok(Pages::new(request, ZONES_PER_PAGE))
}

/// All zones of an account that the token sees.
///
/// # Errors
/// As [`find_zone`].
pub fn list_zones(account: &str) -> Result<Pages, PathError> {
    check(ZONES, "account_id", account)?;
    let request = Request::new(Method::Get, ZONES, &[])?.query("account.id", account);
    Ok(Pages::new(request, ZONES_PER_PAGE))
}

/// One zone.
///
/// # Errors
/// [`PathError`] when the identifier is empty or malformed.
pub fn get_zone(zone: &str) -> Result<Request, PathError> {
    Request::new(Method::Get, ZONE, &[zone])
}

/// Creates a zone; `kind` is Cloudflare's `type`.
///
/// # Errors
/// As [`find_zone`].
pub fn create_zone(name: &str, account: &str, kind: &str) -> Result<Request, PathError> {
    check(ZONES, "name", name)?;
    check(ZONES, "account_id", account)?;
    let body = json!({ "name": name, "account": { "id": account }, "type": kind });
    Ok(Request::new(Method::Post, ZONES, &[])?.body(body))
}

/// Changes one property.
///
/// # Errors
/// As [`get_zone`].
pub fn patch_zone(zone: &str, property: ZoneProperty) -> Result<Request, PathError> {
    Ok(Request::new(Method::Patch, ZONE, &[zone])?.body(property.body()))
}

/// Deletes a zone with all that it holds.
///
/// # Errors
/// As [`get_zone`].
pub fn delete_zone(zone: &str) -> Result<Request, PathError> {
    Request::new(Method::Delete, ZONE, &[zone])
}

/// A zone's plan.
///
/// # Errors
/// As [`get_zone`].
pub fn get_subscription(zone: &str) -> Result<Request, PathError> {
    Request::new(Method::Get, SUBSCRIPTION, &[zone])
}

/// Changes a zone's plan: `free`, `pro`, `business`, ….
///
/// # Errors
/// As [`get_zone`].
pub fn put_subscription(zone: &str, rate_plan: &str) -> Result<Request, PathError> {
    let body = json!({ "rate_plan": { "id": rate_plan } });
    Ok(Request::new(Method::Put, SUBSCRIPTION, &[zone])?.body(body))
}
