//! The scan for existing records: in this world it never finds any.
//! The calls exist so that clients which use them get the answers of the API.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::call::Call;
use super::super::envelope::{ApiErrors, Reply};
use super::super::route::Endpoint;
use super::super::world::World;
use super::refusal::DnsRefusal;

pub(in crate::cloudflare) fn answer(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    world.zone_of(now, call)?;
    match call.routed.row.endpoint {
        Endpoint::RecordScan => Ok(Reply::value(&json!({ "recs_added": 0, "total_records_parsed": 0 }))),
        Endpoint::RecordScanReview => Ok(Reply::value(&json!([]))),
        Endpoint::RecordScanAnswer => {
            let body = call.json()?;
            for field in ["accepts", "rejects"] {
                match body.get(field) {
                    None | Some(Value::Null | Value::Array(_)) => {}
                    Some(_) => return Err(DnsRefusal::field(field).into()),
                }
            }
            // What was not found cannot be accepted or rejected.
            Ok(Reply::value(&json!({ "accepts": [], "rejects": [] })))
        }
        _ => Ok(Reply::begun()),
    }
}
