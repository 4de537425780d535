//! Deployments with the part of the Pod template that an operator of connectors writes. Leaves Pods to no
//! one: nothing runs here, and `status` is what a test writes there.

use serde_json::{Value, json};

use super::super::complaint::{duplicate, forbidden, invalid, invalid_raw, required};
use super::super::names::{NameRule, label_causes, name_errors};
use super::super::schema::Cause;
use super::{entries, set_default, text};

pub(super) fn default(new: &mut Value) {
    let Some(spec) = new.get_mut("spec").filter(|spec| spec.is_object()) else { return };
    set_default(spec, "replicas", json!(1));
    set_default(spec, "revisionHistoryLimit", json!(10));
    set_default(spec, "progressDeadlineSeconds", json!(600));
    set_default(spec, "strategy", json!({}));
    set_default(&mut spec["strategy"], "type", json!("RollingUpdate"));
    if spec["strategy"]["type"] == "RollingUpdate" {
        set_default(&mut spec["strategy"], "rollingUpdate", json!({}));
        set_default(&mut spec["strategy"]["rollingUpdate"], "maxUnavailable", json!("25%"));
        set_default(&mut spec["strategy"]["rollingUpdate"], "maxSurge", json!("25%"));
    }
    default_template(spec);
}

pub(super) fn default_replica_set(new: &mut Value) {
    let Some(spec) = new.get_mut("spec").filter(|spec| spec.is_object()) else { return };
    set_default(spec, "replicas", json!(1));
    default_template(spec);
}

fn default_template(spec: &mut Value) {
    if let Some(pod) = spec.pointer_mut("/template/spec").filter(|pod| pod.is_object()) {
        default_pod(pod);
    }
}

/// The defaults of a Pod's spec, in a template or not.
pub(super) fn default_pod(pod: &mut Value) {
    set_default(pod, "restartPolicy", json!("Always"));
    set_default(pod, "terminationGracePeriodSeconds", json!(30));
    set_default(pod, "dnsPolicy", json!("ClusterFirst"));
    set_default(pod, "securityContext", json!({}));
    set_default(pod, "schedulerName", json!("default-scheduler"));
    if let Some(account) = pod["serviceAccountName"].as_str().map(str::to_owned) {
        set_default(pod, "serviceAccount", json!(account));
    }
    for list in ["initContainers", "containers"] {
        for container in pod.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            default_container(container);
        }
    }
    for volume in pod.get_mut("volumes").and_then(Value::as_array_mut).into_iter().flatten() {
        for source in ["secret", "configMap", "projected", "downwardAPI"] {
            if let Some(source) = volume.get_mut(source) {
                // 0644, which YAML and JSON write in decimal.
                set_default(source, "defaultMode", json!(420));
            }
        }
    }
}

fn default_container(container: &mut Value) {
    set_default(container, "terminationMessagePath", json!("/dev/termination-log"));
    set_default(container, "terminationMessagePolicy", json!("File"));
    set_default(container, "resources", json!({}));
    let image = text(container, "image");
    let last = image.rsplit('/').next().unwrap_or_default();
    let is_latest = !image.contains('@') && (!last.contains(':') || last.ends_with(":latest"));
    set_default(container, "imagePullPolicy", json!(if is_latest { "Always" } else { "IfNotPresent" }));
    for port in container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        set_default(port, "protocol", json!("TCP"));
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.get_mut(probe).filter(|probe| probe.is_object()) else { continue };
        for (field, value) in
            [("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)]
        {
            set_default(probe, field, json!(value));
        }
        if let Some(get) = probe.get_mut("httpGet") {
            set_default(get, "path", json!("/"));
            set_default(get, "scheme", json!("HTTP"));
        }
    }
    for variable in container.get_mut("env").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(field) = variable.pointer_mut("/valueFrom/fieldRef") {
            set_default(field, "apiVersion", json!("v1"));
        }
    }
}

pub(super) fn validate(new: &Value, old: Option<&Value>, what: &str) -> Vec<Cause> {
    let spec = &new["spec"];
    let mut causes = Vec::new();
    if let Some(replicas) = spec["replicas"].as_i64()
        && replicas < 0
    {
        causes.push(invalid_raw("spec.replicas", replicas, "must be greater than or equal to 0"));
    }
    let labels = &spec["template"]["metadata"]["labels"];
    let mismatch = || {
        invalid_raw("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
    };
    if spec["selector"].is_null() {
        // No selector selects nothing.
        causes.extend([required("spec.selector", ""), mismatch()]);
    } else if is_empty(&spec["selector"]["matchLabels"]) && is_empty(&spec["selector"]["matchExpressions"]) {
        let value = &spec["selector"];
        causes.push(invalid_raw("spec.selector", value, format!("empty selector is invalid for {what}")));
    } else if !selects(&spec["selector"], labels) {
        causes.push(mismatch());
    }
    causes.extend(label_causes(labels.as_object().map(|_| labels), "spec.template.labels"));
    causes.extend(container_causes(&spec["template"]["spec"], "spec.template.spec"));
    if spec["strategy"]["type"] == "Recreate" && !spec["strategy"]["rollingUpdate"].is_null() {
        let why = "may not be specified when strategy `type` is 'Recreate'";
        causes.push(forbidden("spec.strategy.rollingUpdate", why));
    }
    if let Some(old) = old
        && old["spec"]["selector"] != spec["selector"]
    {
        causes.push(invalid_raw("spec.selector", &spec["selector"], "field is immutable"));
    }
    causes
}

/// What is wrong with the containers of a Pod's spec.
pub(super) fn container_causes(pod: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    if entries(&pod["containers"]).is_empty() {
        causes.push(required(format!("{path}.containers"), ""));
    }
    let mut names = std::collections::BTreeSet::new();
    for (index, container) in entries(&pod["containers"]).iter().enumerate() {
        let at = |field: &str| format!("{path}.containers[{index}].{field}");
        let name = text(container, "name");
        if name.is_empty() {
            causes.push(required(at("name"), ""));
        } else {
            let errors = name_errors(NameRule::Label, name);
            causes.extend(errors.iter().map(|error| invalid(at("name"), name, error)));
            if !names.insert(name) {
                causes.push(duplicate(at("name"), name));
            }
        }
        if text(container, "image").is_empty() {
            causes.push(required(at("image"), ""));
        }
        let mut ports = std::collections::BTreeSet::new();
        for (number, port) in entries(&container["ports"]).iter().enumerate() {
            let name = text(port, "name");
            if !name.is_empty() && !ports.insert(name) {
                causes.push(duplicate(at(&format!("ports[{number}].name")), name));
            }
        }
    }
    causes
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        other => other.is_null(),
    }
}

/// `metav1.LabelSelector` against labels.
fn selects(selector: &Value, labels: &Value) -> bool {
    let wanted = selector["matchLabels"].as_object();
    let all = wanted.into_iter().flatten().all(|(key, value)| labels.get(key) == Some(value));
    all && entries(&selector["matchExpressions"]).iter().all(|expression| {
        let found = labels.get(text(expression, "key"));
        let among = found.is_some_and(|value| entries(&expression["values"]).contains(value));
        match text(expression, "operator") {
            "In" => among,
            "NotIn" => !among,
            "Exists" => found.is_some(),
            "DoesNotExist" => found.is_none(),
            _ => false,
        }
    })
}
