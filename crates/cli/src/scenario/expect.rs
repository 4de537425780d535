//! Checks what a script expects. A failed check says what was found instead.

use std::collections::BTreeMap;
use std::time::Duration;

use sandbox::cloudflare::Cloudflare;
use serde_json::Value;
use tokio::time::Instant;

use super::perform::records;
use super::run::Runner;
use super::script::{Expectation, ObjectName, RecordName};
use super::setting::{Setting, resources};
use super::transcript::ready;
use crate::world::Side;

/// Between two looks at what is not yet as expected.
const LOOK: Duration = Duration::from_millis(20);

/// Checks, and looks again for as long as something may take to become so. What was counted does not change by looking.
pub(super) async fn check<S: Setting>(runner: &Runner<S>, expectation: &Expectation) -> Result<(), String> {
    let counted = matches!(expectation, Expectation::Calls { .. } | Expectation::Writes(..));
    let patience = if counted { Duration::ZERO } else { runner.world.patience() };
    let began = Instant::now();
    loop {
        match check_once(runner, expectation).await {
            Err(_) if began.elapsed() < patience => tokio::time::sleep(LOOK).await,
            outcome => return outcome,
        }
    }
}

async fn check_once<S: Setting>(runner: &Runner<S>, expectation: &Expectation) -> Result<(), String> {
    let world = &runner.world;
    match expectation {
        Expectation::Ready { object, status, reason, message } => {
            let found = world.find(object).await?;
            condition(found, status, reason.as_deref(), message.as_deref())
        }
        Expectation::Gone(object, gone) => match (world.find(object).await?, gone) {
            (Some(found), true) => Err(format!("it is still there: {}", shown(&found))),
            (None, false) => Err("there is none".to_owned()),
            _ => Ok(()),
        },
        Expectation::Field(object, pointer, wanted) => {
            let object = world.find(object).await?.ok_or("there is no such object")?;
            let found = object.pointer(pointer);
            equal(found, wanted.as_ref())
        }
        Expectation::Record { record, count, fields } => {
            record_is(world.cloudflare(), record, *count, fields)
        }
        Expectation::Zone { name, count, fields } => {
            let zones = world.cloudflare().zones();
            let found: Vec<Value> = zones.into_iter().filter(|zone| zone["name"] == name.as_str()).collect();
            counted(&found, *count, fields)
        }
        Expectation::Calls { method, route, count } => {
            let key = (method.clone(), route.clone());
            let found = runner.window.calls.get(&key).copied().unwrap_or(0);
            let others = || {
                let calls = runner.window.calls.iter();
                calls
                    .map(|((method, route), n)| format!("{method} {route}={n}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            if found == *count { Ok(()) } else { Err(format!("{found} calls; there were {}", others())) }
        }
        Expectation::Writes(side, count) => {
            let writes = runner.window.writes;
            let found = match side {
                Side::Kubernetes => writes.kubernetes,
                Side::Cloudflare => writes.cloudflare,
            };
            if found == *count { Ok(()) } else { Err(format!("there were {found}")) }
        }
        Expectation::Events(object, reason, count) => {
            events(&world.list("Event").await?, object, reason, *count)
        }
        Expectation::NoFinalizers => no_finalizers(world).await,
    }
}

fn shown(object: &Value) -> String {
    let condition = ready(object).cloned().unwrap_or_default();
    let finalizers = &object["metadata"]["finalizers"];
    format!(
        "Ready={} {}: {}; finalizers {finalizers}",
        condition["status"], condition["reason"], condition["message"]
    )
}

fn condition(
    found: Option<Value>,
    status: &str,
    reason: Option<&str>,
    message: Option<&str>,
) -> Result<(), String> {
    let found = found.ok_or("there is no such object")?;
    let Some(condition) = ready(&found) else { return Err("it has no condition".to_owned()) };
    let text = |field: &str| condition[field].as_str().unwrap_or_default();
    let fits = text("status") == status
        && reason.is_none_or(|reason| text("reason") == reason)
        && message.is_none_or(|part| text("message").contains(part));
    if fits { Ok(()) } else { Err(format!("it is {}", shown(&found))) }
}

fn equal(found: Option<&Value>, wanted: Option<&Value>) -> Result<(), String> {
    // A label's value is text even where it looks like a number.
    let same = match (found, wanted) {
        (Some(Value::String(found)), Some(wanted)) if !wanted.is_string() => {
            serde_json::from_str::<Value>(found).is_ok_and(|found| found == *wanted)
        }
        (found, wanted) => found == wanted,
    };
    match found {
        _ if same => Ok(()),
        None => Err("it is absent".to_owned()),
        Some(found) => Err(format!("it is {found}")),
    }
}

fn record_is(
    api: &Cloudflare,
    record: &RecordName,
    count: Option<usize>,
    fields: &BTreeMap<String, Value>,
) -> Result<(), String> {
    let found: Vec<Value> = match records(api, record) {
        Ok(found) => found.into_iter().map(|(_, record)| record).collect(),
        // Without a zone there is no record.
        Err(_) if count == Some(0) => Vec::new(),
        Err(message) => return Err(message),
    };
    counted(&found, count, fields)
}

fn counted(found: &[Value], count: Option<usize>, fields: &BTreeMap<String, Value>) -> Result<(), String> {
    let right_count = count.map_or(!found.is_empty(), |count| found.len() == count);
    let fits = |object: &Value| {
        fields.iter().all(|(name, wanted)| {
            let pointer = format!("/{}", name.replace('.', "/"));
            equal(object.pointer(&pointer), Some(wanted)).is_ok()
        })
    };
    if right_count && found.iter().all(fits) {
        return Ok(());
    }
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    Err(format!("there are {}: {}", found.len(), found.join(", ")))
}

fn events(events: &[Value], object: &ObjectName, reason: &str, count: usize) -> Result<(), String> {
    let about = |event: &&Value| {
        let regarding =
            if event["regarding"].is_object() { &event["regarding"] } else { &event["involvedObject"] };
        regarding["kind"] == object.resource.kind.as_str() && regarding["name"] == object.name.as_str()
    };
    let reasons: Vec<&str> =
        events.iter().filter(about).filter_map(|event| event["reason"].as_str()).collect();
    let found = reasons.iter().filter(|found| **found == reason).count();
    if found == count {
        Ok(())
    } else {
        Err(format!("there are {found}; all reasons: {}", reasons.join(", ")))
    }
}

async fn no_finalizers<S: Setting>(world: &S) -> Result<(), String> {
    let secrets = world.list("Secret").await?.into_iter().map(|secret| ("Secret", secret));
    let held: Vec<String> = resources(world)
        .await?
        .into_iter()
        .chain(secrets)
        .filter(|(_, object)| {
            let finalizers = object["metadata"]["finalizers"].as_array().into_iter().flatten();
            finalizers.filter_map(Value::as_str).any(|name| name.starts_with(kinds::names::GROUP))
        })
        .map(|(kind, object)| format!("{kind} {}", object["metadata"]["name"]))
        .collect();
    if held.is_empty() { Ok(()) } else { Err(format!("there are some on {}", held.join(", "))) }
}
