//! Checks what a script expects. A failed check says what was found instead.

use std::collections::BTreeMap;

use serde_json::Value;

use super::perform::records;
use super::run::Runner;
use super::script::{Expectation, ObjectName, RecordName};
use super::transcript::ready;
use crate::world::{Side, World};

pub(super) fn check(runner: &Runner, expectation: &Expectation) -> Result<(), String> {
    let world = &runner.world;
    match expectation {
        Expectation::Ready { object, status, reason, message } => {
            condition(world, object, status, reason.as_deref(), message.as_deref())
        }
        Expectation::Gone(object, gone) => match (find(world, object), gone) {
            (Some(found), true) => Err(format!("it is still there: {}", shown(&found))),
            (None, false) => Err("there is none".to_owned()),
            _ => Ok(()),
        },
        Expectation::Field(object, pointer, wanted) => {
            let object = find(world, object).ok_or("there is no such object")?;
            let found = object.pointer(pointer);
            equal(found, wanted.as_ref())
        }
        Expectation::Record { record, count, fields } => record_is(world, record, *count, fields),
        Expectation::Zone { name, count, fields } => {
            let zones = world.cloudflare.zones();
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
        Expectation::Events(object, reason, count) => events(world, object, reason, *count),
        Expectation::NoFinalizers => no_finalizers(world),
    }
}

fn find(world: &World, object: &ObjectName) -> Option<Value> {
    world.kubernetes.get(&object.resource.kind, Some(&object.namespace), &object.name)
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
    world: &World,
    object: &ObjectName,
    status: &str,
    reason: Option<&str>,
    message: Option<&str>,
) -> Result<(), String> {
    let found = find(world, object).ok_or("there is no such object")?;
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
    world: &World,
    record: &RecordName,
    count: Option<usize>,
    fields: &BTreeMap<String, Value>,
) -> Result<(), String> {
    let found: Vec<Value> = match records(world, record) {
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

fn events(world: &World, object: &ObjectName, reason: &str, count: usize) -> Result<(), String> {
    let events = world.kubernetes.list("Event");
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

fn no_finalizers(world: &World) -> Result<(), String> {
    let secrets = world.kubernetes.list("Secret").into_iter().map(|secret| ("Secret", secret));
    let held: Vec<String> = world
        .resources()
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
