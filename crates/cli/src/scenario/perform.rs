//! What the commands do that take no time: to Kubernetes as a user, to Cloudflare behind kflare's back, to the faults.
//! Errors are what a user would read; letting time pass and checking are left to `run` and `expect`.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::SignedDuration;
use sandbox::cloudflare::{
    Cloudflare, CoexistenceCode, Culprit, IdenticalCode, Permission, Plan, PrivateProxied, RateLimitCode,
    Scope, Switches, Token, TokenStatus, UnknownPermission, UnknownZone,
};
use sandbox::fault::{Faults, Target};
use serde_json::{Value, json};

use super::run::Runner;
use super::script::{CloudflareEdit, Command, FaultOrder, Pointing, RecordName, Setup};
use super::setting::{Setting, Unreal};
use crate::file_text;
use crate::world::{ACCOUNT_ID, Side, TOKEN};

/// Bytes of a file that a script applies: far above any fixture.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

pub(super) async fn at_once<S: Setting>(runner: &mut Runner<S>, command: &Command) -> Result<(), String> {
    let folder = &runner.script.folder;
    let world = &mut runner.world;
    match command {
        Command::Apply(files) => {
            for file in files {
                for object in manifests(&folder.join(file))? {
                    world.apply(object).await?;
                }
            }
            Ok(())
        }
        Command::ApplyInline(object) => world.apply(object.clone()).await,
        Command::Delete(object) => world.delete(object).await,
        Command::Patch(object, patch) => world.patch(object, patch.clone()).await,
        Command::PatchStatus(object, patch) => world.patch_status(object, patch.clone()).await,
        Command::Point(object, pointing, record) => {
            let patch = pointed(world.cloudflare(), pointing, record)?;
            world.patch(object, patch).await
        }
        Command::Annotate(object, key, value) => {
            world.patch(object, json!({ "metadata": { "annotations": { key: value } } })).await
        }
        Command::Cloudflare(edit) => cloudflare(world.cloudflare(), edit),
        Command::Fault(order) if order.side == Side::Kubernetes => world.unreal(Unreal::Fault(order)),
        Command::Fault(order) => {
            arm(world.cloudflare().faults(), order);
            Ok(())
        }
        Command::FaultClear => {
            world.cloudflare().faults().clear();
            world.unreal(Unreal::NoFaults)
        }
        Command::Crash(None) => world.crash().await,
        Command::Crash(Some(point)) => world.crash_at(*point),
        Command::Start => world.start().await,
        Command::Jump { by, back } => {
            let by = SignedDuration::try_from(*by).map_err(|error| error.to_string())?;
            world.unreal(Unreal::Jump(if *back { -by } else { by }))
        }
        Command::Compact => world.unreal(Unreal::Compact),
        Command::Settle { .. } | Command::Advance(_) | Command::Plan(_) | Command::Expect(_) => Ok(()),
    }
}

fn pointed(api: &Cloudflare, at: &Pointing, record: &RecordName) -> Result<Value, String> {
    let found = records(api, record)?;
    let (_, first) =
        found.first().ok_or_else(|| format!("there is no record {} in Cloudflare", record.name))?;
    let (place, key) = match at {
        Pointing::Annotation(key) => ("annotations", key),
        Pointing::Label(key) => ("labels", key),
    };
    Ok(json!({ "metadata": { place: { key: first["id"] } } }))
}

fn manifests(path: &std::path::Path) -> Result<Vec<Value>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = file_text::read(path, FILE_BYTES_MAX).map_err(|error| failed(&error))?;
    serde_saphyr::from_multiple(&text).map_err(|error| failed(&error))
}

pub(super) fn arm(faults: &Faults, order: &FaultOrder) {
    let target = Target { method: order.method.clone(), path: order.path.clone(), writes: None };
    faults.arm(order.fault, target, order.after, order.times);
}

