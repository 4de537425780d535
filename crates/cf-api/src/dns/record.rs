//! Requests for single DNS records and lists of them (cloudflare-api.md 4.1, 4.4).

use crate::limits::DNS_PER_PAGE;
use crate::page::Pages;
use crate::request::{Method, PathError, Request, check};
use serde_json::Value;

const RECORDS: &str = "/zones/{zone_id}/dns_records";
const RECORD: &str = "/zones/{zone_id}/dns_records/{record_id}";

/// All records of a zone, `per_page` at a time ([`DNS_PER_PAGE`] costs the fewest calls).
///
/// # Errors
/// [`PathError`] when the zone's identifier is empty or malformed.
pub fn list_records(zone: &str, per_page: u32) -> Result<Pages, PathError> {
    Ok(Pages::new(Request::new(Method::Get, RECORDS, &[zone])?, per_page))
}

/// The records of exactly this name (matched without regard to case), whatever their type.
///
/// # Errors
/// [`PathError`] when an identifier or the name is empty or malformed: an empty filter would list the whole
/// zone.
pub fn list_records_named(zone: &str, name: &str) -> Result<Pages, PathError> {
    check(RECORDS, "name", name)?;
    let request = Request::new(Method::Get, RECORDS, &[zone])?.query("name.exact", name);
    Ok(Pages::new(request, DNS_PER_PAGE))
}

/// One record.
///
/// # Errors
/// [`PathError`] when an identifier is empty or malformed.
pub fn get_record(zone: &str, record: &str) -> Result<Request, PathError> {
    Request::new(Method::Get, RECORD, &[zone, record])
}

/// Creates a record. Not idempotent: Cloudflare accepts two equal records of some types (B154).
///
/// # Errors
/// As [`list_records`].
pub fn create_record(zone: &str, body: Value) -> Result<Request, PathError> {
    Ok(Request::new(Method::Post, RECORDS, &[zone])?.body(body))
}

/// Changes the given fields; `settings` and `data` are replaced as a whole.
///
/// # Errors
/// As [`get_record`].
pub fn patch_record(zone: &str, record: &str, body: Value) -> Result<Request, PathError> {
    Ok(Request::new(Method::Patch, RECORD, &[zone, record])?.body(body))
}

/// Overwrites a record; fields left out go back to their defaults.
///
/// # Errors
/// As [`get_record`].
pub fn put_record(zone: &str, record: &str, body: Value) -> Result<Request, PathError> {
    Ok(Request::new(Method::Put, RECORD, &[zone, record])?.body(body))
}

/// Deletes a record.
///
/// # Errors
/// As [`get_record`].
pub fn delete_record(zone: &str, record: &str) -> Result<Request, PathError> {
    Request::new(Method::Delete, RECORD, &[zone, record])
}
