//! POST dns_records/batch: deletes, patches, puts, posts in this order, all or nothing.
//! Each operation is carried out by `desk`.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::super::call::Call;
use super::super::envelope::{ApiErrors, Reply};
use super::super::switches::Culprit;
use super::super::world::World;
use super::desk::Desk;
use super::refusal::DnsRefusal;

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
    let answer = world.at_desk(&zone_id, now, &call.actor, |desk| {
        let mut answer = String::from("{");
        for (array, operations) in ARRAYS.into_iter().zip(arrays) {
            if answer.len() > 1 {
                answer.push(',');
            }
            answer.push_str(&format!("\"{array}\":["));
            for (position, operation) in operations.iter().enumerate() {
                let record = one(desk, array, operation).map_err(|refusal| {
                    let errors = ApiErrors::from(refusal);
                    match culprit {
                        Culprit::NotAtAll => errors,
                        Culprit::Pointer => errors.pointing_at(format!("/{array}/{position}")),
                    }
                })?;
                if position > 0 {
                    answer.push(',');
                }
                answer.push_str(&record.answer);
            }
            answer.push(']');
        }
        answer.push('}');
        Ok::<_, ApiErrors>(answer)
    })?;
    Ok(Reply::json(answer))
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

fn one(
    desk: &mut Desk<'_>,
    array: &str,
    operation: &Value,
) -> Result<std::sync::Arc<super::record::Record>, DnsRefusal> {
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
