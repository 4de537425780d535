//! What a run prints: each command, the writes to Cloudflare that it led to, and the conditions that turned.
//! Sorted and free of wall-clock time, so that it can be compared with a golden.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use crate::world::Settled;

/// Objects named when a world does not come to rest.
const SHOWN_MAX: usize = 5;

#[derive(Debug, Default)]
pub(super) struct Transcript {
    text: String,
    /// The Ready condition of each object as last shown.
    shown: BTreeMap<String, String>,
}

impl Transcript {
    pub(super) fn command(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "> {text}");
    }

    pub(super) fn passed(
        &mut self,
        resources: &[(&'static str, Value)],
        settled: Settled,
        calls: &BTreeMap<(String, String), u64>,
    ) {
        for ((method, route), count) in calls.iter().filter(|((method, _), _)| method != "GET") {
            let times = if *count == 1 { String::new() } else { format!(" x{count}") };
            let _ = writeln!(self.text, "  cloudflare {method} {route}{times}");
        }
        if settled.crashed {
            let _ = writeln!(self.text, "  the operator died");
        }
        let now = conditions(resources);
        for (object, condition) in &now {
            if self.shown.get(object) != Some(condition) {
                let _ = writeln!(self.text, "  {object} {condition}");
            }
        }
        for object in self.shown.keys().filter(|object| !now.contains_key(*object)) {
            let _ = writeln!(self.text, "  {object} gone");
        }
        self.shown = now;
    }

    pub(super) fn plan(&mut self, plan: &str) {
        for line in plan.lines().filter(|line| !line.is_empty()) {
            let _ = writeln!(self.text, "  {line}");
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// The Ready condition of each object, on one line.
fn conditions(resources: &[(&'static str, Value)]) -> BTreeMap<String, String> {
    resources.iter().map(|(kind, object)| (title(kind, object), condition(object))).collect()
}

/// Objects that are not Ready, for people who wonder why a world does not come to rest.
pub(super) fn unready(resources: &[(&'static str, Value)]) -> String {
    let unready: Vec<String> = conditions(resources)
        .into_iter()
        .filter(|(_, condition)| !condition.starts_with("Ready=True"))
        .take(SHOWN_MAX)
        .map(|(object, condition)| format!("{object} {condition}"))
        .collect();
    if unready.is_empty() { "all objects are Ready".to_owned() } else { unready.join("; ") }
}

fn title(kind: &str, object: &Value) -> String {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{kind} {namespace}/{name}"),
        None => format!("{kind} {name}"),
    }
}

fn condition(object: &Value) -> String {
    let text = |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    match ready(object) {
        None => "without a condition".to_owned(),
        Some(condition) => {
            let (status, reason) = (text(condition, "status"), text(condition, "reason"));
            format!("Ready={status} {reason}: {}", text(condition, "message"))
        }
    }
}

/// The Ready condition of an object.
pub(super) fn ready(object: &Value) -> Option<&Value> {
    let conditions = object["status"]["conditions"].as_array()?;
    conditions.iter().find(|condition| condition["type"] == kinds::names::READY)
}
