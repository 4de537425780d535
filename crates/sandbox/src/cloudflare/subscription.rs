//! A zone's subscription, which is how its plan changes (cloudflare API docs: `plan` in PATCH is deprecated).
//! What a plan allows is left to `plan`.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::call::Call;
use super::envelope::{ApiErrors, Reply};
use super::plan::Plan;
use super::world::{World, stamp};
use super::zone::{Zone, ZoneRefusal};

/// Cloudflare API docs: billing frequencies.
const FREQUENCIES: [&str; 5] = ["weekly", "monthly", "quarterly", "yearly", "not-applicable"];
/// A period of 30 days; this world sends no bills.
const PERIOD: SignedDuration = SignedDuration::from_hours(30 * 24);

fn object(zone: &Zone) -> Value {
    let plan = zone.plan;
    let frequency = zone.frequency.as_deref().unwrap_or(plan.frequency());
    json!({
        "id": zone.subscription_id,
        "currency": "USD",
        "price": plan.price(),
        "frequency": if frequency.is_empty() { "not-applicable" } else { frequency },
        "state": if plan == Plan::Free { "Provisioned" } else { "Paid" },
        "current_period_start": stamp(zone.created_on),
        "current_period_end": stamp(zone.created_on + PERIOD),
        "rate_plan": {
            "id": plan.name(),
            "public_name": plan.object()["name"],
            "currency": "USD",
            "scope": "zone",
            "sets": [],
            "is_contract": plan == Plan::Enterprise,
            "externally_managed": false,
        },
    })
}

pub(super) fn get(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    Ok(Reply::value(&object(world.zone_of(now, call)?)))
}

/// POST: the first subscription; a Free zone has none that it would replace.
pub(super) fn create(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    update(world, now, call)
}

pub(super) fn update(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let zone = world.zone_of(now, call)?;
    let (id, current) = (zone.id.clone(), zone.plan);
    let body = call.json()?;
    let plan = match body.pointer("/rate_plan/id") {
        None | Some(Value::Null) => current,
        Some(word) => word.as_str().and_then(Plan::of_rate_plan).ok_or(ZoneRefusal::RatePlan)?,
    };
    let frequency = match body.get("frequency") {
        None | Some(Value::Null) => None,
        Some(word) => {
            let known = word.as_str().filter(|word| FREQUENCIES.contains(word));
            Some(known.ok_or(ZoneRefusal::InvalidField { field: "frequency" })?.to_owned())
        }
    };
    world.change_zone(now, &call.actor, &id, |zone| {
        zone.plan = plan;
        zone.frequency = frequency;
    });
    Ok(Reply::value(&object(world.zone_of(now, call)?)))
}
