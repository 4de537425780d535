//! Events, one store behind two groups. Leaves the translation between the groups to `form`.

use serde_json::{Value, json};

use super::super::complaint::{invalid, invalid_raw, required};
use super::super::names::qualified_name_errors;
use super::super::resource::Endpoint;
use super::super::schema::Cause;
use super::text;

/// `NoteLengthLimit` and its neighbours in `pkg/apis/core/validation/events.go`, in bytes.
const NOTE_MAX: usize = 1024;
const REASON_MAX: usize = 128;
const ACTION_MAX: usize = 128;
const REPORTER_MAX: usize = 128;

/// What `events.k8s.io` does not let change, as the store and as complaints call it.
const FIXED: &[(&str, &str)] = &[
    ("involvedObject", "involvedObject"),
    ("reason", "reason"),
    ("message", "message"),
    ("source", "source"),
    ("firstTimestamp", "firstTimestamp"),
    ("lastTimestamp", "lastTimestamp"),
    ("count", "count"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("action", "action"),
    ("related", "related"),
    ("reportingComponent", "reportingController"),
    ("reportingInstance", "reportingInstance"),
];

/// Go writes these even when they are empty: kubectl's columns expect them.
pub(super) fn allocate(new: &mut Value) {
    for (field, value) in
        [("reportingComponent", json!("")), ("reportingInstance", json!("")), ("source", json!({}))]
    {
        super::set_default(new, field, value);
    }
    super::nulls(new, &["eventTime", "firstTimestamp", "lastTimestamp"]);
}

pub(super) fn validate(endpoint: &Endpoint, new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = legacy_causes(endpoint, new);
    if endpoint.group.is_empty() {
        // The core group keeps its old, lax rules.
        return causes;
    }
    match old {
        None => causes.extend(strict_causes(new)),
        Some(old) => {
            if new["series"] != old["series"] {
                causes.extend(series_causes(new));
            }
            let changed = FIXED.iter().filter(|(stored, _)| new[*stored] != old[*stored]);
            causes.extend(changed.map(|(stored, name)| match &new[*stored] {
                Value::String(text) => invalid(*name, text, "field is immutable"),
                other => invalid_raw(*name, other, "field is immutable"),
            }));
        }
    }
    causes
}

/// `legacyValidateEvent`: what events with a time need in either group, and whose namespace they are in.
fn legacy_causes(endpoint: &Endpoint, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let of = text(&new["involvedObject"], "namespace");
    let own = text(&new["metadata"], "namespace");
    let has_time = !new["eventTime"].is_null();
    let fits = match (of.is_empty(), has_time) {
        (true, true) => matches!(own, "default" | "kube-system"),
        (true, false) => own == "default",
        (false, true) => true,
        (false, false) => of == own,
    };
    if !fits {
        causes.push(invalid("involvedObject.namespace", of, "does not match event.namespace"));
    }
    if !has_time {
        return causes;
    }
    let reporter = if endpoint.group.is_empty() { "reportingComponent" } else { "reportingController" };
    let reporting = text(new, "reportingComponent");
    if reporting.is_empty() {
        causes.push(required(reporter, ""));
    }
    causes.extend(qualified_name_errors(reporting).iter().map(|error| invalid(reporter, reporting, error)));
    for (field, max) in [("reportingInstance", REPORTER_MAX), ("action", ACTION_MAX), ("reason", REASON_MAX)]
    {
        let value = text(new, field);
        if value.is_empty() {
            causes.push(required(field, ""));
        }
        if value.len() > max {
            causes.push(invalid(field, "", format!("can have at most {max} characters")));
        }
    }
    if text(new, "message").len() > NOTE_MAX {
        causes.push(invalid("message", "", format!("can have at most {NOTE_MAX} characters")));
    }
    causes
}

fn series_causes(new: &Value) -> Vec<Cause> {
    let series = &new["series"];
    let mut causes = Vec::new();
    if !series.is_object() {
        return causes;
    }
    if series["count"].as_i64().unwrap_or_default() < 2 {
        causes.push(invalid("series.count", "", "should be at least 2"));
    }
    if series["lastObservedTime"].is_null() {
        causes.push(required("series.lastObservedTime", ""));
    }
    causes
}

/// `ValidateEventCreate`, beyond that.
fn strict_causes(new: &Value) -> Vec<Cause> {
    let mut causes = series_causes(new);
    if new["eventTime"].is_null() {
        causes.push(required("eventTime", ""));
    }
    let kind = text(new, "type");
    if !matches!(kind, "Normal" | "Warning") {
        causes.push(invalid("type", "", format!("has invalid value: {kind}")));
    }
    let source = &new["source"];
    let is_set = [
        ("firstTimestamp", !new["firstTimestamp"].is_null()),
        ("lastTimestamp", !new["lastTimestamp"].is_null()),
        ("count", new["count"].as_i64().unwrap_or_default() != 0),
        ("source", !(text(source, "component").is_empty() && text(source, "host").is_empty())),
    ];
    let set = is_set.iter().filter(|(_, is_set)| *is_set);
    causes.extend(set.map(|(field, _)| invalid(*field, "", "needs to be unset")));
    causes
}
