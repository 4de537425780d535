//! Roles and bindings. Leaves authorisation to no one: everything is allowed here.

use serde_json::{Value, json};

use super::super::complaint::{invalid_raw, required, unsupported};
use super::super::schema::Cause;
use super::{entries, set_default, text};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn default_binding(new: &mut Value) {
    if new["roleRef"].is_object() {
        set_default(&mut new["roleRef"], "apiGroup", json!(GROUP));
    }
    for subject in new.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
        if matches!(text(subject, "kind"), "User" | "Group") {
            set_default(subject, "apiGroup", json!(GROUP));
        }
    }
}

pub(super) fn validate_role(new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (index, rule) in entries(&new["rules"]).iter().enumerate() {
        let at = |field: &str| format!("rules[{index}].{field}");
        let empty = |field: &str| entries(&rule[field]).is_empty();
        if empty("verbs") {
            causes.push(required(at("verbs"), ""));
        }
        if !empty("nonResourceURLs") {
            let shown = &rule["nonResourceURLs"];
            if new["kind"] == "Role" {
                let why = "namespaced rules cannot apply to non-resource URLs";
                causes.push(invalid_raw(at("nonResourceURLs"), shown, why));
            }
            if !(empty("apiGroups") && empty("resources") && empty("resourceNames")) {
                let why = "rules cannot apply to both regular resources and non-resource URLs";
                causes.push(invalid_raw(at("nonResourceURLs"), shown, why));
            }
        } else {
            if empty("apiGroups") {
                causes.push(required(at("apiGroups"), "resource rules must supply at least one api group"));
            }
            if empty("resources") {
                causes.push(required(at("resources"), "resource rules must supply at least one resource"));
            }
        }
    }
    causes
}

pub(super) fn validate_binding(new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let role = &new["roleRef"];
    if text(role, "apiGroup") != GROUP {
        causes.push(unsupported("roleRef.apiGroup", text(role, "apiGroup"), &[GROUP]));
    }
    if !matches!(text(role, "kind"), "Role" | "ClusterRole") {
        causes.push(unsupported("roleRef.kind", text(role, "kind"), &["Role", "ClusterRole"]));
    }
    if text(role, "name").is_empty() {
        causes.push(required("roleRef.name", ""));
    }
    for (index, subject) in entries(&new["subjects"]).iter().enumerate() {
        let kind = text(subject, "kind");
        if text(subject, "name").is_empty() {
            causes.push(required(format!("subjects[{index}].name"), ""));
        }
        if !matches!(kind, "ServiceAccount" | "User" | "Group") {
            let supported = &["ServiceAccount", "User", "Group"];
            causes.push(unsupported(format!("subjects[{index}].kind"), kind, supported));
        }
        let is_cluster_wide = new["kind"] == "ClusterRoleBinding";
        if kind == "ServiceAccount" && is_cluster_wide && text(subject, "namespace").is_empty() {
            causes.push(required(format!("subjects[{index}].namespace"), ""));
        }
        let group = if kind == "ServiceAccount" { "" } else { GROUP };
        if matches!(kind, "ServiceAccount" | "User" | "Group") && text(subject, "apiGroup") != group {
            causes.push(unsupported(
                format!("subjects[{index}].apiGroup"),
                text(subject, "apiGroup"),
                &[group],
            ));
        }
    }
    if let Some(old) = old
        && old["roleRef"] != *role
    {
        // The server prints its internal type, whose fields have Go's names.
        let value = json!({ "APIGroup": role["apiGroup"], "Kind": role["kind"], "Name": role["name"] });
        causes.push(invalid_raw("roleRef", value, "field is immutable"));
    }
    causes
}
