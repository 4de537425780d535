//! The scale of a workload: `/scale`, which `kubectl scale` reads and writes. Leaves the workload to `write`.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Value, json};

use super::ApiServer;
use super::admit::Part;
use super::answer::Answer;
use super::builtins::BuiltIn;
use super::complaint;
use super::document::{self, Document};
use super::patch::{self, Patch};
use super::resource::Endpoint;
use super::service::Call;
use super::status::{Status, Subject};
use super::store::{Key, Stored};

const API_VERSION: &str = "autoscaling/v1";
const KIND: &str = "Scale";
const SUBJECT: Subject<'static> = Subject { group: "autoscaling", plural: "scales", kind: KIND };

/// True for kinds that have a scale.
pub(crate) fn is_scaled(endpoint: &Endpoint) -> bool {
    matches!(endpoint.resource.built_in, Some(BuiltIn::Deployment | BuiltIn::ReplicaSet))
}

impl ApiServer {
    /// A request to `/scale`.
    pub(crate) fn on_scale(&self, call: &Call, endpoint: &Endpoint, key: &Key) -> Result<Answer, Status> {
        let mut state = self.state();
        let found = state.find(endpoint.resource.id, key).cloned();
        let old = found.ok_or_else(|| Status::not_found(endpoint.subject(), &key.name))?;
        let scale = match call.method.as_str() {
            "GET" | "HEAD" => return Ok(answer(&old)),
            "PUT" => document::parse(&call.content_type, &call.body)?.value,
            "PATCH" => {
                let patch = Patch::parse(endpoint, &call.content_type, &call.body)?;
                patch::apply_to_scale(&of(&old), &patch)?
            }
            _ => return Err(Status::method_not_allowed()),
        };
        let replicas = check(key, &scale)?;
        let mut value = old.value.clone();
        value["spec"]["replicas"] = json!(replicas);
        if let Some(version) = scale["metadata"]["resourceVersion"].as_str() {
            value["metadata"]["resourceVersion"] = json!(version);
        }
        let mut writer = self.writer_for(&mut state, call)?;
        let stored = writer.update_from(endpoint, key, Part::Scale, Document::from(value), &old, None)?;
        Ok(answer(&stored))
    }
}

fn answer(object: &Stored) -> Answer {
    Answer::ok(Bytes::from(of(object).to_string()))
}

/// How many a scale asks for.
fn check(key: &Key, scale: &Value) -> Result<i64, Status> {
    if scale["kind"] != KIND || scale["apiVersion"] != API_VERSION {
        return Err(Status::bad_request(format!("the body is not a {KIND} of {API_VERSION}")));
    }
    let given = scale["metadata"]["name"].as_str().unwrap_or_default();
    if given != key.name {
        return Err(Status::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({})",
            key.name
        )));
    }
    let replicas = match &scale["spec"]["replicas"] {
        Value::Null => 0,
        value => value.as_i64().filter(|number| i32::try_from(*number).is_ok()).ok_or_else(|| {
            let found = document::json_type(value);
            Status::bad_request(format!(
                "json: cannot unmarshal {found} into Go struct field ScaleSpec.spec.replicas of type int32"
            ))
        })?,
    };
    if replicas < 0 {
        let cause = complaint::invalid_raw("spec.replicas", replicas, "must be greater than or equal to 0");
        return Err(Status::invalid(SUBJECT, &key.name, vec![cause]));
    }
    Ok(replicas)
}

/// The scale of a workload.
fn of(object: &Stored) -> Value {
    let value = &object.value;
    let mut metadata = serde_json::Map::new();
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        metadata.insert(field.to_owned(), value["metadata"][field].clone());
    }
    let mut spec = json!({});
    if let Some(replicas) = value["spec"]["replicas"].as_i64().filter(|replicas| *replicas != 0) {
        spec["replicas"] = json!(replicas);
    }
    let mut status = json!({ "replicas": value["status"]["replicas"].as_i64().unwrap_or_default() });
    let selector = selector_text(&value["spec"]["selector"]);
    if !selector.is_empty() {
        status["selector"] = json!(selector);
    }
    json!({ "kind": KIND, "apiVersion": API_VERSION, "metadata": metadata, "spec": spec, "status": status })
}

/// A selector as a query writes it: `app=web,tier in (a,b)`.
fn selector_text(selector: &Value) -> String {
    let mut terms: BTreeMap<String, String> = BTreeMap::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        terms.insert(key.clone(), format!("{key}={}", value.as_str().unwrap_or_default()));
    }
    for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = expression["key"].as_str().unwrap_or_default();
        let mut values: Vec<&str> =
            expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let term = match expression["operator"].as_str().unwrap_or_default() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            _ => format!("!{key}"),
        };
        terms.insert(key.to_owned(), term);
    }
    terms.into_values().collect::<Vec<_>>().join(",")
}
