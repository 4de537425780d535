//! POST dns_records/batch: deletes, patches, puts, posts in this order, all or nothing.
//! Each operation is carried out by `desk`.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::super::call::Call;
use super::super::envelope::{ApiErrors, Reply};
use super::super::switches::Culprit;
use super::super::world::World;
use super::desk::Desk;
use super::record::Record;
use super::refusal::DnsRefusal;
use super::shadow::Shadow;

/// The arrays of a batch, in the order in which Cloudflare carries them out.
const ARRAYS: [&str; 4] = ["deletes", "patches", "puts", "posts"];

pub(in crate::cloudflare) fn run(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let zone = world.zone_of(now, call)?;
    let (zone_id, max) = (zone.id.clone(), zone.plan.batch_max());
    let body = call.json()?;
    let body = body.as_object().ok_or_else(|| DnsRefusal::body("it must be an object"))?;
    let arrays = arrays_of(body)?;
    if arrays.iter().map(|list| list.len()).sum::<usize>() > max {
        return Err(DnsRefusal::BatchSize { max }.into());
    }
    let culprit = world.switches.batch_names_culprit;
    let done = world.at_desk(&zone_id, now, &call.actor, |desk| all(desk, arrays, culprit))?;
    let zone = world.zone_of(now, call)?;
    let shadow = Shadow::of(&call.query, &zone.records, &zone.name, done.iter().map(Vec::len).sum());
    let mut answer = String::from("{");
    for (array, records) in ARRAYS.into_iter().zip(&done) {
        let opening = if answer.len() > 1 { "," } else { "" };
        answer.push_str(&format!("{opening}\"{array}\":["));
        for (position, record) in records.iter().enumerate() {
            if position > 0 {
                answer.push(',');
            }
            answer.push_str(&shadow.show(record));
        }
        answer.push(']');
    }
    answer.push('}');
    Ok(Reply::json(answer))
}

/// Carries out the operations; the first that is refused ends the batch.
fn all(
    desk: &mut Desk<'_>,
    arrays: [&[Value]; 4],
    culprit: Culprit,
) -> Result<[Vec<Arc<Record>>; 4], ApiErrors> {
    let mut done = [const { Vec::new() }; 4];
    for ((records, array), operations) in done.iter_mut().zip(ARRAYS).zip(arrays) {
        for (position, operation) in operations.iter().enumerate() {
            let record = one(desk, array, operation).map_err(|refusal| match culprit {
                Culprit::NotAtAll => ApiErrors::from(refusal),
                Culprit::Pointer => ApiErrors::from(refusal).pointing_at(format!("/{array}/{position}")),
            })?;
            records.push(record);
        }
    }
    Ok(done)
}

/// Absent and null arrays are empty.
fn arrays_of(body: &Map<String, Value>) -> Result<[&[Value]; 4], DnsRefusal> {
    let mut arrays: [&[Value]; 4] = [&[]; 4];
    for (slot, name) in arrays.iter_mut().zip(ARRAYS) {
        *slot = match body.get(name) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(list)) => list,
            Some(_) => return Err(DnsRefusal::field(name)),
        };
    }
    Ok(arrays)
}

fn one(desk: &mut Desk<'_>, array: &str, operation: &Value) -> Result<Arc<Record>, DnsRefusal> {
    if array == "posts" {
        return desk.create(operation);
    }
    let object = operation.as_object().ok_or_else(|| DnsRefusal::body("operations must be objects"))?;
    let id = match object.get("id") {
        Some(Value::String(id)) => id,
        Some(Value::Null) | None => return Err(DnsRefusal::body("id is required")),
        Some(_) => return Err(DnsRefusal::field("id")),
    };
    match array {
        "deletes" => desk.remove(id),
        "patches" => desk.merge(id, operation),
        _ => desk.overwrite(id, operation),
    }
}
