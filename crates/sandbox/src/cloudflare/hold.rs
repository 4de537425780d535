//! Zone holds, an Enterprise feature.
//! A hold is stored and shown; this world refuses a second zone of the same name with or without one.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::call::Call;
use super::envelope::{ApiErrors, Reply};
use super::plan::Plan;
use super::world::{World, stamp};
use super::zone::{Zone, ZoneRefusal};

/// A hold on a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hold {
    include_subdomains: bool,
    hold_after: Timestamp,
}

fn object(hold: Option<&Hold>, now: Timestamp) -> Value {
    match hold {
        None => json!({ "hold": false }),
        Some(hold) => json!({
            "hold": hold.hold_after <= now,
            "include_subdomains": hold.include_subdomains,
            "hold_after": stamp(hold.hold_after),
        }),
    }
}

fn enterprise<'a>(world: &'a World, now: Timestamp, call: &Call) -> Result<&'a Zone, ApiErrors> {
    let zone = world.zone_of(now, call)?;
    if zone.plan == Plan::Enterprise { Ok(zone) } else { Err(ZoneRefusal::HoldPlan.into()) }
}

pub(super) fn get(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    Ok(Reply::value(&object(world.zone_of(now, call)?.hold.as_ref(), now)))
}

pub(super) fn create(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let id = enterprise(world, now, call)?.id.clone();
    let include_subdomains = call.query.get("include_subdomains") == Some("true");
    let hold = Hold { include_subdomains, hold_after: now };
    let answer = object(Some(&hold), now);
    world.change_zone(now, &call.actor, &id, |zone| zone.hold = Some(hold));
    Ok(Reply::value(&answer))
}

pub(super) fn patch(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let zone = enterprise(world, now, call)?;
    let id = zone.id.clone();
    let mut hold = zone.hold.clone().ok_or(ZoneRefusal::NoHold)?;
    let body = call.json()?;
    match body.get("include_subdomains") {
        None | Some(Value::Null) => {}
        Some(value) => {
            hold.include_subdomains =
                value.as_bool().ok_or(ZoneRefusal::InvalidField { field: "include_subdomains" })?;
        }
    }
    hold.hold_after = time(body.get("hold_after"))?.unwrap_or(hold.hold_after);
    let answer = object(Some(&hold), now);
    world.change_zone(now, &call.actor, &id, |zone| zone.hold = Some(hold));
    Ok(Reply::value(&answer))
}

/// Removes the hold; with `hold_after` it comes back then.
pub(super) fn delete(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let zone = enterprise(world, now, call)?;
    let id = zone.id.clone();
    let hold = zone.hold.clone().ok_or(ZoneRefusal::NoHold)?;
    let after = call.query.get("hold_after").map(Value::from);
    let kept = time(after.as_ref())?.map(|hold_after| Hold { hold_after, ..hold });
    let answer = object(kept.as_ref(), now);
    world.change_zone(now, &call.actor, &id, |zone| zone.hold = kept);
    Ok(Reply::value(&answer))
}

fn time(value: Option<&Value>) -> Result<Option<Timestamp>, ApiErrors> {
    let refusal = ZoneRefusal::InvalidField { field: "hold_after" };
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(text) => match text.as_str().map(str::parse) {
            Some(Ok(time)) => Ok(Some(time)),
            _ => Err(refusal.into()),
        },
    }
}
