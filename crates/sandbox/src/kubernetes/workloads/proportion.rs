//! How many Pods a rolling update may have, and how a change of their number is shared among ReplicaSets.

use serde_json::Value;

use super::number;
use super::revision::{MAX, annotation};

/// The bounds of a rolling update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// More Pods than wanted that there may be.
    pub(super) surge: i64,
    /// Fewer that there may be.
    pub(super) unavailable: i64,
}

/// The bounds that a Deployment gives itself.
pub(super) fn bounds(deployment: &Value) -> Bounds {
    let replicas = number(&deployment["spec"]["replicas"]);
    let strategy = &deployment["spec"]["strategy"];
    if strategy["type"] != "RollingUpdate" || replicas == 0 {
        return Bounds { surge: 0, unavailable: 0 };
    }
    let surge = resolve(&strategy["rollingUpdate"]["maxSurge"], replicas, true);
    let unavailable = resolve(&strategy["rollingUpdate"]["maxUnavailable"], replicas, false);
    // Both zero would stop every update.
    let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
    Bounds { surge, unavailable: unavailable.min(replicas) }
}

/// `25%` of them, or a number.
fn resolve(value: &Value, replicas: i64, up: bool) -> i64 {
    if let Some(number) = value.as_i64() {
        return number;
    }
    let text = value.as_str().unwrap_or_default().trim_end_matches('%');
    let Ok(percent) = text.parse::<i64>() else { return 0 };
    let share = replicas.saturating_mul(percent);
    if up { share.saturating_add(99) / 100 } else { share / 100 }
}

/// How many of a change of the total fall to a ReplicaSet, at most what is left of the change.
pub(super) fn share(set: &Value, deployment: &Value, change: i64, shared: i64) -> i64 {
    let replicas = number(&set["spec"]["replicas"]);
    if replicas == 0 || change == 0 || change == shared {
        return 0;
    }
    let wanted = number(&deployment["spec"]["replicas"]);
    let fraction = if wanted == 0 {
        -replicas
    } else {
        let most = match annotation(set, MAX) {
            0 => number(&deployment["status"]["replicas"]),
            most => most,
        };
        if most == 0 {
            return 0;
        }
        let scaled = replicas.saturating_mul(wanted + bounds(deployment).surge);
        // Rounded to the nearest, halves away from zero.
        (scaled * 2 + most) / (most * 2) - replicas
    };
    let left = change - shared;
    if change > 0 { fraction.min(left) } else { fraction.max(left) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_quarter_is_rounded_up_for_more_and_down_for_fewer() {
        let deployment = |replicas: i64, surge: Value, unavailable: Value| {
            json!({ "spec": { "replicas": replicas, "strategy": { "type": "RollingUpdate",
                "rollingUpdate": { "maxSurge": surge, "maxUnavailable": unavailable } } } })
        };
        let of = |replicas, surge, unavailable| bounds(&deployment(replicas, surge, unavailable));
        assert_eq!(of(3, json!("25%"), json!("25%")), Bounds { surge: 1, unavailable: 0 });
        assert_eq!(of(8, json!("25%"), json!("25%")), Bounds { surge: 2, unavailable: 2 });
        assert_eq!(of(2, json!(0), json!("25%")), Bounds { surge: 0, unavailable: 1 });
        assert_eq!(of(2, json!(1), json!(5)), Bounds { surge: 1, unavailable: 2 });
    }

    #[test]
    fn a_change_is_shared_by_size_and_never_exceeded() {
        let deployment = json!({ "spec": { "replicas": 10, "strategy": { "type": "RollingUpdate",
            "rollingUpdate": { "maxSurge": 0, "maxUnavailable": 1 } } } });
        let set = |replicas: i64| json!({ "metadata": { "annotations": { MAX: "5" } }, "spec": { "replicas": replicas } });
        assert_eq!(share(&set(3), &deployment, 5, 0), 3);
        assert_eq!(share(&set(3), &deployment, 5, 4), 1);
        assert_eq!(share(&set(0), &deployment, 5, 0), 0);
    }
}
