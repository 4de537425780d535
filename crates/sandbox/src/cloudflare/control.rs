//! The control surface under `/_sandbox`, which the real API does not have: state, edits, faults, log.
//! For `kflare sandbox --no-operator`, so that what runs beside it can be tested from outside.

use serde_json::{Value, json};

use super::envelope::ApiErrors;
use super::plan::Plan;
use super::rate_limit;
use super::route::is_hex32;
use super::service::{Answer, Arrived};
use super::switches::Switches;
use super::token::{Permission, Scope, Token, TokenKind, TokenStatus};
use super::{ChangeKind, Checked, Cloudflare, ObjectKind};
use crate::fault::{Fault, Target};

/// Where the control surface begins.
pub(super) const PREFIX: &str = "/_sandbox";

/// Why a control request is refused.
#[derive(Debug, thiserror::Error)]
enum ControlError {
    #[error("there is no {0}; what there is stands in docs/guide/tour.md under \"Look at Cloudflare\"")]
    NoRoute(String),
    #[error("the body is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("{0} is missing or invalid")]
    Field(&'static str),
    #[error("unknown fault {0:?}; here can be set {can}", can = settable())]
    UnknownFault(String),
    #[error(
        "{0} is a fault of Kubernetes, which only scenarios bring about (`kflare sandbox run FILE`); here can be set {can}",
        can = settable()
    )]
    FaultOfKubernetes(Fault),
    #[error(transparent)]
    Permission(#[from] super::token::UnknownPermission),
    #[error("there is no such object")]
    NotFound,
    #[error("the API would refuse this: {0}")]
    Refused(#[from] ApiErrors),
}

/// Answers one control request; `path` comes without the prefix.
pub(super) fn answer(cloudflare: &Cloudflare, arrived: &Arrived, path: &str) -> Answer {
    let (status, body) = match act(cloudflare, arrived, path) {
        Ok(value) => (200, value),
        Err(error) => {
            let status = match error {
                ControlError::NoRoute(_) | ControlError::NotFound => 404,
                _ => 400,
            };
            (status, json!({ "error": error.to_string() }))
        }
    };
    Answer {
        status,
        content_type: "application/json",
        body: format!("{body:#}\n"),
        left: rate_limit::UNCOUNTED,
        retry_after: None,
        slow: false,
    }
}

fn act(cloudflare: &Cloudflare, arrived: &Arrived, path: &str) -> Result<Value, ControlError> {
    let method = arrived.method.as_str();
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let body = match arrived.body.is_empty() {
        true => json!({}),
        false => serde_json::from_slice(&arrived.body)?,
    };
    match (method, segments.as_slice()) {
        ("GET", [""] | ["state"]) => Ok(state(cloudflare)),
        ("GET", ["log"]) => Ok(log(cloudflare)),
        ("DELETE", ["log"]) => {
            cloudflare.log().reset();
            done()
        }
        ("GET", ["counts"]) => Ok(counts(cloudflare)),
        ("GET", ["history"]) => Ok(history(cloudflare)),
        ("GET", ["switches"]) => Ok(serde_json::to_value(cloudflare.switches())?),
        ("PATCH", ["switches"]) => patch_switches(cloudflare, body),
        ("POST", ["schemas"]) => {
            cloudflare.hold_to_schemas();
            done()
        }
        ("GET", ["schemas"]) => {
            let Checked { requests, answers } = cloudflare.checked();
            Ok(json!({ "requests": requests, "answers": answers }))
        }
        ("DELETE", ["misfits"]) => Ok(cloudflare.take_misfits().iter().map(ToString::to_string).collect()),
        ("POST", ["faults", name]) => arm(cloudflare, name, &body),
        ("POST", ["faults"]) => arm(cloudflare, text(&body, "fault")?, &body),
        ("DELETE", ["faults"]) => {
            cloudflare.faults().clear();
            done()
        }
        ("POST", ["commit_late"]) => {
            cloudflare.commit_late();
            done()
        }
        ("POST", ["accounts"]) => add_account(cloudflare, &body),
        ("POST", ["tokens"]) => add_token(cloudflare, &body),
        ("PATCH", ["tokens"]) => {
            found(cloudflare.set_token_status(text(&body, "secret")?, status_of(&body)?))
        }
        ("DELETE", ["tokens"]) => found(cloudflare.remove_token(text(&body, "secret")?)),
        ("POST", ["zones"]) => {
            let plan = plan_of(&body)?.unwrap_or_default();
            let id = cloudflare.add_zone(text(&body, "account_id")?, text(&body, "name")?, plan);
            Ok(json!({ "id": id }))
        }
        (_, ["zones", zone, rest @ ..]) => zone_act(cloudflare, method, zone, rest, body),
        ("POST", ["tunnels"]) => {
            Ok(json!({ "id": cloudflare.put_tunnel(text(&body, "account_id")?, &body)? }))
        }
        (_, ["tunnels", tunnel, rest @ ..]) => tunnel_act(cloudflare, method, tunnel, rest, &body),
        _ => Err(ControlError::NoRoute(format!("{method} {PREFIX}{path}"))),
    }
}

fn zone_act(
    cloudflare: &Cloudflare,
    method: &str,
    zone: &str,
    rest: &[&str],
    body: Value,
) -> Result<Value, ControlError> {
    match (method, rest) {
        ("DELETE", []) => found(cloudflare.remove_zone(zone)),
        ("POST", ["activate"]) => found(cloudflare.activate_zone(zone)),
        ("POST", ["move"]) => found(cloudflare.move_zone(zone)),
        ("POST", ["plan"]) => {
            let plan = plan_of(&body)?.ok_or(ControlError::Field("plan"))?;
            found(cloudflare.set_plan(zone, plan))
        }
        ("GET", ["dns_records"]) => Ok(Value::Array(cloudflare.records(zone))),
        ("POST", ["dns_records"]) => Ok(json!({ "id": cloudflare.put_record(zone, body)? })),
        ("PATCH", ["dns_records", record]) => {
            cloudflare.try_edit_record(zone, record, body)?;
            done()
        }
        ("DELETE", ["dns_records", record]) => found(cloudflare.remove_record(zone, record)),
        _ => Err(ControlError::NoRoute(format!("{method} {PREFIX}/zones/{zone}/{}", rest.join("/")))),
    }
}

/// Tunnels, and the connectors that this world plays: POST lets one begin with so many `connections` (four without saying),
/// PATCH sets how many each has, or that of `id`, DELETE ends them.
fn tunnel_act(
    cloudflare: &Cloudflare,
    method: &str,
    tunnel: &str,
    rest: &[&str],
    body: &Value,
) -> Result<Value, ControlError> {
    let connections = |default: Option<u64>| {
        let count = body.get("connections").map_or(default, Value::as_u64);
        count.and_then(|count| usize::try_from(count).ok()).ok_or(ControlError::Field("connections"))
    };
    let connector = body.get("id").and_then(Value::as_str);
    match (method, rest) {
        ("PATCH", []) => {
            cloudflare.edit_tunnel(tunnel, body)?;
            done()
        }
        ("DELETE", []) => found(cloudflare.remove_tunnel(tunnel)),
        ("PUT", ["configuration"]) => {
            cloudflare.configure_tunnel(tunnel, body)?;
            done()
        }
        ("POST", ["connectors"]) => {
            Ok(json!({ "id": cloudflare.connect_tunnel(tunnel, connections(Some(4))?)? }))
        }
        ("PATCH", ["connectors"]) => {
            cloudflare.set_tunnel_connections(tunnel, connector, connections(None)?)?;
            done()
        }
        ("DELETE", ["connectors"]) => {
            cloudflare.set_tunnel_connections(tunnel, connector, 0)?;
            done()
        }
        _ => Err(ControlError::NoRoute(format!("{method} {PREFIX}/tunnels/{tunnel}/{}", rest.join("/")))),
    }
}

fn done() -> Result<Value, ControlError> {
    Ok(json!({ "done": true }))
}

fn found(done: bool) -> Result<Value, ControlError> {
    if done { Ok(json!({ "done": true })) } else { Err(ControlError::NotFound) }
}

fn text<'a>(body: &'a Value, field: &'static str) -> Result<&'a str, ControlError> {
    body.get(field).and_then(Value::as_str).ok_or(ControlError::Field(field))
}

fn plan_of(body: &Value) -> Result<Option<Plan>, ControlError> {
    match body.get("plan").map(Value::as_str) {
        None => Ok(None),
        Some(name) => name.and_then(Plan::of_rate_plan).map(Some).ok_or(ControlError::Field("plan")),
    }
}

fn state(cloudflare: &Cloudflare) -> Value {
    let zones = cloudflare.zones();
    let records: serde_json::Map<String, Value> = zones
        .iter()
        .filter_map(|zone| zone["id"].as_str())
        .map(|id| (id.to_owned(), Value::Array(cloudflare.records(id))))
        .collect();
    let tunnels = cloudflare.tunnels();
    let configurations: serde_json::Map<String, Value> = tunnels
        .iter()
        .filter_map(|tunnel| tunnel["id"].as_str())
        .filter_map(|id| Some((id.to_owned(), cloudflare.tunnel_configuration(id)?)))
        .collect();
    json!({
        "accounts": cloudflare.accounts(),
        "zones": zones,
        "dns_records": records,
        "tunnels": tunnels,
        "tunnel_configurations": configurations,
    })
}

fn log(cloudflare: &Cloudflare) -> Value {
    let lines = cloudflare.log().lines().into_iter().map(|line| {
        json!({
            "at": line.at.to_string(),
            "method": line.method,
            "route": line.route,
            "path": line.path,
            "status": line.status,
            "body": line.body,
            "who": line.who,
        })
    });
    Value::Array(lines.collect())
}

fn counts(cloudflare: &Cloudflare) -> Value {
    let log = cloudflare.log();
    let routes = log
        .counts()
        .into_iter()
        .map(|((method, route), count)| json!({ "method": method, "route": route, "count": count }));
    json!({ "total": log.total(), "writes": log.writes(), "routes": routes.collect::<Vec<_>>() })
}

fn history(cloudflare: &Cloudflare) -> Value {
    let changes = cloudflare.history().into_iter().map(|change| {
        json!({
            "at": change.at.to_string(),
            "object": match change.object {
                ObjectKind::Zone => "zone",
                ObjectKind::DnsRecord => "dns_record",
                ObjectKind::Tunnel => "tunnel",
                ObjectKind::TunnelConfiguration => "tunnel_configuration",
            },
            "zone_id": change.zone_id,
            "id": change.id,
            "kind": match change.kind {
                ChangeKind::Create => "create",
                ChangeKind::Update => "update",
                ChangeKind::Delete => "delete",
            },
            "who": change.who,
            "before": change.before,
            "after": change.after,
        })
    });
    Value::Array(changes.collect())
}

/// Changes the given switches; the answer has all of them.
fn patch_switches(cloudflare: &Cloudflare, body: Value) -> Result<Value, ControlError> {
    let mut merged = serde_json::to_value(cloudflare.switches())?;
    json_patch::merge(&mut merged, &body);
    let switches: Switches = serde_json::from_value(merged.clone())?;
    cloudflare.set_switches(switches);
    Ok(merged)
}

/// The faults that this API can have.
fn settable() -> String {
    let ours: Vec<&str> =
        Fault::ALL.into_iter().filter(|fault| !fault.is_of_kubernetes()).map(Fault::name).collect();
    ours.join(", ")
}

fn arm(cloudflare: &Cloudflare, name: &str, body: &Value) -> Result<Value, ControlError> {
    let fault: Fault = name.parse().map_err(|_| ControlError::UnknownFault(name.to_owned()))?;
    if fault.is_of_kubernetes() {
        return Err(ControlError::FaultOfKubernetes(fault));
    }
    let word = |field: &'static str| match body.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(word)) => Ok(Some(word.clone())),
        Some(_) => Err(ControlError::Field(field)),
    };
    let number = |field: &'static str, default: u32| match body.get(field) {
        None => Ok(default),
        Some(value) => {
            value.as_u64().and_then(|number| u32::try_from(number).ok()).ok_or(ControlError::Field(field))
        }
    };
    let target = Target {
        method: word("method")?,
        path: word("path")?,
        writes: body.get("writes").and_then(Value::as_bool),
    };
    let times = number("times", 1)?;
    if times == 0 {
        return Err(ControlError::Field("times"));
    }
    cloudflare.faults().arm(fault, target, number("skip", 0)?, times);
    done()
}

