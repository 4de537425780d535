//! The status of a Deployment: counts and conditions. No Pod is ever ready here.

use serde_json::{Value, json};

use super::super::admit::{self, Part};
use super::super::store::Place;
use super::super::write::Writer;
use super::deployment::Fleet;
use super::proportion::bounds;
use super::{entries, number};

const AVAILABLE: &str = "Available";
const PROGRESSING: &str = "Progressing";

impl Writer<'_> {
    pub(super) fn report_deployment(&mut self, place: &Place, fleet: &Fleet) {
        let deployment = &fleet.deployment;
        let old = &deployment.value["status"];
        let running = |set: &Value| number(&set["status"]["replicas"]);
        let updated = fleet.new.as_ref().map(|(_, set)| running(&set.value)).unwrap_or_default();
        let total = updated + fleet.old.iter().map(|(_, set)| running(&set.value)).sum::<i64>();
        let mut status = json!({
            "observedGeneration": deployment.value["metadata"]["generation"], "terminatingReplicas": 0,
        });
        for (field, count) in
            [("replicas", total), ("updatedReplicas", updated), ("unavailableReplicas", total)]
        {
            if count > 0 {
                status[field] = json!(count);
            }
        }
        let mut conditions = old["conditions"].clone();
        if !conditions.is_array() {
            conditions = json!([]);
        }
        let now = admit::seconds(self.now);
        for (kind, state, reason, message) in
            [available(&deployment.value), progressing(fleet, updated, total)].into_iter().flatten()
        {
            set_condition(&mut conditions, &now, kind, state, reason, &message);
        }
        if conditions.as_array().is_some_and(|all| !all.is_empty()) {
            status["conditions"] = conditions;
        }
        if *old == status {
            return;
        }
        let mut value = deployment.value.clone();
        value["status"] = status;
        self.change(place, Part::Status, value);
    }
}

type Condition = (&'static str, &'static str, &'static str, String);

fn available(deployment: &Value) -> Option<Condition> {
    let least = number(&deployment["spec"]["replicas"]) - bounds(deployment).unavailable;
    Some(if least <= 0 {
        (AVAILABLE, "True", "MinimumReplicasAvailable", "Deployment has minimum availability.".to_owned())
    } else {
        let why = "Deployment does not have minimum availability.".to_owned();
        (AVAILABLE, "False", "MinimumReplicasUnavailable", why)
    })
}

fn progressing(fleet: &Fleet, updated: i64, total: i64) -> Option<Condition> {
    let deployment = &fleet.deployment.value;
    let known =
        entries(&deployment["status"]["conditions"]).iter().find(|known| known["type"] == PROGRESSING);
    let reason = known.and_then(|known| known["reason"].as_str()).unwrap_or_default();
    if deployment["spec"]["paused"] == true {
        return Some((PROGRESSING, "Unknown", "DeploymentPaused", "Deployment is paused".to_owned()));
    }
    if reason == "DeploymentPaused" {
        return Some((PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed".to_owned()));
    }
    let (place, set) = fleet.new.as_ref()?;
    let name = &place.1.name;
    let wanted = number(&deployment["spec"]["replicas"]);
    if updated == wanted && total == wanted && wanted == 0 {
        let text = format!("ReplicaSet \"{name}\" has successfully progressed.");
        return Some((PROGRESSING, "True", "NewReplicaSetAvailable", text));
    }
    let before = &deployment["status"];
    let is_new = updated > number(&before["updatedReplicas"])
        || total - updated < number(&before["replicas"]) - number(&before["updatedReplicas"]);
    if is_new {
        return Some((
            PROGRESSING,
            "True",
            "ReplicaSetUpdated",
            format!("ReplicaSet \"{name}\" is progressing."),
        ));
    }
    if known.is_none() || number(&set.value["status"]["observedGeneration"]) == 0 {
        return Some((
            PROGRESSING,
            "True",
            "NewReplicaSetCreated",
            format!("Created new replica set \"{name}\""),
        ));
    }
    None
}

fn set_condition(conditions: &mut Value, now: &Value, kind: &str, state: &str, reason: &str, message: &str) {
    let mut condition = json!({
        "type": kind, "status": state, "reason": reason, "message": message,
        "lastUpdateTime": now, "lastTransitionTime": now,
    });
    let Some(all) = conditions.as_array_mut() else { return };
    match all.iter_mut().find(|known| known["type"] == kind) {
        Some(known) => {
            if known["status"] == state && known["reason"] == reason {
                return;
            }
            if known["status"] == state {
                condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
            }
            *known = condition;
        }
        None => all.push(condition),
    }
}