fn cloudflare(api: &Cloudflare, edit: &CloudflareEdit) -> Result<(), String> {
    match edit {
        CloudflareEdit::CreateRecord(record, fields) => {
            let (zone, name) = place(api, record)?;
            let mut body = object_of(fields);
            body["name"] = json!(name);
            body["type"] = json!(record.kind);
            api.put_record(&zone, body).map(drop).map_err(|errors| refusal(&errors))
        }
        CloudflareEdit::SetRecord(record, fields) => each_record(api, record, |zone, id| {
            api.try_edit_record(zone, id, object_of(fields)).map_err(|errors| refusal(&errors))
        }),
        CloudflareEdit::DeleteRecord(record) => each_record(api, record, |zone, id| {
            if api.remove_record(zone, id) { Ok(()) } else { Err(format!("there is no record {id}")) }
        }),
        CloudflareEdit::CreateZone(name, fields) => {
            let account = fields.get("account").and_then(Value::as_str).unwrap_or(ACCOUNT_ID);
            let id = api.add_zone(account, name, plan(fields)?.unwrap_or_default());
            set_zone(api, &id, fields)
        }
        CloudflareEdit::SetZone(name, fields) => {
            let id = zone_id(api, name)?;
            if let Some(plan) = plan(fields)? {
                api.set_plan(&id, plan);
            }
            set_zone(api, &id, fields)
        }
        CloudflareEdit::DeleteZone(name) => {
            let id = zone_id(api, name)?;
            if api.remove_zone(&id) { Ok(()) } else { Err(format!("there is no zone {name}")) }
        }
        CloudflareEdit::IssueToken(secret, fields) => {
            let token = token(api, fields)?;
            if !api.set_token(secret, token.clone()) {
                api.add_token(secret, token);
            }
            Ok(())
        }
        CloudflareEdit::TokenStatus(secret, status) => {
            let status = match status.as_str() {
                "active" => TokenStatus::Active,
                "disabled" => TokenStatus::Disabled,
                _ => TokenStatus::Expired,
            };
            let secret = secret.as_deref().unwrap_or(TOKEN);
            if api.set_token_status(secret, status) {
                Ok(())
            } else {
                Err("there is no such token".to_owned())
            }
        }
        CloudflareEdit::TokenPermissions(names) => {
            let token =
                Token::all(ACCOUNT_ID).with_permissions(permissions(names.iter().map(String::as_str))?);
            api.set_token(TOKEN, token);
            Ok(())
        }
    }
}

fn permissions<'n>(names: impl Iterator<Item = &'n str>) -> Result<Vec<Permission>, String> {
    names.map(|name| name.trim().parse().map_err(|error: UnknownPermission| error.to_string())).collect()
}

/// A token that may do everything in the account, but for what the fields take from it.
fn token(api: &Cloudflare, fields: &BTreeMap<String, Value>) -> Result<Token, String> {
    let mut token = Token::all(ACCOUNT_ID);
    for (field, value) in fields {
        match (field.as_str(), value.as_str().unwrap_or_default()) {
            ("permissions", names) => token = token.with_permissions(permissions(names.split(','))?),
            ("zone", name) => token.zones = Scope::Only([zone_id(api, name)?].into()),
            ("owner", "account") => token.kind = Token::account_owned(ACCOUNT_ID).kind,
            _ => {
                return Err(format!(
                    "a token has no {field}={value}; known are permissions, zone and owner=account"
                ));
            }
        }
    }
    Ok(token)
}

fn refusal(errors: &sandbox::cloudflare::ApiErrors) -> String {
    let texts: Vec<String> =
        errors.errors.iter().map(|error| format!("{} ({})", error.message, error.code)).collect();
    format!("Cloudflare refuses it: {}", texts.join("; "))
}