/// `id` and `name`; optional `plan`, which its new zones get.
fn add_account(cloudflare: &Cloudflare, body: &Value) -> Result<Value, ControlError> {
    let id = text(body, "id")?;
    if !is_hex32(id) {
        return Err(ControlError::Field("id"));
    }
    cloudflare.add_account(id, text(body, "name")?);
    if let Some(plan) = plan_of(body)? {
        cloudflare.set_new_zone_plan(id, plan);
    }
    Ok(json!({ "id": id }))
}

fn status_of(body: &Value) -> Result<TokenStatus, ControlError> {
    match text(body, "status")? {
        "active" => Ok(TokenStatus::Active),
        "disabled" => Ok(TokenStatus::Disabled),
        "expired" => Ok(TokenStatus::Expired),
        _ => Err(ControlError::Field("status")),
    }
}

/// `secret` and `account_id`; optional `owned` (by the account), `permissions`, `zones`, `status`,
/// `expires_on`, `not_before`.
fn add_token(cloudflare: &Cloudflare, body: &Value) -> Result<Value, ControlError> {
    let (secret, account_id) = (text(body, "secret")?, text(body, "account_id")?);
    let mut token = Token::all(account_id);
    if body.get("owned").and_then(Value::as_bool) == Some(true) {
        token.kind = TokenKind::Account { account_id: account_id.to_owned() };
    } else if let Some(user) = body.get("user").and_then(Value::as_str) {
        token.kind = TokenKind::User { user: user.to_owned() };
    }
    if body.get("permissions").is_some() {
        let names = texts(body, "permissions")?;
        token.permissions = names.iter().map(|name| name.parse::<Permission>()).collect::<Result<_, _>>()?;
    }
    if body.get("zones").is_some() {
        token.zones = Scope::Only(texts(body, "zones")?.into_iter().collect());
    }
    if body.get("status").is_some() {
        token.status = status_of(body)?;
    }
    token.expires_on = time(body, "expires_on")?;
    token.not_before = time(body, "not_before")?;
    Ok(json!({ "id": cloudflare.add_token(secret, token) }))
}

fn texts(body: &Value, field: &'static str) -> Result<Vec<String>, ControlError> {
    let list = body.get(field).and_then(Value::as_array).ok_or(ControlError::Field(field))?;
    list.iter().map(|item| item.as_str().map(str::to_owned).ok_or(ControlError::Field(field))).collect()
}

fn time(body: &Value, field: &'static str) -> Result<Option<jiff::Timestamp>, ControlError> {
    match body.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_str().map(str::parse) {
            Some(Ok(time)) => Ok(Some(time)),
            _ => Err(ControlError::Field(field)),
        },
    }
}
