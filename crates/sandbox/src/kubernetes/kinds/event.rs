//! Events, one store behind two groups. Leaves the translation between the groups to `form`.

use serde_json::{Value, json};

use super::super::complaint::{invalid, required};
use super::super::resource::Endpoint;
use super::super::schema::Cause;
use super::text;

/// `NoteLengthLimit` and its neighbours in `pkg/apis/core/validation/events.go`, in bytes.
const NOTE_MAX: usize = 1024;
const REASON_MAX: usize = 128;
const ACTION_MAX: usize = 128;
const REPORTER_MAX: usize = 128;

/// What `events.k8s.io` does not let change; the last name is the one in the store.
const FIXED: &[(&str, &str)] = &[
    ("regarding", "involvedObject"),
    ("related", "related"),
    ("reason", "reason"),
    ("action", "action"),
    ("note", "message"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("reportingController", "reportingComponent"),
    ("reportingInstance", "reportingInstance"),
];

pub(super) fn default(new: &mut Value) {
    // Go writes these even when they are empty: kubectl's columns expect them.
    for (field, value) in
        [("reportingComponent", json!("")), ("reportingInstance", json!("")), ("source", json!({}))]
    {
        super::set_default(new, field, value);
    }
}

pub(super) fn validate(endpoint: &Endpoint, new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = namespace_causes(new);
    if endpoint.group.is_empty() {
        // The core group keeps its old, lax rules (`legacyValidateEvent`).
        return causes;
    }
    match old {
        None => causes.extend(strict_causes(new)),
        Some(old) => {
            let changed = FIXED.iter().filter(|(_, stored)| new[*stored] != old[*stored]);
            causes.extend(
                changed.map(|(name, stored)| invalid(*name, text(new, stored), "field is immutable")),
            );
        }
    }
    causes
}

fn namespace_causes(new: &Value) -> Vec<Cause> {
    let of = text(&new["involvedObject"], "namespace");
    let own = text(&new["metadata"], "namespace");
    // What has no namespace is reported in `default`, or in the system's.
    let fits = if of.is_empty() { matches!(own, "default" | "kube-system") } else { of == own };
    if fits {
        Vec::new()
    } else {
        vec![invalid("involvedObject.namespace", of, "does not match event.namespace")]
    }
}

fn strict_causes(new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if new["eventTime"].is_null() {
        causes.push(required("eventTime", ""));
    }
    for (name, stored, max) in [
        ("reportingController", "reportingComponent", usize::MAX),
        ("reportingInstance", "reportingInstance", REPORTER_MAX),
        ("action", "action", ACTION_MAX),
        ("reason", "reason", REASON_MAX),
    ] {
        let value = text(new, stored);
        if value.is_empty() {
            causes.push(required(name, ""));
        } else if value.len() > max {
            causes.push(invalid(name, "", format!("can have at most {max} characters")));
        }
    }
    if text(new, "message").len() > NOTE_MAX {
        causes.push(invalid("note", "", format!("can have at most {NOTE_MAX} characters")));
    }
    let kind = text(new, "type");
    if !matches!(kind, "Normal" | "Warning") {
        causes.push(invalid("type", "", format!("has invalid value: {kind}")));
    }
    causes
}