fn object_of(fields: &BTreeMap<String, Value>) -> Value {
    Value::Object(fields.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn plan(fields: &BTreeMap<String, Value>) -> Result<Option<Plan>, String> {
    let Some(word) = fields.get("plan") else { return Ok(None) };
    let found = Plan::ALL.into_iter().find(|plan| word == plan.name());
    found.map(Some).ok_or_else(|| format!("{word} is not a plan; known are free, pro, business, enterprise"))
}

fn set_zone(api: &Cloudflare, id: &str, fields: &BTreeMap<String, Value>) -> Result<(), String> {
    match fields.get("status").and_then(Value::as_str) {
        None | Some("pending") => {}
        Some("active") => drop(api.activate_zone(id)),
        Some("moved") => drop(api.move_zone(id)),
        Some(other) => {
            return Err(format!("{other:?} is not a status that can be set; known are active, moved"));
        }
    }
    Ok(())
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

fn zone_id(api: &Cloudflare, name: &str) -> Result<String, String> {
    let zones = api.zones();
    let zone = zones.iter().find(|zone| text(zone, "name") == name);
    zone.map(|zone| text(zone, "id").to_owned())
        .ok_or_else(|| format!("there is no zone {name} in Cloudflare"))
}

/// The zone of a record and its full name: by the zone's name at its end, else, without a final dot, below the
/// only zone.
pub(super) fn place(api: &Cloudflare, record: &RecordName) -> Result<(String, String), String> {
    let zones = api.zones();
    let full = record.name.trim_end_matches('.');
    let holds = |zone: &&Value| {
        let zone = text(zone, "name");
        full == zone || full.strip_suffix(zone).is_some_and(|rest| rest.ends_with('.'))
    };
    if let Some(zone) = zones.iter().filter(holds).max_by_key(|zone| text(zone, "name").len()) {
        return Ok((text(zone, "id").to_owned(), full.to_owned()));
    }
    match zones.as_slice() {
        _ if record.name.ends_with('.') => Err(format!("no zone in Cloudflare holds {}", record.name)),
        [zone] if record.name == "@" => Ok((text(zone, "id").to_owned(), text(zone, "name").to_owned())),
        [zone] => Ok((text(zone, "id").to_owned(), format!("{}.{}", record.name, text(zone, "name")))),
        zones => Err(format!(
            "there are {} zones in Cloudflare: write the full name of the record {:?}",
            zones.len(),
            record.name
        )),
    }
}

/// The records of this name and type, as Cloudflare's API answers them.
pub(super) fn records(api: &Cloudflare, record: &RecordName) -> Result<Vec<(String, Value)>, String> {
    let (zone, name) = place(api, record)?;
    let fits = |found: &Value| {
        text(found, "name") == name && record.kind.as_ref().is_none_or(|kind| text(found, "type") == kind)
    };
    Ok(api.records(&zone).into_iter().filter(fits).map(|found| (zone.clone(), found)).collect())
}

fn each_record(
    api: &Cloudflare,
    record: &RecordName,
    change: impl Fn(&str, &str) -> Result<(), String>,
) -> Result<(), String> {
    let found = records(api, record)?;
    if found.is_empty() {
        return Err(format!("there is no record {} in Cloudflare", record.name));
    }
    found.iter().try_for_each(|(zone, found)| change(zone, text(found, "id")))
}

fn seconds_of(switch: &str, text: &str) -> Result<Duration, String> {
    let seconds = text.trim_end_matches('s').parse().map(Duration::from_secs);
    seconds.map_err(|_| format!("cf.{switch}={text}: write seconds, as in `cf.{switch}=2s`"))
}

/// The switches that the `world` line names.
pub(super) fn switches(setup: &Setup) -> Result<Switches, String> {
    let mut switches = Switches::default();
    for (name, value) in &setup.switches {
        let on = value == "on";
        match (name.as_str(), value.as_str()) {
            ("rate-limit", "on" | "off") => switches.rate_limit = on,
            ("txt-quoted", "on" | "off") => switches.txt_quoted = on,
            ("lower-case-targets", "on" | "off") => switches.lower_case_targets = on,
            ("initializing", "on" | "off") => switches.zone_status_initializing = on,
            ("culprit", "pointer") => switches.batch_names_culprit = Culprit::Pointer,
            ("identical", "81057") => switches.identical_code = IdenticalCode::Code81057,
            ("coexistence", "specific") => switches.coexistence_code = CoexistenceCode::Specific,
            ("private-proxied", "unproxied") => switches.private_proxied = PrivateProxied::StayUnproxied,
            ("unknown-zone", "404") => switches.unknown_zone = UnknownZone::NotFound,
            ("unknown-zone", "400") => switches.unknown_zone = UnknownZone::Invalid,
            ("rate-limit-code", "971") => switches.rate_limit_code = RateLimitCode::Code971,
            ("record-quota", most) => {
                let most = most.parse().map_err(|_| format!("cf.record-quota={most}: write a number"))?;
                switches.record_quota = Some(most);
            }
            ("lag", seconds) => {
                let lag = seconds_of(name, seconds)?;
                switches.lag.list_after_create = lag;
                switches.lag.read_after_create = lag;
            }
            ("access-lag", seconds) => switches.lag.access_after_create = seconds_of(name, seconds)?,
            _ => {
                return Err(format!(
                    "cf.{name}={value} is no switch; known are rate-limit, txt-quoted, lower-case-targets and \
                     initializing (on, off), culprit=pointer, identical=81057, coexistence=specific, \
                     private-proxied=unproxied, unknown-zone=404|400, rate-limit-code=971, record-quota=N, \
                     lag=SECONDSs, access-lag=SECONDSs"
                ));
            }
        }
    }
    Ok(switches)
}
