//! The calls on zones: list, create, get, patch, delete, activation check, cache purge.
//! What a zone is and looks like is left to `zone`; plans by subscription to `subscription`.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::call::Call;
use super::dns::name;
use super::envelope::{ApiErrors, Reply};
use super::gateway::Gateway;
use super::plan::Plan;
use super::query::{Page, SHORT_LIST};
use super::token::Permission;
use super::world::World;
use super::zone::{INITIALIZING_FOR, Zone, ZoneRefusal, ZoneType, is_younger};
use super::zone_filter::ZoneFilter;

/// Domains that nobody can register (RFC 6761): what "domain not registered" looks like in this world.
const UNREGISTERED: &str = ".invalid";

/// Public suffixes of two labels that people use most; any other name of three labels is a subdomain.
const LONG_SUFFIXES: [&str; 12] = [
    "co.uk", "org.uk", "ac.uk", "gov.uk", "com.au", "net.au", "org.au", "co.nz", "co.jp", "com.br", "co.in",
    "co.za",
];

/// Cloudflare docs: URLs of one purge on plans other than Enterprise.
const PURGE_FILES_MAX: usize = 100;

pub(super) fn list(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let page = Page::of(&call.query, SHORT_LIST, world.switches.too_large_per_page)?;
    let filter = ZoneFilter::of(&call.query)?;
    let lag = world.switches.lag.list_after_create;
    let mut rows: Vec<(&Zone, &str)> = world
        .zones
        .values()
        .filter(|zone| call.actor.sees_zone(&zone.account_id, &zone.id))
        .filter(|zone| !is_younger(zone.created_on, now, lag, &call.actor))
        .map(|zone| (zone, world.account_name(&zone.account_id)))
        .filter(|(zone, account_name)| filter.keeps(zone, account_name, now))
        .collect();
    filter.sort(&mut rows, now);
    let (part, info) = page.cut(&rows);
    let objects: Vec<Value> =
        part.iter().map(|(zone, account_name)| zone.object(account_name, now)).collect();
    Ok(Reply::page(Value::Array(objects).to_string(), info))
}

pub(super) fn create(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let body = call.json()?;
    let name = body
        .get("name")
        .and_then(Value::as_str)
        .and_then(name::domain)
        .ok_or(ZoneRefusal::InvalidDomain)
        .map_err(|refusal| ApiErrors::from(refusal).pointing_at("/name".to_owned()))?;
    // Cloudflare's Go client of before 2025 sends the account by its former name, and is still served.
    let account_id = body
        .pointer("/account/id")
        .or_else(|| body.pointer("/organization/id"))
        .and_then(Value::as_str)
        .ok_or(ZoneRefusal::AccountMissing)
        .map_err(|refusal| ApiErrors::from(refusal).pointing_at("/account/id".to_owned()))?;
    let kind = match body.get("type") {
        None | Some(Value::Null) => ZoneType::Full,
        Some(word) => word
            .as_str()
            .and_then(ZoneType::of)
            .ok_or(ZoneRefusal::InvalidField { field: "type" })
            .map_err(|refusal| ApiErrors::from(refusal).pointing_at("/type".to_owned()))?,
    };
    let plan = match world.accounts.get(account_id) {
        Some(account) if call.actor.may_add_zones(account_id) => account.new_zone_plan,
        _ => return Err(Gateway::NoPermission.into()),
    };
    refuse_name(world, &name, plan == Plan::Enterprise)?;
    if kind.least_plan() > plan {
        return Err(ZoneRefusal::Plan { what: kind.name() }.into());
    }
    let mut zone = Zone::new(world.ids.next(), world.ids.next(), account_id, &name, now);
    zone.kind = kind;
    zone.plan = plan;
    if world.switches.zone_status_initializing {
        zone.initializing_until = now + INITIALIZING_FOR;
    }
    let id = zone.id.clone();
    let answer = world.zone_object(&zone, now);
    world.zones.insert(id.clone(), zone);
    world.note_zone(now, &call.actor, &id, None);
    Ok(Reply::value(&answer))
}

fn refuse_name(world: &World, name: &str, enterprise: bool) -> Result<(), ApiErrors> {
    if world.switches.banned_names.contains(name) {
        return Err(ZoneRefusal::Banned { name: name.to_owned() }.into());
    }
    if name.ends_with(UNREGISTERED) {
        return Err(ZoneRefusal::NotRegistered { name: name.to_owned() }.into());
    }
    if !enterprise && is_subdomain(name) {
        return Err(ZoneRefusal::Subdomain.into());
    }
    if world.zones.values().any(|zone| &*zone.name == name) {
        return Err(ZoneRefusal::Exists { name: name.to_owned() }.into());
    }
    Ok(())
}

