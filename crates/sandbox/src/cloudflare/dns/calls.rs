//! The calls on single records: create, get, overwrite, merge, delete, and usage.
//! Lists, batches and zone files have modules of their own.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::call::Call;
use super::super::envelope::{ApiErrors, Reply};
use super::super::gateway::Gateway;
use super::super::plan::Plan;
use super::super::world::World;
use super::super::zone::is_younger;
use super::record::Record;
use super::refusal::DnsRefusal;
use super::shadow::Shadow;

pub(in crate::cloudflare) fn create(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let zone_id = world.zone_of(now, call)?.id.clone();
    let body = call.json()?;
    let record = world.at_desk(&zone_id, now, &call.actor, |desk| desk.create(&body))?;
    shown(world, now, call, &record)
}

pub(in crate::cloudflare) fn get(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let lag = world.switches.lag.read_after_create;
    let zone = world.zone_of(now, call)?;
    let record = zone
        .records
        .get(call.id(1))
        .filter(|record| !is_younger(record.created_on, now, lag, &call.actor))
        .cloned()
        .ok_or(DnsRefusal::NoRecord)?;
    shown(world, now, call, &record)
}

/// The record as it stands now, with the metadata that the query asks for.
fn shown(world: &World, now: Timestamp, call: &Call, record: &Record) -> Result<Reply, ApiErrors> {
    let zone = world.zone_of(now, call)?;
    let shadow = Shadow::of(&call.query, &zone.records, &zone.name, 1);
    Ok(Reply::json(shadow.show(record).into_owned()))
}

/// PUT and PATCH.
pub(in crate::cloudflare) fn change(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let zone_id = world.zone_of(now, call)?.id.clone();
    let (id, body) = (call.id(1), call.json()?);
    let record = world.at_desk(&zone_id, now, &call.actor, |desk| match call.routed.row.method {
        "PUT" => desk.overwrite(id, &body),
        _ => desk.merge(id, &body),
    })?;
    shown(world, now, call, &record)
}

pub(in crate::cloudflare) fn delete(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let zone_id = world.zone_of(now, call)?.id.clone();
    let record = world.at_desk(&zone_id, now, &call.actor, |desk| desk.remove(call.id(1)))?;
    Ok(Reply::value(&json!({ "id": record.id })))
}

pub(in crate::cloudflare) fn usage(
    world: &mut World,
    now: Timestamp,
    call: &Call,
) -> Result<Reply, ApiErrors> {
    let zone = world.zone_of(now, call)?;
    let (plan, held) = (zone.plan, zone.records.len());
    // Cloudflare API docs: the quota is null where it is the account's (Enterprise).
    let quota = (plan != Plan::Enterprise).then(|| world.switches.record_quota(plan));
    Ok(Reply::value(&json!({ "record_quota": quota, "record_usage": held })))
}

pub(in crate::cloudflare) fn account_usage(world: &mut World, call: &Call) -> Result<Reply, ApiErrors> {
    let id = call.id(0);
    if !world.accounts.contains_key(id) || !call.actor.sees_account(id) {
        return Err(Gateway::Unauthorized.into());
    }
    let usage: usize =
        world.zones.values().filter(|zone| zone.account_id == id).map(|zone| zone.records.len()).sum();
    Ok(Reply::value(&json!({ "record_quota": Value::Null, "record_usage": usage })))
}