fn is_subdomain(name: &str) -> bool {
    let labels = name.split('.').count();
    let suffix =
        LONG_SUFFIXES.iter().any(|suffix| name.strip_suffix(suffix).is_some_and(|rest| rest.ends_with('.')));
    labels > if suffix { 3 } else { 2 }
}

pub(super) fn get(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let zone = world.zone_of(now, call)?;
    if is_younger(zone.created_on, now, world.switches.lag.read_after_create, &call.actor) {
        return Err(Gateway::NoObject { path: format!("/zones/{}", zone.id), status: 404 }.into());
    }
    Ok(Reply::value(&world.zone_object(zone, now)))
}

/// What a PATCH of a zone changes.
enum ZonePatch {
    Paused(bool),
    Kind(ZoneType),
    Vanity(Vec<String>),
    Plan(Plan),
}

pub(super) fn patch(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let zone = world.zone_of(now, call)?;
    let (id, plan) = (zone.id.clone(), zone.plan);
    let patch = patch_of(&call.json()?)?;
    match &patch {
        ZonePatch::Kind(kind) if kind.least_plan() > plan => {
            return Err(ZoneRefusal::Plan { what: kind.name() }.into());
        }
        ZonePatch::Vanity(servers) if !servers.is_empty() && plan < Plan::Business => {
            return Err(ZoneRefusal::Plan { what: "vanity_name_servers" }.into());
        }
        ZonePatch::Plan(_) => call.actor.require(Permission::BillingEdit)?,
        _ => {}
    }
    let answer = world.change_zone(now, &call.actor, &id, |zone| match patch {
        ZonePatch::Paused(paused) => zone.paused = paused,
        ZonePatch::Kind(kind) => zone.kind = kind,
        ZonePatch::Vanity(servers) => zone.vanity_name_servers = servers,
        ZonePatch::Plan(plan) => zone.plan = plan,
    });
    Ok(Reply::value(&answer.unwrap_or(Value::Null)))
}

/// Cloudflare API docs: exactly one property per call.
fn patch_of(body: &Value) -> Result<ZonePatch, ApiErrors> {
    const PROPERTIES: [&str; 4] = ["paused", "type", "vanity_name_servers", "plan"];
    let mut given = PROPERTIES.into_iter().filter_map(|field| body.get(field).map(|value| (field, value)));
    let (Some((field, value)), None) = (given.next(), given.next()) else {
        return Err(ZoneRefusal::OneProperty.into());
    };
    let patch = match field {
        "paused" => value.as_bool().map(ZonePatch::Paused),
        "type" => value.as_str().and_then(ZoneType::of).map(ZonePatch::Kind),
        "vanity_name_servers" => value
            .as_array()
            .and_then(|servers| servers.iter().map(|server| name::domain(server.as_str()?)).collect())
            .map(ZonePatch::Vanity),
        _ => value.get("id").and_then(Value::as_str).and_then(Plan::of_id).map(ZonePatch::Plan),
    };
    patch
        .ok_or(ZoneRefusal::InvalidField { field })
        .map_err(|refusal| ApiErrors::from(refusal).pointing_at(format!("/{field}")))
}

pub(super) fn delete(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let id = world.zone_of(now, call)?.id.clone();
    world.drop_zone(now, &call.actor, &id);
    Ok(Reply::value(&json!({ "id": id })))
}

pub(super) fn activation_check(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let zone = world.zone_of(now, call)?;
    let (id, seconds) = (zone.id.clone(), zone.plan.activation_check_s());
    let span = SignedDuration::from_secs(seconds);
    if zone.checked_on.is_some_and(|last| now.duration_since(last) < span) {
        return Err(ZoneRefusal::CheckedTooSoon { seconds }.into());
    }
    world.change_zone(now, &call.actor, &id, |zone| zone.checked_on = Some(now));
    Ok(Reply::value(&json!({ "id": id })))
}

pub(super) fn purge_cache(world: &mut World, now: Timestamp, call: &Call) -> Result<Reply, ApiErrors> {
    let id = world.zone_of(now, call)?.id.clone();
    let body = call.json()?;
    let everything = body.get("purge_everything").and_then(Value::as_bool) == Some(true);
    let lists: Vec<&Vec<Value>> = ["files", "tags", "hosts", "prefixes"]
        .into_iter()
        .filter_map(|field| body.get(field).and_then(Value::as_array))
        .collect();
    let valid = match lists.as_slice() {
        [] => everything,
        [list] => !everything && (1..=PURGE_FILES_MAX).contains(&list.len()),
        _ => false,
    };
    if valid { Ok(Reply::value(&json!({ "id": id }))) } else { Err(ZoneRefusal::Purge.into()) }
}
